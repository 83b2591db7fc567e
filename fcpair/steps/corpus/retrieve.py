"""Bringing candidates in: by retrieval, from a list, from runs."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.models import encode, model_files
from fcpair.models.cluster.connect import check_where, connected
from fcpair.models.encode import Progress
from fcpair.models.vector_cache import folder_of
from fcpair.param_values import takes_params
from fcpair.params import Retrieve
from fcpair.records import RunRecord
from fcpair.stages.corpus import retrieve
from fcpair.stages.corpus.nearest import Found, Positions
from fcpair.steps.base.context import Basis, OnGrid, begin_building, check_building, note
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_lists import listed
from fcpair.steps.corpus.trec_runs import ids_of, pooled
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

SHOWN = 10  # HS that a note names
_log = logging.getLogger(__name__)


@takes_params
def bring_in(
    grid: OnGrid, options: Retrieve | None = None, *, redo: bool = False, progress: Progress | None = None
) -> RunRecord:
    """Bring candidates in: neighbours of the source CNs, less all source CNs; or those of a list; or those of runs.

    Without options, as the recipe says. Raises ModelError when the model cannot be had.
    """
    options = options or by_recipe(grid, Retrieve)
    if options.list is not None:
        return _take_listed(grid, options, options.list, redo=redo)
    if options.runs:
        return _take_pooled(grid, options, redo=redo)
    retrieve.check_k(options.k)
    if options.dask is not None:
        check_where(options.dask)
    with grid.store.read() as tx:
        check_building(tx, "retrieve", redo=redo)
        basis = Basis(tx, lambda tx: (texts.source_copies(tx), sides.source_cns(tx)))
        there, source_ids = basis.found
        if not source_ids:
            raise InputError("no selected HS has a CN in the corpus to look from; take candidates by --list or --run")
        _warn_of_language(tx, options.model)
    model = model_files.resolve(options.model, backend=options.backend)
    ids = there["cn_id"].to_numpy()
    sources = np.flatnonzero(np.isin(ids, source_ids))
    copies = there["n_rows"].to_numpy() if options.count_duplicates else None
    bodies = there["body"].tolist()
    nearest = _nearest_here if options.dask is None else _nearest_on_cluster
    found = retrieve.listed(nearest(bodies, sources, options, model, progress), sources, options.k, copies)
    candidates = ids[retrieve.candidates(found, sources)].tolist()
    if not candidates:
        raise InputError("every neighbour is a source CN, so there are no candidates; raise --k or select fewer HS")
    with grid.store.write() as tx:
        basis.check_unmoved(tx)
        begin_building(tx, "retrieve", redo=redo)
        sides.set_neighbours(tx, found.assign(source_id=ids[found.pop("source")], cn_id=ids[found.pop("cn")], run=""))
        sides.put(tx, "column", candidates)
        counts = {"source_cns": len(sources), "neighbours": len(found), "candidates": len(candidates)}
        run = note(tx, options, counts, model.record())
        return _noting(tx, run, sides.rows_without_cn(tx), "no CN in the corpus to look from")


def _nearest_here(
    bodies: Sequence[str], sources: Positions, options: Retrieve, model: model_files.Model, progress: Progress | None
) -> Found:
    vectors = encode.encode(bodies, model, progress)
    return retrieve.nearest_to(vectors, sources, options.k, options.memory_mb, progress)


def _nearest_on_cluster(
    bodies: Sequence[str], sources: Positions, options: Retrieve, model: model_files.Model, progress: Progress | None
) -> Found:
    from fcpair.models.cluster.cluster_encode import encoded
    from fcpair.models.cluster.cluster_nearest import nearest

    with connected(str(options.dask), folder_of(model)) as client:
        places = encoded(client, bodies, model, progress)
        return nearest(client, places, sources, options.k, options.memory_mb, progress)


def _take_listed(grid: OnGrid, options: Retrieve, path: Path, *, redo: bool) -> RunRecord:
    """Take the candidates of a file; each is a CN of the corpus, source CNs among them."""
    with grid.store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        candidates = listed(tx, corpora.CN, path)
        sides.put(tx, "column", candidates)
        return note(tx, options, {"candidates": len(candidates)})


def _take_pooled(grid: OnGrid, options: Retrieve, *, redo: bool) -> RunRecord:
    """Take what stands at the top of runs for the selected HS, source CNs among them, in the order of the corpus."""
    with grid.store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        found = pooled(tx, options.runs, options.depth)
        if found.empty:
            raise InputError("the runs name no CN for any of the selected HS, so there are no candidates")
        candidates = sorted(set(found["cn_id"].tolist()))
        sides.set_neighbours(tx, found)
        sides.put(tx, "column", candidates)
        by_run = found.groupby("run", sort=False)["cn_id"].nunique().to_dict()
        run = note(tx, options, {"runs": by_run, "candidates": len(candidates)})
        there = set(found["source_id"].tolist())
        return _noting(tx, run, [hs for hs in sides.texts(tx, "row") if hs not in there], "no line in any run")


def _noting(tx: Tx, run: RunRecord, hs_ids: list[int], why: str) -> RunRecord:
    """The run with a note on the selected HS that bring in no candidates of their own."""
    if not hs_ids:
        return run
    names = {text_id: name for name, named in ids_of(tx, corpora.HS).items() for text_id in named}
    shown = ", ".join(names[hs] for hs in hs_ids[:SHOWN] if hs in names) + ", ..." * (len(hs_ids) > SHOWN)
    n = f"{len(hs_ids):,} of {len(sides.texts(tx, 'row')):,}"
    return replace(
        run, notes=(f"selected HS with {why}, which bring in no candidates of their own: {n} (hs_id {shown})",)
    )


def _warn_of_language(tx: Tx, model: str) -> None:
    """Say so where the model knows English alone, and most CNs are something else."""
    if not model_files.is_english(model):
        return
    cns = texts.texts_of(tx, corpora.CN)
    if found := retrieve.foreign(cns["body"].tolist(), cns["language"].fillna("").tolist()):
        _log.warning(
            "%s knows English only, but most of the corpus %s, so its neighbours mean little; name a multilingual "
            "model, such as `--model %s`",
            model,
            found,
            model_files.MULTILINGUAL,
        )
