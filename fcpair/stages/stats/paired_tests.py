"""Comparisons of systems and tiers over a few HS: paired tests, how many HS they need, and rank correlation.

The power of the paired randomisation test is that of the paired t test: on differences that are not far from normal the
two reject alike (Smucker, Allan and Carterette 2007, https://doi.org/10.1145/1321440.1321528). With several comparisons
the smallest p-value is held against alpha by their number, as Holm's correction does first.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import floor, log2, sqrt
from typing import Any

import numpy as np

from fcpair.arrays import Floats
from fcpair.errors import InputError
from fcpair.lazy import scipy
from fcpair.notebook import Result, column_names
from fcpair.param_values import as_params
from fcpair.params import Power
from fcpair.stages.stats.intervals import SAME, block_sizes


def randomisation(differences: Floats, resamples: int, seed: int) -> Floats:
    """Two-sided p-values of paired randomisation tests: how often random signs give as great a mean difference.

    `differences` are of two systems for each HS, `(n_hs, n_tests)`; all tests share the draws of signs. Returns (1 + as
    great or greater) / (1 + resamples), `(n_tests,)`. Smucker, Allan and Carterette 2007,
    https://doi.org/10.1145/1321440.1321528.
    """
    n_hs = len(differences)
    observed = np.abs(differences.sum(axis=0)) - SAME * n_hs
    sizes = np.sort(np.abs(differences), axis=0)  # whose signs are random anyway
    rng, as_great = np.random.default_rng(seed), np.zeros(differences.shape[1], np.int64)
    for size in block_sizes(resamples, n_hs):
        as_great += (np.abs((2.0 * rng.integers(0, 2, (size, n_hs)) - 1) @ sizes) >= observed).sum(axis=0)
    return np.asarray((1 + as_great) / (1 + resamples))


def holm(p: Floats) -> Floats:
    """The p-values of one family of tests, corrected for their number, shape as given: the smallest times the number of
    tests, the next by one less, and so on, none below the one before, none above 1. Holm 1979, Scandinavian Journal of
    Statistics 6(2), https://www.jstor.org/stable/4615733.
    """
    order = np.argsort(p)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def needed_resamples(n_tests: int, alpha: float) -> int:
    """Number of resamples needed for the least p of `n_tests` tests, n_tests / (1 + resamples), to be below `alpha`."""
    return floor(round(n_tests / alpha, 6))


def needed_hs(n_tests: int, alpha: float) -> int:
    """Number of HS needed: n HS have 2^n ways of signs, and at least two of these give as great a mean difference."""
    return floor(log2(n_tests / alpha)) + 2


def kendall(means: Floats, other_means: Floats) -> tuple[float | None, str | None]:
    """Kendall's tau-b between two rankings of the same systems, of which `means`, `(n_systems,)`, are those on either
    tier; and why it is undefined where it is. Kendall 1938, https://doi.org/10.1093/biomet/30.1-2.81; ties as in scipy.
    """
    if len(means) < 2:
        return None, "there is one system"
    rounded = [np.round(values, 12) for values in (means, other_means)]
    if any(len(np.unique(values)) == 1 for values in rounded):
        return None, "all systems score the same on a tier"
    # Importing scipy.stats for it would take longer than a small evaluation.
    order, other_order = (np.sign(values[:, None] - values) for values in rounded)
    return float((order * other_order).sum() / np.sqrt((order**2).sum() * (other_order**2).sum())), None


MOST_HS = 1_000_000
TAIL = 1e-12  # of the estimates of a standard deviation, which is left out on each side
FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)  # of the difference, for which a plan says how many HS it takes


@dataclass(frozen=True)
class NeededHs:
    """HS that it takes to find a difference, and the power that the test has with as many."""

    difference: float
    hs: int
    power: float


@dataclass(frozen=True, repr=False)
class PowerPlan(Result):
    """HS that it takes to find a difference of two systems, as wished and for others that are smaller and greater. `sd`
    is the standard deviation of the difference over HS, from `basis`; `known` the power that the study's HS have.
    """

    options: Power
    alpha: float
    sd: float
    needed: NeededHs
    others: tuple[NeededHs, ...]
    known: NeededHs | None
    basis: tuple[str, ...]

    columns = column_names(NeededHs)

    def rows(self) -> Iterable[dict[str, Any]]:
        """A row for each difference: `difference`, `hs` and `power`."""
        return map(vars, self.others)

    def _summary(self) -> str:
        return (
            f"{self.needed.hs:,} HS find a difference of {self.needed.difference:g} with power {self.options.power:g}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return {**asdict(self), "options": as_params(self.options)}


def plan_hs(options: Power, alpha: float, sd: float, basis: str, n_hs: int | None = None) -> PowerPlan:
    """The number of HS that find a difference as often as wished, and those for other differences.

    `alpha` is below which a corrected p-value counts as significant, `sd` the standard deviation of the difference over
    HS, above 0, from `basis`, `n_hs` those of the study. Raises InputError where more than a million would be needed.
    """
    level = alpha / options.comparisons
    least = needed_hs(options.comparisons, alpha)
    if (needed := _needed(options.difference, sd, options.power, level, least)) is None:
        raise InputError(
            f"more than {MOST_HS:,} HS would be needed to find a difference of {options.difference:g} where its "
            f"standard deviation is {sd:g}; no study finds it"
        )
    differences = [round(options.difference * factor, 6) for factor in FACTORS]
    others = (_needed(each, sd, options.power, level, least) for each in differences if each <= 1)
    known = n_hs and NeededHs(options.difference, n_hs, _power(n_hs, options.difference, sd, level, least))
    return PowerPlan(options, alpha, sd, needed, tuple(filter(None, others)), known or None, (basis,))


def describe_assumed(sd: float) -> str:
    """Sentence on a standard deviation that is assumed."""
    return f"assumed: standard deviation {sd:g} of the difference over HS"


def _needed(difference: float, sd: float, power: float, level: float, least: int) -> NeededHs | None:
    """The least number of HS with this power; None above MOST_HS."""
    n = least_number(lambda n: _power(n, difference, sd, level, least) >= power, least, MOST_HS)
    return None if n is None else NeededHs(difference, n, _power(n, difference, sd, level, least))


def least_number(reaches: Callable[[int], bool], least: int, most: int) -> int | None:
    """The least number from `least` to `most` that reaches what is wished, as all above it do; None where none does."""
    high = least
    while not reaches(high):
        if high >= most:
            return None
        high = min(2 * high, most)
    numbers = range(max(high // 2 + 1, least), high + 1)
    return numbers[bisect_left(numbers, True, key=reaches)]


def _power(n: int, difference: float, sd: float, level: float, least: int) -> float:
    """Power of the two-sided paired t test at a level; 0 for fewer HS than the randomisation test needs."""
    return 0.0 if n < max(least, 2) else noncentral_tails(n - 1, difference / sd * sqrt(n), level)


def noncentral_tails(df: int, shift: float, level: float) -> float:
    """Probability that noncentral t lies beyond the bounds of a two-sided t test at a level, integrated over the
    estimate of the standard deviation: `nct` of scipy 1.17 is NaN for many plans (10,000 HS, shift 5, level 0.05 / 66).
    """
    bound = float(scipy.stats.t.isf(level / 2, df))

    def density(s: float) -> float:
        beyond = scipy.special.ndtr(shift - bound * s) + scipy.special.ndtr(-shift - bound * s)
        return float(beyond * scipy.stats.chi.pdf(s * sqrt(df), df) * sqrt(df))

    ends = [float(scipy.stats.chi.ppf(at, df)) / sqrt(df) for at in (TAIL, 0.5, 1 - TAIL)]
    return sum(float(scipy.integrate.quad(density, *of)[0]) for of in pairwise(ends))
