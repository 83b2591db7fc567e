"""Differences between groups of annotators: permutation tests, intervals, and odds by a mixed model."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Bools, Floats
from fcpair.lazy import pd
from fcpair.stages.corpus.sample import own_order
from fcpair.stages.stats.intervals import Z, t_reach

MOST_EXACT = 20_000  # ways to share people out, up to which all are gone through
N_DRAWN, MOST_DRAWN = 10_000, 1_000_000  # random ways that are drawn at once, and in all
ALPHA = 0.05
SURE = 2.58  # Monte Carlo standard errors that p must be away from ALPHA, before or after Holm: 99 % of the time


class PermutationTest:
    """The two-sided test of a difference in shares, where groups are put on annotators otherwise.

    `is_label` (0 or 1) says of each label whether it is the one in question, `is_first` whether its `annotator`,
    numbered from 0, is of the first group, all `(n,)`. p is twice the smaller one-sided p, at most 1. All ways are gone
    through where they are few, so that it is exact; else it is of random ones and the one that was seen: Phipson and
    Smyth (2010), DOI 10.2202/1544-6115.1585. Annotators are taken in an order of their own, by what they add to the
    shares.
    """

    def __init__(self, is_label: Floats, is_first: Bools, annotator: NDArray[np.intp], seed: int) -> None:
        sizes, sums = (np.bincount(annotator, weights).astype(float) for weights in (np.ones(len(is_label)), is_label))
        first = np.zeros(len(sums), dtype=bool)
        first[annotator] = is_first
        order = own_order(sizes, sums, first)
        self._sizes, self._sums, self._first = sizes[order], sums[order], first[order]
        self.exact, _ = least_p(k := int(first.sum()), len(first) - k)
        self._rng, self._n_ways, self._n_as_extreme = np.random.default_rng(seed), 0, np.zeros(2, np.int64)
        if self.exact:
            n = len(first)
            chosen = np.array(list(combinations(range(n), k)))
            ways = np.zeros((len(chosen), n), dtype=bool)
            np.put_along_axis(ways, chosen, True, axis=1)
            self._count(ways)
        else:
            self.draw()

    def draw(self) -> None:
        """Draw N_DRAWN more random ways."""
        self._count(self._rng.permuted(np.tile(self._first, (N_DRAWN, 1)), axis=1))

    def _count(self, ways: Bools) -> None:
        def differences(first: Bools) -> Floats:
            """The difference in shares for each way to choose the first group, `(n_ways,)`."""
            sums, sizes = first @ self._sums, first @ self._sizes
            return np.asarray(sums / sizes - (self._sums.sum() - sums) / (self._sizes.sum() - sizes))

        observed, resampled = differences(self._first[np.newaxis]), differences(ways)
        self._n_ways += len(ways)
        self._n_as_extreme += [(resampled >= observed - 1e-12).sum(), (resampled <= observed + 1e-12).sum()]

    @property
    def n_drawn(self) -> int:
        """Number of random ways that were drawn; 0 where p is exact."""
        return 0 if self.exact else self._n_ways

    @property
    def p(self) -> float:
        """p over all ways, or over those drawn so far."""
        extra = not self.exact
        return float(min(1.0, 2 * (self._n_as_extreme.min() + extra) / (self._n_ways + extra)))

    @property
    def error(self) -> float | None:
        """The Monte Carlo standard error of p; None where it is exact."""
        one_sided = self.p / 2
        return None if self.exact else float(2 * np.sqrt(one_sided * (1 - one_sided) / self._n_ways))


def draw_until_sure(tests: Sequence[PermutationTest]) -> None:
    """Draw more ways for each test whose p chance may have put on the other side of ALPHA, alone or after Holm."""
    while True:
        p = [test.p for test in tests]
        n_less = np.searchsorted(np.sort(p), p)
        unsure = [
            test
            for test, times in zip(tests, (len(tests) - n_less).tolist(), strict=True)
            if 0 < test.n_drawn < MOST_DRAWN
            and any(abs(many * test.p - ALPHA) < SURE * many * (test.error or 0) for many in {1, times})
        ]
        if not unsure:
            return
        for test in unsure:
            test.draw()


def least_p(n_first: int, n_other: int, n_drawn: int = N_DRAWN) -> tuple[bool, float]:
    """Whether p is exact for two groups of so many people, and the least that it can be: twice one way of all."""
    ways = comb(n_first + n_other, n_first)
    return (True, 2 / ways) if ways <= MOST_EXACT else (False, 2 / (n_drawn + 1))


Bounds = tuple[float, float, float]  # a value and the ends of its interval at 95 %


def share_difference(is_label: Floats, is_first: Bools, clusters: NDArray[np.intp]) -> Bounds:
    """The share of a label in the first group less that in the other; one of them is neither 0 nor 1. `is_label` (0 or
    1) and `is_first` are of each label, `(n,)`, `clusters` the numbers of item and annotator, `(n, 2)`.
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
    n = np.array([is_first_group.sum(), (~is_first_group).sum()])
    uncertain = (
        people_variance**2 / float((1 / n).sum() ** 2 / (1 / n**2 / (n - 1)).sum())
        + (variance - people_variance) ** 2 / item.max()
    )
    half_width = t_reach(variance**2 / uncertain, variance**0.5)
    return value, value - half_width, value + half_width


