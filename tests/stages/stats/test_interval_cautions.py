"""What intervals of agreement are warned of, and how they stand where hardly any pair has a rare class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from benchmarks.coverage import CAMPS, EFFECTS, RARE, SHAPES
from benchmarks.latent import Shape, draw, same_annotators
from fcpair.records import Figure
from fcpair.stages.stats.agreement import effective_number, find_cautions, intraclass_correlation
from fcpair.stages.stats.jackknife_intervals import Cluster, Sides, Spread, add_bounds
from fcpair.stages.stats.kappa import Subsets, subset_figures, summary_figures
from fcpair.stages.stats.latent_labels import Effects
from fcpair.stages.stats.multi_rater import COEFFICIENTS, Coefficient, pooled_figures
from fcpair.stages.stats.rating_counts import LeftOutSums, Overlap

CLASSES = ("no", "unsure", "yes")
GRID = SHAPES["45 x 24"]


def cautions_of(shape: Shape, effects: Effects) -> list[str]:
    rng = np.random.default_rng(2)
    return [caution for _ in range(10) for caution in find_cautions(draw(shape, effects, rng)[0], CLASSES)]


@pytest.mark.parametrize(
    ("share", "text", "explained"),
    [
        ([0.0, 1, 0, 1], [0, 0, 0, 0], 0),  # one text
        ([0.0, 1, 0, 1], [0, 1, 2, 3], 0),  # no two pairs of one
        ([0.0, 0, 1, 1], [0, 0, 1, 1], 1),  # texts never differ within
        ([0.0, 0, 0, 0], [0, 0, 1, 1], 0),  # nothing differs
    ],
)
def test_what_texts_explain_at_the_ends(share: list[float], text: list[int], explained: float) -> None:
    assert intraclass_correlation(np.array(share), np.array(text)) == explained


def test_what_texts_explain_is_the_intraclass_correlation_of_an_analysis_of_variance() -> None:
    rng = np.random.default_rng(3)
    text = np.repeat(np.arange(8), [3, 9, 5, 7, 4, 8, 6, 6])
    share = (rng.random(48) < np.linspace(0.05, 0.95, 8)[text]).astype(float)
    table = anova_lm(ols("share ~ C(text)", pd.DataFrame({"share": share, "text": text})).fit())
    between, within = table["mean_sq"]
    size = (48 - (np.bincount(text) ** 2).sum() / 48) / 7
    assert intraclass_correlation(share, text) == pytest.approx((between - within) / (between + (size - 1) * within))


def test_hs_in_two_camps_and_labels_that_are_nearly_all_of_one_class_are_found() -> None:
    cautions = cautions_of(SHAPES["12 x 30"], CAMPS["a camp of one HS in five"])
    camps = [caution for caution in cautions if caution.startswith("the 12 HS differ strongly, and explain ")]
    assert len(camps) >= 7
    assert all(" % of which pairs are no: " in caution for caution in camps)
    rare = cautions_of(GRID, RARE)
    assert len(rare) == 10
    assert all("of the labels are no, and kappas rest on the few others" in caution for caution in rare)


def test_a_study_like_those_in_which_intervals_hold_has_no_caution() -> None:
    assert cautions_of(GRID, EFFECTS["all"]) == []
    assert cautions_of(GRID, CAMPS["a camp of one HS in five"]) == []  # 45 are enough
    none = np.zeros(0, dtype=np.int64)
    assert list(find_cautions(Overlap(3, none, none, none, none, none), CLASSES)) == []


def test_an_overlap_on_few_of_the_hs_is_found_and_sides_have_their_names() -> None:
    """Texts of the same weight count as what they are, and others as fewer; a side with one text is not warned of."""
    assert effective_number(np.array([0, 0, 1, 1, 2, 2])) == 3
    assert effective_number(np.array([0, 0, 0, 1])) == pytest.approx(16 / 10)
    uneven = replace(GRID, two=0.12, three=0.05, focus=1.5)
    cautions = cautions_of(uneven, EFFECTS["HS and CN"])
    assert sum("the overlap is spread unevenly over " in one and " HS, as if over " in one for one in cautions) == 10
    overlap, _ = draw(uneven, EFFECTS["none"], np.random.default_rng(2))
    (first, *_) = find_cautions(overlap, CLASSES, Sides(("row", "column")))
    assert "spread unevenly over 35 rows, as if over 14.3" in first
    assert list(find_cautions(overlap, CLASSES, Sides(("row", "column"), fixed=Cluster.HS))) == []


TRIPLES = Shape(20, 30, 6, 0.126, 0.05)
FEW = Effects(thresholds=(1.8,), noise=0.45)  # 5 % of the labels are of the rare class; the true kappa is 0.51
BY_NAME = {one.name: one for one in COEFFICIENTS}
FLEISS, NOMINAL, ORDINAL = (
    BY_NAME[name]
    for name in ("Fleiss' kappa, 3 labels", "Krippendorff's alpha, nominal", "Krippendorff's alpha, ordinal")
)


def variance(coefficient: Coefficient, value: float, labels: npt.ArrayLike, n_pairs: Sequence[int]) -> float:
    variance_at = coefficient.variance_at(np.asarray(labels, np.float64), np.array(n_pairs))
    assert variance_at is not None
    return variance_at(value)


@pytest.mark.parametrize("share", [0.03, 0.3, 0.5])
@pytest.mark.parametrize("kappa", [0.0, 0.2, 0.5, 0.9])
def test_the_variance_of_two_labels_and_classes_is_that_of_bloch_and_kraemer(share: float, kappa: float) -> None:
    """DOI 10.2307/2532052, as Donner and Eliasziw (1992, DOI 10.1002/sim.4780111109) have it."""
    of_rare = kappa * (2 - kappa) / (2 * share * (1 - share))
    expected = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + of_rare) / 100
    for coefficient in (NOMINAL, ORDINAL):
        assert variance(coefficient, kappa, [share, 1 - share], [0, 0, 100]) == pytest.approx(expected)


@pytest.mark.parametrize("coefficient", [NOMINAL, ORDINAL])
def test_the_variance_is_that_of_drawn_studies(coefficient: Coefficient) -> None:
    """2,000 studies of 200 pairs with two labels and 100 with three; the error of a variance is 3.2 %."""
    rng, shares = np.random.default_rng(1), np.array([0.7, 0.2, 0.1])
    pair, n = np.repeat(np.arange(300), np.repeat([2, 3], [200, 100])), np.zeros(700, np.int64)
    found = []
    for _ in range(2_000):
        is_alike, klass = rng.random(300) < 0.4, rng.choice(3, 300, p=shares)
        labels = np.where(is_alike[pair], klass[pair], rng.choice(3, 700, p=shares))
        found.append(coefficient.compute(LeftOutSums(Overlap(3, pair, n, n, n, labels)).sums))
    assert np.var(found) == pytest.approx(variance(coefficient, 0.4, shares, [0, 0, 200, 100]), rel=0.1)


def test_an_interval_reaches_every_true_value_that_is_near_enough() -> None:
    """By hand: where the true value k has the variance 0.04 (1 - k), 0.2 is within 2 errors up to 0.4333."""
    spreads = {cluster: Spread(1e-6, 10_000) for cluster in (Cluster.HS, Cluster.CN, Cluster.PAIR)}
    found = add_bounds(Figure("x", 0.2, 9), spreads, 0.9545, variance_at=lambda k: 0.04 * (1 - k))
    high = 0.2 - 0.08 + (0.08**2 + 4 * 0.04 * 0.8) ** 0.5
    assert found.high is not None
    assert found.high == pytest.approx(high, abs=1e-3)
    assert (found.high - 0.2) ** 2 == pytest.approx(4 * 0.04 * (1 - found.high), rel=1e-3)
    assert found.low == pytest.approx(0.2 - 0.08 - (0.08**2 + 4 * 0.04 * 0.8) ** 0.5, abs=1e-3)


def test_intervals_of_a_rare_class_hold_on_triples() -> None:
    """In 120 studies with 30 triples; with the jackknife alone 0.80 of them held, and a quarter had none."""
    rng, held = np.random.default_rng(13), []
    for _ in range(120):
        overlap, leniency = draw(TRIPLES, FEW, rng)
        figure = next(one for one in pooled_figures(overlap, "texts", 0.95) if one.name == FLEISS.name)
        if figure.low is not None and figure.high is not None:
            held.append(figure.low <= same_annotators(FEW, leniency)[0][FLEISS.name] <= figure.high)
    assert len(held) > 80
    assert np.mean(held) >= 0.92


@pytest.mark.parametrize("thresholds", [(1.8,), (2.03,), (1.9, 2.2)])
def test_such_a_study_has_a_warning(thresholds: tuple[float, ...]) -> None:
    rng, effects = np.random.default_rng(13), Effects(thresholds=thresholds, noise=0.45)
    classes = [str(at) for at in range(len(thresholds) + 1)]
    for _ in range(30):
        cautions = list(find_cautions(draw(TRIPLES, effects, rng)[0], classes))
        assert any("% of the labels are 0, and kappas rest on the few others" in one for one in cautions)


@pytest.mark.parametrize("n_rare", [3, 4, 5])
def test_a_kappa_of_two_needs_five_labels_that_are_not_of_the_commonest_class_and_a_mean_four(n_rare: int) -> None:
    """40 pairs of 8 HS and 5 CN: both people give the rare class to a pair, and one of them to one to three more."""
    pair, annotator = np.repeat(np.arange(40), 2), np.tile([0, 1], 40)
    klass = np.zeros(80, np.int64)
    klass[[0, 1, *range(13, 13 + 14 * (n_rare - 2), 14)]] = 1
    subsets = Subsets(Overlap(2, pair, pair // 5, pair % 5, annotator, klass), "none")
    (figure,) = subset_figures(subsets, ["ana", "ben"], 0.95)
    note = f"no interval: two annotators have {n_rare} labels that are not of" * (n_rare < 5)
    assert (figure.kappa.low is None, figure.kappa_se is None) == (n_rare < 5, n_rare < 5)
    assert figure.kappa.note.startswith(note)
    assert figure.kappa.value is not None
    mean, _, weighted = summary_figures(subsets, "texts", 0.95)
    assert [mean.low is not None, weighted.low is not None] == [n_rare > 3] * 2
    why = "no interval: two annotators have 3.0 labels that are not of the commonest class, and it needs 4"
    assert (why in mean.note) is (n_rare == 3)
