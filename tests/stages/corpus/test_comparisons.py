"""Comparisons of texts of a row: how evenly they are drawn, and that they connect all texts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import connected_components

from fcpair.arrays import Ints
from fcpair.stages.corpus.comparisons import draw_comparisons, draw_some, least_comparisons, n_comparisons


def meetings(drawn: Ints, n_texts: int) -> Ints:
    """How often each two texts are in one comparison, `(n_texts, n_texts)`."""
    met = np.zeros((n_texts, n_texts), np.int64)
    for texts in drawn.tolist():
        for one, other in combinations(texts, 2):
            met[[one, other], [other, one]] += 1
    return met


@st.composite
def numbers(draw: st.DrawFn) -> tuple[int, int, int, int]:
    """Number of texts, of those that a comparison shows, of comparisons, and a seed."""
    size = draw(st.integers(2, 6))
    n_texts = draw(st.integers(size, 15))
    least = least_comparisons(n_texts, size)
    return n_texts, size, draw(st.integers(least, least + 25)), draw(st.integers(0, 99))


@given(numbers())
def test_texts_are_shown_equally_often_and_in_each_place_and_are_all_connected(
    drawn_numbers: tuple[int, int, int, int],
) -> None:
    n_texts, size, n, seed = drawn_numbers
    drawn = draw_comparisons(n_texts, size, n, seed, row=3)
    assert drawn.shape == (n, size)
    assert all(len({*texts}) == size for texts in drawn.tolist()), "no text is compared with itself"
    in_place = np.array([np.bincount(drawn[:, place], minlength=n_texts) for place in range(size)])
    assert np.ptp(in_place.sum(axis=0)) <= 1
    assert np.ptp(in_place, axis=0).max() <= 1
    met = meetings(drawn, n_texts)
    assert connected_components(met, directed=False)[0] == 1
    if size == 2:
        assert np.ptp(met[~np.eye(n_texts, dtype=bool)]) <= 2, "any two meet about as often as any other two"


def test_every_two_of_seven_meet_once_in_the_seven_groups_of_the_fano_plane_and_about_so_in_any_design() -> None:
    spread = np.ptp(meetings(draw_comparisons(7, 3, 7, 1), 7)[np.triu_indices(7, 1)])
    assert spread == 0, "each two of seven, in seven groups of three, meet once: there is one such design"
    rounds = meetings(draw_comparisons(8, 2, 28, 1), 8)
    assert np.ptp(rounds[np.triu_indices(8, 1)]) == 0, "28 pairs of eight are all that there are"
    for n_texts, size in ((9, 3), (13, 4), (8, 4)):
        n = n_texts * 4 // size
        even = n * size * (size - 1) / (n_texts * (n_texts - 1))
        met = meetings(draw_comparisons(n_texts, size, n, 1), n_texts)[np.triu_indices(n_texts, 1)]
        assert abs(met - even).max() < 2


def test_rows_of_the_same_numbers_have_their_texts_in_another_order_and_a_seed_gives_the_same() -> None:
    first, other = (draw_comparisons(8, 4, 8, 5, row) for row in (1, 2))
    assert first.tolist() == draw_comparisons(8, 4, 8, 5, 1).tolist()
    assert first.tolist() != other.tolist()
    assert first.tolist() != draw_comparisons(8, 4, 8, 6, 1).tolist()
    assert draw_some(9, 4, 5, 1).tolist() == sorted({*draw_some(9, 4, 5, 1).tolist()})


@pytest.mark.parametrize(
    ("n_texts", "size", "times", "expected"),
    [(8, 4, 4, 8), (7, 4, 4, 7), (9, 4, 1, 3), (10, 2, 1, 9), (2, 2, 1, 1), (6, 6, 3, 3)],
)
def test_there_are_as_many_comparisons_as_each_text_needs_and_never_too_few_to_connect_all(
    n_texts: int, size: int, times: int, expected: int
) -> None:
    assert n_comparisons(n_texts, size, times) == expected
    drawn = draw_comparisons(n_texts, size, expected, 1)
    assert np.bincount(drawn.ravel(), minlength=n_texts).min() >= times
