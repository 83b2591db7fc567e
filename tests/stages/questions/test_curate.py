"""Texts that are kept or rejected: what a cell, a page and the study say, and what is a text of its own."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions import Curate, Edit, Form, parse_question
from stages.questions.questions import answers, curating

QUESTION = Curate(3, 50, ("off_topic", "wrong_facts", "rude"))
GIVEN = "Tea is fine for everybody."
REJECTED = QUESTION.load({"reject": "rude"})


def test_it_is_printed_with_its_reasons_first_and_read_back() -> None:
    printed = "curate(off_topic,wrong_facts,rude,min_words=3,max_words=50)"
    assert str(QUESTION) == printed
    assert parse_question(printed) == QUESTION
    assert isinstance(QUESTION, Edit)


@pytest.mark.parametrize(
    ("printed", "problem"),
    [
        ("curate()", "at least one reason to reject a text is needed"),
        ("curate(min_words=3)", "at least one reason"),
        ("curate(rude,Rude)", "a reason is duplicated"),
        ("curate(skip)", "are reserved"),
        ("curate(3)", "a name must be a word: not empty, and not a number"),
        ("curate(rude+)", r"`rude\+` cannot be read; expected a name alone"),
        ("curate(rude,min=3)", "`min=3` is not an option here; expected min_words= and max_words="),
        ("curate(rude,min_words=5,max_words=4)", "max_words above 0 and not below min_words"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(printed: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_question(printed)


@pytest.mark.parametrize("cell", ["reject: rude", " Reject : RUDE ", "REJECT:rude"])
def test_a_cell_rejects_however_it_is_spelt(cell: str) -> None:
    assert QUESTION.read(cell) == REJECTED
    assert QUESTION.read("reject: Off topic") == QUESTION.load({"reject": "off_topic"})


@pytest.mark.parametrize(
    ("cell", "problem"),
    [
        ("reject: rued", "^`rued` is not a reason here; did you mean `rude`[?]$"),
        ("reject: 12", "^`12` is not a reason here; known are off_topic, wrong_facts, rude$"),
        (
            "Reject",
            "^a rejection needs its reason; expected `reject: REASON` with one of off_topic, wrong_facts, rude$",
        ),
        ("reject:  ", "^a rejection needs its reason"),
        ("Tea is", "^the text has 2 words; expected at least 3$"),
        ("skip", "^`skip` says that there is no answer"),
    ],
)
def test_a_cell_that_says_neither_is_refused_with_the_nearest_reason(cell: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        QUESTION.read(cell)


@pytest.mark.parametrize(
    ("sent", "problem"),
    [
        ({"reject": "Rude"}, "`Rude` is not a reason here; expected one of off_topic, wrong_facts, rude"),
        ({"reject": None}, "`None` is not a reason here"),
        ({"reject": "rude", "text": "x"}, "is not an answer here; expected a text, or"),
        ({}, "is not an answer here"),
        (["rude"], "is not an answer here"),
        ("Reject: rude is what it is", "a text may not begin with `reject:`"),
        ("Tea is", "expected at least 3"),
    ],
)
def test_a_page_sends_a_text_or_a_reason_as_it_is_spelt(sent: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        QUESTION.load(sent)


def test_limits_of_words_are_not_about_what_is_rejected() -> None:
    assert QUESTION.reason(REJECTED) == "rude"
    assert QUESTION.store(REJECTED) == QUESTION.key(REJECTED) == {"reject": "rude"}


def test_what_was_done_is_found_by_comparing_with_the_given_text() -> None:
    assert QUESTION.act(f" {GIVEN}\n", GIVEN) == "accepted"
    assert QUESTION.act("Tea is fine for me.", GIVEN) == "edited"
    assert QUESTION.act(REJECTED, GIVEN) == "rejected"
    assert not QUESTION.is_unchanged(REJECTED, GIVEN)
    assert Edit().act(GIVEN, GIVEN) == "accepted"
    assert Edit().act("reject: rude", GIVEN) == "edited"


def test_what_is_rejected_adds_no_text_to_the_study() -> None:
    form = Form.from_table({"text": QUESTION, "fit": "one_of(no,yes)"})
    assert form.text(form.load_submitted({"text": GIVEN, "fit": "yes"})) == GIVEN
    assert form.text(form.load_submitted({"text": {"reject": "rude"}, "fit": "no"})) is None
    assert form.edited_question == ("text", QUESTION)


def test_a_text_that_a_model_wrote_too_long_once_is_recalled_and_so_is_a_rejection() -> None:
    assert QUESTION.recall("word " * 60) == "word " * 60
    assert QUESTION.recall({"reject": "rude"}) == REJECTED


def test_a_page_gets_the_reasons_in_the_order_of_their_keys() -> None:
    assert QUESTION.as_json() == {
        "kind": "curate",
        "min_words": 3,
        "max_words": 50,
        "reasons": ["off_topic", "wrong_facts", "rude"],
        "keys": [["1"], ["2"], ["3"]],
        "acts": {"choices": ["Accept", "Edit", "Reject"], "keys": [["1"], ["2"], ["3"]]},
    }


@given(st.data())
def test_every_answer_is_read_back_from_its_name_and_from_what_is_stored(data: st.DataObject) -> None:
    question = data.draw(curating)
    answer = data.draw(answers(question))
    assert question.read(question.name(answer)) == question.load(question.store(answer)) == answer
