"""Texts that are written or edited: how words are counted, what is kept, and what is the same text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions import Edit, Text, n_words

# What `\s` matches in JavaScript: https://tc39.es/ecma262/#prod-WhiteSpace and #prod-LineTerminator.
JAVASCRIPT_SPACES = "\t\n\v\f\r \xa0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)


@pytest.mark.parametrize(
    ("text", "n"),
    [
        ("", 0),
        (" \n\t ", 0),
        ("one", 1),
        ("  one   two\r\nthree ", 3),
        ("it's well-known, isn't it?", 4),
        ("من می‌دانم", 2),  # the second has a zero-width non-joiner
        ("a\xa0b\u3000c\ufeffd", 4),
        ("a\x85b\x1cc\u200bd", 1),  # Python splits at the first two, JavaScript does not
    ],
)
def test_words_are_counted_as_a_page_counts_them(text: str, n: int) -> None:
    assert n_words(text) == n


@given(st.text(st.sampled_from(JAVASCRIPT_SPACES + "abé\u0301\u200c")))
def test_neither_nfc_nor_white_space_around_changes_the_number(text: str) -> None:
    pieces = "".join(" " if sign in JAVASCRIPT_SPACES else sign for sign in text).split(" ")
    assert n_words(text) == len([piece for piece in pieces if piece])
    assert n_words(unicodedata.normalize("NFC", text).strip(JAVASCRIPT_SPACES)) == n_words(text)


def test_a_text_is_kept_verbatim_and_the_same_in_nfc_and_stripped() -> None:
    question, verbatim = Text(), "  Ve\u0301rite\u0301\n"
    assert question.store(question.read(verbatim)) == question.load(verbatim) == question.name(verbatim) == verbatim
    assert question.key(verbatim) == question.key("Vérité") == "Vérité"


@pytest.mark.parametrize(
    ("question", "text", "problem"),
    [
        (Text(6, 60), "only five words are here", "^the text has 5 words; expected at least 6$"),
        (Text(2), "one", "^the text has 1 word; expected at least 2$"),
        (Text(1, 3), "one two three four", "^the text has 4 words; expected at most 3$"),
        (Text(), " \n", "^the text is empty$"),
        (Text(), "", "^the text is empty$"),
        (Text(), "\x1f", "^the text is empty$"),
        (Text(), " Skip ", "^`skip` says that there is no answer; expected a text$"),
        (Text(0), "a\0b", "holds a NUL character"),
        (Text(0), "a\ud800", "half a surrogate pair"),
        (Edit(2), "one", "expected at least 2"),
    ],
)
def test_a_text_that_is_none_or_has_too_few_or_many_words_is_refused(question: Text, text: str, problem: str) -> None:
    for read in (question.read, question.load):
        with pytest.raises(InputError, match=problem):
            read(text)


def test_as_many_words_as_asked_for_are_enough_and_not_too_many() -> None:
    for text in ("one two", "one two three"):
        assert Text(2, 3).read(text) == text


def test_a_text_may_be_left_empty_where_no_word_is_asked_for() -> None:
    assert Text(0).read("") == ""


def test_a_page_sends_a_text_and_nothing_else() -> None:
    for sent in (3, None, ["text"]):
        with pytest.raises(InputError, match="is not an answer here; expected a text"):
            Text().load(sent)


@pytest.mark.parametrize("limits", [(-1, None), (3, 2), (0, 0)])
def test_limits_that_cannot_be_are_refused(limits: tuple[int, int | None]) -> None:
    with pytest.raises(InputError, match="expected numbers from 0"):
        Text(*limits)


def test_an_edited_text_may_be_the_given_one() -> None:
    edit, given_text = Edit(2), "Say it\ngently. "
    assert edit.is_unchanged(edit.read("Say it\ngently."), given_text)
    assert not edit.is_unchanged(edit.read("Say it gently."), given_text)


def test_to_write_and_to_edit_are_two_questions() -> None:
    assert Text(6) != Edit(6)
    assert [str(Text(6)), str(Edit(6))] == ["text(min_words=6)", "edit(min_words=6)"]


def test_no_agreement_is_measured_on_texts_and_why() -> None:
    for question in (Text(), Edit()):
        assert (question.parts(), question.part_codes("text")) == ((), ())
        assert question.no_parts_reason == "two people write different texts, which neither agree nor disagree"
        assert question.is_definite("text")


def test_a_page_gets_how_many_words_there_may_be() -> None:
    assert Edit(6, 60).as_json() == {"kind": "edit", "min_words": 6, "max_words": 60}
