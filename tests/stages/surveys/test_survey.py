"""Shares of a survey against statsmodels and by hand, and Cochran's sizes as books have them."""

from __future__ import annotations

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.surveys.survey import KeepRule, add_shares, judge_shares, margin_of_error, parse_keep, sample_size


def counts(*rows: tuple[int, int, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["yes", "no", "decline"])


def test_a_share_is_yes_over_yes_and_no_with_wilson_s_interval() -> None:
    found = add_shares(counts((8, 2, 5))).iloc[0]
    assert (found["n"], found["share"]) == (10, 0.8)
    assert (round(found["low"], 6), round(found["high"], 6)) == (0.490162, 0.943318)  # Newcombe (1998), by his formula


def test_a_share_of_nobody_is_undefined() -> None:
    found = add_shares(counts((0, 0, 7)))
    assert found[["share", "low", "high"]].isna().all(axis=None)
    assert judge_shares(found, 0.6).to_numpy().tolist() == [["undefined", ""]]


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


def test_cochran_s_margin_and_sizes() -> None:
    assert round(margin_of_error(250), 6) == 0.06198
    assert margin_of_error(1000, 1000) == 0
    assert [sample_size(0.062), sample_size(0.05), sample_size(0.05, 1000)] == [250, 385, 278]


@given(st.floats(0.005, 0.5), st.integers(1, 100_000))
def test_the_size_has_the_margin_and_one_less_has_not(error: float, population: int) -> None:
    n = sample_size(error, population)
    assert 1 <= n <= population
    assert margin_of_error(n, population) <= error + 1e-9
    assert n == 1 or margin_of_error(n - 1, population) > error - 1e-9


def test_rules_are_read() -> None:
    assert parse_keep("believed > 0.60") == KeepRule("believed", 0.6)
    assert str(parse_keep(" heard>0.5 ")) == "heard > 0.5"


@pytest.mark.parametrize("told", ["believed", "believed >= 0.6", "believed > 1", "believed > 0.6.1", "> 0.6", ""])
def test_a_rule_of_another_form_is_refused(told: str) -> None:
    with pytest.raises(InputError, match="expected a question"):
        parse_keep(told)


def test_numbers_that_mean_nothing_are_refused() -> None:
    for n, population in ((0, None), (11, 10)):
        with pytest.raises(InputError, match="respondents of a population"):
            margin_of_error(n, population)
    with pytest.raises(InputError, match="between 0 and 1"):
        sample_size(0)
