"""The figures of an evaluation as SVG and PNG, one of each per measure; the same outcome gives the same bytes."""

from __future__ import annotations

from fcpair.evaluate.outcome import Outcome
from fcpair.report.figures.captions import fine_print
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.evaluation_chart import draw_chart
from fcpair.report.figures.labels import make_printable
from fcpair.report.figures.save import file_names, save_figure


def render_all(outcome: Outcome) -> dict[str, bytes]:
    """The figure of each measure as SVG and as PNG, by the name of its file."""
    files: dict[str, bytes] = {}
    for measure, name in zip(outcome.measures, file_names(outcome.measures), strict=True):
        files[f"{name}.svg"] = svg(outcome, measure)
        files[f"{name}.png"] = png(outcome, measure)
    return files


def svg(outcome: Outcome, measure: str) -> bytes:
    """The figure of a measure as SVG, with a title and a description."""
    return _save(outcome, measure, PAPER, "svg")


def png(outcome: Outcome, measure: str, inks: Inks = PAPER) -> bytes:
    """The figure of a measure as PNG, in the colours given, with a title and a description."""
    return _save(outcome, measure, inks, "png")


def _save(outcome: Outcome, measure: str, inks: Inks, kind: str) -> bytes:
    return save_figure(lambda: draw_chart(outcome, measure, inks), kind, measure, description(outcome, measure))


def description(outcome: Outcome, measure: str) -> str:
    """Describe in words what a figure shows."""
    scores = [score for score in outcome.scores if score.measure == measure]
    systems = ", ".join(make_printable(system.short) for system in outcome.systems)
    tiers = ", ".join(one.tier.capitalize() for one in outcome.tiers)
    shown = f"{measure} of {systems} on {tiers}: a bar for each system and tier, from 0."
    return " ".join([shown, *fine_print(outcome, scores)])
