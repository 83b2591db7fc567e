"""Tiers of a study's own: their rules by hand, the four written as such, and FC-CONAN by rules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.params import DiamondRule, Partition
from fcpair.records import TIERS
from fcpair.stages.adjudication.adjudicate import Tally
from fcpair.stages.adjudication.partition import (
    Evidence,
    failed_demands,
    find_rule,
    is_in_tier,
    is_member,
    memberships,
    name_tiers,
    tier_rules,
    tier_tables,
)
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.form import parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS, need_tiers
from stages.adjudication.test_partition import PAIRS, RULES, Pairs, bronze, evidence_of

__all__ = ["bronze"]


def the_four(diamond: DiamondRule) -> dict[str, dict[str, Any]]:
    """Bronze, Silver, Gold and Diamond as rules of a study's own, each within the one before."""
    return {
        "own-bronze": {"verdict": "any"},
        "own-silver": {"within": "own-bronze"},
        "own-gold": {"labels": 2, "within": "own-silver"},
        "own-diamond": {"agreement": diamond, "within": "own-gold"},
    }


PLANS = st.fixed_dictionaries(
    {},
    optional={
        "labels": st.integers(1, 4),
        "counted": st.sampled_from(["all", "definite"]),
        "agreement": st.sampled_from(["any", "majority", "unanimous"]),
        "agreeing": st.sampled_from(["answer", "side"]),
        "verdict": st.sampled_from(["accepted", "any", "none"]),
        "answers": st.sampled_from([["appropriate"], ["not_appropriate"], ["appropriate", "not_appropriate"]]),
    },
)


@pytest.mark.parametrize("diamond", RULES)
@given(pairs=PAIRS)
def test_the_four_written_as_own_rules_have_the_same_pairs(diamond: DiamondRule, pairs: Pairs) -> None:
    rules, evidence = tier_rules(Partition(diamond, own_tiers=the_four(diamond))), evidence_of(*pairs)
    tiers = memberships(evidence, rules)
    for name in TIERS:
        assert is_member(tiers, rules, f"own-{name}").tolist() == is_member(tiers, rules, name).tolist()


@given(pairs=PAIRS, plan=PLANS, parent=st.sampled_from(TIERS), other=PLANS)
def test_a_tier_is_a_part_of_those_it_is_within_has_reasons_and_changes_nothing_in_the_four(
    pairs: Pairs, plan: dict[str, Any], parent: str, other: dict[str, Any]
) -> None:
    tiers = {"outer": {key: value for key, value in other.items() if key != "answers"}}
    tiers |= {name: {**plan, "within": wide} for name, wide in (("inner", "outer"), ("part", parent))}
    rules, evidence = tier_rules(Partition(own_tiers=tiers)), evidence_of(*pairs)
    bits = memberships(evidence, rules)
    for narrow, wide in (("inner", "outer"), ("part", parent)):
        assert (is_member(bits, rules, narrow) <= is_member(bits, rules, wide)).all()
    for rule in rules:
        is_in = [not failed_demands(evidence, rule, row) for row in range(len(pairs))]
        assert is_in == is_in_tier(rule, evidence).tolist()
    assert ((bits & 15) == memberships(evidence, tier_rules())).all()


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({}, [True, True, True, False, False]),
        ({"verdict": "none"}, [True, True, True, True, True]),
        ({"verdict": "any"}, [True, True, True, True, False]),
        ({"labels": 3}, [True, True, False, False, False]),
        ({"labels": 3, "counted": "definite"}, [True, False, False, False, False]),
        ({"agreement": "unanimous"}, [False, False, True, False, False]),
        ({"agreement": "unanimous", "counted": "definite"}, [False, True, True, False, False]),
        ({"agreement": "majority"}, [True, True, False, False, False]),
        ({"answers": ["not_appropriate"]}, [False, False, False, False, False]),
        ({"answers": ["not_appropriate"], "verdict": "none"}, [False, False, False, True, False]),
    ],
)
def test_rules_by_hand(plan: dict[str, Any], expected: list[bool]) -> None:
    pairs = [([2, 2, 0], 2, 1), ([2, 2, 1], 2, 1), ([2], 2, 1), ([0, 0, 0], 0, 0), ([2, 2], 2, NO_CODE)]
    rule = find_rule(tier_rules(Partition(own_tiers={"mine": plan})), "mine")
    assert is_in_tier(rule, evidence_of(*pairs)).tolist() == expected


