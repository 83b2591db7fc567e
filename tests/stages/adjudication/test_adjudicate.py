"""From labels to one label, and verdicts on it: by hand, by a count in plain Python, and FC-CONAN's own decisions."""

from __future__ import annotations

from collections import Counter, defaultdict
from decimal import Decimal
from pathlib import Path
from statistics import median_high, median_low
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.files.corpus.fc_conan import ANONYMOUS, read_published
from fcpair.params import Policy, Ties
from fcpair.records import PairState
from fcpair.stages.adjudication.adjudicate import Tally, combine_verdicts, decide_by_policy, draw_pairs, forecast, tally
from fcpair.stages.questions import Closed, OneOf, Scale, parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS

FOUR: Any = parse_question("one_of(bad,fair=2,unsure=5?,good=9+)")
Labels = dict[int, list[int]]


def tallied(labels: Labels, scheme: Closed = APPROPRIATENESS) -> Tally:
    pairs = [pair for pair, codes in labels.items() for _ in codes]
    codes = [code for codes in labels.values() for code in codes]
    return tally(np.array(pairs, np.int64), np.array(codes, np.int64), scheme)


Made = tuple[bool, int, str | None]
"""Whether a pair is decided, its code (-1: none) and the rule (None: it waits)."""


def decided(codes: list[int], policy: Policy, ties: Ties = "wait", scheme: Closed = APPROPRIATENESS) -> Made:
    made = decide_by_policy([codes.count(code) for code in scheme.codes], scheme, policy, ties)
    code = -1 if made is None or made.code is None else made.code
    return made is not None, code, None if made is None else made.rule.value


def by_count(codes: list[int], policy: Policy, ties: Ties, scheme: OneOf) -> Made:
    """The same in plain Python."""
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


def test_a_tally_counts_each_answer_of_each_pair_and_each_has_votes_for_its_own_code() -> None:
    count = tallied({8: [9, 9, 0], 3: [5]}, FOUR)
    assert count.cell_id.tolist() == [3, 8]
    assert count.counts.tolist() == [[0, 0, 1, 0], [1, 0, 0, 2]]
    assert count.n_labels.tolist() == [1, 3]
    assert tallied({1: [0, 0, 2], 2: [2, 2, 0], 3: [1]}).votes(np.array([0, 2, -1])).tolist() == [2, 2, 0]


@given(labels_of(FOUR), st.sampled_from([*FOUR.codes, -1, 1, 10]))
def test_votes_are_the_labels_equal_to_a_code(labels: Labels, code: int) -> None:
    count = tallied(labels, FOUR)
    votes = count.votes(np.full(len(labels), code))
    assert votes.tolist() == [labels[pair].count(code) for pair in sorted(labels)]


@pytest.mark.parametrize("policy", get_args(Policy))
@pytest.mark.parametrize("ties", get_args(Ties))
@pytest.mark.parametrize("scheme", [APPROPRIATENESS, FOUR])
@given(data=st.data())
def test_decisions_are_those_of_a_count(policy: Policy, ties: Ties, scheme: OneOf, data: st.DataObject) -> None:
    for codes in data.draw(labels_of(scheme)).values():
        assert decided(codes, policy, ties, scheme) == by_count(codes, policy, ties, scheme)


@pytest.mark.parametrize(
    ("numbers", "median"),
    [("4 5", "4.5"), ("4 4.5", None), ("1 5", "3"), ("1 1.5 5", "1.5"), ("2 3 4 4.5", "3.5"), ("2 3 3.5 5", None)],
)
def test_the_median_of_two_numbers_in_the_middle_is_halfway_where_the_scale_has_that(
    numbers: str, median: str | None
) -> None:
    scale = Scale(Decimal(1), Decimal(5), Decimal("0.5"))
    is_decided, code, _ = decided([scale.read(number) for number in numbers.split()], "median", scheme=scale)
    assert (scale.name(code) if is_decided else None) == median


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
    final = read.pairs.set_index("pair")["final"]
    assert len(labels) == 701
    assert all(decided(codes, "majority")[:2] == (True, final[pair]) for pair, codes in labels.items())


PAIRS = np.array([9, 4, 7, 1, 12])


@given(st.sets(st.integers(0, 999), min_size=1, max_size=40), st.data(), st.integers(0, 2**32))
def test_a_draw_is_of_distinct_pairs_ascending_whatever_their_order(
    pairs: set[int], data: st.DataObject, seed: int
) -> None:
    n = data.draw(st.integers(1, len(pairs)))
    shuffled = np.array(data.draw(st.permutations(sorted(pairs))))
    drawn = draw_pairs(shuffled, n, seed).tolist()
    assert drawn == sorted(set(drawn))
    assert set(drawn) <= pairs
    assert len(drawn) == n
    assert draw_pairs(np.array(sorted(pairs)), n, seed).tolist() == drawn


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 1)), max_size=40))
def test_verdicts_come_together_by_pair(rows: list[tuple[int, int]]) -> None:
    by_pair: dict[int, list[int]] = defaultdict(list)
    for pair, verdict in rows:
        by_pair[pair].append(verdict)
    table = np.array(rows, np.int64).reshape(-1, 2)
    pairs, verdicts = combine_verdicts(table[:, 0], table[:, 1])
    assert pairs.tolist() == sorted(by_pair)
    assert verdicts.tolist() == [int(2 * sum(by_pair[p]) > len(by_pair[p])) for p in sorted(by_pair)]


def test_pairs_that_come_first_are_drawn_before_others_and_all_or_no_more_than_there_are() -> None:
    pairs = np.arange(1, 21)
    for seed in range(10):
        assert {3, 17} <= set(draw_pairs(pairs, 4, seed, first=[3, 17]).tolist())
        assert set(draw_pairs(pairs, 1, seed, first=[3, 17]).tolist()) <= {3, 17}
        assert draw_pairs(pairs, 4, seed, first=[99]).tolist() == draw_pairs(pairs, 4, seed).tolist()
    assert draw_pairs(pairs, 10, 1).tolist() != draw_pairs(pairs, 10, 2).tolist()
    assert draw_pairs(PAIRS, None, 0).tolist() == [1, 4, 7, 9, 12]
    for n in (0, -1, 6):
        with pytest.raises(InputError, match=f"{n} pairs cannot be validated; 5 have an adjudicated label"):
            draw_pairs(PAIRS, n, 0)