def _spread(sums: Floats) -> float:
    """n / (n - 1) times the sum of squares of so many clusters' pulls."""
    return float(sums @ sums * len(sums) / (len(sums) - 1))


@dataclass(frozen=True)
class MixedModel:
    """A fitted model of all groups: the log-odds of each less those of the first, `(k,)`, their covariance, and a
    `note`.
    """

    log_odds: Floats
    covariance: Floats
    note: str = ""

    def odds(self, group: int, other_group: int) -> Bounds:
        """The odds ratio of a group over another, and its Wald bounds at 95 %."""
        value = self.log_odds[group] - self.log_odds[other_group]
        of_own, of_other = self.covariance[group, group], self.covariance[other_group, other_group]
        variance = of_own + of_other - 2 * self.covariance[group, other_group]
        low, middle, high = np.exp(value + Z * np.sqrt(variance) * np.array([-1, 0, 1])).tolist()
        return middle, low, high


def fit_mixed(is_label: Floats, group: NDArray[np.intp], clusters: NDArray[np.intp]) -> MixedModel | None:
    """One model of a label in all groups, numbered from 0 to k - 1; None where the fit did not converge.

    A logistic model with crossed random intercepts of items and annotators (`clusters`, `(n, 2)`), by Laplace's
    approximation: Baayen, Davidson and Bates (2008), DOI 10.1016/j.jml.2007.12.005. Unlike the clustered regression,
    whose odds are of the average annotator and item together, these are of one annotator on one item, and so further
    from 1.
    """
    from mixedlm import glmer

    names = [f"group{at}" for at in range(1, group.max() + 1)]
    frame = pd.DataFrame({name: (group == at).astype(np.float64) for at, name in enumerate(names, 1)})
    frame["item"], frame["annotator"] = (clusters[:, at].astype(str) for at in (0, 1))
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always")
        fitted = glmer(f"given ~ {' + '.join(names)} + (1|item) + (1|annotator)", frame.assign(given=is_label))
    k = len(names) + 1
    log_odds, covariance = np.zeros(k), np.zeros((k, k))
    log_odds[1:], covariance[1:, 1:] = [fitted.fixef()[name] for name in names], fitted.vcov()[1:, 1:]
    if not fitted.converged or not (np.isfinite(log_odds).all() and np.isfinite(covariance).all()):
        return None
    note = "the mixed model has no variance left for items or annotators" if fitted.isSingular() else ""
    return MixedModel(log_odds, covariance, note)
