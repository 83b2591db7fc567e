"""How much of a text was changed, held against an independent library."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import edit_distance

from fcpair.stages.answers.curation import characters_changed, levenshtein, words_changed

letters = st.text("abcى ", max_size=25)


@given(letters, letters)
def test_the_distance_of_two_sequences_is_that_of_nltk(one: str, other: str) -> None:
    assert levenshtein(one, other) == edit_distance(one, other)


@given(st.lists(st.sampled_from(["tea", "Tea", "is", "fine"])), st.lists(st.sampled_from(["tea", "is", "odd"])))
def test_the_distance_over_words_is_that_of_nltk(one: list[str], other: list[str]) -> None:
    assert words_changed("  ".join(one), "\n".join(other)) == edit_distance(one, other)


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12))
def test_the_distance_is_one(one: str, other: str, third: str) -> None:
    assert levenshtein(one, other) == levenshtein(other, one)
    assert (levenshtein(one, other) == 0) == (one == other)
    assert levenshtein(one, third) <= levenshtein(one, other) + levenshtein(other, third)


@pytest.mark.parametrize(
    ("one", "other", "words", "characters"),
    [
        ("", "", 0, 0),
        ("", "Tea is fine.", 3, 12),
        ("Tea is fine.", "Tea is quite fine.", 1, 6),
        ("Tea is fine.", "Fine is tea.", 2, 8),
        (" Tea\nis  fine. ", "Tea is fine.", 0, 2),  # white space is in no word, and around a text nowhere
        ("چای می‌خورم", "چای می خورم", 2, 1),  # a zero-width non-joiner divides no word
        ("a 🫖", "a ☕", 1, 1),  # beyond 16 bits, one character still
    ],
)
def test_words_and_characters_are_counted_by_hand(one: str, other: str, words: int, characters: int) -> None:
    assert (words_changed(one, other), characters_changed(one, other)) == (words, characters)


@given(st.text(st.characters(categories=["L", "M"]), max_size=10))
def test_how_a_letter_is_composed_is_no_change(text: str) -> None:
    decomposed = unicodedata.normalize("NFD", text)
    assert (words_changed(text, decomposed), characters_changed(text, decomposed)) == (0, 0)


def test_a_thousand_texts_of_50_words_that_share_nothing_take_a_second_or_two() -> None:
    rng = np.random.default_rng(3)
    words = np.array(["".join(rng.choice(list("abcdefghij"), 5)) for _ in range(500)])
    texts = [" ".join(rng.choice(words, 50)) for _ in range(1001)]
    began = time.process_time()
    for one, other in pairwise(texts):
        assert words_changed(one, other) <= 50
        assert characters_changed(one, other) <= 299
    assert time.process_time() - began < 5
