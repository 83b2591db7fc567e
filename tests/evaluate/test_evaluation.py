"""From rankings and labels to an outcome."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fcpair.evaluate.evaluation import TierLabels, evaluate, short_names
from fcpair.evaluate.measures import parse_measure
from fcpair.evaluate.outcome import NO_HS, Outcome, Score
from fcpair.evaluate.systems import Bm25, Random, Ranking, Search, Tfidf, sort_by_score
from fcpair.params import Evaluate
from fcpair.stages.stats.paired_tests import kendall

# Two HS, four CNs; the first tier holds less than the second.
FEW = np.array([[1, 0, -1, -1], [-1, -1, 0, -1]], np.int8)
MANY = np.array([[1, 0, 1, 0], [0, 1, 0, -1]], np.int8)
EVERY_HS = np.array([True, True])
TIERS = (TierLabels("gold", "strict", FEW, EVERY_HS), TierLabels("silver", "lax", MANY, EVERY_HS, outside=3))
FORWARD = Ranking(*sort_by_score(np.array([[4.0, 3, 2, 1], [4, 3, 2, 1]])))
BACKWARD = Ranking(*sort_by_score(np.array([[1.0, 2, 3, 4], [1, 2, 3, 4]])))
ZERO, LEFT_OUT = Evaluate(resamples=200), Evaluate(no_positives="leave_out", resamples=200)


def outcome(*, tiers: tuple[TierLabels, ...] = TIERS, options: Evaluate = ZERO, k: int = 2) -> Outcome:
    measures = [parse_measure(name, k) for name in ("HitRatio", "MRR", "NDCG", "MAP", "judged")]
    return evaluate([Tfidf(), Bm25()], [FORWARD, BACKWARD], tiers, measures, options, "judged")


def score(found: Outcome, tier: str, system: str, measure: str) -> Score:
    (one,) = (one for one in found.scores if (one.tier, one.system, one.measure) == (tier, system, measure))
    return one


def test_a_score_is_the_mean_over_the_hs_of_the_tier_beside_its_readings_and_what_it_rests_on() -> None:
    found = outcome()
    assert [score(found, tier, "tfidf", "MRR@2").score for tier in ("gold", "silver")] == [0.5, 0.75]
    backward = score(found, "gold", "bm25", "MRR@2")
    # backward, the first HS has unjudged, unjudged, 0, 1; the second unjudged, 0, unjudged, unjudged
    assert (backward.score, backward.left_out, backward.right) == (0.0, 0.25, 1.0)
    assert (backward.lowest, backward.highest) == (0.0, 1.0)
    assert [tier.without_positives for tier in found.tiers] == [1, 0]
    assert score(found, "gold", "tfidf", "HitRatio@2").n == 2  # an HS without positives scores 0
    silver = found.tiers[1]
    counted = (silver.hs, silver.pool, silver.cells, silver.judged, silver.positive, silver.outside)
    assert counted == (2, 4, 8, 7, 3, 3)
    assert score(found, "gold", "tfidf", "judged@2").score == 0.5  # which is neither compared nor summarised
    others = {one.measure for one in found.comparisons} | {one.measure for one in found.concordances}
    assert "judged@2" not in others | {one.measure for one in found.spreads}
    some = outcome(tiers=(TierLabels("gold", "strict", MANY, np.array([False, True])),))
    assert (some.tiers[0].hs, score(some, "gold", "tfidf", "MRR@2").score) == (1, 0.5)


def test_an_hs_without_positives_is_left_out_when_asked() -> None:
    found = score(outcome(options=LEFT_OUT), "gold", "tfidf", "HitRatio@2")
    assert (found.n, found.score, found.low) == (1, 1.0, None)
    assert found.undefined == "1 HS gives no interval; it takes 5 or more"


@pytest.mark.parametrize(("n_hs", "has_one"), [(4, False), (5, True), (12, True)])
def test_twelve_perfect_hs_have_an_interval_and_four_have_a_reason(n_hs: int, has_one: bool) -> None:
    """0.025 ** (1 / n), the lower bound of Clopper and Pearson."""
    perfect = TierLabels("gold", "strict", np.tile(np.array([1, 0], np.int8), (n_hs, 1)), np.ones(n_hs, bool))
    rank = Ranking(np.tile(np.arange(2), (n_hs, 1)), np.tile([1.0, 0.0], (n_hs, 1)))
    (found,) = evaluate([Tfidf()], [rank], (perfect,), [parse_measure("HitRatio", 1)], ZERO, "all").scores
    if has_one:
        assert [found.low, found.high] == pytest.approx([0.025 ** (1 / n_hs), 1])
        assert found.undefined is None
    else:
        assert (found.score, found.low, found.high) == (1, None, None)
        assert found.undefined == "4 HS give no interval; it takes 5 or more"


def test_accuracy_has_its_interval_on_the_part_of_the_scale_that_it_can_reach() -> None:
    """Of 100 CNs 1 or 2 are right, and one is named: at worst 97 are on the right side, at best all 100."""
    labels = np.zeros((6, 100), np.int8)
    labels[:, 0] = labels[:3, 1] = 1
    rank = Ranking(np.tile(np.arange(100), (6, 1)), np.tile(np.arange(100.0)[::-1], (6, 1)))
    tier = TierLabels("gold", "strict", labels, np.ones(6, bool))
    (found,) = evaluate([Tfidf()], [rank], (tier,), [parse_measure("Accuracy", 1)], ZERO, "all").scores
    assert found.score == pytest.approx(0.995)
    assert found.low is not None
    assert 0.97 < found.low < 0.995


def test_an_outcome_says_how_its_intervals_were_made_and_an_older_one_how_its_were() -> None:
    data = outcome().as_data()
    assert Outcome.from_data(data).interval == "Bayesian bootstrap over HS"
    del data["interval"]
    assert Outcome.from_data(data).interval == "percentile bootstrap over HS"


def test_a_tier_without_any_positive_is_undefined_when_such_hs_are_left_out() -> None:
    none = (TierLabels("gold", "strict", np.zeros((2, 4), np.int8), EVERY_HS), TIERS[1])
    found = outcome(tiers=none, options=LEFT_OUT)
    empty = score(found, "gold", "tfidf", "NDCG@2")
    assert (empty.score, empty.undefined) == (None, NO_HS)
    assert [one.undefined for one in found.concordances] == [NO_HS] * 4
    assert {row.undefined for row in found.spreads} == {NO_HS}


def test_random_has_its_exact_expectation_beside_one_run() -> None:
    search = Search(("a", "b"), ("p", "q", "r", "s"), (1, 2), (3, 4, 5, 6))
    measures = [parse_measure("HitRatio", 2)]
    found = evaluate([Random(seed=3)], [Random(seed=3).rank(search)], TIERS[1:], measures, ZERO, "all")
    run, expectation = found.scores
    assert (run.expected, expectation.expected) == (False, True)
    # of four CNs two are positive for the first HS and one for the second: 1 - 2/4 * 1/3, and 2/4
    assert expectation.score == pytest.approx((5 / 6 + 1 / 2) / 2)
    assert (expectation.low, expectation.lowest) == (None, None)


def test_random_ranks_among_systems_by_its_exact_expectation_whatever_was_drawn() -> None:
    search = Search(("a", "b"), ("p", "q", "r", "s"), (1, 2), (3, 4, 5, 6))
    measures = [parse_measure("HitRatio", 2), parse_measure("MRR", 2)]
    systems = [Random(seed=3), Random(seed=4), Tfidf()]
    rankings = [Random(seed=seed).rank(search) for seed in (3, 4, 5)]
    found = evaluate(systems, rankings, TIERS, measures, ZERO, "all")
    exact = {(one.tier, one.measure): one.score or 0 for one in found.scores if one.expected}
    last = {(one.tier, one.measure): one.score or 0 for one in found.scores if one.system == "tfidf"}
    for one in found.concordances:
        means = (np.array([exact[tier, one.measure]] * 2 + [last[tier, one.measure]]) for tier in (one.one, one.other))
        assert one.tau == kendall(*means)[0]


def test_a_random_order_is_not_told_from_random_where_nearly_every_order_has_a_hit() -> None:
    """Each of 12 HS has a hit, as 96 of 100 orders have: above the expectation in all of them, and no evidence."""
    labels = np.zeros((12, 10), np.int8)
    labels[:, :5] = 1
    tiers = (TierLabels("gold", "strict", labels, np.ones(12, np.bool_)),)
    search = Search(("x",) * 12, ("y",) * 10, tuple(range(12)), tuple(range(10)))
    hits = Ranking(*sort_by_score(np.tile(np.arange(10.0, 0, -1), (12, 1))))
    found = evaluate(
        [Random(), Tfidf()], [Random().rank(search), hits], tiers, [parse_measure("HitRatio", 4)], ZERO, "all"
    )
    (test,) = found.comparisons
    expectation = next(one.score for one in found.scores if one.expected)
    assert expectation == pytest.approx(1 - 5 / 210)
    assert test.p > 0.05


def test_every_two_systems_are_compared_on_each_tier_and_measure() -> None:
    found = outcome().comparisons
    assert [(one.tier, one.measure) for one in found][:5] == [
        ("gold", "HitRatio@2"),
        ("gold", "MRR@2"),
        ("gold", "NDCG@2"),
        ("gold", "MAP@2"),
        ("silver", "HitRatio@2"),
    ]
    first = found[0]
    assert (first.one, first.other, first.n, first.difference) == ("tfidf", "bm25", 2, 0.5)
    assert first.p == first.p_holm  # one pair of systems is a family of one


def test_systems_that_one_short_name_would_fit_have_their_full_ones() -> None:
    assert short_names([Tfidf(), Bm25(k1=1.2)]) == ["tfidf", "bm25(k1=1.2)"]
    one, other = Tfidf(fit=Path("a/train.csv")), Tfidf(fit=Path("b/train.csv"))
    assert short_names([one, other]) == ["tfidf(fit=a/train.csv)", "tfidf(fit=b/train.csv)"]


def test_the_same_inputs_and_seed_give_the_same_bytes() -> None:
    assert json.dumps(outcome().as_data()) == json.dumps(outcome().as_data())


def test_another_seed_draws_other_intervals() -> None:
    rng = np.random.default_rng(1)
    labels: NDArray[np.int8] = rng.integers(0, 2, (30, 4)).astype(np.int8)
    tiers = (TierLabels("gold", "strict", labels, np.ones(30, bool)),)
    rank = Ranking(*sort_by_score(rng.random((30, 4))))
    ends = [
        evaluate([Tfidf()], [rank], tiers, [parse_measure("MRR")], Evaluate(resamples=100, seed=seed), "all")
        .scores[0]
        .low
        for seed in (0, 1)
    ]
    assert ends[0] != ends[1]


def test_an_outcome_is_the_same_after_it_was_json() -> None:
    found = outcome()
    assert Outcome.from_data(json.loads(json.dumps(found.as_data()))) == found
