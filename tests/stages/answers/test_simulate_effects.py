"""Simulated people before texts that differ: shares and agreement as without effects, and as repeatable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import (
    Habits,
    draw_latent_answers,
    draw_leniency,
    draw_pairs,
    fit_habits,
    true_codes,
)
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import APPROPRIATENESS, read_labels
from fcpair.stages.stats.latent_labels import Effects, class_model_at, kappa_of_joint

HABITS = Habits(positive=0.3, accuracy=0.9, leaning=0.0, leaning_to=2, unsure=0.05, skips=0.0)
EFFECTS = Effects(hs=0.2, cn=0.3)
HS, CN = np.divmod(np.arange(300 * 300), 300)


QUESTIONS = [APPROPRIATENESS, read_labels("scale(1,5,1,positive=4)"), read_labels("one_of(a+,b,c+,d?,e)")]


def answers(question: Closed, seed: int) -> npt.NDArray[np.int64]:
    model = fit_habits(question, HABITS, EFFECTS)
    return draw_latent_answers(draw_pairs(HS, CN, EFFECTS, 1), np.zeros(len(HS)), question, model, HABITS, seed)


@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_shares_and_agreement_are_those_without_effects(question: Closed) -> None:
    first, second = answers(question, 2), answers(question, 3)
    joint = np.array([[np.mean((first == a) & (second == b)) for b in question.codes] for a in question.codes])
    not_sure = HABITS.unsure if len(question.definite) < len(question.codes) else 0.0
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


def test_hs_and_cn_explain_their_shares() -> None:
    pairs = draw_pairs(HS, CN, EFFECTS, 1).reshape(300, 300)
    assert pairs.var() == pytest.approx(1, abs=0.1)
    assert pairs.mean(axis=1).var() == pytest.approx(0.2, abs=0.06)
    assert pairs.mean(axis=0).var() == pytest.approx(0.3, abs=0.08)


def test_a_person_is_as_lenient_whenever_they_are_asked() -> None:
    effects = Effects(leniency=0.5)
    assert draw_leniency(np.array([7, 3, 7]), effects, 1)[0] == draw_leniency(np.array([7]), effects, 1)[0]
    assert draw_leniency(np.arange(500), effects, 1).std() == pytest.approx(0.5, abs=0.08)


def test_people_who_differ_too_much_for_the_accuracy_are_refused() -> None:
    with pytest.raises(InputError, match=r"at accuracy 0\.99, kappa is 0\.\d+; with annotators this different"):
        fit_habits(APPROPRIATENESS, replace(HABITS, accuracy=0.99, unsure=0.0), Effects(leniency=1.0))
