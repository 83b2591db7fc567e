"""Whether texts look as if they had been picked by the extremes of a measure, which inflates its correlations.

CrowdCounter's Table 7 correlates a measure with ratings of the ten texts that it puts first and the ten that it puts
last: the middle, in which ratings follow a measure least, is not there.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SIDE = 0.25  # of the texts, which must be on either side of the middle
ALPHA_POPULATION, ALPHA_GAP = 0.001, 0.01
WIDE = 0.25  # of the range, which a gap must have at least
LEAST = 8  # texts, below which no gap is looked for
DISTINCT = 3  # values on either side of a gap: fewer are classes and not numbers


@dataclass(frozen=True)
class SelectionCheck:
    """Result of a test on `n` texts: `value` beyond `limit` gives the `warning`.

    By the `population`, `value` is the probability that so few of the texts are in its middle half, and must not be
    below the limit; by the `gap`, the share of the range of the measure that is empty, and must not be above it.
    `test` is None where nothing could be tested.
    """

    test: Literal["population", "gap"] | None
    n: int
    value: float | None = None
    limit: float | None = None
    warning: str | None = None


def check_selection(measure: Floats, population: Floats | None = None) -> SelectionCheck:
    """Whether texts with this measure, shape (n_texts,), look picked by its extremes.

    With a `population` (n,), from which they were taken: of texts that are taken at random as many as binomially
    distributed are in its middle half (first to third quartile). The warning is given where so few have a probability
    below 0.001, and a quarter of the texts is on either side.

    Without one: it is given where the widest gap between neighbouring values, with a quarter of the texts on either
    side, takes more of the range than 1 - (0.01 / k)^(1 / (n - 2)), k the number of gaps that could, and more than a
    quarter. That much is exceeded with a probability of at most 0.01 where the measure is uniform: each of the n - 1
    spacings of n - 2 points is longer than g with probability (1 - g)^(n - 2) (Pyke 1965,
    DOI 10.1111/j.2517-6161.1965.tb00602.x), and the k are added up.
    """
    if population is not None and len(population):
        return _check_by_population(measure, population)
    return _check_by_gap(measure)


def _check_by_population(measure: Floats, population: Floats) -> SelectionCheck:
    from scipy.special import bdtr

    n = len(measure)
    first, third = np.quantile(population, [0.25, 0.75])
    share = float(((population >= first) & (population <= third)).mean())
    below, above = int((measure < first).sum()), int((measure > third).sum())
    n_middle = n - below - above
    p = float(bdtr(n_middle, n, share))
    warning = None
    if p < ALPHA_POPULATION and min(below, above) >= SIDE * n:
        warning = (
            f"the texts look picked by the extremes of the measure: {n_middle} of {n} are in the middle half of its "
            f"population ({len(population):,} texts), which chance would leave so empty with p = {p:.1g}"
        )
    return SelectionCheck("population", n, p, ALPHA_POPULATION, warning)


def _check_by_gap(measure: Floats) -> SelectionCheck:
    n = len(measure)
    side = ceil(SIDE * n)
    ordered = np.sort(measure)
    if n < LEAST or ordered[0] == ordered[-1]:
        return SelectionCheck(None, n)
    gaps = np.diff(ordered)[side - 1 : n - side] / (ordered[-1] - ordered[0])
    at = int(gaps.argmax())
    if min(len(np.unique(part)) for part in np.split(ordered, [side + at])) < DISTINCT:
        return SelectionCheck(None, n)
    value, limit = float(gaps[at]), max(WIDE, 1 - (ALPHA_GAP / len(gaps)) ** (1 / (n - 2)))
    warning = None
    if value > limit:
        low, high = ordered[side + at - 1], ordered[side + at]
        warning = (
            f"the texts look picked by the extremes of the measure: none is between {low:.4g} and {high:.4g}, "
            f"{100 * value:.0f} % of its range (--population FILE tests this on all texts)"
        )
    return SelectionCheck("gap", n, value, limit, warning)
