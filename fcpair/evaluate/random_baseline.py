"""What a random order of the pool scores on average: exact expectations over all orders, for every measure."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.graded import discounts, ideal, ideal_gain, mean_gain
from fcpair.evaluate.judged_rankings import Judged
from fcpair.evaluate.measure_base import Measure, over
from fcpair.evaluate.measures import (
    F1,
    MAP,
    MRR,
    NDCG,
    RBP,
    Accuracy,
    Bpref,
    HitRatio,
    JudgedAt,
    Precision,
    Recall,
)

Values = NDArray[np.float64]


@singledispatch
def expected(measure: Measure, pool: Judged) -> Values:
    """The mean of a measure over all orders of the pool, each as likely as any other, shape `(n_hs,)`.

    Of `pool` only the counts are read: with n CNs of which R are positive, every rank holds a positive with probability
    R / n, and ranks are drawn without replacement (hypergeometric); of grades every rank has the mean.
    """
    raise NotImplementedError(f"no expectation is known for {measure}")


def _share(pool: Judged) -> Values:
    """How likely a rank holds a positive."""
    return over(pool.n_positive, pool.n_pool)


def _ranks(pool: Judged, k: int) -> tuple[NDArray[np.int64], Values]:
    """The ranks 1 to k of the largest pool, and 1 where a pool is that large, else 0, shape `(n_hs, n_ranks)`."""
    ranks = np.arange(1, min(k, pool.n_pool.max(initial=0)) + 1)
    return ranks, (ranks <= pool.n_pool[:, None]).astype(float)


def _none_above(pool: Judged, k: int) -> Values:
    """How likely no positive stands at the ranks 1 to r, for r from 0 to k, shape `(n_hs, n_ranks + 1)`."""
    drawn = np.arange(min(k, pool.n_pool.max(initial=0)))
    left = np.maximum(pool.n_pool[:, None] - drawn, 0)
    missing = np.maximum(left - pool.n_positive[:, None], 0)
    misses = np.divide(missing, left, out=np.ones(left.shape), where=left > 0)
    return np.concatenate([np.ones((len(left), 1)), np.cumprod(misses, axis=1)], axis=1)


@expected.register(HitRatio)
def _(measure: HitRatio, pool: Judged) -> Values:
    return 1 - _none_above(pool, measure.k)[:, -1]


@expected.register(MRR)
def _(measure: MRR, pool: Judged) -> Values:
    none = _none_above(pool, measure.k)
    return np.asarray((none[:, :-1] - none[:, 1:]) @ (1 / np.arange(1, none.shape[1])))


@expected.register(NDCG)
def _(measure: NDCG, pool: Judged) -> Values:
    ranks, there = _ranks(pool, measure.k)
    share, best = _share(pool), ideal(pool.n_positive, measure.k)
    if pool.graded:
        share, best = mean_gain(pool.graded, pool.n_pool), ideal_gain(pool.graded, measure.k)
    return share * over(there @ discounts(len(ranks)), best)


@expected.register(MAP)
def _(measure: MAP, pool: Judged) -> Values:
    ranks, there = _ranks(pool, measure.k)
    also = over(pool.n_positive - 1, pool.n_pool - 1)[:, None]  # that another rank is positive when this one is
    precision = (1 + (ranks - 1) * also) / ranks
    return _share(pool) * over((precision * there).sum(axis=1), measure.divisor(pool.n_positive))


@expected.register(Precision)
def _(measure: Precision, pool: Judged) -> Values:
    return _hits(pool, measure.k) / measure.k


def _hits(pool: Judged, k: int) -> Values:
    """How many positives the first k ranks hold on average."""
    return np.asarray(_share(pool) * np.minimum(pool.n_pool, k))


@expected.register(Recall)
def _(measure: Recall, pool: Judged) -> Values:
    return over(_hits(pool, measure.k), pool.n_positive)


@expected.register(F1)
def _(measure: F1, pool: Judged) -> Values:
    return 2 * _hits(pool, measure.k) / (measure.k + pool.n_positive)


@expected.register(Accuracy)
def _(measure: Accuracy, pool: Judged) -> Values:
    negative = pool.n_pool - pool.n_positive
    return over(negative - np.minimum(pool.n_pool, measure.k) + 2 * _hits(pool, measure.k), pool.n_pool)


@expected.register(Bpref)
def _(_: Bpref, pool: Judged) -> Values:
    """The judged negatives above a positive are 0, 1, ... or all N of them, each as likely."""
    n_positive, n_negative = pool.n_positive, pool.n_negative
    counted = np.minimum(n_positive, n_negative)
    mean = (counted * (counted + 1) / 2 + (n_negative - counted) * counted) / (n_negative + 1)
    return np.asarray((n_positive > 0) * (1 - over(mean, counted)))


@expected.register(RBP)
def _(measure: RBP, pool: Judged) -> Values:
    return _share(pool) * (1 - measure.p**pool.n_pool)


@expected.register(JudgedAt)
def _(_: JudgedAt, pool: Judged) -> Values:
    return over(pool.n_positive + pool.n_negative, pool.n_pool)
