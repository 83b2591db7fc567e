"""Profiles of labels and the class model: probabilities, and the shares and the kappa that it is fitted to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.latent_labels import all_profiles, class_model_at, fit_class_model, kappa_range

TWO_CLASSES = read_labels("one_of(no,yes+)")
SHARES = st.tuples(st.floats(0.05, 0.9), st.floats(0.0, 0.2)).filter(lambda shares: sum(shares) < 0.95)


def test_the_profiles_of_two_labels_of_two_classes() -> None:
    assert all_profiles(2, 2).tolist() == [[2, 0], [1, 1], [0, 2]]


def test_more_profiles_than_can_be_counted_are_refused() -> None:
    with pytest.raises(InputError, match="9 labels of 9 classes can fall in 24,310 ways; plan with at most 2,000"):
        all_profiles(9, 9)


def test_the_model_by_hand() -> None:
    """Half of the pairs are positive, and people are right in 8 of 10: both say yes in 0.5 (0.64 + 0.04)."""
    model = class_model_at(TWO_CLASSES, 0.5, 0.0, 0.8)
    assert model.joint == pytest.approx(np.array([[0.34, 0.16], [0.16, 0.34]]))
    assert model.kappa == pytest.approx(0.36)
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


@pytest.mark.parametrize("prevalence", [0.0, 1.0])
def test_labels_that_are_all_alike_have_no_coefficient(prevalence: float) -> None:
    with pytest.raises(InputError, match=f"prevalence is {prevalence:g}; expected a share between 0 and 1"):
        fit_class_model(APPROPRIATENESS, prevalence, 0.0, 0.5)


def test_a_kappa_beyond_what_the_shares_allow_says_what_can_be_reached() -> None:
    message = r"kappa is 0\.95; with 0\.2 .* and 0\.1 not sure it can be from 0\.\d+ to 0\.\d+"
    with pytest.raises(InputError, match=message):
        fit_class_model(APPROPRIATENESS, 0.2, 0.1, 0.95)


def test_nobody_is_not_sure_where_no_answer_says_so() -> None:
    with pytest.raises(InputError, match="all answers of this question are definite"):
        fit_class_model(TWO_CLASSES, 0.2, 0.1, 0.5)
