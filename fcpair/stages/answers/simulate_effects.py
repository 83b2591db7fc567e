"""Simulated people before texts that differ: some HS and CNs are likelier to be labelled positive, some people too.

The model is that of `latent_labels`: what a pair is like is a number, which each person sees with some noise and with
their own leniency. The noise is such that two people agree as far as without effects, at the same accuracy, on whether
a pair is positive, negative or neither.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import Habits, add_leaning_and_skips
from fcpair.stages.questions import Closed
from fcpair.stages.stats.label_profiles import class_model_at, kappa_of_joint
from fcpair.stages.stats.latent_labels import Effects, fit_effects

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class TextEffects:
    """Shares of the differences between pairs that HS and CN explain, and the sd of how lenient annotators are."""

    hs: float = 0.0
    cn: float = 0.0
    annotator: float = 0.0

    def __bool__(self) -> bool:
        return any((self.hs, self.cn, self.annotator))


def fit_habits(question: Closed, habits: Habits, effects: TextEffects) -> Effects:
    """The model with these effects whose labels have the shares and the kappa that `habits` lead to without any.

    Its classes are the negative answers, the indefinite ones if there are any, and the positive ones.

    Raises:
        InputError: the question has no positive or no negative answer, or people as different as these cannot agree as
            far as the accuracy has it.
    """
    codes = np.asarray(question.codes)
    is_positive, is_definite = np.isin(codes, list(question.positive)), np.isin(codes, question.definite)
    not_sure = 0.0 if is_definite.all() else habits.unsure
    model = class_model_at(question, habits.positive, not_sure, habits.accuracy)
    groups = [
        group for group in (is_definite & ~is_positive, ~is_definite, is_positive) if model.shares[group].sum() > 0
    ]
    joint = np.array([[model.joint[np.ix_(one, other)].sum() for other in groups] for one in groups])
    try:
        latent = Effects(hs=effects.hs, cn=effects.cn, leniency=effects.annotator)
        return fit_effects(latent, joint.sum(axis=1), kappa_of_joint(joint))
    except InputError as error:
        raise InputError(f"at accuracy {habits.accuracy:g}, {error}") from None


def draw_pairs(hs: Ints, cn: Ints, effects: TextEffects, seed: int) -> Floats:
    """What each pair is like, by the numbers of its texts, shape `(n_pairs,)`: normal, with variance 1."""
    rng = np.random.default_rng([seed, 5])
    of_hs, of_cn = (np.unique(ids, return_inverse=True)[1] for ids in (hs, cn))
    drawn = rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, len(hs))
    drawn += rng.normal(0, effects.hs**0.5, int(of_hs.max(initial=-1)) + 1)[of_hs]
    drawn += rng.normal(0, effects.cn**0.5, int(of_cn.max(initial=-1)) + 1)[of_cn]
    return np.asarray(drawn)


def are_positive(pairs: Floats, positive: float) -> NDArray[np.bool_]:
    """Which pairs are truly positive, where a share `positive` of endlessly many is, shape `(n_pairs,)`."""
    from scipy.special import ndtri

    return np.asarray(pairs > ndtri(1 - positive))


def draw_leniency(person_ids: Ints, effects: TextEffects, seed: int) -> Floats:
    """How lenient each of these people is, shape `(n,)`: the same for a person whenever it is asked."""
    ids, place = np.unique(person_ids, return_inverse=True)
    drawn = [np.random.default_rng([seed, 6, int(person_id)]).normal(0, effects.annotator) for person_id in ids]
    return np.asarray(drawn, np.float64)[place]


def draw_latent_answers(
    pairs: Floats, leniency: Floats, true: Ints, question: Closed, model: Effects, habits: Habits, seed: int
) -> Ints:
    """Draw the answers of annotators, shape `(n,)`: a code, or -1 for a skip.

    Args:
        pairs: what the pair of each answer is like, shape `(n,)`.
        leniency: that of who answers, shape `(n,)`.
        true: the true code of each pair, which who sees an answer of its kind gives; another one is drawn.
        question: the answers that there are.
        model: thresholds and noise, as `fit_habits` has them.
        habits: how people lean and skip.
        seed: of all that is drawn.
    """
    rng = np.random.default_rng([seed, 7])
    seen = pairs + leniency + model.noise * rng.normal(size=len(pairs))
    indefinite = [code for code in question.codes if code not in question.definite]
    negative = [code for code in question.definite if code not in question.positive]
    kinds = [negative, *([indefinite] if len(model.thresholds) > 1 else []), sorted(question.positive)]
    kind = np.searchsorted(model.thresholds, seen)
    drawn = np.stack([rng.choice(codes, len(pairs)) for codes in kinds])[kind, np.arange(len(pairs))]
    is_true_kind = np.stack([np.isin(true, codes) for codes in kinds])[kind, np.arange(len(pairs))]
    return add_leaning_and_skips(np.where(is_true_kind, true, drawn), replace(habits, unsure=0.0), question, rng)
