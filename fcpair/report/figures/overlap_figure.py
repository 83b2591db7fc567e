"""The figure of a plan: hours against the width of intervals, with the width that no hours go below."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from fcpair.report.figures import layout
from fcpair.report.figures.colours import PAPER
from fcpair.report.figures.forest import SHAPES, TONES
from fcpair.report.figures.layout import Sheet
from fcpair.report.figures.save import PaperFigure
from fcpair.stages.stats.predicted_widths import KAPPA_OF_TWO

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from fcpair.stages.assignment.overlap_plan import OverlapPlan
    from fcpair.stages.assignment.width_sources import PredictedWidth

TITLE = "Hours and widths of intervals"
HEIGHT = 2.6  # of the axes, in inches
LEFT = 0.6  # of the axes
FLOOR: dict[str, Any] = {"color": PAPER.ink, "linewidth": 0.9, "linestyle": "--"}
RECOMMENDED: dict[str, Any] = {"color": PAPER.ink, "linewidth": 0.9, "linestyle": ":"}
RANGE: dict[str, Any] = {"color": PAPER.soft, "alpha": 0.3, "linewidth": 0}


def plan_figures(plan: OverlapPlan) -> list[PaperFigure]:
    """The figure of a plan as papers and notebooks take it."""
    description = " ".join([f"{TITLE} at {len(plan.rungs)} overlaps.", *_notes(plan)])
    return [PaperFigure(TITLE, description, partial(draw_plan, plan))]


def draw_plan(plan: OverlapPlan, sheet: Sheet = layout.SCREEN) -> Figure:
    """The figure itself, to be drawn in the settings that `fcpair.report.figures.save` makes."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    lines = dict(_lines(plan))
    # The floor of the figure that is wished for, with most labels; None where nothing sets one.
    floor = next((width.floor for width in plan.rungs[-1].widths if width.name == plan.figure), None)
    marks: dict[str, Artist] = {name: Line2D([], [], **_line_style(at)) for at, name in enumerate(lines)}
    if floor:
        marks["endlessly many labels on these texts"] = Line2D([], [], **FLOOR)
    if plan.recommended_rung:
        marks["recommended overlap"] = Line2D([], [], **RECOMMENDED)
    if any(width.low is not None for rung in plan.rungs for width in rung.widths):
        marks["range that the pilot leaves open"] = Patch(**RANGE)
    legend = layout.Legend(layout.wrap_legend(marks, sheet))
    notes = layout.note_lines(_notes(plan), sheet) if sheet.has_caption else []
    names = ("hours of all annotators", "width of the interval")
    canvas = layout.make_canvas(sheet, TITLE, HEIGHT, [legend], notes, PAPER, names, LEFT)
    for at, points in enumerate(lines.values()):
        hours, widths = zip(*((hours, width.width) for hours, width in points), strict=True)
        canvas.axes.plot(hours, widths, **_line_style(at))
    ends = [(hours, width.low, width.high) for hours, width in lines.get(plan.figure, []) if width.low is not None]
    if ends:
        hours, low, high = zip(*ends, strict=True)
        canvas.axes.fill_between(hours, low, high, **RANGE)
    if floor:
        canvas.axes.axhline(floor, **FLOOR)
    if rung := plan.recommended_rung:
        canvas.axes.axvline(rung.expected.hours, **RECOMMENDED)
    canvas.axes.set_ylim(bottom=0)
    return canvas.figure


def _notes(plan: OverlapPlan) -> list[str]:
    return [f"{sentence[0].upper()}{sentence[1:]}." for sentence in (*plan.basis, *plan.advice)]


def _lines(plan: OverlapPlan) -> Iterator[tuple[str, list[tuple[float, PredictedWidth]]]]:
    """Yield each figure that has widths, with the hours and the width of every overlap at which it has one.

    Not the kappas of two, which are so much wider that the others could not be told apart.
    """
    names = dict.fromkeys(width.name for rung in plan.rungs for width in rung.widths if width.name != KAPPA_OF_TWO)
    for name in names:
        points = [
            (rung.expected.hours, width)
            for rung in plan.rungs
            for width in rung.widths
            if width.name == name and width.width is not None
        ]
        if points:
            yield name, points


def _line_style(at: int) -> dict[str, Any]:
    from matplotlib import colormaps

    colour = colormaps["cividis"](TONES[at % len(TONES)])
    marker = {"marker": SHAPES[at % len(SHAPES)], "markersize": 5, "markeredgecolor": PAPER.ink}
    return {"color": colour, "markerfacecolor": colour, "linewidth": 1.2, **marker, "markeredgewidth": 0.6}
