"""Average scores of a random order of the pool: exact expectations over all orders, for every measure."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from numpy.typing import NDArray

from fcpair.evaluate.graded import discounts, ideal_gain, ideal_gain_of_counts, mean_gain
from fcpair.evaluate.judged_rankings import Judged
from fcpair.evaluate.measure_base import Measure
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
from fcpair.stages.stats.rating_counts import ratio

Values = NDArray[np.float64]


@singledispatch
def expected_value(measure: Measure, pool: Judged) -> Values:
    """The mean of a measure over all orders of the pool, each as likely as any other, shape `(n_hs,)`.

    Of `pool` only the counts are read: with n CNs of which R are positive, every rank holds a positive with probability
    R / n, and ranks are drawn without replacement (hypergeometric); of grades every rank has the mean.
    """
    raise NotImplementedError(f"no expectation is known for {measure}")


def _positive_rate(pool: Judged) -> Values:
    """Probability that a rank holds a positive."""
    return ratio(pool.n_positive, pool.n_pool, 0.0)


def _ranks_in_pool(pool: Judged, k: int) -> tuple[NDArray[np.int64], Values]:
    """The ranks 1 to k of the largest pool, and 1 where a pool is that large, else 0, shape `(n_hs, n_ranks)`."""
    ranks = np.arange(1, min(k, pool.n_pool.max(initial=0)) + 1)
    return ranks, (ranks <= pool.n_pool[:, None]).astype(float)


def _p_none_above(pool: Judged, k: int) -> Values:
    """Probability that the ranks 1 to r hold no positive, for r from 0 to k, shape `(n_hs, n_ranks + 1)`."""
    n_drawn = np.arange(min(k, pool.n_pool.max(initial=0)))
    n_left = np.maximum(pool.n_pool[:, None] - n_drawn, 0)
    missing = np.maximum(n_left - pool.n_positive[:, None], 0)
    misses = np.divide(missing, n_left, out=np.ones(n_left.shape), where=n_left > 0)
    return np.concatenate([np.ones((len(n_left), 1)), np.cumprod(misses, axis=1)], axis=1)


@expected_value.register(HitRatio)
def _expected_hit_ratio(measure: HitRatio, pool: Judged) -> Values:
    return 1 - _p_none_above(pool, measure.k)[:, -1]


@expected_value.register(MRR)
def _expected_mrr(measure: MRR, pool: Judged) -> Values:
    none = _p_none_above(pool, measure.k)
    return np.asarray((none[:, :-1] - none[:, 1:]) @ (1 / np.arange(1, none.shape[1])))


@expected_value.register(NDCG)
def _expected_ndcg(measure: NDCG, pool: Judged) -> Values:
    ranks, there = _ranks_in_pool(pool, measure.k)
    share, best = _positive_rate(pool), ideal_gain_of_counts(pool.n_positive, measure.k)
    if pool.graded:
        share, best = mean_gain(pool.graded, pool.n_pool), ideal_gain(pool.graded, measure.k)
    return share * ratio(there @ discounts(len(ranks)), best, 0.0)


@expected_value.register(MAP)
def _expected_map(measure: MAP, pool: Judged) -> Values:
    ranks, there = _ranks_in_pool(pool, measure.k)
    also = ratio(pool.n_positive - 1, pool.n_pool - 1, 0.0)[:, None]  # that another rank is positive when this one is
    precision = (1 + (ranks - 1) * also) / ranks
    return _positive_rate(pool) * ratio((precision * there).sum(axis=1), measure.divisor(pool.n_positive), 0.0)


@expected_value.register(Precision)
def _expected_precision(measure: Precision, pool: Judged) -> Values:
    return _expected_hits(pool, measure.k) / measure.k


def _expected_hits(pool: Judged, k: int) -> Values:
    """Average number of positives in the first k ranks."""
    return np.asarray(_positive_rate(pool) * np.minimum(pool.n_pool, k))


@expected_value.register(Recall)
def _expected_recall(measure: Recall, pool: Judged) -> Values:
    return ratio(_expected_hits(pool, measure.k), pool.n_positive, 0.0)


@expected_value.register(F1)
def _expected_f1(measure: F1, pool: Judged) -> Values:
    return 2 * _expected_hits(pool, measure.k) / (measure.k + pool.n_positive)


@expected_value.register(Accuracy)
def _expected_accuracy(measure: Accuracy, pool: Judged) -> Values:
    negative = pool.n_pool - pool.n_positive
    return ratio(negative - np.minimum(pool.n_pool, measure.k) + 2 * _expected_hits(pool, measure.k), pool.n_pool, 0.0)


@expected_value.register(Bpref)
def _expected_bpref(_: Bpref, pool: Judged) -> Values:
    """The judged negatives above a positive are 0, 1, ... or all N of them, each as likely."""
    n_positive, n_negative = pool.n_positive, pool.n_negative
    counted = np.minimum(n_positive, n_negative)
    mean = (counted * (counted + 1) / 2 + (n_negative - counted) * counted) / (n_negative + 1)
    return np.asarray((n_positive > 0) * (1 - ratio(mean, counted, 0.0)))


@expected_value.register(RBP)
def _expected_rbp(measure: RBP, pool: Judged) -> Values:
    return _positive_rate(pool) * (1 - measure.p**pool.n_pool)


@expected_value.register(JudgedAt)
def _expected_judged(_: JudgedAt, pool: Judged) -> Values:
    return ratio(pool.n_positive + pool.n_negative, pool.n_pool, 0.0)
