"""Tokens: what white space separates, or words of any script; and sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.texts.measures.tokens import count_sentences, split_tokens


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Tea, please!", ["tea", "please"]),
        ("Don’t they 'know'?", ["don't", "they", "know"]),
        ("well-known in 1962", ["well", "known", "in", "1962"]),
        ("می‌شود، چای!", ["می‌شود", "چای"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        ("cafe\u0301 ole\u0301", ["cafe\u0301", "ole\u0301"]),
        ("… ' \u200c !", []),
    ],
)
def test_words_are_runs_of_letters_with_their_marks_and_joiners(text: str, words: list[str]) -> None:
    assert split_tokens(text) == words


def test_white_space_keeps_punctuation_and_case_is_kept_where_asked() -> None:
    assert split_tokens("Tea,  please!", "space", "keep") == ["Tea,", "please!"]
    assert split_tokens("Tea, please!", "words", "keep") == ["Tea", "please"]


@given(st.text())
def test_a_word_has_a_letter_or_digit_or_mark_and_no_space(text: str) -> None:
    for word in split_tokens(text):
        assert not any(sign.isspace() for sign in word)
        assert word.strip("'\u200c\u200d") == word != ""


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("One. Two? Three!", 3),
        ("One and a half", 1),
        ("It costs 3.50 in all.", 1),
        ("He said: “Stop.” We went on ...", 2),
        ("چای خوب است؟ بله.", 2),
        ("One. ... !", 1),
        ("", 0),
    ],
)
def test_sentences_end_in_a_sign_before_a_space_and_have_a_word(text: str, n: int) -> None:
    assert count_sentences(text) == n
