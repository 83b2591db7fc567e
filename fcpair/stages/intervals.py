"""Intervals of figures on a grid: how far a figure moves when one HS, one CN or one annotator is left out.

The pairs of a grid are not independent: they share HS and CN, and annotators. What the delete-one jackknife gives for
each of these, and for what they have in common, adds up to one variance by inclusion and exclusion. It draws nothing
at random, so the same labels always give the same interval. How often such intervals hold the true value is measured
by `benchmarks/coverage.py`; docs/07-agree.md has the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from fcpair.params import Reach
from fcpair.records import Figure

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

NO_WIDTH = 1e-9
"""A standard error below this comes from rounding."""

FEW = 10
"""Sides and annotators fewer than this are pointed out: see the table in docs/07-agree.md."""


class Cluster(StrEnum):
    """What is left out, one at a time."""

    HS = "HS"
    CN = "CN"
    PAIR = "pair"
    ANNOTATOR = "annotator"
    HS_ANNOTATOR = "annotator's HS"
    CN_ANNOTATOR = "annotator's CN"
    LABEL = "label"


TEXTS = (Cluster.HS, Cluster.CN, Cluster.PAIR)
CLUSTERS: dict[Reach, tuple[Cluster, ...]] = {"texts": TEXTS, "annotators": tuple(Cluster)}
FOR: dict[Reach, str] = {"texts": "new HS and CN, the same annotators", "annotators": "new HS, CN and annotators"}


@dataclass(frozen=True)
class Spread:
    """The delete-one jackknife variance over `n` clusters of a kind.

    It is NaN where the figure is undefined without one of them.
    """

    variance: float
    n: int


Spreads = Mapping[Cluster, Spread]


def spread(replicates: Floats, times: Ints | None = None) -> Spread:
    """(n - 1) / n times the sum of squares of the replicates about their mean.

    `replicates` (n_values,) are the figure without one cluster each; `times` (n_values,), if given, says for how many
    clusters each of them stands. Source: Efron and Stein (1981), DOI 10.1214/aos/1176345462.
    """
    times = np.ones(len(replicates), dtype=np.int64) if times is None else times
    n = int(times.sum())
    about_mean = replicates - times @ replicates / n
    return Spread(float((n - 1) / n * (times @ about_mean**2)), n)


def bounded(figure: Figure, spreads: Spreads, level: float, lowest: float = -1.0) -> Figure:
    """The figure with its interval, or with the reason why it has none in its note.

    The interval is the value plus and minus t standard errors, cut off at `lowest` and 1, at confidence `level` (0 to
    1). The degrees of freedom are those of the shortest side less one: of HS and CN, and of annotators where `spreads`
    has them.
    """
    if figure.value is None:
        return figure
    if why := why_none(spreads):
        return _noted(figure, f"no interval: {why}")
    from scipy.special import stdtrit

    reach = float(stdtrit(min(_sides(spreads).values()) - 1, (1 + level) / 2)) * standard_error(spreads)
    return replace(figure, low=max(lowest, figure.value - reach), high=min(1.0, figure.value + reach))


def with_interval(figure: Figure, spreads: Spreads, level: float, lowest: float = -1.0) -> Figure:
    """The same as `bounded`, with a note on how many HS, CN and annotators the interval rests on."""
    found = bounded(figure, spreads, level, lowest)
    return found if found.low is None else _noted(found, _basis(spreads))


def _noted(figure: Figure, remark: str) -> Figure:
    return replace(figure, note="; ".join(filter(None, [figure.note, remark])))


def _sides(spreads: Spreads) -> dict[Cluster, int]:
    sides = (Cluster.HS, Cluster.CN, Cluster.ANNOTATOR)
    return {side: spreads[side].n for side in sides if side in spreads}


def _counted(sides: Mapping[Cluster, int]) -> str:
    return ", ".join(f"{n} {side}{'s' * (side is Cluster.ANNOTATOR and n != 1)}" for side, n in sides.items())


def _basis(spreads: Spreads) -> str:
    sides = _sides(spreads)
    few = {side: n for side, n in sides.items() if n < FEW}
    return f"interval from {_counted(sides)}" + (f"; wide, because of only {_counted(few)}" if few else "")


def why_none(spreads: Spreads) -> str | None:
    """Why there is no interval; None where there is one."""
    sides = _sides(spreads)
    if short := {side: n for side, n in sides.items() if n < 2}:
        return f"it takes at least 2 of each side, found {_counted(short)}"
    for cluster, found in spreads.items():
        if np.isnan(found.variance):
            return f"without one {cluster} the figure is undefined"
    if standard_error(spreads) < NO_WIDTH:
        return "leaving out any one HS or CN changes nothing, so the error cannot be estimated"
    return None


def standard_error(spreads: Spreads) -> float:
    """The root of V = V_HS + V_CN - V_pair, at least V_pair, so that no interval is narrower than for free pairs.

    Where `spreads` has annotators, V_annotator - V_HS,annotator - V_CN,annotator + V_label is added if it is positive.
    Source: Cameron, Gelbach and Miller (2011), DOI 10.1198/jbes.2010.07136, whose variances of clusters are jackknife
    variances here, because the figures are not linear.
    """
    variance = {cluster: found.variance for cluster, found in spreads.items()}
    pair = variance[Cluster.PAIR]
    total = max(variance[Cluster.HS] + variance[Cluster.CN] - pair, pair)
    if Cluster.ANNOTATOR in variance:
        shared = variance[Cluster.HS_ANNOTATOR] + variance[Cluster.CN_ANNOTATOR] - variance[Cluster.LABEL]
        total += max(0.0, variance[Cluster.ANNOTATOR] - shared)
    return float(np.sqrt(total))
