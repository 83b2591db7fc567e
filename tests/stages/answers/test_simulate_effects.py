"""Simulated people before texts that differ: shares and agreement as without effects, and as repeatable."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import Habits, draw_truths
from fcpair.stages.answers.simulate_effects import (
    TextEffects,
    are_positive,
    draw_latent_answers,
    draw_leniency,
    draw_pairs,
    fit_habits,
)
from fcpair.stages.questions.labels import APPROPRIATENESS
from fcpair.stages.stats.label_profiles import class_model_at, kappa_of_joint

HABITS = Habits(positive=0.3, accuracy=0.9, leaning=0.0, leaning_to=2, unsure=0.05, skips=0.0)
EFFECTS = TextEffects(hs=0.2, cn=0.3)
HS, CN = np.divmod(np.arange(300 * 300), 300)


def answers(seed: int) -> npt.NDArray[np.int64]:
    pairs = draw_pairs(HS, CN, EFFECTS, 1)
    true = draw_truths(len(HS), APPROPRIATENESS, 0.3, 1, are_positive(pairs, 0.3))
    model = fit_habits(APPROPRIATENESS, HABITS, EFFECTS)
    return draw_latent_answers(pairs, np.zeros(len(HS)), true, APPROPRIATENESS, model, HABITS, seed)


def test_shares_and_agreement_are_those_without_effects() -> None:
    first, second = answers(2), answers(3)
    joint = np.array([[np.mean((first == a) & (second == b)) for b in (0, 1, 2)] for a in (0, 1, 2)])
    expected = class_model_at(APPROPRIATENESS, 0.3, 0.05, 0.9)
    assert joint.sum(axis=1) == pytest.approx(expected.shares, abs=0.03)
    assert kappa_of_joint(joint) == pytest.approx(expected.kappa, abs=0.03)
    assert (answers(2) == first).all()


def test_hs_and_cn_explain_their_shares() -> None:
    pairs = draw_pairs(HS, CN, EFFECTS, 1).reshape(300, 300)
    assert pairs.var() == pytest.approx(1, abs=0.1)
    assert pairs.mean(axis=1).var() == pytest.approx(0.2, abs=0.06)
    assert pairs.mean(axis=0).var() == pytest.approx(0.3, abs=0.08)


def test_a_person_is_as_lenient_whenever_they_are_asked() -> None:
    effects = TextEffects(annotator=0.5)
    assert draw_leniency(np.array([7, 3, 7]), effects, 1)[0] == draw_leniency(np.array([7]), effects, 1)[0]
    assert draw_leniency(np.arange(500), effects, 1).std() == pytest.approx(0.5, abs=0.08)


def test_people_who_differ_too_much_for_the_accuracy_are_refused() -> None:
    with pytest.raises(InputError, match=r"at accuracy 0\.99, kappa is 0\.\d+; with annotators this different"):
        fit_habits(APPROPRIATENESS, replace(HABITS, accuracy=0.99, unsure=0.0), TextEffects(annotator=1.0))
