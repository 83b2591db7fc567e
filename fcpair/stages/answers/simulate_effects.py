"""Simulated people before texts that differ: some HS and CNs are likelier to be labelled positive, some people too.

The model is that of `latent_labels`: what a pair is like is a number, which each person sees with some noise and with
their own leniency. Along it lie the negative answers, those that are not definite, and the positive ones, each by their
codes. The noise is such that two people agree as far as without effects, at the same accuracy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import Habits, add_leaning_and_skips
from fcpair.stages.questions import Closed
from fcpair.stages.stats.label_profiles import class_model_at
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

    Its classes are the answers in the order of `_ordered`.

    Raises:
        InputError: the question has no positive or no negative answer, or people as different as these cannot agree as
            far as the accuracy has it.
    """
    codes = list(question.codes)
    not_sure = 0.0 if len(question.definite) == len(codes) else habits.unsure
    model = class_model_at(question, habits.positive, not_sure, habits.accuracy)
    shares = model.shares[[codes.index(code) for code in _ordered(question)]]
    try:
        latent = Effects(hs=effects.hs, cn=effects.cn, leniency=effects.annotator)
        return fit_effects(latent, shares, model.kappa)
    except InputError as error:
        raise InputError(f"at accuracy {habits.accuracy:g}, {error}") from None


def _ordered(question: Closed) -> list[int]:
    """The codes along what pairs are like: negative ones, those that are not definite, positive ones."""
    sure = [code for code in question.definite if code not in question.positive]
    unsure = [code for code in question.codes if code not in question.definite]
    return [*sure, *unsure, *sorted(question.positive)]


def draw_pairs(hs: Ints, cn: Ints, effects: TextEffects, seed: int) -> Floats:
    """What each pair is like, by the numbers of its texts, shape `(n_pairs,)`: normal, with variance 1."""
    rng = np.random.default_rng([seed, 5])
    of_hs, of_cn = (np.unique(ids, return_inverse=True)[1] for ids in (hs, cn))
    drawn = rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, len(hs))
    drawn += rng.normal(0, effects.hs**0.5, int(of_hs.max(initial=-1)) + 1)[of_hs]
    drawn += rng.normal(0, effects.cn**0.5, int(of_cn.max(initial=-1)) + 1)[of_cn]
    return np.asarray(drawn)


def true_codes(pairs: Floats, question: Closed, positive: float) -> Ints:
    """The true code of each pair, shape `(n_pairs,)`: of endlessly many pairs a share `positive` is truly positive.

    Positive answers are alike in their shares, and so are negative ones.
    """
    from scipy.special import ndtri

    codes = [code for code in _ordered(question) if code in question.definite]
    n_positive = len(question.positive)
    shares = [(1 - positive) / (len(codes) - n_positive)] * (len(codes) - n_positive) + [
        positive / n_positive
    ] * n_positive
    ends = ndtri(np.minimum(np.cumsum(shares)[:-1], 1.0))
    return np.asarray(codes)[np.searchsorted(ends, pairs)]


def draw_leniency(person_ids: Ints, effects: TextEffects, seed: int) -> Floats:
    """How lenient each of these people is, shape `(n,)`: the same for a person whenever it is asked."""
    ids, place = np.unique(person_ids, return_inverse=True)
    drawn = [np.random.default_rng([seed, 6, int(person_id)]).normal(0, effects.annotator) for person_id in ids]
    return np.asarray(drawn, np.float64)[place]


def draw_latent_answers(
    pairs: Floats, leniency: Floats, question: Closed, model: Effects, habits: Habits, seed: int
) -> Ints:
    """Draw the answers of annotators, shape `(n,)`: a code, or -1 for a skip.

    Args:
        pairs: what the pair of each answer is like, shape `(n,)`.
        leniency: that of who answers, shape `(n,)`.
        question: the answers that there are.
        model: thresholds and noise, as `fit_habits` has them.
        habits: how people lean and skip.
        seed: of all that is drawn.
    """
    rng = np.random.default_rng([seed, 7])
    seen = pairs + leniency + model.noise * rng.normal(size=len(pairs))
    codes = np.asarray(_ordered(question))[np.searchsorted(model.thresholds, seen)]
    return add_leaning_and_skips(codes, replace(habits, unsure=0.0), question, rng)
