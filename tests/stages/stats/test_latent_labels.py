"""Models of labels, by classes and by effects: fitted, they have the shares and the kappa asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.kappa import MEANS
from fcpair.stages.stats.latent_labels import (
    Effects,
    all_profiles,
    answer_by_effects,
    class_model_at,
    explained_variances,
    fit_class_model,
    fit_effects,
    kappa_range,
    new_annotators,
)
from fcpair.stages.stats.multi_rater import COEFFICIENTS
from fcpair.stages.stats.predicted_widths import OverlapSize, Pilot, measure_pilot, place_labels

OF_CLASSES = np.array([0.75, 0.05, 0.2])
ALPHA = next(one for one in COEFFICIENTS if one.name == "Krippendorff's alpha, nominal")


@given(st.floats(0, 0.45), st.floats(0, 0.45), st.floats(0.05, 0.7))
def test_the_fit_has_the_kappa(of_hs: float, of_cn: float, kappa: float) -> None:
    fitted = fit_effects(Effects(hs=of_hs, cn=of_cn), OF_CLASSES, kappa)
    assert new_annotators(fitted)[MEANS[0]] == pytest.approx(kappa, abs=1e-4)


def test_the_fit_has_the_shares() -> None:
    fitted = fit_effects(Effects(hs=0.2, cn=0.3, leniency=0.4), OF_CLASSES, 0.4)
    rng, n = np.random.default_rng(0), 400_000
    seen = rng.normal(size=n) + rng.normal(0, 0.4, n) + rng.normal(0, fitted.noise, n)
    drawn = np.bincount(np.searchsorted(fitted.thresholds, seen), minlength=3) / n
    assert drawn == pytest.approx(OF_CLASSES, abs=0.003)


def test_sides_explain_what_the_effects_say_and_nothing_without_any() -> None:
    none = explained_variances(fit_effects(Effects(), OF_CLASSES, 0.4), ALPHA)
    some = explained_variances(fit_effects(Effects(hs=0.2, cn=0.4), OF_CLASSES, 0.4), ALPHA)
    assert none == pytest.approx((0, 0), abs=1e-9)
    assert 0 < some[0] < some[1] < 0.4


@pytest.mark.slow
def test_what_a_side_explains_is_what_its_pairs_have_in_common_in_drawn_studies() -> None:
    effects = fit_effects(Effects(hs=0.4, cn=0.4), OF_CLASSES, 0.6)
    places = place_labels(OverlapSize(80, 80, 4, {2: 6400}), 3)
    answer, parts = answer_by_effects(effects), []
    for at in range(40):
        study = measure_pilot(replace(places, klass=answer(places, np.random.default_rng([1, at]))), ALPHA)
        assert isinstance(study, Pilot)
        parts.append((study.parts.hs, study.parts.cn))
    assert explained_variances(effects, ALPHA) == pytest.approx(np.mean(parts, axis=0), rel=0.2)


TWO_CLASSES = read_labels("one_of(no,yes+)")
SHARES = st.tuples(st.floats(0.05, 0.9), st.floats(0.0, 0.2)).filter(lambda shares: sum(shares) < 0.95)


def test_the_model_by_hand() -> None:
    """Half of the pairs are positive, and people are right in 8 of 10: both say yes in 0.5 (0.64 + 0.04)."""
    model = class_model_at(TWO_CLASSES, 0.5, 0.0, 0.8)
    assert model.joint == pytest.approx(np.array([[0.34, 0.16], [0.16, 0.34]]))
    assert model.kappa == pytest.approx(0.36)
    assert all_profiles(2, 2).tolist() == [[2, 0], [1, 1], [0, 2]]
    assert model.probabilities(all_profiles(2, 2)) == pytest.approx([0.34, 0.32, 0.34])


@given(SHARES, st.floats(0, 1), st.integers(1, 5))
def test_probabilities_of_all_profiles_sum_to_one(shares: tuple[float, float], at: float, n_labels: int) -> None:
    lowest, highest = kappa_range(APPROPRIATENESS, *shares)
    model = fit_class_model(APPROPRIATENESS, *shares, lowest + at * (highest - lowest))
    assert model.probabilities(all_profiles(n_labels, 3)).sum() == pytest.approx(1)


@given(SHARES, st.floats(0.01, 0.99))
def test_the_fit_has_the_shares_and_the_kappa(shares: tuple[float, float], at: float) -> None:
    lowest, highest = kappa_range(APPROPRIATENESS, *shares)
    kappa = lowest + at * (highest - lowest)
    model = fit_class_model(APPROPRIATENESS, *shares, kappa)
    assert model.shares == pytest.approx([1 - sum(shares), shares[1], shares[0]], abs=1e-9)
    assert model.kappa == pytest.approx(kappa, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: all_profiles(9, 9), "9 labels of 9 classes can fall in 24,310 ways; plan with at most 2,000"),
        (lambda: fit_class_model(APPROPRIATENESS, 0.0, 0.0, 0.5), "prevalence is 0; expected a share between 0 and 1"),
        (lambda: fit_class_model(APPROPRIATENESS, 1.0, 0.0, 0.5), "prevalence is 1; expected a share between 0 and 1"),
        (
            lambda: fit_class_model(APPROPRIATENESS, 0.2, 0.1, 0.95),
            r"kappa is 0\.95; with 0\.2 .* and 0\.1 not sure it can be from 0\.\d+ to 0\.\d+",
        ),
        (lambda: fit_class_model(TWO_CLASSES, 0.2, 0.1, 0.5), "all answers of this question are definite"),
        (
            lambda: fit_effects(Effects(hs=0.5, cn=0.5), OF_CLASSES, 0.4),
            r"HS and CN explain 0\.5 and 0\.5 .* expected less than 1 together",
        ),
        (
            lambda: fit_effects(Effects(leniency=1.0), OF_CLASSES, 0.9),
            r"kappa is 0\.9; with annotators this different it is 0\.\d+ at most",
        ),
    ],
    ids=["profiles", "nobody", "everybody", "kappa", "not sure", "texts", "leniency"],
)
def test_what_no_model_can_have_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
