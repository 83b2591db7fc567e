"""Intervals that several figures share, against scipy's distributions, Jeffreys, Clopper and Pearson, and loops."""

from __future__ import annotations

from math import inf, isnan, nan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import betainc, fdtrc, stdtrit
from scipy.stats import beta, binomtest

from fcpair.errors import InputError
from fcpair.stages.stats.intervals import (
    LEAST_HS,
    check_resamples,
    f_tail,
    incomplete_beta,
    interval_within,
    mean_intervals,
    t_quantile,
)


def test_the_interval_of_a_correlation_is_that_of_fishers_z() -> None:
    """r = 0.5 of 28 pairs: z = 0.5493, its error 1 / 5, so tanh(0.5493 -+ 1.96 / 5), as in Fisher (1921)."""
    reach_z = 1.959963984540054 / 5
    assert interval_within(0.5, reach_z * (1 - 0.5**2), -1.0, 1.0)[:2] == pytest.approx((0.1560, 0.7358), abs=5e-5)
    assert interval_within(3.0, 0.5, -inf, inf)[:2] == (2.5, 3.5)
    assert interval_within(1.0, 0.1, 0.0, 1.0) == (None, None, "no interval, as it is at its bound")


@given(st.floats(-0.999, 0.999), st.floats(1e-6, 10.0))
def test_an_interval_holds_its_value_and_stays_between_the_bounds(value: float, reach: float) -> None:
    low, high, _ = interval_within(value, reach, -1.0, 1.0)
    assert low is not None
    assert high is not None
    assert -1.0 <= low < value < high <= 1.0


SIZE = st.floats(0.5, 1e5)


@given(SIZE, SIZE, st.floats(0, 1))
def test_the_incomplete_beta_function_is_scipys(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(betainc(a, b, x), rel=1e-8, abs=1e-12)


@given(st.floats(0.1, 1e7), st.floats(0.6, 0.9999))
def test_students_quantile_is_scipys(df: float, p: float) -> None:
    assert t_quantile(df, p) == pytest.approx(stdtrit(df, p), rel=1e-9)


def test_students_quantile_at_95_percent_is_scipys() -> None:
    """That of endless degrees of freedom is the normal one, and without any there is none."""
    for df in (1, 2, 3, 8, 44, 128, 399, 999, 999.9, 1000, 1001, 18_000, 1e12):
        assert t_quantile(df, 0.975) == pytest.approx(stdtrit(df, 0.975), rel=2e-12)
    assert t_quantile(inf, 0.975) == pytest.approx(1.959963984540054, rel=1e-15)
    assert all(isnan(t_quantile(df, 0.975)) for df in (0, -1, nan))


@given(st.integers(1, 500), st.integers(1, 200_000), st.floats(0, 50))
def test_the_tail_of_f_is_scipys(df1: int, df2: int, value: float) -> None:
    assert f_tail(df1, df2, value) == pytest.approx(fdtrc(df1, df2, value), rel=1e-7, abs=1e-12)


Floats = NDArray[np.float64]


def scored(n_hs: int, n_figures: int, seed: int) -> Floats:
    return np.random.default_rng(seed).random((n_hs, n_figures))


def bounds(values: Floats, draws: int = 300, seed: int = 4, ends: tuple[float, float] = (0.0, 1.0)) -> Floats:
    reach = np.tile(np.array(ends)[:, None], values.shape[1])
    return np.stack(mean_intervals(values, reach, draws, seed))


def of_hits(n_hits: int, n_hs: int, draws: int = 200_000) -> list[float]:
    """The interval of a share of 0/1 scores."""
    values = (np.arange(n_hs) < n_hits).astype(float)[:, None]
    return [float(bound[0]) for bound in bounds(values, draws)]


@pytest.mark.parametrize(("n_hits", "n_hs"), [(2, 5), (5, 8), (3, 12), (30, 45)])
def test_the_interval_of_hits_is_that_of_jeffreys(n_hits: int, n_hs: int) -> None:
    """The 2.5 % and 97.5 % points of Beta(hits + 1/2, misses + 1/2)."""
    expected = np.asarray(beta.ppf([0.025, 0.975], n_hits + 0.5, n_hs - n_hits + 0.5))
    assert of_hits(n_hits, n_hs) == pytest.approx(expected, abs=0.003)


@pytest.mark.parametrize("n_hs", [5, 8, 12, 45])
def test_where_every_hs_has_a_hit_the_lower_bound_is_that_of_clopper_and_pearson(n_hs: int) -> None:
    """With 12 of 12, 0.025 ** (1 / 12)."""
    exact = binomtest(n_hs, n_hs).proportion_ci(0.95, "exact").low
    assert of_hits(n_hs, n_hs, 100) == pytest.approx([exact, 1])
    assert of_hits(0, n_hs, 100) == pytest.approx([0, 1 - exact])
    if n_hs == 8:  # one HS that stands alone does not move the end
        assert (of_hits(1, n_hs)[0], of_hits(7, n_hs)[1]) == (0, 1)
    if n_hs == 12:
        assert of_hits(n_hs, n_hs) == pytest.approx([0.7354, 1], abs=5e-5)


def test_the_bounds_are_those_of_a_loop_with_the_same_draws() -> None:
    """Each draw weighs the HS, half an HS that scores 0 and half one that scores 1."""
    values = scored(6, 2, seed=3)
    drawn = np.random.default_rng(7).standard_gamma([1] * 6 + [0.5, 0.5], (200, 8))
    for column, (low, high) in enumerate(bounds(values, 200, seed=7).T):
        means = [np.average([*sorted(values[:, column]), 0, 1], weights=weights) for weights in drawn]
        assert (low, high) == pytest.approx((np.percentile(means, 2.5), np.percentile(means, 97.5)))


def test_the_ends_of_the_scale_move_with_it() -> None:
    """Scores from 0.8 to 0.9 have a tenth of the interval of the same scores from 0 to 1."""
    values = scored(8, 3, seed=1)
    assert bounds(0.8 + 0.1 * values, ends=(0.8, 0.9)) == pytest.approx(0.8 + 0.1 * bounds(values))


@given(st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9999999, 1.0]), min_size=LEAST_HS, max_size=15))
def test_an_interval_has_some_width_holds_the_score_and_stays_on_the_scale(values: list[float]) -> None:
    low, high = bounds(np.array(values)[:, None], 100)[:, 0]
    assert high - low > 0.01
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1


