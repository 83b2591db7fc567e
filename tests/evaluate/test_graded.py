"""nDCG of graded labels: against other libraries, every labelling of the unjudged pairs, and every order of a pool."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from itertools import permutations, product
from math import log2
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn.metrics import ndcg_score

from fcpair.evaluate.evaluation import Readings, readings
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED, Grades, Judged, label_ranking, select_hs
from fcpair.evaluate.measures import MAP, MEASURES, NDCG
from fcpair.evaluate.systems import sort_by_score
from fcpair.stages.questions import OneOf, parse_question
from fcpair.stages.questions.labels import grades_of

UNKNOWN, NOTHING = -1, -2  # in a row of grades: unjudged, and a rank at which nothing stands
Row = tuple[int, ...]
LEVELS = (1, 2, 4)
# a few levels, evenly spaced or not, of which the upper half is positive
scales = st.sampled_from([(1,), (1, 2), (1, 2, 4), (2, 3), (1, 5, 6), (1, 2, 3, 4)])


def graded(ranks: Row, below: Row = (), levels: Row = LEVELS) -> Judged:
    """One HS: the grade at each rank, best rank first, and what else is in the pool."""
    return stacked([(ranks, below)], levels)


def stacked(rows: Sequence[tuple[Row, Row]], levels: Row = LEVELS) -> Judged:
    """Several HS, with as many ranks and pools of the same size."""
    order, pools = [], []
    for ranks, below in rows:
        pools.append([grade for grade in (*ranks, *below) if grade != NOTHING])
        there = iter(range(len(ranks)))
        order.append([-1 if grade == NOTHING else next(there) for grade in ranks])
    pool = np.array(pools)
    positive = levels[len(levels) // 2]
    labels = np.select([pool == UNKNOWN, pool >= positive], [UNJUDGED, POSITIVE], NEGATIVE).astype(np.int8)
    return label_ranking(np.array(order), labels, Grades(np.maximum(pool, 0), np.array(levels)))


def ndcg(ranks: Row, below: Row, k: int) -> float:
    """By the definition: the discounted grades, over those of the pool in falling order."""
    pool = sorted((max(grade, 0) for grade in (*ranks, *below)), reverse=True)
    gained, best = (sum(max(g, 0) / log2(rank + 2) for rank, g in enumerate(row[:k])) for row in (ranks, pool))
    return gained / best if best else 0.0


@st.composite
def rows(draw: st.DrawFn, most_unjudged: int = 4) -> tuple[Row, Row, Row]:
    """Ranks, the rest of the pool, and the levels; at most some are unjudged."""
    levels = draw(scales)
    pool = draw(st.lists(st.sampled_from((UNKNOWN, 0, *levels)), min_size=1, max_size=8))
    known = [at for at, grade in enumerate(pool) if grade == UNKNOWN][most_unjudged:]
    pool = [0 if at in known else grade for at, grade in enumerate(pool)]
    n_ranked = draw(st.integers(1, len(pool)))
    ranks = draw(st.permutations([*pool[:n_ranked], *[NOTHING] * draw(st.integers(0, 2))]))
    return tuple(ranks), tuple(pool[n_ranked:]), levels


def labelled(ranks: Row, below: Row, levels: Row) -> list[tuple[Row, Row]]:
    """Every way in which the unjudged pairs could have been graded."""
    whole = (*ranks, *below)
    every = product(*((0, *levels) if grade == UNKNOWN else (grade,) for grade in whole))
    return [(one[: len(ranks)], one[len(ranks) :]) for one in every]


def value_of(found: NDArray[np.float64] | None) -> float:
    assert found is not None
    return float(found[0])


# -- the value


@given(rows(), st.integers(1, 9))
def test_the_value_is_that_of_the_definition(row: tuple[Row, Row, Row], k: int) -> None:
    ranks, below, levels = row
    assert NDCG(k)(graded(ranks, below, levels)) == pytest.approx([ndcg(ranks, below, k)])


@given(st.lists(st.sampled_from([UNKNOWN, 0, 1]), min_size=1, max_size=9).map(tuple), st.integers(1, 9))
def test_grades_of_0_and_1_give_what_binary_labels_give(ranks: Row, k: int) -> None:
    with_grades = graded(ranks, (1, UNKNOWN), (1,))
    without = Judged(with_grades.labels, with_grades.n_positive, with_grades.n_negative, with_grades.n_unjudged)
    for one, other in zip(
        *(vars(readings(NDCG(k), judged)).values() for judged in (with_grades, without)), strict=True
    ):
        assert one == pytest.approx(other)
    assert NDCG(k).expected(with_grades) == pytest.approx(NDCG(k).expected(without))


def test_every_other_measure_reads_only_what_is_positive() -> None:
    with_grades = graded((1, 4, UNKNOWN, 2, 0), (2, UNKNOWN))
    without = Judged(with_grades.labels, with_grades.n_positive, with_grades.n_negative, with_grades.n_unjudged)
    for measure in (cls() for cls in MEASURES.values() if cls is not NDCG):
        assert measure(with_grades).tolist() == measure(without).tolist()
    assert readings(MAP(3), with_grades).lowest == pytest.approx(readings(MAP(3), without).lowest)


def world(seed: int = 5) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Grades 0 to 4 of 30 HS and 25 CNs, some unjudged, and scores without ties."""
    rng = np.random.default_rng(seed)
    grades = rng.choice([UNKNOWN, 0, 1, 2, 3, 4], (30, 25), p=[0.2, 0.4, 0.1, 0.1, 0.1, 0.1])
    return grades, rng.permuted(np.tile(np.arange(25) / 25, (30, 1)), axis=1)


