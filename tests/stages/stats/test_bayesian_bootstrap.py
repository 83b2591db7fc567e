"""Intervals of means over a few HS, against the distributions of Jeffreys and of Clopper and Pearson, and loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import beta, binomtest

from fcpair.errors import InputError
from fcpair.stages.stats.intervals import LEAST_HS, mean_intervals

Floats = NDArray[np.float64]


def figures(n_hs: int, n_figures: int, seed: int) -> Floats:
    return np.random.default_rng(seed).random((n_hs, n_figures))


def bounds(values: Floats, draws: int = 300, seed: int = 4, ends: tuple[float, float] = (0.0, 1.0)) -> Floats:
    """The lower and the upper bounds, shape `(2, n_figures)`."""
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
    exact = binomtest(n_hs, n_hs).proportion_ci(0.95, "exact").low
    assert of_hits(n_hs, n_hs, 100) == pytest.approx([exact, 1])
    assert of_hits(0, n_hs, 100) == pytest.approx([0, 1 - exact])


def test_twelve_hits_of_twelve_start_at_0_735() -> None:
    """0.025 ** (1 / 12)."""
    assert of_hits(12, 12) == pytest.approx([0.7354, 1], abs=5e-5)


def test_one_hs_that_stands_alone_does_not_move_the_end() -> None:
    assert of_hits(1, 8)[0] == 0
    assert of_hits(7, 8)[1] == 1


def test_the_bounds_are_those_of_a_loop_with_the_same_draws() -> None:
    """Each draw weighs the HS, half an HS that scores 0 and half one that scores 1."""
    values = figures(6, 2, seed=3)
    drawn = np.random.default_rng(7).standard_gamma([1] * 6 + [0.5, 0.5], (200, 8))
    for column, (low, high) in enumerate(bounds(values, 200, seed=7).T):
        means = [np.average([*sorted(values[:, column]), 0, 1], weights=weights) for weights in drawn]
        assert (low, high) == pytest.approx((np.percentile(means, 2.5), np.percentile(means, 97.5)))


def test_the_ends_of_the_scale_move_with_it() -> None:
    """Scores from 0.8 to 0.9 have a tenth of the interval of the same scores from 0 to 1."""
    values = figures(8, 3, seed=1)
    assert bounds(0.8 + 0.1 * values, ends=(0.8, 0.9)) == pytest.approx(0.8 + 0.1 * bounds(values))


scores = st.lists(st.sampled_from([0.0, 0.1, 0.5, 0.9999999, 1.0]), min_size=LEAST_HS, max_size=15)


@given(scores)
def test_an_interval_has_some_width_holds_the_score_and_stays_on_the_scale(values: list[float]) -> None:
    low, high = bounds(np.array(values)[:, None], 100)[:, 0]
    assert high - low > 0.01
    assert 0 <= low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= high <= 1


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others() -> None:
    values = figures(20, 3, seed=1)
    once, again, other = (bounds(values, seed=seed).tobytes() for seed in (4, 4, 5))
    assert once == again != other


def test_a_figure_has_the_interval_that_it_has_alone() -> None:
    values = figures(20, 3, seed=1)
    assert bounds(values)[:, 1:2] == pytest.approx(bounds(values[:, 1:2]))


@pytest.mark.parametrize("cells", [1, 50, 999])
def test_blocks_change_nothing_of_an_interval(monkeypatch: pytest.MonkeyPatch, cells: int) -> None:
    whole = bounds(figures(20, 3, seed=1))
    monkeypatch.setattr("fcpair.stages.stats.intervals.BLOCK_CELLS", cells)
    assert bounds(figures(20, 3, seed=1)) == pytest.approx(whole)


@pytest.mark.parametrize("n_hs", [0, 1, 4])
def test_there_is_no_interval_for_fewer_than_five_hs(n_hs: int) -> None:
    assert np.isnan(bounds(np.full((n_hs, 2), 0.5))).all()
    assert not np.isnan(bounds(np.full((5, 2), 0.5))).any()


def test_too_few_draws_are_refused() -> None:
    with pytest.raises(InputError, match="resamples is 99; expected 100 to 1,000,000"):
        bounds(figures(9, 1, seed=0), 99)


def skewed(n_hs: int) -> Floats:
    """A population as MRR has it on a sparse tier: most HS 0, some 1, the rest between."""
    return np.random.default_rng(1).choice([0.0, 0.1, 0.25, 0.5, 1.0], (n_hs, 2_000), p=[0.6, 0.1, 0.1, 0.1, 0.1])


@pytest.mark.parametrize("n_hs", [8, 12, 45])
def test_the_intervals_of_2000_studies_hold_the_mean_of_the_population_in_92_to_98_percent(n_hs: int) -> None:
    """The mean is 0.185. The percentile bootstrap, by the same draws, holds it in 82 to 93 %."""
    low, high = bounds(skewed(n_hs), 2_000)
    assert 0.92 <= ((low <= 0.185) & (high >= 0.185)).mean() <= 0.98
