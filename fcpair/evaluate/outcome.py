"""Results of an evaluation: plain records, which tables, figures, JSON and the report are made from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, TypeVar

from fcpair.notebook import Plotted, column_names
from fcpair.param_values import as_params, from_params
from fcpair.records import SampleSize
from fcpair.sentences import Id, mark, say_number
from fcpair.stages.stats.intervals import LEAST_HS

NO_HS = mark("no HS of the tier has an appropriate CN in the pool")
SCORING = mark("Scoring")  # what comes after the systems have ranked
AVERAGE = "average"  # the row over HitRatio, MRR, NDCG and MAP, as in FC-CONAN's Table 4
ALPHA = 0.05  # below it a corrected p-value counts as significant


@dataclass(frozen=True)
class TierFacts:
    """Facts that a tier's figures rest on, counted within the pool: `hs` x `pool` = `cells`, of which `judged` are
    judged in the tier and `positive` of them appropriate; `outside` more have a CN that is not in the pool.
    """

    tier: str
    rule: str
    hs: int
    pool: int
    cells: int
    judged: int
    positive: int
    outside: int
    without_positives: int


@dataclass(frozen=True)
class SystemFacts:
    """A system: its full name, the short one that tables use, what a reader must know of its ranking, its model."""

    name: str
    short: str
    notes: tuple[str, ...] = ()
    model: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Score:
    """A measure of a system on a tier: means over `n` HS, from 0 to 1.

    `score` counts unjudged pairs as not appropriate, `low` to `high` is its interval at 95 %; the other four are as in
    `fcpair.evaluate.evaluation.Readings`. `expected`: the exact expectation of a random order, which has no interval
    and no bounds. `undefined` says why a figure is None.
    """

    tier: str
    system: str
    measure: str
    n: int
    score: float | None
    low: float | None = None
    high: float | None = None
    left_out: float | None = None
    right: float | None = None
    lowest: float | None = None
    highest: float | None = None
    expected: bool = False
    undefined: str | None = None


@dataclass(frozen=True)
class Spread:
    """A measure of a system over the tiers, as in FC-CONAN's Table 4; `measure` is `average` for the last row. Mean,
    minimum and maximum are rounded to 4 decimals, `cv`, the population coefficient of variation in percent, to 1; the
    average of these rounded figures to 4 and 3. `cv` is None where the mean is 0.
    """

    system: str
    measure: str
    n_tiers: int
    mean: float | None
    minimum: float | None
    maximum: float | None
    cv: float | None
    expected: bool = False
    undefined: str | None = None


@dataclass(frozen=True)
class Comparison:
    """A paired randomisation test between two systems on a tier, over `n` HS: `one` minus `other`; `p_holm` is
    corrected over all pairs of systems for this tier and measure.
    """

    tier: str
    measure: str
    one: str
    other: str
    n: int
    difference: float
    p: float
    p_holm: float

    @property
    def is_significant(self) -> bool:
        """Return whether the corrected p-value is below 0.05."""
        return self.p_holm < ALPHA


@dataclass(frozen=True)
class Concordance:
    """Kendall's tau-b between the rankings of `n_systems` systems on two tiers, -1 to 1; None where undefined."""

    measure: str
    one: str
    other: str
    n_systems: int
    tau: float | None
    undefined: str | None = None


@dataclass(frozen=True, repr=False)
class Outcome(Plotted):
    """Everything that an evaluation found; the order of tiers, systems and measures is that of the figures.

    `simulated` is what a reader must know where answers were made up. `interval` is how the intervals were made; an
    outcome of before 0.4 does not say, and has percentile bootstraps. `gains` says what NDCG takes for gains where the
    labels are grades. `sampled` says how many cells were drawn where the grid is not whole.
    """

    pool: str
    no_positives: str
    resamples: int
    seed: int
    measures: tuple[str, ...]
    tiers: tuple[TierFacts, ...]
    systems: tuple[SystemFacts, ...]
    scores: tuple[Score, ...]
    spreads: tuple[Spread, ...]
    comparisons: tuple[Comparison, ...]
    concordances: tuple[Concordance, ...]
    simulated: str | None = None
    interval: str = "percentile bootstrap over HS"
    gains: str | None = None
    sampled: SampleSize | None = None

    @property
    def n_pairs(self) -> int:
        """Number of pairs of systems tested for each tier and measure: the family of Holm's correction."""
        return len(self.systems) * (len(self.systems) - 1) // 2

    columns = column_names(Score)

    def rows(self) -> Iterable[dict[str, Any]]:
        """A row for each tier, system and measure; the columns are the fields of `Score`."""
        return map(vars, self.scores)

    def _summary(self) -> str:
        systems, tiers = [system.short for system in self.systems], [tier.tier for tier in self.tiers]
        is_single = len(systems) == len(tiers) == 1
        figures: Sequence[str] = self.measures
        if is_single:
            scores = [(of.measure, of.score) for of in self.scores if not of.expected]
            figures = [f"{name} {'undefined' if score is None else f'{score:.4f}'}" for name, score in scores]
        return f"{', '.join(systems)} on {', '.join(tiers)}{': ' if is_single else ', by '}{', '.join(figures)}"

    def as_data(self) -> dict[str, Any]:
        """The outcome as JSON has it."""
        return {name: value for name, value in as_params(self).items() if name != "sampled" or value}

    @classmethod
    def from_data(cls, data: Mapping[str, Any]) -> Outcome:
        """The outcome that `as_data` gave."""
        return from_params(cls, data)


def undefined_reason(n: int) -> str | None:
    """The reason why a mean over so many HS, or its interval, is undefined."""
    if not n or n >= LEAST_HS:
        return None if n else NO_HS
    return say_number(
        "%(n)s HS gives no interval; it takes %(least)s or more",
        "%(n)s HS give no interval; it takes %(least)s or more",
        Id(n),
        least=Id(LEAST_HS),
    )


Row = TypeVar("Row", Score, Spread)


def group_by_system(rows: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    """The rows of each system under its name; those of a random order under one that says what they are."""
    kinds = dict.fromkeys((row.system for row in rows if row.expected), ", one draw")
    groups = groupby(
        rows, key=lambda row: row.system + (", expectation" if row.expected else kinds.get(row.system, ""))
    )
    return [(name, list(system_rows)) for name, system_rows in groups]


def drop_random_draws(rows: Sequence[Row]) -> list[Row]:
    """The rows, of a system that ranks at random only those of its exact expectation."""
    random_systems = {row.system for row in rows if row.expected}
    return [row for row in rows if row.expected or row.system not in random_systems]
