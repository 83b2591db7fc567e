"""Correlations of a measure with ratings: by hand, against scipy, their intervals, and texts picked by extremes."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from fcpair.errors import InputError
from fcpair.records import Figure
from fcpair.texts.ratings import CorrelationFigures, RatedTexts, check_selection, correlate, pearson, spearman

FEW = 200  # draws
ENDS = [*range(10), *range(90, 100)]


def rated(measure: Any, ratings: Any, kind: tuple[str, ...] = ()) -> RatedTexts:
    """Texts and their ratings, a row each; None where there is none."""
    numbers = np.array(ratings, dtype=np.float64).reshape(len(measure), -1)
    names = tuple(f"r{at}" for at in range(numbers.shape[1]))
    return RatedTexts(np.array(measure, dtype=np.float64), numbers, kind or ("",) * len(measure), names)


def whole(given: RatedTexts, **more: Any) -> CorrelationFigures:
    return correlate(given, draws=FEW, **more)[0]


def both(found: CorrelationFigures) -> tuple[Figure, Figure]:
    one, other = found.figures
    return one, other


def noisy(n_texts: int, n_raters: int, seed: int = 3) -> RatedTexts:
    rng = np.random.default_rng(seed)
    measure = rng.normal(size=n_texts)
    given = measure[:, None] + rng.normal(size=n_raters) + rng.normal(size=(n_texts, n_raters))
    return rated(measure, np.clip(np.round(given + 3), 1, 5))


# -- the correlations


def test_pearson_and_spearman_by_hand() -> None:
    """Measure 1 2 3 6, mean ratings 1 3 2 4: deviations -2 -1 0 3 and -1.5 .5 -.5 1.5: 7 / sqrt(14 x 5); ranks 0.8."""
    found = whole(rated([1, 2, 3, 6], [[1, 1], [2, 4], [2, 2], [3, 5]]))
    one, other = both(found)
    assert one.value == pytest.approx(7 / np.sqrt(14 * 5))
    assert other.value == pytest.approx(1 - 6 * 2 / (4 * 15))
    assert (found.n, found.n_raters, found.n_ratings) == (4, 2, 8)
    assert (one.n, other.n) == (4, 4)


def test_a_rating_that_is_missing_leaves_the_mean_of_the_others() -> None:
    some = whole(rated([1, 2, 3, 6], [[1, None], [2, 4], [None, 2], [3, 5]]))
    assert both(some)[0].value == both(whole(rated([1, 2, 3, 6], [1, 3, 2, 4])))[0].value
    assert some.n_ratings == 6


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(2, 10)), min_size=3, max_size=25))
def test_they_are_scipy_s(pairs: list[tuple[int, int]]) -> None:
    x, y = np.array(pairs, np.float64).T
    assume(np.ptp(x) and np.ptp(y))
    one, other = both(correlate(rated(x, y / 2), draws=100)[0])
    assert one.value == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    assert other.value == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4), st.integers(0, 3)), min_size=3, max_size=15))
def test_a_text_that_counts_twice_is_two_texts(rows: list[tuple[int, int, int]]) -> None:
    x, y, times = np.array(rows, np.float64).T
    xs, ys = (np.repeat(side, times.astype(int)) for side in (x, y))
    assume(len(xs) > 1 and np.ptp(xs) and np.ptp(ys))
    one, other = (of(x[None], y[None], times[None])[0] for of in (pearson, spearman))
    assert one == pytest.approx(stats.pearsonr(xs, ys).statistic, abs=1e-9)
    assert other == pytest.approx(stats.spearmanr(xs, ys).statistic, abs=1e-9)


def test_each_group_has_the_correlations_of_its_texts_alone() -> None:
    found = correlate(rated([1, 2, 3, 1, 2, 3], [1, 2, 3, 3, 2, 1], ("up",) * 3 + ("down",) * 3), draws=FEW)
    assert [(one.of, one.n, round(both(one)[0].value or 0.0, 9)) for one in found] == [
        (None, 6, 0.0),
        ("down", 3, -1.0),
        ("up", 3, 1.0),
    ]


def test_texts_that_nobody_rated_are_no_part_of_it() -> None:
    found = whole(rated([1, 2, 3, 6, 100], [1, 3, 2, 4, None]))
    assert found.n == 4
    assert both(found)[0].value == pytest.approx(7 / np.sqrt(14 * 5))


@pytest.mark.parametrize(
    ("measure", "ratings", "why"),
    [
        ([1, 2], [1, 2], "it needs at least 3 texts with a measure and a rating, found 2"),
        ([1, 2, 3], [1, None, 2], "it needs at least 3 texts with a measure and a rating, found 2"),
        ([2, 2, 2], [1, 2, 3], "the measure is the same on all texts"),
        ([1, 2, 3], [[1, 3], [2, 2], [3, 1]], "the mean rating is the same on all texts"),
    ],
)
def test_a_correlation_is_undefined_where_nothing_varies_or_texts_are_few(measure: Any, ratings: Any, why: str) -> None:
    for figure in both(whole(rated(measure, ratings))):
        assert (figure.value, figure.low, figure.undefined) == (None, None, why)


def test_tiny_numbers_correlate_as_large_ones_do() -> None:
    given = noisy(20, 1)
    small = RatedTexts(given.measure * 1e-9, given.ratings * 1e-9 + 1, given.kind, given.raters)
    assert both(whole(small))[0].value == pytest.approx(both(whole(given))[0].value, abs=1e-6)


# -- intervals


def test_an_interval_holds_its_figure_follows_the_seed_and_says_of_whom_and_how_many_it_speaks() -> None:
    given = noisy(40, 5)
    first = both(whole(given, seed=1))
    for figure in first:
        assert -1 <= (figure.low or -2) < (figure.value or 0) < (figure.high or 2) <= 1
        assert "interval from 5 raters and 40 texts" in figure.note
    assert both(whole(given, seed=1)) == first != both(whole(given, seed=2))
    note = both(whole(noisy(40, 1)))[0].note
    assert "interval from the same rater and 40 texts" in note
    assert "it is for the ratings of this rater only" in note
    assert "9 texts, so few that it is likely too narrow" in both(whole(noisy(9, 3)))[0].note
    assert "so few" not in both(whole(noisy(10, 3)))[0].note
    figure = both(whole(rated(range(20), range(20))))[0]
    assert (round(figure.value or 0, 9), figure.low, "gives the same" in figure.note) == (1, None, True)


def test_an_interval_says_that_it_is_for_the_mean_of_so_many_raters() -> None:
    """Of few raters' mean: that of all raters correlates more, and is outside of one interval in four."""
    every = noisy(40, 5)
    assert "it is for the mean of 5 raters, not of all possible raters" in both(whole(every))[0].note
    ratings = every.ratings.copy()
    ratings[::2, 0] = np.nan
    some = both(whole(replace(every, ratings=ratings)))[0]
    assert "it is for the mean of as many raters a text, not of all possible raters" in some.note


