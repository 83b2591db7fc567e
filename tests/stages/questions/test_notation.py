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
def test_a_question_is_read_back_from_what_it_prints(question: Question[Any]) -> None:
    assert parse_question(str(question)) == question
    assert hash(parse_question(str(question))) == hash(question)


@given(forms)
def test_a_form_is_read_back_from_what_it_prints(form: Form) -> None:
    assert parse_form(str(form)) == form


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
def test_an_answer_of_a_form_is_the_same_after_it_was_kept(asked: tuple[Form, dict[str, Any]]) -> None:
    form, answer = asked
    assert form.load(form.store(answer)) == answer
    assert form.read(form.names(answer)) == answer
    assert form.key(form.load(form.store(answer))) == form.key(answer)


@given(st.text())
def test_whatever_is_no_question_is_refused_in_words(text: str) -> None:
    for read in (parse_question, parse_form):
        with pytest.raises(InputError):
            read(text)


@given(questions)
def test_a_question_can_be_sent_to_another_process_after_use(question: Question[Any]) -> None:
    with pytest.raises(InputError):
        question.read("skip")
    assert pickle.loads(pickle.dumps(question)) == question


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("one_of(not_appropriate,not_sure?,appropriate+)", None),
        (" one_of ( no , yes + ) ", "one_of(no,yes+)"),
        ("one_of(no=0,yes=1+)", "one_of(no,yes+)"),
        ("one_of(yes=3+,no=1,maybe?)", "one_of(no=1,maybe=2?,yes=3+)"),
        ("one_of(bad,fair,good+,distance=ordinal)", None),
        ("one_of(bad,fair,good+,distance=nominal)", "one_of(bad,fair,good+)"),
        ("one_of(near,distance=7)", None),
        ('one_of(yes+,no,"Don\'t know"?)', None),
        ('one_of("بله"+,"خیر")', None),
        (r'one_of("a, (b)?","say \"yes\" \\")', None),
        ('one_of("no","yes"+)', "one_of(no,yes+)"),
        ("any_of(facts,humour,warning)", None),
        ("any_of(facts,humour,max=2,min=1)", "any_of(facts,humour,min=1,max=2)"),
        ("scale(1,5,0.5)", None),
        ("scale(1.0,5.00,0.50,positive=3.5)", "scale(1,5,0.5,positive=3.5)"),
        ("scale(-10,10,10)", None),
        ("scale(-0,10,10)", "scale(0,10,10)"),
        ("text()", None),
        ("text(min_words=1)", "text()"),
        ("text(max_words=60,min_words=6)", "text(min_words=6,max_words=60)"),
        ("text(min_words=0)", None),
        ("edit(min_words=6)", None),
    ],
)
def test_a_question_prints_in_one_way(text: str, printed: str | None) -> None:
    assert str(parse_question(text)) == (printed or text)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected a word and brackets"),
        ("text", "expected a word and brackets"),
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
        ("any_of(a,b,min=1+)", r"`min=1\+` is not an option here"),
        ("any_of(a,b,min=-1)", "`min=-1` cannot be read; expected a whole number"),
        ("scale(1,5)", "expected the lowest number, the highest one and the step"),
        ("scale(1,5,half)", "`half` is not a number on a scale"),
        ("scale(1,5,1,from=3)", "`from=3` is not an option here"),
        ("text(6)", "`6` cannot be read; expected min_words="),
        ("text(min_words=six)", "`min_words=six` cannot be read"),
    ],
)
def test_what_cannot_be_read_is_refused_with_what_was_expected(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as found:
        parse_question(text)
    assert str(found.value).startswith(f"question `{text}`: ")


def test_every_kind_is_known_by_its_word() -> None:
    assert list(KINDS) == ["one_of", "any_of", "scale", "text", "edit", "curate"]
