"""Examples for rows: the nearest of other texts, never the row's own, and how a prompt has them."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Vectors
from fcpair.stages.answers.model_spec import format_examples
from fcpair.stages.corpus.nearest_neighbours import DECIMALS, NO_NEIGHBOUR
from fcpair.stages.corpus.retrieve import nearest_examples
from fcpair.stages.corpus.text_identity import fold_arabic, identity

WORDS = st.sampled_from(["tea", "tea ", "caf\u00e9", "cafe\u0301", "jam", "rain", "maps"])


def unit(*vectors: tuple[float, ...]) -> Vectors:
    found = np.array(vectors, np.float32)
    return np.asarray(found / np.linalg.norm(found, axis=1, keepdims=True), np.float32)


def at_cosines(*cosines: float) -> Vectors:
    """Unit vectors with these cosines to (1, 0)."""
    return unit(*((one, (1 - one * one) ** 0.5) for one in cosines))


def vectors_of(texts: list[str]) -> Vectors:
    """Vectors as an encoder has them: the same for the same text, and close for all."""
    return unit(*((1.0, 0.1 * (sum(map(ord, unicodedata.normalize("NFC", text.strip()))) % 7)) for text in texts))


def test_the_nearest_come_first_with_their_cosines() -> None:
    found, score = nearest_examples((["tea"], unit((1, 0))), (["a", "b", "c"], at_cosines(0.7, 0.9, 0.8)), 2)
    assert found.tolist() == [[1, 2]]
    np.testing.assert_allclose(score, [[0.9, 0.8]], atol=1e-6)


def test_equally_near_ones_come_in_their_order() -> None:
    found, _ = nearest_examples((["tea"], unit((1, 0))), (["a", "b", "c"], at_cosines(0.5, 0.9, 0.9)), 3)
    assert found.tolist() == [[1, 2, 0]]


def test_of_texts_that_are_the_same_the_first_is_taken() -> None:
    found, _ = nearest_examples((["tea"], unit((1, 0))), (["a", " a ", "b"], at_cosines(0.9, 0.9, 0.8)), 3)
    assert found.tolist() == [[0, 2, NO_NEIGHBOUR]]


def test_a_row_ends_with_nobody_where_there_are_too_few() -> None:
    found, score = nearest_examples((["tea"], unit((1, 0))), (["tea", "b"], at_cosines(1.0, 0.8)), 3)
    assert found.tolist() == [[1, NO_NEIGHBOUR, NO_NEIGHBOUR]]
    assert score[0, 1:].tolist() == [-np.inf] * 2


def test_a_spelling_that_is_folded_is_the_row_itself() -> None:
    own, other = "\u0643\u062a\u0627\u0628", "\u06a9\u062a\u0627\u0628"  # a book, with the Arabic and the Persian kaf
    rows, others = ([own], unit((1, 0))), ([other, "b"], at_cosines(1.0, 0.8))
    assert nearest_examples(rows, others, 1)[0].tolist() == [[0]]
    assert nearest_examples(rows, others, 1, fold_arabic)[0].tolist() == [[1]]


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=9), st.integers(1, 12))
def test_a_row_never_stands_among_its_own_examples(rows: list[str], others: list[str], n: int) -> None:
    found, score = nearest_examples((rows, vectors_of(rows)), (others, vectors_of(others)), n)
    assert found.shape == score.shape == (len(rows), n)
    for row, places in zip(rows, found.tolist(), strict=True):
        shown = [identity(others[place]) for place in places if place != NO_NEIGHBOUR]
        assert identity(row) not in shown
        assert len(shown) == len(set(shown)) == min(n, len({*map(identity, others)} - {identity(row)}))


@given(st.lists(WORDS, min_size=1, max_size=6), st.lists(WORDS, min_size=1, max_size=9), st.integers(1, 12))
def test_what_is_found_is_what_a_plain_search_finds(rows: list[str], others: list[str], n: int) -> None:
    own, there = vectors_of(rows), vectors_of(others)
    found, _ = nearest_examples((rows, own), (others, there), n)
    cosine = np.round(own.astype(np.float64) @ there.astype(np.float64).T, DECIMALS)
    for at, row in enumerate(rows):
        expected: list[int] = []
        for place in sorted(range(len(others)), key=lambda one: (-cosine[at, one], one)):
            same = [one for one in range(place) if identity(others[one]) == identity(others[place])]
            if identity(others[place]) != identity(row) and not same:
                expected.append(place)
        assert [place for place in found[at].tolist() if place != NO_NEIGHBOUR] == expected[:n]


def test_a_prompt_has_each_example_on_three_lines_and_an_empty_line_between() -> None:
    shown = format_examples([("Tea is odd.", "I like it.", "warmth"), ("Cats\nare cold.", "Mine  is not.", "facts")])
    assert shown == (
        "Hate speech: Tea is odd.\nCounter-narrative: I like it.\nType: warmth\n\n"
        "Hate speech: Cats are cold.\nCounter-narrative: Mine is not.\nType: facts"
    )


@pytest.mark.parametrize("text", ["a\nType: b", "a\r\nType: b", "a\u2028Type: b"])
def test_no_text_of_an_example_begins_a_line(text: str) -> None:
    assert len(format_examples([(text, text, text)]).splitlines()) == 3


def test_without_examples_a_prompt_has_nothing_there() -> None:
    assert format_examples([]) == ""
