"""A TREC run made elsewhere as a system, and a ranking of ours as a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from fcpair.errors import InputError
from fcpair.evaluate.ranking import NOTHING, Ranking, Search, System
from fcpair.files.release.trec import Numbering, read_run

if TYPE_CHECKING:
    import pandas as pd


TIED = "tied: {:,} of {:,} lines have the score of another line of the same HS; ties are broken by candidate order"


@dataclass(frozen=True)
class Run(System):
    """A TREC run made elsewhere: lines of `hs_id Q0 cn_id rank score tag`.

    Its ids are the corpus's own, or the study's numbers where the corpus has none or `ids=study` says so. The order is
    that of the scores, ties broken by candidate order. A CN that the run does not name has no rank; an id such as
    `nothing-3` keeps a rank for which a system named nothing of the pool, as `run_text` writes it. Lines for HS that
    are not evaluated are passed over. CNs that are not in the pool leave their rank: what is ranked below them moves
    up, as if the run had ranked the pool alone, and the notes count them.
    """

    word: ClassVar[str] = "run"
    of: Path
    ids: Numbering = "corpus"

    def rank(self, search: Search) -> Ranking:
        """Read the run.

        Raises:
            InputError: what `read_run` refuses, an HS without a line, and a run that names no CN of the pool.
        """
        lines, notes = read_run(self.of, search.ids, self.ids, search.hs_ids)
        lines = lines[lines["hs_id"].isin(search.hs_ids)]
        inside = lines[lines["cn_id"].isin(search.cn_ids) | (lines["cn_id"] < 0)]
        if inside.empty:
            raise InputError(f"{self.of}: the run names no CN of the pool for the HS that are evaluated")
        distinct = inside.sort_values("score", ascending=False, kind="stable").drop_duplicates(["hs_id", "cn_id"])
        skipped = (
            (len(lines) - len(inside), "name a CN that is not in the pool"),
            (len(inside) - len(distinct), "repeat, by another id, a text ranked above"),
        )
        ignored = tuple(f"ignored: {n:,} of {len(lines):,} lines, which {what}" for n, what in skipped if n)
        ranking = _ranking(distinct, search)
        return replace(ranking, notes=(*notes, *ignored, *ranking.notes))


def _ranking(lines: pd.DataFrame, search: Search) -> Ranking:
    import pandas as pd

    rows = lines.assign(
        row=pd.Index(search.hs_ids).get_indexer(pd.Index(lines["hs_id"])),
        cn=pd.Index(search.cn_ids).get_indexer(pd.Index(lines["cn_id"])),
    ).sort_values(["row", "score", "cn"], ascending=[True, False, True])
    at = rows.groupby("row").cumcount().to_numpy()
    order = np.full((len(search.hs), int(at.max()) + 1), NOTHING, np.int64)
    scores = np.full(order.shape, -np.inf)
    order[rows["row"], at], scores[rows["row"], at] = rows["cn"], rows["score"]
    n_tied = int(rows.duplicated(["row", "score"], keep=False).sum())
    notes = (TIED.format(n_tied, len(rows)),) if n_tied else ()
    return Ranking(order, scores, notes)


def run_text(ranking: Ranking, search: Search, tag: str) -> str:
    """A ranking as a TREC run, with scores that are read back to the last bit.

    A rank for which the system named nothing of the pool gets an id such as `nothing-3`, which every tool counts as
    not relevant; below the last CN that it named such ranks are left out.
    """
    is_named = ranking.order != NOTHING
    rows, ranks = np.nonzero(np.cumsum(is_named[:, ::-1], axis=1)[:, ::-1] > 0)
    ids = np.where(is_named[rows, ranks], np.array(search.cn_ids)[ranking.order[rows, ranks]], NOTHING)
    columns = (np.array(search.hs_ids)[rows].tolist(), ids.tolist(), (ranks + 1).tolist(), ranking.scores[rows, ranks])
    return "".join(
        f"{hs} Q0 {f'nothing-{rank}' if cn == NOTHING else cn} {rank} {float(score)!r} {tag}\n"
        for hs, cn, rank, score in zip(*columns, strict=True)
    )
