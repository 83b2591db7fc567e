""""""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.adjudication.adjudicate import combine_verdicts, draw_pairs

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


@pytest.mark.parametrize(
    ("given_", "expected"),
    [([1], 1), ([0], 0), ([1, 1], 1), ([1, 0], 0), ([0, 1, 1], 1), ([0, 1, 0], 0), ([1, 1, 0, 0], 0)],
)
def test_valid_when_more_agree_than_disagree(given_: list[int], expected: int) -> None:
    pairs, verdicts = combine_verdicts(np.full(len(given_), 3), np.array(given_))
    assert (pairs.tolist(), verdicts.tolist()) == ([3], [expected])


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
