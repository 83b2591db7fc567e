"""Splits: whole groups on one side, in the sizes that were asked for; conditions on lines, and lines that are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.texts.stratify import (
    Condition,
    Split,
    complete_shares,
    filter_rows,
    label_distance,
    read_condition,
    sample_rows,
    sizes_of,
    stratify,
)

SHARES = st.lists(st.integers(1, 9), min_size=2, max_size=4).map(
    lambda parts: tuple(Fraction(part, sum(parts)) for part in parts)
)


def table(seed: int, n_groups: int, largest: int = 4) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), rng.integers(1, largest + 1, n_groups))
    return groups, rng.random((len(groups), 3)) < (0.05, 0.3, 0.6)


def split(seed: int, n_groups: int, shares: Sequence[Fraction], **options: int) -> tuple[Split, object]:
    groups, labels = table(seed, n_groups, **options)
    return stratify(groups, labels, shares, seed), groups


@given(st.integers(0, 10_000), st.integers(40, 90), SHARES)
def test_no_group_is_on_two_sides_and_no_line_is_lost(seed: int, n_groups: int, shares: tuple[Fraction, ...]) -> None:
    groups, labels = table(seed, n_groups)
    found = stratify(groups, labels, shares, seed)
    assert len({(group, side) for group, side in zip(groups, found.side, strict=True)}) == n_groups
    np.testing.assert_array_equal(np.bincount(found.side, minlength=len(shares)), found.sizes)
    np.testing.assert_array_equal(found.counts.sum(axis=0), labels.sum(axis=0))
    for at in range(len(shares)):
        np.testing.assert_array_equal(found.counts[at], labels[found.side == at].sum(axis=0))
        assert found.n_groups[at] == len(set(groups[found.side == at])) > 0


@given(st.integers(0, 10_000), SHARES)
def test_sizes_are_those_asked_for_where_small_groups_allow_them(seed: int, shares: tuple[Fraction, ...]) -> None:
    found, _ = split(seed, 80, shares)
    np.testing.assert_array_equal(found.sizes, found.wanted)


@given(st.integers(0, 10_000))
def test_labels_of_single_lines_are_halved_as_whole_numbers_can_be(seed: int) -> None:
    found, _ = split(seed, 200, (Fraction(1, 2), Fraction(1, 2)), largest=1)
    assert np.abs(found.counts[0] - found.counts[1]).max() <= 2


def test_the_same_seed_gives_the_same_split_and_another_one_another() -> None:
    shares = complete_shares([0.5])
    groups, labels = table(1, 60)
    sides = [stratify(groups, labels, shares, seed).side.tolist() for seed in (3, 3, 4)]
    assert sides[0] == sides[1] != sides[2]


@pytest.mark.parametrize("shares", [(Fraction(1, 10), Fraction(9, 10)), (Fraction(9, 10), Fraction(1, 10))])
def test_groups_larger_than_a_side_leave_it_with_the_smallest(shares: tuple[Fraction, ...]) -> None:
    groups = np.repeat([0, 1], [30, 70])
    found = stratify(groups, np.ones((100, 1), np.bool_), shares, 0)
    assert sorted(found.sizes.tolist()) == [30, 70]
    assert found.n_groups.tolist() == [1, 1]


def test_sizes_add_up_and_the_largest_remainders_get_the_rest() -> None:
    assert sizes_of(3435, complete_shares([0.625])).tolist() == [2147, 1288]
    assert sizes_of(10, complete_shares([0.34, 0.33, 0.33])).tolist() == [4, 3, 3]


@pytest.mark.parametrize(
    ("given_", "shares"),
    [([0.625], ["5/8", "3/8"]), ([0.6, 0.2], ["3/5", "1/5", "1/5"]), ([0.1, 0.2, 0.7], ["1/10", "1/5", "7/10"])],
)
def test_the_last_side_gets_what_the_shares_leave(given_: list[float], shares: list[str]) -> None:
    assert complete_shares(given_) == tuple(map(Fraction, shares))


@pytest.mark.parametrize("given_", [[], [0], [1], [-0.5], [0.7, 0.4], [float("nan")], [float("inf")]])
def test_shares_that_cannot_be_are_refused(given_: list[float]) -> None:
    with pytest.raises(InputError, match="expected numbers above 0"):
        complete_shares(given_)


def test_fewer_groups_than_sides_are_refused() -> None:
    with pytest.raises(InputError, match="1 groups cannot be split into 2 sides"):
        stratify(np.zeros(5, np.int64), np.ones((5, 1), np.bool_), complete_shares([0.5]), 0)


def test_a_share_of_no_line_is_refused() -> None:
    with pytest.raises(InputError, match="is less than one line"):
        stratify(np.arange(4), np.ones((4, 1), np.bool_), complete_shares([0.01]), 0)


# -- the label distance


def test_the_label_distance_by_hand() -> None:
    # Side one: 2 of 4 lines, odds 1; side two: 1 of 4, odds 1/3; whole: 3 of 8, odds 3/5.
    found = label_distance(np.array([[2], [1]]), np.array([4, 4]))
    assert found == pytest.approx((abs(1 - 3 / 5) + abs(1 / 3 - 3 / 5)) / 2)


def test_the_label_distance_is_0_where_all_sides_are_alike() -> None:
    assert label_distance(np.array([[2, 4], [1, 2]]), np.array([6, 3])) == pytest.approx(0)


@pytest.mark.parametrize(
    ("counts", "sizes"), [([[2], [1]], [2, 4]), ([[0], [1]], [0, 4]), (np.zeros((2, 0), np.int64), [2, 2])]
)
def test_the_label_distance_is_undefined_where_odds_are(counts: list[list[int]], sizes: list[int]) -> None:
    assert label_distance(np.array(counts), np.array(sizes)) is None


# -- which lines are looked at


TABLE = pd.DataFrame(
    {"kind": ["facts", "humour ", "facts; humour", '["facts", "humour"]', ""], "at": list("abcde")}, dtype=object
)


def met(*conditions: str) -> str:
    return "".join(filter_rows(TABLE, [read_condition(one) for one in conditions], range(2, 7), "t.csv")["at"])


@pytest.mark.parametrize(
    ("conditions", "lines"),
    [
        (["kind=humour"], "b"),
        (["kind != humour"], "acde"),
        (["kind has humour"], "bcd"),
        (["kind has humour", "at!=b"], "cd"),
        (["kind="], "e"),
        (["kind!="], "abcd"),
    ],
)
def test_a_line_is_kept_where_it_meets_all_conditions(conditions: list[str], lines: str) -> None:
    assert met(*conditions) == lines


@pytest.mark.parametrize("text", ["kind=a=b", "the kind has it all", "kind!=x"])
def test_a_condition_prints_as_it_is_read(text: str) -> None:
    assert str(read_condition(text)) == text


def test_a_value_may_hold_the_signs_of_a_condition() -> None:
    assert read_condition("kind = a=b") == Condition("kind", "=", "a=b")


@pytest.mark.parametrize(
    ("condition", "message"),
    [("kind", "is not a condition; expected `COLUMN=VALUE`"), ("knd=x", "did you mean `kind`?")],
)
def test_what_is_no_condition_is_refused(condition: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        met(condition)
    assert message in str(caught.value)


def test_a_cell_that_cannot_be_read_is_found_with_its_line() -> None:
    frame = pd.DataFrame({"kind": ["facts", "[facts"]}, dtype=object)
    with pytest.raises(InputError, match=r"t\.csv:3: `\[facts` is not a JSON list"):
        filter_rows(frame, [read_condition("kind has facts")], [2, 3], "t.csv")


def test_drawn_lines_stay_in_order_are_distinct_and_follow_the_seed() -> None:
    frame = pd.DataFrame({"at": range(100)})
    one, again, other = (list(sample_rows(frame, 30, seed, "t.csv")["at"]) for seed in (1, 1, 2))
    assert one == again == sorted(set(one)) != other
    assert len(one) == 30
    assert list(sample_rows(frame, 100, 3, "t.csv")["at"]) == list(range(100))


def test_more_lines_than_there_are_cannot_be_drawn() -> None:
    with pytest.raises(InputError, match="101 lines cannot be drawn of 100"):
        sample_rows(pd.DataFrame({"at": range(100)}), 101, 0, "t.csv")
