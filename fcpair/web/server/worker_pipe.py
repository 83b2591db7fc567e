"""Messages between the server and its worker process: pickles, each with its length before it."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

LENGTH = 8  # bytes of the length before each message
Reply = tuple[int, int, list[tuple[bytes, bytes]], bytes | Path]
"""The number of the request, status, headers, and the body, or the file that holds it."""


def pack(message: object) -> bytes:
    """A message as it goes through a pipe."""
    content = pickle.dumps(message)
    return len(content).to_bytes(LENGTH, "big") + content


def content_size(length: bytes) -> int:
    """Number of bytes that follow these, the first of a message."""
    return int.from_bytes(length, "big")


def unpack(content: bytes) -> Any:
    """The message that followed its length; both ends are our own, so what it says can be trusted."""
    return pickle.loads(content)
