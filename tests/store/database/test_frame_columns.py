"""Frames of whole numbers: in the order of the query, with what is missing, whichever way the database sends them."""

from __future__ import annotations

from typing import Any

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st
from sqlalchemy import BigInteger, Select, bindparam, func, select, union_all

from fcpair.store import Store
from fcpair.store.database.statements import frame

WHOLE = st.integers(-(2**63) + 1, 2**63 - 1)
EXACT = st.integers(-(2**53), 2**53)  # beside what is missing, numbers are floats
ROWS = st.lists(st.tuples(WHOLE, EXACT | st.none()), min_size=1, max_size=12)


def asked(rows: list[tuple[int, int | None]]) -> Select[Any]:
    """A query whose rows are these, the last one first."""
    each = [
        select(
            *(bindparam(None, value, BigInteger).label(name) for name, value in zip(("at", "a", "b"), row, strict=True))
        )
        for row in ((at, *row) for at, row in enumerate(rows))
    ]
    there = union_all(*each).subquery()
    return select(there.c.a, there.c.b.label("second")).order_by(there.c.at.desc())


@given(rows=ROWS)
@example(rows=[(1, None), (2, None)])
@example(rows=[(2**62 + 1, 0), (-1, -1)])
def test_whole_numbers_come_in_the_order_of_the_query_and_are_missing_where_they_are(
    lasting_store: Store, rows: list[tuple[int, int | None]]
) -> None:
    with lasting_store.read() as tx:
        found = frame(tx, asked(rows))
    assert list(found.columns) == ["a", "second"]
    assert found["a"].dtype == "int64"
    assert found["a"].tolist() == [a for a, _ in reversed(rows)]
    assert [None if pd.isna(b) else int(b) for b in found["second"]] == [b for _, b in reversed(rows)]


def test_no_whole_numbers_are_an_empty_frame(lasting_store: Store) -> None:
    there = asked([(1, 2)]).subquery()
    with lasting_store.read() as tx:
        found = frame(tx, select(there).where(there.c.a > 5))
    assert (list(found.columns), len(found)) == (["a", "second"], 0)


def test_a_sum_is_a_whole_number(lasting_store: Store) -> None:
    """PostgreSQL's own sum of such numbers is a decimal one."""
    there = asked([(1, 2), (3, None)]).subquery()
    with lasting_store.read() as tx:
        found = frame(tx, select(func.sum(there.c.a).label("n")))
    assert found["n"].tolist() == [4]
