"""Labels of a pair as a profile: how many of each class it has, and how probable that is before anybody was asked.

Whoever labels a pair sees what is true with one probability (the accuracy), else another definite class, and is
sometimes not sure: the model of `simulate`, without its leaning and skips.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.stages.questions import Closed
from fcpair.stages.stats.rating_counts import dense_codes

MOST_PROFILES = 2_000
NEVER = -1e300  # the logarithm of a probability of 0, which no labels of its class multiply to 0
BISECTIONS = 60  # enough for the last bit of a double
REACHABLE = 1e-9  # how near a kappa may come to the bound that it cannot pass


@dataclass(frozen=True)
class ClassModel:
    """Classes that are true, and what people make of them.

    `truths` (n_truths,) are the shares of the pairs of each true class; `answers` (n_truths, n_classes) the
    probabilities of each answer to a pair of it. All that label a pair do so independently, given what is true.
    """

    truths: Floats
    answers: Floats

    @property
    def shares(self) -> Floats:
        """The expected share of each class among all labels, (n_classes,)."""
        return np.asarray(self.truths @ self.answers)

    @property
    def joint(self) -> Floats:
        """How probable two answers on one pair are, (n_classes, n_classes); symmetric, sum 1."""
        return np.asarray(self.answers.T @ (self.truths[:, None] * self.answers))

    @property
    def kappa(self) -> float:
        """Cohen's kappa of two people on endlessly many pairs; NaN where all answers are of one class."""
        return kappa_of_joint(self.joint)

    def probabilities(self, profiles: Ints) -> Floats:
        """How probable each profile (n_profiles, n_classes) is among pairs with as many labels, whose sum is 1."""
        return np.asarray(self.truths @ profile_probabilities(self.answers, profiles))


def profile_probabilities(answers: Floats, profiles: Ints) -> Floats:
    """How probable profiles are on pairs of several kinds, shape (n_kinds, n_profiles).

    Args:
        answers: the probabilities of each answer to a pair of each kind, (n_kinds, n_classes).
        profiles: the labels of each class, (n_profiles, n_classes).
    """
    with np.errstate(divide="ignore"):
        logs = np.log(answers)
    logs = np.where(np.isfinite(logs), logs, NEVER)
    # in how many orders the labels of each profile can be given: the multinomial coefficient
    kinds, kind = dense_codes(profiles.ravel())
    factorials = np.array([float(factorial(int(count))) for count in kinds])[kind].reshape(profiles.shape)
    totals = np.array([float(factorial(int(n))) for n in profiles.sum(axis=1)])
    return np.asarray(np.exp(logs @ profiles.T) * (totals / factorials.prod(axis=1)))


def kappa_of_joint(joint: Floats) -> float:
    """Cohen's kappa where two answers have the probabilities `joint` (n_classes, n_classes); NaN for one class only."""
    by_chance = float(joint.sum(axis=0) @ joint.sum(axis=1))
    return (float(np.trace(joint)) - by_chance) / (1 - by_chance) if by_chance < 1 - 1e-12 else np.nan


def fit_class_model(question: Closed, prevalence: float, not_sure: float, kappa: float) -> ClassModel:
    """Fit the model in which so many labels are positive and not sure, and two people agree as far as `kappa`.

    Positive answers are alike in their shares, and so are negative ones and those that are not definite.

    Args:
        question: the answers that there are.
        prevalence: share of the labels that are positive, above 0; below 1 together with `not_sure`.
        not_sure: share of the labels that are not definite, 0 or more; 0 where all answers are definite.
        kappa: Cohen's kappa of every two people, from 0 to what these shares allow.

    Raises:
        InputError: the shares leave nothing negative or positive, a positive or a negative answer is missing, or kappa
            is out of reach; the message says what can be reached.
    """
    lowest, highest = kappa_range(question, prevalence, not_sure)
    if not lowest - REACHABLE <= kappa <= highest + REACHABLE:
        raise InputError(
            f"kappa is {kappa:g}; with {prevalence:g} of the labels positive and {not_sure:g} not sure it can be from "
            f"{max(lowest, 0.0):.3f} to {highest:.3f}"
        )
    definite = prevalence / (1 - not_sure)
    least = _least_accuracy(question, definite)
    low, high = least, 1.0
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _model(question, definite, not_sure, middle).kappa < kappa else (low, middle)
    return _model(question, definite, not_sure, high)


