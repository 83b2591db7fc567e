"""The measures, against values worked out by hand; test_libraries.py holds them against other implementations."""

from __future__ import annotations

from math import log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evaluate.notation import rankings, stacked, value
from fcpair.errors import InputError
from fcpair.evaluate.judged_rankings import label_ranking
from fcpair.evaluate.measures import (
    F1,
    MAP,
    MEASURES,
    MRR,
    NDCG,
    RBP,
    Accuracy,
    Bpref,
    CutMeasure,
    HitRatio,
    JudgedAt,
    Measure,
    Precision,
    Recall,
    parse_measure,
)
from fcpair.params import DEFAULT_MEASURES

ANY_K = st.integers(1, 15)
PERSISTENCE = st.floats(0.01, 0.99)
any_measure: st.SearchStrategy[Measure] = st.one_of(
    st.sampled_from([HitRatio, MRR, NDCG, Precision, Recall, F1, Accuracy, JudgedAt]).flatmap(
        lambda cls: st.builds(cls, ANY_K)
    ),
    st.builds(MAP, ANY_K, st.sampled_from(["k", "all"])),
    st.builds(RBP, PERSISTENCE),
    st.just(Bpref()),
)
every_measure = [cls() for cls in MEASURES.values()]


# -- values worked out by hand


@pytest.mark.parametrize(
    ("measure", "labels", "below", "expected"),
    [
        (HitRatio(3), "--+-", "", 1),
        (HitRatio(2), "--+-", "", 0),
        (MRR(3), "--+-", "", 1 / 3),
        (MRR(3), "-+++", "", 1 / 2),
        (MRR(2), "--+-", "", 0),
        # hits at 1 and 3: (1/log2(2) + 1/log2(4)) / (1/log2(2) + 1/log2(3))
        (NDCG(4), "+-+-", "", 1.5 / (1 + 1 / log2(3))),
        # the ideal ranking is cut at k too: three positives, two ranks
        (NDCG(2), "-++", "+", (1 / log2(3)) / (1 + 1 / log2(3))),
        # precision 1/1 at rank 1 and 2/3 at rank 3, over min(3, 4) or all three
        (MAP(4), "+-+-", "+", (1 + 2 / 3) / 3),
        (MAP(4, "all"), "+-+-", "+", (1 + 2 / 3) / 3),
        # four positives, two ranks: over 2, or over 4
        (MAP(2), "-++", "++", (1 / 2) / 2),
        (MAP(2, "all"), "-++", "++", (1 / 2) / 4),
        (MAP(2), "++", "+++", 1),
        (Precision(4), "+-+-+", "", 1 / 2),
        (Recall(4), "+-+-+", "+", 1 / 2),
        # precision 2/4, recall 2/3: 2 * (1/3) / (7/6)
        (F1(4), "+-+-+", "", 4 / 7),
        # pool of 6; right are the hits at 1 and 3 and the two negatives below rank 3
        (Accuracy(3), "+-+--", "+", 4 / 6),
        # R = 2, N = 2: at rank 1 nothing above, at rank 3 one of two
        (Bpref(), "+-+-", "", (1 + 1 / 2) / 2),
        # R = 1, N = 3: two negatives above, but no more than R are counted: 1 - 1/1
        (Bpref(), "--+-", "", 0),
        # R = 3, N = 1: 1 - 1/min(3, 1) for each positive below the negative
        (Bpref(), "+-++", "", 1 / 3),
        (RBP(0.5), "+-+", "", 0.5 * (1 + 0.25)),
        (RBP(), "-+", "++", 0.2 * 0.8),
        (JudgedAt(4), "+-??-", "", 1 / 2),
        (JudgedAt(2), "-?--", "", 1 / 2),
        (Accuracy(1), "----", "", 3 / 4),
        (Bpref(), "?+??-+-", "???", 3 / 4),  # what is unjudged is never looked at
        (Bpref(), "?++", "+?", 2 / 3),  # without a judged negative, the share of the positives that is ranked
    ],
)
def test_the_value_is_the_one_worked_out(measure: Measure, labels: str, below: str, expected: float) -> None:
    assert value(measure, labels, below) == pytest.approx(expected)


