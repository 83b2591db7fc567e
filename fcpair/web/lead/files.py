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
from fcpair.report.formatting import counted
from fcpair.study import Study
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead import navigation
from fcpair.web.lead.navigation import Fits, fits_always, has_decisions, has_labels
from fcpair.web.lead.panels import SHOWN_BY

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.files.release.training import Kind

router = APIRouter(include_in_schema=False)
TABLES = ("csv", "jsonl", "parquet")
COLUMNS = ("fcpair", "fc-conan")
CHOICES: Mapping[str, tuple[str, ...]] = {"tier": TIERS, "form": TABLES, "pool": tuple(POOLS), "columns": COLUMNS}
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
        chosen = {"tier": self.tier, "form": self.form, "pool": self.options.pool, "columns": self.columns}
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


def _count_labels(contents: Contents) -> str:
    return counted(contents.n_labels, "row") if contents.n_labels else ""


def _count_answers(contents: Contents) -> str:
    n = sum(contents.answers.values())
    return f"{counted(n, 'row')} in all rounds" if n else ""


def _count_tiers(contents: Contents) -> str:
    return f"{counted(max(contents.tiers.values()), 'pair')} in the largest tier" if contents.tiers else ""


def _count_open(name: str) -> Callable[[Contents], str]:
    def count(contents: Contents) -> str:
        n = contents.open.get(getattr(contents, name), 0)
        return counted(n, "open pair") if n else ""

    return count


def _has_corpus(here: CurrentGrid) -> bool:
    return not here.is_planned


@dataclass(frozen=True)
class Download:
    """One file or folder: what it is, which choices it asks for, how it is called, and what writes it to a path.

    It is offered where it `fits` the grid and is not empty, which is where `holds` says how much is in it. A `layout`
    is for programs of one kind.
    """

    title: str
    text: str
    asks: tuple[str, ...]
    name: str
    write: Write
    holds: Callable[[Contents], str] = _count_tiers
    fits: Fits = has_labels
    layout: bool = False


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
        "Labels",
        "Every annotator's current answer, with its origin.",
        ("form",),
        "labels.{form}",
        _write_labels,
        _count_labels,
    ),
    "answers": Download(
        "Answers",
        "Everybody's current answer in a round, with the texts.",
        ("round", "form"),
        "answers.{form}",
        _write_answers,
        _count_answers,
        lambda here: here.is_planned,
    ),
    "partition": Download(
        "Partition",
        "The pairs of a tier; kept in the study as a release.",
        ("tier", "form", "columns"),
        "{tier}.{form}",
        lambda _study, grid, path, asked: grid.release(asked.tier, path, published=asked.columns == "fc-conan"),
    ),
    "report": Download(
        "Report",
        "Everything about the study in one HTML file.",
        (),
        "report.html",
        lambda study, _grid, path, _asked: study.report(path),
        lambda _contents: "the whole study",
        fits_always,
    ),
    "agreement": Download(
        "Agreement",
        "Every figure as JSON.",
        (),
        "agreement.json",
        lambda _study, grid, path, _asked: _write_json(path, grid.agreement().as_dict()),
        lambda contents: f"measured on {counted(contents.n_labels, 'label')}" if contents.n_labels else "",
    ),
    "recipe": Download(
        "Recipe",
        "Every parameter and seed, with the files that were uploaded; fcpair run makes the same study of it.",
        (),
        "recipe",
        lambda study, _grid, path, _asked: _write_recipe(study, path),
        lambda _contents: "with all that was changed since",
        fits_always,
    ),
    "log": Download(
        "Log",
        "Every run of every stage as JSON.",
        (),
        "log.json",
        lambda study, _grid, path, _asked: _write_json(path, [asdict(run) for run in study.log()]),
        lambda contents: counted(contents.n_runs, "run"),
        fits_always,
    ),
    "qrels": Download(
        "TREC qrels",
        "The grades of a tier.",
        ("tier", *Export.kinds["qrels"]),
        "{tier}.qrels",
        lambda _study, grid, path, asked: grid.export.qrels(path, asked.tier, asked.options),
        layout=True,
    ),
    "beir": Download(
        "BEIR folder",
        "Pool, queries and grades of a tier.",
        ("tier", *Export.kinds["beir"]),
        "{tier}-beir",
        lambda _study, grid, path, asked: grid.export.beir(path, asked.tier, asked.options),
        layout=True,
    ),
    "hf": Download(
        "Hugging Face folder",
        "All tiers, with a card; add a licence and a citation.",
        (),
        "dataset",
        lambda _study, grid, path, _asked: grid.export.hf(path),
        layout=True,
    ),
    "triplets": _training_download("triplets", "Triplets", "Anchor, positive and judged negative."),
    "pairs": _training_download("pairs", "Judged pairs", "Two texts and a label, 1 or 0."),
    "preferences": _training_download("preferences", "Preferences", "Prompt, chosen and rejected."),
    "corpus": Download(
        "Corpus without a tier",
        "What you may train on when the tier is the test set.",
        ("tier", *Export.kinds["corpus"], "form"),
        "corpus-without-{tier}.{form}",
        lambda _study, grid, path, asked: grid.export.corpus(path, asked.tier, asked.options),
        fits=_has_corpus,
        layout=True,
    ),
    "sheets": Download(
        "Sheets",
        "Each annotator's open pairs as a CSV to fill in.",
        (),
        "sheets",
        lambda _study, grid, path, _asked: grid.write_sheets(path),
        _count_open("primary"),
    ),
    "validation-sheets": Download(
        "Validation sheets",
        "Each validator's open pairs as a CSV to fill in.",
        (),
        "validation-sheets",
        lambda _study, grid, path, _asked: grid.write_validation_sheets(path),
        _count_open("checking"),
    ),
}


@router.get(navigation.DOWNLOADS.path)
@open_to(Role.LEAD)
def downloads(request: Request, layout: str = "") -> Response:
    """Everything that can be downloaded and is not empty; of the layouts, the one that was chosen."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    overviews = context.grids.overview()
    contents = _contents_of(context.study, here, next(of for one, of in overviews if one.grid is here.grid)["rounds"])
    held = {name: one.holds(contents) for name, one in DOWNLOADS.items() if one.fits(here)}
    offered = {name: DOWNLOADS[name] for name, holds in held.items() if holds}
    layouts = {name: one for name, one in offered.items() if one.layout}
    if layout and layout not in layouts:
        raise UnknownIdError(f"there is no layout `{layout}` to download; there are {', '.join(layouts) or 'none yet'}")
    values = {
        "page": navigation.DOWNLOADS,
        "downloads": {name: one for name, one in offered.items() if name not in layouts},
        "layouts": layouts,
        "layout": layout,
        "held": held,
        "choices": {
            **{name: {value: value for value in allowed} for name, allowed in CHOICES.items()},
            "tier": {tier: f"{tier} ({counted(n, 'pair')})" for tier, n in contents.tiers.items()},
            "round": {name: f"{name} ({counted(n, 'row')})" for name, n in contents.answers.items() if n},
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
