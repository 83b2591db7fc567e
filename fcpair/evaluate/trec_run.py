"""A TREC run made elsewhere as a system, and a ranking of ours as a run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from fcpair.errors import Finding, InputError, reject
from fcpair.evaluate.ranking import NOTHING, Ranking, Search, System
from fcpair.files.corpus.corpus import CN, HS
from fcpair.files.release.trec import missing_hs, rank_conflicts, read_corpus_run, read_study_run, repeated_entries

if TYPE_CHECKING:
    import pandas as pd


OUTSIDE_POOL = "rank only the CNs that `fcpair export corpus` writes, or evaluate on more (`--pool all`)"
TIED = "tied: {:,} of {:,} lines have the score of another line of the same HS; ties are broken by candidate order"


@dataclass(frozen=True)
class Run(System):
    """A TREC run made elsewhere: lines of `hs_id Q0 cn_id rank score tag`, with the ids of the study or of its corpus.

    The order is that of the scores, ties broken by candidate order. A CN that the run does not name has no rank; an id
    such as `nothing-3` keeps a rank for which a system named nothing of the pool, as `run_text` writes it. Lines for HS
    that are not evaluated are passed over. A run with the ids of the corpus may name CNs that are not in the pool: what
    it ranks below them moves up, as if it had ranked the pool alone, and the notes count them.
    """

    word: ClassVar[str] = "run"
    of: Path
    ids: Literal["study", "corpus"] = "study"

    def rank(self, search: Search) -> Ranking:
        """Read the run.

        Raises:
            InputError: no such file, and all findings at once: a line that is no run line, an id that is not in the
                study or the pool, an HS without a line, a CN or a rank that is duplicated for an HS, a score that is
                not a finite number, ranks against the scores.
        """
        if self.ids == "corpus":
            return self._rank_by_corpus(search)
        lines = read_study_run(self.of)
        lines = lines[~lines["hs_id"].isin(search.other_hs_ids)]
        findings = [
            *_unknown_ids(self.of, lines, search),
            *missing_hs(self.of, lines, {one: str(one) for one in search.hs_ids}),
        ]
        reject(self.of, [*findings, *repeated_entries(self.of, lines), *rank_conflicts(self.of, lines)])
        return _ranking(lines, search)

    def _rank_by_corpus(self, search: Search) -> Ranking:
        lines = read_corpus_run(self.of, search.corpus_ids[HS], search.corpus_ids[CN])
        lines = lines[lines["hs_id"].isin(search.hs_ids)]
        words = {one: word for word, named in search.corpus_ids[HS].items() for one in named}
        reject(self.of, missing_hs(self.of, lines, {one: words.get(one, str(one)) for one in search.hs_ids}))
        inside = lines[lines["cn_id"].isin(search.cn_ids) | (lines["cn_id"] < 0)]
        if inside.empty:
            raise InputError(f"{self.of}: the run names no CN of the pool for the HS that are evaluated")
        distinct = inside.sort_values("score", ascending=False, kind="stable").drop_duplicates(["hs_id", "cn_id"])
        skipped = (
            (len(lines) - len(inside), "name a CN of the corpus that is not in the pool"),
            (len(inside) - len(distinct), "repeat, by another id, a text ranked above"),
        )
        notes = tuple(f"ignored: {n:,} of {len(lines):,} lines, which {what}" for n, what in skipped if n)
        ranking = _ranking(distinct, search)
        return replace(ranking, notes=(*notes, *ranking.notes))


def _unknown_ids(path: Path, lines: pd.DataFrame, search: Search) -> list[Finding]:
    findings = []
    for column, known_ids, place in (
        ("hs_id", search.hs_ids, "an HS of the study"),
        ("cn_id", search.cn_ids, f"in the pool; {OUTSIDE_POOL}"),
    ):
        wrong = lines[~lines[column].isin(known_ids) & (lines[column] >= 0)].drop_duplicates(column)
        entries = zip(wrong["line"], wrong[column], strict=True)
        cause = f"this {column} is not {place}"
        findings += [Finding(str(path), int(line), f"{column} {id_} is not {place}", cause) for line, id_ in entries]
    return findings


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
