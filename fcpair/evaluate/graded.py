"""Graded labels: the gains of nDCG, and the exact bounds that missing grades leave to it.

A grade is taken apart into levels: a pair of grade 3 reaches the levels 1, 2 and 3. The discounted gain of a ranking is
the sum over the levels of that of the pairs that reach them, and so is that of the ideal ranking, in which those that
reach a level stand on top of those that do not. So each level is a binary case.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Values = NDArray[np.float64]

CLOSE = 1e-14
MOST_STEPS = 100  # Dinkelbach's steps converge faster than linearly: some five are taken


@dataclass(frozen=True)
class Graded:
    """The grades of judged pairs, 0 the least; a pair without a grade counts as 0.

    `levels`, ascending and above 0, are the grades that a label can have, shape `(n_levels,)`. `at_ranks` has the grade
    of what stands at each rank, shape `(n_hs, depth)`, and `counts` how many pairs of the whole pool reach each level,
    shape `(n_hs, n_levels)`.
    """

    levels: NDArray[np.int64]
    at_ranks: NDArray[np.int64]
    counts: NDArray[np.int64]

    @property
    def steps(self) -> Values:
        """Amount that each level adds to the one below it."""
        return np.diff(self.levels, prepend=0).astype(float)


def grades_in_order(order: NDArray[np.int64], grades: NDArray[np.int64], levels: NDArray[np.int64]) -> Graded:
    """Put the grades of a pool, shape `(n_hs, n_cn)`, 0 where there is none, in a system's order."""
    at_ranks = np.take_along_axis(grades, np.maximum(order, 0), axis=1)
    at_ranks[order < 0] = 0
    return Graded(levels, at_ranks, np.stack([(grades >= level).sum(axis=1) for level in levels], axis=1))


def discounts(k: int) -> Values:
    """1 / log2(rank + 1) for the ranks 1 to `k`."""
    return np.asarray(1 / np.log2(np.arange(2, k + 2)))


def ideal_gain_of_counts(counts: NDArray[np.int64], k: int) -> Values:
    """The discounted gain of `counts` pairs on top, cut at `k`, shape as given."""
    n_gained = np.minimum(counts, k)
    sums = np.concatenate(([0.0], np.cumsum(discounts(n_gained.max(initial=0)))))
    return np.asarray(sums[n_gained])


def ideal_gain(graded: Graded, k: int) -> Values:
    """The discounted gain of the ideal ranking, shape `(n_hs,)`."""
    return np.asarray(ideal_gain_of_counts(graded.counts, k) @ graded.steps)


def gain(graded: Graded, k: int) -> Values:
    """The discounted gain of the first `k` ranks, each grade being its gain, shape `(n_hs,)`."""
    top = graded.at_ranks[:, :k]
    return np.asarray(top @ discounts(top.shape[1]))


def mean_gain(graded: Graded, n_pool: NDArray[np.int64]) -> Values:
    """The mean grade over the pool, shape `(n_hs,)`."""
    return np.divide(graded.counts @ graded.steps, n_pool, out=np.zeros(len(n_pool)), where=n_pool > 0)


def lowest_ndcg(graded: Graded, unjudged: NDArray[np.bool_], n_below: NDArray[np.int64], k: int) -> Values:
    """The least nDCG that grades of the unjudged pairs could give, shape `(n_hs,)`.

    nDCG is linear over convex in the missing grades, so it is least at an extreme: each is the least or the greatest
    grade, the greatest below the cut, where it only raises the ideal, and above the cut at some of the lowest ranks.

    Args:
        graded: the grades that are known.
        unjudged: which of the first `k` ranks have no label, shape `(n_hs, at most k)`.
        n_below: how many pairs without a label stand below the cut or have no rank, shape `(n_hs,)`.
        k: the cut.
    """
    weight = unjudged * discounts(unjudged.shape[1])
    added = np.cumsum(np.pad(_unjudged_first(weight, unjudged)[:, ::-1], ((0, 0), (1, 0))), axis=1)
    # reversed, the zeros of judged ranks come first: n of the lowest stand at column n + number of judged ranks
    n_judged = (~unjudged).sum(axis=1)
    n_tried = np.arange(added.shape[1]) - n_judged[:, None]
    counts = graded.counts[:, :, None] + (n_below[:, None] + np.maximum(n_tried, 0))[:, None, :]
    whole = np.einsum("hln,l->hn", ideal_gain_of_counts(counts, k), graded.steps)
    part = gain(graded, k)[:, None] + graded.levels[-1] * added
    return np.asarray(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0).min(axis=1))


def highest_ndcg(graded: Graded, unjudged: NDArray[np.bool_], k: int) -> Values:
    """The greatest nDCG that grades of the unjudged pairs could give, shape `(n_hs,)`.

    Below the cut they are 0. Above it, at each level, those that reach it stand highest; how many, is found by
    Dinkelbach 1967, https://doi.org/10.1287/mnsc.13.7.492: for a ratio q that is reached, gain less q times ideal is
    made greatest level by level, until nothing exceeds 0. The fewer known pairs reach a level, the less another one is
    worth there, so that higher levels are given to fewer ranks, as they must be.
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


def _unjudged_first(weight: Values, unjudged: NDArray[np.bool_]) -> Values:
    """The weights of the unjudged ranks, highest rank first, then zeros."""
    return np.take_along_axis(weight, np.argsort(~unjudged, axis=1, kind="stable"), axis=1)
