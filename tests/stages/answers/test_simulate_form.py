"""Simulated people before a form: every answer is one that the form takes, and comes again from the same seed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.answers.simulate import Habits, draw_form_answers, draw_form_truths
from fcpair.stages.questions import Form, n_words, parse_form

PERFECT = Habits(positive=0.3, accuracy=1.0, leaning=0.0, leaning_to=2, unsure=0.0, skips=0.0)
FORMS = [
    "text: text(min_words=6,max_words=9); types: any_of(facts,humour,question,min=1,max=2)",
    "rating: scale(1,5,0.5,positive=4)",
    "heard: one_of(yes,no,decline?); sure: scale(0,1,0.1)",
    "kept: curate(rude,off_topic,min_words=5,max_words=20)",
    "better: edit(min_words=12); why: text(min_words=0,max_words=2)",
]


@pytest.mark.parametrize("printed", FORMS)
def test_the_form_takes_every_answer(printed: str) -> None:
    form = parse_form(printed)
    true = draw_form_truths(200, form, 0.3, seed=1)
    said = draw_form_answers(
        true, form, replace(PERFECT, accuracy=0.7, unsure=0.2), 2, ["Two words"] * 100 + ["a " * 15] * 100
    )
    for answer in said:
        assert answer is not None
        assert form.load(form.store(answer)) == answer
    assert len({form.key(one) for one in said if one}) > 1


def test_texts_keep_their_limits_and_differ() -> None:
    form = parse_form("text: text(min_words=20,max_words=22)")
    texts = [one["text"] for one in draw_form_answers(np.empty((300, 0), np.int64), form, PERFECT, 3) if one]
    assert {n_words(text) for text in texts} <= {20, 21, 22}
    assert len(set(texts)) > 50


def test_about_half_of_what_may_stay_is_left_as_it_is() -> None:
    form = parse_form("better: edit(min_words=2)")
    said = draw_form_answers(np.empty((400, 0), np.int64), form, PERFECT, 3, ["as it was"] * 400)
    alone = sum(one is not None and one["better"] == "as it was" for one in said)
    assert 150 < alone < 250
    assert all(one is not None and one["better"].startswith("as it was") for one in said)


def test_about_a_fifth_of_what_is_curated_is_rejected_and_what_begins_like_a_rejection_always() -> None:
    form = parse_form("kept: curate(rude,off_topic,min_words=2)")
    question = form.edited_question and form.edited_question[1]
    assert question
    said = draw_form_answers(np.empty((400, 0), np.int64), form, PERFECT, 3, ["as it was"] * 400)
    reasons = [question.reason(one["kept"]) for one in said if one]
    assert 50 < sum(reason is not None for reason in reasons) < 110
    assert {*reasons} == {None, "rude", "off_topic"}
    odd = draw_form_answers(np.empty((20, 0), np.int64), form, PERFECT, 3, ["Reject: no, do not"] * 20)
    assert all(one and question.reason(one["kept"]) for one in odd)


def test_what_is_too_short_is_never_left_as_it_is() -> None:
    form = parse_form("better: edit(min_words=8)")
    said = draw_form_answers(np.empty((50, 0), np.int64), form, PERFECT, 3, ["too short"] * 50)
    assert all(one is not None and n_words(one["better"]) >= 8 for one in said)


def test_the_perfect_see_what_is_true_in_every_part() -> None:
    form = parse_form("types: any_of(facts,humour); heard: one_of(yes,no)")
    true = draw_form_truths(100, form, 0.5, seed=4)
    said = draw_form_answers(true, form, PERFECT, 5)
    np.testing.assert_array_equal([form.part_codes(one) for one in said if one], true)


@given(skips=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 2**31))
def test_the_same_seed_says_the_same(skips: float, seed: int) -> None:
    form = Form.from_table({"types": "any_of(a,b,c)", "text": "text(min_words=3)"})
    true = draw_form_truths(20, form, 0.5, seed)
    first, again = (draw_form_answers(true, form, replace(PERFECT, skips=skips), seed) for _ in range(2))
    assert first == again
    assert all(one is None for one in first) if skips == 1 else any(first)
