"""Plans of an overlap: the least that is enough, what it costs, refusals, and widths from FC-CONAN as a pilot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from fcpair.errors import InputError
from fcpair.files.corpus.fc_conan import read_published
from fcpair.params import Plan
from fcpair.stages.assignment.overlap_plan import OverlapPlan, plan_grid
from fcpair.stages.assignment.width_sources import PilotLabels, PredictedWidth
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.agreement import compute_agreement, find_overlap
from fcpair.stages.stats.predicted_widths import OverlapSize

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


@pytest.mark.slow
def test_the_recommended_overlap_is_the_least_that_is_enough_and_costs_are_counted() -> None:
    plan = plan_for(width=0.3)
    assert plan.recommended is not None
    share = plan.recommended[2]
    assert width(plan, share) <= 0.3
    assert width(plan_for(width=0.3 * 1.05), plan_for(width=0.3 * 1.05).recommended[2]) > 0.3  # type: ignore[index]
    # with half of the 800 pairs labelled twice there are 1,200 labels: at 30 seconds, 10 hours
    rung = next(rung for rung in plan_for().rungs if rung.share == 0.5)
    assert (rung.expected.labels, rung.expected.hours, rung.expected.pairs_each) == (1200, 10, 300)
    assert (rung.expected.gold, rung.expected.silver, rung.expected.bronze) == pytest.approx((360, 720, 800))


@pytest.mark.slow
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


ALPHA = "Krippendorff's alpha, nominal"
N_HS, N_CN, N_ANNOTATORS, N_THIRDS = 45, 130, 9, 40


@pytest.fixture(scope="module")
def overlap(data: Path) -> pd.DataFrame:
    """The published labels of the 701 pairs with two or three, which are on 24 CNs."""
    published = read_published(data / "fc-conan" / "bronze_partition_df.csv")
    labels = published.labels.merge(published.pairs[["pair", "hs", "cn"]], on="pair")
    labels = labels.rename(columns={"pair": "cell_id", "person": "annotator"})
    labels = labels.assign(hs_id=labels["hs"].factorize()[0], cn_id=labels["cn"].factorize()[0])
    return labels[labels.duplicated("cell_id", keep=False)]


def printed_width(overlap: pd.DataFrame) -> float:
    """The width of the interval that `agreement` prints for alpha."""
    alpha = next(one for one in compute_agreement(overlap, APPROPRIATENESS).pooled if one.name == ALPHA)
    assert alpha.low is not None
    assert alpha.high is not None
    return alpha.high - alpha.low


def pairs_of(overlap: pd.DataFrame) -> dict[int, int]:
    n_labels = np.bincount(overlap.groupby("cell_id").size())
    return {2: int(n_labels[2]), 3: int(n_labels[3])}


def predict(pilot: pd.DataFrame, size: OverlapSize) -> PredictedWidth:
    return PilotLabels(Plan(), APPROPRIATENESS, find_overlap(pilot, APPROPRIATENESS)).predict(ALPHA, size)


@pytest.mark.slow
def test_random_thirds_predict_the_width_that_all_of_the_overlap_has(overlap: pd.DataFrame) -> None:
    rng, cells = np.random.default_rng(1), overlap["cell_id"].unique()
    size = OverlapSize(N_HS, overlap["cn_id"].nunique(), N_ANNOTATORS, pairs_of(overlap))
    thirds = [rng.choice(cells, round(len(cells) / 3), replace=False) for _ in range(N_THIRDS)]
    predicted = [predict(overlap[overlap["cell_id"].isin(third)], size) for third in thirds]
    width = printed_width(overlap)
    assert width == pytest.approx(0.417, abs=0.001)
    assert np.median([one.width for one in predicted]) == pytest.approx(width, rel=0.1)
    assert np.mean([one.low <= width <= one.high for one in predicted]) >= 0.8  # type: ignore[operator]
    assert max(one.high / one.low for one in predicted) <= 3  # type: ignore[operator]


@pytest.mark.slow
def test_where_the_overlap_is_on_few_cns_the_width_is_that_of_few_cns(overlap: pd.DataFrame) -> None:
    """On all 130 CNs, as many pairs would leave an interval half as wide."""
    pairs = overlap.drop_duplicates("cell_id")
    of_texts = (tuple(pairs.groupby(name).size()) for name in ("hs_id", "cn_id"))
    there = predict(overlap, OverlapSize(N_HS, N_CN, N_ANNOTATORS, pairs_of(overlap), *of_texts))
    spread = predict(overlap, OverlapSize(N_HS, N_CN, N_ANNOTATORS, pairs_of(overlap)))
    assert there.width == pytest.approx(printed_width(overlap), rel=0.1)
    assert spread.width is not None
    assert spread.width < 0.6 * printed_width(overlap)
