"""Widths of the intervals of agreement before there are labels: the jackknife of labels that are only expected.

On `n` pairs whose labels fall into profiles with probabilities pi, leaving out a pair of profile p moves a figure by
d_p, and the jackknife over pairs gives n Var(d). Pairs of one HS are alike where HS explain a share of Var(d), so that
the jackknife over HS gives n Var(d) + sum_h n_h (n_h - 1) share Var(d), n_h the pairs of HS h; and so do CNs. The
interval is that of `jackknife_intervals.py`: V = V_HS + V_CN - V_pair, at least V_pair, times Student's t.

V is itself estimated, so the width is a mean over what the three jackknives may give, and over values of the figure.
V_pair has the variance of a sum of n squares of moves. V_HS is V_pair and the products of the moves of every two pairs
of one HS: the fewer of these there are, the more the two agree. Nothing is drawn at random.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from math import ceil, comb

import numpy as np
import numpy.typing as npt

from fcpair.stages.stats.intervals import LEVEL, t_reach
from fcpair.stages.stats.kappa import cohens_kappa
from fcpair.stages.stats.label_profiles import ClassModel, all_profiles
from fcpair.stages.stats.multi_rater import Coefficient
from fcpair.stages.stats.rating_counts import Sums, moments

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

LEAST_SHARED = 12  # pairs of two annotators; on fewer, kappa is too far from linear
NODES = 16  # quantiles of each quantity that an estimate varies by
NO_VARIANCE = 1e-9
MOST_DRAWN, N_DRAWS = 100, 600  # pairs up to which overlaps are drawn, and how many are
PART = 16  # how many draws are taken together: their widths fit into a cache
LOW, HIGH = 0.1, 0.7  # the shares of studies below a low and a high width
KAPPA_OF_TWO = "Cohen's kappa of two"


@dataclass(frozen=True)
class OverlapSize:
    """A grid and how many of its pairs have two and more labels: `pairs` by the number of labels, 2 or more.

    They are spread evenly over the texts, but for those that are there: `of_hs` and `of_cn` count them by the HS and
    the CN that have some.
    """

    n_hs: int
    n_cn: int
    n_annotators: int
    pairs: Mapping[int, int]
    of_hs: tuple[int, ...] = ()
    of_cn: tuple[int, ...] = ()

    @property
    def n_pairs(self) -> int:
        """Number of pairs with two or more labels."""
        return sum(self.pairs.values())

    def limit(self, n_labels: int) -> OverlapSize:
        """The overlap with so many labels at most, and as many pairs of each kind beside the others."""
        share = min(1.0, n_labels / max(sum(m * n for m, n in self.pairs.items()), 1))
        if share == 1:
            return self
        pairs = {m: ceil(n * share) for m, n in self.pairs.items()}
        return replace(self, pairs=pairs, of_hs=(), of_cn=())

    @property
    def shared(self) -> float:
        """How many pairs every two annotators share, on average."""
        return sum(n * comb(m, 2) for m, n in self.pairs.items()) / comb(self.n_annotators, 2)


@dataclass(frozen=True)
class SideShares:
    """Shares of the variance of what one pair adds to a figure that its HS and its CN explain, each from 0 to 1."""

    hs: float = 0.0
    cn: float = 0.0


@dataclass(frozen=True)
class SideVariance:
    """What pairs of one text add to the variance of a figure, for one side.

    `products` is the sum over texts of n_t (n_t - 1), n_t the pairs of a text; `added` is the expected variance beyond
    that of free pairs; `floor` what is left of it with endlessly many pairs of the same texts, of which there are
    `n_texts` in the overlap.
    """

    n_texts: float
    products: float
    added: float
    floor: float

    def scaled(self, factor: float) -> SideVariance:
        """The same, its variances multiplied by a factor."""
        return replace(self, added=self.added * factor, floor=self.floor * factor)


@dataclass(frozen=True)
class Draws:
    """A figure and its jackknife variance over pairs in each of several drawn overlaps, both (n_draws,)."""

    values: Floats
    pair: Floats


@dataclass(frozen=True)
class FigureVariance:
    """The variances that the jackknife is expected to give a figure of this `value` over `n` pairs.

    `pair` is that over pairs, and `pair_spread` the relative variance of its estimate. The figure is `lowest` at least.
    `draws` are what drawn overlaps give, where there are so few pairs that the figure is far from linear.
    """

    value: float
    n: float
    pair: float
    pair_spread: float
    hs: SideVariance
    cn: SideVariance
    lowest: float
    draws: Draws | None = None

    @property
    def total(self) -> float:
        """V, as the interval is expected to rest on."""
        return self.pair + self.hs.added + self.cn.added

    @property
    def df(self) -> float:
        """Degrees of freedom of the interval."""
        return min(self.hs.n_texts, self.cn.n_texts) - 1

    def scaled(self, factor: float, value: float) -> FigureVariance:
        """The same about another value, all variances multiplied by a factor."""
        draws = self.draws and Draws(self.draws.values + (value - self.value), self.draws.pair * factor)
        hs, cn = self.hs.scaled(factor), self.cn.scaled(factor)
        return replace(self, value=value, pair=self.pair * factor, hs=hs, cn=cn, draws=draws)


@dataclass(frozen=True)
class Influence:
    """A figure on expected labels, and how far it moves without one pair of each profile or table cell.

    `probabilities` (n_kinds,) of the kinds sum to 1.
    """

    value: float
    moves: Floats
    probabilities: Floats

    @property
    def variance(self) -> float:
        """Variance of the moves over pairs."""
        return float(self.probabilities @ self._squares)

    @property
    def spread(self) -> float:
        """Relative variance of one squared move, by which an estimate of the variance varies."""
        return float(self.probabilities @ self._squares**2) / self.variance**2 - 1 if self.variance else 0.0

    @property
    def _squares(self) -> Floats:
        return np.asarray((self.moves - self.probabilities @ self.moves) ** 2)


def coefficient_variance(
    coefficient: Coefficient, model: ClassModel, size: OverlapSize, shares: SideShares
) -> FigureVariance | None:
    """The variances of a coefficient over a whole grid; None where too few pairs have the labels that it is about."""
    pairs = {m: n for m, n in size.pairs.items() if n and coefficient.n_labels in {None, m}}
    n = sum(pairs.values())
    if n < 2:
        return None
    influence = coefficient_influence(coefficient, model, pairs)
    compute = _compute_on(coefficient, _profiles_of(model, pairs))
    lowest = -1.0 if coefficient.corrects_chance else 0.0
    return _figure_variance(influence, compute, n, size, shares, lowest)


def kappa_variance(model: ClassModel, size: OverlapSize, shares: SideShares) -> FigureVariance | None:
    """The variances of Cohen's kappa of two annotators who share as many pairs as any; None for fewer than 12."""
    n = round(size.shared)
    if n < LEAST_SHARED:
        return None

    def compute(times: Floats) -> Floats:
        return cohens_kappa(times.reshape(*times.shape[:-1], *model.joint.shape), "none")

    return _figure_variance(_influence(compute, model.joint.ravel(), n), compute, n, size, shares, -1.0)


