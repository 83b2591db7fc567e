"""Attempts to come in that failed: from which place, and when, for as long as they count."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, delete, exists, func, insert, select

from fcpair.store.database import backends
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import attempt, study

TimeSpan = tuple[str, str]
"""A span of time: after the first, and not after the second."""

_ONE = 1  # there is one row
_COUNTS = (attempt.c.at > bindparam("after")) & (attempt.c.at <= bindparam("until"))


def _tally_query(*of: ColumnElement[bool]) -> Select[int, Any]:
    return select(func.count().label("n"), func.min(attempt.c.at).label("oldest")).where(_COUNTS, *of)


_TALLY, _TALLY_OF = (
    PreparedStatement(_tally_query()),
    PreparedStatement(_tally_query(attempt.c.place == bindparam("from"))),
)


def hold_counting(tx: Tx) -> None:
    """Let nobody else who holds them count attempts until the end of the transaction."""
    backends.backend_of(tx).hold_rows(tx, study, [_ONE])


def tally(tx: Tx, span: TimeSpan, place: str | None = None) -> tuple[int, str | None]:
    """Count the attempts in a span of time, from one place or in all, and find when the first of them was."""
    params = {"after": span[0], "until": span[1]}
    row = _TALLY.first(tx, **params) if place is None else _TALLY_OF.first(tx, **params, **{"from": place})
    return int(row.n), row.oldest


def add(tx: Tx, place: str, at: str) -> None:
    """Note an attempt."""
    tx.execute(insert(attempt), [{"place": place, "at": at}])


def has_outside(tx: Tx, span: TimeSpan) -> bool:
    """Whether there are any outside a span of time."""
    return bool(tx.execute(select(exists().where(~_COUNTS)), _span_params(span)).scalar_one())


def forget_outside(tx: Tx, span: TimeSpan) -> None:
    """Delete those outside a span of time."""
    tx.execute(delete(attempt).where(~_COUNTS), _span_params(span))


def _span_params(span: TimeSpan) -> dict[str, str]:
    return {"after": span[0], "until": span[1]}
