"""Every file that the command line can write, as a download: made in a temporary folder, which is gone afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, NamedTuple

from fastapi import APIRouter, Form, Response
from pydantic import BaseModel, Field

from fcpair.errors import StageError, UnknownIdError
from fcpair.files.release.exports import EXPORTS, ExportKind
from fcpair.grid import Grid
from fcpair.lazy import pd
from fcpair.params import POOLS, Export
from fcpair.records import TIERS, Role
from fcpair.sentences import mark, mark_plural, say
from fcpair.study import Study
from fcpair.tier_plans import check_tier_name
from fcpair.web import current_grid
from fcpair.web.current_grid import Fits, fits_always, has_decisions, has_labels
from fcpair.web.languages import NOUN_PHRASES
from fcpair.web.visits import LeadVisit

router = APIRouter(include_in_schema=False)
CHOICES: Mapping[str, tuple[str, ...]] = {
    "form": ("csv", "jsonl", "parquet"),
    "pool": tuple(POOLS),
    "columns": ("fcpair", "fc-conan"),
}
ROWS = mark_plural("%(n)s row", "%(n)s rows")
PAIRS = NOUN_PHRASES["pair"].counted
OPEN_PAIRS = mark_plural("%(n)s open pair", "%(n)s open pairs")


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
    layout: bool = False


def _write_rows(rows: pd.DataFrame, path: Path, refusal: str) -> None:
    from fcpair.files.tables.tabular import write_table

    if rows.empty:
        raise StageError.say(refusal)
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

    asks = (*["tier"] * bool(kind.tier), *kind.params, *["form"] * ("{form}" in kind.file))
    fits = has_labels if kind.tier != "without" else lambda here: not here.is_planned
    return Download(kind.title, kind.text, asks, kind.file, write, fits=fits, layout=True)


DOWNLOADS = {
    "labels": Download(
        mark("Labels"),
        mark("Every annotator's current answer, with its origin."),
        ("form",),
        "labels.{form}",
        lambda _study, grid, path, _asked: _write_rows(
            grid.labels(), path, mark("there are no labels yet, so there is nothing to download")
        ),
        "labels",
        ROWS,
    ),
    "answers": Download(
        mark("Answers"),
        mark("Everybody's current answer in a round, with the texts."),
        ("round", "form"),
        "answers.{form}",
        lambda _study, grid, path, asked: _write_rows(
            grid.answers(asked.round or None), path, mark("there are no answers yet, so there is nothing to download")
        ),
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
    "sheets": Download(
        mark("Sheets"),
        mark("Each annotator's open pairs as a CSV to fill in."),
        (),
        "sheets",
        lambda _study, grid, path, _asked: grid.sheets.write_labels(path),
        "open",
        OPEN_PAIRS,
    ),
    "validation-sheets": Download(
        mark("Validation sheets"),
        mark("Each validator's open pairs as a CSV to fill in."),
        (),
        "validation-sheets",
        lambda _study, grid, path, _asked: grid.sheets.write_verdicts(path),
        "open to check",
        OPEN_PAIRS,
    ),
}


@router.get(current_grid.DOWNLOADS.path)
def downloads(visit: LeadVisit, layout: str = "") -> Response:
    """Everything that can be downloaded and is not empty; of the layouts, the one that was chosen."""
    here, language, rounds = visit.here, visit.language, visit.overview["rounds"]
    figures = here.monitor.decisions().tiers if has_decisions(here) else None
    tiers = {str(tier): n for tier, n, *_ in map(dict.values, figures.tables[0]) if n} if figures else {}
    answers = {round_["name"]: round_["done"] + round_["skipped"] for round_ in rounds}  # a skip is one
    n_open = {round_["name"]: round_["open"] for round_ in rounds}
    primary = next((round_["name"] for round_ in rounds if round_["counts"]), "")
    checking = next((round_["name"] for round_ in rounds if round_["role"] == Role.VALIDATOR), "")
    amounts = {
        "study": 1,
        "tier": max(tiers.values(), default=0),
        "labels": answers.get(primary, 0),
        "answers": sum(answers.values()),
        "runs": len(visit.study.log()),
        "open": n_open.get(primary, 0),
        "open to check": n_open.get(checking, 0),
    }
    offered = {name: kind for name, kind in DOWNLOADS.items() if kind.fits(here) and amounts[kind.counts]}
    held = {}  # how much is in each
    for name, kind in offered.items():
        holds, n = kind.holds, amounts[kind.counts]
        held[name] = language.find(holds) if isinstance(holds, str) else language.ngettext(*holds, n)
    layouts = {name: kind for name, kind in offered.items() if kind.layout}
    if layout and layout not in layouts:
        raise UnknownIdError.say(
            "there is no layout `%(name)s` to download; there are %(names)s",
            name=layout,
            names=list(layouts) or say("none yet"),
        )
    choices = {
        **{name: {value: value for value in allowed} for name, allowed in CHOICES.items()},
        "tier": {tier: f"{tier} ({language.ngettext(*PAIRS, n)})" for tier, n in tiers.items()},
        "round": {name: f"{name} ({language.ngettext(*ROWS, n)})" for name, n in answers.items() if n},
    }
    return visit.lead_page(
        "lead_downloads.html.j2",
        current_grid.DOWNLOADS,
        downloads={name: kind for name, kind in offered.items() if not kind.layout},
        layouts=layouts,
        layout=layout,
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
        raise UnknownIdError.say(
            "there is no download `%(name)s`; there are %(names)s", name=name, names=list(DOWNLOADS)
        )
    check_tier_name(choices.tier, grid.desk.list_tiers())
    with visit.study.acting_as(visit.visitor.name), TemporaryDirectory() as folder:
        path = Path(folder) / DOWNLOADS[name].name.format(tier=choices.tier, form=choices.form)
        DOWNLOADS[name].write(visit.study, grid, path, choices)
        return attachment(path)


def table_attachment(table: pd.DataFrame, name: str) -> Response:
    """A table as a file of this name, whose ending says which kind."""
    from fcpair.files.tables.tabular import write_table

    with TemporaryDirectory() as folder:
        write_table(table, path := Path(folder) / name)
        return attachment(path)


def attachment(path: Path) -> Response:
    """A file as it is, or the files of a folder below its name in a .zip, to be saved under its name."""
    content = io.BytesIO(b"" if path.is_dir() else path.read_bytes())
    if path.is_dir():
        with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
            for file in sorted(path.rglob("*")):
                archive.write(file, file.relative_to(path.parent))
    headers = {"Content-Disposition": f'attachment; filename="{path.name}{".zip" * path.is_dir()}"'}
    return Response(content.getvalue(), media_type="application/octet-stream", headers=headers)
