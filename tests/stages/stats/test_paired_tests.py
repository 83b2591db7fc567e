"""Paired tests, Holm's correction and Kendall's tau, against enumeration and scipy."""

from __future__ import annotations

from itertools import product
from math import sqrt
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import permutation_test
from statsmodels.stats.multitest import multipletests

from fcpair.errors import InputError
from fcpair.stages.stats import intervals
from fcpair.stages.stats.intervals import check_resamples
from fcpair.stages.stats.paired_tests import holm, kendall, needed_hs, needed_resamples, randomisation

Floats = NDArray[np.float64]


@pytest.mark.parametrize("resamples", [-1, 0, 99, 1_000_001])
def test_too_few_and_too_many_resamples_are_refused(resamples: int) -> None:
    with pytest.raises(InputError, match=f"resamples is {resamples}; expected 100 to 1,000,000"):
        check_resamples(resamples)


# -- randomisation


def exact_p(differences: Floats) -> float:
    """The share of all sign vectors that give as great a sum."""
    sums = [abs(np.dot(signs, differences)) for signs in product([-1, 1], repeat=len(differences))]
    return float(np.mean(np.array(sums) >= abs(differences.sum()) - 1e-9))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_hs", [1, 4, 9])
def test_the_p_value_is_that_of_all_signs(n_hs: int, seed: int) -> None:
    """Within three standard errors of 20,000 draws."""
    differences = np.random.default_rng(seed).normal(0.4, 1, n_hs)
    p = exact_p(differences)
    found = randomisation(differences[:, None], 20_000, seed + 4)[0]
    assert found == pytest.approx(p, abs=3 * sqrt(p * (1 - p) / 20_000) + 1e-4)


def test_figures_that_differ_in_the_last_bit_only_are_as_great() -> None:
    """0.1 + 0.2 - 0.3 is not 0: of the sums of +-0.1, +-0.2 and +-0.3 every second is 0, as the observed one is."""
    assert randomisation(np.array([[0.1], [0.2], [-0.3]]), 500, seed=0).tolist() == [1]


def test_no_difference_has_p_1() -> None:
    assert randomisation(np.zeros((12, 2)), 1_000, seed=0).tolist() == [1, 1]


def test_p_is_never_0() -> None:
    assert randomisation(np.ones((100, 1)), 999, seed=0).tolist() == [0.001]


def test_which_system_comes_first_does_not_matter() -> None:
    differences = np.random.default_rng(1).normal(0.3, 1, (30, 2))
    assert randomisation(differences, 500, 3).tolist() == randomisation(-differences, 500, 3).tolist()


def test_the_order_of_hs_changes_no_p_value() -> None:
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1, (30, 2))
    assert randomisation(differences, 500, 3).tolist() == randomisation(rng.permutation(differences), 500, 3).tolist()


def test_the_same_seed_gives_the_same_p_values() -> None:
    differences = np.random.default_rng(1).normal(0.3, 1, (30, 3))
    once, again, other = (randomisation(differences, 300, seed).tobytes() for seed in (4, 4, 5))
    assert once == again != other


