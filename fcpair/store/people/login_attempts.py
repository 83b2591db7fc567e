"""Attempts to come in that failed: from which place, and when, for as long as they count."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, delete, exists, func, insert, select

from fcpair.store.database import backends
from fcpair.store.database.prepared import Ready
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import attempt, study

Span = tuple[str, str]
"""A span of time: after the first, and not after the second."""

_ONE = 1  # there is one row
_COUNTS = (attempt.c.at > bindparam("after")) & (attempt.c.at <= bindparam("until"))


def _tally(*of: ColumnElement[bool]) -> Select[int, Any]:
    return select(func.count().label("n"), func.min(attempt.c.at).label("oldest")).where(_COUNTS, *of)


_TALLY, _TALLY_OF = Ready(_tally()), Ready(_tally(attempt.c.place == bindparam("from")))


def hold(tx: Tx) -> None:
    """Let nobody else who holds them count attempts until the end of the transaction."""
    backends.of(tx).hold(tx, study, [_ONE])


def tally(tx: Tx, span: Span, place: str | None = None) -> tuple[int, str | None]:
    """How many there were in a span of time, from one place or in all, and when the first of them was."""
    given = {"after": span[0], "until": span[1]}
    found = _TALLY.first(tx, **given) if place is None else _TALLY_OF.first(tx, **given, **{"from": place})
    return int(found.n), found.oldest


def add(tx: Tx, place: str, at: str) -> None:
    """Note an attempt."""
    tx.execute(insert(attempt), [{"place": place, "at": at}])


def has_others(tx: Tx, span: Span) -> bool:
    """Whether there are any outside a span of time."""
    return bool(tx.execute(select(exists().where(~_COUNTS)), _given(span)).scalar_one())


def forget_others(tx: Tx, span: Span) -> None:
    """Delete those outside a span of time."""
    tx.execute(delete(attempt).where(~_COUNTS), _given(span))


def _given(span: Span) -> dict[str, str]:
    return {"after": span[0], "until": span[1]}
