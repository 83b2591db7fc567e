"""Every file that the command line can write, as a download: made in a temporary folder, which is gone afterwards."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

from fastapi import APIRouter, Form, Request, Response

from fcpair.errors import InputError, StageError, UnknownIdError
from fcpair.evaluate.ranking import POOLS
from fcpair.params import Export
from fcpair.records import TIERS, Role
from fcpair.web.context import Context
from fcpair.web.door import open_to
from fcpair.web.lead_panels import SHOWN_BY

if TYPE_CHECKING:
    from fcpair.files.training import Kind
    from fcpair.study import Study

TABLES = ("csv", "jsonl", "parquet")
COLUMNS = ("fcpair", "fc-conan")
CHOICES: Mapping[str, tuple[str, ...]] = {"tier": TIERS, "form": TABLES, "pool": tuple(POOLS), "columns": COLUMNS}
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@dataclass(frozen=True)
class Asked:
    """What the lead chose on the form; a download reads what it `asks` for."""

    tier: str
    form: str
    columns: str
    options: Export

    def __post_init__(self) -> None:
        chosen = {"tier": self.tier, "form": self.form, "pool": self.options.pool, "columns": self.columns}
        for name, allowed in CHOICES.items():
            if chosen[name] not in allowed:
                raise InputError(f"{name} is `{chosen[name]}`; expected one of {', '.join(allowed)}")


Write = Callable[["Study", Path, Asked], Path]


@dataclass(frozen=True)
class Download:
    """One file or folder: what it is, which choices it asks for, and what writes it into a folder."""

    title: str
    text: str
    asks: tuple[str, ...]
    write: Write


def _labels(study: Study, folder: Path, asked: Asked) -> Path:
    from fcpair.files.tabular import write_table

    rows = study.labels()
    if rows.empty:
        raise StageError("there are no labels yet, so there is nothing to download")
    path = folder / f"labels.{asked.form}"
    write_table(rows, path)
    return path


def _partition(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / f"{asked.tier}.{asked.form}"
    study.release(asked.tier, path, published=asked.columns == "fc-conan")
    return path


def _report(study: Study, folder: Path, asked: Asked) -> Path:
    return study.report(folder / "report.html")


def _log(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "log.json"
    path.write_text(json.dumps([asdict(run) for run in study.log()], ensure_ascii=False, indent=2) + "\n", "utf-8")
    return path


def _agreement(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "agreement.json"
    path.write_text(json.dumps(study.agreement().as_dict(), ensure_ascii=False, indent=2) + "\n", "utf-8")
    return path


def _qrels(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / f"{asked.tier}.qrels"
    study.export.qrels(path, asked.tier, asked.options)
    return path


def _beir(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / f"{asked.tier}-beir"
    study.export.beir(path, asked.tier, asked.options)
    return path


def _hf(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "dataset"
    study.export.hf(path)
    return path


def _training(kind: Kind) -> Write:
    def write(study: Study, folder: Path, asked: Asked) -> Path:
        path = folder / f"{asked.tier}-{kind}"
        study.export.training(kind, path, asked.tier, asked.options)
        return path

    return write


def _corpus(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / f"corpus-without-{asked.tier}.{asked.form}"
    study.export.corpus(path, asked.tier, asked.options)
    return path


def _sheets(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "sheets"
    study.write_sheets(path)
    return path


def _validation_sheets(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "validation-sheets"
    study.write_validation_sheets(path)
    return path


def _of_tier(kind: str) -> tuple[str, ...]:
    return ("tier", *Export.kinds[kind])


DOWNLOADS = {
    "labels": Download("Labels", "Every annotator's current answer, with its origin.", ("form",), _labels),
    "partition": Download(
        "Partition", "The pairs of a tier; kept in the study as a release.", ("tier", "form", "columns"), _partition
    ),
    "report": Download("Report", "Everything about the study in one HTML file.", (), _report),
    "agreement": Download("Agreement", "Every figure as JSON.", (), _agreement),
    "log": Download("Log", "Every run of every stage as JSON.", (), _log),
    "qrels": Download("TREC qrels", "The grades of a tier.", _of_tier("qrels"), _qrels),
    "beir": Download("BEIR folder", "Pool, queries and grades of a tier.", _of_tier("beir"), _beir),
    "hf": Download("Hugging Face folder", "All tiers, with a card; add a licence and a citation.", (), _hf),
    "triplets": Download(
        "Triplets", "Anchor, positive and judged negative.", _of_tier("triplets"), _training("triplets")
    ),
    "pairs": Download("Judged pairs", "Two texts and a label, 1 or 0.", _of_tier("pairs"), _training("pairs")),
    "preferences": Download(
        "Preferences", "Prompt, chosen and rejected.", _of_tier("preferences"), _training("preferences")
    ),
    "corpus": Download(
        "Corpus without a tier",
        "What may be trained on when the tier is the test.",
        (*_of_tier("corpus"), "form"),
        _corpus,
    ),
    "sheets": Download("Sheets", "Each annotator's open pairs as a CSV to fill in.", (), _sheets),
    "validation-sheets": Download(
        "Validation sheets", "Each validator's open pairs as a CSV to fill in.", (), _validation_sheets
    ),
}


def add(routes: APIRouter, context: Context) -> None:
    """Add the page of downloads, and the downloads: forms that are posted, because the study keeps note of them."""
    door, study = context.door, context.study

    @routes.get("/lead/downloads")
    @open_to(Role.LEAD)
    def downloads(request: Request) -> Response:
        """Everything that can be downloaded."""
        visitor = door.enter(request)
        values = {
            "downloads": DOWNLOADS,
            "choices": CHOICES,
            "usual": Export,
            "simulated": study.status()["simulated"],
        }
        return context.page(request, visitor, "lead_downloads.html.j2", **SHOWN_BY, **values)

    @routes.post("/lead/download/{name}")
    @open_to(Role.LEAD)
    def download(
        request: Request,
        name: str,
        tier: Text = TIERS[0],
        form: Text = TABLES[0],
        columns: Text = COLUMNS[0],
        pool: Text = Export.pool,
        binary: Ticked = Export.binary,
        negatives: Annotated[int, Form()] = Export.negatives,
        test_share: Annotated[float, Form()] = Export.test_share,
        seed: Annotated[int, Form()] = Export.seed,
    ) -> Response:
        """One of them."""
        door.enter(request)
        if name not in DOWNLOADS:
            raise UnknownIdError(f"there is no download `{name}`; there are {', '.join(DOWNLOADS)}")
        asked = Asked(tier, form, columns, Export(pool, binary, negatives, test_share, seed))
        with TemporaryDirectory() as folder:
            return _attachment(DOWNLOADS[name].write(study, Path(folder), asked))


def _attachment(path: Path) -> Response:
    """A file as it is, or a folder as a .zip, to be saved under its name."""
    name = f"{path.name}.zip" if path.is_dir() else path.name
    content = zipped(path) if path.is_dir() else path.read_bytes()
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, media_type="application/octet-stream", headers=headers)


def zipped(folder: Path) -> bytes:
    """The files of a folder in a .zip, below its name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            archive.write(path, path.relative_to(folder.parent))
    return file.getvalue()
