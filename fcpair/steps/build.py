"""From a corpus to the grid: import, select, retrieve, pair."""

from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair import corpus as corpora
from fcpair import encode, models, retrieve
from fcpair.encode import Progress
from fcpair.errors import InputError
from fcpair.pair import even_shares
from fcpair.params import Import, Pair, Retrieve, Select
from fcpair.records import RunRecord
from fcpair.steps.ground import begin_building, check_building, note
from fcpair.steps.listed import listed
from fcpair.steps.runs import ids_of, pooled
from fcpair.store import Store, Tx, grids, texts

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


SHOWN = 10  # HS that a note names
_log = logging.getLogger(__name__)


def import_corpus(store: Store, options: Import, *, redo: bool = False) -> RunRecord:
    """Read a corpus into the study."""
    read = corpora.read_corpus(
        options.path,
        options.format,
        language=options.language,
        hs_column=options.hs_column,
        cn_column=options.cn_column,
        hs_id_column=options.hs_id_column,
        cn_id_column=options.cn_id_column,
        unpaired=options.unpaired,
    )
    with store.write() as tx:
        begin_building(tx, "import", redo=redo)
        pairs = read.pairs
        has_hs, has_cn = (pairs[side].str.strip() != "" for side in (corpora.HS, corpora.CN))
        hs_ids = add_side(tx, corpora.HS, pairs[has_hs], read.hs_metadata)
        cn_ids = add_side(tx, corpora.CN, pairs[has_cn], read.cn_metadata)
        paired = pairs[has_hs & has_cn]
        hs, cn = paired["hs_digest"].map(hs_ids), paired["cn_digest"].map(cn_ids)
        texts.add_source_pairs(tx, zip(hs.tolist(), cn.tolist(), _metadata(paired, read.metadata), strict=True))
        counts = {"rows": len(pairs), "hs": len(hs_ids), "cn": len(cn_ids)}
        unpaired = {"without_pair": len(pairs) - len(paired)} if options.unpaired else {}
        run = note(tx, options, counts | unpaired)
    return replace(run, notes=(_assumed(options, len(pairs)),)) if read.assumed_language else run


def _assumed(options: Import, rows: int) -> str:
    return (
        f"read as {options.format}, {options.path} does not say which language a row is in, so all {rows:,} rows were "
        f"taken to be `{options.language}`; a column `language` would say it, and CONAN's own file is read by "
        "`--format conan`"
    )


def add_side(tx: Tx, side: str, pairs: pd.DataFrame, metadata: tuple[str, ...]) -> dict[str, int]:
    """Add the distinct texts of one side, each with the metadata of its first row; returns the id of each digest."""
    first = pairs.drop_duplicates(f"{side}_digest")
    rows = zip(first[f"{side}_digest"], first[side], first["language"], _metadata(first, metadata), strict=True)
    return texts.add_texts(tx, side, rows)


def _metadata(rows: pd.DataFrame, names: tuple[str, ...]) -> list[dict[str, str]]:
    """The metadata of each row as a dict, of those names that the file has."""
    there = [name for name in names if name in rows.columns]
    if not there:
        return [{} for _ in range(len(rows))]
    return [dict(zip(there, values, strict=True)) for values in zip(*(rows[name] for name in there), strict=True)]


def select(store: Store, options: Select, *, redo: bool = False) -> RunRecord:
    """Choose the HS of the study: drawn by seed, or as a file lists them."""
    if (options.hs is None) == (options.list is None):
        raise InputError("say either how many HS to draw (--hs N) or which (--list FILE)")
    with store.write() as tx:
        begin_building(tx, "select", redo=redo)
        chosen = listed(tx, corpora.HS, options.list) if options.list else _drawn(tx, options)
        grids.set_selected(tx, chosen)
        return note(tx, options, {"hs": len(chosen), "source_cns": len(grids.source_cns(tx))})


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


