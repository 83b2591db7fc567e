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
from fcpair.records import Role, Tier
from fcpair.web.context import Context
from fcpair.web.door import open_to
from fcpair.web.lead_panels import SHOWN_BY

if TYPE_CHECKING:
    from fcpair.files.training import Kind
    from fcpair.study import Study

TIERS = tuple(tier.label for tier in reversed(Tier))
TABLES = ("csv", "jsonl", "parquet")
POOLS = ("judged", "positive", "all")
COLUMNS = ("fcpair", "fc-conan")
CHOICES: Mapping[str, tuple[str, ...]] = {"tier": TIERS, "form": TABLES, "pool": POOLS, "columns": COLUMNS}
Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]


@dataclass(frozen=True)
class Asked:
    """What the lead chose on the form; a download reads what it `asks` for."""

    tier: str = TIERS[0]
    form: str = TABLES[0]
    pool: str = POOLS[0]
    columns: str = COLUMNS[0]
    binary: bool = False
    negatives: int = 5
    test_share: float = 0.2
    seed: int = 0

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is `{getattr(self, name)}`; expected one of {', '.join(allowed)}")
        if not 0 < self.test_share < 1:
            raise InputError(f"the share of HS for testing is {self.test_share}; expected one between 0 and 1")
        if self.seed < 0:
            raise InputError(f"the seed is {self.seed}; expected a whole number, 0 or more")


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
    study.release(_tier(asked), path, published=asked.columns == "fc-conan")
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
    study.export.qrels(path, _tier(asked), pool=asked.pool, binary=asked.binary)
    return path


def _beir(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / f"{asked.tier}-beir"
    study.export.beir(path, _tier(asked), pool=asked.pool, binary=asked.binary)
    return path


def _hf(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "dataset"
    study.export.hf(path)
    return path


def _training(kind: Kind) -> Write:
    def write(study: Study, folder: Path, asked: Asked) -> Path:
        path = folder / f"{asked.tier}-{kind}"
        study.export.training(
            kind, path, _tier(asked), negatives=asked.negatives, test_share=asked.test_share, seed=asked.seed
        )
        return path

    return write


def _corpus(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / f"corpus-without-{asked.tier}.{asked.form}"
    study.export.corpus(path, _tier(asked), pool=asked.pool)
    return path


def _sheets(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "sheets"
    study.write_sheets(path)
    return path


def _validation_sheets(study: Study, folder: Path, asked: Asked) -> Path:
    path = folder / "validation-sheets"
    study.write_validation_sheets(path)
    return path


def _tier(asked: Asked) -> Tier:
    return Tier[asked.tier.upper()]


DRAWN = ("tier", "negatives", "test_share", "seed")
DOWNLOADS = {
    "labels": Download("Labels", "Every annotator's current answer, with its origin.", ("form",), _labels),
    "partition": Download(
        "Partition", "The pairs of a tier; kept in the study as a release.", ("tier", "form", "columns"), _partition
    ),
    "report": Download("Report", "Everything about the study in one HTML file.", (), _report),
    "agreement": Download("Agreement", "Every figure as JSON.", (), _agreement),
    "log": Download("Log", "Every run of every stage as JSON.", (), _log),
    "qrels": Download("TREC qrels", "The grades of a tier.", ("tier", "pool", "binary"), _qrels),
    "beir": Download("BEIR folder", "Pool, queries and grades of a tier.", ("tier", "pool", "binary"), _beir),
    "hf": Download("Hugging Face folder", "All tiers, with a card; add a licence and a citation.", (), _hf),
    "triplets": Download("Triplets", "Anchor, positive and judged negative.", DRAWN, _training("triplets")),
    "pairs": Download(
        "Judged pairs", "Two texts and a label, 1 or 0.", ("tier", "test_share", "seed"), _training("pairs")
    ),
    "preferences": Download("Preferences", "Prompt, chosen and rejected.", DRAWN, _training("preferences")),
    "corpus": Download(
        "Corpus without a tier", "What may be trained on when the tier is the test.", ("tier", "pool", "form"), _corpus
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
            "asked": Asked(),
            "simulated": study.status()["simulated"],
        }
        return context.page(request, visitor, "lead_downloads.html.j2", **SHOWN_BY, **values)

    @routes.post("/lead/download/{name}")
    @open_to(Role.LEAD)
    def download(
        request: Request,
        name: str,
        tier: Text = Asked.tier,
        form: Text = Asked.form,
        pool: Text = Asked.pool,
        columns: Text = Asked.columns,
        binary: Ticked = False,
        negatives: Annotated[int, Form()] = Asked.negatives,
        test_share: Annotated[float, Form()] = Asked.test_share,
        seed: Annotated[int, Form()] = Asked.seed,
    ) -> Response:
        """One of them."""
        door.enter(request)
        if name not in DOWNLOADS:
            raise UnknownIdError(f"there is no download `{name}`; there are {', '.join(DOWNLOADS)}")
        asked = Asked(tier, form, pool, columns, binary, negatives, test_share, seed)
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
