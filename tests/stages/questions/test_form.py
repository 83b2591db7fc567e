"""Several questions that are answered together, and their answers as arrays."""

from __future__ import annotations

import json

import numpy as np
import pytest

from fcpair.errors import InputError
from fcpair.stages.questions import NO_CODE, AnyOf, Closed, Form, OneOf, Text, When, parse_form, parse_question
from fcpair.stages.questions.form import numbers, part_codes

WRITING = Form.from_table({"text": "text(min_words=2)", "types": AnyOf(("facts", "humour")), "sure": "scale(1,5,0.5)"})
LABEL = parse_form("label: one_of(no,unsure?,yes+)")


def test_a_form_prints_its_questions_by_name_and_signs_in_quotes_do_not_end_one() -> None:
    assert str(WRITING) == "text: text(min_words=2); types: any_of(facts,humour); sure: scale(1,5,0.5)"
    assert isinstance(WRITING["types"], AnyOf)
    form = parse_form(r'why:one_of("a; b: (c)","say \"d\""+) ;  text : text( )')
    assert str(form) == r'why: one_of("a; b: (c)","say \"d\""+); text: text()'


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "at least one question"),
        ("text()", r"`text\(\)` cannot be read; expected a name, a colon and a question"),
        ("a: text() b: text()", "cannot be read"),
        ("a: text(); a: edit()", "the name of a question is duplicated: a, a"),
        ("a: text(); A: edit()", "the name of a question is duplicated"),
        ("my-text: text()", "`my-text` cannot name a question"),
        ("متن: text()", "`متن` cannot name a question"),
        ("a: txt()", "there is no `txt`"),
        (
            "a: one_of(yes,no); b: text() when a=yess",
            "`b` when a=yess: `yess` is not an answer there; did you mean `yes`?",
        ),
        ("a: one_of(yes,no); b: text() when c=yes", "`c` is not an earlier one_of.* earlier are a"),
        ("b: text() when b=yes", "`b` is not an earlier one_of.* there is none before it"),
        ("a: text(); b: text() when a=yes", "`a` is not an earlier one_of.* there is none before it"),
        ("a: one_of(yes,no); b: text() when a", "cannot be read"),
        ("a: one_of(yes,no); b: one_of(yes,no) unlike c", "`b` unlike c: both are one_of.* `c` comes before `b`"),
        ("a: one_of(yes,no) unlike a", "`a` unlike a: both are one_of"),
        ("a: scale(1,5,1); b: one_of(yes,no) unlike a", "`b` unlike a: both are one_of"),
        ("a: one_of(yes,no); b: one_of(yes,no) unlike", "cannot be read"),
    ],
)
def test_a_form_that_cannot_be_read_is_refused(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_form(text)


def test_a_recipe_gives_questions_as_text_and_a_row_of_a_file_and_a_page_the_same_answer() -> None:
    read = WRITING.read({"text": " two words", "types": "humour, facts", "sure": "4,5"})
    assert read == {"text": " two words", "types": 3, "sure": 7}
    assert WRITING.load_submitted({"sure": 4.5, "types": ["humour", "facts"], "text": " two words"}) == read
    assert WRITING.names(read) == {"text": " two words", "types": "facts; humour", "sure": "4.5"}
    assert Form.from_table({"label": "one_of(no,unsure?,yes+)"}) == LABEL
    with pytest.raises(InputError, match=r"`label` is `5`; expected a question such as `text\(\)`"):
        Form.from_table({"label": 5})  # type: ignore[dict-item]


def test_an_answer_is_kept_as_json_in_the_order_of_the_form_and_equal_texts_make_the_same() -> None:
    answer = WRITING.read({"sure": "3", "types": "none", "text": " déjà  vu"})
    assert WRITING.store(answer) == '{"text":" déjà  vu","types":[],"sure":3}'
    assert WRITING.key(answer) == '{"text":"déjà  vu","types":[],"sure":3}'
    assert LABEL.store({"label": 2}) == '{"label":"yes"}'
    composed, parted = (
        WRITING.load_submitted({"text": text, "types": [], "sure": 1}) for text in ("déjà vu", " de\u0301ja\u0300 vu\n")
    )
    assert composed != parted
    assert WRITING.key(composed) == WRITING.key(parted)


def test_all_that_is_wrong_with_an_answer_is_said_at_once_by_the_names_of_several_questions() -> None:
    with pytest.raises(InputError) as refused:
        WRITING.load_submitted({"text": "one", "sure": 3.3, "tone": "kind"})
    assert str(refused.value) == (
        "`tone` is not a question here; text: the text has 1 word; expected at least 2; types: an answer is missing; "
        "sure: `3.3` is between the steps of the scale; the nearest are 3 and 3.5, expected 1 to 5 by 0.5"
    )
    with pytest.raises(InputError, match=r"^unknown label `maybe`; expected one of 0, no, 1, unsure, 2, yes$"):
        LABEL.read({"label": "maybe"})
    with pytest.raises(InputError, match=r"^an answer is missing$"):
        LABEL.load_submitted({})


def test_the_first_text_is_the_one_that_can_be_a_side_and_one_of_no_words_may_be_missing() -> None:
    form = parse_form("fit: one_of(no,yes+); text: edit(); note: text(min_words=0)")
    assert form.written_question == "text"
    assert form.text({"fit": 1, "text": " as it is ", "note": ""}) == " as it is "
    assert (LABEL.written_question, LABEL.text({"label": 1})) == (None, None)
    review = parse_form("fit: one_of(no,yes+); why: text(min_words=0)")
    assert review.load_submitted({"fit": "yes"}) == {"fit": 1, "why": ""}
    assert review.text({"fit": 1, "why": " \n"}) is None


def test_a_page_gets_the_questions_in_order_and_learns_when_each_is_asked() -> None:
    names = [(question["name"], question["kind"]) for question in WRITING.as_json()]
    assert names == [("text", "text"), ("types", "any_of"), ("sure", "scale")]
    asked = json.loads(json.dumps(parse_form(GATED).as_json()))
    assert "when" not in asked[0]
    assert asked[1]["when"] == {"question": "abusive", "answers": ["yes"]}


def test_distinct_answers_become_a_table_of_codes_of_the_closed_questions() -> None:
    parts = [(part.name, part.question.distance) for part in WRITING.parts()]
    assert parts == [("types: facts", "nominal"), ("types: humour", "nominal"), ("sure", "interval")]
    stored = [
        WRITING.store(WRITING.load_submitted({"text": text, "types": types, "sure": sure}))
        for text, types, sure in [("a b", [], 1), ("c d", ["humour"], 4.5)]
    ]
    table = part_codes(WRITING, [*stored, None])
    assert table.dtype == np.int64
    assert table.tolist() == [[0, 0, 0], [0, 1, 7], [NO_CODE] * 3]
    assert part_codes(parse_question("one_of(no=3,yes=7+)"), ["yes", None, "no"]).tolist() == [[7], [-1], [3]]
    assert part_codes(Text(), ["a text", "another"]).shape == (2, 0)
    assert part_codes(WRITING, []).shape == (0, 3)


def test_codes_stand_for_numbers() -> None:
    scale, labels = parse_question("scale(1,5,0.5)"), parse_question("one_of(no=3,yes=7+)")
    assert isinstance(scale, Closed)
    assert isinstance(labels, OneOf)
    found = numbers(scale, np.array([[0, 7], [NO_CODE, 8]]))
    np.testing.assert_array_equal(found, [[1.0, 4.5], [np.nan, 5.0]])
    np.testing.assert_array_equal(numbers(labels, np.array([7, 3, NO_CODE])), [7.0, 3.0, np.nan])


GATED = "abusive: one_of(yes,no,unsure?); text: text(min_words=6) when abusive=yes; also: any_of(a,b) when abusive=yes"


def test_a_question_that_depends_on_an_answer_is_written_and_read_back() -> None:
    table = {
        "abusive": "one_of(yes,no,unsure?)",
        "text": "text(min_words=6) when abusive=yes",
        "also": "any_of(a,b) when abusive = yes",
    }
    assert str(Form.from_table(table)) == GATED
    assert parse_form(GATED) == Form.from_table(table)
    quoted = parse_form('why: one_of("a; b, c",d); text: text() when why="a; b, c",d')
    assert quoted.conditions == (("text", When("why", ("a; b, c", "d"))),)
    assert parse_form(str(quoted)) == quoted


def test_what_is_not_asked_is_nothing_everywhere() -> None:
    form = parse_form(GATED)
    normal = form.load_submitted({"abusive": "no"})
    assert normal == form.read({"abusive": "no", "text": "", "also": ""}) == {"abusive": 1, "text": None, "also": None}
    assert form.store(normal) == '{"abusive":"no","text":null,"also":null}'
    assert form.load(form.store(normal)) == normal
    assert form.names(normal) == {"abusive": "no", "text": "", "also": ""}
    assert (form.text(normal), form.part_codes(normal)) == (None, (1, NO_CODE, NO_CODE))
    assert len(form.parts()) == 3
    chain = parse_form("a: one_of(yes,no); b: one_of(yes,no) when a=yes; c: text() when b=yes,no")
    assert chain.load_submitted({"a": "no"}) == {"a": 1, "b": None, "c": None}


def test_what_is_asked_must_be_answered_and_what_is_not_must_be_empty() -> None:
    form = parse_form(GATED)
    with pytest.raises(InputError, match=r"text: the text has 1 word; expected at least 6; also: an answer is missing"):
        form.load_submitted({"abusive": "yes", "text": "Why?"})
    with pytest.raises(InputError, match=r"^text: this is asked only when abusive=yes; leave it empty$"):
        form.load_submitted({"abusive": "no", "text": "Why would anybody say such a thing?"})


BEST_WORST = "best: one_of(A,B,C); worst: one_of(A,B,C) unlike best; why: text(min_words=0) when worst=C"


def test_a_question_that_is_unlike_another_is_written_and_read_back_and_refuses_its_answer_at_every_door() -> None:
    form = parse_form(BEST_WORST)
    assert str(form) == BEST_WORST
    assert Form.from_table(form.table) == form
    assert form.as_json()[1]["unlike"] == "best"
    assert form.read({"best": "a", "worst": "B", "why": ""}) == {"best": 0, "worst": 1, "why": None}
    for take in (form.read, form.load_submitted):
        with pytest.raises(InputError, match=r"^worst: `A` is the answer to best already; choose another one$"):
            take({"best": "A", "worst": "A", "why": ""})
    both = parse_form("a: one_of(yes,no); b: one_of(yes,no) when a=yes unlike a")
    assert str(both) == "a: one_of(yes,no); b: one_of(yes,no) when a=yes unlike a"
    assert both.load_submitted({"a": "no"}) == {"a": 1, "b": None}, "what is not asked is like nothing"
