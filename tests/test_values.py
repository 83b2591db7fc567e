"""Values of other programs as text: JSON that is read strictly, what each value looks like, and which text is empty."""

from __future__ import annotations

import json
import math
import time
import unicodedata
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.values import DuplicateKeyError, as_text, is_blank, parse_json, with_point

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def test_a_value_is_text_as_it_looks() -> None:
    looks: list[tuple[Any, str]] = [
        ("007", "007"),
        (None, ""),
        (True, "true"),
        (np.bool_(False), "false"),
        (1890123456789012481, "1890123456789012481"),
        (np.int64(7), "7"),
        (7.0, "7"),
        (np.float32(0.1), "0.1"),
        (2.5, "2.5"),
        (math.nan, ""),
        (Decimal("1.10"), "1.10"),
        (Decimal("1E+3"), "1000"),
        (date(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2), "2026-01-02"),
        (datetime(2026, 1, 2, 10, 5), "2026-01-02 10:05:00"),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00:00"),
        (pd.Timestamp("2026-01-02 00:00:00.000000001"), "2026-01-02 00:00:00.000000001"),
        ([1, None, {"a": True, "b": "é"}], '[1, null, {"a": true, "b": "é"}]'),
        (np.array([[1, 2], [3, 4]]), "[[1, 2], [3, 4]]"),
        ([1.0, math.nan, date(2026, 1, 2)], '[1.0, null, "2026-01-02"]'),
        ({}, "{}"),
    ]
    for value, text in looks:
        assert as_text(value) == text
    refused: list[tuple[Any, str]] = [
        (b"abc", "bytes"),
        ([b"abc"], "bytes"),
        (math.inf, "infinite"),
        ([-math.inf], "infinite"),
        (2.0**53 + 2, r"beyond 2\^53"),
        (np.float32(2**24 + 2), r"beyond 2\^24"),
    ]
    for value, why in refused:
        with pytest.raises(ValueError, match=why):
            as_text(value)
    for cell in ("2.5", "2,5", " 2.5\t", "2٫5", "۲٫۵"):
        assert float(with_point(cell)) == 2.5
    for spelling in ("1e5", "1.10", "-0.0", "1E400", "true", "[1e5, 1.10]", '{"a": [1e5]}'):
        assert as_text(parse_json(spelling)) == spelling
    assert as_text(parse_json("null")) == ""


@given(JSON)
def test_json_means_what_python_wrote(value: Any) -> None:
    assert parse_json(json.dumps(value)) == value
    if isinstance(value, list | dict):
        assert as_text(value) == json.dumps(value, ensure_ascii=False)


@pytest.mark.parametrize(
    ("text", "message", "place"),
    [
        ('{"a": 1,\n "b": NaN}', "`NaN` is not JSON", (2, 7)),
        ('["NaN: ", -Infinity]', "`-Infinity` is not JSON", (1, 11)),
        ('{"a": {"b": 1},\n "c": [{"b": 1, "b": 2}]}', "duplicate key `b`", (2, 17)),
        (r'{"a\"": 1, "a\"": 2}', r'duplicate key `a"`', (1, 12)),
        ('{"a": 1}x', "not JSON: Extra data", (1, 9)),
        ("[" * 100_000, "too many brackets", (1, 1)),
        ("1" * 5000, "cannot be read", (1, 1)),
    ],
)
def test_what_is_no_json_or_says_two_things_is_refused_at_its_place(
    text: str, message: str, place: tuple[int, int]
) -> None:
    with pytest.raises(json.JSONDecodeError) as caught:
        parse_json(text)
    assert message in caught.value.msg
    assert (caught.value.lineno, caught.value.colno) == place
    assert isinstance(caught.value, DuplicateKeyError) == message.startswith("duplicate")


def test_a_key_of_a_large_object_that_is_there_twice_is_soon_refused() -> None:
    text = "{" + ",".join(f'"k{at % 59_999}":1' for at in range(60_000)) + "}"
    start = time.process_time()
    with pytest.raises(DuplicateKeyError, match="`k0`"):
        parse_json(text)
    assert time.process_time() - start < 2


def test_a_text_of_invisible_characters_is_empty() -> None:
    for sign in "\u200b\u00ad\u3164\ufeff\u2060\ufe0f\u00a0\x07\U000e0061":
        assert is_blank(sign * 2 + " ")
        assert not is_blank(f"{sign}a")


@given(st.characters())
def test_a_letter_a_number_or_a_sign_is_seen(sign: str) -> None:
    if unicodedata.category(sign)[0] in "LNPS" and sign not in "\u115f\u1160\u2800\u3164\uffa0\ufffc\ufffd":
        assert not is_blank(sign)
