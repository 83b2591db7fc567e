"""Doing once what is asked twice: a request that is repeated is answered as the first time."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from fcpair.errors import ConflictError
from fcpair.store import Tx
from fcpair.store.people import receipts


def perform_once(
    tx: Tx, person_id: int, request_id: str, content: Mapping[str, Any], act: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Do `act` and keep its reply, unless this person's request was done already: then give that reply again.

    Raises:
        ConflictError: the request was done already, with another content.
    """
    digest = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    if receipt := receipts.find(tx, person_id, request_id):
        if receipt[0] != digest:
            raise ConflictError("this request id was used for something else; use a new one for each request")
        return receipt[1]
    reply = act()
    receipts.add(tx, person_id, request_id, digest, reply)
    return reply
