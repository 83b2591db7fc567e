"""The measures: each a value whose name can be read back (`NDCG@10`), computed for all HS at once.

All run from 0 to 1, and an HS without positives has 0 in all of them but Accuracy, judged and a graded NDCG. An
unjudged pair counts as not appropriate, with the least grade; `fcpair.evaluate.evaluation` reads it in other ways.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.evaluate.judged_rankings import (
    ABSENT,
    NEGATIVE,
    POSITIVE,
    UNJUDGED,
    Judged,
    discounts,
    gain,
    ideal_gain,
    ideal_gain_of_counts,
)
from fcpair.stages.questions.named_values import NamedValue, parse_named
from fcpair.stages.stats.rating_counts import ratio

LARGEST_CUT = 10**18 - 1  # deeper than any pool, and a number that fits in every array


@dataclass(frozen=True)
class Measure(NamedValue):
    """A figure for each HS. It is called with a Judged and gives values of shape `(n_hs,)`.

    `rises`: whether the value can only rise when an unjudged pair turns out to be positive, wherever it stands.
    `bounded`: whether an unjudged pair can be read in more than one way; bpref and judged read it in one.
    `graded`: whether it reads the grades of a scheme that has some; all others read only what is positive.
    """

    rises: ClassVar[bool] = False
    bounded: ClassVar[bool] = True
    graded: ClassVar[bool] = False

    def __call__(self, judged: Judged) -> Floats:
        """The value for each HS, shape `(n_hs,)`."""
        raise NotImplementedError

    @property
    def depth(self) -> int | None:
        """Number of ranks that the measure reads, the `k` of a cut; None for all."""
        return getattr(self, "k", None)

    def score_range(self, judged: Judged) -> tuple[float, float]:
        """The least and the greatest value that rankings could give to these HS."""
        return 0.0, 1.0

    def expected(self, pool: Judged) -> Floats:
        """The mean of the measure over all orders of the pool, each as likely as any other, shape `(n_hs,)`: of n CNs
        with R positive, every rank holds a positive with probability R / n, without replacement, and of grades the
        mean.
        """
        return self._expected(pool)

    def _expected(self, pool: Judged) -> Floats:
        raise NotImplementedError(f"no expectation is known for {self}")


@dataclass(frozen=True)
class CutMeasure(Measure):
    """A measure of the first `k` ranks."""

    outside_brackets: ClassVar[tuple[str, ...]] = ("k",)
    k: int = 10

    def __post_init__(self) -> None:
        if not 1 <= self.k <= LARGEST_CUT:
            expected = "at least 1 rank is needed" if self.k < 1 else f"expected at most {LARGEST_CUT:,}"
            raise InputError(f"k is {self.k}; {expected}")

    def __str__(self) -> str:
        return f"{self.short_name}@{self.k}"


_CUT = re.compile(r"\s*(.*?)\s*@\s*([0-9]{1,18})\s*", re.DOTALL)


@dataclass(frozen=True)
class HitRatio(CutMeasure):
    """1 where at least one of the first k ranks holds a positive, else 0.

    Also called success@k, and accuracy@k in sentence-transformers.
    """

    word: ClassVar[str] = "HitRatio"
    rises: ClassVar[bool] = True

    def __call__(self, judged: Judged) -> Floats:
        """1 or 0 for each HS."""
        return np.asarray(judged.hits(self.k).any(axis=1), float)

    def _expected(self, pool: Judged) -> Floats:
        return 1 - _p_none_above(pool, self.k)[:, -1]


@dataclass(frozen=True)
class MRR(CutMeasure):
    """One over the rank of the first positive among the first k, 0 if there is none.

    Voorhees 1999, The TREC-8 Question Answering Track Report; cut at k.
    """

    word: ClassVar[str] = "MRR"
    rises: ClassVar[bool] = True

    def __call__(self, judged: Judged) -> Floats:
        """1, 1/2, ... 1/k or 0 for each HS."""
        hits = judged.hits(self.k)
        return np.asarray(hits.any(axis=1) / (hits.argmax(axis=1) + 1))

    def _expected(self, pool: Judged) -> Floats:
        none = _p_none_above(pool, self.k)
        return np.asarray((none[:, :-1] - none[:, 1:]) @ (1 / np.arange(1, none.shape[1])))


@dataclass(frozen=True)
class NDCG(CutMeasure):
    """Sum of grade / log2(rank + 1) over the first k ranks, over the sum of an ideal ranking.

    The ideal ranking has the pairs of the pool by falling grade. Järvelin and Kekäläinen 2002,
    https://doi.org/10.1145/582415.582418, with the discount log2(rank + 1). The gain is the grade itself, as in
    trec_eval, ir_measures, ranx and scikit-learn (not 2^grade - 1); without grades it is 1 for a positive.
    """

    word: ClassVar[str] = "NDCG"
    graded: ClassVar[bool] = True

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        if judged.graded:
            return ratio(gain(judged.graded, self.k), ideal_gain(judged.graded, self.k), 0.0)
        hits = judged.hits(self.k)
        return ratio(hits @ discounts(hits.shape[1]), ideal_gain_of_counts(judged.n_positive, self.k), 0.0)

    def _expected(self, pool: Judged) -> Floats:
        ranks, there = _ranks_in_pool(pool, self.k)
        share, best = _positive_rate(pool), ideal_gain_of_counts(pool.n_positive, self.k)
        if pool.graded:  # every rank has the mean grade of the pool
            share = ratio(pool.graded.counts @ pool.graded.steps, pool.n_pool, 0.0)
            best = ideal_gain(pool.graded, self.k)
        return share * ratio(there @ discounts(len(ranks)), best, 0.0)


@dataclass(frozen=True)
class MAP(CutMeasure):
    """Mean over the HS of average precision: the sum of the precision at each positive among the first k, divided.

    `by=k` divides by min(number of positives, k), as FC-CONAN's figures do, so that a perfect ranking has 1; `by=all`
    divides by the number of positives, as trec_eval's map_cut and ranx do. Buckley and Voorhees 2000,
    https://doi.org/10.1145/345508.345543.
    """

    word: ClassVar[str] = "MAP"
    by: Literal["k", "all"] = "k"

    def __call__(self, judged: Judged) -> Floats:
        """Average precision of each HS."""
        hits = judged.hits(self.k)
        precision = np.cumsum(hits, axis=1) / np.arange(1, hits.shape[1] + 1)
        return ratio((precision * hits).sum(axis=1), self.divisor(judged.n_positive), 0.0)

    def divisor(self, n_positive: Ints) -> Ints:
        """Divisor of the sum of precisions of each HS."""
        return n_positive if self.by == "all" else np.minimum(n_positive, self.k)

    def _expected(self, pool: Judged) -> Floats:
        ranks, there = _ranks_in_pool(pool, self.k)
        # with the probability that another rank is positive when this one is
        precision = (1 + (ranks - 1) * ratio(pool.n_positive - 1, pool.n_pool - 1, 0.0)[:, None]) / ranks
        return _positive_rate(pool) * ratio((precision * there).sum(axis=1), self.divisor(pool.n_positive), 0.0)


@dataclass(frozen=True)
class Precision(CutMeasure):
    """The positives among the first k ranks, over k, also where the ranking has fewer ranks."""

    word: ClassVar[str] = "Precision"
    rises: ClassVar[bool] = True

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        return np.asarray(judged.hits(self.k).sum(axis=1) / self.k)

    def _expected(self, pool: Judged) -> Floats:
        return _expected_hits(pool, self.k) / self.k


@dataclass(frozen=True)
class Recall(CutMeasure):
    """The positives among the first k ranks, over all positives of the pool."""

    word: ClassVar[str] = "Recall"

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        return ratio(judged.hits(self.k).sum(axis=1), judged.n_positive, 0.0)

    def _expected(self, pool: Judged) -> Floats:
        return ratio(_expected_hits(pool, self.k), pool.n_positive, 0.0)


@dataclass(frozen=True)
class F1(CutMeasure):
    """The harmonic mean of Precision and Recall at k: twice the hits, over k and the number of positives.

    Van Rijsbergen 1979, Information Retrieval, chapter 7, with equal weights.
    """

    word: ClassVar[str] = "F1"

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        return np.asarray(2 * judged.hits(self.k).sum(axis=1) / (self.k + judged.n_positive))

    def _expected(self, pool: Judged) -> Floats:
        return 2 * _expected_hits(pool, self.k) / (self.k + pool.n_positive)


@dataclass(frozen=True)
class Accuracy(CutMeasure):
    """The share of the pool that is put on the right side: positives among the first k, all others below.

    This is accuracy as in classification; what sentence-transformers calls accuracy@k is HitRatio@k here. Unlike the
    other measures it is not 0 where an HS has no positives, and high where the pool is large.
    """

    word: ClassVar[str] = "Accuracy"

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        top = judged.labels[:, : self.k]
        hits, named = (top == POSITIVE).sum(axis=1), (top != ABSENT).sum(axis=1)
        below = judged.n_pool - judged.n_positive - (named - hits)
        return ratio(hits + below, judged.n_pool, 0.0)

    def score_range(self, judged: Judged) -> tuple[float, float]:
        """From the worst k of an HS at the top to the best k of an HS: a small part of the scale in a large pool."""
        n_pool, n_positive = judged.n_pool, judged.n_positive
        worst = ratio(np.maximum(n_pool - n_positive - self.k, 0), n_pool, 0.0)
        best = np.maximum(ratio(n_pool - np.abs(n_positive - np.minimum(self.k, n_pool)), n_pool, 0.0), self(judged))
        least, greatest = float(worst.min(initial=1)), float(best.max(initial=0))
        return (least, greatest) if least < greatest else (0.0, 1.0)

    def _expected(self, pool: Judged) -> Floats:
        negative = pool.n_pool - pool.n_positive
        return ratio(negative - np.minimum(pool.n_pool, self.k) + 2 * _expected_hits(pool, self.k), pool.n_pool, 0.0)


@dataclass(frozen=True)
class Bpref(Measure):
    """Binary preference: how seldom a judged negative ranks above a positive, whatever is unjudged.

    The mean over all positives, those not ranked counting 0, of 1 - min(n, R) / min(R, N), where n judged negatives
    stand above the positive, R is the number of positives and N that of negatives; as trec_eval computes it. Buckley
    and Voorhees 2004, https://doi.org/10.1145/1008992.1009000. It reads the whole ranking and never the unjudged pairs,
    so there is one figure and no bounds.
    """

    word: ClassVar[str] = "bpref"
    bounded: ClassVar[bool] = False

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        above = np.minimum(np.cumsum(judged.labels == NEGATIVE, axis=1), judged.n_positive[:, None])
        worst = np.maximum(np.minimum(judged.n_positive, judged.n_negative), 1)[:, None]
        return ratio((judged.hits() * (1 - above / worst)).sum(axis=1), judged.n_positive, 0.0)

    def _expected(self, pool: Judged) -> Floats:
        """The judged negatives above a positive are 0, 1, ... or all N of them, each as likely."""
        n_positive, n_negative = pool.n_positive, pool.n_negative
        counted = np.minimum(n_positive, n_negative)
        mean = (counted * (counted + 1) / 2 + (n_negative - counted) * counted) / (n_negative + 1)
        return np.asarray((n_positive > 0) * (1 - ratio(mean, counted, 0.0)))


@dataclass(frozen=True)
class RBP(Measure):
    """Rank-biased precision: (1 - p) times the sum of p^(rank - 1) over the positives, over the whole ranking.

    Moffat and Zobel 2008, https://doi.org/10.1145/1416950.1416952. Its residual, the weight of the unjudged ranks, is
    the distance between the lowest and the highest value; nothing is taken to stand below the last rank of a ranking.
    """

    word: ClassVar[str] = "RBP"
    rises: ClassVar[bool] = True
    p: float = 0.8

    def __post_init__(self) -> None:
        if not 0 < self.p < 1:
            raise InputError(f"p is {self.p}; expected a number between 0 and 1")

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        hits = judged.hits()
        return np.asarray(hits @ self.weights(hits.shape[1]))

    def weights(self, depth: int) -> Floats:
        """Weight of a positive at each of the first `depth` ranks."""
        return np.asarray((1 - self.p) * self.p ** np.arange(depth), float)

    def _expected(self, pool: Judged) -> Floats:
        return _positive_rate(pool) * (1 - self.p**pool.n_pool)


@dataclass(frozen=True)
class JudgedAt(CutMeasure):
    """The share of the first k ranks (of the pool, where it is smaller) whose pair is judged in the tier."""

    word: ClassVar[str] = "judged"
    bounded: ClassVar[bool] = False

    def __call__(self, judged: Judged) -> Floats:
        """From 0 to 1 for each HS."""
        return ratio((judged.labels[:, : self.k] > UNJUDGED).sum(axis=1), np.minimum(judged.n_pool, self.k), 0.0)

    def _expected(self, pool: Judged) -> Floats:
        return ratio(pool.n_positive + pool.n_negative, pool.n_pool, 0.0)


MEASURES: dict[str, type[Measure]] = {
    measure.word: measure
    for measure in (HitRatio, MRR, NDCG, MAP, Precision, Recall, F1, Accuracy, Bpref, RBP, JudgedAt)
}
AVERAGED = ("HitRatio", "MRR", "NDCG", "MAP")  # what FC-CONAN's Table 4 averages over


def parse_measure(text: str, k: int = 10) -> Measure:
    """Read a measure's name, such as `NDCG@10`; without `@` it is cut at `k`. InputError for any other."""
    match = _CUT.fullmatch(text)
    name, cut = (match[1], int(match[2])) if match else (text, None)
    measure: Measure = parse_named(name, MEASURES, "measure")
    if isinstance(measure, CutMeasure):
        try:
            return replace(measure, k=k if cut is None else cut)
        except InputError as error:
            raise InputError(f"measure `{text}`: {error}") from None
    if cut is not None:
        raise InputError(f"measure `{text}`: `{measure.word}` reads the whole ranking and has no cut; drop `@{cut}`")
    return measure


