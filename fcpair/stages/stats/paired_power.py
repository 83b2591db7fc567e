"""How many HS tell two systems apart, by the test that `evaluate` prints.

The power of the paired randomisation test is that of the paired t test, whose distribution is known exactly: on
differences that are not far from normal the two reject alike (Smucker, Allan and Carterette 2007,
https://doi.org/10.1145/1321440.1321528). With several comparisons the smallest p-value is held against alpha by their
number, as Holm's correction does first; so the number of HS is enough whatever the other comparisons give.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any

from fcpair.errors import InputError
from fcpair.notebook import Result, frame_of
from fcpair.param_values import as_params
from fcpair.params import Power
from fcpair.stages.stats.paired_tests import needed_hs

if TYPE_CHECKING:
    import pandas as pd

MOST_HS = 1_000_000
TAIL = 1e-12  # of the estimates of a standard deviation, which is left out on each side
FACTORS = (0.5, 1.0, 1.5, 2.0, 3.0)  # of the difference, for which a plan says how many HS it takes
COLUMNS = ("difference", "hs", "power")


@dataclass(frozen=True)
class NeededHs:
    """HS that it takes to find a difference, and the power that the test has with as many."""

    difference: float
    hs: int
    power: float


@dataclass(frozen=True, repr=False)
class PowerPlan(Result):
    """HS that it takes to find a difference of two systems, as wished and for others that are smaller and greater.

    `sd` is the standard deviation of the difference over HS; `known` the power that the HS of the study have, None
    without one. `basis` says where the standard deviation comes from.
    """

    options: Power
    alpha: float
    sd: float
    needed: NeededHs
    others: tuple[NeededHs, ...]
    known: NeededHs | None
    basis: tuple[str, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row for each difference: `difference`, `hs` and `power`."""
        return frame_of(map(vars, self.others), COLUMNS)

    def _summary(self) -> str:
        return (
            f"{self.needed.hs:,} HS find a difference of {self.needed.difference:g} with power {self.options.power:g}"
        )

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return {**asdict(self), "options": as_params(self.options)}


def plan_hs(options: Power, alpha: float, sd: float, basis: str, n_hs: int | None = None) -> PowerPlan:
    """The number of HS that find a difference as often as wished, and those for other differences.

    Args:
        options: the difference, the power, and the number of comparisons.
        alpha: below which a corrected p-value counts as significant.
        sd: standard deviation of the difference over HS, above 0.
        basis: where it comes from.
        n_hs: the HS of the study, whose power is said then.

    Raises:
        InputError: more than a million HS would be needed.
    """
    level = alpha / options.comparisons
    least = needed_hs(options.comparisons, alpha)
    needed = _needed(options.difference, sd, options.power, level, least)
    if needed is None:
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

    def reaches(n: int) -> bool:
        return _power(n, difference, sd, level, least) >= power

    n = _least_number(reaches, least)
    return None if n is None else NeededHs(difference, n, _power(n, difference, sd, level, least))


def _least_number(reaches: Callable[[int], bool], least: int) -> int | None:
    low, high = least - 1, least
    while not reaches(high):
        low, high = high, 2 * high
        if high > MOST_HS:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high


def _power(n: int, difference: float, sd: float, level: float, least: int) -> float:
    """Power of the two-sided paired t test at a level; 0 for fewer HS than the randomisation test needs."""
    if n < max(least, 2):
        return 0.0
    return noncentral_tails(n - 1, difference / sd * sqrt(n), level)


def noncentral_tails(df: int, shift: float, level: float) -> float:
    """How probable it is that noncentral t lies beyond the bounds of a two-sided t test at a level.

    Integrated over the estimate of the standard deviation, as scipy's own distribution is NaN for large shifts.
    """
    from scipy.integrate import quad
    from scipy.special import ndtr
    from scipy.stats import chi, t

    bound = float(t.isf(level / 2, df))

    def density(s: float) -> float:
        beyond = ndtr(shift - bound * s) + ndtr(-shift - bound * s)
        return float(beyond * chi.pdf(s * sqrt(df), df) * sqrt(df))

    ends = [float(chi.ppf(at, df)) / sqrt(df) for at in (TAIL, 0.5, 1 - TAIL)]
    return float(quad(density, ends[0], ends[1])[0] + quad(density, ends[1], ends[2])[0])
