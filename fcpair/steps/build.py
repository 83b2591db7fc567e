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
from fcpair.store import Store, Tx, grids, texts

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray


_log = logging.getLogger(__name__)


def import_corpus(store: Store, options: Import, *, redo: bool = False) -> RunRecord:
    """Read a corpus into the study."""
    read = corpora.read_corpus(
        options.path,
        options.format,
        language=options.language,
        hs_column=options.hs_column,
        cn_column=options.cn_column,
    )
    with store.write() as tx:
        begin_building(tx, "import", redo=redo)
        pairs = read.pairs
        hs_ids = add_side(tx, corpora.HS, pairs, read.hs_metadata)
        cn_ids = add_side(tx, corpora.CN, pairs, read.cn_metadata)
        hs, cn = pairs["hs_digest"].map(hs_ids), pairs["cn_digest"].map(cn_ids)
        texts.add_source_pairs(tx, zip(hs.tolist(), cn.tolist(), _metadata(pairs, read.metadata), strict=True))
        counts = {"rows": len(pairs), "hs": len(hs_ids), "cn": len(cn_ids)}
        run = note(tx, options, counts)
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
    """Bring candidates in: the nearest neighbours of the source CNs, less all source CNs; or those of a list."""
    import numpy as np

    if options.list is not None:
        return _take_listed(store, options, options.list, redo=redo)
    retrieve.check_k(options.k)
    with store.read() as tx:
        check_building(tx, "retrieve", redo=redo)
        there = texts.source_copies(tx)
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
        grids.set_neighbours(tx, found.assign(source_id=ids[found.pop("source")], cn_id=ids[found.pop("cn")]))
        grids.set_candidates(tx, candidates)
        counts = {"source_cns": len(sources), "neighbours": len(found), "candidates": len(candidates)}
        return note(tx, options, counts, model.record())


def _take_listed(store: Store, options: Retrieve, path: Path, *, redo: bool) -> RunRecord:
    """Take the candidates of a file; each is a CN of the corpus, source CNs among them."""
    with store.write() as tx:
        begin_building(tx, "retrieve", redo=redo)
        candidates = listed(tx, corpora.CN, path)
        grids.set_candidates(tx, candidates)
        return note(tx, options, {"candidates": len(candidates)})


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
