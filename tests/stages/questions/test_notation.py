"""The printed form of questions: what it looks like, that it can be read back, and what is said of what cannot."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.questions import KINDS, Form, Question, parse_form, parse_question
from stages.questions.questions import answers, forms, questions


@given(questions)
def test_a_question_is_read_back_from_what_it_prints_and_can_be_sent_to_another_process(
    question: Question[Any],
) -> None:
    assert parse_question(str(question)) == question
    assert hash(parse_question(str(question))) == hash(question)
    with pytest.raises(InputError):
        question.read("skip")
    assert pickle.loads(pickle.dumps(question)) == question
    assert str(question).partition("(")[0] in KINDS


@given(questions.flatmap(lambda question: st.tuples(st.just(question), answers(question))))
def test_an_answer_is_the_same_after_it_was_kept_and_after_it_was_named(asked: tuple[Question[Any], Any]) -> None:
    question, answer = asked
    stored = json.loads(json.dumps(question.store(answer)))
    assert question.load(stored) == answer
    assert question.read(question.name(answer)) == answer
    assert question.key(question.load(stored)) == question.key(answer)
    assert len(question.part_codes(answer)) == len(question.parts()) or question.no_parts_reason
    assert bool(question.no_parts_reason) == (not question.parts())


@given(
    forms.flatmap(
        lambda form: st.tuples(st.just(form), st.fixed_dictionaries({n: answers(q) for n, q in form.questions}))
    )
)
def test_a_form_and_its_answer_are_the_same_after_being_printed_and_kept(
    asked: tuple[Form, dict[str, Any]],
) -> None:
    form, answer = asked
    assert parse_form(str(form)) == form
    assert form.load(form.store(answer)) == answer
    assert form.read(form.names(answer)) == answer
    assert form.key(form.load(form.store(answer))) == form.key(answer)


@given(st.text())
def test_whatever_is_no_question_is_refused_in_words(text: str) -> None:
    for read in (parse_question, parse_form):
        with pytest.raises(InputError):
            read(text)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (" one_of ( no , yes + ) ", "one_of(no,yes+)"),
        ("one_of(no=0,yes=1+)", "one_of(no,yes+)"),
        ("one_of(yes=3+,no=1,maybe?)", "one_of(no=1,maybe=2?,yes=3+)"),
        ("one_of(bad,fair,good+,distance=nominal)", "one_of(bad,fair,good+)"),
        ("one_of(near,distance=7)", None),
        ('one_of(yes+,no,"Don\'t know"?)', None),
        ('one_of("بله"+,"خیر")', None),
        (r'one_of("a, (b)?","say \"yes\" \\")', None),
        ('one_of("no","yes"+)', "one_of(no,yes+)"),
        ("any_of(facts,humour,max=2,min=1)", "any_of(facts,humour,min=1,max=2)"),
        ("scale(1.0,5.00,0.50,positive=3.5)", "scale(1,5,0.5,positive=3.5)"),
        ("scale(-0,10,10)", "scale(0,10,10)"),
        ("text()", None),
        ("text(min_words=1)", "text()"),
        ("text(max_words=60,min_words=6)", "text(min_words=6,max_words=60)"),
        ("text(min_words=0)", None),
        ("curate(off_topic,wrong_facts,rude,min_words=3,max_words=50)", None),
        ("any_of(facts,humour,question,max=2,always=column)", None),
    ],
)
def test_a_question_prints_in_one_way(text: str, printed: str | None) -> None:
    assert str(parse_question(text)) == (printed or text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a word and brackets"),
        ("one_of(no,yes", "expected a word and brackets"),
        ("oneof(no,yes)", "there is no `oneof`; expected one of one_of, any_of, scale, text, edit"),
        ("one_of()", "at least two choices"),
        ("one_of(no,,yes)", "`,yes` cannot be read; expected names separated by commas"),
        ("one_of(no,Don't know)", '`Don\'t know` cannot be read; .* in "..." unless'),
        ("one_of(بله,خیر)", "`بله,خیر` cannot be read"),
        (r'one_of(no,"\x")', "cannot be read; expected .* with a backslash"),
        ("one_of(no,yes++)", r"`yes\+\+`: expected `\?`"),
        ("one_of(no,yes=two)", "`yes=two` cannot be read; expected a whole number"),
        ("one_of(no,yes,distance=interval)", "nominal or ordinal"),
        ("any_of(facts+)", r"`facts\+` cannot be read; expected a name alone"),
        ("any_of(facts,least=2)", "`least=2` is not an option here; expected min= and max= and always= at most once"),
        ("any_of(a,b,min=1,min=2)", "`min=2` is given twice"),
        ("any_of(a,b,min=-1)", "`min=-1` cannot be read; expected a whole number"),
        ("scale(1,5)", "expected the lowest number, the highest one and the step"),
        ("scale(1,5,half)", "`half` is not a number on a scale"),
        ("scale(1,5,1,from=3)", "`from=3` is not an option here"),
        ("text(6)", "`6` cannot be read; expected min_words="),
        ("text(min_words=six)", "`min_words=six` cannot be read"),
        # one of several choices
        ("one_of(yes+)", "at least two choices are needed"),
        ("one_of(no,yes?+)", r"`yes\?\+`: expected"),
        ("one_of(no,yes=0+)", "a code or a name is duplicated"),
        ("one_of(no,yes,No)", "a code or a name is duplicated"),
        ("one_of(no,Skip)", "are reserved"),
        ("one_of(no,irreconcilable)", "are reserved"),
        ('one_of(no,"")', "a name must be a word"),
        ("one_of(no,2)", "a name must be a word"),
        ('one_of(no,"۲")', "a name must be a word"),
        (f"one_of(no,{'y' * 101})", "at most 100 characters"),
        (r'one_of(no,"a\u0000b")', "a NUL character"),
        (r'one_of(no,"\ud800")', "half a surrogate pair"),
        ('one_of("\u0626","\u064a\u0654")', "a code or a name is duplicated"),
        (f"one_of(no,yes={10**18})", "at most 18 digits"),
        (f"one_of({','.join(f'l{n}' for n in range(1_001))})", "1,001 choices are too many; expected 1,000 at most"),
        # several labels or none
        ("any_of()", "1 to 60 labels are needed"),
        (f"any_of({','.join(f'l{at}' for at in range(61))})", "1 to 60 labels are needed"),
        ("any_of(a,A)", "a name is duplicated"),
        ("any_of(a,skip)", "are reserved"),
        ("any_of(a,None)", "`none` is reserved"),
        ('any_of(a,"b;c")', "a name may not contain a semicolon"),
        ("any_of(a,b,min=2,max=1)", "min=2,max=1 is impossible with 2 labels"),
        ("any_of(a,b,max=3)", "min=0,max=3 is impossible with 2 labels"),
        ("any_of(facts,humour,always=row)", r"`always=row` cannot be read; expected `always=column`"),
        # numbers
        ("scale(5,1,1)", "the lowest number, the highest one, and a step above 0"),
        ("scale(1,5,0)", "a step above 0"),
        ("scale(1,5,0.3)", "steps of 0.3 from 1 miss 5"),
        ("scale(0,1001,1)", "a scale has at most 1,001 values"),
        ("scale(1,10000000,1)", "`10000000` is not a number on a scale"),
        ("scale(1,5,0.5,positive=3.3)", "`3.3` is between the steps of the scale; the nearest are 3 and 3.5"),
        ("scale(1,5,0.5,positive=6)", "`6` is outside of the scale"),
        # texts that are kept or rejected
        ("curate()", "at least one reason to reject a text is needed"),
        ("curate(rude,Rude)", "a reason is duplicated"),
        ("curate(skip)", "are reserved"),
        ("curate(3)", "a name must be a word: not empty, and not a number"),
        ("curate(rude+)", r"`rude\+` cannot be read; expected a name alone"),
        ("curate(rude,min=3)", "`min=3` is not an option here; expected min_words= and max_words="),
        ("curate(rude,min_words=5,max_words=4)", "max_words above 0 and not below min_words"),
    ],
)
def test_what_cannot_be_asked_is_refused_with_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as refused:
        parse_question(text)
    assert str(refused.value).startswith(f"question `{text}`: ")


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        (
            "one_of(no_idea=7?,bad=0,poor=1,Good=3+)",
            {
                "choices": ["bad", "poor", "Good", "no_idea"],
                "keys": [["1"], ["2"], ["3"], ["4"]],
                "distance": "nominal",
            },
        ),
        (
            "any_of(facts,humour)",
            {"choices": ["facts", "humour"], "keys": [["1"], ["2"]], "min": 0, "max": 2, "always": False},
        ),
        (
            "scale(1,2,0.5)",
            {
                **{"low": 1, "high": 2, "step": 0.5},
                **{"choices": ["1", "1.5", "2"], "keys": [["1"], ["1.", "1.5"], ["2"]]},
            },
        ),
        ("edit(min_words=6,max_words=60)", {"min_words": 6, "max_words": 60}),
        (
            "curate(off_topic,wrong_facts,rude,min_words=3,max_words=50)",
            {
                **{"min_words": 3, "max_words": 50},
                **{"reasons": ["off_topic", "wrong_facts", "rude"], "keys": [["1"], ["2"], ["3"]]},
                "acts": {"choices": ["Accept", "Edit", "Reject"], "keys": [["1"], ["2"], ["3"]]},
            },
        ),
    ],
)
def test_a_page_gets_what_it_asks(text: str, sent: dict[str, Any]) -> None:
    assert parse_question(text).as_json() == {"kind": text.partition("(")[0], **sent}
