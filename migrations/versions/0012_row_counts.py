"""How many rows each table that only grows should have is known by the chains of answers and decisions, and by rows of
`chain` for the others, in place of a table of its own that every answer wrote.

What was accepted as missing is a setting of the first grid from now on, by the run that accepted it.

Revision ID: 0012
Revises: 0011
"""

import json
from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

CHAINS = {"judgement": "answer", "adjudication": "decision"}
ONLINE = "SELECT count(*) FROM judgement WHERE origin = 'online' AND run_id IS NULL"


def upgrade() -> None:
    extents = {row.name: row for row in _rows("SELECT name, last, missing FROM extent")}
    chained = {row.kind: int(row.n) for row in _rows("SELECT kind, sum(n) AS n FROM chain GROUP BY kind")}
    n_online = _rows(ONLINE)[0][0]
    for name in ("run", "guideline", "receipt"):
        n = extents[name].last - extents[name].missing - (n_online if name == "receipt" else 0)
        _run("INSERT INTO chain (kind, person_id, n, head) VALUES (:kind, 0, :n, :head)", kind=name, n=n, head=b"")
    run, accepted, grid = _rows(
        "SELECT max(id), max(CASE stage WHEN 'accept' THEN id END), (SELECT min(id) FROM grid) FROM run"
    )[0]
    for name, one in extents.items():
        n_missing = chained.get(CHAINS[name], 0) - (one.last - one.missing) if accepted and name in CHAINS else 0
        if run and (n_missing or one.missing):
            _run(
                "INSERT INTO setting (grid_id, key, value, run_id) VALUES (:grid, :key, :value, :run)",
                grid=grid,
                key=f"accept.{name}",
                value=json.dumps([n_missing, one.missing]),
                run=accepted or run,
            )
    op.drop_table("extent")


def _rows(statement: str) -> Sequence[Any]:
    return op.get_bind().execute(sa.text(statement)).all()


def _run(statement: str, **values: Any) -> None:
    op.get_bind().execute(sa.text(statement), values)
