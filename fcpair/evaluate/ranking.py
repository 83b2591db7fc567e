"""Input and output of a system: a search, and a ranking of the pool for every HS."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from fcpair.files.release.trec import TextIds
from fcpair.models.encode import Progress
from fcpair.stages.corpus.nearest_neighbours import DECIMALS
from fcpair.stages.questions.named_values import NamedValue

NOTHING = -1
POOLS = {
    "judged": "the CNs of Bronze",
    "positive": "the CNs that Bronze labels appropriate for at least one HS",
    "all": "every CN of the grid",
}


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

    order: NDArray[np.int64]
    scores: NDArray[np.float64]
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


def rank_without_scores(
    order: NDArray[np.int64], notes: tuple[str, ...] = (), model: dict[str, str] | None = None
) -> Ranking:
    """A ranking by a system that has no scores of its own: the score of rank r is -r."""
    return Ranking(order, np.broadcast_to(-np.arange(1.0, order.shape[1] + 1), order.shape), notes, model)


def sort_by_score(scores: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The order and the sorted scores of a ranking by `scores`, shape `(n_hs, n_cn)`; ties by candidate order."""
    order = np.argsort(-scores, axis=1, kind="stable")
    return order, np.take_along_axis(scores, order, axis=1)


def cosines(queries: NDArray[np.float32], texts: NDArray[np.float32]) -> NDArray[np.float64]:
    """The cosine of every row of `queries` with every row of `texts` (unit vectors), rounded to six decimals."""
    return np.round(queries.astype(np.float64) @ texts.astype(np.float64).T, DECIMALS)
