"""The tiers: their rules by hand, that they are always nested, and FC-CONAN's partitions and tables again."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.files.corpus.fc_conan import read_published
from fcpair.params import DiamondRule, Partition
from fcpair.records import Tier
from fcpair.stages.adjudication.adjudicate import tally
from fcpair.stages.adjudication.partition import (
    CELL_HEADS,
    Evidence,
    TierRule,
    best_of_four,
    failed_demands,
    is_in_tier,
    memberships,
    tier_rules,
    tier_tables,
)
from fcpair.stages.questions import NO_CODE
from fcpair.stages.questions.labels import APPROPRIATENESS

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


# -- the rules


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
    assert [(rule.tier, str(rule)) for rule in tier_rules()] == [
        ("bronze", "1 label or more; valid or not valid"),
        ("silver", "1 label or more; valid"),
        ("gold", "2 labels or more; valid"),
        ("diamond", "2 labels or more, all equal to the final one; valid"),
    ]
    assert (
        str(tier_rules(Partition("majority"))[3])
        == "2 labels or more, at least two and more than half equal to the final one; valid"
    )
    assert tier_rules(Partition("majority"))[:3] == tier_rules(Partition("unanimous"))[:3]


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
    ],
)
def test_reasons_by_hand(labels: list[int], final: int, verdict: int, tier: str, expected: list[str]) -> None:
    rules = {rule.tier: rule for rule in tier_rules()} | {"majority": tier_rules(Partition("majority"))[3]}
    assert failed_demands(evidence_of(([0], 0, 1), (labels, final, verdict)), rules[tier], 1) == expected


# -- the tables


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


# -- FC-CONAN again


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
