"""Variances of agreement as a pilot shows them, and what they let one expect of a larger overlap.

A pilot's three jackknives say how much of a figure's variance HS and CN explain: V_HS is V_pair and what the pairs of
one HS have in common, times how many such pairs there are (see `predicted_widths.py`). A larger overlap has more of
these. V_HS and V_CN are estimates on few texts, so what is expected is a range.

The ends of the range are quantiles of what the pilot leaves open of the shares that HS and CN explain. V_HS / V_pair is
taken to be gamma distributed about what a share makes of it, with the variance of products of moves and of V_pair.
Before there is a pilot, a share is taken to be below `PRIOR_MEDIAN` as likely as above, by a density with a long tail
(Lomax 1954, DOI 10.1080/01621459.1954.10501239). At the low end V_pair is as low as the pilot leaves open, too.
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

TAIL = 0.16  # how probable it is that each share lies beyond an end
PRIOR_MEDIAN = 0.1  # of a share that texts explain
SHARES = (np.arange(1_000) + 0.5) / 1_000


@dataclass(frozen=True)
class PilotSide:
    """One side of a pilot: its texts, the sum of n_t (n_t - 1) over them, n_t the pairs of a text, and its variance."""

    n_texts: int
    products: float
    variance: float

    def share_at(self, probability: float, n: int, pair: float, pair_spread: float) -> float:
        """The share that this side explains, at a quantile of what the pilot leaves open of it.

        The pilot has `n` pairs; `pair` is its V_pair, with a relative variance of `pair_spread`.
        """
        ratio = self.variance / pair / (1 + self.products / n * SHARES)  # V_HS / V_pair by what is expected of it
        variance = max(2 * self.products / n**2, 2 / (self.n_texts - 1)) + pair_spread
        log_density = (np.log(ratio) - ratio) / variance - 2 * np.log1p(SHARES / PRIOR_MEDIAN)
        weights = np.exp(log_density - log_density.max()).cumsum()
        return float(np.interp(probability, weights / weights[-1], SHARES))


@dataclass(frozen=True)
class PilotVariance:
    """The jackknife variances of a coefficient on a pilot.

    `pairs` counts its pairs by their number of labels, those that the coefficient is about; `pair_spread` is the
    relative variance of `pair` as an estimate. `shares` are those of the variance of what a pair adds that HS and CN
    explain.
    """

    coefficient: Coefficient
    value: float
    pairs: dict[int, int]
    pair: float
    pair_spread: float
    hs: PilotSide
    cn: PilotSide
    shares: SideShares

    @property
    def n(self) -> int:
        """Number of pairs."""
        return sum(self.pairs.values())

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
            replace(
                self,
                shares=SideShares(
                    *(side.share_at(at, self.n, self.pair, self.pair_spread) for side in (self.hs, self.cn))
                ),
            )
            for at in (TAIL, 1 - TAIL)
        )
        return replace(low, pair=self.pair * gamma_quantile(self.pair_spread, TAIL)), self, high

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
    shares = SideShares(*(_measured_share(side, sum(pairs.values()), pair) for side in (hs, cn)))
    return PilotVariance(coefficient, value, pairs, pair, pair_spread, hs, cn, shares)


def _measured_share(side: PilotSide, n: int, pair: float) -> float:
    """The share that a side explains by its variance; 0 where no two pairs share a text."""
    return max(side.variance / pair - 1, 0.0) / (side.products / n) if side.products else 0.0


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
