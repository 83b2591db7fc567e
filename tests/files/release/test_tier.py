"""The table of a tier, qrels and the BEIR folder, on pairs written out by hand."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fcpair.files.release.tier import beir_files, grades, qrels_text, tier_table
from fcpair.stages.adjudication.partition import tier_rules
from fcpair.stages.questions import Choice, OneOf
from fcpair.stages.questions.labels import APPROPRIATENESS
from files.judged import BODIES, PAIRS

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


def table() -> pd.DataFrame:
    return tier_table(TIER_PAIRS, LABELS, TEXTS, APPROPRIATENESS, tier_rules())


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


def rows(pool: list[int], *, binary: bool = False) -> list[list[int]]:
    found: list[list[int]] = grades(PAIRS, APPROPRIATENESS, pool, binary=binary).to_numpy().tolist()
    return found


def test_the_grade_is_the_rank_of_the_best_tier_and_0_where_not_appropriate() -> None:
    assert rows(EVERY) == [[1, 11, 4], [1, 12, 0], [2, 10, 3], [2, 11, 0], [2, 12, 1]]


def test_a_binary_grade_is_1_or_0() -> None:
    assert [grade for *_, grade in rows(EVERY, binary=True)] == [1, 0, 1, 0, 1]


def test_the_grade_of_graded_labels_is_that_of_the_label_whatever_its_tier() -> None:
    """The codes 0 and 2 of the five pairs, on a scale whose points 1 and 2 are both positive."""
    scale = OneOf((Choice(0, "bad"), Choice(1, "fair", positive=True), Choice(2, "good", positive=True)))
    found = grades(PAIRS, scale, EVERY)["grade"].tolist()
    assert found == PAIRS.sort_values("cell_id")["final"].tolist()
    assert set(found) == {0, 2}


def test_a_cn_outside_the_pool_has_no_line() -> None:
    assert rows([12, 99]) == [[1, 12, 0], [2, 12, 1]]


def test_a_line_is_hs_0_cn_grade() -> None:
    assert qrels_text(grades(PAIRS, APPROPRIATENESS, EVERY)) == "1 0 11 4\n1 0 12 0\n2 0 10 3\n2 0 11 0\n2 0 12 1\n"


def files(pool: list[int]) -> tuple[list[Any], list[Any], str]:
    found = beir_files(grades(PAIRS, APPROPRIATENESS, pool), BODIES, pool)
    corpus, queries, qrels = found["corpus.jsonl"], found["queries.jsonl"], found["qrels/test.tsv"]
    assert isinstance(corpus, pd.DataFrame)
    assert isinstance(queries, pd.DataFrame)
    assert isinstance(qrels, str)
    return corpus.to_dict("records"), queries.to_dict("records"), qrels


def test_the_corpus_of_beir_is_the_pool_in_its_order_judged_or_not() -> None:
    corpus, *_ = files([13, 11])
    assert corpus == [{"_id": "13", "title": "", "text": "thirteen"}, {"_id": "11", "title": "", "text": "نه"}]


def test_the_queries_of_beir_are_the_hs_that_have_a_grade() -> None:
    _, queries, _ = files([10])
    assert queries == [{"_id": "2", "text": "cats lie"}]


def test_the_qrels_of_beir_have_its_header_and_tabs() -> None:
    *_, qrels = files([12])
    assert qrels == "query-id\tcorpus-id\tscore\n1\t12\t0\n2\t12\t1\n"
