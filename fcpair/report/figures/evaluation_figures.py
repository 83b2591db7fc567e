"""The figures of an evaluation as SVG and PNG, one of each per measure; the same outcome gives the same bytes."""

from __future__ import annotations

from fcpair.evaluate.outcome import Outcome
from fcpair.report.figures.captions import fine_print
from fcpair.report.figures.evaluation_chart import draw
from fcpair.report.figures.labels import plain
from fcpair.report.figures.layout import PAPER, Inks
from fcpair.report.figures.save import file_names, saved


def pictures(outcome: Outcome) -> dict[str, bytes]:
    """The figure of each measure as SVG and as PNG, by the name of its file."""
    found: dict[str, bytes] = {}
    for measure, name in zip(outcome.measures, file_names(outcome.measures), strict=True):
        found[f"{name}.svg"] = svg(outcome, measure)
        found[f"{name}.png"] = png(outcome, measure)
    return found


def svg(outcome: Outcome, measure: str) -> bytes:
    """The figure of a measure as SVG, with a title and a description."""
    return _saved(outcome, measure, PAPER, "svg")


def png(outcome: Outcome, measure: str, inks: Inks = PAPER) -> bytes:
    """The figure of a measure as PNG, in the colours given, with a title and a description."""
    return _saved(outcome, measure, inks, "png")


def _saved(outcome: Outcome, measure: str, inks: Inks, kind: str) -> bytes:
    return saved(lambda: draw(outcome, measure, inks), kind, measure, description(outcome, measure))


def description(outcome: Outcome, measure: str) -> str:
    """What a figure shows, in words."""
    scores = [score for score in outcome.scores if score.measure == measure]
    systems = ", ".join(plain(system.short) for system in outcome.systems)
    tiers = ", ".join(one.tier.capitalize() for one in outcome.tiers)
    shown = f"{measure} of {systems} on {tiers}: a bar for each system and tier, from 0."
    return " ".join([shown, *fine_print(outcome, scores)])
