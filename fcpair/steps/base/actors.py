"""The person who begins a run on a page, whom its note names."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from fcpair.records import BY

_acting: ContextVar[str] = ContextVar("acting", default="")


@contextmanager
def acting_as(name: str) -> Iterator[None]:
    """Note in the parameters of each run, as `by`, that this person began it; for what people do on pages."""
    token = _acting.set(name)
    try:
        yield
    finally:
        _acting.reset(token)


def with_actor(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of a run, with the name of who begins it, where that is known."""
    return {**params, BY: name} if (name := _acting.get()) else params
