"""What intervals of agreement are warned of: by hand, by statsmodels, and on simulated studies."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from benchmarks.coverage import CAMPS, EFFECTS, RARE, SHAPES
from benchmarks.latent import Shape, draw
from fcpair.stages.stats.agreement import effective_number, find_cautions, intraclass_correlation
from fcpair.stages.stats.jackknife_intervals import Cluster, Sides
from fcpair.stages.stats.latent_labels import Effects
from fcpair.stages.stats.rating_counts import Overlap

CLASSES = ("no", "unsure", "yes")
GRID = SHAPES["45 x 24"]


def said_of(shape: Shape, effects: Effects, n: int = 10) -> list[str]:
    """All that is said of some studies."""
    rng = np.random.default_rng(2)
    return [one for _ in range(n) for one in find_cautions(draw(shape, effects, rng)[0], CLASSES)]


def test_texts_of_the_same_weight_count_as_what_they_are_and_others_as_fewer() -> None:
    assert effective_number(np.array([0, 0, 1, 1, 2, 2])) == 3
    assert effective_number(np.array([0, 0, 0, 1])) == pytest.approx(16 / 10)


def test_what_texts_explain_is_the_intraclass_correlation_of_an_analysis_of_variance() -> None:
    rng = np.random.default_rng(3)
    text = np.repeat(np.arange(8), [3, 9, 5, 7, 4, 8, 6, 6])
    share = (rng.random(48) < np.linspace(0.05, 0.95, 8)[text]).astype(float)
    table = anova_lm(ols("share ~ C(text)", pd.DataFrame({"share": share, "text": text})).fit())
    between, within = table["mean_sq"]
    size = (48 - (np.bincount(text) ** 2).sum() / 48) / 7
    assert intraclass_correlation(share, text) == pytest.approx((between - within) / (between + (size - 1) * within))


@pytest.mark.parametrize("text", [[0, 0, 0, 0], [0, 1, 2, 3]], ids=["one text", "no two pairs of one"])
def test_nothing_is_explained_where_that_is_undefined(text: list[int]) -> None:
    assert intraclass_correlation(np.array([0.0, 1, 0, 1]), np.array(text)) == 0


def test_texts_that_never_differ_within_explain_everything() -> None:
    assert intraclass_correlation(np.array([0.0, 0, 1, 1]), np.array([0, 0, 1, 1])) == 1
    assert intraclass_correlation(np.zeros(4), np.array([0, 0, 1, 1])) == 0


def test_a_study_like_those_in_which_intervals_hold_has_no_caution() -> None:
    assert said_of(GRID, EFFECTS["all"]) == []


def test_hs_in_two_camps_are_found() -> None:
    said = said_of(SHAPES["12 x 30"], CAMPS["a camp of one HS in five"])
    found = [one for one in said if one.startswith("the 12 HS differ strongly, and explain ")]
    assert len(found) >= 7
    assert all(" % of which pairs are no: " in one for one in found)
    assert said_of(GRID, CAMPS["a camp of one HS in five"]) == []  # 45 are enough


def test_an_overlap_on_few_of_the_hs_is_found() -> None:
    said = said_of(replace(GRID, two=0.12, three=0.05, focus=1.5), EFFECTS["HS and CN"])
    assert sum("the overlap is spread unevenly over " in one and " HS, as if over " in one for one in said) == 10


def test_labels_that_are_nearly_all_of_one_class_are_found() -> None:
    said = said_of(GRID, RARE)
    assert len(said) == 10
    assert all("of the labels are no, and kappas rest on the few others" in one for one in said)


def test_a_side_with_one_text_is_not_warned_of_and_sides_have_their_names() -> None:
    overlap, _ = draw(replace(GRID, two=0.12, three=0.05, focus=1.5), EFFECTS["none"], np.random.default_rng(2))
    assert (
        "spread unevenly over 35 rows, as if over 14.3" in find_cautions(overlap, CLASSES, Sides(("row", "column")))[0]
    )
    assert find_cautions(overlap, CLASSES, Sides(("row", "column"), fixed=Cluster.HS)) == ()


def test_without_overlap_there_is_nothing_to_say() -> None:
    none = np.zeros(0, dtype=np.int64)
    assert find_cautions(Overlap(3, none, none, none, none, none), CLASSES) == ()
