"""Widths of the intervals of agreement before there are labels: those of studies that are drawn, always the same ones.

Labels are drawn from a model and measured by what `agreement` prints, in as many studies as leave the mean width a
standard error of 2.5 %. A pilot shows V_pair, V_HS and V_CN of a figure (see `jackknife_intervals.py`), each by what
pairs add to the figure: a part of an HS, a part of a CN, and the rest. What share of the variance they explain is
drawn; then what a pilot on its texts would show with such shares, and a study. Draws count by how near their pilot is
to the one that there is (Beaumont, Zhang and Balding 2002, DOI 10.1093/genetics/162.4.2025). Before, a share is taken
to be below `PRIOR_MEDIAN` as likely as above (Lomax 1954, DOI 10.1080/01621459.1954.10501239).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import ceil, comb, gcd, sqrt

import numpy as np

from fcpair.arrays import Floats
from fcpair.records import Figure
from fcpair.stages.stats.intervals import LEVEL, t_reach
from fcpair.stages.stats.jackknife_intervals import TEXTS, Cluster, jackknife_spread
from fcpair.stages.stats.latent_labels import Answer
from fcpair.stages.stats.multi_rater import Coefficient
from fcpair.stages.stats.rating_counts import LeftOutSums, Overlap

KAPPA_OF_TWO = "Cohen's kappa of two"
LEAST_STUDIES, MOST_STUDIES = 8, 40
PRECISION = 0.025  # standard error of a mean width, relative to it
MOST_AT_ONCE = 20_000  # labels of one study: on more, widths fall as the variance of alpha does
MOST_GROUPS = 5_000  # of annotators; if there are more, as many are drawn
N_PILOTS, N_KEPT = 4_000, 800  # drawn pilots, and how many studies are drawn from those that are near
NEAR = 0.15  # of the logarithms of V_HS / V_pair and V_CN / V_pair
PRIOR_MEDIAN = 0.04  # of a share that texts explain
ENDS = (0.025, 0.5, 0.97)  # shares of drawn studies below the low end of a range, the likeliest width and the high end


@dataclass(frozen=True)
class OverlapSize:
    """A grid and how many of its pairs have two and more labels: `pairs` by the number of labels, 2 or more. They are
    spread evenly over the texts, but for those that are there, which `of_hs` and `of_cn` count by HS and CN.
    """

    n_hs: int
    n_cn: int
    n_annotators: int
    pairs: Mapping[int, int] = field(hash=False)
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
        return replace(self, pairs={m: ceil(n * share) for m, n in self.pairs.items()}, of_hs=(), of_cn=())

    @property
    def shared(self) -> float:
        """Mean number of pairs that two annotators share."""
        return sum(n * comb(m, 2) for m, n in self.pairs.items()) / comb(self.n_annotators, 2)

    @property
    def pairs_of_texts(self) -> tuple[Floats, Floats]:
        """Number of pairs of each HS and each CN; 1 or more, those without any left out."""
        return self._spread(self.of_hs, self.n_hs, self.n_cn), self._spread(self.of_cn, self.n_cn, self.n_hs)

    def _spread(self, of_texts: tuple[int, ...], n_texts: int, n_others: int) -> Floats:
        """Those that are there stay on their texts, and the others take free pairs evenly."""
        there = np.pad(np.array(of_texts, np.float64), (0, n_texts - len(of_texts)))
        free = n_others - there
        each = there + (self.n_pairs - there.sum()) * free / max(free.sum(), 1.0)
        whole = np.diff(np.round(np.cumsum(each), 6) // 1, prepend=0.0)
        return np.asarray(whole[whole > 0])


def place_labels(size: OverlapSize, n_classes: int) -> Overlap:
    """An overlap of this size, whose labels are still to be drawn; annotators share pairs about equally often."""
    rng = np.random.default_rng(0)
    n_labels = rng.permutation(np.repeat(*np.array([*size.pairs.items()], np.int64).reshape(-1, 2).T))
    at = np.arange(len(n_labels))
    if size.of_hs:
        hs, cn = (rng.permutation(np.repeat(np.arange(len(n)), n.astype(np.int64))) for n in size.pairs_of_texts)
    else:
        step = size.n_hs  # CNs that each round over the HS moves on, so that pairs come once and CNs equally often
        while gcd(step, size.n_cn) != 1:
            step += 1
        hs, cn = at % size.n_hs, (at // size.n_hs * step + at % size.n_hs) % size.n_cn
    pair = np.repeat(at, n_labels)
    annotator = np.empty(len(pair), np.int64)
    for m in size.pairs:  # groups of m annotators, all about equally often
        every = combinations(range(size.n_annotators), m)
        groups = np.array([group for group, _ in zip(every, range(MOST_GROUPS), strict=False)])
        if len(groups) == MOST_GROUPS:
            groups = np.sort(np.argsort(rng.random((MOST_GROUPS, size.n_annotators)), axis=1)[:, :m], axis=1)
        n = int((n_labels == m).sum())
        order = np.concatenate([rng.permutation(len(groups)) for _ in range(-(-n // len(groups)))])[:n]
        annotator[n_labels[pair] == m] = groups[order].ravel()
    return Overlap(n_classes, pair, hs[pair], cn[pair], annotator, np.zeros(len(pair), np.int64))


def draw_width(places: Overlap, answer: Answer, measure: Callable[[Overlap], Iterable[Figure]]) -> Floats | None:
    """The mean value and the mean width of a figure in drawn studies, (2,); None where none has an interval."""
    studies: list[Floats] = []
    for at in range(MOST_STUDIES if len(places.pair) else 0):
        figures = measure(replace(places, klass=answer(places, np.random.default_rng([0, at]))))
        drawn = [
            (figure.value, figure.high - figure.low)
            for figure in figures
            if figure.low is not None and figure.high is not None
        ]
        if drawn:
            studies.append(np.mean(np.array(drawn, np.float64), axis=0))
        if at + 1 >= LEAST_STUDIES:
            widths = np.array(studies).reshape(-1, 2)[:, 1]
            if not len(widths) or widths.std() <= PRECISION * sqrt(len(widths)) * widths.mean():
                break
    return np.mean(studies, axis=0) if studies else None


@dataclass(frozen=True)
class VarianceParts:
    """The variance of what one pair adds to a figure, and the parts of it that its HS and its CN explain."""

    pair: float
    hs: float
    cn: float

    def of_sides(self, size: OverlapSize) -> tuple[float, float]:
        """V_HS and V_CN: pairs of one text are alike in what it adds."""
        n = size.n_pairs
        hs, cn = (
            self.pair / n + explained * float((n_each * (n_each - 1)).sum()) / n**2
            for explained, n_each in zip((self.hs, self.cn), size.pairs_of_texts, strict=True)
        )
        return hs, cn

    def variance(self, size: OverlapSize) -> float:
        """V, as an interval rests on."""
        pair = self.pair / size.n_pairs
        return max(sum(self.of_sides(size)) - pair, pair)

    def floor_width(self, size: OverlapSize, level: float = LEVEL) -> float:
        """The width that endlessly many pairs of the same texts would leave, 0 where texts explain nothing."""
        least = max(self.hs, 0.0) / size.n_hs + max(self.cn, 0.0) / size.n_cn
        return 2 * t_reach(min(size.n_hs, size.n_cn) - 1, sqrt(least), level)


@dataclass(frozen=True)
class Pilot:
    """A figure on the pairs of a pilot, with V_pair, V_HS and V_CN; `spread` is V_pair's relative variance."""

    name: str
    value: float
    size: OverlapSize
    of_pair: float
    spread: float
    of_hs: float
    of_cn: float

    @property
    def parts(self) -> VarianceParts:
        """Shares that HS and CN explain; below 0 where pairs of one text differ more than others."""
        n = self.size.n_pairs
        explained = (
            float((of_side - self.of_pair) * n**2 / max((n_each * (n_each - 1)).sum(), n))
            for of_side, n_each in zip((self.of_hs, self.of_cn), self.size.pairs_of_texts, strict=True)
        )
        return VarianceParts(self.of_pair * n, *explained)

    def enlarge(self, n_hs: int, n_cn: int) -> Pilot:
        """The pilot to be expected on so many HS and CN, with pairs as dense as in this one."""
        times = n_hs * n_cn / (len(self.size.of_hs) * len(self.size.of_cn))
        parts, n = self.parts, round(self.size.n_pairs * times)
        spread = (tuple((n + at) // n_texts for at in range(n_texts)) for n_texts in (n_hs, n_cn))
        size = OverlapSize(n_hs, n_cn, self.size.n_annotators, {2: n}, *spread)
        hs, cn = VarianceParts(parts.pair, max(parts.hs, 0.0), max(parts.cn, 0.0)).of_sides(size)
        return replace(self, size=size, of_pair=parts.pair / n, spread=self.spread / times, of_hs=hs, of_cn=cn)

    def widths(self, size: OverlapSize, of_pair: float = 1.0, level: float = LEVEL) -> Floats:
        """The low end, the likeliest and the high end of the width that a study of this size has, (3,), if it has two
        texts of a side or more and each pair adds `of_pair` times as much to the variance as one of the pilot.
        """
        shares, texts, squares = self._near
        rng = np.random.default_rng(1)
        n_each, n = size.pairs_of_texts, size.n_pairs
        pair = _draw_squares(rng, self.spread * self.size.n_pairs / n, N_KEPT)
        sides = sum(_draw_side(rng, share, text, each) for share, text, each in zip(shares, texts, n_each, strict=True))
        variance = (self.of_pair * self.size.n_pairs * of_pair / (n * squares)) * np.maximum(sides - pair, pair)
        reach = t_reach(min(map(len, n_each)) - 1, 1.0, level) * np.sqrt(variance)
        value = np.clip(self.value + np.sqrt(variance) * rng.normal(size=N_KEPT), -1, 1)
        return np.asarray(np.quantile(np.minimum(1.0, value + reach) - np.maximum(-1.0, value - reach), ENDS))

    def floor_width(self, size: OverlapSize, of_pair: float = 1.0, level: float = LEVEL) -> float:
        """The likeliest width that endlessly many pairs of these texts would leave; 0 where texts explain nothing."""
        if max(self.parts.hs, self.parts.cn) <= 0:
            return 0.0
        (hs, cn), _, squares = self._near
        least = np.median((self.of_pair * self.size.n_pairs * of_pair / squares) * (hs / size.n_hs + cn / size.n_cn))
        return 2 * t_reach(min(size.n_hs, size.n_cn) - 1, float(np.sqrt(least)), level)

    @cached_property
    def _near(self) -> tuple[Floats, list[Floats], Floats]:
        """Draws whose pilot is near this one: shares of HS and CN, what each text adds, squares of what pairs add."""
        rng = np.random.default_rng(0)
        shares = PRIOR_MEDIAN * (1 / (1 - rng.random((2, N_PILOTS)) / (1 + PRIOR_MEDIAN)) - 1)
        squares = _draw_squares(rng, self.spread, N_PILOTS)
        texts = [rng.normal(size=(N_PILOTS, len(each))) for each in self.size.pairs_of_texts]
        distance = np.zeros(N_PILOTS)
        for share, text, each, seen in zip(
            shares, texts, self.size.pairs_of_texts, (self.of_hs, self.of_cn), strict=True
        ):
            log_ratio = np.log(_draw_side(rng, share, text, each) / squares)
            distance += (log_ratio - np.log(max(seen / self.of_pair, NEAR**2))) ** 2
        weights = np.exp((distance.min() - distance) / (2 * NEAR**2)).cumsum()
        kept = np.searchsorted(weights, (np.arange(N_KEPT) + 0.5) / N_KEPT * weights[-1])
        return shares[:, kept], [text[kept] for text in texts], squares[kept]


def _draw_squares(rng: np.random.Generator, variance: float, n: int) -> Floats:
    """Means of the squares of what pairs add, beside the true one: gamma distributed, of mean 1 and this variance."""
    return rng.gamma(1 / variance, variance, n) if variance > 0 else np.ones(n)


def _draw_side(rng: np.random.Generator, share: Floats, texts: Floats, n_each: Floats) -> Floats:
    """V_HS by what V_pair truly is, (n_draws,), where HS explain a `share` of what pairs add, and so for CN. `texts`
    (n_draws, n_known) is what each text adds, with `n_each` pairs; further ones are drawn.
    """
    further = rng.normal(size=(len(texts), max(len(n_each) - texts.shape[1], 0)))
    texts, share = np.concatenate([texts, further], axis=1)[:, : len(n_each)], share[:, None]
    sums = np.sqrt(share) * n_each * texts + np.sqrt(n_each * (1 - share)) * rng.normal(size=texts.shape)
    sums -= n_each * sums.sum(axis=1, keepdims=True) / n_each.sum()
    return np.asarray((sums**2).sum(axis=1) * len(n_each) / (len(n_each) - 1) / n_each.sum())


def measure_pilot(overlap: Overlap, coefficient: Coefficient) -> Pilot | str:
    """The variances of a coefficient on the labels of a pilot; or why it tells none."""
    sums = LeftOutSums(overlap, coefficient.n_labels)
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
    first = np.unique(sums.label.pair, return_index=True)[1]
    of_texts = (tuple(n for n in np.bincount(codes[first]).tolist() if n) for codes in (sums.label.hs, sums.label.cn))
    n_labels, n_pairs = np.unique(np.bincount(sums.label.pair), return_counts=True)
    pairs = {int(m): int(count) for m, count in zip(n_labels, n_pairs, strict=True) if m >= 2}
    left, times = figures[Cluster.PAIR]
    weights = (np.ones(len(left)) if times is None else times) / n
    squares = (left - weights @ left) ** 2
    return Pilot(
        name=coefficient.name,
        value=float(coefficient.compute(sums.sums)),
        size=OverlapSize(spreads[Cluster.HS].n, spreads[Cluster.CN].n, 2, pairs, *of_texts),
        of_pair=spreads[Cluster.PAIR].variance,
        spread=float(weights @ squares**2 / (weights @ squares) ** 2 - 1) / n,
        of_hs=spreads[Cluster.HS].variance,
        of_cn=spreads[Cluster.CN].variance,
    )
