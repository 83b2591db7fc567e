"""Words by white space, exact means, and rounding as printed tables do; texts that are repeated."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.texts.describe import often_repeated, own_copies
from fcpair.texts.lengths import count_words, mean, round_half_up, standard_deviation

NUMBERS = st.lists(st.integers(0, 200), min_size=2, max_size=30)


def test_words_are_parted_by_white_space_and_by_nothing_else() -> None:
    texts = pd.Series(["Tea, please.", " one\n\ttwo  three ", "", "می\u200cشود"], dtype=object)
    assert list(count_words(texts)) == [2, 3, 0, 1]


def test_a_mean_is_exact_and_there_is_none_of_nothing() -> None:
    assert mean([1, 2, 2]) == Fraction(5, 3)
    assert mean([]) is None


@given(NUMBERS)
def test_the_deviation_is_that_of_the_standard_library(numbers: list[int]) -> None:
    found = standard_deviation(numbers)
    assert found is not None
    assert math.isclose(found, statistics.stdev(numbers), rel_tol=1e-9, abs_tol=1e-9)


def test_one_number_has_no_deviation() -> None:
    assert standard_deviation([3]) is None


@pytest.mark.parametrize(
    ("value", "decimals", "printed"),
    [
        (Fraction(18955, 1000), 2, "18.96"),  # as a float it lies below the half
        (Fraction(23975, 1000), 2, "23.98"),
        (Fraction(5, 2), 0, "3"),
        (Fraction(-5, 2), 0, "-2"),
        (Fraction(1, 3), 4, "0.3333"),
        (7, 2, "7.00"),
    ],
)
def test_a_half_goes_up(value: Fraction, decimals: int, printed: str) -> None:
    assert str(round_half_up(value, decimals)) == printed


@given(st.fractions(-1000, 1000), st.integers(0, 5))
def test_what_is_rounded_is_within_half_a_unit(value: Fraction, decimals: int) -> None:
    gap = Fraction(round_half_up(value, decimals)) - value
    assert -Fraction(1, 2) < gap * 10**decimals <= Fraction(1, 2)


def test_only_texts_that_come_more_than_ten_times_are_often_repeated() -> None:
    texts = pd.Series(["ten"] * 10 + ["eleven"] * 10 + [" eleven "] + ["twelve"] * 12, dtype=object)
    assert often_repeated(texts).to_dict() == {"twelve": 12, "eleven": 11}
    assert list(often_repeated(texts).index) == ["twelve", "eleven"]


def test_a_copy_is_one_of_an_earlier_text_by_the_same_writer() -> None:
    texts = pd.Series(["Tea?", "Tea?", "Tea? ", "tea?"], dtype=object)
    assert list(own_copies(texts, pd.Series(["ana", "ben", "ana", "ana"]))) == [False, False, True, False]
