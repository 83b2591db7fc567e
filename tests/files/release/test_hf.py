"""The card of a Hugging Face folder, and which rows go into which file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest
from huggingface_hub import DatasetCard

from fcpair.files.release.tier import CARD, CardFacts, hf_files
from fcpair.params import Partition
from fcpair.records import Tier
from fcpair.stages.adjudication.partition import tier_rules
from fcpair.stages.questions.labels import APPROPRIATENESS

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


def made(title: str = "Tea & cats", simulated: str | None = None) -> dict[str, pd.DataFrame | str]:
    return hf_files(ROWS, replace(FACTS, title=title, simulated=simulated))


def card(title: str = "Tea & cats", simulated: str | None = None) -> str:
    text = made(title, simulated)[CARD]
    assert isinstance(text, str)
    return text


def front() -> dict[str, Any]:
    """The front matter, as Hugging Face's own library reads it."""
    found: dict[str, Any] = DatasetCard(card()).data.to_dict()  # type: ignore[no-untyped-call]
    return found


def test_each_tier_that_is_not_empty_has_a_file_with_its_rows_and_those_above() -> None:
    rows = {name: part["pair"].tolist() for name, part in made().items() if not isinstance(part, str)}
    assert rows == {"data/bronze.parquet": [3, 8, 9], "data/silver.parquet": [3, 9], "data/gold.parquet": [3]}


def test_the_front_matter_names_a_configuration_per_tier_and_bronze_as_the_default() -> None:
    configs = front()["configs"]
    assert [one["config_name"] for one in configs] == ["bronze", "silver", "gold"]
    assert [one.get("default") for one in configs] == [True, None, None]
    assert configs[1]["data_files"] == [{"split": "train", "path": "data/silver.parquet"}]


def test_the_card_says_how_many_pairs_a_tier_has_and_what_it_asks_for() -> None:
    assert "| `gold` | 1 | 1 | 1 | 1 | 2 labels or more; valid |" in card()
    assert "| `bronze` | 3 | 2 | 2 | 2 | 1 label or more; valid or not valid |" in card()
    assert "diamond" not in card()


def test_the_card_explains_every_column() -> None:
    table = card().split("## Columns")[1].split("##")[0]
    assert [name for name in BRONZE.columns if f"`{name}`" not in table] == []


def test_the_card_names_the_sides_and_says_what_wrote_it() -> None:
    assert "Pairs of a claim (`hs`) and a rebuttal (`cn`)" in card()
    assert card().endswith("Written by fcpair 9.9.\n")


@pytest.mark.parametrize(
    ("hs_name", "warned"), [("hate speech", True), ("Hateful post", True), ("printer question", False)]
)
def test_the_card_warns_of_hate_where_there_is_some(hs_name: str, warned: bool) -> None:
    told = hf_files(ROWS, replace(FACTS, hs_name=hs_name))[CARD]
    assert isinstance(told, str)
    assert ("**Content warning.** The texts may be hateful" in told) == warned
    assert "Do not try to find out who is behind an annotator's pseudonym." in told


@pytest.mark.parametrize("keeps_known", [True, False])
def test_the_card_says_whether_pairs_of_the_corpus_are_among_them(keeps_known: bool) -> None:
    told = hf_files(ROWS, replace(FACTS, keeps_known=keeps_known))[CARD]
    assert isinstance(told, str)
    assert ("They include pairs of the corpus" in told, "No pair is in the corpus" in told) == (
        keeps_known,
        not keeps_known,
    )


def test_the_card_invents_no_licence_and_no_citation() -> None:
    assert set(front()) == {"configs"}
    assert "Neither is stated here." in card()


def test_the_card_says_when_answers_were_made_up() -> None:
    assert "**3 of 3 judgements are SIMULATED.**" in card(simulated="3 of 3 judgements are SIMULATED")
    assert "SIMULATED" not in card()


def test_a_title_stays_on_its_line_and_may_be_missing() -> None:
    assert "\n# Tea --- cats\n" in card("Tea\n---\ncats")
    assert "\n# A study without a title\n" in card(" ")


def test_no_name_of_a_study_is_html_or_markdown() -> None:
    hostile = "<b>*a*|`b`\x1b[2J\0"
    card_text = hf_files(ROWS, replace(FACTS, title=hostile, hs_name=hostile, cn_name=hostile))[CARD]
    assert isinstance(card_text, str)
    assert r"# \<b>\*a\*\|\`b\`\[2J" in card_text
    assert "\x1b" not in card_text
    assert "\0" not in card_text
    assert r"| number of the \<b>\*a\*\|\`b\`\[2J |" in card_text
