"""Expected jackknife variances, against formulas for sample sizes, and widths that fall as overlap grows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.label_profiles import fit_class_model
from fcpair.stages.stats.multi_rater import COEFFICIENTS
from fcpair.stages.stats.predicted_widths import (
    FigureVariance,
    OverlapSize,
    SideShares,
    coefficient_variance,
    floor_width,
    kappa_variance,
    low_width,
    mean_width,
)

TWO_CLASSES = read_labels("one_of(no,yes+)")
ALPHA = next(one for one in COEFFICIENTS if one.name == "Krippendorff's alpha, nominal")
FLEISS = next(one for one in COEFFICIENTS if one.name == "Fleiss' kappa, 2 labels")
MANY = 100_000  # pairs, on which the asymptotic formulas hold
KAPPAS = [(0.1, 0.3), (0.3, 0.4), (0.5, 0.6), (0.5, 0.8)]
"""Shares of positive labels, and kappas."""


def one_pair_of(variance: FigureVariance | None) -> float:
    """The variance times the number of pairs."""
    assert variance is not None
    return variance.pair * variance.n


@pytest.mark.parametrize(("positive", "kappa"), KAPPAS)
def test_two_labels_of_two_classes_as_donner_and_eliasziw_plan_them(positive: float, kappa: float) -> None:
    """The variance of the intraclass kappa on which Donner and Eliasziw (1992, DOI 10.1002/sim.4780111109) plan; by
    Bloch and Kraemer (1989, DOI 10.2307/2532052)."""
    of_rare = kappa * (2 - kappa) / (2 * positive * (1 - positive))
    expected = (1 - kappa) * ((1 - kappa) * (1 - 2 * kappa) + of_rare)
    model = fit_class_model(TWO_CLASSES, positive, 0.0, kappa)
    size = OverlapSize(1_000, 1_000, 2, {2: MANY})
    assert one_pair_of(coefficient_variance(FLEISS, model, size, SideShares())) == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(("positive", "kappa"), KAPPAS)
def test_a_kappa_of_two_as_cantor_plans_it(positive: float, kappa: float) -> None:
    """Q of Cantor (1996, DOI 10.1037/1082-989X.1.2.150): the variance of Cohen's kappa times the number of pairs."""
    model = fit_class_model(TWO_CLASSES, positive, 0.0, kappa)
    assert one_pair_of(kappa_of_two(model)) == pytest.approx(asymptotic_variance(model.joint), rel=1e-3)


def test_a_kappa_of_two_on_three_classes_as_flack_and_others_plan_it() -> None:
    """Flack and others (1988, DOI 10.1007/BF02294215) plan with the same variance on any number of classes."""
    model = fit_class_model(APPROPRIATENESS, 0.3, 0.1, 0.5)
    assert one_pair_of(kappa_of_two(model)) == pytest.approx(asymptotic_variance(model.joint), rel=1e-3)


def test_without_agreement_the_variance_is_one_over_the_pairs() -> None:
    """Sim and Wright (2005, DOI 10.1093/ptj/85.3.257) plan tests of no agreement with it, whatever the prevalence."""
    for positive in (0.1, 0.3, 0.5):
        model = fit_class_model(TWO_CLASSES, positive, 0.0, 1e-6)
        assert one_pair_of(kappa_of_two(model)) == pytest.approx(1, rel=1e-3)


def kappa_of_two(model: Any) -> FigureVariance | None:
    return kappa_variance(model, OverlapSize(1_000, 1_000, 2, {2: MANY}), SideShares())


def asymptotic_variance(joint: npt.NDArray[np.float64]) -> float:
    """Fleiss, Cohen and Everitt 1969, DOI 10.1037/h0028106, times the number of pairs."""
    row, column = joint.sum(axis=1), joint.sum(axis=0)
    seen, chance = np.trace(joint), row @ column
    diagonal = np.diag(joint) @ (1 - chance - (column + row) * (1 - seen)) ** 2
    others = joint * (column[:, None] + row[None, :]) ** 2
    beside = (1 - seen) ** 2 * (others.sum() - np.trace(others))
    return float((diagonal + beside - (seen * chance - 2 * chance + seen) ** 2) / (1 - chance) ** 4)


