"""Parts of every interval at 95 %: its ends or why there are none, Student's reach, and intervals by drawing.

scipy has Student's t and the F distribution, but takes 28 MB and 0.1 s or more to load, which the process of the lead's
pages would need for a quantile and a tail; so both are here, on the incomplete beta function. A test compares them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import atanh, exp, isfinite, lgamma, log, nan, pi, tanh
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
SAME = 1e-12  # what two means may differ by and still be the same, floating point being what it is
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
    """The interval of a value that lies between `low` and `high`; none for a value at a bound.

    Fisher's z of the value, scaled to (-1, 1), reaches as far to each side as `reach` is by the delta method: Fisher
    (1921), Metron 1, 3-32. Where a bound is infinite, the value itself does.
    """
    if not (isfinite(low) and isfinite(high)):
        return Interval(value - reach, value + reach)
    middle, half = (low + high) / 2, (high - low) / 2
    if abs(scaled := (value - middle) / half) >= 1:
        return Interval(note=say("no interval, as it is at its bound"))
    z, z_reach = atanh(scaled), reach / half / (1 - scaled**2)
    return Interval(middle + half * tanh(z - z_reach), middle + half * tanh(z + z_reach))


def wilson_intervals(n_yes: npt.ArrayLike, n: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Wilson's intervals at 95 % of shares, `n_yes` of `n` (1 or more): DOI 10.1080/01621459.1927.10502953."""
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
MANY = 1_000  # degrees of freedom from which four terms of the asymptotic series are exact to 1e-13


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularized incomplete beta function I_x(a, b) for `a`, `b` > 0 and `x` in [0, 1], of which `rest` is 1 - x:
    the continued fraction of DLMF 8.17.22, https://dlmf.nist.gov/8.17, by Lentz's method.
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
    """The quantile of Student's t at `p` in (0.5, 1); NaN unless `df` is above 0. From `MANY` degrees of freedom on by
    Abramowitz and Stegun 26.7.5; below by Newton's method, which never oversteps, as the tail is convex.
    """
    if not df > 0:
        return nan
    z = NormalDist().inv_cdf(p)
    if df >= MANY:
        terms = (
            (z**3 + z) / 4,
            (5 * z**5 + 16 * z**3 + 3 * z) / 96,
            (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
            (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
        )
        return z + sum(term / df**power for power, term in enumerate(terms, 1))
    t, log_constant = z, lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    for _ in range(100):
        total = df + t * t
        too_much = incomplete_beta(df / 2, 0.5, df / total, t * t / total) / 2 - (1 - p)
        step = too_much / exp(log_constant - (df + 1) / 2 * log(total / df))
        t += step
        if abs(step) <= 1e-14 * t:
            break
    return t


MAX_UNDEFINED_SHARE = 0.05  # of draws that may leave a figure undefined; those are left out, and the note says so
NO_WIDTH = 1e-12
FEW = 10  # of what is drawn: percentiles over fewer are too narrow more often than not


def resample_sums(sums: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """The total of as many clusters as there are, drawn with replacement: blocks of shape (n_draws, n_sums). `sums`
    (n_clusters, n_sums) is what each adds; those that add the same are drawn together, so that no order counts.
    """
    rng = np.random.default_rng(seed)
    kinds, times = np.unique(sums, axis=0, return_counts=True)
    for n in block_sizes(draws, len(kinds)):
        yield rng.multinomial(len(sums), times / len(sums), n) @ kinds


def with_percentiles(figure: Figure, values: Floats, basis: str) -> Figure:
    """The figure with the central 95 % of what was drawn, (n_draws,), or the reason for none in its note: Efron (1979),
    DOI 10.1214/aos/1176344552. Undefined draws (NaN) are left out if at most one in twenty. `basis` is for the note.
    """
    if figure.value is None:
        return figure
    defined = values[~np.isnan(values)]
    if (n_undefined := len(values) - len(defined)) > MAX_UNDEFINED_SHARE * len(values):
        return with_note(figure, f"no interval: undefined in {n_undefined:,} of {len(values):,} draws of {basis}")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if high - low < NO_WIDTH:
        return with_note(figure, f"no interval: every draw of {basis} gives the same, so the error cannot be estimated")
    left_out = f", {plural(n_undefined, 'undefined draw')} left out" if n_undefined else ""
    return replace(with_note(figure, f"interval from {basis}{left_out}"), low=float(low), high=float(high))


def plural(n: int, word: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def describe_sample(n: int, word: str) -> str:
    """Describe what an interval rests on, and say that it is likely too narrow where that is little."""
    return plural(n, word) + ", so few that it is likely too narrow" * (n < FEW)


METHOD = "Bayesian bootstrap over HS"
LEAST_HS = 5  # with three an interval spans 0.58 of the scale on average, and covers 0.84 at worst
END = 0.5  # of an HS, at each end of the scale
TAIL = (1 - LEVEL) / 2


def mean_intervals(values: Floats, reach: Floats, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Intervals at 95 % of the means over the population that the HS are drawn from.

    `values` has one row per HS and one column per figure, `(n_hs, n_figures)`, `reach`, `(2, n_figures)`, the least and
    the greatest value of each. All figures share the draws. Returns the lower and the upper bounds, `(n_figures,)`; NaN
    with fewer than five HS. Raises InputError for fewer than 100 draws, or more than a million.

    The HS get random weights, Dirichlet(1, ..., 1), together with half an HS at each end of the scale: Rubin 1981, The
    Bayesian bootstrap, https://doi.org/10.1214/aos/1176345338, made the interval of Jeffreys where every score is 0 or
    1. As Brown, Cai and DasGupta 2001, https://doi.org/10.1214/ss/1009213286, mend that one: where all HS stand at one
    end, the other bound is that of Clopper and Pearson 1934, https://doi.org/10.1093/biomet/26.4.404, and where all but
    one do, the interval reaches that end. Coverage: `benchmarks/score_coverage.py`.
    """
    check_resamples(draws)
    n_hs, n_figures = values.shape
    if n_hs < LEAST_HS:
        return np.full(n_figures, np.nan), np.full(n_figures, np.nan)
    least, span = reach[0], reach[1] - reach[0]
    scaled = np.sort((values - least) / span, axis=0)
    rng, shape = np.random.default_rng(seed), np.array([1.0] * n_hs + [END, END])
    means = []
    for size in block_sizes(draws, len(shape)):
        weights = rng.standard_gamma(shape, (size, len(shape)))
        weights /= weights.sum(axis=1, keepdims=True)
        means.append(weights[:, :n_hs] @ scaled + weights[:, -1:])
    low, high = np.quantile(np.concatenate(means), [TAIL, 1 - TAIL], axis=0)
    # where the HS, all or all but one, stand at one end of the scale
    n_above, n_below = (scaled > SAME).sum(axis=0), (scaled < 1 - SAME).sum(axis=0)
    unseen = TAIL ** (1 / n_hs)
    low, high = np.where(n_below == 0, unseen, low), np.where(n_above == 0, 1 - unseen, high)
    low, high = np.where(n_above <= 1, 0.0, low), np.where(n_below <= 1, 1.0, high)
    mean = scaled.mean(axis=0)  # which a constant very near an end could otherwise leave outside
    return least + span * np.minimum(low, mean), least + span * np.maximum(high, mean)
