"""`Study.copy`: the same study in another file or database, with the same digests, or nothing."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from sqlalchemy import insert
from steps.online import at_desk, give
from steps.small import labels_of

from fcpair.cli import main
from fcpair.errors import StudyError
from fcpair.store import Store, Tx
from fcpair.store.corpus import cells
from fcpair.store.database import backends
from fcpair.store.database.backends import Place
from fcpair.store.database.tables import assignment, neighbour, person, setting, text
from fcpair.store.oversight import runs
from fcpair.study import Study
from fcpair.work_records import CopyReport
from store.conftest import KINDS, NewPlace, being_answered, first_rows

pytestmark = pytest.mark.files  # each is about both databases

BOTH_WAYS = [("file", "database"), ("database", "file"), ("file", "file"), ("database", "database")]


def copied(source: Place, target: Place) -> CopyReport:
    return Study.copy(source, target, lambda done, total: None)


def run_sql(place: Place, *statements: str) -> Any:
    """Whatever the last statement returns, of either database, with nobody in between."""
    if isinstance(place, Path):
        with closing(sqlite3.connect(place)) as connection, connection:
            found = [connection.execute(statement).fetchall() for statement in statements]
        return found[-1]
    with psycopg.connect(place.replace("+psycopg", "")) as server:
        cursors = [server.execute(statement) for statement in statements]
        return cursors[-1].fetchall() if cursors[-1].description else None


def is_nothing(place: Place) -> bool:
    return not backends.at(place).is_there(place)


@pytest.mark.parametrize("stage", ["empty", "dealt", "checked"])
def test_a_copy_has_the_same_digests_at_any_stage(files: dict[str, Path], new: NewPlace, stage: str) -> None:
    there, back = new("database"), new("file")
    digests = {copied(files[stage], there).digest, copied(there, back).digest, copied(back, new("file")).digest}
    healths = [Study.doctor(place) for place in (files[stage], there, back)]
    assert (len(digests), len({health.digest for health in healths})) == (1, 1)
    assert all(health.is_sound for health in healths)


def test_a_copy_of_a_study_whose_labels_changed_reads_them_alike(files: dict[str, Path], new: NewPlace) -> None:
    source, there = new("file"), new("database")
    shutil.copy(files["checked"], source)
    with closing(Study(source)) as study:
        before = study.grid().tiers().table().sizes
        study.grid().relabel(kind="rename", labels=["appropriate"], into=["suitable"], reason="it was misread")
        study.grid().relabel(kind="split", labels=["suitable"], into=["kind+", "true"], reason="two in one")
        labels, sizes = labels_of(study), study.grid().tiers().table().sizes
    copied(source, there)
    with closing(Study(there)) as study:
        assert (labels_of(study), study.grid().tiers().table().sizes) == (labels, sizes)
        assert study.grid().tiers(as_of=1).table().sizes == study.grid().tiers(as_of=2).table().sizes == before
    assert Study.doctor(there).is_sound


def test_an_answer_that_was_made_to_read_as_another_is_found(files: dict[str, Path], new: NewPlace) -> None:
    source = new("file")
    shutil.copy(files["labelled"], source)
    assert isinstance(source, Path)
    run_sql(source, "UPDATE answer SET reads_as = (SELECT max(id) FROM answer WHERE round_id = 1) WHERE id = 1")
    assert [check.name for check in Study.doctor(source).checks if check.found] == ["rounds"]


@pytest.mark.parametrize(("kind", "other"), BOTH_WAYS)
def test_a_copy_goes_on_where_the_study_stood_and_no_number_is_given_out_twice(
    files: dict[str, Path], new: NewPlace, kind: str, other: str
) -> None:
    source, target = new(kind), new(other)
    copied(files["checking"], source)
    top = run_sql(source, "SELECT max(id) FROM assignment")[0][0]
    newest = "SELECT max(id) FROM assignment WHERE round_id = 1"
    run_sql(
        source,
        f"INSERT INTO assignment (id, cell_id, person_id, round_id, position, status) "
        f"SELECT {top + 5}, cell_id, person_id, round_id + 1, 1, 'open' FROM assignment WHERE id = ({newest})",
        *([] if kind == "file" else [f"SELECT setval('assignment_id_seq', {top + 5})"]),
        f"DELETE FROM assignment WHERE id = {top + 5}",
    )
    copied(source, target)
    with Store.open(target).write() as tx:
        first = tx.execute(assignment.select().order_by(assignment.c.id).limit(1)).mappings().one()
        row = {name: value for name, value in first.items() if name != "id"}
        made = tx.execute(insert(assignment).values({**row, "round_id": first["round_id"] + 1})).inserted_primary_key
        tx.rollback()
    assert made is not None
    assert made[0] == top + 6
    study = Study(target)
    desk, vera = at_desk(study, "vera")
    while desk.tasks(vera):
        give(desk, vera, "agree")
    study.grid().tiers().table()
    study.close()
    assert Study.doctor(target).is_sound
    assert len(labels_of(Study(source))) == 42


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_at_the_target_is_not_touched(files: dict[str, Path], new: NewPlace, kind: str) -> None:
    target = new(kind)
    copied(files["empty"], target)
    before = Study.doctor(target).digest
    with pytest.raises(StudyError, match=r"exists already|has tables already"):
        copied(files["checked"], target)
    assert Study.doctor(target).digest == before


def test_what_was_written_otherwise_or_is_missing_is_not_kept(
    files: dict[str, Path], new: NewPlace, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed = cells.seal

    def seal_and_change(tx: Any) -> None:
        sealed(tx)
        tx.exec_driver_sql("UPDATE person SET role = 'lead' WHERE name = 'ana'")

    for kind in KINDS:
        target = new(kind)
        with monkeypatch.context() as patch:
            patch.setattr(cells, "seal", seal_and_change)
            with pytest.raises(StudyError, match=r"differs from what .* has: person; nothing was kept"):
                copied(files["checked"], target)
        assert is_nothing(target)
    source, target = new("database"), new("file")
    copied(files["checked"], source)
    run_sql(source, "DELETE FROM guideline")
    with pytest.raises(StudyError, match="lacks what was written last: guideline"):
        copied(source, target)
    assert is_nothing(target)


NUL = "UPDATE text SET body = body || char(0) || 'x' WHERE id = 7"
ODD = {
    NUL: r"row 7 of `text`: .*NUL",
    "UPDATE text SET body = x'616263' WHERE id = 3": r"differs from what .* has: text",
    "UPDATE person SET role = 'a very much longer role' WHERE id = 2": r"row 2 of `person`: value too long",
    "UPDATE side SET position = 'first' WHERE position = 1": r"row .*first of `side`: .*bigint",
    "UPDATE person SET blurred = 7 WHERE id = 2": r"row 2 of `person`: .*boolean",
    "UPDATE run SET counts = '{' WHERE id = 1": r"row 1 of `run`: .*json",
    "UPDATE assignment SET person_id = 99 WHERE id = 5": r"`assignment`: Key \(person_id\)=\(99\)",
    "UPDATE text SET body = CAST(x'ff' AS TEXT) WHERE id = 3": r"`text`: it holds bytes that are not a text",
}


def test_what_postgresql_cannot_hold_is_named_and_nothing_is_left(
    files: dict[str, Path], new: NewPlace, tmp_path: Path
) -> None:
    source, target, file = tmp_path / "odd.db", new("database"), Path(new("file"))
    for statement, message in ODD.items():
        shutil.copy(files["dealt"], source)
        run_sql(source, "PRAGMA foreign_keys = OFF", statement)
        with pytest.raises(StudyError, match=message):
            copied(source, target)
        assert is_nothing(target)
        if statement == NUL:  # what a file can hold goes into another file
            copied(source, file)
            body = "SELECT CAST(body AS BLOB) FROM text WHERE id = 7"
            assert run_sql(file, body) == run_sql(source, body)
    run_sql(target, "CREATE TABLE mine (id integer)")
    with pytest.raises(StudyError, match="has tables already"):
        copied(files["empty"], target)
    assert run_sql(target, "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'") == [(1,)]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_study_is_copied_while_people_answer(files: dict[str, Path], new: NewPlace, kind: str) -> None:
    source, targets = new(kind), [new("file") for _ in range(4)]
    copied(files["dealt"], source)
    with being_answered(source):
        for target in targets:
            copied(source, target)
    assert all(Study.doctor(target).is_sound for target in targets)


@pytest.mark.parametrize("kind", KINDS)
def test_of_two_copies_to_one_place_at_once_one_is_there_and_the_other_has_changed_nothing(
    files: dict[str, Path], new: NewPlace, kind: str
) -> None:
    """Formerly the second, which found the tables of the first in a database, dropped them."""
    target, refused = new(kind), []

    def second() -> None:
        with pytest.raises(StudyError, match=r"exists already|has tables already") as error:
            copied(files["empty"], target)
        refused.append(error)

    other = threading.Thread(target=second)

    def meanwhile(*_: int) -> None:
        if other.ident is None:
            other.start()
            other.join(0.5)  # it has found nothing there, and waits until it may write

    first = Study.copy(files["checked"], target, meanwhile)
    other.join(60)
    assert len(refused) == 1
    assert copied(target, new("file")).digest == first.digest


def test_a_study_that_is_begun_where_one_is_being_begun_takes_nothing_away(new: NewPlace) -> None:
    target = new("database")

    def fill(tx: Tx) -> None:
        first_rows(tx)
        other.start()
        other.join(0.5)

    def second() -> None:
        with pytest.raises(StudyError, match="has tables already"):
            Store.create(target, first_rows)

    other = threading.Thread(target=second)
    made = Store.create(target, fill)
    other.join(60)
    with made.read() as tx:
        assert runs.study_facts(tx)["title"] == "A study"
    made.close()


def test_the_command_says_what_it_did(files: dict[str, Path], new: NewPlace) -> None:
    target = str(new("file"))
    result = CliRunner().invoke(main, ["copy", str(files["checked"]), target])
    assert (result.exit_code, result.stderr) == (0, "")
    digest = copied(files["checked"], new("database")).digest
    assert result.stdout.startswith(f"{target}: ")
    assert digest[:16] in result.stdout
    again = CliRunner().invoke(main, ["copy", str(files["checked"]), target])
    assert (again.exit_code, "exists already" in again.stderr) == (2, True)


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=12)
REALS = st.floats(allow_nan=False) | st.sampled_from([-0.0, 1e15, 1e16, 123456789012345.6, 1e-4, 9.9e-5, 5e-324])
JSONS = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False) | WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3),
    max_leaves=5,
)


@st.composite
def contents(draw: st.DrawFn) -> Mapping[str, list[dict[str, Any]]]:
    """Rows for some of the tables: all kinds of values, each missing where it may be."""
    n = draw(st.integers(1, 6))
    ids = range(1, n + 1)

    def each(**columns: st.SearchStrategy[Any]) -> list[dict[str, Any]]:
        return [{name: draw(values) for name, values in columns.items()} for _ in ids]

    digest = st.binary(max_size=40)
    texts = each(kind=st.just("hs"), body=WORDS, language=st.none() | st.just("en"), meta=JSONS, checksum=digest)
    people = each(role=st.just("annotator"), demographics=JSONS, blurred=st.booleans(), checksum=digest)
    values = each(value=JSONS)
    found = each(score=REALS)
    return {
        "text": [{**row, "id": at, "digest": str(at)} for at, row in zip(ids, texts, strict=True)],
        "person": [{**row, "id": at, "name": f"p{at}"} for at, row in zip(ids, people, strict=True)],
        "setting": [{**row, "grid_id": 1, "key": f"k{at}", "run_id": 1} for at, row in zip(ids, values, strict=True)],
        "neighbour": [
            {**row, "grid_id": 1, "source_id": 1, "cn_id": at, "run": draw(WORDS), "rank": at}
            for at, row in zip(ids, found, strict=True)
        ],
    }


@pytest.mark.slow
@settings(max_examples=3, phases=[Phase.generate], suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=contents())
def test_whatever_a_study_holds_is_the_same_there_and_back(new: NewPlace, rows: Mapping[str, Any]) -> None:
    for kind, other in (KINDS, KINDS[::-1]):
        first, there, back = new(kind), new(other), new(kind)
        made = Store.create(first, first_rows)
        with made.write() as tx:
            runs.add_run(tx, "x", {}, {}, "")
            for table in (text, person, setting, neighbour):
                tx.execute(insert(table), rows[table.name])
        made.close()
        assert copied(first, there).digest == copied(there, back).digest
        assert copied(back, new("file")).digest == copied(first, new("file")).digest