def test_with_one_rater_the_interval_is_about_that_of_fisher() -> None:
    """Bivariate normal with correlation 0.6: tanh(atanh r +- 1.96 / sqrt(n - 3))."""
    rng = np.random.default_rng(4)
    x, e = rng.normal(size=(2, 400))
    figure = both(correlate(rated(x, 0.6 * x + 0.8 * e), draws=4000)[0])[0]
    expected = np.tanh(np.arctanh(figure.value or 0.0) + np.array([-1.96, 1.96]) / np.sqrt(397))
    assert [figure.low, figure.high] == pytest.approx(expected, abs=0.02)


def test_few_raters_who_differ_make_the_interval_wider_and_are_pointed_out() -> None:
    """Two raters, of whom one goes with the measure and the other does not: a draw may have only one of them."""
    rng = np.random.default_rng(5)
    measure = rng.normal(size=60)
    ratings = np.column_stack([measure, rng.normal(size=60)])
    apart = both(whole(rated(measure, ratings)))[0]
    alone = both(whole(rated(measure, ratings.mean(axis=1))))[0]
    assert apart.value == pytest.approx(alone.value)
    assert (apart.high or 0) - (apart.low or 0) > 2 * ((alone.high or 0) - (alone.low or 0))
    assert "only 2 raters: they say little about how raters differ" in apart.note


