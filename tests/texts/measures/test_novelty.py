"""Novelty: 1 - the greatest Jaccard similarity with a set."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.texts.measures import novelty
from fcpair.texts.measures.measuring import Measured, measure

TEXTS = st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=5).map(" ".join), min_size=1, max_size=7)


def values(measured: Measured) -> list[float]:
    return [float(one) for one in next(iter(measured.values.values())).values]


def test_novelty_is_against_all_references_by_distinct_lower_cased_words() -> None:
    found = measure(["We drink tea, tea!", "bread", "..."], ["novelty"], references=[["we drink"], ["TEA we bake"], []])
    assert values(found)[:2] == pytest.approx([1 - 2 / 3, 1])
    assert found.figures[0].left_out == {"it has no token": 1}


@given(TEXTS, TEXTS)
def test_novelty_is_1_less_the_greatest_jaccard_similarity(texts: list[str], others: list[str]) -> None:
    def jaccard(one: str, other: str) -> float:
        a, b = set(one.split()), set(other.split())
        return len(a & b) / len(a | b)

    found = measure(texts, ["novelty"], references=[others] * len(texts))
    np.testing.assert_allclose(values(found), [1 - max(jaccard(text, one) for one in others) for text in texts])


def test_the_set_can_be_a_column_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "seen.csv"
    path.write_text("id,said\n1,we drink tea\n2,\n", "utf-8")
    assert values(measure(["we drink tea", "we bake"], [f"novelty(against={path},column=said)"])) == [0, 0.75]


def test_texts_are_compared_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    texts, references = ["a b", "b c", "c d"], [["a c"], ["b"], ["d"]]
    whole = values(measure(texts, ["novelty"], references=references))
    monkeypatch.setattr(novelty, "ROWS", 2)
    assert values(measure(texts, ["novelty"], references=references)) == whole


def test_a_set_that_is_missing_is_refused_and_against_an_empty_one_nothing_is_defined(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="novelty needs a set"):
        measure(["tea"], ["novelty"])
    novelty, other = measure(["tea"], ["novelty", "dist-1"], references=[["..."]]).figures
    assert (novelty.value, novelty.left_out) == (None, {"no text of the set has a token": 1})
    assert other.value == 1
    with pytest.raises(InputError, match="there is no such file"):
        measure(["tea"], [f"novelty(against={tmp_path / 'x.csv'})"])