@pytest.mark.parametrize("cells", [1, 170, 2_000])
def test_blocks_change_no_p_value(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    differences = np.random.default_rng(1).normal(0.3, 1, (17, 2))
    whole = randomisation(differences, 301, seed=3)
    monkeypatch.setattr(intervals, "BLOCK_CELLS", cells)
    assert randomisation(differences, 301, seed=3).tolist() == whole.tolist()


@pytest.mark.parametrize("cells", [500, intervals.BLOCK_CELLS])
def test_the_p_value_is_near_that_of_scipy(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    """Two estimates from 9,999 draws each, within three standard errors; scipy doubles the smaller one-sided p."""
    monkeypatch.setattr(intervals, "BLOCK_CELLS", cells)
    differences = np.random.default_rng(8).normal(0.2, 1, 40)
    other = permutation_test((differences,), np.mean, permutation_type="samples", n_resamples=9_999, rng=1).pvalue
    found = randomisation(differences[:, None], 9_999, seed=1)[0]
    assert found == pytest.approx(other, abs=3 * sqrt((other * (1 - other) + 2 * other * (1 - other / 2)) / 9_999))


# -- Holm


def test_holm_multiplies_by_the_tests_that_are_left() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.8: times 4, 3, 2, 1 gives 0.04, 0.06, 0.06, 0.8; the third is no less than before."""
    assert holm(np.array([0.03, 0.01, 0.8, 0.02])) == pytest.approx([0.06, 0.04, 0.8, 0.06])


def test_a_corrected_p_value_is_no_more_than_1_and_never_falls_below_a_smaller_one() -> None:
    """0.4 times 3, then 0.45 times 2 and 0.5 times 1, both less than what stands before."""
    assert holm(np.array([0.4, 0.45, 0.5])).tolist() == [1, 1, 1]


def test_one_test_and_none_need_no_correction() -> None:
    assert holm(np.array([0.03])) == pytest.approx([0.03])
    assert holm(np.array([])).tolist() == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_corrects_as_statsmodels_does(p: list[float]) -> None:
    with patch("gc.collect"):  # statsmodels collects all garbage at each call
        assert holm(np.array(p)) == pytest.approx(multipletests(p, method="holm")[1])


@pytest.mark.parametrize("n_tests", [1, 3, 6, 45, 66, 1_225])
def test_with_as_many_resamples_as_are_needed_a_test_can_be_significant_and_with_one_less_none(n_tests: int) -> None:
    """Ten systems have 45 pairs: 45 / 901 is below 0.05, 45 / 900 is not."""
    needed = needed_resamples(n_tests, 0.05)
    for resamples, reached in ((needed, True), (needed - 1, False)):
        p = np.full(n_tests, 1 / (1 + resamples))
        assert (holm(p)[0] < 0.05 - 1e-12) == reached


def test_ten_systems_need_900_resamples() -> None:
    assert needed_resamples(45, 0.05) == 900


@pytest.mark.parametrize("n_tests", [1, 3, 45])
def test_fewer_hs_than_are_needed_have_too_few_ways_of_signs(n_tests: int) -> None:
    """Every HS prefers the same system, and still the p of all signs, times the tests, is not below 0.05."""
    needed = needed_hs(n_tests, 0.05)
    least = [n_tests * exact_p(np.linspace(0.1, 0.9, n_hs)) for n_hs in (needed, needed - 1)]
    assert least[0] < 0.05 <= least[1]


# -- Kendall


@pytest.mark.parametrize(
    ("one", "other", "tau"),
    [
        ([0.1, 0.2, 0.3], [0.5, 0.6, 0.9], 1),
        ([0.1, 0.2, 0.3], [0.9, 0.6, 0.5], -1),
        # of six pairs five in the same order and one swapped
        ([1, 2, 3, 4], [1, 3, 2, 4], 4 / 6),
        # one tie on one side: 5 of 6 the same, none swapped, over sqrt(6 * 5)
        ([1, 2, 3, 4], [1, 2, 2, 4], 5 / sqrt(30)),
    ],
)
def test_kendalls_tau_counts_pairs_in_the_same_order(one: list[float], other: list[float], tau: float) -> None:
    found, why = kendall(np.array(one), np.array(other))
    assert found == pytest.approx(tau)
    assert why is None


def test_means_that_differ_in_the_last_bit_only_are_tied() -> None:
    almost = np.array([0.1 + 0.2, 0.3, 0.9])
    assert kendall(almost, np.array([1.0, 2, 3])) == kendall(np.array([0.3, 0.3, 0.9]), np.array([1.0, 2, 3]))


@pytest.mark.parametrize("one", [[], [0.5]])
def test_one_system_has_no_rank_correlation(one: list[float]) -> None:
    assert kendall(np.array(one), np.array(one)) == (None, "there is one system")


@pytest.mark.parametrize("level", [0.3, 0.1 + 0.2])
def test_systems_that_all_score_the_same_have_no_rank_correlation(level: float) -> None:
    same, differ = np.array([0.3, level, 0.3]), np.array([0.1, 0.2, 0.3])
    for pair in ((same, differ), (differ, same)):
        assert kendall(*pair) == (None, "all systems score the same on a tier")
