"""Statements that the driver runs say and take what they would by way of SQLAlchemy."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Boolean, Column, Float, Integer, LargeBinary, MetaData, String, Table, bindparam, insert, select
from sqlalchemy.types import JSON

from fcpair.store import Store, Tx
from fcpair.store.database.statements import PreparedStatement

pytestmark = pytest.mark.files

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
TEXT = st.text(st.characters(codec="utf-8"), max_size=5)
ROWS = st.fixed_dictionaries(
    {
        "name": TEXT,
        "yes": st.none() | st.booleans(),
        "share": st.none() | st.floats(allow_nan=False),
        "digest": st.none() | st.binary(max_size=5),
        "reply": st.none() | st.dictionaries(TEXT, st.integers(-(2**60), 2**60) | TEXT, max_size=3),
    }
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    store = Store.create(tmp_path_factory.mktemp("ready") / "study.db", thing.create)
    yield store
    store.close()


def both(tx: Tx, wanted: str, n: int) -> tuple[list[tuple[object, ...]], list[tuple[object, ...]]]:
    ready = [tuple(row) for row in FIND.all(tx, wanted=wanted, n=n)]
    return ready, [tuple(row) for row in tx.execute(NAMED, {"wanted": wanted, "n": n})]


@given(rows=st.lists(ROWS, min_size=1, max_size=4))
def test_what_goes_in_and_comes_out_is_what_sqlalchemy_makes_of_it(store: Store, rows: list[dict[str, object]]) -> None:
    with store.write() as tx:
        for at, row in enumerate(rows, 1):
            ADD.execute(tx, id=at, **row)
        tx.execute(insert(thing), [{"id": len(rows) + at, **row} for at, row in enumerate(rows, 1)])
        for row in rows:
            ready, by_sqlalchemy = both(tx, str(row["name"]), 100)
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


def test_a_row_has_its_columns_as_attributes_and_none_is_none(store: Store) -> None:
    with store.write() as tx:
        ADD.execute(tx, id=7, name="a", yes=True, share=0.5, digest=b"d", reply={"a": 1})
        found = FIND.first(tx, wanted="a", n=1)
        assert (found.id, found.yes, found.reply) == (7, True, {"a": 1})
        assert FIND.first(tx, wanted="b", n=1) is None
        tx.rollback()


def test_a_parameter_that_is_missing_is_an_error_and_not_null(store: Store) -> None:
    with store.write() as tx:
        with pytest.raises(KeyError, match="digest"):
            ADD.execute(tx, id=7, name="a", yes=True, share=0.5, reply=None)
        assert FIND.all(tx, wanted="a", n=9) == []


def test_what_the_database_refuses_is_told_as_ever(store: Store) -> None:
    row = {"name": "a", "yes": True, "share": 0.5, "digest": b"", "reply": None}
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"), store.write() as tx:
        ADD.execute(tx, id=1, **row)
        ADD.execute(tx, id=1, **row)
    gone = PreparedStatement(select(Table("gone", MetaData(), Column("id", Integer))))
    with pytest.raises(sqlite3.OperationalError, match="gone"), store.read() as tx:
        gone.all(tx)
    with store.read() as tx:
        assert FIND.all(tx, wanted="a", n=9) == []
