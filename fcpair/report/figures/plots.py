"""Results as figures: of a survey, a bias test, groups of annotators and a plan; and `plot`, of any result."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from fcpair.bias.answers import SCHEMES
from fcpair.bias.scoring import METHOD, ScoredAnswers
from fcpair.errors import InputError, suggest_name
from fcpair.lazy import matplotlib, pd
from fcpair.report.figures import layout
from fcpair.report.figures.colours import PAPER
from fcpair.report.figures.evaluation_figures import outcome_figures
from fcpair.report.figures.forest import SHAPES, TONES, Forest, Mark
from fcpair.report.figures.layout import Sheet
from fcpair.report.figures.save import PaperFigure, PaperStyle, figure_settings
from fcpair.sentences import join, mark, say
from fcpair.stages.stats.group_differences import ASSOCIATION, LEAST_PEOPLE, GroupComparison
from fcpair.stages.stats.predicted_widths import KAPPA_OF_TWO
from fcpair.stages.survey import ASSUMPTION, KeepRule

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

    from fcpair.stages.assignment.overlap_plan import OverlapPlan
    from fcpair.stages.assignment.width_sources import PredictedWidth
    from fcpair.stages.stats.ranking import Ranking


def of_survey(share_rows: pd.DataFrame, rule: KeepRule | None = None, simulated: str | None = None) -> list[Forest]:
    """A figure for each question: the share of yes to each statement, by group if there are groups.

    `share_rows` is as `survey.add_shares` has it, or `hide_few`; the threshold of `rule` is drawn at its question, and
    `simulated` is what must be said of made-up answers.
    """
    figures, axis = [], mark("share of yes over yes and no")
    for question, rows in share_rows.groupby("question", sort=False):
        groups, n = rows["group"] if "group" in rows else [""] * len(rows), rows["n"].dropna()
        rests_on = [f"Of {_format_range(int(n.min()), int(n.max()))} people who said yes or no."] if len(n) else []
        rests_on.append(f"Intervals by Wilson; to speak of more people than these {ASSUMPTION}.")
        shares = rows[["share", "low", "high"]].to_numpy()
        marks = tuple(
            Mark(str(statement), str(group), *(None if np.isnan(value) else float(value) for value in values))
            for statement, group, values in zip(rows["statement"], groups, shares, strict=True)
        )
        line = rule.threshold if rule is not None and rule.question == question else None
        figures.append(Forest(str(question), axis, marks, tuple(rests_on), simulated, line, (0, 1)))
    return figures


def _format_range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def of_bias(results: Mapping[str, ScoredAnswers], simulated: str | None = None) -> list[Forest]:
    """A figure for each score that is bounded: a row for each category, a mark for each of `results`, by its name."""
    (scheme, *_) = {figure.scheme for figure in results.values()}
    figures = []
    for score in SCHEMES[scheme]:
        if not np.isfinite(score.most):
            continue
        marks: dict[str, list[Mark]] = {}  # by category
        n = []
        for name, scored in results.items():
            for figure in (figure for figure in scored.figures if figure.score == score.name):
                mark_ = Mark(figure.category, name, figure.value, figure.low, figure.high)
                marks.setdefault(figure.category, []).append(mark_)
                n.append(figure.n)
        basis = f"Of {_format_range(min(n), max(n))} answers that can be read; intervals by a {METHOD}."
        axis = say("%(name)s: %(note)s", name=score.name, note=join([score.formula]))
        notes, line = (basis, f"Formula: {score.source}."), 0.0 if score.is_bias else None
        all_marks = tuple(chain.from_iterable(marks.values()))
        figures.append(Forest(score.name, axis, all_marks, notes, simulated, line, score.bounds))
    return figures


def of_groups(comparisons: Sequence[GroupComparison], simulated: str | None = None) -> list[Forest]:
    """A figure for each question about people: how much more often one group gave a label than another."""
    figures, axis = [], mark("difference of shares")
    for comparison in (comparison for comparison in comparisons if comparison.differences):
        marks = tuple(
            Mark(f"{of.label}: {of.groups[0]} - {of.groups[1]}", "", of.value, of.low, of.high)
            for of in comparison.differences
        )
        # Nobody can be recognised by a small number.
        shown = {
            of: f"{n:,}" if n >= LEAST_PEOPLE else f"fewer than {LEAST_PEOPLE}" for of, n in comparison.people.items()
        }
        sizes = ", ".join(f"{name} ({n})" for name, n in shown.items())
        basis = f"{comparison.n:,} labels by people who said: {sizes}."
        notes = (basis, f"Errors clustered by item and annotator. The result is {ASSOCIATION}.")
        figures.append(Forest(comparison.by, axis, marks, notes, simulated, 0.0, (-1, 1)))
    return figures


def of_ranking(ranking: Ranking, simulated: str | None = None) -> list[Forest]:
    """A figure for each row: the score of each of its texts, the best first."""
    marks = dict[int, list[Mark]]()
    rests_on = tuple(f"{sentence[0].upper()}{sentence[1:]}." for sentence in ranking.methods)
    for item in ranking.texts:
        figures = item.score, item.low, item.high
        marks.setdefault(item.row, []).append(Mark(ranking.bodies[item.text_id], "", *figures))
    axis, titles = mark("score in log-odds; 0 is the mean of the row"), ranking.titles
    return [Forest(titles[row], axis, tuple(of), rests_on, simulated, 0.0) for row, of in marks.items()]


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

    lines: dict[str, list[tuple[float, PredictedWidth]]] = {}
    # Not the kappas of two, which are so much wider that the others could not be told apart.
    for name in dict.fromkeys(width.name for rung in plan.rungs for width in rung.widths if width.name != KAPPA_OF_TWO):
        named = ((rung.expected.hours, width) for rung in plan.rungs for width in rung.widths if width.name == name)
        if points := [(hours, width) for hours, width in named if width.width is not None]:
            lines[name] = points
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


def _line_style(at: int) -> dict[str, Any]:
    colour = matplotlib.colormaps["cividis"](TONES[at % len(TONES)])
    marker = {"marker": SHAPES[at % len(SHAPES)], "markersize": 5, "markeredgecolor": PAPER.ink}
    return {"color": colour, "markerfacecolor": colour, "linewidth": 1.2, **marker, "markeredgewidth": 0.6}


FIGURES: Mapping[str, Callable[[Any], Sequence[PaperFigure | Forest]]] = {
    "Outcome": outcome_figures,
    "OverlapPlan": plan_figures,
    "Ranking": of_ranking,
    "GroupsFound": lambda found: of_groups(found.compared, found.simulated),
}
"""By the class of the result."""


def plot(result: Any, title: str | None = None) -> Figure:
    """The figure of this title, or the first; raises InputError where the result has none of that title."""
    figures = {figure.title: figure for figure in FIGURES[type(result).__name__](result)}
    if (name := next(iter(figures), "") if title is None else title) not in figures:
        raise InputError(f"there is no figure `{name}`; {suggest_name(name, figures, 'there is %(names)s')}")
    with figure_settings():
        return figures[name].draw(PaperStyle().sheet)