def test_labels_on_the_side_of_the_final_one_can_agree() -> None:
    question = need_tiers(parse_question("scale(1,5,1,positive=4)"))
    codes = list(question.codes)
    counts = np.zeros((2, len(codes)), np.int64)
    counts[0, [codes.index(code) for code in codes[-2:]]] = 1  # 4 and 5, both positive
    counts[1, [1, 3]] = 1  # 2 and 4, on two sides
    final = np.array([codes[-1], codes[3]])
    evidence = Evidence(Tally(question, np.array([0, 1]), counts), final, np.array([1, 1]))
    plan = {"agreement": "unanimous"}
    for agreeing, expected in (("answer", [False, False]), ("side", [True, False])):
        rules = tier_rules(Partition(own_tiers={"mine": {**plan, "agreeing": agreeing}}))
        assert is_in_tier(find_rule(rules, "mine"), evidence).tolist() == expected


def test_a_rule_is_told_in_words() -> None:
    tiers = {
        "platinum": {"labels": 3, "agreement": "unanimous", "within": "gold"},
        "draft": {"verdict": "none", "counted": "definite", "answers": ["appropriate"]},
        "side": {"agreement": "majority", "agreeing": "side", "verdict": "any"},
    }
    rules = tier_rules(Partition(own_tiers=tiers))
    assert [str(rule) for rule in rules[4:]] == [
        "3 labels or more, all equal to the final one; valid; within gold",
        "1 definite label or more; with or without a verdict; final label appropriate",
        "2 labels or more, at least two and more than half on the side of the final one; valid or not valid",
    ]


def test_a_majority_of_fewer_than_two_labels_is_missing_a_label() -> None:
    rule = find_rule(tier_rules(Partition(own_tiers={"draft": {"agreement": "majority", "verdict": "none"}})), "draft")
    evidence = evidence_of(([2], 2, NO_CODE), ([0], 2, NO_CODE), ([2, 0], 2, NO_CODE), ([2, 2], 2, NO_CODE))
    assert [failed_demands(evidence, rule, row) for row in range(4)] == [
        ["it has 1 of 2 labels"],
        ["it has 1 of 2 labels", "0 of 1 labels equal the final one"],
        ["1 of 2 labels equal the final one"],
        [],
    ]


def test_tables_list_own_tiers_after_the_four() -> None:
    rules = tier_rules(Partition(own_tiers={"draft": {"verdict": "none"}}))
    evidence = evidence_of(([2, 2], 2, 1), ([0], 0, NO_CODE), ([1], NO_CODE, NO_CODE))
    bits = memberships(evidence, rules)
    pairs = pd.DataFrame({"tiers": bits, "hs_id": [1, 1, 2], "cn_id": [1, 2, 3], "final": evidence.final})
    sizes, *_ = tier_tables(
        pairs.assign(n_labels=evidence.tally.n_labels, verdict=evidence.verdict), APPROPRIATENESS, rules
    )
    assert sizes[["tier", "pairs"]].to_numpy().tolist() == [
        ["diamond", 1],
        ["gold", 1],
        ["silver", 1],
        ["bronze", 1],
        ["draft", 2],
    ]
    assert name_tiers(bits.tolist(), rules) == ["diamond, draft", "draft", ""]


def test_fc_conan_by_rules(bronze: tuple[pd.DataFrame, Evidence]) -> None:
    """DESIGN, section 6: 551 Diamond by majority, 530 unanimous, 663 / 3,580 / 3,997, and their appropriate pairs."""
    _, evidence = bronze
    tiers = {**the_four("majority"), "strict": {"agreement": "unanimous", "within": "own-gold"}}
    rules = tier_rules(Partition("unanimous", own_tiers=tiers))
    is_appropriate = evidence.final == 2
    figures = {}
    for name in tiers:
        is_in = is_in_tier(find_rule(rules, name), evidence)
        figures[name] = (int(is_in.sum()), int((is_in & is_appropriate).sum()))
    assert figures["own-diamond"] == (551, 35)
    assert figures["strict"][0] == 530
    assert [figures[f"own-{name}"] for name in ("gold", "silver", "bronze")] == [(663, 54), (3580, 431), (3997, 702)]
