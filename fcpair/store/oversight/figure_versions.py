"""Number of times that a slow figure was made: servers of one study learn from it whose is the newest."""

from __future__ import annotations

from sqlalchemy import bindparam, select, text, update

from fcpair.store.corpus import grids
from fcpair.store.database import backends
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import shown_figure

_IS_FIGURE = (shown_figure.c.grid_id == bindparam("grid")) & (shown_figure.c.name == bindparam("figure"))
_N = PreparedStatement(select(shown_figure.c.n).where(_IS_FIGURE))
_FIRST = PreparedStatement(
    text("INSERT INTO shown (grid_id, name, n) VALUES (:grid, :figure, 1) ON CONFLICT DO NOTHING")
)
_NEXT = PreparedStatement(
    update(shown_figure).where(_IS_FIGURE, shown_figure.c.n == bindparam("before")).values(n=shown_figure.c.n + 1)
)


def is_counted(tx: Tx) -> bool:
    """Whether it is counted how often figures were made: a file has one server."""
    return backends.backend_of(tx).MANY_WRITE


def n_made(tx: Tx, figure: str) -> int:
    """Number of times that a figure of the grid was made; 0 where it never was, or never took long."""
    row = _N.first(tx, grid=grids.current_grid_id(tx), figure=figure)
    return row.n if row else 0


def record_made(tx: Tx, figure: str, before: int) -> bool:
    """Note that a figure was made once more; False, and nothing is noted, where somebody else has done so meanwhile."""
    params = {"grid": grids.current_grid_id(tx), "figure": figure}
    return bool(_NEXT.execute(tx, **params, before=before) if before else _FIRST.execute(tx, **params))
