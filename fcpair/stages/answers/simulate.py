"""Simulated people, for planning and demonstrating a study. What they say is marked as theirs everywhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.questions import NO_CODE, Closed


@dataclass(frozen=True)
class Habits:
    """Habits of simulated people; all but `leaning_to`, a code, are probabilities from 0 to 1.

    `positive`: that a pair is truly positive. `accuracy`: that an annotator or a validator sees what is true.
    `leaning`: that an annotator gives the code `leaning_to` whatever is true. `unsure`: that the answer is an
    indefinite one. `skips`: that there is none.
    """

    positive: float
    accuracy: float
    leaning: float
    leaning_to: int
    unsure: float
    skips: float


MOVES_TO_MAJORITY = 0.5
"""Probability that a simulated person takes over, in a discussion, the answer that most others gave."""


def draw_second_answers(cell: NDArray[np.int64], answer: NDArray[np.int64], seed: int) -> NDArray[np.int64]:
    """Draw what people answer after a discussion, shape `(n,)`, from what they answered before it.

    Who gave another answer on a cell than the most common one takes that one with probability MOVES_TO_MAJORITY, and
    keeps their own else. Where two answers are equally common, all keep theirs.

    Args:
        cell: the cell of each first answer, shape `(n,)`.
        answer: the first answer of each person on it, by any number.
        seed: of all that is drawn.
    """
    cells, at = np.unique(cell, return_inverse=True)
    answers, which = np.unique(answer, return_inverse=True)
    n_given = np.zeros((len(cells), len(answers)), np.int64)
    np.add.at(n_given, (at, which), 1)
    most = n_given.max(axis=1, keepdims=True)
    has_majority = (n_given == most).sum(axis=1) == 1
    moves = (np.random.default_rng([seed, 5]).random(len(cell)) < MOVES_TO_MAJORITY) & has_majority[at]
    return np.where(moves, answers[n_given.argmax(axis=1)][at], answer)


def draw_truths(n_pairs: int, question: Closed, positive: float, seed: int) -> NDArray[np.int64]:
    """The true code of each of `n_pairs` pairs, which all who are asked about a pair look at, shape `(n_pairs,)`.

    Where no answer is positive, or each is, they are all alike.
    """
    rng = np.random.default_rng([seed, 0])
    others = [code for code in question.definite if code not in question.positive]
    is_positive = rng.random(n_pairs) < positive
    drawn = [rng.choice(codes or question.definite, n_pairs) for codes in (question.positive, others)]
    return np.where(is_positive, *drawn)


def draw_answers(true: NDArray[np.int64], question: Closed, habits: Habits, seed: int) -> NDArray[np.int64]:
    """Draw the answers of annotators, shape `(n,)`: a code, or -1 for a skip.

    Args:
        true: the true code of the pair of each answer, shape `(n,)`.
        question: the answers that there are.
        habits: how they answer.
        seed: of all that is drawn.
    """
    rng = np.random.default_rng([seed, 1])
    codes = _perceive(true, question, habits.accuracy, rng)
    return add_leaning_and_skips(codes, habits, question, rng)


def add_leaning_and_skips(
    codes: NDArray[np.int64], habits: Habits, question: Closed, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The answers of people who see these codes, some of whom lean, are not sure, or skip (-1), shape `(n,)`."""
    n = len(codes)
    codes = np.where(rng.random(n) < habits.leaning, habits.leaning_to, codes)
    indefinite = [code for code in question.codes if code not in question.definite]
    if indefinite:
        codes = np.where(rng.random(n) < habits.unsure, rng.choice(indefinite, n), codes)
    return np.where(rng.random(n) < habits.skips, NO_CODE, codes)


def _perceive(
    true: NDArray[np.int64], question: Closed, accuracy: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The code that each person sees: the true one with probability `accuracy`, else another definite one."""
    definite = np.asarray(question.definite)
    shift = rng.integers(1, len(definite), len(true))
    wrong = definite[(np.searchsorted(definite, true) + shift) % len(definite)]
    return np.where(rng.random(len(true)) < accuracy, true, wrong)


def draw_second_looks(true: NDArray[np.int64], question: Closed, habits: Habits, seed: int) -> NDArray[np.int64]:
    """The definite code that validators see, shape `(n,)`, or -1 for a skip; they agree with a label that is the same.

    They see what is true as often as annotators do, so that most wrong labels are disagreed with.

    Args:
        true: the true code of the pair of each verdict, shape `(n,)`.
        question: the answers that there are.
        habits: how they answer.
        seed: of all that is drawn.
    """
    rng = np.random.default_rng([seed, 2])
    codes = _perceive(true, question, habits.accuracy, rng)
    return np.where(rng.random(len(true)) < habits.skips, NO_CODE, codes)


def draw_seconds(n: int, seed: int) -> NDArray[np.float64]:
    """Draw the seconds that each answer took, shape `(n,)`: log-normal around 9 seconds."""
    return np.round(np.random.default_rng([seed, 3]).lognormal(np.log(9.0), 0.5, n), 1)


def draw_attributes(n: int, questions: Mapping[str, Sequence[str]], seed: int) -> list[dict[str, str]]:
    """Draw what each of `n` people says about themselves: an option of every question, all about equally often.

    A question without options is left open.
    """
    rng = np.random.default_rng([seed, 4])
    drawn = {label: rng.permutation(np.arange(n) % len(options)) for label, options in questions.items() if options}
    return [{label: questions[label][order[at]] for label, order in drawn.items()} for at in range(n)]
