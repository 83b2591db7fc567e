"""Receipts: what each submit was answered, so that one that comes twice is answered alike."""

from __future__ import annotations

from typing import Any

from sqlalchemy import bindparam, insert, select

from fcpair.store.rows import now
from fcpair.store.store import Tx
from fcpair.store.tables import receipt

_OWN = select(receipt.c.digest, receipt.c.reply).where(
    receipt.c.person_id == bindparam("person"), receipt.c.request_id == bindparam("request")
)
_KEEP = insert(receipt)


def find(tx: Tx, person_id: int, request_id: str) -> tuple[str, dict[str, Any]] | None:
    """The digest of what a request said, and its reply; None when it is new."""
    row = tx.execute(_OWN, {"person": person_id, "request": request_id}).first()
    return None if row is None else (row.digest, row.reply)


def keep(tx: Tx, person_id: int, request_id: str, digest: str, reply: dict[str, Any]) -> None:
    """Note what a request was answered."""
    row = {"person_id": person_id, "request_id": request_id, "digest": digest, "reply": reply, "at": now()}
    tx.execute(_KEEP, row)
