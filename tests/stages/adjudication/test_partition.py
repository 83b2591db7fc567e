"""The tiers and those of a study's own: rules by hand, that they are nested, and FC-CONAN's partitions and tables."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.files.corpus.fc_conan import read_published
from fcpair.params import DiamondRule, Partition
from fcpair.records import TIERS, Tier
from fcpair.stages.adjudication.adjudicate import Tally, tally
from fcpair.stages.adjudication.partition import (
    CELL_HEADS,
    Evidence,
    TierRule,
    best_of_four,
    failed_demands,
    find_rule,
    is_in_tier,
    is_member,
    memberships,
    tier_rules,
    tier_tables,
)
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.form import parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS, need_tiers

RULES = get_args(DiamondRule)
Pairs = list[tuple[list[int], int, int]]


def evidence_of(*pairs: tuple[list[int], int, int]) -> Evidence:
    """Evidence from the labels, the final label and the verdict of each pair; pair numbers count from 0."""
    number = [pair for pair, (labels, _, _) in enumerate(pairs) for _ in labels]
    codes = [code for labels, _, _ in pairs for code in labels]
    count = tally(np.array(number, np.int64), np.array(codes, np.int64), APPROPRIATENESS)
    return Evidence(count, np.array([final for _, final, _ in pairs]), np.array([verdict for _, _, verdict in pairs]))


def grade(evidence: Evidence, rules: tuple[TierRule, ...]) -> NDArray[np.int64]:
    """The best of the four tiers of each pair."""
    return best_of_four(memberships(evidence, rules))


def with_memberships(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs with the tiers that each is in: its best one, and all below."""
    return pairs.assign(tiers=2 ** pairs["tier"] - 1)


PAIRS = st.lists(
    st.tuples(
        st.lists(st.sampled_from(APPROPRIATENESS.codes), min_size=1, max_size=5),
        st.sampled_from([NO_CODE, 0, 2]),
        st.sampled_from([NO_CODE, 0, 1]),
    ),
    min_size=1,
    max_size=12,
)


@pytest.mark.parametrize(
    ("labels", "final", "verdict", "unanimous", "majority"),
    [
        ([2], 2, 1, 2, 2),  # one label is Silver at most
        ([2], 2, 0, 1, 1),  # and Bronze when the validators do not agree
        ([2], 2, NO_CODE, 0, 0),  # without a verdict there is no tier
        ([2], NO_CODE, 1, 0, 0),  # nor without a final label
        ([1], NO_CODE, NO_CODE, 0, 0),
        ([2, 2], 2, 1, 4, 4),
        ([0, 0, 0], 0, 1, 4, 4),
        ([2, 2], 2, 0, 1, 1),
        ([2, 0], 2, 1, 3, 3),  # decided by a person: one label equals the final one
        ([2, 2, 0], 2, 1, 3, 4),  # here the two rules for Diamond part ways
        ([2, 2, 1], 2, 1, 3, 4),  # "not sure" is no agreement
        ([2, 1], 2, 1, 3, 3),
        ([2, 2], 0, 1, 3, 3),  # a person decided against both
        ([0, 0, 2, 2], 2, 1, 3, 3),  # two, but no more than half
        ([2, 2, 0, 0, 0], 2, 1, 3, 3),  # a person decided for the two against the three
        ([0, 0, 0, 2, 2], 0, 1, 3, 4),
        ([2, 2, 1, 1], 2, 1, 3, 3),  # "not sure" is a label too: two of four
        ([2, 2, 2, 1, 1], 2, 1, 3, 4),
        ([2, 2, 2], 2, 0, 1, 1),
    ],
)
def test_the_tier_of_a_pair(labels: list[int], final: int, verdict: int, unanimous: int, majority: int) -> None:
    evidence = evidence_of((labels, final, verdict))
    best = [grade(evidence, tier_rules(Partition(diamond))).tolist() for diamond in ("unanimous", "majority")]
    assert best == [[unanimous], [majority]]


def test_the_rules_are_bronze_first_and_say_what_they_ask() -> None:
    tiers = {
        "platinum": {"labels": 3, "agreement": "unanimous", "within": "gold"},
        "draft": {"verdict": "none", "counted": "definite", "answers": ["appropriate"]},
        "side": {"agreement": "majority", "agreeing": "side", "verdict": "any"},
    }
    assert [(rule.tier, str(rule)) for rule in tier_rules(Partition(own_tiers=tiers))] == [
        ("bronze", "1 label or more; valid or not valid"),
        ("silver", "1 label or more; valid"),
        ("gold", "2 labels or more; valid"),
        ("diamond", "2 labels or more, all equal to the final one; valid"),
        ("platinum", "3 labels or more, all equal to the final one; valid; within gold"),
        ("draft", "1 definite label or more; with or without a verdict; final label appropriate"),
        (
            "side",
            "2 labels or more, at least two and more than half on the side of the final one; valid or not valid",
        ),
    ]
    by_majority = tier_rules(Partition("majority"))
    diamond = "2 labels or more, at least two and more than half equal to the final one; valid"
    assert (str(by_majority[3]), by_majority[:3]) == (diamond, tier_rules(Partition("unanimous"))[:3])


