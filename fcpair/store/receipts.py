"""Receipts: what each submit was answered, so that one that comes twice is answered alike."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, insert, select

from fcpair.store.ready import Ready
from fcpair.store.rows import now
from fcpair.store.store import Tx
from fcpair.store.tables import receipt

_OWN = Ready(
    select(receipt.c.digest, receipt.c.reply).where(
        receipt.c.person_id == bindparam("person"), receipt.c.request_id == bindparam("request")
    )
)
_KEEP = Ready(insert(receipt), ("person_id", "request_id", "digest", "reply", "at"))


def find(tx: Tx, person_id: int, request_id: str) -> tuple[str, dict[str, Any]] | None:
    """The digest of what a request said, and its reply; None when it is new."""
    row = _OWN.first(tx, person=person_id, request=request_id)
    return None if row is None else (row.digest, row.reply)


def keep(tx: Tx, person_id: int, request_id: str, digest: str, reply: dict[str, Any]) -> None:
    """Note what a request was answered."""
    _KEEP.run(tx, person_id=person_id, request_id=request_id, digest=digest, reply=reply, at=now())
