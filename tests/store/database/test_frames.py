"""Values: what is put into a table comes out as it was, by way of SQLAlchemy or of the driver."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import (
    JSON,
    Boolean,
    Column,
    Float,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    bindparam,
    insert,
    select,
)
from sqlalchemy.exc import IntegrityError

from fcpair.records import Origin, Role, Status
from fcpair.store import Store, adjudications, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.database.statements import CHUNK, PreparedStatement, frame, insert_rows, records
from fcpair.store.database.tables import metadata, person, source_pair
from fcpair.store.oversight import build_progress, runs
from store.conftest import undone

pytestmark = pytest.mark.files

TEXT = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=6,
)
BY_TYPE: tuple[tuple[type, st.SearchStrategy[Any]], ...] = (
    (JSON, JSON_VALUES),
    (Boolean, st.booleans()),
    (Float, st.floats(allow_nan=False, allow_infinity=False)),
    (Integer, st.integers(-(2**31), 2**31 - 1)),
    (String, TEXT),
    (LargeBinary, st.binary()),
)
CHECKED = {
    "judgement": lambda row: (
        row | {"skipped": row["answer_id"] is None, "withdraws": row["withdraws"] if row["answer_id"] is None else None}
    )
}


def rows_of(table: Table) -> st.SearchStrategy[dict[str, Any]]:
    """Rows of a table; keys are positive, and references need not lead anywhere."""
    columns: dict[str, st.SearchStrategy[Any]] = {}
    for column in table.columns:
        values = next(strategy for kind, strategy in BY_TYPE if isinstance(column.type, kind))
        if isinstance(column.type, JSON) and not column.nullable:
            values = st.dictionaries(TEXT, JSON_VALUES, max_size=3)
        columns[column.name] = values | st.none() if column.nullable else values
        if column.primary_key and isinstance(column.type, Integer):
            columns[column.name] = st.integers(10_000, 2**31 - 1)
    rows = st.fixed_dictionaries(columns)
    return rows.map(CHECKED[table.name]) if table.name in CHECKED else rows


@pytest.mark.parametrize("table", metadata.sorted_tables, ids=lambda table: table.name)
@given(data=st.data())
def test_a_row_of_every_table_comes_out_as_it_went_in(lasting_store: Store, table: Table, data: st.DataObject) -> None:
    row = data.draw(rows_of(table))
    with undone(lasting_store, bulk=True) as tx:
        tx.execute(insert(table), [row])
        key = [column == row[column.name] for column in table.primary_key.columns]
        assert dict(tx.execute(select(table).where(*key)).one()._mapping) == row


@given(
    bodies=st.lists(TEXT, min_size=1, max_size=5, unique=True), meta=st.dictionaries(TEXT, TEXT, max_size=3), lang=TEXT
)
def test_texts_keep_their_body_language_and_metadata(
    lasting_store: Store, bodies: list[str], meta: dict[str, str], lang: str
) -> None:
    rows = [(f"digest {at}", body, lang, meta) for at, body in enumerate(bodies)]
    with undone(lasting_store) as tx:
        ids = texts.add_texts(tx, "cn", rows)
        read = texts.texts_of(tx, "cn")
    assert list(ids) == [row[0] for row in rows]
    assert read["id"].tolist() == list(ids.values())
    assert [tuple(row) for row in read[["body", "language", "meta"]].to_numpy()] == [(b, lang, meta) for b in bodies]


@given(params=st.dictionaries(TEXT, JSON_VALUES, max_size=3), counts=st.dictionaries(TEXT, JSON_VALUES, max_size=3))
def test_a_run_comes_out_as_it_was_noted(lasting_store: Store, params: dict[str, Any], counts: dict[str, Any]) -> None:
    with undone(lasting_store) as tx:
        noted = runs.add_run(tx, "select", params, counts, "0.1", {"name": "m"})
        assert runs.runs(tx, "select") == [noted]
    assert (noted.params, noted.counts, noted.model) == (params, counts, {"name": "m"})


def test_people_and_runs_come_in_the_order_in_which_they_came_and_a_release_as_it_was_noted(
    store: Store, tmp_path: Path
) -> None:
    with store.write() as tx:
        assert set(build_progress.n_built(tx).values()) == {0}
        people.add_people(tx, ["zoe", "ana"], Role.ANNOTATOR)
        people.add_people(tx, ["bo"], Role.VALIDATOR)
        people.retire(tx, 1)
        assert [(one.name, one.retired) for one in people.people(tx)] == [("zoe", True), ("ana", False), ("bo", False)]
        assert [one.name for one in people.people(tx, Role.ANNOTATOR, active=True)] == ["ana"]
        for stage in ("select", "pair", "select"):
            runs.add_run(tx, stage, {}, {}, "0.1", None)
        assert [run.stage for run in runs.runs(tx)] == ["select", "pair", "select"]
        assert [run.id for run in runs.runs(tx, "select")] == [1, 3]
        file = str(tmp_path / "gold.csv")
        runs.add_release(tx, "gold", {"rule": "two labels"}, {"pairs": 7}, file, "ab" * 32)
        (release,) = runs.releases(tx)
    assert release.pop("at").endswith("+00:00")
    rule = {"tier": "gold", "rule": {"rule": "two labels"}, "counts": {"pairs": 7}}
    assert release == {**rule, "file": file, "path": file, "sha256": "ab" * 32}


def test_a_pseudonym_is_there_once_and_a_text_once_on_a_side_but_on_both(store: Store) -> None:
    with store.write() as tx:
        people.add_people(tx, ["ana"], Role.ANNOTATOR)
        texts.add_texts(tx, "hs", [("d", "same", "", {})])
        texts.add_texts(tx, "cn", [("d", "same", "", {})])
    with pytest.raises(IntegrityError), store.write() as tx:
        people.add_people(tx, ["ana"], Role.LEAD)
    with pytest.raises(IntegrityError), store.write() as tx:
        texts.add_texts(tx, "cn", [("d", "other", "", {})])


def test_more_rows_than_a_chunk_are_written_and_read_in_order(store: Store) -> None:
    n = 2 * CHUNK + 3
    with store.write() as tx:
        insert_rows(tx, person, ({"name": f"p{at}", "role": "lead"} for at in range(n)))
        read = frame(tx, select(person.c.id, person.c.name).order_by(person.c.id))
    assert read["id"].tolist() == list(range(1, n + 1))
    assert read["name"].tolist() == [f"p{at}" for at in range(n)]


def test_what_is_missing_in_a_frame_is_null() -> None:
    rows = pd.DataFrame({"code": pd.array([2, None], "Int64"), "seconds": [float("nan"), 1.5], "note": [None, "x"]})
    assert list(records(rows)) == [
        {"code": 2, "seconds": None, "note": None},
        {"code": None, "seconds": 1.5, "note": "x"},
    ]


def test_source_pairs_keep_the_order_of_the_corpus_and_count_copies(store: Store) -> None:
    with store.write() as tx:
        texts.add_texts(tx, "hs", [("h", "hs", "", {})])
        ids = list(texts.add_texts(tx, "cn", [("c", "one", "", {}), ("d", "two", "", {})]).values())
        texts.add_source_pairs(tx, [(1, ids[1], {"a": "1"}), (1, ids[0], {}), (1, ids[1], {})])
        in_order = select(source_pair.c.cn_id).order_by(source_pair.c.row)
        assert tx.execute(in_order).scalars().all() == [ids[1], ids[0], ids[1]]
        assert texts.source_copies(tx)["n_rows"].tolist() == [1, 2]
        assert tx.execute(select(source_pair.c.meta)).scalars().first() == {"a": "1"}


def test_the_current_answer_is_the_latest(store: Store) -> None:
    with store.write() as tx:
        texts.add_texts(tx, "hs", [("h", "hs", "", {})])
        texts.add_texts(tx, "cn", [("c", "cn", "", {})])
        sides.set_texts(tx, "row", [1])
        sides.set_texts(tx, "column", [2])
        cells.fill(tx)
        one = people.add_people(tx, ["ana"], Role.ANNOTATOR)[0]
        given = {"cell_id": [1], "person_id": [one.id], "position": [1], "status": [Status.OPEN.value]}
        assignments.add_assignments(tx, pd.DataFrame(given), rounds.primary(tx))
        for code, note in ((0, "first"), (2, "second")):
            answer = {"assignment_id": [1], "skipped": [False], "code": [code], "note": [note]}
            judgements.add_judgements(tx, pd.DataFrame(answer), Origin.IMPORTED)
            adjudications.add_adjudications(tx, pd.DataFrame({"cell_id": [1], "rule": ["unanimous"], "code": [code]}))
        assert judgements.current_labels(tx, "code", "note").to_numpy().tolist() == [[2, "second"]]
        assert adjudications.current_adjudications(tx)["code"].tolist() == [2]
        assert judgements.answer_history(tx, 1)["note"].tolist() == ["first", "second"]
        assert adjudications.decision_history(tx, 1)["code"].tolist() == [0, 2]
        assert judgements.n_judgements(tx) == 2


thing = Table(
    "thing",
    MetaData(),
    Column("id", Integer, primary_key=True),
    Column("name", String),
    Column("yes", Boolean),
    Column("share", Float),
    Column("digest", LargeBinary),
    Column("reply", JSON(none_as_null=True)),
)
COLUMNS = tuple(thing.c.keys())
ADD = PreparedStatement(insert(thing), COLUMNS)
NAMED = (
    select(thing).where(thing.c.name == bindparam("wanted"), thing.c.id > 0).order_by(thing.c.id).limit(bindparam("n"))
)
FIND = PreparedStatement(NAMED)
SHORT = st.text(st.characters(codec="utf-8"), max_size=5)
ROWS = st.fixed_dictionaries(
    {
        "name": SHORT,
        "yes": st.none() | st.booleans(),
        "share": st.none() | st.floats(allow_nan=False),
        "digest": st.none() | st.binary(max_size=5),
        "reply": st.none() | st.dictionaries(SHORT, st.integers(-(2**60), 2**60) | SHORT, max_size=3),
    }
)


@pytest.fixture(scope="module")
def things(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store.create(tmp_path_factory.mktemp("ready") / "study.db", thing.create)
    yield store
    store.close()


@given(rows=st.lists(ROWS, min_size=1, max_size=4))
def test_what_goes_in_and_comes_out_is_as_by_sqlalchemy(things: Store, rows: list[dict[str, object]]) -> None:
    with things.write() as tx:
        for at, row in enumerate(rows, 1):
            ADD.execute(tx, id=at, **row)
        tx.execute(insert(thing), [{"id": len(rows) + at, **row} for at, row in enumerate(rows, 1)])
        for row in rows:
            wanted = {"wanted": str(row["name"]), "n": 100}
            ready = [tuple(found) for found in FIND.all(tx, **wanted)]
            by_sqlalchemy = [tuple(found) for found in tx.execute(NAMED, wanted)]
            assert ready == by_sqlalchemy
            assert [type(value) for one in ready for value in one] == [
                type(value) for one in by_sqlalchemy for value in one
            ]
        stored = (
            "SELECT name, yes, share, digest, reply, typeof(yes), typeof(reply) FROM thing WHERE id {} ? ORDER BY id"
        )
        of_both = [tx.exec_driver_sql(stored.format(side), (len(rows),)).all() for side in ("<=", ">")]
        assert of_both[0] == of_both[1]
        tx.rollback()


def test_a_row_has_its_columns_as_attributes_and_none_is_none_and_a_parameter_that_is_missing_is_an_error(
    things: Store,
) -> None:
    with things.write() as tx:
        ADD.execute(tx, id=7, name="a", yes=True, share=0.5, digest=b"d", reply={"a": 1})
        found = FIND.first(tx, wanted="a", n=1)
        assert (found.id, found.yes, found.reply) == (7, True, {"a": 1})
        assert FIND.first(tx, wanted="b", n=1) is None
        tx.rollback()
    with things.write() as tx:
        with pytest.raises(KeyError, match="digest"):
            ADD.execute(tx, id=7, name="a", yes=True, share=0.5, reply=None)
        assert FIND.all(tx, wanted="a", n=9) == []


def test_what_the_database_refuses_is_told_as_ever(things: Store) -> None:
    row = {"name": "a", "yes": True, "share": 0.5, "digest": b"", "reply": None}
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"), things.write() as tx:
        ADD.execute(tx, id=1, **row)
        ADD.execute(tx, id=1, **row)
    gone = PreparedStatement(select(Table("gone", MetaData(), Column("id", Integer))))
    with pytest.raises(sqlite3.OperationalError, match="gone"), things.read() as tx:
        gone.all(tx)
    with things.read() as tx:
        assert FIND.all(tx, wanted="a", n=9) == []
