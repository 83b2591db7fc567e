"""TREC runs that bring candidates in: whose ids they have, and what stands at their top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.trec import TextIds, read_run
from fcpair.store import Tx
from fcpair.store.corpus import sides, texts

if TYPE_CHECKING:
    import pandas as pd


def pool_runs(tx: Tx, paths: Sequence[Path], depth: int) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """The first `depth` CNs of each selected HS in each run.

    Lines for other HS of the corpus are passed over.

    Returns:
        One row per run, HS and CN: `source_id` (the HS), `run` (its name), `rank` (from 1), `cn_id`, `score`; and the
        notes of `read_run`.

    Raises:
        InputError: a depth below 1, a run given twice, and what `read_run` refuses.
    """
    import pandas as pd

    if depth < 1:
        raise InputError(f"depth is {depth}; expected 1 or more")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a run is given twice")
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