def test_an_unjudged_pair_counts_as_not_appropriate() -> None:
    for measure in every_measure:
        if measure.bounded:
            assert value(measure, "?+?", "??+") == value(measure, "-+-", "--+")


# -- what all of them do with few ranks, few candidates, no positives


@pytest.mark.parametrize("measure", every_measure, ids=str)
@pytest.mark.parametrize("labels", ["---", "-?-", "???", "..-", "-"])
def test_an_hs_without_positives_has_0(measure: Measure, labels: str) -> None:
    if not isinstance(measure, Accuracy | JudgedAt):
        assert value(measure, labels, "-?") == 0


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (HitRatio(10), 1),
        (MRR(10), 1 / 2),
        (NDCG(10), (1 / log2(3)) / (1 + 1 / log2(3))),
        (MAP(10), (1 / 2) / 2),
        (MAP(10, "all"), (1 / 2) / 2),
        (Precision(10), 1 / 10),  # over k, not over the ranks that there are
        (Recall(10), 1 / 2),
        (F1(10), 2 / (10 + 2)),
        (Accuracy(10), 3 / 5),  # one hit, and two of the three that have no rank
        (Bpref(), 1 / 4),  # R = N = 2, one negative above: (1 - 1/2) / 2
        (RBP(0.5), 1 / 4),
        (JudgedAt(10), 2 / 5),  # over the pool, which is smaller than k
    ],
    ids=str,
)
def test_a_ranking_shorter_than_k_has_nothing_below_its_last_rank(measure: Measure, expected: float) -> None:
    """Two ranks of a pool of five."""
    assert value(measure, "-+", "+-?") == pytest.approx(expected)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (HitRatio(1), 0),
        (MRR(3), 1 / 2),
        (NDCG(3), 1 / log2(3)),
        (MAP(3), 1 / 2),
        (Precision(2), 1 / 2),
        (Recall(1), 0),
        (F1(2), 2 / 3),
        (Accuracy(2), 1),  # the positive among the first two, the negative below
        (Bpref(), 1),  # what is not of the pool is no judged negative
        (RBP(0.5), 1 / 4),
        (JudgedAt(2), 1 / 2),
    ],
    ids=str,
)
def test_a_rank_at_which_nothing_of_the_pool_stands_keeps_its_place_and_is_wrong(
    measure: Measure, expected: float
) -> None:
    assert value(measure, ".+-") == pytest.approx(expected)


@pytest.mark.parametrize("measure", every_measure, ids=str)
def test_a_ranking_of_nothing_has_no_hit(measure: Measure) -> None:
    share = 1 / 2 if isinstance(measure, Accuracy) else 0  # that is not positive
    assert value(measure, "....", "++-?") == share


# -- what holds for every input


@given(any_measure, rankings())
def test_values_run_from_0_to_1(measure: Measure, row: tuple[str, str]) -> None:
    assert 0 <= value(measure, *row) <= 1 + 1e-12


@given(any_measure, st.lists(st.permutations("++-??.-"), min_size=1, max_size=6))
def test_each_hs_has_the_value_that_it_has_alone(measure: Measure, rows: list[list[str]]) -> None:
    texts = ["".join(row) for row in rows]
    assert measure(stacked((text, "+?") for text in texts)).tolist() == [value(measure, text, "+?") for text in texts]


@given(any_measure, rankings())
def test_ranks_below_the_depth_are_never_read(measure: Measure, row: tuple[str, str]) -> None:
    labels, below = row
    cut = labels[: measure.depth]
    assert value(measure, labels, below) == value(measure, cut, labels[len(cut) :].replace(".", "") + below)


@given(st.integers(1, 8), st.integers(0, 8))
def test_a_perfect_ranking_has_1(n_positive: int, n_negative: int) -> None:
    labels = "+" * n_positive + "-" * n_negative
    for measure in (HitRatio(3), MRR(3), NDCG(3), MAP(3), Bpref()):
        assert value(measure, labels) == pytest.approx(1)


