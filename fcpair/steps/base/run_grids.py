"""The grid that a run is about, as its parameters name it: one of the plan's; those of `main` name none."""

from __future__ import annotations

from typing import Any

from fcpair.params import MAIN
from fcpair.steps.base.actors import with_actor
from fcpair.store import Tx
from fcpair.store.corpus import grids

STAGES = ("simulate", "agreement", "adjudicate", "validate", "partition", "evaluate")
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
