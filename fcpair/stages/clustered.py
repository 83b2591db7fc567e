"""The interval of a difference between two groups of annotators whose labels share items and annotators."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

LEVEL = 0.95

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Bounds(NamedTuple):
    """A value and the ends of its interval at 95 %."""

    value: float
    low: float
    high: float


def of_shares(given: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The share of a label in the first group less that in the other.

    Args:
        given: whether a label is the one in question, `(n,)`, 0 or 1.
        is_first: whether its annotator is of the first group, `(n,)`.
        clusters: the numbers of item and annotator, `(n, 2)`.
    """
    first, other = given[is_first].mean(), given[~is_first].mean()
    pull = (given - np.where(is_first, first, other)) / np.where(is_first, is_first.sum(), -(~is_first).sum())
    return _bounds(float(first - other), pull, is_first, clusters)


def of_log_odds(given: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The same of the logarithm of the odds, as a logistic regression on the group has it; no share may be 0 or 1."""
    shares = given[is_first].mean(), given[~is_first].mean()
    first, other = (float(np.log(share / (1 - share))) for share in shares)
    share = np.where(is_first, *shares)
    sizes = np.where(is_first, is_first.sum(), -(~is_first).sum())
    return _bounds(first - other, (given - share) / (sizes * share * (1 - share)), is_first, clusters)


def _bounds(value: float, pull: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The interval of a value by how far each label pulls it, `(n,)`.

    V = V_people + V_items - V_labels, at least V_people and V_items: Cameron, Gelbach and Miller (2011), Robust
    inference with multiway clustering, DOI 10.1198/jbes.2010.07136. V_people is the sum of both groups', each with its
    own n / (n - 1), so that a small group beside a large one counts as the few people that it is. The interval has t
    quantiles, with degrees of freedom after Satterthwaite (1946), DOI 10.2307/3002019, from those of the two groups and
    of the items.
    """
    from scipy.special import stdtrit

    item, annotator = clusters.T
    people, of_first = np.bincount(annotator, pull), np.bincount(annotator, is_first) > 0
    parts = [_spread(people[of_first]), _spread(people[~of_first])]
    of_people, of_items = sum(parts), _spread(np.bincount(item, pull))
    variance = max(of_people + of_items - float(pull @ pull), of_people, of_items)
    parts.append(variance - of_people)
    n = [of_first.sum(), (~of_first).sum(), item.max() + 1]
    uncertain = sum(part**2 / (each - 1) for part, each in zip(parts, n, strict=True))
    half = float(stdtrit(variance**2 / uncertain, (1 + LEVEL) / 2)) * variance**0.5 if variance else 0.0
    return Bounds(value, value - half, value + half)


def _spread(sums: Floats) -> float:
    """n / (n - 1) times the sum of squares of so many clusters' pulls."""
    return float(sums @ sums * len(sums) / (len(sums) - 1))
