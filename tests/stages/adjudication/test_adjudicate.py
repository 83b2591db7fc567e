"""From labels to one label: cases by hand, a count in plain Python, and FC-CONAN's own decisions."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path
from statistics import median_high, median_low
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.files.corpus.fc_conan import ANONYMOUS, read_published
from fcpair.params import Policy, Ties
from fcpair.records import PairState
from fcpair.stages.adjudication.adjudicate import Tally, decide_by_policy, forecast, tally
from fcpair.stages.questions import Choice, Closed, OneOf, Scale
from fcpair.stages.questions.labels import APPROPRIATENESS

FOUR = OneOf(
    (
        Choice(0, "bad"),
        Choice(2, "fair"),
        Choice(5, "unsure", definite=False),
        Choice(9, "good", positive=True),
    )
)
Labels = dict[int, list[int]]


def tallied(labels: Labels, scheme: Closed = APPROPRIATENESS) -> Tally:
    pairs = [pair for pair, codes in labels.items() for _ in codes]
    codes = [code for codes in labels.values() for code in codes]
    return tally(np.array(pairs, np.int64), np.array(codes, np.int64), scheme)


def decided(labels: Labels, policy: Policy, ties: Ties = "wait", scheme: Closed = APPROPRIATENESS) -> list[list[Any]]:
    """Of each pair its number, whether it is decided, its code (-1: none) and the rule (None: it waits)."""
    rows = []
    for pair, codes in sorted(labels.items()):
        made = decide_by_policy([codes.count(code) for code in scheme.codes], scheme, policy, ties)
        code = -1 if made is None or made.code is None else made.code
        rows.append([pair, made is not None, code, None if made is None else made.rule.value])
    return rows


def by_count(codes: list[int], policy: Policy, ties: Ties, scheme: OneOf) -> tuple[bool, int, str | None]:
    """Whether a pair is decided, its code and its rule (None: it waits)."""
    definite = [code for code in codes if scheme[code].definite]
    often = Counter(definite).most_common()
    if len(often) == 1:
        return True, often[0][0], "unanimous"
    if policy == "manual":
        return False, -1, None
    if policy == "majority" and often and often[0][1] > often[1][1]:
        return True, often[0][0], "majority"
    if policy == "median" and definite and median_low(definite) == median_high(definite):
        return True, median_low(definite), "median"
    return (True, -1, f"no_{policy}") if ties == "discard" else (False, -1, None)


def labels_of(scheme: OneOf) -> st.SearchStrategy[Labels]:
    return st.dictionaries(st.integers(0, 99), st.lists(st.sampled_from(scheme.codes), min_size=1, max_size=7))


# -- counting


def test_a_tally_counts_each_answer_of_each_pair() -> None:
    count = tallied({8: [9, 9, 0], 3: [5]}, FOUR)
    assert count.cell_id.tolist() == [3, 8]
    assert count.counts.tolist() == [[0, 0, 1, 0], [1, 0, 0, 2]]
    assert count.n_labels.tolist() == [1, 3]


@given(labels_of(FOUR), st.sampled_from([*FOUR.codes, -1, 1, 10]))
def test_votes_are_the_labels_equal_to_a_code(labels: Labels, code: int) -> None:
    count = tallied(labels, FOUR)
    votes = count.votes(np.full(len(labels), code))
    assert votes.tolist() == [labels[pair].count(code) for pair in sorted(labels)]


def test_each_pair_has_votes_for_its_own_code() -> None:
    assert tallied({1: [0, 0, 2], 2: [2, 2, 0], 3: [1]}).votes(np.array([0, 2, -1])).tolist() == [2, 2, 0]


# -- deciding


@pytest.mark.parametrize(
    ("codes", "manual", "majority"),
    [
        ([2], (True, 2, "unanimous"), (True, 2, "unanimous")),
        ([0, 0, 0], (True, 0, "unanimous"), (True, 0, "unanimous")),
        ([2, 1], (True, 2, "unanimous"), (True, 2, "unanimous")),
        ([1, 1, 0], (True, 0, "unanimous"), (True, 0, "unanimous")),
        ([2, 2, 0], (False, -1), (True, 2, "majority")),
        ([0, 2, 0], (False, -1), (True, 0, "majority")),
        ([2, 0], (False, -1), (False, -1)),
        ([2, 0, 1], (False, -1), (False, -1)),
        ([1], (False, -1), (False, -1)),
        ([1, 1, 1], (False, -1), (False, -1)),
    ],
)
def test_decisions_by_hand(codes: list[int], manual: tuple[Any, ...], majority: tuple[Any, ...]) -> None:
    for found, expected in ((decided({7: codes}, "manual"), manual), (decided({7: codes}, "majority"), majority)):
        assert found[0][1 : 1 + len(expected)] == list(expected)


@pytest.mark.parametrize("codes", [[2, 0], [2, 0, 1], [1], [1, 1]])
def test_ties_and_not_sure_alone_are_discarded_by_a_majority_that_is_told_to(codes: list[int]) -> None:
    assert decided({7: codes}, "majority", "discard") == [[7, True, -1, "no_majority"]]
    assert decided({7: codes}, "median", "discard") == [[7, True, -1, "no_median"]]
    assert decided({7: codes}, "manual", "discard")[0][1:3] == [False, -1]


def test_a_majority_leads_every_other_answer_but_needs_not_half() -> None:
    assert decided({1: [9, 9, 0, 2]}, "majority", scheme=FOUR) == [[1, True, 9, "majority"]]
    assert decided({1: [9, 9, 2, 2, 0]}, "majority", scheme=FOUR)[0][1] is False


def test_more_not_sure_than_definite_labels_do_not_hold_a_majority_back() -> None:
    assert decided({1: [9, 9, 0, 5, 5, 5]}, "majority", scheme=FOUR) == [[1, True, 9, "majority"]]


def test_no_labels_give_no_decisions() -> None:
    assert decided({}, "majority") == []


@pytest.mark.parametrize("policy", get_args(Policy))
@pytest.mark.parametrize("ties", get_args(Ties))
@pytest.mark.parametrize("scheme", [APPROPRIATENESS, FOUR])
@given(data=st.data())
def test_decisions_are_those_of_a_count(policy: Policy, ties: Ties, scheme: OneOf, data: st.DataObject) -> None:
    labels = data.draw(labels_of(scheme))
    rows = decided(labels, policy, ties, scheme)
    assert [row[0] for row in rows] == sorted(labels)
    for pair, is_decided, code, rule in rows:
        expected = by_count(labels[pair], policy, ties, scheme)
        assert (is_decided, code) == expected[:2]
        assert expected[2] == rule


FIVE = OneOf(tuple(Choice(code, f"grade {code}", positive=code > 3) for code in range(1, 6)))


@pytest.mark.parametrize(
    ("codes", "made"),
    [
        ([1, 4, 5], (True, 4, "median")),
        ([1, 1, 5], (True, 1, "median")),
        ([1, 3, 3, 5], (True, 3, "median")),
        ([2, 2, 5, 5], (False, -1, None)),  # 3.5 is no grade, and 3 is none that anybody gave
        ([2, 4], (False, -1, None)),
        ([4, 4], (True, 4, "unanimous")),
    ],
)
def test_the_median_of_grades_by_hand(codes: list[int], made: tuple[bool, int, str | None]) -> None:
    assert decided({7: codes}, "median", scheme=FIVE)[0][1:] == list(made)


@pytest.mark.parametrize(
    ("numbers", "median"),
    [("4 5", "4.5"), ("4 4.5", None), ("1 5", "3"), ("1 1.5 5", "1.5"), ("2 3 4 4.5", "3.5"), ("2 3 3.5 5", None)],
)
def test_the_median_of_two_numbers_in_the_middle_is_halfway_where_the_scale_has_that(
    numbers: str, median: str | None
) -> None:
    scale = Scale(Decimal(1), Decimal(5), Decimal("0.5"))
    ((_, is_decided, code, _),) = decided({7: [scale.read(one) for one in numbers.split()]}, "median", scheme=scale)
    assert (scale.name(code) if is_decided else None) == median


def test_not_sure_has_no_place_in_the_middle() -> None:
    assert decided({1: [0, 5, 5, 5, 9, 9]}, "median", scheme=FOUR) == [[1, True, 9, "median"]]


def test_a_pair_without_a_label_is_neither_decided_nor_discarded() -> None:
    assert decided({1: []}, "majority", "discard") == [[1, False, -1, None]]


# -- what a run would do


def state(pair: int, codes: list[int], rule: str | None = None, code: int | None = None) -> PairState:
    return PairState(pair, tuple(codes.count(one) for one in APPROPRIATENESS.codes), rule, code)


def test_a_forecast_says_what_is_to_be_written() -> None:
    pairs = [
        state(1, [2, 2]),  # new
        state(2, [2, 2], "unanimous", 2),  # stands
        state(3, [2, 2, 0], "unanimous", 2),  # by another rule now
        state(4, [0, 2], "majority", 2),  # reopened
        state(5, [0, 2], "reopened"),  # waits already
        state(6, [0, 0, 2], "person", 2),  # a person's, otherwise
        state(7, [], "majority", 2),  # its labels are gone
        state(8, []),
    ]
    found = forecast(pairs, APPROPRIATENESS, "majority")
    assert [(pair, made.rule.value, made.code) for pair, made in found.new] == [(1, "unanimous", 2), (3, "majority", 2)]
    assert found.reopened == [4, 7]
    assert found.counts == {"majority": 1, "unanimous": 2, "new": 2, "reopened": 2, "waiting": 2}
    assert (found.n_standing, found.n_compared, found.different) == (4, 3, [6])


def test_the_published_labels_are_the_majority_of_the_definite_ones(data: Path) -> None:
    """DESIGN, section 6: 701 of 701 pairs that have two or three labels."""
    read = read_published(data / "fc-conan" / "bronze_partition_df.csv")
    named = read.labels[read.labels["person"] != ANONYMOUS]
    labels: Labels = {}
    for pair, code in zip(named["pair"].tolist(), named["code"].tolist(), strict=True):
        labels.setdefault(pair, []).append(code)
    rows = decided(labels, "majority")
    final = read.pairs.set_index("pair")["final"]
    assert len(rows) == 701
    assert all(code == final[pair] and is_decided for pair, is_decided, code, _ in rows)
