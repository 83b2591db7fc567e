"""The corpus less some HS and some CNs."""

from __future__ import annotations

from typing import Any

import pandas as pd

from fcpair.files.release.training_corpus import remaining_rows


def rows(*meta: dict[str, str], language: str | None = "") -> pd.DataFrame:
    sides = [(1, 10), (2, 10), (1, 11), (3, 12)]
    given: list[dict[str, Any]] = [{"hs_id": hs, "cn_id": cn, "hs": f"h{hs}", "cn": f"c{cn}"} for hs, cn in sides]
    described = meta or ({},) * 4
    return pd.DataFrame([{**one, "language": language, "meta": of} for one, of in zip(given, described, strict=True)])


def test_rows_with_one_of_the_hs_or_one_of_the_cns_go() -> None:
    left = remaining_rows(rows(), {2}, {11})
    assert left.to_dict("list") == {"hs": ["h1", "h3"], "cn": ["c10", "c12"], "hs_id": [1, 3], "cn_id": [10, 12]}


def test_metadata_become_columns_and_are_empty_where_a_row_has_none() -> None:
    left = remaining_rows(rows({"age": "61"}, {}, {"age": "25", "type": "facts"}, {}), {2}, set())
    assert left["age"].tolist() == ["61", "25", ""]
    assert left["type"].tolist() == ["", "facts", ""]


def test_a_column_of_the_corpus_goes_before_the_number_of_the_study() -> None:
    left = remaining_rows(rows(*({"cn_id": f"EN{at}"} for at in range(4))), {2}, set())
    assert left["cn_id"].tolist() == ["EN0", "EN2", "EN3"]
    assert left["hs_id"].tolist() == [1, 1, 3]


def test_the_language_is_written_where_it_is_known() -> None:
    assert remaining_rows(rows(language="en"), set(), {10})["language"].tolist() == ["en", "en"]
    assert "language" not in remaining_rows(rows(language=None), set(), {10})
