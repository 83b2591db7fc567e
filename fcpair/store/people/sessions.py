"""The door: sessions and the secret that signs them, and attempts to come in that failed, for as long as they count."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Select, bindparam, delete, exists, func, insert, select, update

from fcpair.store.database import backends
from fcpair.store.database.statements import PreparedStatement
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import attempt, ended_session, study
from fcpair.store.oversight.runs import SECRET_BYTES

SECRET = select(study.c.session_secret).scalar_subquery()


def secret(tx: Tx) -> str:
    """Secret with which sessions are signed now."""
    return str(tx.execute(select(study.c.session_secret)).scalar_one())


def renew_secret(tx: Tx) -> None:
    """Sign sessions with a new secret from now on; those before are worthless."""
    tx.execute(update(study).values(session_secret=token_hex(SECRET_BYTES)))
    tx.execute(delete(ended_session))


def has_ended(session: BindParameter[Any]) -> ColumnElement[bool]:
    """Whether somebody has ended a session."""
    return exists().where(ended_session.c.session == session)


def end_session(tx: Tx, person_id: int, session: str, lasts_s: float) -> None:
    """Note that a session has ended, which would be too old in `lasts_s` seconds; what is too old is forgotten."""
    tx.execute(delete(ended_session).where(ended_session.c.until < now()))
    until = (datetime.now(UTC) + timedelta(seconds=lasts_s)).isoformat(timespec="milliseconds")
    if not tx.execute(select(exists().where(ended_session.c.session == session))).scalar_one():
        tx.execute(insert(ended_session).values(session=session, person_id=person_id, until=until))


def forget(tx: Tx, person_id: int) -> None:
    """Forget which sessions a person has ended, where none of theirs can let them in any more."""
    tx.execute(delete(ended_session).where(ended_session.c.person_id == person_id))


TimeSpan = tuple[str, str]
"""A span of time: after the first, and not after the second."""

_STUDY_ROW = 1  # there is one row
_COUNTS = (attempt.c.at > bindparam("after")) & (attempt.c.at <= bindparam("until"))


def _tally_query(*of: ColumnElement[bool]) -> Select[int, Any]:
    return select(func.count().label("n"), func.min(attempt.c.at).label("oldest")).where(_COUNTS, *of)


_TALLY, _TALLY_OF = (
    PreparedStatement(_tally_query()),
    PreparedStatement(_tally_query(attempt.c.place == bindparam("from"))),
)


def hold_attempts(tx: Tx) -> None:
    """Let nobody else who holds them count attempts until the end of the transaction."""
    backends.backend_of(tx).hold_rows(tx, study, [_STUDY_ROW])


def tally_attempts(tx: Tx, span: TimeSpan, place: str | None = None) -> tuple[int, str | None]:
    """Count the attempts in a span of time, from one place or in all, and find when the first of them was."""
    params = {"after": span[0], "until": span[1]}
    row = _TALLY.first(tx, **params) if place is None else _TALLY_OF.first(tx, **params, **{"from": place})
    return int(row.n), row.oldest


def add_attempt(tx: Tx, place: str, at: str) -> None:
    """Note an attempt."""
    tx.execute(insert(attempt), [{"place": place, "at": at}])


def has_attempts_outside(tx: Tx, span: TimeSpan) -> bool:
    """Whether there are any outside a span of time."""
    return bool(tx.execute(select(exists().where(~_COUNTS)), _span_params(span)).scalar_one())


def forget_attempts_outside(tx: Tx, span: TimeSpan) -> None:
    """Delete those outside a span of time."""
    tx.execute(delete(attempt).where(~_COUNTS), _span_params(span))


def _span_params(span: TimeSpan) -> dict[str, str]:
    return {"after": span[0], "until": span[1]}
