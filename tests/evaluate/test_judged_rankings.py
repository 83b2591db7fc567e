"""The readings of a missing label: counted as right, or left out of the ranking."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from evaluate.notation import codes, ranked, rankings, stacked
from fcpair.evaluate.judged_rankings import Judged, assume_relevant, drop_unjudged, select_hs


def counts(judged: Judged) -> list[tuple[int, ...]]:
    three = (judged.n_positive, judged.n_negative, judged.n_unjudged)
    return [tuple(int(n) for n in row) for row in zip(*three, strict=True)]


def test_the_pool_is_what_is_judged_and_what_is_not() -> None:
    assert ranked("+-?.", "-?").n_pool.tolist() == [5]


def test_counted_right_turns_every_unjudged_pair_ranked_or_not() -> None:
    found = assume_relevant(ranked("?-+.?", "??-"))
    assert found.labels.tolist() == codes(["+-+.+"]).tolist()
    assert counts(found) == [(5, 2, 0)]


def test_left_out_moves_up_what_stands_below_an_unjudged_pair() -> None:
    found = drop_unjudged(ranked("?-?.+", "?+"))
    assert found.labels.tolist() == codes(["-.+.."]).tolist()
    assert counts(found) == [(2, 1, 0)]


@given(rankings())
def test_condensed_lists_equal_a_loop(row: tuple[str, str]) -> None:
    labels, below = row
    kept = [sign for sign in labels if sign != "?"]
    expected = ranked("".join(kept).ljust(len(labels), "."), below.replace("?", ""))
    found = drop_unjudged(ranked(labels, below))
    assert found.labels.tolist() == expected.labels.tolist()
    assert counts(found) == counts(expected)


def test_long_condensed_lists_keep_their_order() -> None:
    labels = "+-?-?++-.?" * 10
    assert drop_unjudged(ranked(labels)).labels.tolist() == codes([("+--++-." * 10).ljust(100, ".")]).tolist()


@given(rankings())
def test_a_reading_leaves_what_it_was_given_alone(row: tuple[str, str]) -> None:
    judged = ranked(*row)
    assume_relevant(judged)
    drop_unjudged(judged)
    assert judged.labels.tolist() == codes([row[0]]).tolist()


def test_some_of_the_hs_keep_their_ranks_and_counts() -> None:
    found = select_hs(stacked([("+-", ""), ("-?", "+"), ("??", "")]), np.array([False, True, True]))
    assert found.labels.tolist() == codes(["-?", "??"]).tolist()
    assert counts(found) == [(1, 1, 1), (0, 0, 2)]
