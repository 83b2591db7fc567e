"""Figures of results, as matplotlib has them."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import pytest
from evaluate.outcomes import outcome
from matplotlib.figure import Figure
from matplotlib.text import Text

from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome
from fcpair.notebook import Plotted
from fcpair.report.figures.layout import PAPER_SHEETS
from fcpair.report.figures.plots import FIGURES
from fcpair.stages.assignment.overlap_plan import OverlapPlan
from fcpair.stages.stats.group_differences import Difference, GroupComparison
from fcpair.steps.surveys.survey import GroupsFound

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
    found = GroupsFound("ask", "fit", (compared,), {}, simulated)
    assert "SIMULATED" in words_of(found.plot("gender"))


def test_every_result_with_figures_is_in_the_table() -> None:
    assert {one.__name__ for one in (Outcome, OverlapPlan, GroupsFound) if issubclass(one, Plotted)} == {*FIGURES}
