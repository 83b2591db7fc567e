"""Choosing the HS."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.params import Select
from fcpair.records import RunRecord
from fcpair.stages.drawing import draw_positions, draw_stratified, own_order
from fcpair.steps.base.context import GridContext, begin_building, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_lists import find_listed_texts
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

if TYPE_CHECKING:
    import pandas as pd


@takes_params
def select(
    grid: GridContext,
    options: Select | None = None,
    *,
    redo: bool = False,
    hs: int | None = own(None),
    list: str | Path | None = own(None),
    stratify: str | None = own(None),
    seed: int = own(0),
) -> RunRecord:
    """Choose the HS: drawn by seed, or as a file lists them; without options, as the recipe says."""
    options = options or by_recipe(grid, Select)
    if options.hs is None and options.list is None:
        raise InputError("say either how many HS to draw (--hs N) or which (--hs-list FILE)")
    with grid._store.write() as tx:
        begin_building(tx, "select", redo=redo)
        hs_ids = find_listed_texts(tx, corpora.HS, options.list) if options.list else _draw_hs(tx, options)
        sides.set_texts(tx, "row", hs_ids)
        return note_stage_run(tx, options, {"hs": len(hs_ids), "source_cns": len(sides.source_cns(tx))})


def _draw_hs(tx: Tx, options: Select) -> list[int]:
    all_hs = texts.texts_of(tx, corpora.HS)
    hs_ids: list[int] = all_hs["id"].to_numpy()[_draw_positions(all_hs, options)].tolist()
    return hs_ids


def _draw_positions(all_hs: pd.DataFrame, options: Select) -> NDArray[np.int64]:
    n, order = options.hs or 0, own_order(all_hs["digest"])
    if options.stratify is None:
        return draw_positions(order, n, options.seed, "HS")
    names = sorted({name for meta in all_hs["meta"] for name in meta})
    if options.stratify not in names:
        raise InputError(f"no HS has metadata `{options.stratify}`; there is {', '.join(names) or 'none'}")
    strata = all_hs["meta"].map(lambda meta: meta.get(options.stratify, "")).to_numpy(object)
    return draw_stratified(strata, order, n, options.seed, "HS")
