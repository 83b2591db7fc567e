"""Every file that the command line can write, as a download: made in a temporary folder, which is gone afterwards."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple, cast, get_args

from fastapi import APIRouter, Form, Response
from fastapi.responses import FileResponse
from pydantic import BaseModel, Field
from starlette.background import BackgroundTask

from fcpair.errors import StageError, UnknownIdError
from fcpair.files.answers.sheets import SheetFormat
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.files.release.exports import EXPORTS, ExportKind
from fcpair.grid import Grid
from fcpair.lazy import pd
from fcpair.params import POOLS, Export
from fcpair.records import TIERS, WORKERS, Role
from fcpair.sentences import mark, mark_plural
from fcpair.study import Study
from fcpair.tier_plans import check_tier_name
from fcpair.web import current_grid
from fcpair.web.current_grid import Fits, fits_always, has_labels
from fcpair.web.languages import NOUN_PHRASES
from fcpair.web.visits import LeadVisit

router = APIRouter(include_in_schema=False)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "form": ("csv", "jsonl", "parquet"),
    "pool": tuple(POOLS),
    "columns": ("fcpair", "fc-conan"),
    "sheet": get_args(SheetFormat),
    "tool": tuple(TOOLS),
}
ROWS = mark_plural("%(n)s row", "%(n)s rows")
PAIRS = NOUN_PHRASES["pair"].counted
OPEN_PAIRS = mark_plural("%(n)s open pair", "%(n)s open pairs")
PEOPLE = mark_plural("%(n)s person", "%(n)s people")
EVERYBODY = mark("Everybody")
ANSWERERS = {role.value for role in WORKERS if role is not Role.VALIDATOR}


def _choice(name: str) -> Any:
    """A field that has one of the CHOICES of its name, by default the first."""
    return Field(CHOICES[name][0], pattern=f"^({'|'.join(CHOICES[name])})$")


class DownloadChoices(BaseModel):
    """Choices of the lead on the form; a download reads what it `asks` for."""

    tier: str = TIERS[0]
    form: str = _choice("form")
    columns: str = _choice("columns")
    round: str = ""
    pool: str = _choice("pool")
    binary: bool = Export.binary
    negatives: int = Export.negatives
    test_share: float = Export.test_share
    seed: int = Export.seed
    work: str = ""
    sheet: str = _choice("sheet")
    person: str = ""
    tool: str = _choice("tool")


class Download(NamedTuple):
    """One file or folder: what it is, which choices it asks for, how it is called, and what writes it to a path.

    It is offered where it `fits` the grid and has any of what it `counts`, which `holds` says.
    """

    title: str
    text: str
    asks: tuple[str, ...]
    name: str
    write: Callable[[Study, Grid, Path, DownloadChoices], object]
    counts: str = "tier"
    holds: str | tuple[str, str] = mark_plural("%(n)s pair in the largest tier", "%(n)s pairs in the largest tier")
    fits: Fits = has_labels


def _write_rows(rows: pd.DataFrame, path: Path) -> None:
    from fcpair.files.tables.tabular import write_table

    if rows.empty:
        raise StageError.say("there are no answers yet, so there is nothing to download")
    write_table(rows, path)


def _write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", "utf-8")


def _write_recipe(study: Study, folder: Path) -> None:
    """Write the recipe and the uploaded files that it names, which it finds beside it, wherever the folder is."""
    folder.mkdir()
    text, uploads = study.recipe_text(), study.start.folder
    for path in sorted(uploads.glob("*")):
        if str(path) in text:
            text = text.replace(str(path), path.name)
            (folder / path.name).write_bytes(path.read_bytes())
    (folder / "recipe.toml").write_text(text, "utf-8")


def _export_download(kind: ExportKind) -> Download:
    def write(_study: Study, grid: Grid, path: Path, asked: DownloadChoices) -> None:
        options = Export(asked.pool, asked.binary, asked.negatives, asked.test_share, asked.seed)
        kind.write(grid.export, path, asked.tier, options)

    params = (name for name in kind.params if name != "ids")
    asks = (*["tier"] * bool(kind.tier), *params, *["form"] * ("{form}" in kind.file))
    fits = has_labels if kind.tier != "without" else lambda here: not here.is_planned
    return Download(kind.title, kind.text, asks, kind.file, write, fits=fits)


def _write_sheets(grid: Grid, path: Path, asked: DownloadChoices) -> Path:
    """Write the sheets of people, or give that of one of them."""
    form = cast(SheetFormat, asked.sheet)
    planned, sheets = grid.desk.is_planned, grid.sheets
    written = sheets.write_answers(path, asked.work or None, form) if planned else sheets.write_labels(path, form)
    if asked.person and asked.person not in written:
        nothing = mark("`%(name)s` has nothing open; there are sheets of %(names)s")
        raise UnknownIdError.say(nothing, name=asked.person, names=[*written])
    return path / f"{asked.person}.{form}" if asked.person else path


def _terms_table(study: Study) -> pd.DataFrame:
    def format_cell(of: Any) -> str | None:
        return of if of is None or isinstance(of, str) else json.dumps(of, ensure_ascii=False)

    return pd.DataFrame([{name: format_cell(of) for name, of in term.items()} for term in study.access.terms()])


DOWNLOADS = {
    "labels": Download(
        mark("Labels"),
        mark("Every annotator's current answer, with its origin."),
        ("form",),
        "labels.{form}",
        lambda _study, grid, path, _asked: _write_rows(grid.labels(), path),
        "rows of labels",
        ROWS,
    ),
    "answers": Download(
        mark("Answers"),
        mark("Everybody's current answer in a round, with the texts."),
        ("round", "form"),
        "answers.{form}",
        lambda _study, grid, path, asked: _write_rows(grid.answers(asked.round or None), path),
        "answers",
        mark_plural("%(n)s row in all rounds", "%(n)s rows in all rounds"),
        lambda here: here.is_planned,
    ),
    "partition": Download(
        mark("Partition"),
        mark("The pairs of a tier; kept in the study as a release."),
        ("tier", "form", "columns"),
        "{tier}.{form}",
        lambda _study, grid, path, asked: grid.release(
            asked.tier, path, published=asked.columns == "fc-conan", download=True
        ),
    ),
    "report": Download(
        mark("Report"),
        mark("Everything about the study in one HTML file."),
        (),
        "report.html",
        lambda study, _grid, path, _asked: study.report(path),
        "study",
        mark("The whole study"),
        fits_always,
    ),
    "agreement": Download(
        mark("Agreement"),
        mark("Every figure as JSON."),
        (),
        "agreement.json",
        lambda _study, grid, path, _asked: _write_json(path, grid.agreement().as_dict()),
        "labels",
        mark_plural("Measured on %(n)s label", "Measured on %(n)s labels"),
    ),
    "recipe": Download(
        mark("Recipe"),
        mark("Every parameter and seed, with the files that were uploaded; fcpair run makes the same study of it."),
        (),
        "recipe",
        lambda study, _grid, path, _asked: _write_recipe(study, path),
        "study",
        mark("With all that was changed since"),
        fits_always,
    ),
    "log": Download(
        mark("Log"),
        mark("Every run of every stage as JSON."),
        (),
        "log.json",
        lambda study, _grid, path, _asked: _write_json(path, [asdict(run) for run in study.log()]),
        "runs",
        mark_plural("%(n)s run", "%(n)s runs"),
        fits_always,
    ),
    **{name: _export_download(kind) for name, kind in EXPORTS.items()},
    "comparisons": Download(
        mark("Preferences as given"),
        mark("Each answer to a comparison, with the texts in the order shown."),
        ("round",),
        "preferences.jsonl",
        lambda _study, grid, path, asked: grid.export.comparisons(path, asked.round or None),
        "answers",
        mark_plural("%(n)s row in all rounds", "%(n)s rows in all rounds"),
        lambda here: here.grid.desk.has_comparisons,
    ),
    "sheets": Download(
        mark("Sheets"),
        mark("What each person has open, as a sheet to fill in; Uploads takes it back."),
        ("work", "person", "sheet"),
        "sheets",
        lambda _study, grid, path, asked: _write_sheets(grid, path, asked),
        "open",
        OPEN_PAIRS,
        lambda here: here.has_labels or here.is_planned,
    ),
    "validation-sheets": Download(
        mark("Validation sheets"),
        mark("Each validator's open pairs, as a sheet to fill in; Uploads takes it back."),
        ("sheet",),
        "validation-sheets",
        lambda _study, grid, path, asked: grid.sheets.write_verdicts(path, cast(SheetFormat, asked.sheet)),
        "open to check",
        OPEN_PAIRS,
    ),
    "project": Download(
        mark("Project of an annotation tool"),
        mark("What people have open, with a guide that says how to start the tool; Uploads takes its export back."),
        ("tool", "work"),
        "project",
        lambda _study, grid, path, asked: grid.write_project(path, asked.tool, asked.work or None, is_download=True),
        "open",
        OPEN_PAIRS,
        lambda here: here.has_labels or here.is_planned,
    ),
    "backup": Download(
        mark("Backup"),
        mark("All of the study in one file, with its people and secrets, from which fcpair restore makes it again."),
        (),
        "study.backup",
        lambda study, _grid, path, _asked: study.back_up(study.address, path),
        "study",
        mark("The whole study"),
        fits_always,
    ),
    "terms": Download(
        mark("Consents and demographics"),
        mark("Who agreed to which terms, and when, what people said about themselves, and what they do not read."),
        ("form",),
        "terms.{form}",
        lambda study, _grid, path, _asked: _write_rows(_terms_table(study), path),
        "people",
        PEOPLE,
        fits_always,
    ),
}
GROUPS = {
    mark("Answers"): ("labels", "answers"),
    mark("To be answered elsewhere"): ("sheets", "validation-sheets", "project"),
    mark("Tiers"): ("partition",),
    mark("For training and for evaluation tools"): (*EXPORTS, "comparisons"),
    mark("Reports"): ("report", "agreement"),
    mark("The study"): ("backup", "recipe", "log", "terms"),
}
PERSONAL = ("backup", "terms")


@router.get(current_grid.DOWNLOADS.path)
def downloads(visit: LeadVisit) -> Response:
    """Everything that can be downloaded and is not empty, by group."""
    here, language, rounds = visit.here, visit.language, visit.overview["rounds"]
    tiers = {tier: n for tier, n in here.tier_sizes.items() if n}
    answers = {round_["name"]: round_["done"] + round_["skipped"] for round_ in rounds}  # a skip is one
    n_open = {round_["name"]: round_["open"] for round_ in rounds}
    primary = next((round_["name"] for round_ in rounds if round_["counts"]), "")
    checking = next((round_["name"] for round_ in rounds if round_["role"] == Role.VALIDATOR), "")
    open_work = {round_["name"]: n for round_ in rounds if (n := round_["open"]) and round_["role"] in ANSWERERS}
    amounts = {
        "study": 1,
        "tier": max(tiers.values(), default=0),
        "rows of labels": answers.get(primary, 0),
        "labels": sum(round_["done"] for round_ in rounds if round_["name"] == primary),
        "answers": sum(answers.values()),
        "runs": len(visit.study.log()),
        "open": sum(open_work.values()) if here.is_planned else n_open.get(primary, 0),
        "open to check": n_open.get(checking, 0),
        "people": len(visit.study.people),
    }
    offered = {name: kind for name, kind in DOWNLOADS.items() if kind.fits(here) and amounts[kind.counts]}
    held = {}  # how much is in each
    for name, kind in offered.items():
        holds, n = kind.holds, amounts[kind.counts]
        held[name] = language.find(holds) if isinstance(holds, str) else language.ngettext(*holds, n)
    people = [row["name"] for row in visit.study.workload() if row["open"] and row["role"] in ANSWERERS]
    choices = {
        **{name: {value: value for value in allowed} for name, allowed in CHOICES.items()},
        "tier": {tier: f"{tier} ({language.ngettext(*PAIRS, n)})" for tier, n in tiers.items()},
        "round": {name: f"{name} ({language.ngettext(*ROWS, n)})" for name, n in answers.items() if n},
        "work": {name: f"{name} ({language.ngettext(*OPEN_PAIRS, n)})" for name, n in open_work.items()},
        "person": {"": language.find(EVERYBODY), **{name: name for name in people}},
        "tool": {name: tool.title for name, tool in TOOLS.items()},
    }
    if not here.is_planned:
        del choices["work"]
    return visit.lead_page(
        "lead_downloads.html.j2",
        current_grid.DOWNLOADS,
        groups={title: {name: offered[name] for name in names if name in offered} for title, names in GROUPS.items()},
        personal=PERSONAL,
        held=held,
        choices=choices,
        usual=Export,
        simulated=visit.context.grids.oldest.monitor.simulated_note(),
    )


@router.post("/lead/download/{name}")
def download(visit: LeadVisit, name: str, choices: Annotated[DownloadChoices, Form()]) -> Response:
    """One of them."""
    grid = visit.here.grid
    if name not in DOWNLOADS:
        raise UnknownIdError.say("there is no download `%(name)s`; there are %(names)s", name=name, names=[*DOWNLOADS])
    check_tier_name(choices.tier, grid.desk.list_tiers())
    with ExitStack() as stack:
        folder = stack.enter_context(TemporaryDirectory(prefix="fcpair-"))
        path = Path(folder) / DOWNLOADS[name].name.format(tier=choices.tier, form=choices.form)
        with visit.study.acting_as(visit.visitor.name):
            written = DOWNLOADS[name].write(visit.study, grid, path, choices)
        sent = written if isinstance(written, Path) and written.parent == path else path
        return attachment(sent, stack.pop_all().close)


def table_attachment(table: pd.DataFrame, name: str) -> Response:
    """A table as a file of this name, whose ending says which kind."""
    from fcpair.files.tables.tabular import write_table

    folder = TemporaryDirectory(prefix="fcpair-")
    write_table(table, path := Path(folder.name) / name)
    return attachment(path, folder.cleanup)


def attachment(path: Path, discard: Callable[[], object]) -> Response:
    """A file as it is, or a folder as a .zip, to be saved under its name; it is read as it is sent, then discarded."""
    if path.is_dir():
        path = Path(shutil.make_archive(str(path), "zip", path.parent, path.name))
    return FileResponse(
        path, filename=path.name, media_type="application/octet-stream", background=BackgroundTask(discard)
    )
