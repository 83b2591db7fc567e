"""The parameters of a run as the log keeps them: with the grid that it is about, and with who began it on a page."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from fcpair.params import MAIN
from fcpair.records import BY
from fcpair.store import Tx
from fcpair.store.corpus import grids

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


STAGES = ("simulate", "agreement", "adjudicate", "validate", "partition", "evaluate", "note")
"""Those that are about a grid, and whose parameters do not name it."""


def run_params(tx: Tx, stage: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a run as the log keeps them: with its planned grid, and with who began it on the pages."""
    return with_actor(_with_grid(tx, stage, params))


def _with_grid(tx: Tx, stage: str, params: dict[str, Any]) -> dict[str, Any]:
    if "grid" in params or not (stage in STAGES or stage.endswith(" import")):
        return params
    grid_id = grids.current_grid_id(tx)
    name = next(key.name for key in grids.keys(tx) if key.id == grid_id)
    return params if name == MAIN else {"grid": name, **params}
