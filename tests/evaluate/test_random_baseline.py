"""The exact expectations of a random order, against the mean over every order of small pools."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evaluate.notation import ranked, stacked
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
    HitRatio,
    JudgedAt,
    Measure,
    Precision,
)
from fcpair.evaluate.measures import Recall as RecallAt

CUT = [HitRatio, MRR, NDCG, Precision, RecallAt, F1, Accuracy, JudgedAt]
ANY_K = st.integers(1, 8)
any_measure: st.SearchStrategy[Measure] = st.one_of(
    st.sampled_from(CUT).flatmap(lambda cls: st.builds(cls, ANY_K)),
    st.builds(MAP, ANY_K, st.sampled_from(["k", "all"])),
    st.builds(RBP, st.floats(0.01, 0.99)),
    st.just(Bpref()),
)
pools = st.text("+-?", min_size=1, max_size=6)


def over_all_orders(measure: Measure, pool: str) -> float:
    return float(measure(stacked(("".join(order), "") for order in permutations(pool))).mean())


def test_every_measure_is_drawn_here() -> None:
    assert {*CUT, MAP, RBP, Bpref} == set(MEASURES.values())


@pytest.mark.parametrize("measure", MEASURES.values(), ids=lambda cls: cls.word)
def test_every_measure_has_an_expectation_of_its_own(measure: type[Measure]) -> None:
    assert "_expected" in vars(measure)


def test_a_measure_without_an_expectation_says_so() -> None:
    class Unknown(Measure):
        word = "unknown"

    with pytest.raises(NotImplementedError, match="no expectation is known for unknown"):
        Unknown().expected(ranked("+-"))


@given(any_measure, pools)
@settings(max_examples=10 * settings().max_examples)
def test_the_expectation_is_the_mean_over_all_orders(measure: Measure, pool: str) -> None:
    assert measure.expected(ranked(pool))[0] == pytest.approx(over_all_orders(measure, pool), abs=1e-12)


@pytest.mark.parametrize("pool", ["-", "+", "?", "++++++", "------", "??????", "+----", "++++-", "+++???", "+--???"])
@pytest.mark.parametrize("k", [1, 2, 3, 6, 8])
def test_pools_at_the_edge(pool: str, k: int) -> None:
    cut: list[Measure] = [cls(k) for cls in CUT]
    for measure in (*cut, MAP(k), MAP(k, "all"), RBP(), Bpref()):
        assert measure.expected(ranked(pool))[0] == pytest.approx(over_all_orders(measure, pool), abs=1e-12)


@given(any_measure, st.lists(pools, min_size=1, max_size=5))
def test_each_hs_has_the_expectation_that_it_has_alone(measure: Measure, texts: list[str]) -> None:
    found = measure.expected(stacked(("", text) for text in texts))
    assert found == pytest.approx([measure.expected(ranked("", text))[0] for text in texts])


def test_only_the_counts_are_read() -> None:
    for cls in MEASURES.values():
        assert cls().expected(ranked("++--?")) == cls().expected(ranked("?", "--++"))


def test_the_chance_of_a_hit_in_a_pool_like_that_of_the_paper() -> None:
    """100 CNs, 10 positives: one minus 90/100 * 89/99 * ... * 81/91."""
    missed = float(np.prod(np.arange(81, 91) / np.arange(91, 101)))
    assert HitRatio(10).expected(ranked("", "+" * 10 + "-" * 90))[0] == pytest.approx(1 - missed)


def test_many_random_orders_of_a_larger_pool_come_near() -> None:
    """4,000 orders of 40 CNs; the standard error of each mean is below 0.5 / sqrt(4,000) = 0.008."""
    labels = np.repeat(np.array([[1, 0, -1]], np.int8), [6, 22, 12], axis=1)
    rng = np.random.default_rng(3)
    order = rng.permuted(np.tile(np.arange(40), (4_000, 1)), axis=1)
    judged = label_ranking(order, np.repeat(labels, 4_000, axis=0))
    for cls in MEASURES.values():
        assert cls()(judged).mean() == pytest.approx(cls().expected(judged)[0], abs=0.024)


@pytest.mark.parametrize("cls", [*CUT, MAP], ids=lambda cls: cls.word)
def test_a_cut_far_below_the_pool_costs_nothing(cls: type[Measure]) -> None:
    far, all_of_it = cls(10**15), cls(3)  # type: ignore[call-arg]
    if cls in {Precision, F1}:
        assert far.expected(ranked("+--")) == pytest.approx(0, abs=1e-14)  # over k
    else:
        assert far.expected(ranked("+--")) == pytest.approx(all_of_it.expected(ranked("+--")))
