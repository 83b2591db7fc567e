"""Making the grid."""

from __future__ import annotations

from fcpair.errors import InputError
from fcpair.params import Pair
from fcpair.records import RunRecord
from fcpair.stages import retrieve
from fcpair.stages.pair import even_shares
from fcpair.steps import grids
from fcpair.steps.ground import OnGrid, begin_building, is_planned, note
from fcpair.store import cells, sides


def make_grid(grid: OnGrid, options: Pair | None = None, *, redo: bool = False) -> RunRecord:
    """Make the grid: the selected HS x all candidates, or as many as are drawn, less the corpus unless it is kept.

    A planned grid is made of its sides, and takes no options (`grids.fill`).
    """
    with grid.store.read() as tx:
        planned = is_planned(tx)
    options = options or Pair()
    if planned and options != Pair():
        raise InputError(f"the sides of grid `{grid.grid.name}` are planned, so nothing is drawn; omit the options")
    return grids.fill(grid, redo=redo) if planned else _make(grid, options, redo=redo)


def _make(grid: OnGrid, options: Pair, *, redo: bool) -> RunRecord:
    with grid.store.write(bulk=True) as tx:
        begin_building(tx, "pair", redo=redo)
        there = sides.texts(tx, "column")
        n = len(there) if options.candidates is None else options.candidates
        sides.set_drawn(tx, "column", [there[i] for i in retrieve.draw(len(there), n, options.seed, "candidates")])
        n_pairs, in_corpus = cells.fill(tx, keep_known=options.keep_known)
        n_hs = len(sides.texts(tx, "row"))
        counts = {"hs": n_hs, "cn": n, "pairs": n_pairs, "in_corpus": in_corpus, "even_for": list(even_shares(n_pairs))}
        return note(tx, options, counts)
