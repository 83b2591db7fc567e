"""The table of a tier, on two pairs written out by hand."""

from __future__ import annotations

import pandas as pd

from fcpair.files.release.tier import tier_table
from fcpair.stages.adjudication.partition import tier_rules
from fcpair.stages.questions.labels import APPROPRIATENESS

PAIRS = pd.DataFrame(
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


def table() -> pd.DataFrame:
    return tier_table(PAIRS, LABELS, TEXTS, APPROPRIATENESS, tier_rules())


def test_a_pair_stands_beside_its_texts_label_verdict_and_best_tier() -> None:
    row = table().iloc[0]
    assert (row["hs"], row["cn"]) == ("Tea is for cowards.", "Have you met a tea drinker?")
    assert (row["label"], row["verdict"], row["tier"], row["n_labels"]) == ("appropriate", "valid", "diamond", 2)
    assert tuple(table().iloc[1][["label", "verdict", "tier"]]) == ("not_appropriate", "not valid", "bronze")


def test_each_annotator_has_a_column_by_name_and_an_empty_cell_where_there_is_no_label() -> None:
    columns = [name for name in table().columns if name.startswith("label.")]
    assert columns == ["label.ana", "label.ben"]
    assert table()["label.ana"].tolist() == ["appropriate", ""]
    assert table()["label.ben"].tolist() == ["appropriate", "not_appropriate"]


def test_metadata_and_known_languages_stand_under_their_side() -> None:
    assert table()["hs.topic"].tolist() == ["food", "food"]
    assert table()["cn.type"].tolist() == ["question", ""]
    assert table()["cn.language"].tolist() == ["en", "fa"]
    assert "hs.language" not in table().columns
