"""The evaluation as the report shows it: pictures, rows of tables, and names without folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fcpair.evaluate.outcome import Comparison, Concordance, Outcome, Score, Spread, TierFacts, group_by_system
from fcpair.report import formatting
from fcpair.report.data import EvaluationFigures
from fcpair.report.figures import grid_map
from fcpair.report.figures.captions import significance_cautions
from fcpair.report.figures.evaluation_figures import png
from fcpair.report.figures.labels import make_printable


@dataclass(frozen=True)
class EvaluationTables:
    """An evaluation, ready to be shown; `outcome` has names without folders.

    `scores` has the rows of each tier and `spreads` those over tiers, by system; `differences` are the significant
    ones, and `cautions` say where none could be; `taus` has a row for every two tiers, with a cell for each of
    `compared`, the measures that rank systems.
    """

    outcome: Outcome
    pictures: tuple[tuple[str, grid_map.Image], ...]
    scores: tuple[tuple[TierFacts, list[tuple[str, list[Score]]]], ...]
    spreads: list[tuple[str, list[Spread]]]
    differences: tuple[Comparison, ...]
    cautions: tuple[str, ...]
    compared: tuple[str, ...]
    taus: list[tuple[str, list[Concordance]]]


def evaluation_tables(figures: EvaluationFigures) -> EvaluationTables:
    """The pictures and tables of an evaluation."""
    outcome = strip_folders(figures.outcome)
    return EvaluationTables(
        outcome=outcome,
        pictures=tuple((measure, _picture(outcome, measure)) for measure in outcome.measures),
        scores=tuple(
            (tier, group_by_system([score for score in outcome.scores if score.tier == tier.tier]))
            for tier in outcome.tiers
        ),
        spreads=group_by_system(outcome.spreads),
        differences=tuple(test for test in outcome.comparisons if test.is_significant),
        cautions=tuple(significance_cautions(outcome)),
        compared=tuple(dict.fromkeys(one.measure for one in outcome.concordances)),
        taus=_tau_rows(outcome),
    )


def _picture(outcome: Outcome, measure: str) -> grid_map.Image:
    return grid_map.Image(lambda theme: png(outcome, measure, theme.inks))


def _tau_rows(outcome: Outcome) -> list[tuple[str, list[Concordance]]]:
    """Nothing for a single system, which has no ranking among others."""
    if len(outcome.systems) < 2:
        return []
    pairs = dict.fromkeys((item.one, item.other) for item in outcome.concordances)
    return [
        (f"{item.capitalize()}, {other.capitalize()}", [c for c in outcome.concordances if (c.one, c.other) == pair])
        for pair in pairs
        for item, other in [pair]
    ]


def strip_folders(outcome: Outcome) -> Outcome:
    """The outcome with systems and pool named without folders, which are the study lead's own affair."""
    shorts = _number_repeats([make_printable(formatting.file_name(system.short)) for system in outcome.systems])
    names = _number_repeats([make_printable(formatting.file_name(system.name)) for system in outcome.systems])
    short_by_system = {system.short: short for system, short in zip(outcome.systems, shorts, strict=True)}
    return replace(
        outcome,
        pool=formatting.file_name(outcome.pool),
        systems=tuple(
            replace(system, name=name, short=short_by_system[system.short])
            for system, name in zip(outcome.systems, names, strict=True)
        ),
        scores=tuple(replace(score, system=short_by_system[score.system]) for score in outcome.scores),
        spreads=tuple(replace(spread, system=short_by_system[spread.system]) for spread in outcome.spreads),
        comparisons=tuple(
            replace(test, one=short_by_system[test.one], other=short_by_system[test.other])
            for test in outcome.comparisons
        ),
    )


def _number_repeats(names: Sequence[str]) -> list[str]:
    """The names, with a number where one is duplicated, as those of files from two folders may."""
    repeated = {name for name in names if names.count(name) > 1}
    return [f"{name} ({names[: at + 1].count(name)})" if name in repeated else name for at, name in enumerate(names)]
