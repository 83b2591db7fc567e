"""Input and output of a system: a search, a ranking of the pool for every HS, and TREC runs, others' and ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from fcpair.arrays import Floats, Ints, Vectors
from fcpair.errors import InputError
from fcpair.files.release.trec import Numbering, TextIds, read_run
from fcpair.lazy import pd
from fcpair.models.encode import Progress
from fcpair.stages.corpus.nearest_neighbours import DECIMALS
from fcpair.stages.questions.named_values import NamedValue

NOTHING = -1


@dataclass(frozen=True)
class Search:
    """The HS and the pool: texts, and their numbers in the study.

    `ids` has, for each side (`hs` and `cn`), the ids by which a run may name its texts, those that are not ranked too.
    """

    hs: tuple[str, ...]
    cn: tuple[str, ...]
    hs_ids: tuple[int, ...]
    cn_ids: tuple[int, ...]
    progress: Progress | None = None
    ids: Mapping[str, TextIds] = field(default_factory=dict)


@dataclass(frozen=True)
class Ranking:
    """The CNs of the pool in a system's order, best first, one row per HS.

    `order` has the shape `(n_hs, depth)` and holds positions in the pool; NOTHING (-1) where the system names nothing
    that is in the pool, which keeps its rank. `scores`, of the same shape, never rise along a row. `notes` says what a
    reader must know of it; `model` is what a run keeps of the model. `n_cut` texts are longer than the model reads.
    """

    order: Ints
    scores: Floats
    notes: tuple[str, ...] = ()
    model: dict[str, str] | None = None
    n_cut: int = 0


@dataclass(frozen=True)
class Cost:
    """Requests that a system makes to a service: their number, those already cached, and the tokens of the others.

    `tokens` is an estimate: a token is taken to be four characters of what is sent.
    """

    requests: int = 0
    cached: int = 0
    tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(self.requests + other.requests, self.cached + other.cached, self.tokens + other.tokens)


@dataclass(frozen=True)
class System(NamedValue):
    """A way to rank the pool for an HS."""

    def rank(self, search: Search) -> Ranking:
        """Rank the pool for every HS."""
        raise NotImplementedError

    def cost(self, search: Search) -> Cost:
        """Cost of what `rank` asks of a service; zero for systems that run on this machine."""
        return Cost()


def rank_without_scores(order: Ints, notes: tuple[str, ...] = (), model: dict[str, str] | None = None) -> Ranking:
    """A ranking by a system that has no scores of its own: the score of rank r is -r."""
    return Ranking(order, np.broadcast_to(-np.arange(1.0, order.shape[1] + 1), order.shape), notes, model)


def sort_by_score(scores: Floats) -> tuple[Ints, Floats]:
    """The order and the sorted scores of a ranking by `scores`, shape `(n_hs, n_cn)`; ties by candidate order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return order, np.take_along_axis(scores, order, axis=1)


def cosines(queries: Vectors, texts: Vectors) -> Floats:
    """The cosine of every row of `queries` with every row of `texts` (unit vectors), rounded to six decimals."""
    return np.round(queries.astype(np.float64) @ texts.astype(np.float64).T, DECIMALS)


# A function of the text of an HS and those of the pool that returns the latter best first, all or some of them.
Ranker = Callable[[str, Sequence[str]], Sequence[str]]


@dataclass(frozen=True)
class Function(System):
    """A function of one's own; a run keeps its name alone."""

    word: ClassVar[str] = "function"
    outside_brackets: ClassVar[tuple[str, ...]] = ("ranker",)
    of: str
    ranker: Ranker

    def rank(self, search: Search) -> Ranking:
        """Have the function rank the pool; raises InputError for a text that the pool lacks, or that it names twice."""
        at = {text: position for position, text in enumerate(search.cn)}
        order = np.full((len(search.hs), len(search.cn)), NOTHING, np.int64)
        for row, hs in enumerate(search.hs):
            ranked = list(self.ranker(hs, search.cn))
            if not {*ranked} <= at.keys() or len({*ranked}) < len(ranked):
                raise InputError(
                    f"{self}: for HS {search.hs_ids[row]} it returned texts that the pool lacks, or one twice"
                )
            order[row, : len(ranked)] = [at[text] for text in ranked]
        return rank_without_scores(order)


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
        rows = distinct.assign(
            row=pd.Index(search.hs_ids).get_indexer(pd.Index(distinct["hs_id"])),
            cn=pd.Index(search.cn_ids).get_indexer(pd.Index(distinct["cn_id"])),
        ).sort_values(["row", "score", "cn"], ascending=[True, False, True])
        at = rows.groupby("row").cumcount().to_numpy()
        order = np.full((len(search.hs), int(at.max()) + 1), NOTHING, np.int64)
        scores = np.full(order.shape, -np.inf)
        order[rows["row"], at], scores[rows["row"], at] = rows["cn"], rows["score"]
        tied, n_tied = (), int(rows.duplicated(["row", "score"], keep=False).sum())
        if n_tied:
            what = "have the score of another line of the same HS; ties are broken by candidate order"
            tied = (f"tied: {n_tied:,} of {len(rows):,} lines {what}",)
        return Ranking(order, scores, (*notes, *ignored, *tied))


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
