"""Simulated people: rates within five standard deviations, answers that forms take, the same people from a seed."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import (
    MOVES_TO_MAJORITY,
    Habits,
    draw_answers,
    draw_attributes,
    draw_form_answers,
    draw_form_truths,
    draw_latent_answers,
    draw_leniency,
    draw_pairs,
    draw_second_answers,
    draw_second_looks,
    draw_seconds,
    draw_truths,
    fit_habits,
    true_codes,
)
from fcpair.stages.questions import NO_CODE, Choice, Closed, Form, OneOf, Scale, n_words, parse_form, parse_question
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.latent_labels import Effects, class_model_at, kappa_of_joint

N = 20_000
PERFECT = Habits(positive=0.2, accuracy=1.0, leaning=0.0, leaning_to=2, unsure=0.0, skips=0.0)
FOUR: Any = parse_question('one_of(bad,fair=2,unsure=5?,good=6+,"very good"=9+)')


def near(share: float, probability: float) -> bool:
    return abs(share - probability) < 5 * math.sqrt(probability * (1 - probability) / N)


def shares(codes: NDArray[np.int64]) -> dict[int, float]:
    values, counts = np.unique(codes, return_counts=True)
    return dict(zip(values.tolist(), (counts / len(codes)).tolist(), strict=True))


def test_so_many_pairs_are_truly_positive_and_true_codes_definite_and_even_on_each_side() -> None:
    for positive in (0.0, 0.2, 1.0):
        share = shares(draw_truths(N, APPROPRIATENESS, positive, seed=1))
        assert near(share.get(2, 0), positive) if 0 < positive < 1 else share.get(2, 0) == positive
        assert set(share) <= {0, 2}
    share = shares(draw_truths(N, FOUR, 0.4, seed=1))
    assert set(share) == {0, 2, 6, 9}
    assert all(near(share[code], p) for code, p in {0: 0.3, 2: 0.3, 6: 0.2, 9: 0.2}.items())
    no_positive = Scale(Decimal(1), Decimal(3), Decimal(1))
    assert {*draw_truths(200, no_positive, 0.2, seed=1).tolist()} == {0, 1, 2}


@pytest.mark.parametrize("scheme", [APPROPRIATENESS, FOUR])
@pytest.mark.parametrize("accuracy", [1.0, 0.85, 0.1, 0.0])
def test_accuracy_is_the_share_that_sees_what_is_true(scheme: OneOf, accuracy: float) -> None:
    true = draw_truths(N, scheme, 0.3, seed=1)
    given = draw_answers(true, scheme, replace(PERFECT, accuracy=accuracy), seed=2)
    share = float((given == true).mean())
    assert near(share, accuracy) if 0 < accuracy < 1 else share == accuracy
    assert set(given.tolist()) == set(scheme.definite)


def test_wrong_answers_are_even_over_the_others_and_drawn_apart_from_what_is_true() -> None:
    """From one seed: where the truth is rare, errors are as likely as elsewhere."""
    share = shares(draw_answers(np.full(N, 2), FOUR, replace(PERFECT, accuracy=0.1), seed=2))
    assert all(near(share[code], 0.3) for code in (0, 6, 9))
    true = draw_truths(N, APPROPRIATENESS, 0.5, seed=1)
    wrong = draw_answers(true, APPROPRIATENESS, replace(PERFECT, accuracy=0.5), seed=1) != true
    assert abs(wrong[true == 2].mean() - wrong[true == 0].mean()) < 5 * (0.25 * 4 / N) ** 0.5


def test_so_many_are_not_sure_lean_or_skip_whatever_else_they_do() -> None:
    true = draw_truths(N, FOUR, 0.3, seed=1)
    assert near(shares(draw_answers(true, FOUR, replace(PERFECT, unsure=0.07), seed=2))[5], 0.07)
    for code in (0, 2):  # a leaning gives its label whatever is true
        lean = replace(PERFECT, leaning=0.3, leaning_to=code)
        assert near(shares(draw_answers(np.full(N, 2 - code), APPROPRIATENESS, lean, seed=2))[code], 0.3)
    habits = replace(PERFECT, leaning=1.0, unsure=0.5, skips=0.04)
    share = shares(draw_answers(draw_truths(N, APPROPRIATENESS, 0.3, seed=1), APPROPRIATENESS, habits, seed=2))
    assert near(share[NO_CODE], 0.04)
    assert near(share[1], 0.96 * 0.5)
    sure = OneOf((Choice(0, "no"), Choice(1, "yes", positive=True)))
    true = draw_truths(N, sure, 0.3, seed=1)
    np.testing.assert_array_equal(draw_answers(true, sure, replace(PERFECT, unsure=0.5), seed=2), true)


@pytest.mark.parametrize("scheme", [APPROPRIATENESS, FOUR])
def test_validators_see_what_is_true_as_often_as_they_are_accurate(scheme: OneOf) -> None:
    true = draw_truths(N, scheme, 0.3, seed=1)
    seen = draw_second_looks(true, scheme, replace(PERFECT, accuracy=0.9, skips=0.1), seed=3)
    assert near(float((seen == true).mean()), 0.81)
    assert near(float((seen == NO_CODE).mean()), 0.1)
    assert set(seen.tolist()) == {NO_CODE, *scheme.definite}
    if scheme is APPROPRIATENESS:  # of two definite codes: whoever is wrong disagrees with a right label
        all_seen = draw_second_looks(true, scheme, replace(PERFECT, accuracy=0.9), seed=3)
        assert near(float((all_seen == true).mean()), 0.9)
        assert near(float((all_seen != 2 - true).mean()), 0.9)


def test_the_same_seed_gives_the_same_people_and_another_seed_others() -> None:
    habits = Habits(0.3, 0.8, 0.1, 2, 0.1, 0.1)
    true = draw_truths(500, FOUR, 0.3, seed=1)

    def drawn(seed: int) -> list[list[float]]:
        given = (
            draw_truths(500, FOUR, 0.3, seed),
            draw_answers(true, FOUR, habits, seed),
            draw_second_looks(true, FOUR, habits, seed),
        )
        return [each.tolist() for each in (*given, draw_seconds(500, seed))]

    first = drawn(1)
    assert drawn(1) == first
    assert all(one != other for one, other in zip(first, drawn(2), strict=True))


def test_an_answer_takes_about_nine_seconds_and_some_time() -> None:
    taken = draw_seconds(N, seed=1)
    assert 8.8 < float(np.median(taken)) < 9.2
    assert taken.min() > 0
    assert taken.tolist() == np.round(taken, 1).tolist()


def test_people_say_every_option_about_as_often() -> None:
    asked = {"Gender": ("woman", "man", "another"), "Gets up": ("early", "late"), "In your words": ()}
    said = draw_attributes(31, asked, seed=7)
    assert all(set(one) == {"Gender", "Gets up"} for one in said)
    for label in ("Gender", "Gets up"):
        n_each = Counter(one[label] for one in said)
        assert set(n_each) == set(asked[label])
        assert max(n_each.values()) - min(n_each.values()) == 1
    assert said == draw_attributes(31, asked, seed=7) != draw_attributes(31, asked, seed=8)
    assert len({tuple(one.items()) for one in said}) > 3  # one question does not go with the other


def test_only_those_who_differ_from_most_others_move_and_only_to_their_answer() -> None:
    cell, answer = np.repeat(np.arange(2_000), 3), np.tile([7, 7, 9], 2_000)
    second = draw_second_answers(cell, answer, seed=1).reshape(-1, 3)
    assert (second[:, :2] == 7).all()
    assert set(second[:, 2].tolist()) == {7, 9}
    assert abs((second[:, 2] == 7).mean() - MOVES_TO_MAJORITY) < 0.04


def test_where_two_answers_are_equally_common_everybody_keeps_theirs_and_else_the_seed_says_who_moves() -> None:
    cell, answer = np.array([0, 0, 1, 1, 1]), np.array([4, 5, 4, 5, 6])
    for seed in range(20):
        assert draw_second_answers(cell, answer, seed).tolist() == answer.tolist()
    cell, answer = np.repeat(np.arange(50), 3), np.tile([1, 1, 2], 50)
    first, same, other = (draw_second_answers(cell, answer, seed).tolist() for seed in (1, 1, 2))
    assert first == same != other


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
    form = parse_form("types: any_of(facts,humour); heard: one_of(yes,no)")
    true = draw_form_truths(100, form, 0.5, seed=4)  # which the perfect see in every part
    said = draw_form_answers(true, form, PERFECT, 5)
    np.testing.assert_array_equal([form.part_codes(one) for one in said if one], true)


def test_texts_keep_their_limits_and_about_half_of_what_may_stay_is_left_as_it_is() -> None:
    form = parse_form("text: text(min_words=20,max_words=22)")
    texts = [one["text"] for one in draw_form_answers(np.empty((300, 0), np.int64), form, PERFECT, 3) if one]
    assert {n_words(text) for text in texts} <= {20, 21, 22}
    assert len(set(texts)) > 50
    form = parse_form("better: edit(min_words=2)")
    said = draw_form_answers(np.empty((400, 0), np.int64), form, PERFECT, 3, ["as it was"] * 400)
    alone = sum(one is not None and one["better"] == "as it was" for one in said)
    assert 150 < alone < 250
    assert all(one is not None and one["better"].startswith("as it was") for one in said)
    form = parse_form("better: edit(min_words=8)")  # what is too short is never left as it is
    said = draw_form_answers(np.empty((50, 0), np.int64), form, PERFECT, 3, ["too short"] * 50)
    assert all(one is not None and n_words(one["better"]) >= 8 for one in said)


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


@given(skips=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 2**31))
def test_the_same_seed_says_the_same(skips: float, seed: int) -> None:
    form = Form.from_table({"types": "any_of(a,b,c)", "text": "text(min_words=3)"})
    true = draw_form_truths(20, form, 0.5, seed)
    first, again = (draw_form_answers(true, form, replace(PERFECT, skips=skips), seed) for _ in range(2))
    assert first == again
    assert all(one is None for one in first) if skips == 1 else any(first)


USUAL = Habits(positive=0.3, accuracy=0.9, leaning=0.0, leaning_to=2, unsure=0.05, skips=0.0)
EFFECTS = Effects(hs=0.2, cn=0.3)
HS, CN = np.divmod(np.arange(300 * 300), 300)


QUESTIONS = [APPROPRIATENESS, read_labels("scale(1,5,1,positive=4)"), read_labels("one_of(a+,b,c+,d?,e)")]


def answers(question: Closed, seed: int) -> npt.NDArray[np.int64]:
    model = fit_habits(question, USUAL, EFFECTS)
    return draw_latent_answers(draw_pairs(HS, CN, EFFECTS, 1), np.zeros(len(HS)), question, model, USUAL, seed)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_shares_and_agreement_are_those_without_effects(question: Closed) -> None:
    first, second = answers(question, 2), answers(question, 3)
    joint = np.array([[np.mean((first == a) & (second == b)) for b in question.codes] for a in question.codes])
    not_sure = USUAL.unsure if len(question.definite) < len(question.codes) else 0.0
    expected = class_model_at(question, 0.3, not_sure, 0.9)
    assert joint.sum(axis=1) == pytest.approx(expected.shares, abs=0.03)
    assert kappa_of_joint(joint) == pytest.approx(expected.kappa, abs=0.03)
    assert (answers(question, 2) == first).all()


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_true_codes_have_their_shares_and_most_people_see_them(question: Closed) -> None:
    true = true_codes(draw_pairs(HS, CN, EFFECTS, 1), question, 0.3)
    shares = {code: np.mean(true == code) for code in question.definite}
    n_positive = len(question.positive)
    expected = {
        code: 0.3 / n_positive if code in question.positive else 0.7 / (len(question.definite) - n_positive)
        for code in question.definite
    }
    assert shares == pytest.approx(expected, abs=0.03)
    assert np.mean(true == answers(question, 2)) > 0.7


def test_hs_and_cn_explain_their_shares_and_a_person_is_as_lenient_whenever_they_are_asked() -> None:
    pairs = draw_pairs(HS, CN, EFFECTS, 1).reshape(300, 300)
    assert pairs.var() == pytest.approx(1, abs=0.1)
    assert pairs.mean(axis=1).var() == pytest.approx(0.2, abs=0.06)
    assert pairs.mean(axis=0).var() == pytest.approx(0.3, abs=0.08)
    effects = Effects(leniency=0.5)
    assert draw_leniency(np.array([7, 3, 7]), effects, 1)[0] == draw_leniency(np.array([7]), effects, 1)[0]
    assert draw_leniency(np.arange(500), effects, 1).std() == pytest.approx(0.5, abs=0.08)
    with pytest.raises(InputError, match=r"at accuracy 0\.99, kappa is 0\.\d+; with annotators this different"):
        fit_habits(APPROPRIATENESS, replace(USUAL, accuracy=0.99, unsure=0.0), Effects(leniency=1.0))
