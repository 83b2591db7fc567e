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


def test_the_score_counts_what_is_unjudged_as_wrong() -> None:
    """By hand: 1 for HS 1, whose first CN is right, and 1/2 for HS 2, whose second is."""
    assert mrr(fcpair.evaluate(TIER, RANKING)).score == pytest.approx(0.75)


def test_bounds_say_what_the_unjudged_could_be() -> None:
    """By hand: CN 9, on the first rank of HS 2, may be right (1) or wrong (1/2); left out, CN 5 comes first (1)."""
    score = mrr(fcpair.evaluate(TIER, RANKING))
    assert (score.lowest, score.highest, score.left_out) == pytest.approx((0.75, 1, 1))


def test_the_package_is_the_function_however_it_was_loaded() -> None:
    import fcpair.evaluate.measures

    assert fcpair.evaluate(TIER, RANKING) == evaluate_tier_frame(TIER, RANKING)
    assert inspect.signature(fcpair.evaluate) == inspect.signature(evaluate_tier_frame)


def test_a_ranking_may_be_called_by_texts() -> None:
    by_text = {"tea": ["five", "seven", "six"], "cats": ["nine", "five"]}
    assert fcpair.evaluate(TIER, by_text).scores == fcpair.evaluate(TIER, RANKING).scores


def test_keys_may_be_texts_of_numbers_as_in_json() -> None:
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


def test_a_pool_has_cns_that_nobody_ranked() -> None:
    tier = fcpair.evaluate(TIER, RANKING, pool=[5, 6, 7, 8, 9]).tiers[0]
    assert (tier.hs, tier.pool, tier.cells, tier.judged) == (2, 5, 10, 3)


def test_without_a_pool_it_has_what_is_judged_or_ranked() -> None:
    assert fcpair.evaluate(TIER, RANKING).tiers[0].pool == 4


def test_the_outcome_is_named_for_the_lowest_tier_of_the_frame() -> None:
    assert fcpair.evaluate(TIER, RANKING).tiers[0].tier == "gold"
    assert fcpair.evaluate(TIER, RANKING, tier="mine", name="bm25").scores[0].tier == "mine"


def test_the_outcome_has_the_name_of_the_ranking() -> None:
    assert fcpair.evaluate(TIER, RANKING, name="my bm25").systems[0].name == "my bm25"


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


def test_labels_without_a_positive_one_are_refused() -> None:
    refuse(
        "no pair of the tier frame is labelled appropriate; its labels are no, yes",
        TIER.assign(label="no").pipe(lambda frame: pd.concat([frame, frame.assign(cn_id=[7, 8, 9], label="yes")])),
    )


def test_a_frame_with_other_columns_is_refused_with_those() -> None:
    refuse("the tier frame has no column `label`; found hs_id, cn_id", TIER[["hs_id", "cn_id"]])
    refuse("the tier frame has no column `cn_id`; found hs_id, label", TIER[["hs_id", "label"]])


def test_a_pair_that_is_there_twice_is_refused_with_its_row() -> None:
    refuse(r"tier frame \(rows from 1\):4: this pair is duplicated", pd.concat([TIER, TIER.head(1)]))


def test_a_column_that_is_there_twice_is_refused() -> None:
    refuse("column `cn_id` of the frame is duplicated", TIER[["hs_id", "cn_id", "cn_id", "label"]])


def test_an_empty_cell_is_refused_with_its_row() -> None:
    refuse(r"tier frame \(rows from 1\):2: `label` is empty", TIER.assign(label=["appropriate", np.nan, "appropriate"]))


def test_a_frame_without_rows_is_refused() -> None:
    refuse("the tier frame has no rows", TIER.head(0))


@pytest.mark.parametrize("frame", [None, [], "gold.csv", {"hs_id": [1]}])
def test_what_is_no_tier_frame_is_refused(frame: Any) -> None:
    refuse("expected a pandas DataFrame", frame)


def test_an_hs_that_is_not_ranked_is_refused() -> None:
    refuse(r"1 of 2 HS of the tier are not ranked \(2\)", ranking={1: [5]})


def test_a_cn_that_is_ranked_twice_is_refused() -> None:
    refuse("CN 5 is ranked twice for HS 2", ranking={1: [5], 2: [5, 6, 5]})


def test_an_hs_that_is_ranked_twice_is_refused() -> None:
    refuse("HS 'cats' is ranked twice", ranking={**RANKING, "cats": [5]})


def test_a_cn_outside_the_pool_is_refused() -> None:
    refuse("CN 7 is ranked, but not in the pool", pool=[5, 6, 9])


def test_a_pool_that_lacks_a_positive_cn_is_refused() -> None:
    refuse(r"the pool lacks 2 CNs that the tier labels positive \(5, 5\)", pool=[6, 7, 9])


@pytest.mark.parametrize("cns", ["five", 5, None, {5: 1}])
def test_what_is_no_list_of_cns_is_refused(cns: Any) -> None:
    refuse("expected a list of CNs, best first", ranking={1: cns, 2: [5]})


@pytest.mark.parametrize("cn", [None, np.nan])
def test_a_gap_in_a_ranking_is_refused(cn: Any) -> None:
    refuse("is ranked, but not in the pool", ranking={1: [cn], 2: [5]})


def test_a_list_for_a_cn_is_refused() -> None:
    refuse("expected an id or a text", ranking={1: [[5]], 2: [5]})


def test_a_ranking_with_other_columns_is_refused_with_those() -> None:
    frame = pd.DataFrame({"hs_id": [1], "cn_id": [5]})
    refuse("no column `rank`; expected hs_id, cn_id and score or rank; found hs_id, cn_id", ranking=frame)


@pytest.mark.parametrize("score", [np.nan, np.inf, "much"])
def test_a_score_that_is_no_number_is_refused_with_its_row(score: Any) -> None:
    frame = pd.DataFrame({"hs_id": [1, 2], "cn_id": [5, 5], "score": pd.Series([1.0, score], dtype=object)})
    refuse(r"ranking \(rows from 1\):2: `score` is not a number", ranking=frame)


def test_measures_and_options_are_checked_as_everywhere() -> None:
    refuse("NDGC", measures=["NDGC"])
    refuse("measure `MRR@10` is given twice", measures=["MRR", "MRR@10"])
    refuse("cutoff is 0; expected a whole number, 1 or more", cutoff=0)
    refuse("no_positives is 'skip'", no_positives="skip")


def test_one_measure_is_named_in_a_list_and_not_taken_apart() -> None:
    frame = pd.DataFrame({"hs_id": [1], "cn_id": [5], "label": ["appropriate"]})
    with pytest.raises(InputError, match=r"measures is 'NDCG'; expected a list of measures, such as \['NDCG@10'\]"):
        evaluate_tier_frame(frame, {1: [5]}, measures="NDCG")


def test_what_is_no_ranking_is_answered_with_what_is() -> None:
    frame = pd.DataFrame({"hs_id": [1], "cn_id": [5], "label": ["appropriate"]})
    with pytest.raises(InputError, match=r"^ranking is 'my.trec'; expected a dict such as \{hs_id: \[cn_id"):
        evaluate_tier_frame(frame, "my.trec")  # type: ignore[arg-type]
