"""The measures against ranx and ir_measures: where they agree, and every difference that is documented."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import ir_measures
import numpy as np
import pytest
from numpy.typing import NDArray

from evaluate.notation import ranked
from fcpair.evaluate.arrays import measure_arrays
from fcpair.evaluate.judged_rankings import NEGATIVE, POSITIVE, UNJUDGED, Judged, label_ranking
from fcpair.evaluate.measures import MRR, RBP, JudgedAt, Measure, parse_measure
from fcpair.evaluate.systems import sort_by_score

Values = NDArray[np.float64]
Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]
SAME_IN_RANX = {
    "HitRatio@10": "hit_rate@10",
    "MRR@10": "mrr@10",
    "NDCG@10": "ndcg@10",
    "MAP(by=all)@10": "map@10",
    "Precision@10": "precision@10",
    "Recall@10": "recall@10",
    "F1@10": "f1@10",
    "RBP(p=0.8)": "rbp.80",
}
SAME_IN_IR_MEASURES = {
    "HitRatio@10": "Success@10",
    "MRR@10": "RR@10",
    "NDCG@10": "nDCG@10",
    "MAP(by=all)@10": "AP@10",
    "Precision@10": "P@10",
    "Recall@10": "R@10",
    "bpref": "Bpref",
}


@dataclass(frozen=True)
class World:
    """Labels of a pool, shape `(n_hs, n_cn)`, scores without ties, and how many ranks of it are given."""

    labels: NDArray[np.int8]
    scores: Values
    depth: int

    @property
    def order(self) -> NDArray[np.int64]:
        return sort_by_score(self.scores)[0][:, : self.depth]

    @property
    def judged(self) -> Judged:
        return label_ranking(self.order, self.labels)

    def qrels(self) -> Qrels:
        """What is judged, by HS; an unjudged pair is not in it."""
        return {
            f"hs{hs:02}": {f"cn{cn:03}": int(row[cn]) for cn in np.flatnonzero(row != UNJUDGED)}
            for hs, row in enumerate(self.labels)
        }

    def run(self) -> Run:
        return {
            f"hs{hs:02}": {f"cn{cn:03}": float(self.scores[hs, cn]) for cn in row} for hs, row in enumerate(self.order)
        }


def drawn(n_hs: int, n_cn: int, p: tuple[float, float, float], depth: int, seed: int) -> World:
    """Labels with the shares of positive, negative, unjudged; the first HS has no positive, the second no negative."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(np.array([POSITIVE, NEGATIVE, UNJUDGED], np.int8), (n_hs, n_cn), p=p)
    labels[0], labels[1] = NEGATIVE, POSITIVE
    return World(labels, rng.permuted(np.tile(np.arange(n_cn) / n_cn, (n_hs, 1)), axis=1), depth)


WORLDS = {
    "dense": drawn(30, 40, (0.4, 0.6, 0), 40, seed=1),
    "like FC-CONAN": drawn(45, 100, (0.08, 0.59, 0.33), 100, seed=2),
    "short rankings": drawn(30, 25, (0.3, 0.4, 0.3), 7, seed=3),
    "small pools": drawn(30, 6, (0.4, 0.4, 0.2), 6, seed=4),
}


