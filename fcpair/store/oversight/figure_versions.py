"""How often a figure was made that takes long to make: servers of one study learn from it whose is the newest."""

from __future__ import annotations

from sqlalchemy import bindparam, select, text, update

from fcpair.store.corpus import grids
from fcpair.store.database import backends
from fcpair.store.database.prepared import Ready
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import shown

_OF = (shown.c.grid_id == bindparam("grid")) & (shown.c.name == bindparam("figure"))
_N = Ready(select(shown.c.n).where(_OF))
_FIRST = Ready(text("INSERT INTO shown (grid_id, name, n) VALUES (:grid, :figure, 1) ON CONFLICT DO NOTHING"))
_NEXT = Ready(update(shown).where(_OF, shown.c.n == bindparam("before")).values(n=shown.c.n + 1))


def is_counted(tx: Tx) -> bool:
    """Whether it is counted how often figures were made: a file has one server."""
    return backends.of(tx).MANY_WRITE


def n_made(tx: Tx, figure: str) -> int:
    """How often a figure of the grid was made; 0 where it never was, or never took long."""
    found = _N.first(tx, grid=grids.here(tx), figure=figure)
    return found.n if found else 0


def note(tx: Tx, figure: str, before: int) -> bool:
    """Note that a figure was made once more; False, and nothing is noted, where somebody else has done so meanwhile."""
    given = {"grid": grids.here(tx), "figure": figure}
    return bool(_NEXT.run(tx, **given, before=before) if before else _FIRST.run(tx, **given))
