"""A small study, built without the encoder, and what tests do with it again and again.

Four HS cross six candidates: 24 pairs, of which six go to two and six to three of the annotators ana, ben and cleo.
"""

from __future__ import annotations

import csv
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from servers import Places, copy_study
from sqlalchemy import select

from fcpair.grid import Grid
from fcpair.params import Adjudicate, Assign, Import, Pair, Select, Setup, Validate
from fcpair.records import Role
from fcpair.store import Store, adjudications
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.database.tables import metadata
from fcpair.study import Study

TOPICS = ("cyclists", "night owls", "left-handers", "pineapple", "tea", "cats")
HS = tuple(f"People who like {topic} cannot be trusted." for topic in TOPICS)
CNS = tuple(f"{word} {topic}, نه؟ I met three of them é" for topic in TOPICS for word in ("About", "Ask", "Know"))
SHARED = "Have you met one?"
SELECTED = HS[:4]
STAGES = ("empty", "imported", "selected", "retrieved", "paired", "dealt", "labelled", "decided", "checking", "checked")
NAMES = ("not_appropriate", "not_sure", "appropriate")
ANNOTATORS = ("ana", "ben", "cleo")
VALIDATORS = ("vera", "walt")
# SQL: which rounds label and which check what was decided; the code of what a judgement or a decision says.
LABELLING = "(SELECT id FROM round WHERE counts)"
CHECKING = "(SELECT id FROM round WHERE checks IS NOT NULL)"
CODE = "(SELECT code FROM answer WHERE id = answer_id)"
Rows = Iterable[Mapping[str, Any]]
At = Callable[[str], Study]
"""The small study as it is after a stage: the fixture `at`."""


def with_grid(study: Study) -> tuple[Study, Grid]:
    """A study and its grid."""
    return study, study.grid()


def write_csv(path: Path, rows: Rows) -> Path:
    """Write rows, all with the same keys, as a CSV."""
    listed = list(rows)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(listed[0]))
        writer.writeheader()
        writer.writerows(listed)
    return path


def write_corpus(path: Path) -> Path:
    """Six HS with three CNs each, and one that three of them share; the fifth and sixth HS are for retrieval only."""
    pairs = [(hs, cn) for at, hs in enumerate(HS) for cn in CNS[3 * at : 3 * at + 3]]
    pairs += [(hs, SHARED) for hs in (HS[0], HS[1], HS[4])]
    return write_csv(
        path, [{"hs": hs, "cn": cn, "hs_topic": hs[:12], "cn_type": "plain", "language": "en"} for hs, cn in pairs]
    )


def set_candidates(study: Study, bodies: Iterable[str]) -> None:
    """Do what `retrieve` does, without the encoder."""
    with study._store.write() as tx:
        ids = {row.body: row.id for row in _texts(study, "cn")}
        sides.set_texts(tx, "column", [ids[body] for body in bodies])


def _texts(study: Study, kind: str) -> list[Any]:
    from fcpair.store.corpus import texts

    with study._store.read() as tx:
        return list(texts.texts_of(tx, kind).itertuples(index=False))


def label_of(pair: int, annotator: str) -> str:
    """What an annotator says in the study `labelled`: most agree, cleo dissents, ben is not sure at times."""
    code = 2 if pair % 2 else 0
    if annotator == "cleo" and pair % 3 == 0:
        code = 2 - code
    if annotator == "ben" and pair % 5 == 0:
        code = 1
    return NAMES[code]


def verdict_of(pair: int) -> str:
    """What a validator says in the study `checked`."""
    return "agree" if pair % 4 else "disagree"


def open_work(study: Study, *, checks: bool = False) -> list[tuple[str, int]]:
    """Who has still to label which pair, or to check it."""
    with study._store.read() as tx:
        rows = assignments.open_work(tx, rounds.validation(tx) if checks else rounds.primary(tx))
    return list(zip(rows["annotator"].tolist(), rows["cell_id"].tolist(), strict=True))


def record(study: Study, folder: Path, answers: Iterable[tuple[str, int, str]], *, supersede: bool = False) -> Any:
    """Import labels given as (annotator, pair, label)."""
    rows = [{"pair": pair, "annotator": who, "label": label} for who, pair, label in answers]
    return study.grid().import_labels(write_csv(folder / "some-labels.csv", rows), supersede=supersede)


