"""Choosing the HS, and making the grid of them and the candidates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import HS
from fcpair.files.tables.tabular import Source
from fcpair.param_values import as_params
from fcpair.params import Pair, Select
from fcpair.records import RunRecord
from fcpair.sentences import say
from fcpair.stages.corpus.retrieve import even_shares
from fcpair.stages.corpus.sample import draw_cells, draw_positions, draw_stratified, own_order
from fcpair.steps.base.context import (
    GridContext,
    begin_building,
    is_planned,
    load_sample_size,
    note_run,
    note_stage_run,
    save_options,
    save_sample_size,
)
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_digests import find_listed_texts
from fcpair.steps.corpus import grids
from fcpair.store import Tx
from fcpair.store.corpus import cells, sides, texts


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
            hs_ids = find_listed_texts(tx, HS, options.hs_list, options.sheet_name)
        else:
            all_hs, n = texts.texts_of(tx, HS), options.hs or 0
            order = own_order(all_hs["digest"])
            if options.stratify is None:
                drawn = draw_positions(order, n, options.seed, "HS")
            else:
                names = sorted({name for meta in all_hs["meta"] for name in meta})
                if options.stratify not in names:
                    raise InputError(f"no HS has metadata `{options.stratify}`; there is {', '.join(names) or 'none'}")
                strata = all_hs["meta"].map(lambda meta: meta.get(options.stratify, "")).to_numpy(object)
                drawn = draw_stratified(strata, order, n, options.seed, "HS")
            hs_ids = all_hs["id"].to_numpy()[drawn].tolist()
        sides.set_texts(tx, "row", hs_ids)
        return note_stage_run(tx, options, {"hs": len(hs_ids), "source_cns": len(sides.source_cns(tx))})


@takes_params
def make_grid(
    grid: GridContext,
    options: Pair | None = None,
    *,
    redo: bool = False,
    candidates: int | None = own(None),
    keep_known: bool = own(False),
    sample: int | None = own(None),
    seed: int = own(0),
) -> RunRecord:
    """Make the grid: the selected HS x all candidates, or as many as are drawn, less the corpus unless it is kept.

    With `options.sample`, so many cells of that are drawn, and the rest of the grid is never made. A planned grid is
    made of its sides, and takes no options (`grids.fill_grid`). Without options, it is made as the recipe says.

    Raises InputError where the grid has not as many candidates or cells as are to be drawn, or more cells than there
    are numbers.
    """
    with grid._store.read() as tx:
        planned = is_planned(tx)
    options = options or by_recipe(grid, Pair)
    if planned and options != Pair():
        raise InputError(f"the sides of grid `{grid.grid.name}` are planned, so nothing is drawn; omit the options")
    if planned:
        return grids.fill_grid(grid, redo=redo)
    with grid._store.write(bulk=True) as tx:
        begin_building(tx, "pair", redo=redo)
        candidate_ids = sides.text_ids(tx, "column")
        n = len(candidate_ids) if options.candidates is None else options.candidates
        drawn = draw_positions(own_order(sides.values(tx, "column", "digest")), n, options.seed, say("candidates"))
        sides.set_drawn(tx, "column", [candidate_ids[at] for at in drawn.tolist()])
        if options.sample is None:
            cell_counts = dict(zip(("pairs", "in_corpus"), cells.fill(tx, keep_known=options.keep_known), strict=True))
        else:
            cell_counts = _draw_sample(tx, options, options.sample)
        counts = {
            "hs": len(sides.text_ids(tx, "row")),
            "cn": n,
            **cell_counts,
            "even_for": list(even_shares(cell_counts["pairs"])),
        }
        run_params = {
            name: value for name, value in as_params(options).items() if name != "sample" or value is not None
        }
        run = note_run(tx, options.stage, run_params, counts)
        save_options(tx, options, run)
        if options.sample is None:
            return run
        save_sample_size(tx, cell_counts["of"], run.id)
        notes = [str(load_sample_size(tx))]
        for side, name in (("hs", "HS"), ("cn", "CN")):
            least, most = cell_counts[f"{side}_min"], cell_counts[f"{side}_max"]
            if most > least + 1:
                notes.append(
                    f"each {name} has {least:,} to {most:,} cells, because so much of the grid is in the corpus that "
                    "no draw is more even"
                )
        return replace(run, notes=tuple(notes))


def _draw_sample(tx: Tx, options: Pair, n: int) -> dict[str, Any]:
    """Draw cells; it is counted `of` how many, and how many each HS and each CN has at least and at most."""
    n_rows, n_columns = cells.shape(tx)
    in_corpus = cells.places_of(tx, cells.corpus_pairs(tx))
    excluded = in_corpus[:0] if options.keep_known else in_corpus
    rows, columns = (own_order(sides.values(tx, axis, "digest", drawn=True)) for axis in cells.AXES)
    places = draw_cells(rows, columns, n, excluded, seed=options.seed)
    cells.fill_drawn(tx, places)
    by_hs, by_cn = (
        np.bincount(at, minlength=size)
        for at, size in zip(np.divmod(places, n_columns), (n_rows, n_columns), strict=True)
    )
    return {
        "pairs": n,
        "of": n_rows * n_columns - len(excluded),
        "in_corpus": len(in_corpus),
        **{"hs_min": int(by_hs.min()), "hs_max": int(by_hs.max())},
        **{"cn_min": int(by_cn.min()), "cn_max": int(by_cn.max())},
    }