@pytest.fixture(scope="module")
def ranx() -> dict[str, dict[str, Values]]:
    """Every figure of ranx, by world and measure, shape `(n_hs,)`."""
    worlds = {name: {"qrels": world.qrels(), "run": world.run()} for name, world in WORLDS.items()}
    question = json.dumps({"worlds": worlds, "measures": [*SAME_IN_RANX.values(), "bpref"]})
    program = [sys.executable, str(Path(__file__).with_name("ranx_figures.py"))]
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(program, input=question, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    answer = json.loads(done.stdout)
    return {name: {measure: by_hs(values) for measure, values in found.items()} for name, found in answer.items()}


def by_hs(values: dict[str, float]) -> Values:
    return np.array([values[hs] for hs in sorted(values)])


def in_ir_measures(name: str, qrels: Qrels, run: Run, provider: ir_measures.Provider | None = None) -> dict[str, float]:
    calc = (provider or ir_measures).iter_calc
    return {one.query_id: one.value for one in calc([ir_measures.parse_measure(name)], qrels, run)}


def ours(name: str, world: str) -> Values:
    measure: Measure = parse_measure(name)
    return measure(WORLDS[world].judged)


# -- where they agree


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", SAME_IN_RANX)
def test_ranx_gives_the_same(ranx: dict[str, dict[str, Values]], name: str, world: str) -> None:
    assert ours(name, world) == pytest.approx(ranx[world][SAME_IN_RANX[name]], abs=1e-9)


@pytest.mark.parametrize("world", WORLDS)
@pytest.mark.parametrize("name", SAME_IN_IR_MEASURES)
def test_ir_measures_gives_the_same(name: str, world: str) -> None:
    found = in_ir_measures(SAME_IN_IR_MEASURES[name], WORLDS[world].qrels(), WORLDS[world].run())
    assert ours(name, world) == pytest.approx(by_hs(found), abs=1e-9)


@pytest.mark.parametrize("world", WORLDS)
def test_bpref_is_that_of_ranx_where_an_hs_has_positives_and_negatives(
    ranx: dict[str, dict[str, Values]], world: str
) -> None:
    judged = WORLDS[world].judged
    both = (judged.n_positive > 0) & (judged.n_negative > 0)
    assert both.sum() > 20
    assert ours("bpref", world)[both] == pytest.approx(ranx[world]["bpref"][both], abs=1e-9)


@pytest.mark.parametrize("p", [0.5, 0.95])
def test_rbp_is_that_of_a_loop(p: float) -> None:
    judged = WORLDS["short rankings"].judged
    expected = [sum((1 - p) * p**rank for rank, label in enumerate(row) if label == POSITIVE) for row in judged.labels]
    assert RBP(p)(judged) == pytest.approx(expected)


@pytest.mark.parametrize("world", ["dense", "like FC-CONAN", "small pools"])
def test_judged_is_that_of_ir_measures_where_the_whole_pool_is_ranked(world: str) -> None:
    found = in_ir_measures("Judged@10", WORLDS[world].qrels(), WORLDS[world].run())
    assert ours("judged@10", world) == pytest.approx(by_hs(found))


# -- where they differ


def test_map_by_k_is_that_of_ranx_but_for_hs_with_more_than_k_positives(ranx: dict[str, dict[str, Values]]) -> None:
    n_positive = WORLDS["dense"].judged.n_positive
    theirs, many = ranx["dense"]["map@10"], n_positive > 10
    assert 20 < many.sum() < 30
    assert ours("MAP@10", "dense") == pytest.approx(np.where(many, theirs * n_positive / 10, theirs))


def test_rr_at_k_of_ir_measures_is_cut_unless_pytrec_eval_is_asked() -> None:
    """The positive stands at rank 3."""
    qrels, run = {"hs": {"c": 1, "a": 0}}, {"hs": {"a": 3.0, "b": 2.0, "c": 1.0}}
    assert MRR(2)(ranked("-?+")).tolist() == [0]
    assert in_ir_measures("RR@2", qrels, run) == {"hs": 0}
    assert in_ir_measures("RR@2", qrels, run, ir_measures.pytrec_eval) == {"hs": pytest.approx(1 / 3)}


def test_ties_are_broken_by_candidate_order_and_by_trec_eval_from_the_highest_id() -> None:
    """Three CNs with the same score, the first of which is positive."""
    labels = np.array([[1, 0, 0]], np.int8)
    assert measure_arrays(np.ones((1, 3)), labels, [MRR(10)]).tolist() == [[1]]
    found = in_ir_measures("RR", {"hs": {"cn1": 1, "cn2": 0, "cn3": 0}}, {"hs": {"cn1": 1.0, "cn2": 1.0, "cn3": 1.0}})
    assert found == {"hs": pytest.approx(1 / 3)}


def test_bpref_of_ranx_is_undefined_for_an_hs_without_a_judged_negative(ranx: dict[str, dict[str, Values]]) -> None:
    assert WORLDS["dense"].judged.n_negative[1] == 0
    assert ours("bpref", "dense")[1] == 1
    assert np.isnan(ranx["dense"]["bpref"][1])


def test_judged_of_ir_measures_is_over_the_ranks_where_a_ranking_is_short() -> None:
    """Two ranks, one of them judged, of a pool of five: 1/2 there, 1/5 here."""
    found = in_ir_measures("Judged@10", {"hs": {"a": 1, "x": 0}}, {"hs": {"a": 2.0, "b": 1.0}})
    assert found == {"hs": 0.5}
    assert JudgedAt(10)(ranked("+?", "-??")).tolist() == [0.2]


def test_an_hs_of_which_nothing_is_judged_is_missing_from_ir_measures() -> None:
    found = in_ir_measures("nDCG@10", {"hs1": {"a": 1}}, {"hs1": {"a": 1.0}, "hs2": {"a": 1.0}})
    assert found == {"hs1": 1}
    assert parse_measure("NDCG@10")(ranked("?")).tolist() == [0]


def test_accuracy_of_ir_measures_is_another_measure() -> None:
    """There: how often a positive stands above a negative, of those ranked; here: the pairs on the right side of k."""
    qrels, run = {"hs": {"a": 1, "b": 0, "c": 1, "d": 0}}, {"hs": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    assert in_ir_measures("Accuracy", qrels, run) == {"hs": 0.75}
    assert parse_measure("Accuracy@2")(ranked("+-+-")).tolist() == [0.5]
