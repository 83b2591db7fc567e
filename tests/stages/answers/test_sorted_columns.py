"""A column of answers that is sorted as chance would hardly sort it."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.answers.replies import RARE, is_ascending, is_sorted

MIXED = ["yes", "no", "yes", "yes", "no", "no", "yes", "no"] * 2


@pytest.mark.parametrize(
    "cells",
    [
        sorted(MIXED),
        sorted(MIXED, reverse=True),
        ["Yes", "yes"] * 4 + ["no"] * 8,
        ["skip"] * 4 + ["appropriate"] * 4 + ["not_sure"] * 4,
        ["", "", *sorted(MIXED), ""],
        ["1", "1,5", "2", "2", "3", "4", "4.5", "5", "10"],
        ["a text", "another one", "Before all", "cats", "dogs", "even", "for us", "good"],
    ],
    ids=["ascending", "descending", "capitals", "a list of its own", "gaps", "numbers", "texts"],
)
def test_sorted_cells_are_found(cells: list[str]) -> None:
    assert is_sorted(cells)


@pytest.mark.parametrize(
    "cells",
    [
        MIXED,
        [],
        ["yes"] * 50,
        ["no", "yes"],
        ["no"] * 9 + ["yes"],
        ["10", "2", "2", "3", "4", "4.5", "5", "1", "1,5"],
        ["good", "a text", "for us", "cats", "dogs", "even", "another one", "Before all"],
    ],
    ids=["mixed", "none", "alike", "two", "one that differs", "numbers", "texts"],
)
def test_what_chance_may_give_is_not(cells: list[str]) -> None:
    assert not is_sorted(cells)


@pytest.mark.parametrize("n", range(1, 12))
def test_how_rare_an_order_is_decides(n: int) -> None:
    """Of `n` cells that say yes and `n` that say no, two orders of all are sorted."""
    assert is_sorted(["yes"] * n + ["no"] * n) == (2 / math.comb(2 * n, n) < RARE)


@given(st.lists(st.sampled_from(["a", "b", "c"])))
def test_sorted_or_not_is_the_same_from_behind(cells: list[str]) -> None:
    assert is_sorted(cells) == is_sorted(cells[::-1])


def test_rows_in_their_order() -> None:
    assert is_ascending([1, 2, 9])
    assert not is_ascending([1, 9, 2])
    assert not is_ascending([1, 1])