def bring_in(store: Store, options: Retrieve, *, redo: bool = False, progress: Progress | None) -> RunRecord:
    """Bring candidates in: neighbours of the source CNs, less all source CNs; or those of a list; or those of runs."""
    import numpy as np

    if options.list is not None and options.runs:
        raise InputError("say either which candidates to take (--list FILE) or from which runs (--run FILE)")
    if options.list is not None:
        return _take_listed(store, options, options.list, redo=redo)
    if options.runs:
        return _take_pooled(store, options, redo=redo)
    retrieve.check_k(options.k)
    with store.read() as tx:
        check_building(tx, "retrieve", redo=redo)
        there = texts.source_copies(tx)
        if not grids.source_cns(tx):
            raise InputError("no selected HS has a CN in the corpus to look from; take candidates by --list or --run")
        _warn_of_language(tx, options.model)
    model = models.resolve(options.model)
    vectors = encode.encode(there["body"].tolist(), model, progress)
    with store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        ids = there["cn_id"].to_numpy()
        sources = np.flatnonzero(np.isin(ids, grids.source_cns(tx)))
        copies = there["n_rows"].to_numpy() if options.count_duplicates else None
        found = retrieve.neighbours(vectors, sources, options.k, copies)
        candidates = ids[retrieve.candidates(found, sources)].tolist()
        if not candidates:
            raise InputError("every neighbour is a source CN, so there are no candidates; raise --k or select fewer HS")
        grids.set_neighbours(tx, found.assign(source_id=ids[found.pop("source")], cn_id=ids[found.pop("cn")], run=""))
        grids.set_candidates(tx, candidates)
        counts = {"source_cns": len(sources), "neighbours": len(found), "candidates": len(candidates)}
        run = note(tx, options, counts, model.record())
        return _noting(tx, run, grids.selected_without_cn(tx), "no CN in the corpus to look from")


def _take_listed(store: Store, options: Retrieve, path: Path, *, redo: bool) -> RunRecord:
    """Take the candidates of a file; each is a CN of the corpus, source CNs among them."""
    with store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        candidates = listed(tx, corpora.CN, path)
        grids.set_candidates(tx, candidates)
        return note(tx, options, {"candidates": len(candidates)})


def _take_pooled(store: Store, options: Retrieve, *, redo: bool) -> RunRecord:
    """Take what stands at the top of runs for the selected HS, source CNs among them, in the order of the corpus."""
    with store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        found = pooled(tx, options.runs, options.depth)
        if found.empty:
            raise InputError("the runs name no CN for any of the selected HS, so there are no candidates")
        candidates = sorted(set(found["cn_id"].tolist()))
        grids.set_neighbours(tx, found)
        grids.set_candidates(tx, candidates)
        by_run = found.groupby("run", sort=False)["cn_id"].nunique().to_dict()
        run = note(tx, options, {"runs": by_run, "candidates": len(candidates)})
        there = set(found["source_id"].tolist())
        return _noting(tx, run, [hs for hs in grids.selected(tx) if hs not in there], "no line in any run")


def _noting(tx: Tx, run: RunRecord, hs_ids: list[int], why: str) -> RunRecord:
    """The run with a note on the selected HS that bring in no candidates of their own."""
    if not hs_ids:
        return run
    names = {text_id: name for name, named in ids_of(tx, corpora.HS).items() for text_id in named}
    shown = ", ".join(names[hs] for hs in hs_ids[:SHOWN] if hs in names) + ", ..." * (len(hs_ids) > SHOWN)
    n = f"{len(hs_ids):,} of {len(grids.selected(tx)):,}"
    return replace(
        run, notes=(f"selected HS with {why}, which bring in no candidates of their own: {n} (hs_id {shown})",)
    )


def _warn_of_language(tx: Tx, model: str) -> None:
    """Say so where the model knows English alone, and most CNs are something else."""
    if not models.is_english(model):
        return
    cns = texts.texts_of(tx, corpora.CN)
    if found := retrieve.foreign(cns["body"].tolist(), cns["language"].fillna("").tolist()):
        _log.warning(
            "%s knows English only, but most of the corpus %s, so its neighbours mean little; name a multilingual "
            "model, such as `--model %s`",
            model,
            found,
            models.MULTILINGUAL,
        )


def make_grid(store: Store, options: Pair, *, redo: bool = False) -> RunRecord:
    """Cross the selected HS with all candidates, or with as many as are drawn, less the corpus unless it is kept."""
    with store.write(bulk=True) as tx:
        begin_building(tx, "pair", redo=redo)
        there = grids.candidates(tx)
        n = len(there) if options.candidates is None else options.candidates
        grids.set_drawn(tx, [there[i] for i in retrieve.draw(len(there), n, options.seed, "candidates")])
        n_pairs, in_corpus = grids.fill_grid(tx, keep_known=options.keep_known)
        n_hs = len(grids.selected(tx))
        counts = {"hs": n_hs, "cn": n, "pairs": n_pairs, "in_corpus": in_corpus, "even_for": list(even_shares(n_pairs))}
        return note(tx, options, counts)
