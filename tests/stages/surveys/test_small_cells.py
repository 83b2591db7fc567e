"""Small cells: no published count is of fewer than five people, and none can be had from the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.questions import SKIP, parse_form
from fcpair.stages.surveys.survey import LEAST_COUNTED, MERGED, count_respondents, merge_small_cells


@pytest.mark.parametrize(
    ("counts", "merged"),
    [
        ({"yes": 20, "no": 7}, {"yes": 20, "no": 7}),
        ({"yes": 20, "no": 3, "decline": 2}, {"yes": 20, MERGED: 5}),
        ({"yes": 20, "no": 7, "decline": 3}, {"yes": 20, MERGED: 10}),
        ({"yes": 20, "no": 5, "decline": 1}, {"yes": 20, MERGED: 6}),
        ({"yes": 6, "no": 1}, {MERGED: 7}),
        ({"yes": 2, "no": 2}, {}),
        ({"yes": 5, "no": 0}, {"yes": 5}),
        ({}, {}),
    ],
)
def test_small_cells_are_taken_together(counts: dict[str, int], merged: dict[str, int]) -> None:
    assert merge_small_cells(counts) == merged


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 12)))
def test_every_cell_is_large_enough_and_the_sum_stays(counts: dict[str, int]) -> None:
    merged = merge_small_cells(counts)
    assert all(n >= LEAST_COUNTED for n in merged.values())
    assert sum(merged.values()) == (sum(counts.values()) if sum(counts.values()) >= LEAST_COUNTED else 0)
    kept = {answer: n for answer, n in merged.items() if answer != MERGED}
    assert kept.items() <= counts.items()


def test_what_is_to_be_merged_is_never_alone() -> None:
    assert merge_small_cells({"yes": 9, "no": 7, SKIP: 6}, merged=(SKIP,)) == {"yes": 9, MERGED: 13}
    assert merge_small_cells({"yes": 9, "no": 3, SKIP: 6}, merged=(SKIP,)) == {"yes": 9, MERGED: 9}
    assert merge_small_cells({"yes": 9, "no": 7}, merged=(SKIP,)) == {"yes": 9, "no": 7}


def answered(*counts: tuple[int, dict[str, str] | None]) -> list[dict[str, str] | None]:
    """So many people with each answer; None for a skip."""
    return [answer for n, answer in counts for _ in range(n)]


def test_skips_of_one_question_do_not_give_away_an_answer_to_another() -> None:
    """Five skips beside `late` would tell that two of the seven who are merged in `heard` said no."""
    form = parse_form("heard: one_of(yes,no); late: one_of(often,never)")
    said = answered(
        (8, {"heard": "yes", "late": "often"}),
        (2, {"heard": "no", "late": "never"}),
        (6, {"heard": "yes", "late": "never"}),
        (5, None),
    )
    assert count_respondents(form, said) == {"heard": {"yes": 14, MERGED: 7}, "late": {"often": 8, MERGED: 13}}


def test_skips_are_a_count_of_their_own_where_every_question_has_enough() -> None:
    form = parse_form("heard: one_of(yes,no); late: one_of(often,never)")
    said = answered((8, {"heard": "yes", "late": "often"}), (7, {"heard": "no", "late": "never"}), (5, None))
    assert count_respondents(form, said) == {
        "heard": {"yes": 8, "no": 7, SKIP: 5},
        "late": {"often": 8, "never": 7, SKIP: 5},
    }


def test_a_question_is_counted_among_those_whom_it_was_put_to() -> None:
    form = parse_form("heard: one_of(yes,no); where: one_of(home,work) when heard=yes")
    at_home, at_work, unheard = (
        {"heard": "yes", "where": "home"},
        {"heard": "yes", "where": "work"},
        {"heard": "no", "where": ""},
    )
    said = answered((6, at_home), (5, at_work), (9, unheard))
    assert count_respondents(form, said) == {"heard": {"yes": 11, "no": 9}, "where": {"home": 6, "work": 5}}


def test_a_question_is_not_counted_where_that_would_give_away_the_one_before() -> None:
    """Whoever knows that six were asked knows that six of the seven who are merged said yes."""
    form = parse_form("heard: one_of(yes,no,decline?); where: one_of(home,work) when heard=yes")
    said = answered(
        (6, {"heard": "yes", "where": "home"}),
        (20, {"heard": "no", "where": ""}),
        (1, {"heard": "decline", "where": ""}),
    )
    assert count_respondents(form, said) == {"heard": {"no": 20, MERGED: 7}}
