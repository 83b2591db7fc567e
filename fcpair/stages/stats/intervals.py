"""Parts of every interval at 95 %: its ends or why there are none, the draws that may carry one, Student's reach.

Student's t and the F distribution rest on the incomplete beta function. scipy has these, but its special functions
cost 28 MB and 0.1 s or more to load, which the process of the lead's pages would need for a quantile of t (agreement)
and a tail of F (whether pairs of a text are alike). The standard library has the normal distribution alone. A test
compares ours with scipy's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import atanh, exp, inf, isfinite, lgamma, log, nan, pi, tanh
from statistics import NormalDist
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fcpair.arrays import Floats
from fcpair.errors import InputError
from fcpair.records import Figure
from fcpair.sentences import join, mark, say

LEVEL = 0.95
Z = 1.959963984540054  # of a normal distribution, at 0.975
LEAST_RESAMPLES, MOST_RESAMPLES = 100, 1_000_000
BLOCK_CELLS = 4_000_000  # numbers in memory for one block of draws


class Interval(NamedTuple):
    """The ends of an interval; both are None where `note` says why there is none."""

    low: float | None = None
    high: float | None = None
    note: str = ""


def t_reach(df: float, error: float, level: float = LEVEL) -> float:
    """Reach of an interval to each side: Student's quantile at `level` (0 to 1) times the standard error."""
    return t_quantile(df, (1 + level) / 2) * error


def interval_within(value: float, reach: float, low: float, high: float) -> Interval:
    """The interval of a value that lies between `low` and `high`, which it does not pass.

    Fisher's z of the value, scaled to (-1, 1), reaches as far to each side as `reach` is by the delta method: Fisher
    (1921), Metron 1, 3-32. Where a bound is infinite, the value itself does. There is none for a value at a bound.
    """
    if not (isfinite(low) and isfinite(high)):
        return Interval(value - reach, value + reach)
    middle, half = (low + high) / 2, (high - low) / 2
    scaled = (value - middle) / half
    if abs(scaled) >= 1:
        return Interval(note=say("no interval, as it is at its bound"))
    z, z_reach = atanh(scaled), reach / half / (1 - scaled**2)
    return Interval(middle + half * tanh(z - z_reach), middle + half * tanh(z + z_reach))


def wilson_intervals(n_yes: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Wilson's intervals at 95 % of shares, `n_yes` of `n` (1 or more), elementwise.

    Wilson (1927), DOI 10.1080/01621459.1927.10502953.
    """
    from statsmodels.stats.proportion import proportion_confint

    yes, total = np.asarray(n_yes), np.asarray(n)
    low, high = proportion_confint(yes, total, alpha=1 - LEVEL, method="wilson")
    return np.where(yes == 0, 0.0, low), np.where(yes == total, 1.0, high)  # which rounding misses


def check_resamples(resamples: int) -> None:
    """Raise InputError unless so many resamples can carry an interval or a test, and fit in memory."""
    if not LEAST_RESAMPLES <= resamples <= MOST_RESAMPLES:
        raise InputError(f"resamples is {resamples}; expected {LEAST_RESAMPLES} to {MOST_RESAMPLES:,}")


def block_sizes(n: int, width: int) -> Iterator[int]:
    """Sizes of the blocks in which `n` draws of `width` numbers, 1 or more, are made, until all are made."""
    rows = max(1, BLOCK_CELLS // width)
    return (min(rows, n - start) for start in range(0, n, rows))


def with_note(figure: Figure, remark: str) -> Figure:
    """The figure with one more remark in its note."""
    return replace(figure, note=join([figure.note, remark], mark("; ")) if figure.note else remark)


TINY, PRECISION = 1e-300, 1e-16
N_TERMS = 10_000  # far more than are needed: some sqrt(a) or sqrt(b)
N_STEPS = 100
MANY = 1_000  # degrees of freedom from which four terms of the asymptotic series are exact to 1e-13


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularized incomplete beta function I_x(a, b) for `a`, `b` > 0 and `x` in [0, 1], of which `rest` is 1 - x.

    By the continued fraction of DLMF 8.17.22, https://dlmf.nist.gov/8.17, evaluated by Lentz's method.
    """
    if x <= 0 or rest <= 0:
        return float(x > 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest))
    upper = 1.0
    lower = 1 / (1 - (a + b) * x / (a + 1) or TINY)
    value = lower
    for m in range(1, N_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1 / (1 + term * lower or TINY)
            upper = 1 + term / upper or TINY
            value *= lower * upper
        if abs(lower * upper - 1) < PRECISION:
            break
    return front * value / a


def f_tail(df1: float, df2: float, value: float) -> float:
    """The chance that a value of the F distribution is above `value`, which is at least 0."""
    total = df2 + df1 * value
    return incomplete_beta(df2 / 2, df1 / 2, df2 / total, df1 * value / total)


def t_quantile(df: float, p: float) -> float:
    """The quantile of Student's t at `p` in (0.5, 1); NaN unless `df`, the degrees of freedom, is above 0.

    From `MANY` on by Abramowitz and Stegun 26.7.5; below by Newton's method, from the normal quantile: as the tail is
    convex, no step goes beyond the quantile.
    """
    if not df > 0:
        return nan
    z = NormalDist().inv_cdf(p)
    if df >= MANY:
        return z if df == inf else _t_of_many(df, z)
    t, log_constant = z, lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    for _ in range(N_STEPS):
        total = df + t * t
        too_much = incomplete_beta(df / 2, 0.5, df / total, t * t / total) / 2 - (1 - p)
        step = too_much / exp(log_constant - (df + 1) / 2 * log(total / df))
        t += step
        if abs(step) <= 1e-14 * t:
            break
    return t


def _t_of_many(df: float, z: float) -> float:
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / df**power for power, term in enumerate(terms, 1))
