"""Surveys: shares against statsmodels and by hand, Cochran's sizes as books have them, and small cells."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions import SKIP, parse_form
from fcpair.stages.survey import (
    LEAST_COUNTED,
    MERGED,
    KeepRule,
    add_shares,
    count_respondents,
    judge_shares,
    margin_of_error,
    merge_small_cells,
    parse_keep,
    sample_size,
)


def counts(*rows: tuple[int, int, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["yes", "no", "decline"])


def test_a_share_is_yes_over_yes_and_no_with_wilson_s_interval_and_that_of_nobody_is_undefined() -> None:
    found = add_shares(counts((8, 2, 5))).iloc[0]
    assert (found["n"], found["share"]) == (10, 0.8)
    assert (round(found["low"], 6), round(found["high"], 6)) == (0.490162, 0.943318)  # Newcombe (1998), by his formula
    nobody = add_shares(counts((0, 0, 7)))
    assert nobody[["share", "low", "high"]].isna().all(axis=None)
    assert judge_shares(nobody, 0.6).to_numpy().tolist() == [["undefined", ""]]


def test_what_is_kept_is_strictly_above_and_undecided_where_the_interval_straddles() -> None:
    found = add_shares(counts((200, 50, 0), (50, 200, 0), (155, 95, 0), (150, 100, 0)))
    told = judge_shares(found, 0.6)
    assert list(told["verdict"]) == ["kept", "dropped", "kept", "dropped"]
    assert list(told["undecided"]) == ["no", "no", "yes", "yes"]


@pytest.mark.parametrize("n", [1, 69, 250])
def test_where_all_say_the_same_the_interval_ends_at_0_or_1_exactly(n: int) -> None:
    found = add_shares(counts((0, n, 0), (n, 0, 0)))
    assert (found["low"].iloc[0], found["high"].iloc[1]) == (0, 1)
    assert judge_shares(found, 0)["undecided"].iloc[0] == "yes"


@example(yes=0, no=69, threshold=0.0)
@given(st.integers(0, 300), st.integers(0, 300), st.floats(0, 0.99))
def test_what_is_decided_lies_on_its_side_with_its_whole_interval(yes: int, no: int, threshold: float) -> None:
    found = add_shares(counts((yes, no, 0)))
    one, told = found.iloc[0], judge_shares(found, threshold).iloc[0]
    if told["verdict"] != "undefined":
        assert (told["verdict"] == "kept") == (one["share"] > threshold)
    if told["undecided"] == "no":
        assert one["low"] > threshold if told["verdict"] == "kept" else one["high"] < threshold


def test_cochran_s_margin_and_sizes_and_numbers_that_mean_nothing() -> None:
    assert round(margin_of_error(250), 6) == 0.06198
    assert margin_of_error(1000, 1000) == 0
    assert [sample_size(0.062), sample_size(0.05), sample_size(0.05, 1000)] == [250, 385, 278]
    for n, population in ((0, None), (11, 10)):
        with pytest.raises(InputError, match="respondents of a population"):
            margin_of_error(n, population)
    with pytest.raises(InputError, match="between 0 and 1"):
        sample_size(0)


@given(st.floats(0.005, 0.5), st.integers(1, 100_000))
def test_the_size_has_the_margin_and_one_less_has_not(error: float, population: int) -> None:
    n = sample_size(error, population)
    assert 1 <= n <= population
    assert margin_of_error(n, population) <= error + 1e-9
    assert n == 1 or margin_of_error(n - 1, population) > error - 1e-9


def test_rules_are_read_and_those_of_another_form_are_refused() -> None:
    assert parse_keep("believed > 0.60") == KeepRule("believed", 0.6)
    assert str(parse_keep(" heard>0.5 ")) == "heard > 0.5"
    for text in ("believed", "believed >= 0.6", "believed > 1", "believed > 0.6.1", "> 0.6", ""):
        with pytest.raises(InputError, match="expected a question"):
            parse_keep(text)


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
        # what is to be merged anyway is never alone
        ({"yes": 9, "no": 7, SKIP: 6}, {"yes": 9, MERGED: 13}),
        ({"yes": 9, "no": 3, SKIP: 6}, {"yes": 9, MERGED: 9}),
    ],
)
def test_small_cells_are_taken_together(counts: dict[str, int], merged: dict[str, int]) -> None:
    assert merge_small_cells(counts, merged=(SKIP,)) == merged
    if SKIP not in counts:
        assert merge_small_cells(counts) == merged


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 12)))
def test_every_cell_is_large_enough_and_the_sum_stays(counts: dict[str, int]) -> None:
    merged = merge_small_cells(counts)
    assert all(n >= LEAST_COUNTED for n in merged.values())
    assert sum(merged.values()) == (sum(counts.values()) if sum(counts.values()) >= LEAST_COUNTED else 0)
    kept = {answer: n for answer, n in merged.items() if answer != MERGED}
    assert kept.items() <= counts.items()


TWO = "heard: one_of(yes,no); late: one_of(often,never)"
GATED = "heard: one_of(yes,no,decline?); where: one_of(home,work) when heard=yes"


@pytest.mark.parametrize(
    ("form", "answers", "counts"),
    [
        # five skips beside `late` would tell that two of the seven who are merged in `heard` said no
        (
            TWO,
            [(8, "yes", "often"), (2, "no", "never"), (6, "yes", "never"), (5,)],
            [{"yes": 14, MERGED: 7}, {"often": 8, MERGED: 13}],
        ),
        # skips are a count of their own where every question has enough
        (
            TWO,
            [(8, "yes", "often"), (7, "no", "never"), (5,)],
            [{"yes": 8, "no": 7, SKIP: 5}, {"often": 8, "never": 7, SKIP: 5}],
        ),
        # a question is counted among those whom it was put to
        (
            GATED,
            [(6, "yes", "home"), (5, "yes", "work"), (9, "no", "")],
            [{"yes": 11, "no": 9}, {"home": 6, "work": 5}],
        ),
        # and not where whoever knows that six were asked knows that six of the seven who are merged said yes
        (GATED, [(6, "yes", "home"), (20, "no", ""), (1, "decline", "")], [{"no": 20, MERGED: 7}]),
    ],
)
def test_counts_of_one_question_do_not_give_away_an_answer_to_another(
    form: str, answers: list[tuple[int | str, ...]], counts: list[dict[str, int]]
) -> None:
    """So many people give each answer, or skip."""
    questions = parse_form(form)
    names = [name for name, _ in questions.questions]
    said = [
        dict(zip(names, map(str, answer), strict=True)) if answer else None
        for n, *answer in answers
        for _ in range(int(n))
    ]
    assert count_respondents(questions, said) == dict(zip(names, counts, strict=False))
