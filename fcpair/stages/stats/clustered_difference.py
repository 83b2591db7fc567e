"""The interval of a difference between two groups of annotators whose labels share items and annotators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.stats.intervals import t_reach

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Bounds(NamedTuple):
    """A value and the ends of its interval at 95 %."""

    value: float
    low: float
    high: float


def share_difference(is_label: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The share of a label in the first group less that in the other; one of them is neither 0 nor 1.

    Args:
        is_label: whether a label is the one in question, `(n,)`, 0 or 1.
        is_first: whether its annotator is of the first group, `(n,)`.
        clusters: the numbers of item and annotator, `(n, 2)`.
    """
    first, other = is_label[is_first].mean(), is_label[~is_first].mean()
    pull = (is_label - np.where(is_first, first, other)) / np.where(is_first, is_first.sum(), -(~is_first).sum())
    return _clustered_bounds(float(first - other), pull, is_first, clusters)


def log_odds_difference(is_label: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The same of the logarithm of the odds, as a logistic regression on the group has it; no share may be 0 or 1."""
    shares = is_label[is_first].mean(), is_label[~is_first].mean()
    first, other = (float(np.log(share / (1 - share))) for share in shares)
    share = np.where(is_first, *shares)
    sizes = np.where(is_first, is_first.sum(), -(~is_first).sum())
    return _clustered_bounds(first - other, (is_label - share) / (sizes * share * (1 - share)), is_first, clusters)


def _clustered_bounds(value: float, pull: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The interval of a value by how far each label pulls it, `(n,)`.

    V = V_people + V_items - V_labels, at least V_people and V_items: Cameron, Gelbach and Miller (2011), Robust
    inference with multiway clustering, DOI 10.1198/jbes.2010.07136. V_people is the sum of both groups', each with its
    own n / (n - 1), so that a small group beside a large one counts as the few people that it is. The degrees of
    freedom of V_people are those of two groups of people alike (Bell and McCaffrey's: Imbens and Kolesár 2016, DOI
    10.1162/REST_a_00552), and not of the spreads that were found, which are least where a small group was found alike
    by luck; those of the items join them after Satterthwaite (1946), DOI 10.2307/3002019.
    """
    item, annotator = clusters.T
    people: Floats = np.bincount(annotator, pull).astype(float)
    is_first_group = np.bincount(annotator, is_first) > 0
    people_variance = _spread(people[is_first_group]) + _spread(people[~is_first_group])
    item_variance = _spread(np.bincount(item, pull).astype(float))
    variance = max(people_variance + item_variance - float(pull @ pull), people_variance, item_variance)
    uncertain = (
        people_variance**2 / _degrees_of_freedom(is_first_group) + (variance - people_variance) ** 2 / item.max()
    )
    half_width = t_reach(variance**2 / uncertain, variance**0.5)
    return Bounds(value, value - half_width, value + half_width)


def _degrees_of_freedom(is_first_group: Bools) -> float:
    """The degrees of freedom of two groups of people with the same variance, each of which has its own estimate."""
    n = np.array([is_first_group.sum(), (~is_first_group).sum()])
    return float((1 / n).sum() ** 2 / (1 / n**2 / (n - 1)).sum())


def _spread(sums: Floats) -> float:
    """n / (n - 1) times the sum of squares of so many clusters' pulls."""
    return float(sums @ sums * len(sums) / (len(sums) - 1))
