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
from fcpair.web.auth import open_to
from fcpair.web.context import context_of
from fcpair.web.current_grid import CurrentGrid
from fcpair.web.lead import navigation
from fcpair.web.lead.navigation import Fits, fits_always, has_labels
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


def _has_corpus(here: CurrentGrid) -> bool:
    return not here.is_planned


@dataclass(frozen=True)
class Download:
    """One file or folder: what it is, which choices it asks for, how it is called, and what writes it to a path.

    It is offered where it `fits` the grid; a `layout` is for programs of one kind.
    """

    title: str
    text: str
    asks: tuple[str, ...]
    name: str
    write: Write
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


def _training_download(kind: Kind, title: str, text: str) -> Download:
    def write(_study: Study, grid: Grid, path: Path, choices: DownloadChoices) -> None:
        grid.export.training(kind, path, choices.tier, choices.options)

    return Download(title, text, ("tier", *Export.kinds[kind]), f"{{tier}}-{kind}", write, layout=True)


DOWNLOADS = {
    "labels": Download(
        "Labels", "Every annotator's current answer, with its origin.", ("form",), "labels.{form}", _write_labels
    ),
    "answers": Download(
        "Answers",
        "Everybody's current answer in a round, with the texts.",
        ("round", "form"),
        "answers.{form}",
        _write_answers,
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
        fits_always,
    ),
    "agreement": Download(
        "Agreement",
        "Every figure as JSON.",
        (),
        "agreement.json",
        lambda _study, grid, path, _asked: _write_json(path, grid.agreement().as_dict()),
    ),
    "log": Download(
        "Log",
        "Every run of every stage as JSON.",
        (),
        "log.json",
        lambda study, _grid, path, _asked: _write_json(path, [asdict(run) for run in study.log()]),
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
        _has_corpus,
        layout=True,
    ),
    "sheets": Download(
        "Sheets",
        "Each annotator's open pairs as a CSV to fill in.",
        (),
        "sheets",
        lambda _study, grid, path, _asked: grid.write_sheets(path),
    ),
    "validation-sheets": Download(
        "Validation sheets",
        "Each validator's open pairs as a CSV to fill in.",
        (),
        "validation-sheets",
        lambda _study, grid, path, _asked: grid.write_validation_sheets(path),
    ),
}


@router.get(navigation.DOWNLOADS.path)
@open_to(Role.LEAD)
def downloads(request: Request) -> Response:
    """Everything that can be downloaded."""
    context = context_of(request)
    visitor, here = context.door.require_visitor(request), context.grids.from_request(request)
    overviews = context.grids.overview()
    rounds = [one["name"] for one in next(of for one, of in overviews if one.grid is here.grid)["rounds"]]
    values = {
        "page": navigation.DOWNLOADS,
        "downloads": {name: one for name, one in DOWNLOADS.items() if one.fits(here)},
        "choices": {**CHOICES, "round": rounds},
        "usual": Export,
        "simulated": context.study.status()["simulated"],
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
