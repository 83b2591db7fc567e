"""Receipts: what each submit was answered, so that one that comes twice is answered alike, and done once.

A receipt is there before what it is for is done: of two that come at once, the database lets one in, and the other
waits for that one's reply.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, delete, func, select, text, update

from fcpair.store import backends
from fcpair.store.ready import Ready
from fcpair.store.rows import now
from fcpair.store.store import Tx
from fcpair.store.tables import receipt

_BEGIN = Ready(
    text(
        "INSERT INTO receipt (person_id, request_id, digest, reply, at) VALUES (:person, :request, :digest, '{}', :at) "
        "ON CONFLICT DO NOTHING"
    )
)
_OWN = (receipt.c.person_id == bindparam("person")) & (receipt.c.request_id == bindparam("request"))
_FIND = Ready(select(receipt.c.digest, receipt.c.reply).where(_OWN))
_LAST = select(func.coalesce(func.max(receipt.c.number), 0))
_END = Ready(update(receipt).where(_OWN).values(reply=bindparam("said"), number=_LAST.scalar_subquery() + 1))
_TAKE_BACK = Ready(delete(receipt).where(_OWN))


def begin(tx: Tx, person_id: int, request_id: str, digest: str) -> tuple[str, dict[str, Any]] | None:
    """Begin what a request asks for: None. Where it was done already, the digest of what it said, and its reply."""
    if _BEGIN.run(tx, person=person_id, request=request_id, digest=digest, at=now()):
        return None
    row = _FIND.first(tx, person=person_id, request=request_id)
    return row.digest, row.reply


def end(tx: Tx, person_id: int, request_id: str, reply: dict[str, Any]) -> None:
    """Note what a request was answered."""
    backends.of(tx).hold_numbers(tx)
    _END.run(tx, person=person_id, request=request_id, said=reply)


def take_back(tx: Tx, person_id: int, request_id: str) -> None:
    """Forget a request that was refused, so that it can be sent again."""
    _TAKE_BACK.run(tx, person=person_id, request=request_id)
