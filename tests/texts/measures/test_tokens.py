"""Tokens: what white space separates, or words of any script; and sentences."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_char import TokenizerChar

from fcpair.texts.measures.tokens import count_sentences, has_no_spaces, split_tokens, split_words


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
    ("text", "tokens"),
    [
        ("nice 😀😡", ["nice", "😀", "😡"]),
        ("I ❤️ tea, you ❤ tea", ["i", "❤", "tea", "you", "❤", "tea"]),
        ("👩‍👩‍👧 👍🏽ok 🇩🇪🇫🇷", ["👩‍👩‍👧", "👍🏽", "ok", "🇩🇪", "🇫🇷"]),
        ("©️ but © and ★ 20° → no", ["©", "but", "and", "20", "no"]),
    ],
)
def test_an_emoji_is_a_token_whole_and_no_word(text: str, tokens: list[str]) -> None:
    assert split_tokens(text) == tokens
    assert split_words(text) == [token for token in tokens if token.isalnum()]


@given(st.text(st.characters(exclude_categories=["So", "Sk", "Cn", "Co"]).filter(lambda sign: sign != "\ufe0f")))
def test_without_emoji_all_words_are_tokens(text: str) -> None:
    assert split_tokens(text) == split_words(text)


@given(st.text())
def test_characters_are_those_of_sacrebleu(text: str) -> None:
    sacrebleu = TokenizerChar()  # type: ignore[no-untyped-call]
    assert split_tokens(text, "char", "keep") == sacrebleu(text).split()


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("今天天气很好", True),
        ("お茶が好き", True),
        ("ฉันชอบชา", True),
        ("我 like tea", False),
        ("چای 한국어 हिन्दी", False),
        ("", False),
    ],
)
def test_a_script_without_spaces_is_told_by_two_of_its_signs(text: str, is_one: bool) -> None:
    assert has_no_spaces(text) == is_one


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("One. Two? Three!", 3),
        ("Nice! 😀", 1),
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
