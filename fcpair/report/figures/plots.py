"""The figures of a result, whatever it is of, as matplotlib has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fcpair.errors import InputError, suggest_name
from fcpair.report.figures.evaluation_figures import outcome_figures
from fcpair.report.figures.forest import Forest
from fcpair.report.figures.forest_plots import of_groups
from fcpair.report.figures.overlap_figure import plan_figures
from fcpair.report.figures.save import PaperFigure, PaperStyle, figure_settings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FIGURES: Mapping[str, Callable[[Any], Sequence[PaperFigure | Forest]]] = {
    "Outcome": outcome_figures,
    "OverlapPlan": plan_figures,
    "GroupsFound": lambda found: of_groups(found.compared, found.simulated),
}
"""By the class of the result."""


def plot(result: Any, title: str | None = None) -> Figure:
    """The figure of this title, or the first; raises InputError where the result has none of that title."""
    figures = {figure.title: figure for figure in FIGURES[type(result).__name__](result)}
    name = next(iter(figures), "") if title is None else title
    if name not in figures:
        raise InputError(f"there is no figure `{name}`; {suggest_name(name, figures, 'there is %(names)s')}")
    with figure_settings():
        return figures[name].draw(PaperStyle().sheet)