@given(PAIRS)
def test_tiers_are_nested_and_a_pair_is_in_the_best_that_has_no_reason_against_it(pairs: Pairs) -> None:
    evidence, diamonds = evidence_of(*pairs), []
    for diamond in RULES:
        rules = tier_rules(Partition(diamond))
        inside = [is_in_tier(rule, evidence) for rule in rules]
        for wider, narrower in pairwise(inside):
            assert not (narrower & ~wider).any()
        for rule, is_in in zip(rules, inside, strict=True):
            assert is_in.tolist() == [not failed_demands(evidence, rule, row) for row in range(len(pairs))]
        for row, tier in enumerate(grade(evidence, rules).tolist()):
            passed = [Tier[rule.tier.upper()] for rule, is_in in zip(rules, inside, strict=True) if is_in[row]]
            assert tier == max(passed, default=0)
        diamonds.append(inside[3])
    by_majority, unanimous = diamonds if RULES[0] == "majority" else diamonds[::-1]
    assert not (unanimous & ~by_majority).any()


EQUAL, INVALID = "labels equal the final one", "the validators did not agree with its label"
UNCHECKED = "no validator has given a verdict on its label"


@pytest.mark.parametrize(
    ("labels", "final", "verdict", "tier", "expected"),
    [
        ([2, 2], 2, 1, "diamond", []),
        ([2, 2, 0], 2, 1, "diamond", [f"2 of 3 {EQUAL}"]),
        ([2, 2, 0], 2, 1, "majority", []),
        ([2, 2, 0, 0, 0], 2, 1, "majority", [f"2 of 5 {EQUAL}"]),
        ([2, 2], NO_CODE, 1, "diamond", ["it has no final label"]),
        ([2], 2, 1, "gold", ["it has 1 of 2 labels"]),
        ([2], 2, 0, "silver", [INVALID]),
        ([2], 2, 0, "bronze", []),
        ([2], 2, NO_CODE, "bronze", [UNCHECKED]),
        ([1], NO_CODE, NO_CODE, "bronze", ["it has no final label", UNCHECKED]),
        ([0], 2, 0, "diamond", [INVALID, "it has 1 of 2 labels", f"0 of 1 {EQUAL}"]),
        # a majority of fewer than two labels is missing a label
        ([2], 2, NO_CODE, "draft", ["it has 1 of 2 labels"]),
        ([0], 2, NO_CODE, "draft", ["it has 1 of 2 labels", f"0 of 1 {EQUAL}"]),
        ([2, 0], 2, NO_CODE, "draft", [f"1 of 2 {EQUAL}"]),
        ([2, 2], 2, NO_CODE, "draft", []),
    ],
)
def test_reasons_by_hand(labels: list[int], final: int, verdict: int, tier: str, expected: list[str]) -> None:
    draft = Partition(own_tiers={"draft": {"agreement": "majority", "verdict": "none"}})
    rules = {rule.tier: rule for rule in tier_rules(draft)} | {"majority": tier_rules(Partition("majority"))[3]}
    assert failed_demands(evidence_of(([0], 0, 1), (labels, final, verdict)), rules[tier], 1) == expected


def test_tables_by_hand() -> None:
    pairs = pd.DataFrame(
        [(4, 1, 1, 2, 2, 1), (4, 1, 2, 0, 5, 1), (2, 2, 1, 2, 1, 1), (1, 3, 3, 0, 1, 0), (0, 4, 4, -1, 3, -1)],
        columns=["tier", "hs_id", "cn_id", "final", "n_labels", "verdict"],
    )
    sizes, balance, labels, verdicts = tier_tables(with_memberships(pairs), APPROPRIATENESS, tier_rules())
    assert sizes.drop(columns="rule").to_numpy().tolist() == [
        ["diamond", 2, 1, 2],
        ["gold", 2, 1, 2],
        ["silver", 3, 2, 2],
        ["bronze", 4, 3, 3],
    ]
    assert sizes["rule"].tolist() == [str(rule) for rule in reversed(tier_rules())]
    assert balance.columns.tolist() == ["tier", "pairs", "appropriate", "not_appropriate", "share"]
    assert balance.iloc[2].tolist() == ["silver", 3, 2, 1, pytest.approx(2 / 3)]
    assert labels.columns.tolist() == ["tier", "pairs", "3+ labels", "2 labels", "1 label"]
    assert labels.iloc[[0, 3]].to_numpy().tolist() == [["diamond", 2, 1, 1, 0], ["bronze", 4, 1, 1, 2]]
    assert verdicts.columns.tolist() == ["labels", "pairs", "valid", "not_valid", "share"]
    assert verdicts.to_numpy().tolist() == [
        ["3+ labels", 1, 1, 0, 0],
        ["2 labels", 1, 1, 0, 0],
        ["1 label", 2, 1, 1, 0.5],
        ["all", 4, 3, 1, 0.25],
    ]