def coefficient_influence(coefficient: Coefficient, model: ClassModel, pairs: Mapping[int, int]) -> Influence:
    """A coefficient on labels as they are expected, where so many `pairs` have each number of labels."""
    profiles, n = _profiles_of(model, pairs), sum(pairs.values())
    part = np.array([pairs[m] / n for m in profiles.sum(axis=1).tolist()])
    return influence_of(coefficient, profiles, model.probabilities(profiles) * part, n)


def _profiles_of(model: ClassModel, pairs: Mapping[int, int]) -> Ints:
    return np.concatenate([all_profiles(m, len(model.shares)) for m in sorted(pairs)])


def influence_of(coefficient: Coefficient, profiles: Ints, probabilities: Floats, n: int) -> Influence:
    """A coefficient on `n` pairs that fall into profiles with these probabilities; moves of impossible ones are 0."""
    return _influence(_compute_on(coefficient, profiles), probabilities, n)


Compute = Callable[[Floats], Floats]
"""A figure of overlaps that have so many pairs of each kind, (..., n_kinds); NaN where it is undefined, (...)."""


def _influence(compute: Compute, probabilities: Floats, n: int) -> Influence:
    times = n * probabilities
    value = float(compute(times))
    moves = np.where(times > 0, compute(times - np.eye(len(times))) - value, 0.0)
    return Influence(value, moves, probabilities)