def test_labels_are_put_in_the_order_of_the_ranking() -> None:
    labels = np.array([[1, 0, -1, 1]], np.int8)
    judged = label_ranking(np.array([[2, 0, -1]]), labels)
    assert labels.tolist() == [[1, 0, -1, 1]]  # which stay as they were
    assert judged.labels.tolist() == [[-1, 1, -2]]
    assert [int(n[0]) for n in (judged.n_positive, judged.n_negative, judged.n_unjudged)] == [2, 1, 1]


# -- names


@given(any_measure)
def test_a_measure_is_read_back_from_its_name_and_from_its_short_name_and_its_cut(measure: Measure) -> None:
    assert parse_measure(str(measure)) == measure
    assert parse_measure(measure.short_name, k=measure.k if isinstance(measure, CutMeasure) else 1) == measure


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("NDCG@5", NDCG(5)),
        ("NDCG", NDCG(7)),
        (" MAP( by = all ) @ 3 ", MAP(3, "all")),
        ("MAP(by=k)", MAP(7)),
        ("bpref", Bpref()),
        ("RBP", RBP(0.8)),
        ("RBP(p=0.5)", RBP(0.5)),
        ("judged@20", JudgedAt(20)),
    ],
)
def test_a_name_without_a_cut_is_cut_at_the_k_that_is_given(text: str, expected: Measure) -> None:
    assert parse_measure(text, k=7) == expected


@pytest.mark.parametrize(
    ("measure", "name"),
    [
        (NDCG(10), "NDCG@10"),
        (MAP(5), "MAP@5"),
        (MAP(5, "all"), "MAP(by=all)@5"),
        (Bpref(), "bpref"),
        (RBP(0.8), "RBP(p=0.8)"),
        (JudgedAt(10), "judged@10"),
    ],
)
def test_the_name_of_a_measure(measure: Measure, name: str) -> None:
    assert str(measure) == name


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("NDCG@0", "k is 0; at least 1 rank is needed"),
        ("RBP(p=1)", "p is 1.0; expected a number between 0 and 1"),
        ("RBP(p=0)", "p is 0.0"),
        ("RBP(p=nan)", "p is nan"),
        ("RBP(p=half)", "`p` is `half`; expected a number"),
        ("bpref@10", "`bpref` reads the whole ranking and has no cut; drop `@10`"),
        ("ndcg@10", "there is no `ndcg`; did you mean `NDCG`?"),
        ("nDCG@10", "did you mean `NDCG`?"),
        ("Judged", "did you mean `judged`?"),
        ("Success@10", "known are HitRatio, MRR, "),
        ("MAP(by=n)@10", "`by` is `n`; expected one of k, all"),
        ("MAP(by=all@10", "cannot be read; expected a name such as HitRatio"),
        ("MAP(k=5)", "there is no option `k`; known are by"),
        ("MRR(by=all)", "there is no option `by`; `MRR` has none"),
        ("NDCG@-1", "cannot be read"),
        ("NDCG@ten", "cannot be read"),
        ("NDCG@1000000000000000000", "cannot be read"),
        ("NDCG@", "cannot be read"),
        ("@10", "cannot be read"),
        ("", "cannot be read"),
    ],
)
def test_a_name_that_is_no_measure_is_refused(text: str, message: str) -> None:
    with pytest.raises(InputError) as refused:
        parse_measure(text)
    assert message in str(refused.value)
    assert text.partition("@")[0] in str(refused.value)


def test_the_default_measures_are_measures() -> None:
    assert [parse_measure(name) for name in DEFAULT_MEASURES] == [HitRatio(), MRR(), NDCG(), MAP(), JudgedAt()]


@pytest.mark.parametrize("measure", [cls(10**15) for cls in (NDCG, MAP, MRR)], ids=str)
def test_a_cut_far_below_the_pool_costs_nothing(measure: Measure) -> None:
    assert value(measure, "-+") > 0