def test_only_the_seed_changes_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    values = scored(20, 3, seed=1)
    whole, again, other = (bounds(values, seed=seed) for seed in (4, 4, 5))
    assert whole.tobytes() == again.tobytes() != other.tobytes()
    assert whole[:, 1:2] == pytest.approx(bounds(values[:, 1:2]))  # as of one figure alone
    for cells in (1, 50, 999):
        monkeypatch.setattr("fcpair.stages.stats.intervals.BLOCK_CELLS", cells)
        assert bounds(values) == pytest.approx(whole)


def test_too_few_hs_have_no_interval_and_too_few_draws_are_refused() -> None:
    for n_hs in (0, 1, 4):
        assert np.isnan(bounds(np.full((n_hs, 2), 0.5))).all()
    assert not np.isnan(bounds(np.full((5, 2), 0.5))).any()
    for resamples in (-1, 0, 99, 1_000_001):
        with pytest.raises(InputError, match=f"resamples is {resamples}; expected 100 to 1,000,000"):
            check_resamples(resamples)
    with pytest.raises(InputError, match="resamples is 99; expected 100 to 1,000,000"):
        bounds(scored(9, 1, seed=0), 99)


def skewed(n_hs: int) -> Floats:
    """A population as MRR has it on a sparse tier: most HS 0, some 1, the rest between."""
    return np.random.default_rng(1).choice([0.0, 0.1, 0.25, 0.5, 1.0], (n_hs, 2_000), p=[0.6, 0.1, 0.1, 0.1, 0.1])


@pytest.mark.parametrize("n_hs", [8, 12, 45])
def test_the_intervals_of_2000_studies_hold_the_mean_of_the_population_in_92_to_98_percent(n_hs: int) -> None:
    """The mean is 0.185. The percentile bootstrap, by the same draws, holds it in 82 to 93 %."""
    low, high = bounds(skewed(n_hs), 2_000)
    assert 0.92 <= ((low <= 0.185) & (high >= 0.185)).mean() <= 0.98