def _compute_on(coefficient: Coefficient, profiles: Ints) -> Compute:
    """A coefficient as a function of how many pairs have each profile."""
    terms, others = moments(profiles), np.maximum(profiles.sum(axis=1) - 1, 1)

    def compute(times: Floats) -> Floats:
        def products(values: Floats) -> Floats:
            by_profile = ((values @ profiles.T) ** 2 - values**2 @ profiles.T) / others
            return np.asarray((times * by_profile).sum(axis=-1))

        return coefficient.compute(Sums.from_moments(times @ terms, products))

    return compute


def _draw(compute: Compute, probabilities: Floats, n: int) -> Draws | None:
    """A figure on drawn overlaps of `n` pairs, without those that leave it without an interval; None if all do."""
    times = np.random.default_rng(0).multinomial(n, probabilities / probabilities.sum(), N_DRAWS).astype(np.float64)
    values, left = compute(times), compute(times[:, None] - np.eye(len(probabilities)))
    with np.errstate(invalid="ignore"):
        left = np.where(times > 0, left, 0.0)  # a kind without pairs has none to leave out
        mean = (times * left).sum(axis=1, keepdims=True) / n
        pair = (n - 1) / n * (times * (left - mean) ** 2).sum(axis=1)
    has_interval = np.nan_to_num(pair) > NO_VARIANCE
    return Draws(values[has_interval], pair[has_interval]) if has_interval.any() else None


def _even_products(n: int, n_texts: int) -> float:
    """Sum over texts of n_t (n_t - 1), where `n` pairs are dealt to the texts as evenly as they go."""
    each, more = divmod(n, n_texts)
    return float(more * (each + 1) * each + (n_texts - more) * each * (each - 1))


def _spread(n: int, of_texts: tuple[int, ...], n_texts: int, n_others: int) -> Floats:
    """How many of `n` pairs each of `n_texts` texts has, where `of_texts` are there and others take free pairs evenly.

    There are `n_others` texts of the other side, and so as many pairs of each.
    """
    there = np.pad(np.array(of_texts, np.float64), (0, n_texts - len(of_texts)))
    free = n_others - there
    return np.asarray(there + (n - there.sum()) * free / max(free.sum(), 1.0))


def _figure_variance(
    influence: Influence, compute: Compute, n: int, size: OverlapSize, shares: SideShares, lowest: float
) -> FigureVariance:
    variance = influence.variance

    def vary_side(n_texts: int, n_others: int, of_texts: tuple[int, ...], share: float) -> SideVariance:
        n_met, products = min(n, n_texts), _even_products(n, n_texts)
        if of_texts:
            each = _spread(size.n_pairs, of_texts, n_texts, n_others) * n / size.n_pairs
            n_met, products = int(np.count_nonzero(each)), float((each * np.maximum(each - 1, 0)).sum())
        return SideVariance(n_met, products, products * share * variance, n * n * variance * share / n_texts)

    hs = vary_side(size.n_hs, size.n_cn, size.of_hs, shares.hs)
    cn = vary_side(size.n_cn, size.n_hs, size.of_cn, shares.cn)
    draws = _draw(compute, influence.probabilities, n) if n <= MOST_DRAWN else None
    return FigureVariance(influence.value, n, n * variance, influence.spread / n, hs, cn, lowest, draws)


