"""Texts that were picked by the extremes of a measure are told from texts that were not."""

from __future__ import annotations

import numpy as np
import pytest

from fcpair.texts.selection_check import check_selection

ENDS = [*range(10), *range(90, 100)]


def test_the_ends_of_a_population_are_a_warning() -> None:
    """0 of 20 in the middle half, 50 of 100: 0.5^20."""
    found = check_selection(np.array(ENDS, float), np.arange(100.0))
    assert found.test == "population"
    assert found.value == pytest.approx(0.5**20)
    assert found.warning is not None


def test_texts_of_one_end_are_none() -> None:
    assert check_selection(np.arange(20.0), np.arange(100.0)).warning is None


def test_texts_of_the_whole_population_are_none() -> None:
    assert check_selection(np.arange(0.0, 100, 5), np.arange(100.0)).warning is None


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


def test_the_gap_of_an_outlier_is_none() -> None:
    assert check_selection(np.array([*range(19), 500.0])).warning is None


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
