"""The evaluation as the report shows it: pictures, rows of tables, and names without folders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fcpair.evaluate.outcome import Comparison, Concordance, Outcome, Score, Spread, TierFacts, by_system
from fcpair.report import formatting
from fcpair.report.data import EvaluationFigures
from fcpair.report.figures import grid_map
from fcpair.report.figures.captions import cautions
from fcpair.report.figures.evaluation_figures import png
from fcpair.report.figures.labels import plain
from fcpair.report.figures.layout import Inks
from fcpair.report.figures.map_colours import hexadecimal


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


def evaluation_tables(found: EvaluationFigures) -> EvaluationTables:
    """The pictures and tables of an evaluation."""
    outcome = without_folders(found.outcome)
    return EvaluationTables(
        outcome=outcome,
        pictures=tuple((measure, _picture(outcome, measure)) for measure in outcome.measures),
        scores=tuple(
            (tier, by_system([score for score in outcome.scores if score.tier == tier.tier])) for tier in outcome.tiers
        ),
        spreads=by_system(outcome.spreads),
        differences=tuple(test for test in outcome.comparisons if test.significant),
        cautions=tuple(cautions(outcome)),
        compared=tuple(dict.fromkeys(one.measure for one in outcome.concordances)),
        taus=_taus(outcome),
    )


def _picture(outcome: Outcome, measure: str) -> grid_map.Image:
    return grid_map.in_both(
        lambda theme: png(outcome, measure, Inks(page=hexadecimal(theme.page), ink=hexadecimal(theme.ink)))
    )


def _taus(outcome: Outcome) -> list[tuple[str, list[Concordance]]]:
    """Nothing for a single system, which has no ranking among others."""
    if len(outcome.systems) < 2:
        return []
    pairs = dict.fromkeys((one.one, one.other) for one in outcome.concordances)
    return [
        (f"{one.capitalize()}, {other.capitalize()}", [c for c in outcome.concordances if (c.one, c.other) == pair])
        for pair in pairs
        for one, other in [pair]
    ]


def without_folders(outcome: Outcome) -> Outcome:
    """The outcome with systems and pool named without folders, which are the study lead's own affair."""
    shorts = _told_apart([plain(formatting.file_name(system.short)) for system in outcome.systems])
    names = _told_apart([plain(formatting.file_name(system.name)) for system in outcome.systems])
    now = {system.short: short for system, short in zip(outcome.systems, shorts, strict=True)}
    return replace(
        outcome,
        pool=formatting.file_name(outcome.pool),
        systems=tuple(
            replace(system, name=name, short=now[system.short])
            for system, name in zip(outcome.systems, names, strict=True)
        ),
        scores=tuple(replace(score, system=now[score.system]) for score in outcome.scores),
        spreads=tuple(replace(spread, system=now[spread.system]) for spread in outcome.spreads),
        comparisons=tuple(replace(test, one=now[test.one], other=now[test.other]) for test in outcome.comparisons),
    )


def _told_apart(names: Sequence[str]) -> list[str]:
    """The names, with a number where one stands twice, as those of files from two folders may."""
    twice = {name for name in names if names.count(name) > 1}
    return [f"{name} ({names[: at + 1].count(name)})" if name in twice else name for at, name in enumerate(names)]