def mean_width(of: FigureVariance, level: float = LEVEL) -> float:
    """The mean width of the interval that `agreement` prints for a figure of these variances; NaN below one df."""
    return float(_widths(of, level).mean())


def low_width(of: FigureVariance, level: float = LEVEL) -> float:
    """The width that the interval of one study in ten is below; NaN below one df."""
    return float(np.quantile(_widths(of, level), LOW, overwrite_input=True))


def high_width(of: FigureVariance, level: float = LEVEL) -> float:
    """The width that the intervals of seven studies in ten are below; NaN below one df."""
    return float(np.quantile(_widths(of, level), HIGH, overwrite_input=True))


def _widths(of: FigureVariance, level: float) -> Floats:
    """Widths that studies may have, all as probable; a NaN below one df."""
    if of.df < 1:
        return np.array([np.nan])
    value, pair = _values_and_pairs(of)
    hs, cn = (_side_noise(of, side) for side in (of.hs, of.cn))
    variance = np.maximum(pair + hs[:, None, None] + cn[:, None], pair)
    reach = t_reach(of.df, 1.0, level) * np.sqrt(variance)
    return _intersect_range(value, reach, of.lowest)


def _intersect_range(value: Floats, reach: Floats, lowest: float) -> Floats:
    """Widths of intervals of these values and half widths within [lowest, 1]: a million or more, so part by part."""
    value, reach = np.broadcast_arrays(value, reach)
    widths = np.empty(value.shape)
    for start in range(0, len(widths), PART):
        part = slice(start, start + PART)
        high, low = value[part] + reach[part], value[part] - reach[part]
        np.subtract(np.minimum(1.0, high), np.maximum(lowest, low), out=widths[part])
    return widths


def _values_and_pairs(of: FigureVariance) -> tuple[Floats, Floats]:
    """Values of the figure and estimates of its variance over pairs, to be taken with all that texts may add.

    They vary by the first axis and the last.
    """
    if of.draws is None:
        value = of.value + np.sqrt(of.total) * _normal_quantiles()
        return np.clip(value, of.lowest, 1.0), of.pair * _gamma_quantiles(of.pair_spread)[:, None, None, None]
    by_texts = np.sqrt(of.hs.added + of.cn.added) * (_normal_quantiles() if of.hs.added + of.cn.added else np.zeros(1))
    value = of.draws.values[:, None, None, None] + by_texts
    return np.clip(value, of.lowest, 1.0), of.draws.pair[:, None, None, None]


def floor_width(of: FigureVariance, level: float = LEVEL) -> float:
    """The width that endlessly many pairs of the same texts would leave, 0 where texts explain nothing."""
    return 2 * t_reach(of.df, 1.0, level) * float(np.sqrt(of.hs.floor + of.cn.floor)) if of.df >= 1 else np.nan


def _side_noise(of: FigureVariance, side: SideVariance) -> Floats:
    """What an estimate of V_HS may have beyond that of V_pair, (NODES,)."""
    noise = _gamma_quantiles(2 * side.products / of.n**2) - 1
    return np.asarray(side.added + (of.pair + side.added) * noise)


def gamma_quantile(variance: float, probability: float) -> float:
    """A quantile of a gamma distribution with mean 1 and this variance; 1 where it has none."""
    from scipy.special import gammaincinv

    return 1.0 if variance < NO_VARIANCE else float(gammaincinv(1 / variance, probability) * variance)


@cache
def _gamma_quantiles(variance: float) -> Floats:
    """Quantiles of a gamma distribution with mean 1 and this variance; 1 where it has none."""
    from scipy.special import gammaincinv

    if variance < NO_VARIANCE:
        return np.ones(NODES)
    shape = 1 / variance
    return np.asarray(gammaincinv(shape, _middles()) / shape)


@cache
def _normal_quantiles() -> Floats:
    from scipy.special import ndtri

    return np.asarray(ndtri(_middles()))


def _middles() -> Floats:
    return (np.arange(NODES) + 0.5) / NODES
