"""Intervals of figures on a grid: how far a figure moves when one HS, one CN or one annotator is left out.

Pairs share HS, CN and annotators. What the delete-one jackknife gives for each of these, and for what they have in
common, adds up to one variance by inclusion and exclusion. `benchmarks/coverage.py` measures how often they hold.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.params import IntervalScope
from fcpair.records import Figure
from fcpair.sentences import Id, Sentence, mark, mark_plural, say, say_number
from fcpair.stages.stats.intervals import t_reach, with_note

NO_WIDTH = 1e-9  # a standard error below this comes from rounding

BISECTIONS = 40

FEW = 10  # sides and annotators fewer than this are pointed out: see the table in docs/reference/stages/07-agree.md


COUNTED = (
    mark_plural("%(n)s row", "%(n)s rows"),
    mark_plural("%(n)s column", "%(n)s columns"),
    mark_plural("%(n)s annotator", "%(n)s annotators"),
)
NAMES = (mark("row"), mark("rows"), mark("column"), mark("columns"), mark("annotator"))  # HS and CN are for all


class Cluster(StrEnum):
    """Unit that is left out, one at a time."""

    HS = "HS"
    CN = "CN"
    PAIR = "pair"
    ANNOTATOR = "annotator"
    HS_ANNOTATOR = "annotator's HS"
    CN_ANNOTATOR = "annotator's CN"
    LABEL = "label"


TEXTS = (Cluster.HS, Cluster.CN, Cluster.PAIR)
CLUSTERS: dict[IntervalScope, tuple[Cluster, ...]] = {"texts": TEXTS, "annotators": tuple(Cluster)}
# What is left out where only one side has several texts: a pair is one of its texts then.
ONE_SIDE_CLUSTERS = {
    Cluster.HS: (Cluster.HS, Cluster.ANNOTATOR, Cluster.HS_ANNOTATOR),
    Cluster.CN: (Cluster.CN, Cluster.ANNOTATOR, Cluster.CN_ANNOTATOR),
}


@dataclass(frozen=True)
class Sides:
    """Names of rows and columns in intervals; all pairs have the same text of the side `fixed`."""

    names: tuple[str, str] = ("HS", "CN")
    fixed: Cluster | None = None

    @property
    def free_sides(self) -> tuple[Cluster, ...]:
        """The sides of which intervals speak for new texts."""
        return tuple(side for side in ONE_SIDE_CLUSTERS if side is not self.fixed)

    def clusters_left_out(self, reach: IntervalScope) -> tuple[Cluster, ...]:
        """Clusters that are left out, one at a time."""
        if self.fixed is None:
            return CLUSTERS[reach]
        (side,) = self.free_sides
        return ONE_SIDE_CLUSTERS[side] if reach == "annotators" else (side,)

    def cluster_name(self, cluster: Cluster, n: int = 1) -> Sentence:
        """Name of `n` clusters of a kind; HS and CN have no plural."""
        word = str(cluster).replace("HS", self.names[0]).replace("CN", self.names[1])
        name = word + "s" * (n != 1 and word.islower())
        return say(name)

    def count(self, n_each: Mapping[Cluster, int]) -> list[Sentence]:
        """Number of clusters of each kind."""
        forms = {one.split()[1]: (one, many) for one, many in COUNTED}
        return [
            say_number(*forms[name], Id(n))
            if (name := self.cluster_name(side)) in forms
            else say("%(number)s %(side)s", number=Id(n), side=name)
            for side, n in n_each.items()
        ]

    @property
    def new_texts(self) -> Sentence:
        """The new texts that intervals speak for: `new HS and CN`."""
        return self.say_of_sides(mark("new %(row)s and %(column)s"), mark("new %(side)s"))

    def interval_scope(self, reach: IntervalScope) -> Sentence:
        """Describe what intervals speak for."""
        if reach == "texts":
            return self.say_of_sides(
                mark("new %(row)s and %(column)s, the same annotators"), mark("new %(side)s, the same annotators")
            )
        return self.say_of_sides(mark("new %(row)s, %(column)s and annotators"), mark("new %(side)s and annotators"))

    def say_of_sides(self, of_both: str, of_one: str, n: int = 2) -> Sentence:
        """A sentence about the sides of which intervals speak for new texts, with their names."""
        names = [self.cluster_name(side, n) for side in self.free_sides]
        return say(of_one, side=names[0]) if len(names) == 1 else say(of_both, row=names[0], column=names[1])


HS_AND_CN = Sides()


@dataclass(frozen=True)
class Spread:
    """The delete-one jackknife variance over `n` clusters of a kind; NaN where the figure is undefined without one."""

    variance: float
    n: int


Spreads = Mapping[Cluster, Spread]


def jackknife_spread(replicates: Floats, times: Ints | None = None) -> Spread:
    """(n - 1) / n times the sum of squares of the replicates about their mean: Efron and Stein (1981), DOI
    10.1214/aos/1176345462. `replicates` (n_values,) are the figure without one cluster each, or as many as `times`.
    """
    times = np.ones(len(replicates), dtype=np.int64) if times is None else times
    n = int(times.sum())
    return Spread(float((n - 1) / n * (times @ (replicates - times @ replicates / n) ** 2)), n)


def add_bounds(
    figure: Figure,
    spreads: Spreads,
    level: float,
    lowest: float = -1.0,
    sides: Sides = HS_AND_CN,
    variance_at: Callable[[float], float] | None = None,
) -> Figure:
    """The figure with its interval, or with the reason why it has none in its note.

    The interval is the value plus and minus t standard errors, cut off at `lowest` and 1, at confidence `level` (0 to
    1), with the degrees of freedom of the shortest side less one. With `variance_at`, the variance that the figure
    would have for a true value, it also holds every true value that is as near as t of the standard errors it would
    have, as where hardly any pair carries a rare class. Donner and Eliasziw (1992), DOI 10.1002/sim.4780111109, invert
    a test so for two labels of two classes.
    """
    if figure.value is None:
        return figure
    if why := no_interval_reason(spreads, sides):
        return with_note(figure, why)
    df = min(_side_sizes(spreads).values()) - 1
    reach = t_reach(df, standard_error(spreads), level)
    low, high = max(lowest, figure.value - reach), min(1.0, figure.value + reach)
    if variance_at is not None:
        t = t_reach(df, 1.0, level)
        low, high = (_farthest_within(figure.value, *ends, t, variance_at) for ends in ((low, lowest), (high, 1.0)))
    return replace(figure, low=low, high=high)


def _farthest_within(value: float, end: float, bound: float, t: float, variance_at: Callable[[float], float]) -> float:
    """The true value farthest from `value` that is within t standard errors, between `end` and `bound`."""
    inside, outside = end, bound
    for _ in range(BISECTIONS):
        middle = (inside + outside) / 2
        is_inside = (middle - value) ** 2 <= t**2 * variance_at(middle)
        inside, outside = (middle, outside) if is_inside else (inside, middle)
    return inside


def note_basis(figure: Figure, spreads: Spreads, sides: Sides = HS_AND_CN) -> Figure:
    """A figure of `add_bounds`, with a note on how many HS, CN and annotators its interval rests on, if it has one."""
    if figure.low is None:
        return figure
    n_each = _side_sizes(spreads)
    sizes, few = sides.count(n_each), sides.count({side: n for side, n in n_each.items() if n < FEW})
    wide = mark("interval from %(sizes)s; wide, because of only %(few)s")
    return with_note(figure, say(wide, sizes=sizes, few=few) if few else say("interval from %(sizes)s", sizes=sizes))


def _side_sizes(spreads: Spreads) -> dict[Cluster, int]:
    return {side: spreads[side].n for side in (Cluster.HS, Cluster.CN, Cluster.ANNOTATOR) if side in spreads}


def no_interval_reason(spreads: Spreads, sides: Sides = HS_AND_CN) -> Sentence | None:
    """That there is no interval, and why; None if there is one."""
    if short := {side: n for side, n in _side_sizes(spreads).items() if n < 2}:
        sizes = sides.count(short)
        return say("no interval: it needs at least 2 of each side, found %(sizes)s", sizes=sizes)
    for cluster, cluster_spread in spreads.items():
        if np.isnan(cluster_spread.variance):
            return say("no interval: without one %(side)s the figure is undefined", side=sides.cluster_name(cluster))
    if standard_error(spreads) < NO_WIDTH:
        return sides.say_of_sides(
            mark(
                "no interval: leaving out any one %(row)s or %(column)s changes nothing, so the error cannot be "
                "estimated"
            ),
            mark("no interval: leaving out any one %(side)s changes nothing, so the error cannot be estimated"),
            n=1,
        )
    return None


def standard_error(spreads: Spreads) -> float:
    """The root of V = V_HS + V_CN - V_pair, at least V_pair; of one side, V is that side's.

    Where `spreads` has annotators, V_annotator - V_HS,annotator - V_CN,annotator + V_label, or V_annotator -
    V_side,annotator, is added if it is positive. Source: Cameron, Gelbach and Miller (2011), DOI
    10.1198/jbes.2010.07136, with jackknife variances of clusters, because the figures are not linear.
    """
    variance = {cluster: found.variance for cluster, found in spreads.items()}
    pair, label = variance.get(Cluster.PAIR, 0.0), variance.get(Cluster.LABEL, 0.0)
    total = max(sum(variance.get(side, 0.0) for side in ONE_SIDE_CLUSTERS) - pair, pair)
    if Cluster.ANNOTATOR in variance:
        shared = sum(variance.get(one, 0.0) for _, _, one in ONE_SIDE_CLUSTERS.values()) - label
        total += max(0.0, variance[Cluster.ANNOTATOR] - shared)
    return float(np.sqrt(total))
