"""Permutation tests of a difference between two groups of annotators, drawn on until chance does not decide."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import comb

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.drawing import own_order

MOST_EXACT = 20_000  # ways to share people out, up to which all are gone through
N_DRAWN, MOST_DRAWN = 10_000, 1_000_000  # random ways that are drawn at once, and in all
ALPHA = 0.05
SURE = 2.58  # Monte Carlo standard errors that p must be away from ALPHA, before or after Holm: 99 % of the time

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class PermutationTest:
    """The two-sided test of a difference in shares, where groups are put on annotators otherwise.

    p is twice the smaller one-sided p, at most 1. All ways are gone through where they are few, so that it is exact;
    else it is of random ones and the one that was seen: Phipson and Smyth (2010), DOI 10.2202/1544-6115.1585.
    Annotators are taken in an order of their own, by what they add to the shares.

    Args:
        is_label: whether a label is the one in question, `(n,)`, 0 or 1.
        is_first: whether its annotator is of the first group, `(n,)`.
        annotator: their numbers, `(n,)`, from 0.
        seed: of the random ways.
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
            self._count(_all_ways(len(first), k))
        else:
            self.draw()

    def draw(self) -> None:
        """Draw N_DRAWN more random ways."""
        self._count(self._rng.permuted(np.tile(self._first, (N_DRAWN, 1)), axis=1))

    def _count(self, ways: Bools) -> None:
        observed, resampled = (
            _share_differences(which, self._sums, self._sizes) for which in (self._first[np.newaxis], ways)
        )
        self._n_ways += len(ways)
        self._n_as_extreme += [(resampled >= observed - 1e-12).sum(), (resampled <= observed + 1e-12).sum()]

    @property
    def n_drawn(self) -> int:
        """How many random ways were drawn; 0 where p is exact."""
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


def _all_ways(n: int, k: int) -> NDArray[np.bool_]:
    chosen = np.array(list(combinations(range(n), k)))
    ways = np.zeros((len(chosen), n), dtype=bool)
    np.put_along_axis(ways, chosen, True, axis=1)
    return ways


def _share_differences(first: NDArray[np.bool_], sums: Floats, sizes: Floats) -> Floats:
    """The difference in shares for each way to choose the first group, `(n_ways,)`."""
    first_sums, first_sizes = first @ sums, first @ sizes
    return np.asarray(first_sums / first_sizes - (sums.sum() - first_sums) / (sizes.sum() - first_sizes))
