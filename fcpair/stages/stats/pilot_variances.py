"""Variances of agreement as a pilot shows them, and what they let one expect of a larger overlap.

A pilot's three jackknives say how much of a figure's variance HS and CN explain: V_HS is V_pair and what the pairs of
one HS have in common, times how many such pairs there are (see `predicted_widths.py`). A larger overlap has more of
these. V_HS and V_CN are estimates on few texts, so what is expected is a range: each is taken to be chi-square with
half as many degrees of freedom as its side has texts less one. At the low end, V_pair is as low as the pilot leaves
open, too; at the high end both sides are at theirs, which leaves room enough.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fcpair.stages.stats.jackknife_intervals import TEXTS, Cluster, jackknife_spread
from fcpair.stages.stats.label_profiles import ClassModel
from fcpair.stages.stats.multi_rater import Coefficient
from fcpair.stages.stats.predicted_widths import (
    FigureVariance,
    OverlapSize,
    SideShares,
    coefficient_influence,
    coefficient_variance,
    gamma_quantile,
)
from fcpair.stages.stats.rating_counts import LeftOutSums, Overlap

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

RANGE = 0.7  # how probable it is that each of V_HS and V_CN lies between its ends; the width does more often


@dataclass(frozen=True)
class PilotSide:
    """One side of a pilot: its texts, the sum of n_t (n_t - 1) over them, n_t the pairs of a text, and its variance."""

    n_texts: int
    products: float
    variance: float

    def at(self, probability: float) -> PilotSide:
        """The side with the variance that is at this quantile of those which the estimate speaks for."""
        from scipy.special import gammaincinv

        half_df = (self.n_texts - 1) / 4  # half of half the degrees of freedom, as a gamma distribution has it
        return replace(self, variance=float(self.variance * half_df / gammaincinv(half_df, 1 - probability)))


@dataclass(frozen=True)
class PilotVariance:
    """The jackknife variances of a coefficient on a pilot.

    `pairs` counts its pairs by their number of labels, those that the coefficient is about; `pair_spread` is the
    relative variance of `pair` as an estimate.
    """

    coefficient: Coefficient
    value: float
    pairs: dict[int, int]
    pair: float
    pair_spread: float
    hs: PilotSide
    cn: PilotSide

    @property
    def n(self) -> int:
        """Number of pairs."""
        return sum(self.pairs.values())

    @property
    def shares(self) -> SideShares:
        """Shares of the variance of what a pair adds that HS and CN explain; 0 where no two pairs share a text."""
        unit = self.pair / self.n
        hs, cn = (
            max(side.variance - self.pair, 0.0) / (side.products * unit) if side.products else 0.0
            for side in (self.hs, self.cn)
        )
        return SideShares(hs, cn)

    def expect(self, model: ClassModel, size: OverlapSize) -> FigureVariance | None:
        """The variances on an overlap of this size, where labels are as in the pilot; None as for the coefficient.

        Where pairs have other numbers of labels than in the pilot, `model` says what that changes.
        """
        expected = coefficient_variance(self.coefficient, model, size, self.shares)
        if expected is None:
            return None
        modelled = coefficient_influence(self.coefficient, model, self.pairs).variance * self.n
        return expected.scaled(self.pair / modelled, self.value)

    def ends(self) -> tuple[PilotVariance, PilotVariance, PilotVariance]:
        """The pilot with its variances as low as it leaves open, as they are, and as high."""
        low, high = (
            replace(self, hs=self.hs.at(quantile), cn=self.cn.at(quantile))
            for quantile in ((1 - RANGE) / 2, (1 + RANGE) / 2)
        )
        return low.scaled(gamma_quantile(self.pair_spread, (1 - RANGE) / 2)), self, high

    def scaled(self, factor: float) -> PilotVariance:
        """The same, all variances multiplied by a factor."""
        hs, cn = (replace(side, variance=side.variance * factor) for side in (self.hs, self.cn))
        return replace(self, pair=self.pair * factor, hs=hs, cn=cn)

    def enlarge(self, n_hs: int, n_cn: int) -> PilotVariance:
        """What a pilot on so many HS and CN may be expected to show, whose pairs are as dense as in this one."""
        times = n_hs * n_cn / (self.hs.n_texts * self.cn.n_texts)
        pairs = {m: round(n * times) for m, n in self.pairs.items()}
        n = sum(pairs.values())
        pair, shares = self.pair * self.n / n, self.shares

        def enlarge_side(side: PilotSide, n_texts: int, share: float) -> PilotSide:
            products = side.products * times**2 * side.n_texts / n_texts
            return PilotSide(n_texts, products, pair * (1 + products * share / n))

        hs, cn = enlarge_side(self.hs, n_hs, shares.hs), enlarge_side(self.cn, n_cn, shares.cn)
        return replace(self, pairs=pairs, pair=pair, pair_spread=self.pair_spread * self.n / n, hs=hs, cn=cn)


def measure_pilot(overlap: Overlap, coefficient: Coefficient) -> PilotVariance | str:
    """The variances of a coefficient on the labels of a pilot; or why it tells none."""
    part = overlap if coefficient.n_labels is None else overlap.with_n_labels(coefficient.n_labels)
    sums = LeftOutSums(part, constant=coefficient.n_labels is not None)
    n = round(float(sums.sums.n))
    if why := coefficient.undefined_reason(sums.sums.labels, n):
        return why
    left_out = {cluster: sums.sums_without(cluster) for cluster in TEXTS}
    figures = {cluster: (coefficient.compute(left), times) for cluster, (left, times) in left_out.items()}
    spreads = {cluster: jackknife_spread(*of) for cluster, of in figures.items()}
    if any(np.isnan(spread.variance) for spread in spreads.values()):
        return "without one text or pair the figure is undefined"
    if not spreads[Cluster.PAIR].variance or min(spreads[side].n for side in (Cluster.HS, Cluster.CN)) < 2:
        return "leaving out a pair, an HS or a CN changes nothing"
    n_labels, times = np.unique(np.bincount(part.pair), return_counts=True)
    pairs = {int(m): int(count) for m, count in zip(n_labels, times, strict=True) if m >= 2}
    hs, cn = (
        PilotSide(spreads[side].n, _products(texts, part.pair), spreads[side].variance)
        for side, texts in ((Cluster.HS, part.hs), (Cluster.CN, part.cn))
    )
    value = float(coefficient.compute(sums.sums))
    pair, pair_spread = spreads[Cluster.PAIR].variance, _relative_variance(*figures[Cluster.PAIR])
    return PilotVariance(coefficient, value, pairs, pair, pair_spread, hs, cn)


def _relative_variance(left: Floats, times: Ints | None) -> float:
    """Relative variance of the jackknife variance, from the figure without each kind of pair, of which it has several.

    It is that of a mean of squared moves.
    """
    weights = np.ones(len(left)) if times is None else times
    n = float(weights.sum())
    squares = (left - weights @ left / n) ** 2
    mean = float(weights @ squares) / n
    return (float(weights @ squares**2) / n / mean**2 - 1) / n


def _products(text: Ints, pair: Ints) -> float:
    """Sum over texts of n_t (n_t - 1), by the text and the pair of each label."""
    n_each = np.bincount(text[np.unique(pair, return_index=True)[1]])
    return float((n_each * (n_each - 1)).sum())
