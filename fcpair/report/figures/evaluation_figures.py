"""The figures of an evaluation, one per measure; the same outcome gives the same bytes."""

from __future__ import annotations

from fcpair.evaluate.outcome import Outcome
from fcpair.report.figures.captions import fine_print
from fcpair.report.figures.colours import PAPER, Inks
from fcpair.report.figures.evaluation_chart import draw_chart
from fcpair.report.figures.labels import make_printable
from fcpair.report.figures.layout import SCREEN, Sheet
from fcpair.report.figures.paper import PaperFigure, PaperStyle, render_for_paper
from fcpair.report.figures.save import save_figure


def render_all(outcome: Outcome, style: PaperStyle | None = None) -> dict[str, bytes]:
    """The figure of each measure as papers take it, by the name of its file."""
    figures = [_paper_figure(outcome, measure) for measure in outcome.measures]
    return render_for_paper(figures, style or PaperStyle())


def _paper_figure(outcome: Outcome, measure: str) -> PaperFigure:
    def render(kind: str, sheet: Sheet) -> bytes:
        return _save(outcome, measure, PAPER, kind, sheet)

    return PaperFigure(measure, description(outcome, measure), render)


def png(outcome: Outcome, measure: str, inks: Inks = PAPER) -> bytes:
    """The figure of a measure as PNG for pages, in the colours given, with a title and a description."""
    return _save(outcome, measure, inks, "png", SCREEN)


def _save(outcome: Outcome, measure: str, inks: Inks, kind: str, sheet: Sheet) -> bytes:
    description_text = description(outcome, measure)
    return save_figure(lambda: draw_chart(outcome, measure, inks, sheet), kind, measure, description_text)


def description(outcome: Outcome, measure: str) -> str:
    """Describe in words what a figure shows."""
    scores = [score for score in outcome.scores if score.measure == measure]
    systems = ", ".join(make_printable(system.short) for system in outcome.systems)
    tiers = ", ".join(one.tier.capitalize() for one in outcome.tiers)
    shown = f"{measure} of {systems} on {tiers}: a bar for each system and tier, from 0."
    return " ".join([shown, *fine_print(outcome, scores)])
