"""Texts that are written, edited, or kept or rejected: how words are counted, what is kept, what is the same text."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions import Curate, Edit, Form, Text, n_words

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


def test_a_page_sends_a_text_of_as_many_words_as_asked_for_and_nothing_else() -> None:
    for text in ("one two", "one two three"):
        assert Text(2, 3).read(text) == text
    assert Text(0).read("") == ""
    for sent in (3, None, ["text"]):
        with pytest.raises(InputError, match="is not an answer here; expected a text"):
            Text().load(sent)
    for limits in ((-1, None), (3, 2), (0, 0)):
        with pytest.raises(InputError, match="expected numbers from 0"):
            Text(*limits)


def test_no_agreement_is_measured_on_texts_and_why() -> None:
    for question in (Text(), Edit()):
        assert (question.parts(), question.part_codes("text")) == ((), ())
        assert question.no_parts_reason == "two people write different texts, which neither agree nor disagree"
    assert Text(6) != Edit(6)
    given_text = "Say it\ngently. "
    assert Edit(2).act(Edit(2).read("Say it\ngently."), given_text) == "accepted"
    assert Edit(2).act(Edit(2).read("Say it gently."), given_text) == "edited"


QUESTION = Curate(3, 50, ("off_topic", "wrong_facts", "rude"))
GIVEN = "Tea is fine for everybody."
REJECTED = QUESTION.load({"reject": "rude"})


def test_a_cell_rejects_however_it_is_spelt() -> None:
    for cell in ("reject: rude", " Reject : RUDE ", "REJECT:rude"):
        assert QUESTION.read(cell) == REJECTED
    assert QUESTION.read("reject: Off topic") == QUESTION.load({"reject": "off_topic"})
    assert QUESTION.reason(REJECTED) == "rude"
    assert QUESTION.store(REJECTED) == QUESTION.key(REJECTED) == {"reject": "rude"}
    assert QUESTION.recall("word " * 60) == "word " * 60  # which a model wrote too long once
    assert QUESTION.recall({"reject": "rude"}) == REJECTED


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        # in a cell of a file
        ("reject: rued", "^`rued` is not a reason here; did you mean `rude`[?]$"),
        ("reject: 12", "^`12` is not a reason here; known are off_topic, wrong_facts, rude$"),
        (
            "Reject",
            "^a rejection needs its reason; expected `reject: REASON` with one of off_topic, wrong_facts, rude$",
        ),
        ("reject:  ", "^a rejection needs its reason"),
        ("Tea is", "^the text has 2 words; expected at least 3$"),
        ("skip", "^`skip` says that there is no answer"),
        # by a page
        ({"reject": "Rude"}, "`Rude` is not a reason here; expected one of off_topic, wrong_facts, rude"),
        ({"reject": None}, "`None` is not a reason here"),
        ({"reject": "rude", "text": "x"}, "is not an answer here; expected a text, or"),
        ({}, "is not an answer here"),
        (["rude"], "is not an answer here"),
        ("Reject: rude is what it is", "a text may not begin with `reject:`"),
        ("Tea is", "expected at least 3"),
    ],
)
def test_what_is_neither_a_text_nor_a_reason_is_refused(sent: Any, problem: str) -> None:
    read = QUESTION.read if problem.startswith("^") else QUESTION.load
    with pytest.raises(InputError, match=problem):
        read(sent)


def test_what_was_done_is_found_by_comparing_with_the_given_text() -> None:
    assert QUESTION.act(f" {GIVEN}\n", GIVEN) == "accepted"
    assert QUESTION.act("Tea is fine for me.", GIVEN) == "edited"
    assert QUESTION.act(REJECTED, GIVEN) == "rejected"
    assert Edit().act(GIVEN, GIVEN) == "accepted"
    assert Edit().act("reject: rude", GIVEN) == "edited"


def test_what_is_rejected_adds_no_text_to_the_study() -> None:
    form = Form.from_table({"text": QUESTION, "fit": "one_of(no,yes)"})
    assert form.text(form.load_submitted({"text": GIVEN, "fit": "yes"})) == GIVEN
    assert form.text(form.load_submitted({"text": {"reject": "rude"}, "fit": "no"})) is None
    assert form.edited_question == ("text", QUESTION)
