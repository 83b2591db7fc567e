"""Compression by gzip, for what holds no secret: static files, and texts that the API sends.

Compressed together with something that an attacker chose, a secret can be guessed from the length (BREACH). So pages,
which hold the guard against forged forms, are never compressed.
"""

from __future__ import annotations

import gzip
import json
from typing import Any

from fastapi import Request, Response
from fastapi.responses import JSONResponse

LEAST = 1_000  # bytes; less is as many packets either way
FAST = 6  # of 9: for what is compressed at each request


def takes_gzip(request: Request) -> bool:
    """Whether a request names gzip among the encodings that it takes, and does not refuse it by `q=0`."""
    for coding in request.headers.get("accept-encoding", "").split(","):
        name, _, quality = coding.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "").lower().rstrip("0").rstrip(".") not in {"q=", "q=0"}
    return False


class RecordResponse(JSONResponse):
    """A response of JSON in which a record stands for its fields."""

    def render(self, content: Any) -> bytes:
        """The content as it is sent."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=vars).encode()


def json_response(request: Request, content: Any) -> Response:
    """The same, compressed where that is a gain and the client takes it; for what holds no secret."""
    response = RecordResponse(content)
    body = bytes(response.body)
    if len(body) < LEAST or not takes_gzip(request):
        return response
    compressed = gzip.compress(body, FAST, mtime=0)
    return Response(compressed, headers={"content-encoding": "gzip"}, media_type="application/json")