def test_the_result_is_json_without_nan() -> None:
    told = [json.dumps(asdict(whole(noisy(9, 2))), allow_nan=False) for _ in range(2)]
    assert told[0] == told[1]


def test_draws_that_cannot_carry_an_interval_are_refused() -> None:
    with pytest.raises(InputError, match="expected 100 to"):
        correlate(noisy(9, 2), draws=10)


# -- texts that were picked


def test_texts_of_the_extremes_of_a_measure_are_warned_about() -> None:
    """The ten first and ten last of 120 texts, as in CrowdCounter's Table 7, correlate far more than all do."""
    given = noisy(120, 4, seed=8)
    order = np.argsort(given.measure)
    picked = np.isin(np.arange(120), order[[*range(10), *range(110, 120)]])
    some = RatedTexts(given.measure, np.where(picked[:, None], given.ratings, np.nan), given.kind, given.raters)
    by_population, by_gap = whole(some), whole(some.select(picked))
    assert by_population.picked.test == "population"
    assert "0 of 20 are in the middle half of its population (120 texts)" in (by_population.picked.warning or "")
    assert by_gap.picked.test == "gap"
    assert "none is between" in (by_gap.picked.warning or "")
    assert (both(by_gap)[0].value or 0) > (both(whole(given))[0].value or 0) + 0.05
    assert whole(given).picked.warning is None


def test_the_ends_of_a_population_are_a_warning_and_neither_one_end_nor_all_of_it() -> None:
    """0 of 20 in the middle half, 50 of 100: 0.5^20."""
    found = check_selection(np.array(ENDS, float), np.arange(100.0))
    assert found.test == "population"
    assert found.value == pytest.approx(0.5**20)
    assert found.warning is not None
    for some in (np.arange(20.0), np.arange(0.0, 100, 5)):
        assert check_selection(some, np.arange(100.0)).warning is None


def test_ties_in_a_population_count_with_its_middle() -> None:
    """60 of 100 are 0, the first quartile is 0 too: the middle half holds 80, and 16 of 20 texts."""
    population = np.array([-1.0] * 20 + [0.0] * 60 + [1.0] * 20)
    found = check_selection(np.array([-1.0, -1.0, *[0.0] * 16, 1.0, 1.0]), population)
    assert found.value is not None
    assert found.value > 0.3
    assert found.warning is None


def test_an_empty_middle_is_a_warning_that_names_it() -> None:
    found = check_selection(np.array(ENDS, float))
    assert found.test == "gap"
    assert found.value == pytest.approx(81 / 99)
    assert "none is between 9 and 90, 82 % of its range" in (found.warning or "")


def test_the_limit_of_a_gap_is_that_of_uniform_spacings() -> None:
    """20 texts: 11 gaps with 5 on either side; 1 - (0.01 / 11)^(1 / 18)."""
    found = check_selection(np.arange(20.0))
    assert found.limit == pytest.approx(1 - (0.01 / 11) ** (1 / 18))
    assert found.warning is None
    assert check_selection(np.array([*range(19), 500.0])).warning is None  # an outlier


@pytest.mark.parametrize("measure", [[0.0] * 10 + [1.0] * 10, [1.0, 2.0, 3.0] * 2, [5.0] * 20, [0.0, 0.1, 1.0] * 7])
def test_classes_and_few_texts_are_not_tested(measure: list[float]) -> None:
    assert check_selection(np.array(measure)).test is None


@pytest.mark.parametrize("draw", ["uniform", "normal"])
@pytest.mark.parametrize("n", [20, 60])
def test_texts_taken_at_random_are_seldom_warned_about(draw: str, n: int) -> None:
    """At most 1 in 100 by the gap, 1 in 1,000 by the population; of 1,000 samples of a fixed seed."""
    rng = np.random.default_rng(6)
    samples = getattr(rng, draw)(size=(1000, n))
    population = getattr(rng, draw)(size=500)
    assert sum(check_selection(one).warning is not None for one in samples) <= 15
    taken = (rng.choice(population, n, replace=False) for _ in range(1000))
    assert sum(check_selection(one, population).warning is not None for one in taken) <= 2
