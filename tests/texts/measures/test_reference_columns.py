"""References from the columns of a table."""

from __future__ import annotations

import pytest

from fcpair.errors import InputError
from fcpair.texts.measures.reference_columns import references_of

COLUMNS = {
    "hs": ["x", "x ", "y"],
    "cn": ["tea", "bread", "milk"],
    "gold": ["a", "", "c"],
    "more": ["a", "b", " "],
}


def test_columns_beside_a_text_are_its_references_each_once() -> None:
    assert references_of(COLUMNS, "cn", ["gold", "more"]) == [("a",), ("b",), ("c",)]


def test_texts_of_the_same_row_share_all_their_references() -> None:
    assert references_of(COLUMNS, "cn", ["gold", "more"], "hs") == [("a", "b"), ("a", "b"), ("c",)]


def test_the_texts_of_the_same_row_are_references_of_each_other_and_never_of_themselves() -> None:
    assert references_of(COLUMNS, "cn", ["cn"], "hs") == [("bread",), ("tea",), ()]


def test_a_text_cannot_be_its_own_reference() -> None:
    with pytest.raises(InputError, match="each would be its own reference"):
        references_of(COLUMNS, "cn", ["gold", "cn"])