def kappa_range(question: Closed, prevalence: float, not_sure: float) -> tuple[float, float]:
    """The least and the greatest kappa of labels with these shares; raises InputError as `fit_class_model` does."""
    _check_shares(question, prevalence, not_sure)
    definite = prevalence / (1 - not_sure)
    lowest, highest = (
        _model(question, definite, not_sure, accuracy).kappa for accuracy in (_least_accuracy(question, definite), 1.0)
    )
    return lowest, highest


def class_model_at(question: Closed, positive: float, not_sure: float, accuracy: float) -> ClassModel:
    """The model in which a share `positive` of the pairs is truly positive, and people see that with `accuracy`.

    Raises InputError as `fit_class_model` does for such shares.
    """
    _check_shares(question, positive, not_sure)
    return _truths_model(question, positive, not_sure, accuracy)


def _check_shares(question: Closed, prevalence: float, not_sure: float) -> None:
    if not 0 < prevalence < 1:
        raise InputError(
            f"prevalence is {prevalence:g}; expected a share between 0 and 1: where all labels are alike, agreement by "
            "chance is complete and no coefficient is defined"
        )
    if not 0 <= not_sure < 1 - prevalence:
        raise InputError(f"not_sure is {not_sure:g}; expected 0 or more, and with the prevalence less than 1")
    if not_sure and len(question.definite) == len(question.codes):
        raise InputError(f"not_sure is {not_sure:g}, but all answers of this question are definite; omit it")
    if not question.positive or set(question.definite) <= set(question.positive):
        raise InputError("the question has no positive, or no negative answer, so it has no prevalence")


def _least_accuracy(question: Closed, definite: float) -> float:
    """The accuracy below which no pairs at all could have so many definite labels that are positive."""
    n, n_positive = len(question.definite), len(question.positive)
    by_chance = (n_positive - 1) / (n - 1)
    return max((definite - by_chance) / (1 - by_chance), 1 - definite * (n - 1) / n_positive, 1 / n)


def _model(question: Closed, definite: float, not_sure: float, accuracy: float) -> ClassModel:
    """The model at an accuracy, where `definite` of the definite labels are positive."""
    n, n_positive = len(question.definite), len(question.positive)
    miss = (1 - accuracy) / (n - 1)
    of_positive, of_negative = accuracy + (n_positive - 1) * miss, n_positive * miss
    gap = of_positive - of_negative
    share = float(np.clip((definite - of_negative) / gap, 0, 1)) if gap > 0 else definite  # clipped: rounding
    return _truths_model(question, share, not_sure, accuracy)


def _truths_model(question: Closed, positive: float, not_sure: float, accuracy: float) -> ClassModel:
    """The model at an accuracy, where a share `positive` of the pairs is truly positive."""
    codes, sure = list(question.codes), list(question.definite)
    is_positive = np.array([code in question.positive for code in sure])
    n, n_positive = len(sure), int(is_positive.sum())
    miss = (1 - accuracy) / (n - 1)
    truths = np.where(is_positive, positive / n_positive, (1 - positive) / (n - n_positive))
    answers = np.zeros((n, len(codes)))
    seen = np.full((n, n), miss) + np.eye(n) * (accuracy - miss)
    answers[:, [codes.index(code) for code in sure]] = seen * (1 - not_sure)
    unsure = [at for at, code in enumerate(codes) if code not in question.definite]
    answers[:, unsure] = not_sure / max(len(unsure), 1)
    return ClassModel(truths, answers)


def all_profiles(n_labels: int, n_classes: int) -> Ints:
    """Each profile of so many labels once, (n_profiles, n_classes), in a fixed order.

    Raises InputError where there would be more than `MOST_PROFILES`.
    """
    n_profiles = factorial(n_labels + n_classes - 1) // (factorial(n_labels) * factorial(n_classes - 1))
    if n_profiles > MOST_PROFILES:
        raise InputError(
            f"{n_labels} labels of {n_classes} classes can fall in {n_profiles:,} ways; plan with at most "
            f"{MOST_PROFILES:,}: fewer labels a pair, or bins of the classes"
        )
    rows = np.array(list(combinations_with_replacement(range(n_classes), n_labels)), dtype=np.int64)
    return np.stack([(rows == klass).sum(axis=1) for klass in range(n_classes)], axis=1)
