"""How much of a text was changed, against an independent library, and where: by hand, and put together again."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from nltk import edit_distance

from fcpair.stages.answers import curation
from fcpair.stages.answers.curation import Part, characters_changed, find_differences, levenshtein, words_changed

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


LINES = st.lists(st.text("ab \n", max_size=6), max_size=8).map("\n".join)


def test_changed_words_stand_among_those_that_were_kept_and_places_far_apart_are_shown_apart() -> None:
    (place,) = find_differences("# Rules\n\nBe kind to all.\n", "# Rules\n\nBe fair to all.\n") or []
    assert place == (
        Part("kept", "\nBe "),
        Part("removed", "kind"),
        Part("added", "fair"),
        Part("kept", " to all.\n"),
    )
    before = "".join(f"line {n}\n" for n in range(20))
    after = before.replace("line 3\n", "line three\n").replace("line 15\n", "")
    first, second = find_differences(before, after) or []
    assert [part.text for part in first if part.fate != "kept"] == ["3", "three"]
    assert [part for part in second if part.fate != "kept"] == [Part("removed", "line 15\n")]


@given(LINES, LINES)
def test_what_was_kept_and_added_is_in_the_later_text(before: str, after: str) -> None:
    for place in find_differences(before, after) or []:
        assert "".join(part.text for part in place if part.fate != "removed") in after
        assert "".join(part.text for part in place if part.fate != "added") in before


def test_texts_that_are_too_long_are_not_compared_and_of_very_many_words_all_are_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert find_differences("Be kind.", "Be kind.") == []
    monkeypatch.setattr(curation, "MOST_WORDS", 4)
    assert find_differences("a b c", "a b d") == [(Part("removed", "a b c"), Part("added", "a b d"))]
    monkeypatch.setattr(curation, "MOST_CHARACTERS", 10)
    assert find_differences("123456", "12345") is None
