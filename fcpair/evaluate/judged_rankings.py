"""Rankings beside the labels of a tier, and the readings of a missing label: wrong, right, left out.

A grade is taken apart into levels: a pair of grade 3 reaches the levels 1, 2 and 3. The discounted gain of a ranking,
and of the ideal one, is the sum over the levels. So each is a binary case, and the bounds of nDCG are exact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Bools, Floats, Ints

CLOSE = 1e-14
MOST_STEPS = 100  # Dinkelbach's steps converge faster than linearly: some five are taken


@dataclass(frozen=True)
class Graded:
    """The grades of judged pairs, 0 the least, also of a pair without one: `levels` (n_levels,), ascending and above 0,
    `at_ranks` (n_hs, depth), and `counts` (n_hs, n_levels), how many pairs of the whole pool reach each level.
    """

    levels: Ints
    at_ranks: Ints
    counts: Ints

    @property
    def steps(self) -> Floats:
        """Amount that each level adds to the one below it."""
        return np.diff(self.levels, prepend=0).astype(float)


def discounts(k: int) -> Floats:
    """1 / log2(rank + 1) for the ranks 1 to `k`."""
    return np.asarray(1 / np.log2(np.arange(2, k + 2)))


def ideal_gain_of_counts(counts: Ints, k: int) -> Floats:
    """The discounted gain of `counts` pairs on top, cut at `k`, shape as given."""
    n_gained = np.minimum(counts, k)
    return np.concatenate(([0.0], np.cumsum(discounts(n_gained.max(initial=0)))))[n_gained]


def ideal_gain(graded: Graded, k: int) -> Floats:
    """The discounted gain of the ideal ranking, shape `(n_hs,)`."""
    return np.asarray(ideal_gain_of_counts(graded.counts, k) @ graded.steps)


def gain(graded: Graded, k: int) -> Floats:
    """The discounted gain of the first `k` ranks, each grade being its gain, shape `(n_hs,)`."""
    top = graded.at_ranks[:, :k]
    return np.asarray(top @ discounts(top.shape[1]))


def lowest_ndcg(graded: Graded, unjudged: Bools, n_below: Ints, k: int) -> Floats:
    """The least nDCG at `k` that grades of the unjudged pairs could give, shape `(n_hs,)`.

    `unjudged`, `(n_hs, at most k)`, says which of the first ranks have no label, `n_below`, `(n_hs,)`, how many such
    pairs stand below the cut or have no rank. nDCG is linear over convex in the missing grades, so it is least at an
    extreme: each is the least or the greatest grade, the greatest below the cut, where it only raises the ideal, and
    above the cut at some of the lowest ranks.
    """
    weight = unjudged * discounts(unjudged.shape[1])
    added = np.cumsum(np.pad(_unjudged_first(weight, unjudged)[:, ::-1], ((0, 0), (1, 0))), axis=1)
    # reversed, the zeros of judged ranks come first: n of the lowest stand at column n + number of judged ranks
    n_tried = np.arange(added.shape[1]) - (~unjudged).sum(axis=1)[:, None]
    counts = graded.counts[:, :, None] + (n_below[:, None] + np.maximum(n_tried, 0))[:, None, :]
    whole = np.einsum("hln,l->hn", ideal_gain_of_counts(counts, k), graded.steps)
    part = gain(graded, k)[:, None] + graded.levels[-1] * added
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0).min(axis=1))


def highest_ndcg(graded: Graded, unjudged: Bools, k: int) -> Floats:
    """The greatest nDCG that grades of the unjudged pairs could give, shape `(n_hs,)`.

    Below the cut they are 0. Above it, at each level, those that reach it stand highest; how many, is found by
    Dinkelbach 1967, https://doi.org/10.1287/mnsc.13.7.492: for a ratio q that is reached, gain less q times ideal is
    made greatest level by level, until nothing exceeds 0. Higher levels are given to fewer ranks, as they must be.
    """
    first = _unjudged_first(unjudged * discounts(unjudged.shape[1]), unjudged)
    added = np.cumsum(np.pad(first, ((0, 0), (1, 0))), axis=1)
    n = np.minimum(np.arange(added.shape[1]), unjudged.sum(axis=1)[:, None])
    ideals = ideal_gain_of_counts(graded.counts[:, :, None] + n[:, None, :], k)
    known_gain, best = gain(graded, k), np.zeros(len(n))
    for _ in range(MOST_STEPS):
        at = (added[:, None, :] - best[:, None, None] * ideals).argmax(axis=2)
        part = known_gain + np.take_along_axis(added, at, axis=1) @ graded.steps
        whole = np.take_along_axis(ideals, at[:, :, None], axis=2)[:, :, 0] @ graded.steps
        ratios = np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
        if (ratios <= best + CLOSE).all():
            break
        best = np.maximum(ratios, best)
    return np.asarray(best)


def _unjudged_first(weight: Floats, unjudged: Bools) -> Floats:
    """The weights of the unjudged ranks, highest rank first, then zeros."""
    return np.take_along_axis(weight, np.argsort(~unjudged, axis=1, kind="stable"), axis=1)


POSITIVE, NEGATIVE, UNJUDGED, ABSENT = 1, 0, -1, -2


@dataclass(frozen=True)
class Judged:
    """Labels at each rank, `(n_hs, depth)`, best rank first: POSITIVE, NEGATIVE, UNJUDGED, or ABSENT where the system
    names nothing of the pool; and counts of the whole pool, ranked or not, `(n_hs,)`.
    """

    labels: NDArray[np.int8]
    n_positive: Ints
    n_negative: Ints
    n_unjudged: Ints
    graded: Graded | None = None

    @property
    def n_pool(self) -> Ints:
        """Number of CNs that the pool has for each HS: the judged and the unjudged."""
        return self.n_positive + self.n_negative + self.n_unjudged

    def hits(self, k: int | None = None) -> Bools:
        """Mask of the first `k` ranks (of all, when None) that hold a positive, shape `(n_hs, at most k)`."""
        return np.asarray(self.labels[:, :k] == POSITIVE)


@dataclass(frozen=True)
class Grades:
    """The grades of the judged pairs of a pool, 0 elsewhere, shape `(n_hs, n_cn)`, and all that a label can have."""

    values: Ints
    levels: Ints


def label_ranking(order: Ints, labels: NDArray[np.int8], grades: Grades | None = None) -> Judged:
    """Put the labels of a pool, POSITIVE, NEGATIVE or UNJUDGED, `(n_hs, n_cn)`, and their grades, in a system's order:
    positions in the pool, best first, negative where nothing of it is named, `(n_hs, depth)`.
    """
    at_ranks = np.take_along_axis(labels, np.maximum(order, 0), axis=1)
    at_ranks[order < 0] = ABSENT
    n_positive, n_negative = ((labels == label).sum(axis=1) for label in (POSITIVE, NEGATIVE))
    graded = None
    if grades:
        in_order = np.where(order < 0, 0, np.take_along_axis(grades.values, np.maximum(order, 0), axis=1))
        reach = np.stack([(grades.values >= level).sum(axis=1) for level in grades.levels], axis=1)
        graded = Graded(grades.levels, in_order, reach)
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
    """The condensed lists, without the unjudged pairs: Sakai 2007, https://doi.org/10.1145/1277741.1277756."""
    unjudged, graded = judged.labels == UNJUDGED, judged.graded
    order = np.argsort(unjudged, axis=1, kind="stable")
    labels = np.take_along_axis(np.where(unjudged, np.int8(ABSENT), judged.labels), order, axis=1)
    graded = graded and replace(graded, at_ranks=np.take_along_axis(graded.at_ranks, order, axis=1))
    return replace(judged, labels=labels, n_unjudged=np.zeros_like(judged.n_unjudged), graded=graded)


def select_hs(judged: Judged, rows: Bools | Ints) -> Judged:
    """The same for some of the HS only."""
    graded = judged.graded
    graded = graded and replace(graded, at_ranks=graded.at_ranks[rows], counts=graded.counts[rows])
    counts = (judged.n_positive[rows], judged.n_negative[rows], judged.n_unjudged[rows])
    return Judged(judged.labels[rows], *counts, graded)
