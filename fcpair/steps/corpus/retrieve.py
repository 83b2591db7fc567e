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
from fcpair.models.cluster.connect import check_address, connect_cluster
from fcpair.models.encode import Progress
from fcpair.models.vector_cache import folder_of
from fcpair.params import DEFAULT_MODEL, MEMORY_MB, Backend, Retrieve
from fcpair.records import RunRecord
from fcpair.stages.corpus import retrieve
from fcpair.stages.corpus.nearest_neighbours import Neighbours, Positions
from fcpair.steps.base.context import Basis, GridContext, begin_building, check_building, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_lists import find_listed_texts
from fcpair.steps.corpus.trec_runs import pool_runs, text_ids
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

MAX_SHOWN = 10  # HS that a note names
_log = logging.getLogger(__name__)


@takes_params
def bring_in_candidates(
    grid: GridContext,
    options: Retrieve | None = None,
    *,
    redo: bool = False,
    progress: Progress | None = None,
    k: int = own(2),
    model: str = own(DEFAULT_MODEL),
    backend: Backend = own("torch"),
    count_duplicates: bool = own(False),
    list: str | Path | None = own(None),
    every_cn: bool = own(False),
    runs: Sequence[str | Path] = own(()),
    depth: int = own(10),
    memory_mb: int = own(MEMORY_MB),
    dask: str | None = own(None),
) -> RunRecord:
    """Bring candidates in: neighbours of the source CNs, less all source CNs; those of a list; those of runs; or
    every CN of the corpus.

    Without options, as the recipe says. Raises ModelError when the model cannot be had.
    """
    options = options or by_recipe(grid, Retrieve)
    if options.list is not None:
        return _use_listed_candidates(grid, options, options.list, redo=redo)
    if options.every_cn:
        return _use_every_cn(grid, options, redo=redo)
    if options.runs:
        return _use_pooled_candidates(grid, options, redo=redo)
    retrieve.check_k(options.k)
    if options.dask is not None:
        check_address(options.dask)
    with grid._store.read() as tx:
        check_building(tx, "retrieve", redo=redo)
        basis = Basis(tx, lambda tx: (texts.source_copies(tx), sides.source_cns(tx)))
        corpus_cns, source_ids = basis.inputs
        if not source_ids:
            raise InputError(
                "no selected HS has a CN in the corpus to search from; give candidates by --cn-list or --run"
            )
        _warn_of_language(tx, options.model)
    encoder = model_files.resolve(options.model, backend=options.backend)
    ids = corpus_cns["cn_id"].to_numpy()
    sources = np.flatnonzero(np.isin(ids, source_ids))
    copies = corpus_cns["n_rows"].to_numpy() if options.count_duplicates else None
    bodies = corpus_cns["body"].tolist()
    find_nearest = _nearest_in_memory if options.dask is None else _nearest_on_cluster
    neighbours = retrieve.neighbour_table(
        find_nearest(bodies, sources, options, encoder, progress), sources, options.k, copies
    )
    candidates = ids[retrieve.candidate_positions(neighbours, sources)].tolist()
    cut = encode.count_cut(bodies, encoder)
    if not candidates:
        raise InputError("every neighbour is a source CN, so there are no candidates; raise --k or select fewer HS")
    with grid._store.write() as tx:
        basis.check_unmoved(tx)
        begin_building(tx, "retrieve", redo=redo)
        sides.set_neighbours(
            tx, neighbours.assign(source_id=ids[neighbours.pop("source")], cn_id=ids[neighbours.pop("cn")], run="")
        )
        sides.set_texts(tx, "column", candidates)
        counts = {"source_cns": len(sources), "neighbours": len(neighbours), "candidates": len(candidates)}
        counts |= {"cut_texts": cut.n} if cut.n else {}
        run = replace(note_stage_run(tx, options, counts, encoder.record()), notes=cut.notes)
        return _with_missing_note(tx, run, sides.rows_without_cn(tx), "no CN in the corpus to search from")


