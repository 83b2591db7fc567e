"""Choosing the HS."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.param_values import takes_params
from fcpair.params import Select
from fcpair.records import RunRecord
from fcpair.stages.corpus import retrieve
from fcpair.steps.base.context import OnGrid, begin_building, note
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_lists import listed
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

if TYPE_CHECKING:
    import pandas as pd


@takes_params
def select(grid: OnGrid, options: Select | None = None, *, redo: bool = False) -> RunRecord:
    """Choose the HS: drawn by seed, or as a file lists them; without options, as the recipe says."""
    options = options or by_recipe(grid, Select)
    if options.hs is None and options.list is None:
        raise InputError("say either how many HS to draw (--hs N) or which (--list FILE)")
    with grid.store.write() as tx:
        begin_building(tx, "select", redo=redo)
        chosen = listed(tx, corpora.HS, options.list) if options.list else _drawn(tx, options)
        sides.put(tx, "row", chosen)
        return note(tx, options, {"hs": len(chosen), "source_cns": len(sides.source_cns(tx))})


def _drawn(tx: Tx, options: Select) -> list[int]:
    there = texts.texts_of(tx, corpora.HS)
    chosen: list[int] = there["id"].to_numpy()[_positions(there, options)].tolist()
    return chosen


def _positions(there: pd.DataFrame, options: Select) -> NDArray[np.int64]:
    n = options.hs or 0
    if options.stratify is None:
        return retrieve.draw(len(there), n, options.seed, "HS")
    names = sorted({name for meta in there["meta"] for name in meta})
    if options.stratify not in names:
        raise InputError(f"no HS has metadata `{options.stratify}`; there is {', '.join(names) or 'none'}")
    strata = there["meta"].map(lambda meta: meta.get(options.stratify, "")).to_numpy(object)
    return retrieve.draw_stratified(strata, n, options.seed, "HS")