def test_few_pairs_vary_by_more_than_the_formula_has_it() -> None:
    """On 20 pairs kappa is far from linear: the width of drawn tables was 0.84, that of the formula 0.71."""
    model = fit_class_model(APPROPRIATENESS, 0.2, 0.02, 0.7)
    variance = kappa_variance(model, OverlapSize(20, 20, 4, {2: 120}), SideShares())
    assert variance is not None
    assert mean_width(replace(variance, draws=None)) == pytest.approx(0.71, abs=0.01)
    assert mean_width(variance) == pytest.approx(0.84, abs=0.02)


SIZES = st.tuples(st.integers(5, 60), st.integers(5, 60))


@given(SIZES, st.floats(0, 0.4), st.floats(0, 0.4), st.floats(0.1, 0.45))
def test_the_width_falls_as_overlap_grows_and_stays_above_the_floor(
    texts: tuple[int, int], of_hs: float, of_cn: float, share: float
) -> None:
    model, shares = fit_class_model(APPROPRIATENESS, 0.3, 0.05, 0.5), SideShares(of_hs, of_cn)
    n_pairs = texts[0] * texts[1]
    variances = [
        coefficient_variance(ALPHA, model, OverlapSize(*texts, 3, {2: max(round(part * n_pairs), 2)}), shares)
        for part in (share, 2 * share)
    ]
    fewer, more = (mean_width(variance) for variance in variances if variance)
    assert more <= fewer * 1.02  # what few pairs give is drawn
    assert variances[1] is not None
    assert floor_width(variances[1]) <= 2 * more


def test_texts_that_explain_nothing_set_no_floor() -> None:
    model = fit_class_model(APPROPRIATENESS, 0.3, 0.05, 0.5)
    free = coefficient_variance(ALPHA, model, OverlapSize(45, 129, 9, {2: 700}), SideShares())
    tied = coefficient_variance(ALPHA, model, OverlapSize(45, 129, 9, {2: 700}), SideShares(0.1, 0.1))
    assert free is not None
    assert tied is not None
    assert floor_width(free) == 0
    assert mean_width(free) < mean_width(tied)
    assert low_width(tied) < mean_width(tied)


def test_pairs_that_are_there_stay_on_their_texts_and_others_spread_over_what_is_free() -> None:
    """Of 40 pairs, 30 are on three of twelve CNs, 10 each; the rest takes free pairs evenly: 10 of 20 x 12 - 30."""
    model, shares = fit_class_model(APPROPRIATENESS, 0.3, 0.05, 0.5), SideShares(0.1, 0.1)
    few, more, even = (
        coefficient_variance(ALPHA, model, OverlapSize(20, 12, 3, {2: n}, of_hs, of_cn), shares)
        for n, of_hs, of_cn in ((30, (3,) * 10, (10,) * 3), (40, (3,) * 10, (10,) * 3), (40, (2,) * 20, ()))
    )
    assert few is not None
    assert (few.cn.n_texts, few.cn.products) == (3, 3 * 10 * 9)
    assert more is not None
    on_met, on_others = 10 + 10 * 10 / 210, 10 * 20 / 210
    assert on_others < 1
    assert more.cn.n_texts == 12
    assert more.cn.products == pytest.approx(3 * on_met * (on_met - 1))
    assert even is not None
    assert even.hs.products == 20 * 2
    assert mean_width(few) > mean_width(more) > mean_width(even)


def test_a_coefficient_that_no_pair_is_about_has_no_variance() -> None:
    model = fit_class_model(APPROPRIATENESS, 0.3, 0.05, 0.5)
    assert coefficient_variance(FLEISS, model, OverlapSize(45, 129, 9, {3: 700}), SideShares()) is None
    assert kappa_variance(model, OverlapSize(45, 129, 9, {2: 36 * 11}), SideShares()) is None
