"""Every file that the command line can write, as a download: made in a temporary folder, which is gone afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.evaluate.ranking import POOLS
from fcpair.grid import Grid
from fcpair.params import Export
from fcpair.records import TIERS, Role
from fcpair.study import Study
from fcpair.tier_plans import check_tier_name
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.languages import Language
from fcpair.web.lead import navigation
from fcpair.web.lead.navigation import Fits, fits_always, has_decisions, has_labels
from fcpair.web.lead.panels import SHOWN_BY
from fcpair.web.page_phrases import NOUN_PHRASES, mark, mark_plural

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.files.release.training import Kind

router = APIRouter(include_in_schema=False)
TABLES = ("csv", "jsonl", "parquet")
COLUMNS = ("fcpair", "fc-conan")
CHOICES: Mapping[str, tuple[str, ...]] = {"form": TABLES, "pool": tuple(POOLS), "columns": COLUMNS}
ROWS = mark_plural("%(n)s row", "%(n)s rows")
PAIRS = NOUN_PHRASES["pair"].counted
IN_LARGEST_TIER = mark_plural("%(n)s pair in the largest tier", "%(n)s pairs in the largest tier")
OPEN_PAIRS = mark_plural("%(n)s open pair", "%(n)s open pairs")
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@dataclass(frozen=True)
class DownloadChoices:
    """Choices of the lead on the form; a download reads what it `asks` for."""

    tier: str
    form: str
    columns: str
    round: str | None
    options: Export

    def __post_init__(self) -> None:
        chosen = {"form": self.form, "pool": self.options.pool, "columns": self.columns}
        for name, allowed in CHOICES.items():
            if chosen[name] not in allowed:
                raise InputError(f"{name} is `{chosen[name]}`; expected one of {', '.join(allowed)}")


Write = Callable[[Study, Grid, Path, DownloadChoices], object]


@dataclass(frozen=True)
class Contents:
    """Numbers of what can be downloaded of a grid: by round, of answers (a skip is one) and of open work, of each tier
    that has pairs, and of runs.

    `primary` and `checking` are the names of the rounds that label and that check; empty where there is none.
    """

    answers: Mapping[str, int]
    open: Mapping[str, int]
    primary: str
    checking: str
    tiers: Mapping[str, int]
    n_runs: int

    @property
    def n_labels(self) -> int:
        """Number of labels, skips included."""
        return self.answers.get(self.primary, 0)


def _contents_of(study: Study, here: CurrentGrid, rounds: list[dict[str, Any]]) -> Contents:
    tiers = here.monitor.decisions().tiers if has_decisions(here) else None
    sizes = [list(row.values())[:2] for row in tiers.tables[0]] if tiers else []
    return Contents(
        answers={one["name"]: one["done"] + one["skipped"] for one in rounds},
        open={one["name"]: one["open"] for one in rounds},
        primary=next((one["name"] for one in rounds if one["counts"]), ""),
        checking=next((one["name"] for one in rounds if one["role"] == Role.VALIDATOR), ""),
        tiers={str(tier): n for tier, n in sizes if n},
        n_runs=len(study.log()),
    )


def _count_labels(contents: Contents) -> int:
    return contents.n_labels


def _count_answers(contents: Contents) -> int:
    return sum(contents.answers.values())


def _count_largest_tier(contents: Contents) -> int:
    return max(contents.tiers.values(), default=0)


def _count_open(name: str) -> Callable[[Contents], int]:
    return lambda contents: contents.open.get(getattr(contents, name), 0)


def _count_study(_contents: Contents) -> int:
    return 1


def _has_corpus(here: CurrentGrid) -> bool:
    return not here.is_planned


@dataclass(frozen=True)
class Download:
    """One file or folder: what it is, which choices it asks for, how it is called, and what writes it to a path.

    It is offered where it `fits` the grid and is not empty, by its `count`, of which `holds` is the message. A `layout`
    is for programs of one kind.
    """

    title: str
    text: str
    asks: tuple[str, ...]
    name: str
    write: Write
    count: Callable[[Contents], int] = _count_largest_tier
    holds: str | tuple[str, str] = IN_LARGEST_TIER
    fits: Fits = has_labels
    layout: bool = False

    def say_amount(self, n: int, language: Language) -> str:
        """How much is in it, in a language."""
        return language.find(self.holds) if isinstance(self.holds, str) else language.ngettext(*self.holds, n)


def _write_labels(_study: Study, grid: Grid, path: Path, _choices: DownloadChoices) -> None:
    _write_rows(grid.labels(), path, "labels")


def _write_answers(_study: Study, grid: Grid, path: Path, choices: DownloadChoices) -> None:
    _write_rows(grid.answers(choices.round), path, "answers")


def _write_rows(rows: pd.DataFrame, path: Path, what: str) -> None:
    from fcpair.files.tables.tabular import write_table

    if rows.empty:
        raise StageError(f"there are no {what} yet, so there is nothing to download")
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


def _training_download(kind: Kind, title: str, text: str) -> Download:
    def write(_study: Study, grid: Grid, path: Path, choices: DownloadChoices) -> None:
        grid.export.training(kind, path, choices.tier, choices.options)

    return Download(title, text, ("tier", *Export.kinds[kind]), f"{{tier}}-{kind}", write, layout=True)


DOWNLOADS = {
    "labels": Download(
        mark("Labels"),
        mark("Every annotator's current answer, with its origin."),
        ("form",),
        "labels.{form}",
        _write_labels,
        _count_labels,
        ROWS,
    ),
    "answers": Download(
        mark("Answers"),
        mark("Everybody's current answer in a round, with the texts."),
        ("round", "form"),
        "answers.{form}",
        _write_answers,
        _count_answers,
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
        _count_study,
        mark("The whole study"),
        fits_always,
    ),
    "agreement": Download(
        mark("Agreement"),
        mark("Every figure as JSON."),
        (),
        "agreement.json",
        lambda _study, grid, path, _asked: _write_json(path, grid.agreement().as_dict()),
        _count_labels,
        mark_plural("Measured on %(n)s label", "Measured on %(n)s labels"),
    ),
    "recipe": Download(
        mark("Recipe"),
        mark("Every parameter and seed, with the files that were uploaded; fcpair run makes the same study of it."),
        (),
        "recipe",
        lambda study, _grid, path, _asked: _write_recipe(study, path),
        _count_study,
        mark("With all that was changed since"),
        fits_always,
    ),
    "log": Download(
        mark("Log"),
        mark("Every run of every stage as JSON."),
        (),
        "log.json",
        lambda study, _grid, path, _asked: _write_json(path, [asdict(run) for run in study.log()]),
        lambda contents: contents.n_runs,
        mark_plural("%(n)s run", "%(n)s runs"),
        fits_always,
    ),
    "qrels": Download(
        mark("TREC qrels"),
        mark("The grades of a tier."),
        ("tier", *Export.kinds["qrels"]),
        "{tier}.qrels",
        lambda _study, grid, path, asked: grid.export.qrels(path, asked.tier, asked.options),
        layout=True,
    ),
    "beir": Download(
        mark("BEIR folder"),
        mark("Pool, queries and grades of a tier."),
        ("tier", *Export.kinds["beir"]),
        "{tier}-beir",
        lambda _study, grid, path, asked: grid.export.beir(path, asked.tier, asked.options),
        layout=True,
    ),
    "hf": Download(
        mark("Hugging Face folder"),
        mark("All tiers, with a card; add a licence and a citation."),
        (),
        "dataset",
        lambda _study, grid, path, _asked: grid.export.hf(path),
        layout=True,
    ),
    "triplets": _training_download("triplets", mark("Triplets"), mark("Anchor, positive and judged negative.")),
    "pairs": _training_download("pairs", mark("Judged pairs"), mark("Two texts and a label, 1 or 0.")),
    "preferences": _training_download("preferences", mark("Preferences"), mark("Prompt, chosen and rejected.")),
    "corpus": Download(
        mark("Corpus without a tier"),
        mark("What you may train on when the tier is the test set."),
        ("tier", *Export.kinds["corpus"], "form"),
        "corpus-without-{tier}.{form}",
        lambda _study, grid, path, asked: grid.export.corpus(path, asked.tier, asked.options),
        fits=_has_corpus,
        layout=True,
    ),
    "sheets": Download(
        mark("Sheets"),
        mark("Each annotator's open pairs as a CSV to fill in."),
        (),
        "sheets",
        lambda _study, grid, path, _asked: grid.write_sheets(path),
        _count_open("primary"),
        OPEN_PAIRS,
    ),
    "validation-sheets": Download(
        mark("Validation sheets"),
        mark("Each validator's open pairs as a CSV to fill in."),
        (),
        "validation-sheets",
        lambda _study, grid, path, _asked: grid.write_validation_sheets(path),
        _count_open("checking"),
        OPEN_PAIRS,
    ),
}


@router.get(navigation.DOWNLOADS.path)
@open_to(Role.LEAD)
def downloads(request: Request, layout: str = "") -> Response:
    """Everything that can be downloaded and is not empty; of the layouts, the one that was chosen."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    overviews = context.grids.overview()
    contents = _contents_of(context.study, here, here.find_overview(overviews)["rounds"])
    amounts = {name: n for name, one in DOWNLOADS.items() if one.fits(here) and (n := one.count(contents))}
    offered = {name: DOWNLOADS[name] for name in amounts}
    language = context.language(visitor)
    layouts = {name: one for name, one in offered.items() if one.layout}
    if layout and layout not in layouts:
        raise UnknownIdError(f"there is no layout `{layout}` to download; there are {', '.join(layouts) or 'none yet'}")
    values = {
        "page": navigation.DOWNLOADS,
        "downloads": {name: one for name, one in offered.items() if name not in layouts},
        "layouts": layouts,
        "layout": layout,
        "held": {name: one.say_amount(amounts[name], language) for name, one in offered.items()},
        "choices": {
            **{name: {value: value for value in allowed} for name, allowed in CHOICES.items()},
            "tier": {tier: f"{tier} ({language.ngettext(*PAIRS, n)})" for tier, n in contents.tiers.items()},
            "round": {name: f"{name} ({language.ngettext(*ROWS, n)})" for name, n in contents.answers.items() if n},
        },
        "usual": Export,
        "simulated": context.grids.oldest.monitor.simulated_note(),
        "grids": overviews if here.name else [],
    }
    return context.page(request, visitor, "lead_downloads.html.j2", here, **SHOWN_BY, **values)


