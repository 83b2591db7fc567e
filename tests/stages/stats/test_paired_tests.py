"""Paired tests, their power, Holm's correction and Kendall's tau, against enumeration, scipy and statsmodels."""

from __future__ import annotations

from itertools import product
from math import sqrt
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import nct, t
from statsmodels.stats.multitest import multipletests

from fcpair.errors import InputError
from fcpair.params import Power
from fcpair.stages.stats import intervals
from fcpair.stages.stats.paired_tests import (
    holm,
    kendall,
    needed_hs,
    needed_resamples,
    noncentral_tails,
    plan_hs,
    randomisation,
)

Floats = NDArray[np.float64]


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


@pytest.mark.parametrize(
    ("differences", "resamples", "p"),
    [
        # 0.1 + 0.2 - 0.3 is not 0: of the sums of +-0.1, +-0.2 and +-0.3 every second is 0, as the observed one is
        ([[0.1], [0.2], [-0.3]], 500, [1]),
        (np.zeros((12, 2)), 1_000, [1, 1]),
        (np.ones((100, 1)), 999, [0.001]),  # it is never 0
    ],
)
def test_p_values_by_hand(differences: Floats, resamples: int, p: list[float]) -> None:
    assert randomisation(np.asarray(differences), resamples, seed=0).tolist() == p


