"""Figures of results and of plans, as matplotlib has them."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
import pytest
from evaluate.outcomes import outcome
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text
from stages.assignment.test_overlap_plan import GRID, pilot_labels

from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome
from fcpair.notebook import Plotted
from fcpair.params import Plan
from fcpair.report.figures import save
from fcpair.report.figures.layout import PAPER_SHEETS
from fcpair.report.figures.plots import FIGURES, draw_plan, plan_figures
from fcpair.report.figures.save import KINDS, render_for_paper
from fcpair.stages.assignment.overlap_plan import OverlapPlan, plan_grid
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.group_differences import Difference, GroupComparison
from fcpair.stages.stats.predicted_widths import KAPPA_OF_TWO
from fcpair.stages.stats.ranking import Ranking
from fcpair.steps.survey import GroupsFound

FOUND = outcome(measures=("NDCG", "MAP(by=all)"))


def words_of(figure: Figure) -> str:
    return " ".join(text.get_text() for text in figure.findobj(Text))


def test_an_evaluation_has_a_figure_for_each_measure_and_no_other() -> None:
    first, second = FOUND.plot(), FOUND.plot("MAP(by=all)@5")
    assert "NDCG@5, mean over HS" in words_of(first)
    assert "MAP(by=all)@5, mean over HS" in words_of(second)
    assert first.get_figwidth() == PAPER_SHEETS["page"].width
    with pytest.raises(InputError, match="there is no figure `RBP`; there is NDCG@5, MAP"):
        FOUND.plot("RBP")


def test_a_figure_is_drawn_the_same_whatever_the_user_has_set() -> None:
    plain = FOUND.plot()
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30}):
        other = FOUND.plot()
    assert words_of(other) == words_of(plain)
    assert [axes.get_facecolor() for axes in other.axes] == [axes.get_facecolor() for axes in plain.axes]
    assert [text.get_fontsize() for text in other.findobj(Text)] == [
        text.get_fontsize() for text in plain.findobj(Text)
    ]


def test_figures_say_what_is_made_up() -> None:
    simulated = "9 of 9 judgements are SIMULATED"
    assert simulated in words_of(replace(FOUND, simulated=simulated).plot())
    difference = Difference("yes", ("a", "b"), (10, 10), True, 0.04, 0.2, 0.1, 0.3)
    compared = GroupComparison("gender", 20, 0, {"a": 10, "b": 10}, (), (difference,), ())
    groups = GroupsFound("ask", "fit", (compared,), {}, simulated)
    assert "SIMULATED" in words_of(groups.plot("gender"))


def test_every_result_with_figures_is_in_the_table() -> None:
    results = (Outcome, OverlapPlan, GroupsFound, Ranking)
    assert {result.__name__ for result in results if issubclass(result, Plotted)} == {*FIGURES}


# -- the figure of a plan: widths stand above their hours, the floor and the recommendation where they are


@pytest.fixture(scope="module")
def assumed() -> OverlapPlan:
    """Effects are assumed, and a width is wished for."""
    return plan_grid(replace(GRID, width=0.4, hs_effect=0.1, cn_effect=0.1), APPROPRIATENESS)


@pytest.fixture(scope="module")
def free() -> OverlapPlan:
    """Neither effects nor a wish."""
    return plan_grid(GRID, APPROPRIATENESS)


@pytest.fixture(scope="module")
def piloted() -> OverlapPlan:
    """Effects are measured on a pilot."""
    return plan_grid(Plan(hs=8, cn=10, annotators=3), APPROPRIATENESS, pilot_labels(2))


def axes_of(plan: OverlapPlan) -> Axes:
    with save.figure_settings():
        return draw_plan(plan).axes[0]


def lines(axes: Axes, style: str) -> list[npt.NDArray[np.float64]]:
    """The points of all lines of a style: `-` of figures, `--` of the floor, `:` of the recommendation."""
    return [
        np.column_stack([np.asarray(part, float) for part in line.get_data()])
        for line in axes.lines
        if line.get_linestyle() == style
    ]


def svg_of(plan: OverlapPlan) -> str:
    return next(file for name, file in render_for_paper(plan_figures(plan)).items() if name.endswith(".svg")).decode()


def widths(plan: OverlapPlan, name: str) -> list[tuple[float, float]]:
    return [
        (rung.expected.hours, width.width)
        for rung in plan.rungs
        for width in rung.widths
        if width.name == name and width.width is not None
    ]


@pytest.mark.parametrize("name", ["assumed", "free", "piloted"])
def test_each_figure_is_a_line_of_its_widths_but_for_the_kappas_of_two(
    request: pytest.FixtureRequest, name: str
) -> None:
    plan: OverlapPlan = request.getfixturevalue(name)
    names = dict.fromkeys(width.name for rung in plan.rungs for width in rung.widths if width.width is not None)
    assert KAPPA_OF_TWO in names
    expected = [widths(plan, figure) for figure in names if figure != KAPPA_OF_TWO]
    drawn = lines(axes_of(plan), "-")
    assert len(drawn) == len(expected)
    for points, of_figure in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(points, of_figure)


def test_the_floor_and_the_recommendation_are_where_they_are(assumed: OverlapPlan, free: OverlapPlan) -> None:
    axes, rung = axes_of(assumed), assumed.recommended_rung
    assert rung is not None
    floor = next(width.floor for width in assumed.rungs[-1].widths if width.name == assumed.figure)
    assert [set(points[:, 1]) for points in lines(axes, "--")] == [{floor}]
    assert [set(points[:, 0]) for points in lines(axes, ":")] == [{rung.expected.hours}]
    assert axes.get_ylim()[0] == 0
    assert lines(axes_of(free), "--") == lines(axes_of(free), ":") == []


def test_the_range_of_a_pilot_lies_around_the_figure_that_is_wished_for(
    piloted: OverlapPlan, assumed: OverlapPlan
) -> None:
    (area,) = axes_of(piloted).collections
    ends = {
        (round(rung.expected.hours, 9), round(end, 9))
        for rung in piloted.rungs
        for width in rung.widths
        if width.name == piloted.figure
        for end in (width.low or np.nan, width.high or np.nan)
    }
    corners = {(round(x, 9), round(y, 9)) for x, y in np.asarray(area.get_paths()[0].vertices).tolist()}
    assert ends <= corners
    assert not axes_of(assumed).collections


def test_the_files_say_in_words_what_the_plan_rests_on_and_are_always_the_same(
    assumed: OverlapPlan, free: OverlapPlan
) -> None:
    files = render_for_paper(plan_figures(assumed))
    assert {name.rpartition(".")[2] for name in files} == {*KINDS}
    assert render_for_paper(plan_figures(assumed)) == files
    svg = svg_of(assumed)
    assert "hours of all annotators" in svg
    assert "Assumed: 20.0% of labels positive" in svg
    assert "recommended overlap" in svg
    assert "recommended overlap" not in svg_of(free)
