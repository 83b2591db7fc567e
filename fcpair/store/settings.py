"""What holds in the grid from now on, key by key: `annotate.daily_limit`, `select.seed`. The run log is not asked."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import bindparam, insert, select, update

from fcpair.store.grids import here
from fcpair.store.ready import Ready
from fcpair.store.store import Tx
from fcpair.store.tables import run, setting


def of_stage(tx: Tx, stage: str) -> dict[str, Any]:
    """The settings of a stage by their keys, without the stage's name; what is missing has its default."""
    return {row.key.removeprefix(f"{stage}."): row.value for row in _of_stage(stage).all(tx, grid=here(tx))}


@cache
def _of_stage(stage: str) -> Ready:
    """Made once: the policy is asked for at every label."""
    own = (setting.c.grid_id == bindparam("grid")) & setting.c.key.startswith(f"{stage}.", autoescape=True)
    return Ready(select(setting.c.key, setting.c.value).where(own))


def set_at(tx: Tx, stage: str, name: str) -> str | None:
    """When the value that holds was set; None where it has its default."""
    own = (setting.c.grid_id == here(tx)) & (setting.c.key == f"{stage}.{name}")
    found: str | None = tx.execute(select(run.c.at).join(setting, setting.c.run_id == run.c.id).where(own)).scalar()
    return found


def put(tx: Tx, stage: str, values: Mapping[str, Any], run_id: int) -> None:
    """Let these values hold from now on. What holds already keeps the run that set it; other keys stay."""
    there = of_stage(tx, stage)
    for name, value in values.items():
        key = f"{stage}.{name}"
        if name not in there:
            tx.execute(insert(setting).values(grid_id=here(tx), key=key, value=value, run_id=run_id))
        elif there[name] != value:
            own = (setting.c.grid_id == here(tx)) & (setting.c.key == key)
            tx.execute(update(setting).where(own).values(value=value, run_id=run_id))
