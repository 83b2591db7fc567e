"""Receipts: what each submit was answered, so that one that comes twice is answered alike, and done once.

Of two that come at once, the second waits until the first is done: whoever acts for a person holds that person.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, func, insert, select

from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import receipt

_OWN = (receipt.c.person_id == bindparam("person")) & (receipt.c.request_id == bindparam("request"))
_FIND = PreparedStatement(select(receipt.c.digest, receipt.c.reply).where(_OWN))
_NEXT = select(func.coalesce(func.max(receipt.c.number), 0) + 1).scalar_subquery()
_ADD = PreparedStatement(insert(receipt).values(number=_NEXT), ("person_id", "request_id", "digest", "reply", "at"))


def find(tx: Tx, person_id: int, request_id: str) -> tuple[str, dict[str, Any]] | None:
    """The digest of what a request said, and its reply; None where it was not done yet."""
    row: tuple[str, dict[str, Any]] | None = _FIND.first(tx, person=person_id, request=request_id)
    return row


def add(tx: Tx, person_id: int, request_id: str, digest: str, reply: dict[str, Any]) -> None:
    """Note what a request was answered; nobody else numbers rows until the end of the transaction."""
    _ADD.execute(tx, person_id=person_id, request_id=request_id, digest=digest, reply=reply, at=now())
