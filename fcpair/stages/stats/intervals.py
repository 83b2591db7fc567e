"""Parts of every interval at 95 %: its ends or why there are none, the draws that may carry one, Student's reach."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import atanh, isfinite, tanh
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fcpair.errors import InputError
from fcpair.records import Figure
from fcpair.stages.stats.beta_distribution import t_quantile

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
        return Interval(note="no interval, as it is at its bound")
    z, z_reach = atanh(scaled), reach / half / (1 - scaled**2)
    return Interval(middle + half * tanh(z - z_reach), middle + half * tanh(z + z_reach))


def wilson_intervals(n_yes: npt.ArrayLike, n: npt.ArrayLike) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
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
    return replace(figure, note="; ".join(filter(None, [figure.note, remark])))
