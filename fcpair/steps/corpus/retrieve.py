"""Bringing candidates in: by retrieval, from a list, from runs."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from fcpair.errors import InputError
from fcpair.files.corpus import corpus as corpora
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.trec import TextIds, read_run
from fcpair.files.tables.tabular import Source
from fcpair.lazy import pd
from fcpair.models import encode, model_files
from fcpair.models.cache import folder_of
from fcpair.models.cluster import check_address, connect_cluster, encode_on_cluster, nearest_on_cluster
from fcpair.models.encode import Progress
from fcpair.params import DEFAULT_MODEL, MEMORY_MB, Backend, Retrieve
from fcpair.records import RunRecord
from fcpair.stages.corpus import retrieve
from fcpair.steps.base.context import Basis, GridContext, begin_building, check_building, note_stage_run
from fcpair.steps.base.keywords import own, takes_params
from fcpair.steps.base.recipe_options import by_recipe
from fcpair.steps.base.text_digests import find_listed_texts
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
    cn_list: Source | None = own(None),
    every_cn: bool = own(False),
    runs: Sequence[Source] = own(()),
    depth: int = own(10),
    memory_mb: int = own(MEMORY_MB),
    dask: str | None = own(None),
    sheet_name: str | None = own(None),
) -> RunRecord:
    """Bring candidates in: neighbours of the source CNs, less all source CNs; those of a list, which is a file, a frame
    or a Python list; those of runs; or every CN of the corpus.

    A run is a file, or one frame with the columns `hs_id`, `cn_id`, `rank` and `score`. Without options, as the recipe
    says. Raises ModelError when the model cannot be had.
    """
    options = options or by_recipe(grid, Retrieve)
    if options.cn_list is not None or options.every_cn:  # source CNs are among them
        with grid._store.write() as tx:
            begin_building(tx, "retrieve", redo=redo)
            candidates = (
                texts.texts_of(tx, corpora.CN)["id"].tolist()
                if options.cn_list is None
                else find_listed_texts(tx, corpora.CN, options.cn_list, options.sheet_name)
            )
            sides.set_texts(tx, "column", candidates)
            return note_stage_run(tx, options, {"candidates": len(candidates)})
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
        if model_files.is_english(options.model):
            cns = texts.texts_of(tx, corpora.CN)
            if languages := retrieve.non_english_note(cns["body"].tolist(), cns["language"].fillna("").tolist()):
                _log.warning(
                    "%s was trained on English only, but most of the corpus %s, so its neighbours mean little; name a "
                    "multilingual model, such as `--model %s`",
                    options.model,
                    languages,
                    model_files.MULTILINGUAL,
                )
    encoder = model_files.resolve(options.model, backend=options.backend)
    ids = corpus_cns["cn_id"].to_numpy()
    sources = np.flatnonzero(np.isin(ids, source_ids))
    copies = corpus_cns["n_rows"].to_numpy() if options.count_duplicates else None
    bodies = corpus_cns["body"].tolist()
    if options.dask is None:
        vectors = encode.encode(bodies, encoder, progress)
        nearest = retrieve.nearest_to(vectors, sources, options.k, options.memory_mb, progress)
    else:
        with connect_cluster(options.dask, folder_of(encoder)) as client:
            places = encode_on_cluster(client, bodies, encoder, progress)
            nearest = nearest_on_cluster(client, places, sources, options.k, options.memory_mb, progress)
    neighbours = retrieve.neighbour_table(nearest, sources, options.k, copies)
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


def pool_runs(tx: Tx, paths: Sequence[Path], depth: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The first `depth` CNs of each selected HS in each run.

    Lines for other HS of the corpus are passed over.

    Returns:
        One row per run, HS and CN: `source_id` (the HS), `run` (its name), `rank` (from 1), `cn_id`, `score`; and the
        notes of `read_run`.

    Raises:
        InputError: a depth below 1, a run given twice, and what `read_run` refuses.
    """
    if depth < 1:
        raise InputError(f"depth is {depth}; expected 1 or more")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a run is given twice; of frames, which have no names, give one")
    ids, selected = {side: text_ids(tx, side) for side in (HS, CN)}, sides.text_ids(tx, "row")
    n_by_name = Counter(path.name for path in paths)
    pools, notes = [], []
    for path in paths:
        lines, own_notes = read_run(path, ids)
        name = path.name if n_by_name[path.name] == 1 else str(path)
        notes += [f"{name}: {note}" for note in own_notes]
        pools.append(
            lines[lines["hs_id"].isin(selected) & (lines["rank"] <= depth) & (lines["cn_id"] >= 0)].assign(run=name)
        )
    pool = pd.concat(pools, ignore_index=True).rename(columns={"hs_id": "source_id"})
    return pool[["source_id", "run", "rank", "cn_id", "score"]], tuple(notes)


def text_ids(tx: Tx, kind: str) -> TextIds:
    """The ids by which runs may name the texts of one kind.

    Their own are in a column `hs_id` or `cn_id` of the corpus, in any row; a cell may list several, with spaces.
    """
    kind_texts = texts.texts_of(tx, kind)
    metadata_rows = [*zip(kind_texts["id"].tolist(), kind_texts["meta"], strict=True)]
    if kind in (HS, CN):
        metadata_rows += texts.row_metadata(tx, kind)
    own_ids: dict[str, set[int]] = {}
    for text_id, meta in metadata_rows:
        for word in meta.get(f"{kind}_id", "").split():
            own_ids.setdefault(word, set()).add(text_id)
    return TextIds(own_ids, frozenset(kind_texts["id"].tolist()))
