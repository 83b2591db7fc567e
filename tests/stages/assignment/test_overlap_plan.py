"""Plans of an overlap: the least that is enough, what it costs, and wishes and pilots that are refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.params import Plan
from fcpair.stages.assignment.overlap_plan import OverlapPlan, plan_grid
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels

GRID = Plan(hs=20, cn=40, annotators=4)


def plan_for(**values: object) -> OverlapPlan:
    return plan_grid(replace(GRID, **values), APPROPRIATENESS)  # type: ignore[arg-type]


def width(plan: OverlapPlan, share: float) -> float:
    rung = next(rung for rung in plan.rungs if rung.share == share)
    return next(one.width for one in rung.widths if one.name == plan.figure) or np.nan


def pilot_labels(n_people: int) -> pd.DataFrame:
    """Labels of a block of 8 x 10 pairs by people who agree on most."""
    rng = np.random.default_rng(0)
    hs, cn = np.divmod(np.arange(80), 10)
    true = np.where(rng.random(80) < 0.4, 2, 0)
    wrong = [rng.random(80) < 0.15 for _ in range(n_people)]
    frames = [
        pd.DataFrame(
            {
                "cell_id": np.arange(80),
                "hs_id": hs,
                "cn_id": cn,
                "annotator": f"a{at}",
                "code": np.where(is_wrong, 2 - true, true),
            }
        )
        for at, is_wrong in enumerate(wrong)
    ]
    return pd.concat(frames, ignore_index=True)


def test_the_recommended_overlap_is_the_least_that_is_enough() -> None:
    plan = plan_for(width=0.3)
    assert plan.recommended is not None
    share = plan.recommended[2]
    assert width(plan, share) <= 0.3
    assert width(plan_for(width=0.3 * 1.05), plan_for(width=0.3 * 1.05).recommended[2]) > 0.3  # type: ignore[index]


def test_costs_are_counted() -> None:
    """With half of the 800 pairs labelled twice there are 1,200 labels: at 30 seconds, 10 hours."""
    rung = next(rung for rung in plan_for().rungs if rung.share == 0.5)
    assert (rung.expected.labels, rung.expected.hours, rung.expected.pairs_each) == (1200, 10, 300)
    assert (rung.expected.gold, rung.expected.silver, rung.expected.bronze) == pytest.approx((360, 720, 800))


def test_a_wish_below_the_floor_says_what_can_be_had() -> None:
    message = r"no overlap makes the interval .* 0\.05 wide: .* it is 0\.\d+, .*endlessly many labels on these texts"
    with pytest.raises(InputError, match=message):
        plan_for(width=0.05, hs_effect=0.3, cn_effect=0.3)


@pytest.mark.parametrize("prevalence", [0.0, 1.0])
def test_labels_that_are_all_alike_cannot_be_planned(prevalence: float) -> None:
    with pytest.raises(InputError, match="expected a share between 0 and 1"):
        plan_for(prevalence=prevalence)


def test_a_pilot_gives_ranges_around_what_is_likeliest() -> None:
    plan = plan_grid(GRID, APPROPRIATENESS, pilot_labels(2))
    widths = [one for rung in plan.rungs for one in rung.widths if one.name == plan.figure and one.width]
    assert len(widths) == len(plan.rungs)
    assert all((one.low or np.nan) <= (one.width or np.nan) <= (one.high or np.nan) for one in widths)


def test_a_pilot_by_one_person_or_without_overlap_is_refused() -> None:
    with pytest.raises(InputError, match="the pilot tells no width: 1 annotator labelled it"):
        plan_grid(GRID, APPROPRIATENESS, pilot_labels(1))
    labels = pilot_labels(2)
    with pytest.raises(InputError, match="no pair in it has two labels"):
        plan_grid(GRID, APPROPRIATENESS, labels.drop_duplicates("cell_id").assign(annotator=["a", "b"] * 40))


def test_what_is_missing_of_a_grid_is_named() -> None:
    with pytest.raises(InputError, match="give `cn`, `annotators` as well"):
        plan_grid(Plan(hs=3), APPROPRIATENESS)


def test_a_question_without_not_sure_and_a_scale_can_be_planned() -> None:
    for question in ("one_of(no,yes+)", "scale(1,5,1,positive=4)"):
        assert len(plan_grid(replace(GRID, cn_effect=0.2), read_labels(question)).rungs) == 10
