"""Choosing the HS."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.files.tables.tabular import Source
from fcpair.lazy import pd
from fcpair.params import Select
from fcpair.records import RunRecord
from fcpair.stages.drawing import draw_positions, draw_stratified, own_order
from fcpair.steps.base.context import GridContext, begin_building, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_digests import find_listed_texts
from fcpair.store.corpus import sides, texts


@takes_params
def select(
    grid: GridContext,
    options: Select | None = None,
    *,
    redo: bool = False,
    hs: int | None = own(None),
    hs_list: Source | None = own(None),
    stratify: str | None = own(None),
    seed: int = own(0),
    sheet_name: str | None = own(None),
) -> RunRecord:
    """Choose the HS: drawn by seed, or as a file, a frame or a list names them; without options, as the recipe says."""
    options = options or by_recipe(grid, Select)
    if options.hs is None and options.hs_list is None:
        raise InputError("say either how many HS to draw (--hs N) or which (--hs-list FILE)")
    with grid._store.write() as tx:
        begin_building(tx, "select", redo=redo)
        if options.hs_list:
            hs_ids = find_listed_texts(tx, corpora.HS, options.hs_list, options.sheet_name)
        else:
            all_hs = texts.texts_of(tx, corpora.HS)
            hs_ids = all_hs["id"].to_numpy()[_draw_positions(all_hs, options)].tolist()
        sides.set_texts(tx, "row", hs_ids)
        return note_stage_run(tx, options, {"hs": len(hs_ids), "source_cns": len(sides.source_cns(tx))})


def _draw_positions(all_hs: pd.DataFrame, options: Select) -> NDArray[np.int64]:
    n, order = options.hs or 0, own_order(all_hs["digest"])
    if options.stratify is None:
        return draw_positions(order, n, options.seed, "HS")
    names = sorted({name for meta in all_hs["meta"] for name in meta})
    if options.stratify not in names:
        raise InputError(f"no HS has metadata `{options.stratify}`; there is {', '.join(names) or 'none'}")
    strata = all_hs["meta"].map(lambda meta: meta.get(options.stratify, "")).to_numpy(object)
    return draw_stratified(strata, order, n, options.seed, "HS")