def _nearest_in_memory(
    bodies: Sequence[str], sources: Positions, options: Retrieve, model: model_files.Model, progress: Progress | None
) -> Neighbours:
    vectors = encode.encode(bodies, model, progress)
    return retrieve.nearest_to(vectors, sources, options.k, options.memory_mb, progress)


def _nearest_on_cluster(
    bodies: Sequence[str], sources: Positions, options: Retrieve, model: model_files.Model, progress: Progress | None
) -> Neighbours:
    from fcpair.models.cluster.cluster_encode import encode_on_cluster
    from fcpair.models.cluster.cluster_nearest import nearest_on_cluster

    with connect_cluster(str(options.dask), folder_of(model)) as client:
        places = encode_on_cluster(client, bodies, model, progress)
        return nearest_on_cluster(client, places, sources, options.k, options.memory_mb, progress)


def _use_listed_candidates(grid: GridContext, options: Retrieve, path: Path, *, redo: bool) -> RunRecord:
    """Take the candidates of a file; each is a CN of the corpus, source CNs among them."""
    with grid._store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        candidates = find_listed_texts(tx, corpora.CN, path)
        sides.set_texts(tx, "column", candidates)
        return note_stage_run(tx, options, {"candidates": len(candidates)})


def _use_every_cn(grid: GridContext, options: Retrieve, *, redo: bool) -> RunRecord:
    """Take every CN of the corpus, source CNs among them, in its order."""
    with grid._store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        candidates = texts.texts_of(tx, corpora.CN)["id"].tolist()
        sides.set_texts(tx, "column", candidates)
        return note_stage_run(tx, options, {"candidates": len(candidates)})


def _use_pooled_candidates(grid: GridContext, options: Retrieve, *, redo: bool) -> RunRecord:
    """Take what stands at the top of runs for the selected HS, source CNs among them, in the order of the corpus."""
    with grid._store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        pool, notes = pool_runs(tx, options.runs, options.depth)
        if pool.empty:
            raise InputError("the runs name no CN for any of the selected HS, so there are no candidates")
        candidates = sorted(set(pool["cn_id"].tolist()))
        sides.set_neighbours(tx, pool)
        sides.set_texts(tx, "column", candidates)
        by_run = pool.groupby("run", sort=False)["cn_id"].nunique().to_dict()
        run = note_stage_run(tx, options, {"runs": by_run, "candidates": len(candidates)})
        run = replace(run, notes=notes)
        hs_in_runs = set(pool["source_id"].tolist())
        return _with_missing_note(
            tx, run, [hs for hs in sides.text_ids(tx, "row") if hs not in hs_in_runs], "no line in any run"
        )


def _with_missing_note(tx: Tx, run: RunRecord, hs_ids: list[int], why: str) -> RunRecord:
    """The run with a note on the selected HS that bring in no candidates of their own."""
    if not hs_ids:
        return run
    ids = text_ids(tx, corpora.HS).numbered_by("corpus")
    names = {text_id: name for name, named_texts in ids.items() for text_id in named_texts}
    shown = ", ".join(names[hs] for hs in hs_ids[:MAX_SHOWN] if hs in names) + ", ..." * (len(hs_ids) > MAX_SHOWN)
    n = f"{len(hs_ids):,} of {len(sides.text_ids(tx, 'row')):,}"
    note = f"selected HS with {why}, which bring in no candidates of their own: {n} (hs_id {shown})"
    return replace(run, notes=(*run.notes, note))


def _warn_of_language(tx: Tx, model: str) -> None:
    """Say so where the model knows English alone, and most CNs are something else."""
    if not model_files.is_english(model):
        return
    cns = texts.texts_of(tx, corpora.CN)
    if languages := retrieve.non_english_note(cns["body"].tolist(), cns["language"].fillna("").tolist()):
        _log.warning(
            "%s was trained on English only, but most of the corpus %s, so its neighbours mean little; name a "
            "multilingual model, such as `--model %s`",
            model,
            languages,
            model_files.MULTILINGUAL,
        )