def check(study: Study, folder: Path, answers: Iterable[tuple[str, int, str]], *, supersede: bool = False) -> Any:
    """Import verdicts given as (validator, pair, verdict)."""
    rows = [{"pair": pair, "validator": who, "verdict": verdict} for who, pair, verdict in answers]
    return study.grid().import_verdicts(write_csv(folder / "some-verdicts.csv", rows), supersede=supersede)


def assert_refused(study: Study, call: Callable[[], object], error: type[Exception], match: str) -> None:
    """The call is refused with a message, and the study is exactly as it was."""
    before = dump(study)
    with pytest.raises(error, match=match):
        call()
    assert dump(study) == before


def build_all(folder: Path) -> dict[str, Path]:
    """The study after each of STAGES, as one file each."""
    path, files = folder / "study.db", {}
    for stage in _building(Study.create(path, Setup(title="Small")), folder):
        files[stage] = copy_study(path, folder / f"{stage}.db")
    return files


def build_to(stage: str, study: Study, folder: Path) -> Study:
    """Make the small study of an empty one, as far as a stage."""
    for done in _building(study, folder):
        if done == stage:
            break
    return study


def _building(study: Study, folder: Path) -> Iterator[str]:
    """Each of STAGES, when it is done."""
    grid = study.grid()

    def assigned() -> None:
        study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
        grid.assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))

    def validating() -> None:
        study.add_people(list(VALIDATORS), Role.VALIDATOR)
        grid.assign_validation(Validate(seed=1))

    steps: tuple[Callable[[], object], ...] = (
        lambda: None,
        lambda: study.import_corpus(Import(write_corpus(folder / "corpus.csv"), only_language="en")),
        lambda: grid.select(Select(hs_list=write_csv(folder / "hs.csv", [{"hs": hs} for hs in SELECTED]))),
        lambda: set_candidates(study, CNS[12:]),
        lambda: grid.pair(Pair()),
        assigned,
        lambda: record(study, folder, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)]),
        lambda: grid.adjudicate(Adjudicate("majority")),
        validating,
        lambda: check(study, folder, [(who, pair, verdict_of(pair)) for who, pair in open_work(study, checks=True)]),
    )
    for stage, step in zip(STAGES, steps, strict=True):
        step()
        yield stage


def dump(study: Study | Path) -> str:
    """Everything that is in the study, as SQL."""
    place = study if isinstance(study, Path) else study.place
    if Places.now is not None:
        return _rows(place)
    with closing(sqlite3.connect(place)) as connection:
        return "\n".join(connection.iterdump())


def _rows(place: str | Path) -> str:
    """Every row of every table."""
    with Store.open(place).read() as tx:
        every = (f"{table.name} {row}" for table in metadata.sorted_tables for row in tx.execute(select(table)))
        return "\n".join(sorted(every))


def labels_of(study: Study, pair: int | None = None) -> dict[tuple[int, str], str]:
    """The current answer of each pair and annotator."""
    rows = study.grid().labels()
    there = dict(zip(zip(rows["pair"].tolist(), rows["annotator"].tolist(), strict=True), rows["label"], strict=True))
    return {key: str(label) for key, label in there.items() if pair in (None, key[0])}


def who_had(study: Study) -> dict[int, set[str]]:
    """The people who were ever given each pair, in any round, or decided it."""
    with study._store.read() as tx:
        names = {one.id: one.name for one in study.people}
        part = adjudications.involved_people(tx, cells.cells(tx)["cell_id"].tolist(), list(names), rounds.of_grid(tx))
    found: dict[int, set[str]] = {}
    for pair, person in part.tolist():
        found.setdefault(pair, set()).add(names[person])
    return found


def standing(study: Study) -> dict[int, tuple[str, int | None]]:
    """The rule and code of each pair's standing decision."""
    with study._store.read() as tx:
        rows = adjudications.current_adjudications(tx)
    codes = [None if code < 0 else code for code in rows["code"].astype(float).fillna(-1).astype(int).tolist()]
    return dict(zip(rows["cell_id"].tolist(), zip(rows["rule"].tolist(), codes, strict=True), strict=True))