def ours(grades: NDArray[np.int64], scores: NDArray[np.float64], k: int = 10) -> NDArray[np.float64]:
    labels = np.where(grades >= 3, POSITIVE, np.where(grades == UNKNOWN, UNJUDGED, NEGATIVE)).astype(np.int8)
    scale = Grades(np.maximum(grades, 0), np.arange(1, 5))
    return NDCG(k)(label_ranking(sort_by_score(scores)[0], labels, scale))


def as_qrels(grades: NDArray[np.int64]) -> dict[str, dict[str, int]]:
    return {
        f"hs{hs:02}": {f"cn{cn}": int(row[cn]) for cn in np.flatnonzero(row != UNKNOWN)}
        for hs, row in enumerate(grades)
    }


def as_run(scores: NDArray[np.float64]) -> dict[str, dict[str, float]]:
    return {f"hs{hs:02}": {f"cn{cn}": float(score) for cn, score in enumerate(row)} for hs, row in enumerate(scores)}


def test_ir_measures_gives_the_same_on_graded_qrels() -> None:
    grades, scores = world()
    found = ir_measures.iter_calc([ir_measures.parse_measure("nDCG@10")], as_qrels(grades), as_run(scores))
    theirs = {one.query_id: one.value for one in found}
    assert ours(grades, scores) == pytest.approx([theirs[hs] for hs in sorted(theirs)], abs=1e-9)


@pytest.mark.slow
def test_ranx_gives_the_same_on_graded_qrels() -> None:
    grades, scores = world()
    question = {"worlds": {"one": {"qrels": as_qrels(grades), "run": as_run(scores)}}, "measures": ["ndcg@10"]}
    done = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("ranx_figures.py"))],
        input=json.dumps(question),
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    theirs = json.loads(done.stdout)["one"]["ndcg@10"]
    assert ours(grades, scores) == pytest.approx([theirs[hs] for hs in sorted(theirs)], abs=1e-9)


def test_scikit_learn_gives_the_same() -> None:
    grades, scores = world()
    assert ours(grades, scores).mean() == pytest.approx(ndcg_score(np.maximum(grades, 0), scores, k=10))


# -- what the missing labels could hide


@given(rows(), st.integers(1, 9))
@settings(max_examples=10 * settings().max_examples)
def test_lowest_and_highest_are_the_extremes_over_all_grades(row: tuple[Row, Row, Row], k: int) -> None:
    ranks, below, levels = row
    every = [ndcg(*one, k) for one in labelled(ranks, below, levels)]
    found = readings(NDCG(k), graded(ranks, below, levels))
    assert value_of(found.lowest) == pytest.approx(min(every), abs=1e-12)
    assert value_of(found.highest) == pytest.approx(max(every), abs=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_extremes_of_every_ranking_of_a_pool_of_five(k: int) -> None:
    """What chance could miss: all 1,024 rankings of grades 0, 1, 4 and none."""
    every = [(ranks, ()) for ranks in product((UNKNOWN, 0, 1, 4), repeat=5)]
    found = readings(NDCG(k), stacked([(ranks, below) for ranks, below in every], (1, 4)))
    values = [[ndcg(*one, k) for one in labelled(ranks, below, (1, 4))] for ranks, below in every]
    assert found.lowest == pytest.approx([min(one) for one in values])
    assert found.highest == pytest.approx([max(one) for one in values])


@given(rows(), st.integers(1, 9))
def test_right_has_the_greatest_grade(row: tuple[Row, Row, Row], k: int) -> None:
    ranks, below, levels = row
    found = readings(NDCG(k), graded(ranks, below, levels))
    best = [tuple(levels[-1] if grade == UNKNOWN else grade for grade in part) for part in (ranks, below)]
    assert value_of(found.right) == pytest.approx(ndcg(best[0], best[1], k))


@given(rows(), st.integers(1, 9))
def test_left_out_is_the_value_of_the_condensed_list(row: tuple[Row, Row, Row], k: int) -> None:
    ranks, below, levels = row
    found = readings(NDCG(k), graded(ranks, below, levels))
    condensed = [tuple(grade for grade in part if grade != UNKNOWN) for part in (ranks, below)]
    assert value_of(found.left_out) == pytest.approx(ndcg(condensed[0], condensed[1], k))


def test_each_hs_has_the_figures_that_it_has_alone() -> None:
    every = [((4, UNKNOWN, 0, NOTHING), (1, UNKNOWN)), ((UNKNOWN, 1, NOTHING, 2), (4, 4)), ((0, 0, NOTHING, 0), (0, 0))]
    judged = stacked(every)
    alone = [readings(NDCG(3), graded(*one)) for one in every]
    for name, values in vars(readings(NDCG(3), judged)).items():
        assert values == pytest.approx([value_of(getattr(one, name)) for one in alone])
    some: Readings = readings(NDCG(3), select_hs(judged, np.array([False, True, False])))
    assert some.highest == pytest.approx(alone[1].highest)


# -- chance


@given(st.lists(st.sampled_from([UNKNOWN, 0, 1, 2, 4]), min_size=1, max_size=6).map(tuple), st.integers(1, 8))
def test_the_expectation_is_the_mean_over_all_orders(pool: Row, k: int) -> None:
    mean = np.mean([ndcg(order, (), k) for order in permutations(pool)])
    assert NDCG(k).expected(graded(pool)) == pytest.approx([mean])


# -- which labels are grades


@pytest.mark.parametrize("text", ["one_of(hostile,off_topic,fits+)", "one_of(a+,b,c+)"])
def test_labels_are_no_grades_where_one_is_positive_or_some_on_both_sides(text: str) -> None:
    question = parse_question(text)
    assert isinstance(question, OneOf)
    assert grades_of(question) is None
