"""TREC runs that bring candidates in: whose ids they have, and what stands at their top."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.corpus import CN, HS
from fcpair.errors import Finding, InputError, reject
from fcpair.evaluate.trec import read_run
from fcpair.store import Tx, grids, texts

if TYPE_CHECKING:
    import pandas as pd

Ids = dict[str, set[int]]


def pooled(tx: Tx, paths: Sequence[Path], depth: int) -> pd.DataFrame:
    """The first `depth` CNs of each selected HS in each run.

    Lines for other HS of the corpus are passed over.

    Returns:
        One row per run, HS and CN: `source_id` (the HS), `run` (its name), `rank` (from 1), `cn_id`, `score`.

    Raises:
        InputError: a depth below 1, a run given twice, a run that `read_run` refuses, and all findings of a run at
            once: an id that the corpus does not have, or has for several texts.
    """
    import pandas as pd

    if depth < 1:
        raise InputError(f"depth is {depth}; expected 1 or more")
    if len({path.resolve() for path in paths}) < len(paths):
        raise InputError("a run is given twice")
    hs_ids, cn_ids, selected = ids_of(tx, HS), ids_of(tx, CN), grids.selected(tx)
    shared = Counter(path.name for path in paths)
    found = []
    for path in paths:
        lines = _placed(path, hs_ids, cn_ids)
        top = lines[lines["source_id"].isin(selected) & (lines["rank"] <= depth) & lines["named"]]
        found.append(top.assign(run=path.name if shared[path.name] == 1 else str(path)))
    return pd.concat(found, ignore_index=True)[["source_id", "run", "rank", "cn_id", "score"]]


def ids_of(tx: Tx, side: str) -> Ids:
    """The texts of one side by the ids that runs and exported files have for them.

    They are the corpus's own, where it came with a column `hs_id` or `cn_id`, in any row; else the study's numbers.
    """
    there = texts.texts_of(tx, side)
    told = [*zip(there["id"].tolist(), there["meta"], strict=True), *texts.row_metadata(tx, side)]
    own: Ids = {}
    for text_id, meta in told:
        for word in meta.get(f"{side}_id", "").split():
            own.setdefault(word, set()).add(text_id)
    return own or {str(one): {one} for one in there["id"].tolist()}


def _placed(path: Path, hs_ids: Ids, cn_ids: Ids) -> pd.DataFrame:
    """The lines of a run with the texts that they name; `named` is false where a rank names nothing."""
    lines = read_run(path)
    named = lines["cn_id"] != ""
    reject(path, [*_unknown(path, lines, HS, hs_ids), *_unknown(path, lines[named], CN, cn_ids)])
    hs = lines["hs_id"].map(lambda one: min(hs_ids[one]))
    cn = lines["cn_id"].map(lambda one: min(cn_ids[one]) if one else 0)
    return lines.assign(source_id=hs, cn_id=cn, named=named)


def _unknown(path: Path, lines: pd.DataFrame, side: str, ids: Ids) -> list[Finding]:
    """The ids of one side that name no text, or several; each once, at its first line."""
    found = []
    first = lines.drop_duplicates(f"{side}_id")
    for line, given in zip(first["line"].tolist(), first[f"{side}_id"], strict=True):
        n = len(ids.get(given, ()))
        if n != 1:
            wrong = f"names {n} different texts of the corpus" if n else "is not in the corpus"
            found.append(Finding(str(path), line, f"{side}_id `{given}` {wrong}", f"{side}_id {wrong}"))
    return found
