"""Calibration in planned grids: of ratings, and of forms with several closed questions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from fcpair.errors import InputError
from fcpair.params import Calibration, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from steps.plans import RATED, WRITTEN, study_of, written

SIMULATED = Simulate(skips=0.0, seed=4)
ROWS, COLUMNS = SidePlan(names=("a", "b", "c", "d")), SidePlan(names=("x", "y"))
FORM = "fits: one_of(no,yes+); tone: scale(1,5,1)"
JUDGED = GridPlan("judge", ROWS, COLUMNS, (RoundPlan("judge", FORM, role="rater", answers=1, people=3),))


@pytest.mark.server
def test_raters_calibrate_themselves_on_cells_of_their_round(tmp_path: Path) -> None:
    grid = written(tmp_path, RATED, rater=3).grid("rate")
    grid.pair()
    grid.calibration.start(pairs=6, counts="second", seed=1)
    grid.simulate(Simulate(skips=0.0, accuracy=0.5, seed=4))
    assert grid.calibration.open_discussion().counts["differing"] > 0
    grid.simulate(SIMULATED)
    grid.calibration.close()
    assert grid.assign_round().counts["cells"] == 24 - 6
    carried, drawn = grid.answers(), set(grid.answers("calibrate")["cell"])
    assert (len(drawn), len(carried), set(carried["cell"])) == (6, 18, drawn)
    result = grid.calibration.measure()
    assert (result.round, {change.part for change in result.figures}) == ("rate", {"rate"})


def test_each_closed_question_of_a_form_has_its_own_figures(tmp_path: Path) -> None:
    grid = study_of(tmp_path, JUDGED, rater=3).grid()
    grid.pair()
    grid.calibration.start(pairs=4, counts="first", seed=1)
    grid.simulate(SIMULATED)
    grid.calibration.open_discussion()
    grid.simulate(SIMULATED)
    grid.calibration.close()
    assert {change.part for change in grid.calibration.measure().figures} == {"fits", "tone"}
    grid.assign_round()
    columns = ["cell", "by", "fits", "tone"]
    first, counted = (grid.answers(name)[columns].sort_values(["cell", "by"]) for name in ("calibrate", "judge"))
    assert first.values.tolist() == counted.values.tolist()


@pytest.mark.parametrize(
    ("plan", "match"),
    [
        (WRITTEN, "round `write` asks no closed question alone"),
        (
            replace(JUDGED, rounds=(replace(JUDGED.rounds[0], name="calibrate"),)),
            "the grid has a round `calibrate` of its own",
        ),
    ],
)
def test_a_round_without_a_closed_question_or_by_the_name_of_the_calibration_is_refused(
    tmp_path: Path, plan: GridPlan, match: str
) -> None:
    study = study_of(tmp_path, plan, writer=4, rater=3)
    study.grid().pair()
    with pytest.raises(InputError, match=match):
        study.grid().calibration.start(pairs=4)


def test_a_plan_that_calibrates_people_for_no_round_of_its_own_is_refused() -> None:
    with pytest.raises(InputError, match="grid `judge` has no round `rate` to calibrate people for"):
        replace(JUDGED, calibration=Calibration(round="rate"))
