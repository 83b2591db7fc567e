"""Settings that hold in the grid now, key by key: `annotate.daily_limit`, `select.seed`. The run log is not asked.

What the recipe says of a stage, done or not, stands beside that, as `recipe.select.seed`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from sqlalchemy import ColumnElement, bindparam, delete, func, insert, or_, select, update

from fcpair.store.corpus.grids import current_grid_id
from fcpair.store.database.statements import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import run, setting

RECIPE = "recipe."  # before the name of a stage


def of_stage(tx: Tx, stage: str) -> dict[str, Any]:
    """The settings of a stage by their keys, without the stage's name; what is missing has its default."""
    return {row.key.removeprefix(f"{stage}."): row.value for row in _query(stage).all(tx, grid=current_grid_id(tx))}


def with_recipe(tx: Tx, stage: str) -> dict[str, Any]:
    """Settings of a stage: what the recipe says of it, and where that says nothing, what the stage has set."""
    rows = _query(stage, RECIPE + stage).all(tx, grid=current_grid_id(tx))
    return {row.key.rpartition(".")[2]: row.value for row in sorted(rows, key=lambda row: row.key.startswith(RECIPE))}


@cache
def _query(*stages: str) -> PreparedStatement:
    """Made once: the policy is asked for at every label, the terms at every answer."""
    own = (setting.c.grid_id == bindparam("grid")) & or_(*map(_is_of_stage, stages))
    return PreparedStatement(select(*setting.c["key", "value"]).where(own))


def _is_of_stage(stage: str) -> ColumnElement[bool]:
    return setting.c.key.startswith(f"{stage}.", autoescape=True)


def time_set(tx: Tx, stage: str, name: str) -> str | None:
    """Time at which the current value was set, by the recipe or else by the stage; None where it has its default."""
    own = (setting.c.grid_id == current_grid_id(tx)) & setting.c.key.in_([f"{stage}.{name}", f"{RECIPE}{stage}.{name}"])
    query = select(run.c.at).join(setting, setting.c.run_id == run.c.id).where(own)
    return cast("str | None", tx.scalar(query.order_by(setting.c.key.startswith(RECIPE).desc())))


def save_settings(tx: Tx, stage: str, values: Mapping[str, Any], run_id: int) -> None:
    """Let these values hold from now on. What holds already keeps the run that set it; other keys stay."""
    current, grid_id = of_stage(tx, stage), current_grid_id(tx)
    for name, value in values.items():
        key, changed = f"{stage}.{name}", {"value": value, "run_id": run_id}
        if name not in current:
            tx.execute(insert(setting).values(grid_id=grid_id, key=key, **changed))
        elif current[name] != value:
            tx.execute(update(setting).where(setting.c.grid_id == grid_id, setting.c.key == key).values(**changed))


def remove_stage(tx: Tx, stage: str) -> None:
    """Let a stage, and what the recipe says of it, have the defaults again."""
    is_current = setting.c.grid_id == current_grid_id(tx)
    tx.execute(delete(setting).where(is_current & or_(_is_of_stage(stage), _is_of_stage(RECIPE + stage))))


def run_of_stage(tx: Tx, stage: str) -> int | None:
    """The newest run that set anything of a stage; None where nothing is set."""
    query = select(func.max(setting.c.run_id)).where((setting.c.grid_id == current_grid_id(tx)) & _is_of_stage(stage))
    return cast("int | None", tx.scalar(query))