@router.post("/lead/download/{name}")
@open_to(Role.LEAD)
def download(
    request: Request,
    name: str,
    tier: Text = TIERS[0],
    form: Text = TABLES[0],
    columns: Text = COLUMNS[0],
    round: Text = "",
    pool: Text = Export.pool,
    binary: Ticked = Export.binary,
    negatives: Annotated[int, Form()] = Export.negatives,
    test_share: Annotated[float, Form()] = Export.test_share,
    seed: Annotated[int, Form()] = Export.seed,
) -> Response:
    """One of them."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    if name not in DOWNLOADS:
        raise UnknownIdError(f"there is no download `{name}`; there are {', '.join(DOWNLOADS)}")
    choices = DownloadChoices(tier, form, columns, round or None, Export(pool, binary, negatives, test_share, seed))
    check_tier_name(tier, here.grid.list_tiers())
    chosen_download = DOWNLOADS[name]
    with context.study.acting_as(visitor.name), TemporaryDirectory() as folder:
        path = Path(folder) / chosen_download.name.format(tier=choices.tier, form=choices.form)
        chosen_download.write(context.study, here.grid, path, choices)
        return attachment(path)


def attachment(path: Path) -> Response:
    """A file as it is, or a folder as a .zip, to be saved under its name."""
    name = f"{path.name}.zip" if path.is_dir() else path.name
    content = zip_folder(path) if path.is_dir() else path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def zip_folder(folder: Path) -> bytes:
    """The files of a folder in a .zip, below its name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    return file.getvalue()
