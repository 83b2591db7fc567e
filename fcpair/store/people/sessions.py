"""Sessions: the secret that signs them, and those that their people have ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from secrets import token_hex
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, delete, exists, insert, select, update

from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import ended_session, study
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
