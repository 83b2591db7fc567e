"""The bounds, against every labelling that the unjudged pairs could have."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.notation import codes, ranked, rankings, stacked, value
from fcpair.evaluate.evaluation import readings
from fcpair.evaluate.judged_rankings import Judged, assume_relevant, drop_unjudged, select_hs
from fcpair.evaluate.measures import (
    F1,
    MAP,
    MEASURES,
    MRR,
    NDCG,
    RBP,
    Accuracy,
    Bpref,
    HitRatio,
    JudgedAt,
    Measure,
    Precision,
    Recall,
)

ANY_K = st.integers(1, 7)
RISING = [HitRatio, MRR, Precision]
rising: st.SearchStrategy[Measure] = st.one_of(
    st.sampled_from(RISING).flatmap(lambda cls: st.builds(cls, ANY_K)), st.builds(RBP, st.floats(0.01, 0.99))
)
bounded: st.SearchStrategy[Measure] = st.one_of(
    rising,
    st.sampled_from([NDCG, Recall, F1, Accuracy]).flatmap(lambda cls: st.builds(cls, ANY_K)),
    st.builds(MAP, ANY_K, st.sampled_from(["k", "all"])),
)
small = rankings(max_pool=6)


def completed(measure: Measure, labels: str, below: str) -> list[float]:
    """The values of all labellings of what is unjudged, one by one."""
    text = f"{labels}|{below}"
    filled = ("".join(signs) for signs in product(*("+-" if sign == "?" else sign for sign in text)))
    return [value(measure, *whole.split("|")) for whole in filled]


def read(measure: Measure, labels: str, below: str = "") -> dict[str, float]:
    found = readings(measure, ranked(labels, below))
    return {name: float(values[0]) for name, values in vars(found).items()}


def test_the_measures_drawn_here_are_all_that_have_bounds() -> None:
    drawn = {HitRatio, MRR, Precision, RBP, NDCG, Recall, F1, Accuracy, MAP}
    assert drawn == {measure for measure in MEASURES.values() if measure.bounded}
    assert {*RISING, RBP} == {measure for measure in MEASURES.values() if measure.rises}


@given(bounded, small)
@settings(max_examples=10 * settings().max_examples)
def test_lowest_and_highest_are_the_extremes_over_all_labellings(measure: Measure, row: tuple[str, str]) -> None:
    every, found = completed(measure, *row), read(measure, *row)
    assert found["lowest"] == pytest.approx(min(every), abs=1e-12)
    assert found["highest"] == pytest.approx(max(every), abs=1e-12)


@pytest.mark.parametrize("measure", [NDCG(3), MAP(3), MAP(3, "all"), Recall(3), F1(3), Accuracy(3)], ids=str)
def test_the_extremes_of_every_ranking_of_a_pool_of_five(measure: Measure) -> None:
    """What chance could miss: all 243 labellings of five ranks, the last two below the cut."""
    rows = ["".join(signs) for signs in product("+-?", repeat=5)]
    found = readings(measure, stacked((row, "") for row in rows))
    every = [completed(measure, row, "") for row in rows]
    assert found.lowest == pytest.approx([min(values) for values in every])
    assert found.highest == pytest.approx([max(values) for values in every])


@given(bounded, small)
def test_right_is_the_measure_of_the_pool_labelled_so(measure: Measure, row: tuple[str, str]) -> None:
    labelled = [text.replace("?", "+") for text in row]
    assert read(measure, *row)["right"] == value(measure, *labelled)


@given(bounded, small)
def test_left_out_is_the_measure_of_the_condensed_list(measure: Measure, row: tuple[str, str]) -> None:
    assert read(measure, *row)["left_out"] == measure(drop_unjudged(ranked(*row)))[0]


@given(rising, small)
def test_a_measure_that_rises_has_score_left_out_and_right_in_this_order(
    measure: Measure, row: tuple[str, str]
) -> None:
    found = read(measure, *row)
    assert found["lowest"] == found["score"] <= found["left_out"] + 1e-12
    assert found["left_out"] - 1e-12 <= found["right"] == found["highest"]


@given(bounded, st.lists(st.permutations("+-??.-"), min_size=1, max_size=5))
def test_each_hs_has_the_bounds_that_it_has_alone(measure: Measure, rows: list[list[str]]) -> None:
    texts = ["".join(row) for row in rows]
    found = readings(measure, stacked((text, "??+") for text in texts))
    alone = [read(measure, text, "??+") for text in texts]
    for name, values in vars(found).items():
        assert values == pytest.approx([one[name] for one in alone])


@pytest.mark.parametrize("measure", [Bpref(), JudgedAt(3)], ids=str)
def test_a_measure_that_reads_an_unjudged_pair_in_one_way_has_the_score_only(measure: Measure) -> None:
    found = readings(measure, ranked("+?-", "?"))
    assert found.score is not None
    assert (found.left_out, found.right, found.lowest, found.highest) == (None, None, None, None)


# -- the readings of a missing label: counted as right, or left out of the ranking


def counts(judged: Judged) -> list[tuple[int, ...]]:
    three = (judged.n_positive, judged.n_negative, judged.n_unjudged)
    return [tuple(int(n) for n in row) for row in zip(*three, strict=True)]


def test_the_pool_is_what_is_judged_and_what_is_not() -> None:
    assert ranked("+-?.", "-?").n_pool.tolist() == [5]


def test_counted_right_turns_every_unjudged_pair_ranked_or_not() -> None:
    found = assume_relevant(ranked("?-+.?", "??-"))
    assert found.labels.tolist() == codes(["+-+.+"]).tolist()
    assert counts(found) == [(5, 2, 0)]


@given(rankings())
def test_condensed_lists_equal_a_loop(row: tuple[str, str]) -> None:
    labels, below = row
    kept = [sign for sign in labels if sign != "?"]
    expected = ranked("".join(kept).ljust(len(labels), "."), below.replace("?", ""))
    found = drop_unjudged(ranked(labels, below))
    assert found.labels.tolist() == expected.labels.tolist()
    assert counts(found) == counts(expected)


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


def test_long_condensed_lists_keep_their_order() -> None:
    labels = "+-?-?++-.?" * 10
    assert drop_unjudged(ranked(labels)).labels.tolist() == codes([("+--++-." * 10).ljust(100, ".")]).tolist()
