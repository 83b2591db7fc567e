"""`fcpair.evaluate`: a ranking on a tier, both in memory."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import fcpair
from fcpair.errors import InputError
from fcpair.evaluate.outcome import Outcome, Score
from fcpair.evaluate.tier_frame import evaluate_tier_frame
from fcpair.files.corpus.fc_conan import CN_TEXT, FINAL, HS_TEXT

TIER = pd.DataFrame(
    {
        "hs_id": [1, 1, 2],
        "cn_id": [5, 6, 5],
        "hs": ["tea", "tea", "cats"],
        "cn": ["five", "six", "five"],
        "label": ["appropriate", "not_appropriate", "appropriate"],
        "tier": ["diamond", "gold", "gold"],
    }
)
RANKING = {1: [5, 7, 6], 2: [9, 5]}


def mrr(outcome: Outcome) -> Score:
    return next(score for score in outcome.scores if score.measure == "MRR@10")


def refuse(message: str, frame: Any = TIER, ranking: Any = RANKING, **more: Any) -> None:
    with pytest.raises(InputError, match=message):
        fcpair.evaluate(frame, ranking, **more)


def test_the_score_counts_what_is_unjudged_as_wrong_and_bounds_say_what_it_could_be() -> None:
    """By hand: 1 for HS 1, whose first CN is right, and 1/2 for HS 2, whose second is, or first once CN 9 is out."""
    score = mrr(fcpair.evaluate(TIER, RANKING))
    assert (score.score, score.lowest, score.highest, score.left_out) == pytest.approx((0.75, 0.75, 1, 1))


def test_the_package_is_the_function_however_it_was_loaded() -> None:
    import fcpair.evaluate.measures

    assert fcpair.evaluate(TIER, RANKING) == evaluate_tier_frame(TIER, RANKING)
    assert inspect.signature(fcpair.evaluate) == inspect.signature(evaluate_tier_frame)


def test_a_ranking_may_be_called_by_texts_or_by_numbers_as_texts_as_in_json() -> None:
    by_text = {"tea": ["five", "seven", "six"], "cats": ["nine", "five"]}
    assert fcpair.evaluate(TIER, by_text).scores == fcpair.evaluate(TIER, RANKING).scores
    assert fcpair.evaluate(TIER, {"1": [5, 7, 6], "2": [9, 5]}) == fcpair.evaluate(TIER, RANKING)


@pytest.mark.parametrize("as_word", [int, str, float])
def test_the_corpus_s_own_ids_are_read_where_the_ranking_has_them(as_word: type) -> None:
    """CN 5 is the corpus's 6 and 60, CN 6 its 8: a ranking in own ids is not read as the study's numbers."""
    frame = TIER.assign(**{"cn.cn_id": ["6 60", "8", "6 60"]})
    own = {hs: [as_word(cn) for cn in cns] for hs, cns in {1: [6, 3, 8], 2: [9, 60]}.items()}
    for pool in (None, [6, 8, 3, 9]):
        assert mrr(fcpair.evaluate(frame, own, pool=pool)).score == pytest.approx(0.75)
    assert fcpair.evaluate(frame, RANKING) == fcpair.evaluate(TIER, RANKING)


def test_ids_that_could_be_either_numbering_are_refused() -> None:
    """The corpus numbers the two CNs the other way round, so that a perfect ranking could be the worst."""
    frame = TIER.assign(**{"cn.cn_id": ["6", "5", "6"]})
    refuse("could be the study's numbers .* or the corpus's own ids .*, such as 5, 6; drop", frame, {1: [6, 5], 2: [6]})
    refuse("could be the study's numbers", TIER.assign(**{"cn.cn_id": ["6", "7", "6"]}), {1: [7], 2: [5]})
    same = TIER.assign(**{"cn.cn_id": ["5", "6", "5"]})
    assert fcpair.evaluate(same, RANKING) == fcpair.evaluate(TIER, RANKING)


@pytest.mark.parametrize("order", [{"score": [3, 2, 1, 0.5, 0.25]}, {"rank": [1, 2, 3, 1, 2]}], ids=["score", "rank"])
def test_a_ranking_may_be_a_frame_in_any_order(order: dict[str, list[float]]) -> None:
    frame = pd.DataFrame({"hs_id": [1, 1, 1, 2, 2], "cn_id": [5, 7, 6, 9, 5], **order})
    assert fcpair.evaluate(TIER, frame.sample(frac=1, random_state=3)).scores == fcpair.evaluate(TIER, RANKING).scores


def test_a_published_partition_is_a_tier_frame() -> None:
    published = pd.DataFrame({HS_TEXT: TIER["hs"], CN_TEXT: TIER["cn"], FINAL: [1, 0, 1]})
    by_text = {"tea": ["five", "seven", "six"], "cats": ["nine", "five"]}
    assert fcpair.evaluate(published, by_text).scores[0].score == fcpair.evaluate(TIER, RANKING).scores[0].score


@pytest.mark.parametrize(("tier", "judged", "positive"), [("gold", 663, 54), ("bronze", 3997, 702)])
def test_a_partition_as_fc_conan_published_it(data: Path, tier: str, judged: int, positive: int) -> None:
    """The counts are those of its Tables 1 and 2."""
    published = pd.read_csv(data / "fc-conan" / f"{tier}_partition_df.csv")
    ranking = {hs: cns.tolist() for hs, cns in published.groupby(HS_TEXT)[CN_TEXT]}
    facts = fcpair.evaluate(published, ranking, measures=["MRR"], resamples=100, tier=tier).tiers[0]
    assert (facts.hs, facts.judged, facts.positive) == (45, judged, positive)


def test_a_pool_has_what_is_judged_or_ranked_or_what_is_given() -> None:
    assert fcpair.evaluate(TIER, RANKING).tiers[0].pool == 4
    tier = fcpair.evaluate(TIER, RANKING, pool=[5, 6, 7, 8, 9]).tiers[0]
    assert (tier.hs, tier.pool, tier.cells, tier.judged) == (2, 5, 10, 3)


def test_an_outcome_is_named_for_the_lowest_tier_of_the_frame_and_its_system_as_is_said() -> None:
    assert fcpair.evaluate(TIER, RANKING).tiers[0].tier == "gold"
    named = fcpair.evaluate(TIER, RANKING, tier="mine", name="my bm25")
    assert (named.scores[0].tier, named.systems[0].name) == ("mine", "my bm25")


def test_an_hs_may_have_nothing() -> None:
    assert mrr(fcpair.evaluate(TIER, {1: [5], 2: []})).score == pytest.approx(0.5)


def test_hs_that_the_tier_does_not_have_are_passed_over_with_a_note() -> None:
    outcome = fcpair.evaluate(TIER, {**RANKING, 3: [5]})
    assert outcome.systems[0].notes == ("ignored: 1 HS that are not in the tier",)
    assert outcome.scores == fcpair.evaluate(TIER, RANKING).scores


def test_simulated_answers_are_said() -> None:
    assert fcpair.evaluate(TIER.assign(simulated=[True, False, False]), RANKING).simulated is not None
    assert fcpair.evaluate(TIER.assign(simulated=False), RANKING).simulated is None


def test_other_labels_may_be_positive() -> None:
    frame = TIER.assign(label=["yes", "no", "yes"])
    assert fcpair.evaluate(frame, RANKING, positive=["yes"]).scores == fcpair.evaluate(TIER, RANKING).scores


def test_the_frames_stay_as_they_were() -> None:
    before = TIER.copy()
    fcpair.evaluate(TIER, RANKING)
    pd.testing.assert_frame_equal(TIER, before)


# What is no tier frame, and no ranking.
NO_FRAMES: tuple[Any, ...] = (None, [], "gold.csv", {"hs_id": [1]})
FRAMES: tuple[tuple[Any, str], ...] = (
    *((frame, "expected a pandas DataFrame") for frame in NO_FRAMES),
    (
        pd.concat([TIER.assign(label="no"), TIER.assign(cn_id=[7, 8, 9], label="yes")]),
        "no pair of the tier frame is labelled appropriate; its labels are no, yes",
    ),
    (TIER[["hs_id", "cn_id"]], "the tier frame has no column `label`; found hs_id, cn_id"),
    (TIER[["hs_id", "label"]], "the tier frame has no column `cn_id`; found hs_id, label"),
    (pd.concat([TIER, TIER.head(1)]), r"tier frame \(rows from 1\):4: this pair is duplicated"),
    (TIER[["hs_id", "cn_id", "cn_id", "label"]], "column `cn_id` of the frame is duplicated"),
    (TIER.assign(label=["appropriate", np.nan, "appropriate"]), r"tier frame \(rows from 1\):2: `label` is empty"),
    (TIER.head(0), "the tier frame has no rows"),
)
RANKINGS: tuple[tuple[Any, str], ...] = (
    ({1: [5]}, r"1 of 2 HS of the tier are not ranked \(2\)"),
    ({1: [5], 2: [5, 6, 5]}, "CN 5 is ranked twice for HS 2"),
    ({**RANKING, "cats": [5]}, "HS 'cats' is ranked twice"),
    *(({1: cns, 2: [5]}, "expected a list of CNs, best first") for cns in ("five", 5, None, {5: 1})),
    *(({1: [cn], 2: [5]}, "is ranked, but not in the pool") for cn in (None, np.nan)),
    ({1: [[5]], 2: [5]}, "expected an id or a text"),
    ("my.trec", r"^ranking is 'my.trec'; expected a dict such as \{hs_id: \[cn_id"),
    (
        pd.DataFrame({"hs_id": [1], "cn_id": [5]}),
        "no column `rank`; expected hs_id, cn_id and score or rank; found hs_id, cn_id",
    ),
    *(
        (
            pd.DataFrame({"hs_id": [1, 2], "cn_id": [5, 5], "score": pd.Series([1.0, score], dtype=object)}),
            r"ranking \(rows from 1\):2: `score` is not a number",
        )
        for score in (np.nan, np.inf, "much")
    ),
)


@pytest.mark.parametrize(("frame", "message"), FRAMES)
def test_what_is_no_tier_frame_is_refused_with_its_row(frame: Any, message: str) -> None:
    refuse(message, frame)


@pytest.mark.parametrize(("ranking", "message"), RANKINGS)
def test_what_is_no_ranking_is_refused_with_its_row(ranking: Any, message: str) -> None:
    refuse(message, ranking=ranking)


def test_a_pool_holds_all_that_is_ranked_and_positive() -> None:
    refuse("CN 7 is ranked, but not in the pool", pool=[5, 6, 9])
    refuse(r"the pool lacks 2 CNs that the tier labels positive \(5, 5\)", pool=[6, 7, 9])


def test_measures_and_options_are_checked_as_everywhere() -> None:
    refuse("NDGC", measures=["NDGC"])
    refuse("measure `MRR@10` is given twice", measures=["MRR", "MRR@10"])
    refuse("cutoff is 0; expected a whole number, 1 or more", cutoff=0)
    refuse("no_positives is 'skip'", no_positives="skip")
    refuse(r"measures is 'NDCG'; expected a list of measures, such as \['NDCG@10'\]", measures="NDCG")
