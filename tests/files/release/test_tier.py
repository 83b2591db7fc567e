"""The table of a tier, qrels, the BEIR folder and that of Hugging Face, on pairs written out by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from huggingface_hub import DatasetCard

from fcpair.files.release.tier import CARD, CardFacts, beir_files, grades, hf_files, qrels_text, tier_table
from fcpair.params import Partition
from fcpair.records import Tier
from fcpair.stages.adjudication.partition import tier_rules
from fcpair.stages.questions import Choice, OneOf
from fcpair.stages.questions.labels import APPROPRIATENESS

# Five judged pairs of two HS, and the texts of both sides.
PAIRS = pd.DataFrame(
    {
        "cell_id": [9, 3, 4, 7, 8],
        "hs_id": [2, 1, 1, 2, 2],
        "cn_id": [12, 11, 12, 10, 11],
        "final": [2, 2, 0, 2, 0],
        "tier": [1, 4, 4, 3, 2],
    }
)
BODIES = pd.Series({1: "tea is for cowards", 2: "cats lie", 10: "ten", 11: "نه", 12: "twelve", 13: "thirteen"})
TIER_PAIRS = pd.DataFrame(
    {
        "cell_id": [3, 8],
        "hs_id": [1, 1],
        "cn_id": [5, 6],
        "n_labels": [2, 1],
        "final": [2, 0],
        "verdict": [1, 0],
        "tier": [4, 1],
        "tiers": [15, 1],
    }
)
LABELS = pd.DataFrame({"cell_id": [3, 3, 8], "annotator": ["ben", "ana", "ben"], "code": [2, 2, 0]})
TEXTS = pd.DataFrame(
    {
        "text_id": [1, 5, 6],
        "body": ["Tea is for cowards.", "Have you met a tea drinker?", "سلام"],
        "language": [None, "en", "fa"],
        "meta": [{"topic": "food"}, {"type": "question"}, {}],
    }
)
EVERY = [10, 11, 12]


def test_a_pair_stands_beside_its_texts_labels_verdict_and_best_tier() -> None:
    table = tier_table(TIER_PAIRS, LABELS, TEXTS, APPROPRIATENESS, tier_rules())
    columns = ["hs", "cn", "label", "verdict", "tier", "n_labels"]
    assert table[columns].to_numpy().tolist() == [
        ["Tea is for cowards.", "Have you met a tea drinker?", "appropriate", "valid", "diamond", 2],
        ["Tea is for cowards.", "سلام", "not_appropriate", "not valid", "bronze", 1],
    ]
    assert [name for name in table.columns if name.startswith("label.")] == ["label.ana", "label.ben"]
    assert table["label.ana"].tolist() == ["appropriate", ""]
    assert table["label.ben"].tolist() == ["appropriate", "not_appropriate"]
    assert table["hs.topic"].tolist() == ["food", "food"]
    assert table["cn.type"].tolist() == ["question", ""]
    assert table["cn.language"].tolist() == ["en", "fa"]
    assert "hs.language" not in table.columns  # as none is known


def test_the_grade_is_the_rank_of_the_best_tier_and_0_where_not_appropriate() -> None:
    graded = grades(PAIRS, APPROPRIATENESS, EVERY)
    assert graded.to_numpy().tolist() == [[1, 11, 4], [1, 12, 0], [2, 10, 3], [2, 11, 0], [2, 12, 1]]
    assert qrels_text(graded) == "1 0 11 4\n1 0 12 0\n2 0 10 3\n2 0 11 0\n2 0 12 1\n"
    assert grades(PAIRS, APPROPRIATENESS, EVERY, binary=True)["grade"].tolist() == [1, 0, 1, 0, 1]
    assert grades(PAIRS, APPROPRIATENESS, [12, 99]).to_numpy().tolist() == [[1, 12, 0], [2, 12, 1]]


def test_the_grade_of_graded_labels_is_that_of_the_label_whatever_its_tier() -> None:
    """The codes 0 and 2 of the five pairs, on a scale whose points 1 and 2 are both positive."""
    scale = OneOf((Choice(0, "bad"), Choice(1, "fair", positive=True), Choice(2, "good", positive=True)))
    found = grades(PAIRS, scale, EVERY)["grade"].tolist()
    assert found == PAIRS.sort_values("cell_id")["final"].tolist()
    assert set(found) == {0, 2}


def test_beir_has_the_pool_in_its_order_the_hs_that_have_a_grade_and_qrels_with_a_header_and_tabs() -> None:
    def files(pool: list[int]) -> tuple[Any, Any, Any]:
        made = beir_files(grades(PAIRS, APPROPRIATENESS, pool), BODIES, pool)
        corpus, queries = (pd.DataFrame(made[name]).to_dict("records") for name in ("corpus.jsonl", "queries.jsonl"))
        return corpus, queries, made["qrels/test.tsv"]

    corpus, *_ = files([13, 11])
    assert corpus == [{"_id": "13", "title": "", "text": "thirteen"}, {"_id": "11", "title": "", "text": "نه"}]
    _, queries, _ = files([10])
    assert queries == [{"_id": "2", "text": "cats lie"}]
    *_, qrels = files([12])
    assert qrels == "query-id\tcorpus-id\tscore\n1\t12\t0\n2\t12\t1\n"


# -- the folder of Hugging Face

BRONZE = pd.DataFrame(
    {
        "pair": [3, 8, 9],
        "hs_id": [1, 1, 2],
        "cn_id": [5, 6, 5],
        "label": ["appropriate", "not_appropriate", "appropriate"],
        "tier": ["gold", "bronze", "silver"],
        "label.ana": ["appropriate", "", ""],
        "label.ben": ["", "not_appropriate", ""],
        "hs.topic": ["food", "food", "cats"],
        "simulated": [False, False, False],
    }
)

RANKS = BRONZE["tier"].map({tier.label: int(tier) for tier in Tier})
ROWS = {tier.label: BRONZE[tier <= RANKS].reset_index(drop=True) for tier in Tier}

FACTS = CardFacts("Tea & cats", "claim", "rebuttal", APPROPRIATENESS, tier_rules(Partition("majority")), None, "9.9")


def card(**facts: Any) -> str:
    """The card of a study about which something is otherwise."""
    text = hf_files(ROWS, replace(FACTS, **facts))[CARD]
    assert isinstance(text, str)
    return text


def test_each_tier_that_is_not_empty_has_a_file_with_its_rows_and_those_above() -> None:
    files = {name: part["pair"].tolist() for name, part in hf_files(ROWS, FACTS).items() if not isinstance(part, str)}
    assert files == {"data/bronze.parquet": [3, 8, 9], "data/silver.parquet": [3, 9], "data/gold.parquet": [3]}


def test_the_front_matter_names_a_configuration_per_tier_and_no_licence() -> None:
    front: dict[str, Any] = DatasetCard(card()).data.to_dict()  # type: ignore[no-untyped-call]
    assert set(front) == {"configs"}
    configs = front["configs"]
    assert [one["config_name"] for one in configs] == ["bronze", "silver", "gold"]
    assert [one.get("default") for one in configs] == [True, None, None]
    assert configs[1]["data_files"] == [{"split": "train", "path": "data/silver.parquet"}]


def test_the_card_says_what_a_tier_asks_for_what_columns_mean_and_what_wrote_it() -> None:
    text = card()
    assert "| `gold` | 1 | 1 | 1 | 1 | 2 labels or more; valid |" in text
    assert "| `bronze` | 3 | 2 | 2 | 2 | 1 label or more; valid or not valid |" in text
    assert "diamond" not in text
    columns = text.split("## Columns")[1].split("##")[0]
    assert [name for name in BRONZE.columns if f"`{name}`" not in columns] == []
    assert "Pairs of a claim (`hs`) and a rebuttal (`cn`)" in text
    assert text.endswith("Written by fcpair 9.9.\n")
    assert "Neither is stated here." in text  # a licence and a citation
    assert "SIMULATED" not in text
    assert "**3 of 3 judgements are SIMULATED.**" in card(simulated="3 of 3 judgements are SIMULATED")


@pytest.mark.parametrize(
    ("hs_name", "warned"), [("hate speech", True), ("Hateful post", True), ("printer question", False)]
)
def test_the_card_warns_of_hate_where_there_is_some(hs_name: str, warned: bool) -> None:
    text = card(hs_name=hs_name)
    assert ("**Content warning.** The texts may be hateful" in text) == warned
    assert "Do not try to find out who is behind an annotator's pseudonym." in text


@pytest.mark.parametrize("keeps_known", [True, False])
def test_the_card_says_whether_pairs_of_the_corpus_are_among_them(keeps_known: bool) -> None:
    text = card(keeps_known=keeps_known)
    known = ("They include pairs of the corpus" in text, "No pair is in the corpus" in text)
    assert known == (keeps_known, not keeps_known)


def test_no_name_of_a_study_is_html_or_markdown_or_breaks_a_line() -> None:
    assert "\n# Tea --- cats\n" in card(title="Tea\n---\ncats")
    assert "\n# A study without a title\n" in card(title=" ")
    hostile = "<b>*a*|`b`\x1b[2J\0"
    text = card(title=hostile, hs_name=hostile, cn_name=hostile)
    assert r"# \<b>\*a\*\|\`b\`\[2J" in text
    assert "\x1b" not in text
    assert "\0" not in text
    assert r"| number of the \<b>\*a\*\|\`b\`\[2J |" in text