def _positive_rate(pool: Judged) -> Floats:
    """Probability that a rank holds a positive."""
    return ratio(pool.n_positive, pool.n_pool, 0.0)


def _ranks_in_pool(pool: Judged, k: int) -> tuple[Ints, Floats]:
    """The ranks 1 to k of the largest pool, and 1 where a pool is that large, else 0, shape `(n_hs, n_ranks)`."""
    ranks = np.arange(1, min(k, pool.n_pool.max(initial=0)) + 1)
    return ranks, (ranks <= pool.n_pool[:, None]).astype(float)


def _p_none_above(pool: Judged, k: int) -> Floats:
    """Probability that the ranks 1 to r hold no positive, for r from 0 to k, shape `(n_hs, n_ranks + 1)`."""
    n_left = np.maximum(pool.n_pool[:, None] - np.arange(min(k, pool.n_pool.max(initial=0))), 0)
    missing = np.maximum(n_left - pool.n_positive[:, None], 0)
    misses = np.divide(missing, n_left, out=np.ones(n_left.shape), where=n_left > 0)
    return np.concatenate([np.ones((len(n_left), 1)), np.cumprod(misses, axis=1)], axis=1)


def _expected_hits(pool: Judged, k: int) -> Floats:
    """Average number of positives in the first k ranks."""
    return np.asarray(_positive_rate(pool) * np.minimum(pool.n_pool, k))
