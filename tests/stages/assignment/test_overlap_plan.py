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


def test_a_pilot_gives_ranges_around_what_is_likeliest_and_a_scale_can_be_planned() -> None:
    plan = plan_grid(GRID, APPROPRIATENESS, pilot_labels(2))
    widths = [one for rung in plan.rungs for one in rung.widths if one.name == plan.figure and one.width]
    assert len(widths) == len(plan.rungs)
    assert all((one.low or np.nan) <= (one.width or np.nan) <= (one.high or np.nan) for one in widths)
    for question in ("one_of(no,yes+)", "scale(1,5,1,positive=4)"):
        assert len(plan_grid(replace(GRID, cn_effect=0.2), read_labels(question)).rungs) == 10


ALONE, TWO = pilot_labels(1), pilot_labels(2)
APART = TWO.drop_duplicates("cell_id").assign(annotator=["a", "b"] * 40)
FLOOR = r"no overlap makes the interval .* 0\.05 wide: .* it is 0\.\d+, .*endlessly many labels on these texts"


@pytest.mark.parametrize(
    ("plan", "pilot", "message"),
    [
        (GRID, ALONE, "the pilot tells no width: 1 annotator labelled it"),
        (GRID, APART, "no pair in it has two labels"),
        (Plan(hs=3), None, "give `cn`, `annotators` as well"),
        (replace(GRID, width=0.05, hs_effect=0.3, cn_effect=0.3), None, FLOOR),
    ],
    ids=["one person", "no overlap", "a part of a grid", "a wish below the floor"],
)
def test_what_cannot_be_planned_is_refused(plan: Plan, pilot: pd.DataFrame | None, message: str) -> None:
    with pytest.raises(InputError, match=message):
        plan_grid(plan, APPROPRIATENESS, pilot)
    for prevalence in (0.0, 1.0):
        with pytest.raises(InputError, match="expected a share between 0 and 1"):
            plan_for(prevalence=prevalence)
