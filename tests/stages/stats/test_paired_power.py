"""How many HS tell two systems apart: by the noncentral t distribution, and as drawn HS find it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import nct, t

from fcpair.errors import InputError
from fcpair.params import Power
from fcpair.stages.stats.paired_tests import needed_hs, noncentral_tails, plan_hs, randomisation


@pytest.mark.parametrize(("df", "shift", "level"), [(5, 3.0, 0.05), (44, 1.7, 0.05), (400, 2.8, 0.01)])
def test_the_power_is_that_of_noncentral_t(df: int, shift: float, level: float) -> None:
    bound = t.isf(level / 2, df)
    assert noncentral_tails(df, shift, level) == pytest.approx(nct.sf(bound, df, shift) + nct.cdf(-bound, df, shift))


def test_without_a_difference_the_power_is_the_level() -> None:
    assert noncentral_tails(20, 0.0, 0.05) == pytest.approx(0.05)


def test_the_number_of_hs_is_the_least_with_that_power() -> None:
    """Cohen's (1988) table has 128 pairs for d = 0.25, two-sided 0.05 and power 0.8, as G*Power does."""
    plan = plan_hs(Power(power=0.8, difference=0.05, sd=0.2), 0.05, 0.2, "assumed", n_hs=45)
    assert plan.needed.hs == 128
    assert noncentral_tails(126, 0.25 * np.sqrt(127), 0.05) < 0.8 <= plan.needed.power
    assert plan.known is not None
    assert (plan.known.hs, round(plan.known.power, 2)) == (45, 0.37)


def test_at_least_as_many_hs_as_the_test_itself_needs() -> None:
    plan = plan_hs(Power(power=0.5, difference=0.9, sd=0.01, comparisons=15), 0.05, 0.01, "assumed")
    assert plan.needed.hs == needed_hs(15, 0.05)


def test_more_comparisons_take_more_hs() -> None:
    needed = [plan_hs(Power(sd=0.2, comparisons=n), 0.05, 0.2, "assumed").needed.hs for n in (1, 3, 10)]
    assert needed == sorted(set(needed))


def test_a_difference_that_no_study_finds_is_refused() -> None:
    with pytest.raises(InputError, match="more than 1,000,000 HS would be needed to find a difference of 1e-05"):
        plan_hs(Power(difference=1e-5, sd=0.2), 0.05, 0.2, "assumed")


def test_the_largest_number_that_is_planned_is_a_million() -> None:
    """By the normal approximation (1.960 + 0.842)^2 x 0.32^2 / 0.001^2, about 803,700."""
    assert plan_hs(Power(difference=1e-3, sd=0.32), 0.05, 0.32, "assumed").needed.hs == pytest.approx(803_700, abs=200)


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
