"""TREC runs that bring candidates in: whose ids they have, and what stands at their top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.trec import read_corpus_run
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

if TYPE_CHECKING:
    import pandas as pd

Ids = dict[str, set[int]]


def pool_runs(tx: Tx, paths: Sequence[Path], depth: int) -> pd.DataFrame:
    """The first `depth` CNs of each selected HS in each run.

    Lines for other HS of the corpus are passed over.

    Returns:
        One row per run, HS and CN: `source_id` (the HS), `run` (its name), `rank` (from 1), `cn_id`, `score`.

    Raises:
        InputError: a depth below 1, a run given twice, and what `read_corpus_run` refuses.
    """
    import pandas as pd

    if depth < 1:
        raise InputError(f"depth is {depth}; expected 1 or more")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a run is given twice")
    hs_ids, cn_ids, selected = corpus_ids(tx, HS), corpus_ids(tx, CN), sides.text_ids(tx, "row")
    n_by_name = Counter(path.name for path in paths)
    pools = []
    for path in paths:
        lines = read_corpus_run(path, hs_ids, cn_ids).rename(columns={"hs_id": "source_id"})
        top = lines[lines["source_id"].isin(selected) & (lines["rank"] <= depth) & (lines["cn_id"] >= 0)]
        pools.append(top.assign(run=path.name if n_by_name[path.name] == 1 else str(path)))
    return pd.concat(pools, ignore_index=True)[["source_id", "run", "rank", "cn_id", "score"]]


def corpus_ids(tx: Tx, side: str) -> Ids:
    """The texts of one side by the ids that runs and exported files have for them.

    They are the corpus's own, where it came with a column `hs_id` or `cn_id`, in any row; else the study's numbers.
    """
    corpus_texts = texts.texts_of(tx, side)
    metadata_rows = [
        *zip(corpus_texts["id"].tolist(), corpus_texts["meta"], strict=True),
        *texts.row_metadata(tx, side),
    ]
    own_ids: Ids = {}
    for text_id, meta in metadata_rows:
        for word in meta.get(f"{side}_id", "").split():
            own_ids.setdefault(word, set()).add(text_id)
    return own_ids or {str(one): {one} for one in corpus_texts["id"].tolist()}