def test_tables_of_a_grid_of_other_sides_name_cells_rows_and_columns() -> None:
    pairs = pd.DataFrame(
        {"tier": [4, 1], "hs_id": [1, 1], "cn_id": [1, 2], "final": [2, 0], "n_labels": [2, 1], "verdict": [1, 0]}
    )
    sizes, balance, labels, verdicts = tier_tables(with_memberships(pairs), APPROPRIATENESS, tier_rules(), CELL_HEADS)
    assert sizes.columns.tolist() == ["tier", "cells", "rows", "columns", "rule"]
    assert sizes.iloc[3, :4].tolist() == ["bronze", 2, 1, 2]
    assert balance.columns.tolist() == ["tier", "cells", "positive", "not_positive", "share"]
    assert balance.iloc[3].tolist() == ["bronze", 2, 1, 1, 0.5]
    assert labels.columns.tolist() == ["tier", "cells", "3+ labels", "2 labels", "1 label"]
    assert verdicts.columns.tolist() == ["labels", "cells", "valid", "not_valid", "share"]
    assert pd.isna(verdicts["share"][0])
    last = with_memberships(pairs.iloc[1:])
    shares = tier_tables(last.assign(final=2), APPROPRIATENESS, tier_rules())[1]["share"]
    assert (pd.isna(shares[0]), shares[3]) == (True, 1.0)  # an empty tier has none


@pytest.fixture(scope="module")
def bronze(data: Path) -> tuple[pd.DataFrame, Evidence]:
    read = read_published(data / "fc-conan" / "bronze_partition_df.csv")
    pairs = read.pairs.sort_values("pair")
    count = tally(read.labels["pair"].to_numpy(), read.labels["code"].to_numpy(), APPROPRIATENESS)
    return pairs, Evidence(count, pairs["final"].to_numpy(), pairs["verdict"].to_numpy())


def test_each_tier_of_fc_conan_holds_the_pairs_of_the_released_file(
    data: Path, bronze: tuple[pd.DataFrame, Evidence]
) -> None:
    pairs, evidence = bronze
    for rule in tier_rules(Partition("majority")):
        released = pd.read_csv(data / "fc-conan" / f"{rule.tier}_partition_df.csv")["original_index"]
        assert pairs["pair"][is_in_tier(rule, evidence)].tolist() == sorted(released)
    sizes = [int(is_in_tier(rule, evidence).sum()) for rule in tier_rules(Partition("unanimous"))]
    assert sizes == [3997, 3580, 663, 530]


def test_tables_of_fc_conan(bronze: tuple[pd.DataFrame, Evidence]) -> None:
    """DESIGN, section 6; Bronze is 45 HS and 130 CNs."""
    pairs, evidence = bronze
    rules = tier_rules(Partition("majority"))
    graded = pd.DataFrame(
        {
            "tier": grade(evidence, rules),
            "hs_id": pd.factorize(pairs["hs"])[0],
            "cn_id": pd.factorize(pairs["cn"])[0],
            "final": evidence.final,
            "n_labels": evidence.tally.n_labels,
            "verdict": evidence.verdict,
        }
    )
    sizes, balance, labels, verdicts = tier_tables(with_memberships(graded), APPROPRIATENESS, rules)
    assert sizes["tier"].tolist() == ["diamond", "gold", "silver", "bronze"]
    assert sizes["pairs"].tolist() == [551, 663, 3580, 3997]
    assert sizes[["hs", "cn"]].iloc[3].tolist() == [45, 130]
    assert balance["appropriate"].tolist() == [35, 54, 431, 702]
    assert labels.iloc[:, 2:].to_numpy().tolist() == [
        [195, 356, 0],
        [195, 468, 0],
        [195, 468, 2917],
        [199, 502, 3296],
    ]
    assert verdicts.iloc[:, :4].to_numpy().tolist() == [
        ["3+ labels", 199, 195, 4],
        ["2 labels", 502, 468, 34],
        ["1 label", 3296, 2917, 379],
        ["all", 3997, 3580, 417],
    ]


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
