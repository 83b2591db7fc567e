"""Parameters have the names of their options, in the settings and in the run log.

Revision ID: 0011
Revises: 0010
"""

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None

NEW_NAMES = {
    "import": {"format": "reader", "language": "only_language"},
    "select": {"list": "hs_list"},
    "retrieve": {"list": "cn_list"},
    "assign": {"groups": "annotator_groups"},
    "qualification": {"pairs": "known_pairs"},
    "agreement": {"not_sure": "indefinite", "by": "blocks"},
    "evaluate": {"k": "cutoff"},
}
BLOCKS = (None, "grid", "column", "row")  # `by` of an agreement; any other says who measured it on a page


def upgrade() -> None:
    connection = op.get_bind()
    setting = sa.table("setting", sa.column("key"))
    for stage, names in NEW_NAMES.items():
        for place in (stage, f"recipe.{stage}"):
            for old, new in names.items():
                renaming = setting.update().where(setting.c.key == f"{place}.{old}")
                connection.execute(renaming.values(key=f"{place}.{new}"))
    run = sa.table("run", sa.column("id"), sa.column("stage"), sa.column("params", sa.JSON))
    for row in connection.execute(sa.select(run).where(run.c.stage.in_([*NEW_NAMES, "grid"]))).all():
        params = {  # a planned grid has tables of stages among its own
            name: _renamed(name, value) if row.stage == "grid" and isinstance(value, dict) else value
            for name, value in _renamed(row.stage, row.params).items()
        }
        if params != row.params:
            connection.execute(run.update().where(run.c.id == row.id).values(params=params))


def _renamed(stage: str, params: dict[str, Any]) -> dict[str, Any]:
    """The parameters of a stage by their new names, in their order."""
    names = NEW_NAMES.get(stage, {})
    return {
        name if (stage, name) == ("agreement", "by") and value not in BLOCKS else names.get(name, name): value
        for name, value in params.items()
    }
