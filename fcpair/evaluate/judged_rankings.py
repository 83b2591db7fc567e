"""Rankings beside the labels of a tier, and the readings of a missing label: wrong, right, left out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.graded import Graded, grades_in_order

POSITIVE, NEGATIVE, UNJUDGED, ABSENT = 1, 0, -1, -2


@dataclass(frozen=True)
class Judged:
    """Labels at each rank, one row per HS, and counts of the whole pool.

    `labels`, shape `(n_hs, depth)`, best rank first: POSITIVE, NEGATIVE, UNJUDGED, or ABSENT where the system names
    nothing of the pool. `n_positive`, `n_negative` and `n_unjudged`, shape `(n_hs,)`, count the whole pool, ranked or
    not. `graded` has the grades of a scheme that has some.
    """

    labels: NDArray[np.int8]
    n_positive: NDArray[np.int64]
    n_negative: NDArray[np.int64]
    n_unjudged: NDArray[np.int64]
    graded: Graded | None = None

    @property
    def n_pool(self) -> NDArray[np.int64]:
        """Number of CNs that the pool has for each HS: the judged and the unjudged."""
        return self.n_positive + self.n_negative + self.n_unjudged

    def hits(self, k: int | None = None) -> NDArray[np.bool_]:
        """Which of the first `k` ranks (of all, when None) hold a positive, shape `(n_hs, at most k)`."""
        return np.asarray(self.labels[:, :k] == POSITIVE)


@dataclass(frozen=True)
class Grades:
    """The grades of the judged pairs of a pool, 0 elsewhere, shape `(n_hs, n_cn)`, and all that a label can have."""

    values: NDArray[np.int64]
    levels: NDArray[np.int64]


def label_ranking(order: NDArray[np.int64], labels: NDArray[np.int8], grades: Grades | None = None) -> Judged:
    """Put the labels of a pool in a system's order.

    Args:
        order: positions in the pool, best first, negative where nothing of it is named, shape `(n_hs, depth)`.
        labels: POSITIVE, NEGATIVE or UNJUDGED for each HS and CN of the pool, shape `(n_hs, n_cn)`.
        grades: of the same pairs, where the labels have some.
    """
    at_ranks = np.take_along_axis(labels, np.maximum(order, 0), axis=1)
    at_ranks[order < 0] = ABSENT
    n_positive, n_negative = ((labels == label).sum(axis=1) for label in (POSITIVE, NEGATIVE))
    graded = grades_in_order(order, grades.values, grades.levels) if grades else None
    return Judged(at_ranks, n_positive, n_negative, labels.shape[1] - n_positive - n_negative, graded)


def assume_relevant(judged: Judged) -> Judged:
    """The same with every unjudged pair counted as positive, and of the greatest grade."""
    unjudged, graded = judged.labels == UNJUDGED, judged.graded
    labels = np.where(unjudged, np.int8(POSITIVE), judged.labels)
    if graded:
        at_ranks = np.where(unjudged, graded.levels[-1], graded.at_ranks)
        graded = replace(graded, at_ranks=at_ranks, counts=graded.counts + judged.n_unjudged[:, None])
    n_positive, none = judged.n_positive + judged.n_unjudged, np.zeros_like(judged.n_unjudged)
    return replace(judged, labels=labels, n_positive=n_positive, n_unjudged=none, graded=graded)


def drop_unjudged(judged: Judged) -> Judged:
    """The condensed lists: the same with every unjudged pair taken out, and those below moved up.

    Sakai 2007, https://doi.org/10.1145/1277741.1277756.
    """
    unjudged = judged.labels == UNJUDGED
    order = np.argsort(unjudged, axis=1, kind="stable")
    labels = np.take_along_axis(np.where(unjudged, np.int8(ABSENT), judged.labels), order, axis=1)
    graded = judged.graded
    if graded:
        graded = replace(graded, at_ranks=np.take_along_axis(graded.at_ranks, order, axis=1))
    return replace(judged, labels=labels, n_unjudged=np.zeros_like(judged.n_unjudged), graded=graded)


def select_hs(judged: Judged, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Judged:
    """The same for some of the HS only."""
    graded = judged.graded
    if graded:
        graded = replace(graded, at_ranks=graded.at_ranks[rows], counts=graded.counts[rows])
    counts = (judged.n_positive[rows], judged.n_negative[rows], judged.n_unjudged[rows])
    return Judged(judged.labels[rows], *counts, graded)