def test_only_the_seed_changes_a_p_value(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the order of systems or HS nor the blocks do."""
    rng = np.random.default_rng(1)
    differences = rng.normal(0.3, 1, (30, 2))
    whole, again, other = (randomisation(differences, 500, seed).tolist() for seed in (3, 3, 5))
    assert whole == again != other
    assert randomisation(-differences, 500, 3).tolist() == whole
    assert randomisation(rng.permutation(differences), 500, 3).tolist() == whole
    for cells in (1, 170, 2_000):
        monkeypatch.setattr(intervals, "BLOCK_CELLS", cells)
        assert randomisation(differences, 500, 3).tolist() == whole


@pytest.mark.parametrize(
    ("p", "corrected"),
    [
        # sorted 0.01, 0.02, 0.03, 0.8: times 4, 3, 2, 1 gives 0.04, 0.06, 0.06, 0.8; the third is no less than before
        ([0.03, 0.01, 0.8, 0.02], [0.06, 0.04, 0.8, 0.06]),
        ([0.4, 0.45, 0.5], [1, 1, 1]),  # 0.4 times 3, then 0.45 times 2 and 0.5 times 1, both less than before
        ([0.03], [0.03]),
        ([], []),
    ],
)
def test_holm_by_hand(p: list[float], corrected: list[float]) -> None:
    assert holm(np.array(p)) == pytest.approx(corrected)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8))
def test_holm_corrects_as_statsmodels_does(p: list[float]) -> None:
    with patch("gc.collect"):  # statsmodels collects all garbage at each call
        assert holm(np.array(p)) == pytest.approx(multipletests(p, method="holm")[1])


@pytest.mark.parametrize("n_tests", [1, 3, 6, 45, 66, 1_225])
def test_with_as_many_resamples_as_are_needed_a_test_can_be_significant_and_with_one_less_none(n_tests: int) -> None:
    """Ten systems have 45 pairs: 45 / 901 is below 0.05, 45 / 900 is not."""
    assert needed_resamples(45, 0.05) == 900
    needed = needed_resamples(n_tests, 0.05)
    for resamples, reached in ((needed, True), (needed - 1, False)):
        p = np.full(n_tests, 1 / (1 + resamples))
        assert (holm(p)[0] < 0.05 - 1e-12) == reached


@pytest.mark.parametrize("n_tests", [1, 3, 45])
def test_fewer_hs_than_are_needed_have_too_few_ways_of_signs(n_tests: int) -> None:
    """Every HS prefers the same system, and still the p of all signs, times the tests, is not below 0.05."""
    needed = needed_hs(n_tests, 0.05)
    least = [n_tests * exact_p(np.linspace(0.1, 0.9, n_hs)) for n_hs in (needed, needed - 1)]
    assert least[0] < 0.05 <= least[1]


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


def test_means_that_differ_in_the_last_bit_only_are_tied_and_without_two_ranks_there_is_no_tau() -> None:
    almost, differ = np.array([0.1 + 0.2, 0.3, 0.9]), np.array([1.0, 2, 3])
    assert kendall(almost, differ) == kendall(np.array([0.3, 0.3, 0.9]), differ)
    for means in ([], [0.5]):
        assert kendall(np.array(means), np.array(means)) == (None, "there is one system")
    for level in (0.3, 0.1 + 0.2):
        same = np.array([0.3, level, 0.3])
        for pair in ((same, differ), (differ, same)):
            assert kendall(*pair) == (None, "all systems score the same on a tier")


@pytest.mark.parametrize(("df", "shift", "level"), [(5, 3.0, 0.05), (44, 1.7, 0.05), (400, 2.8, 0.01), (20, 0.0, 0.05)])
def test_the_power_is_that_of_noncentral_t(df: int, shift: float, level: float) -> None:
    bound = t.isf(level / 2, df)
    assert noncentral_tails(df, shift, level) == pytest.approx(nct.sf(bound, df, shift) + nct.cdf(-bound, df, shift))


def needed(difference: float, sd: float, **options: float) -> int:
    return plan_hs(Power(difference=difference, sd=sd, **options), 0.05, sd, "assumed").needed.hs  # type: ignore[arg-type]


def test_the_number_of_hs_is_the_least_with_that_power() -> None:
    """Cohen's (1988) table has 128 pairs for d = 0.25, two-sided 0.05 and power 0.8, as G*Power does."""
    plan = plan_hs(Power(power=0.8, difference=0.05, sd=0.2), 0.05, 0.2, "assumed", n_hs=45)
    assert plan.needed.hs == 128
    assert noncentral_tails(126, 0.25 * np.sqrt(127), 0.05) < 0.8 <= plan.needed.power
    assert plan.known is not None
    assert (plan.known.hs, round(plan.known.power, 2)) == (45, 0.37)


def test_it_rises_with_comparisons_from_what_the_test_itself_needs_to_a_million() -> None:
    """At the end, (1.960 + 0.842)^2 x 0.32^2 / 0.001^2, about 803,700, by the normal approximation."""
    assert needed(0.9, 0.01, power=0.5, comparisons=15) == needed_hs(15, 0.05)
    numbers = [needed(0.05, 0.2, comparisons=n) for n in (1, 3, 10)]
    assert numbers == sorted(set(numbers))
    assert needed(1e-3, 0.32) == pytest.approx(803_700, abs=200)
    with pytest.raises(InputError, match="more than 1,000,000 HS would be needed to find a difference of 1e-05"):
        needed(1e-5, 0.2)


@pytest.mark.parametrize("power", [0.5, 0.8])
def test_drawn_hs_find_the_difference_as_often_as_wished(power: float) -> None:
    n_hs = plan_hs(Power(power=power, difference=0.1, sd=0.2), 0.05, 0.2, "assumed").needed.hs
    differences = np.random.default_rng(0).normal(0.1, 0.2, (n_hs, 1_000))
    assert np.mean(randomisation(differences, 1_000, 0) < 0.05) == pytest.approx(power, abs=0.05)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"difference": 0.0}, "difference is 0; expected a number above 0"),
        ({"difference": 1.5}, r"difference is 1\.5; NDCG@10 lies between 0 and 1"),
        ({"sd": 0.0}, "sd is 0; expected a number above 0"),
        ({"power": 1.0}, r"power is 1\.0; expected a number between 0 and 1"),
        ({"sd": 0.2, "systems": ("tfidf", "bm25")}, "`sd` and `systems` are both given"),
    ],
)
def test_what_cannot_be_planned_says_why(values: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Power(**values)  # type: ignore[arg-type]
