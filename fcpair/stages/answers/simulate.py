"""Simulated people, for planning and demonstrating a study, who answer a form by what is true of a cell.

Before texts that differ, the model is that of `latent_labels`: what a pair is like is a number, which each person sees
with some noise and their own leniency. Along it lie the negative answers, those that are not definite, and the positive
ones. The noise is such that two people agree as far as without effects, at the same accuracy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fcpair.arrays import Floats, Ints
from fcpair.errors import InputError
from fcpair.lazy import scipy
from fcpair.stages.corpus.comparisons import LETTERS
from fcpair.stages.questions import NO_CODE, AnyOf, Closed, Curate, Edit, Form, Question, Text
from fcpair.stages.questions.form import Answer
from fcpair.stages.stats.latent_labels import Effects, class_model_at, fit_effects


@dataclass(frozen=True)
class Habits:
    """Habits of simulated people, probabilities: that a pair is truly `positive`, that people see what is true
    (`accuracy`), always give the code `leaning_to` (`leaning`), an indefinite answer (`unsure`), or none (`skips`).
    """

    positive: float
    accuracy: float
    leaning: float
    leaning_to: int
    unsure: float
    skips: float


# Probability that a simulated person takes over, in a discussion, the answer that most others gave.
MOVES_TO_MAJORITY = 0.5


def draw_second_answers(cell: Ints, answer: Ints, seed: int) -> Ints:
    """Draw what people answer after a discussion, from `cell` and `answer` before it, all `(n,)`: with probability
    MOVES_TO_MAJORITY the most common answer on a cell; where two are equally common, all keep theirs.
    """
    cells, at = np.unique(cell, return_inverse=True)
    answers, which = np.unique(answer, return_inverse=True)
    n_given = np.zeros((len(cells), len(answers)), np.int64)
    np.add.at(n_given, (at, which), 1)
    has_majority = (n_given == n_given.max(axis=1, keepdims=True)).sum(axis=1) == 1
    moves = (np.random.default_rng([seed, 5]).random(len(cell)) < MOVES_TO_MAJORITY) & has_majority[at]
    return np.where(moves, answers[n_given.argmax(axis=1)][at], answer)


def draw_truths(n_pairs: int, question: Closed, positive: float, seed: int) -> Ints:
    """The true code of each of `n_pairs` pairs, shape `(n_pairs,)`; all alike if no answer is positive, or each is."""
    rng = np.random.default_rng([seed, 0])
    others = [code for code in question.definite if code not in question.positive]
    is_positive = rng.random(n_pairs) < positive
    drawn = [rng.choice(codes or question.definite, n_pairs) for codes in (question.positive, others)]
    return np.where(is_positive, *drawn)


def draw_answers(true: Ints, question: Closed, habits: Habits, seed: int) -> Ints:
    """Draw the answers of annotators to pairs with these true codes, shape `(n,)`: a code, or -1 for a skip."""
    rng = np.random.default_rng([seed, 1])
    return add_leaning_and_skips(_perceive(true, question, habits.accuracy, rng), habits, question, rng)


def add_leaning_and_skips(codes: Ints, habits: Habits, question: Closed, rng: np.random.Generator) -> Ints:
    """The answers of people who see these codes, some of whom lean, are not sure, or skip (-1), shape `(n,)`."""
    n = len(codes)
    codes = np.where(rng.random(n) < habits.leaning, habits.leaning_to, codes)
    if indefinite := [code for code in question.codes if code not in question.definite]:
        codes = np.where(rng.random(n) < habits.unsure, rng.choice(indefinite, n), codes)
    return np.where(rng.random(n) < habits.skips, NO_CODE, codes)


def _perceive(true: Ints, question: Closed, accuracy: float, rng: np.random.Generator) -> Ints:
    """The code that each person sees: the true one with probability `accuracy`, else another definite one."""
    definite = np.asarray(question.definite)
    wrong = definite[(np.searchsorted(definite, true) + rng.integers(1, len(definite), len(true))) % len(definite)]
    return np.where(rng.random(len(true)) < accuracy, true, wrong)


def draw_second_looks(true: Ints, question: Closed, habits: Habits, seed: int) -> Ints:
    """The definite code that validators see of pairs with these true codes, as annotators do, or -1 for a skip."""
    rng = np.random.default_rng([seed, 2])
    codes = _perceive(true, question, habits.accuracy, rng)  # drawn before the skips
    return np.where(rng.random(len(true)) < habits.skips, NO_CODE, codes)


def draw_seconds(n: int, seed: int) -> Floats:
    """Draw the seconds that each answer took, shape `(n,)`: log-normal around 9 seconds."""
    return np.round(np.random.default_rng([seed, 3]).lognormal(np.log(9.0), 0.5, n), 1)


def draw_attributes(n: int, questions: Mapping[str, Sequence[str]], seed: int) -> list[dict[str, str]]:
    """Draw what each of `n` people says about themselves: an option of every question, each about as often."""
    rng = np.random.default_rng([seed, 4])
    drawn = {label: rng.permutation(np.arange(n) % len(options)) for label, options in questions.items() if options}
    return [{label: questions[label][order[at]] for label, order in drawn.items()} for at in range(n)]


LEFT_ALONE = 0.5  # the share of texts to be edited that are good as they are
REJECTED = 0.2  # and of texts to be curated that are rejected
# What simulated people write: one sentence of each row, and so on until it is long enough.
_SENTENCES = (
    (
        "I see this another way.",
        "Where I live, it has not been like that.",
        "May I ask where you read this?",
        "That is a lot to say about so many people.",
        "I used to think so, too.",
        "Let me tell you about my aunt.",
    ),
    (
        "My neighbours tell another story.",
        "The numbers that I know say something else.",
        "I would not say so.",
        "Most of them are like you and me.",
        "There is more than one reason for it.",
        "Nobody is hurt by it.",
    ),
    (
        "We could find out together.",
        "Let us look at it once more.",
        "There is room for all of us.",
        "I wish you well.",
        "What would change your mind?",
        "Shall we talk about it over a cup of tea?",
    ),
)


def draw_form_truths(n_cells: int, form: Form, positive: float, seed: int) -> Ints:
    """The true code of each cell in each part of a form, `(n_cells, n_parts)`; of each part as `truths` draws it."""
    parts = enumerate(form.parts())
    truths = [draw_truths(n_cells, part.question, positive, _part_seed(seed, at)) for at, part in parts]
    return np.array(truths, np.int64).reshape(len(truths), n_cells).T


def compared_truths(shown: Ints, form: Form, seed: int) -> Ints:
    """The true code of each comparison in each part of a form, `(n, n_parts)`: for `worst` the letter of the worst
    text, else that of the best. How good a text is, by its id in `shown` `(n, size)`, is a standard normal number.
    """
    ids, place = np.unique(shown, return_inverse=True)
    merit = np.random.default_rng([seed, 8]).normal(size=len(ids))[place.reshape(shown.shape)]
    places, truths = {True: merit.argmin(axis=1), False: merit.argmax(axis=1)}, []
    for part in form.parts():
        codes = {choice.name: choice.code for choice in part.question}
        letters = [codes.get(letter, part.question.codes[0]) for letter in LETTERS[: shown.shape[1]]]
        truths.append(np.array(letters)[places[part.name == "worst"]])
    return np.array(truths, np.int64).reshape(len(truths), len(shown)).T


def draw_form_answers(
    true: Ints, form: Form, habits: Habits, seed: int, texts_to_edit: Sequence[str] = ()
) -> list[Answer | None]:
    """Draw people's answers, one for each row of `true`, the codes of its cell `(n, n_parts)`; None for a skip.
    `texts_to_edit` has the text that each is given to edit, where the form asks for that. `habits` lean to nothing.
    """
    n, rng = len(true), np.random.default_rng([seed, 1])
    skipped = rng.random(n) < habits.skips
    codes, unskipping = np.empty_like(true), replace(habits, skips=0.0)
    for at, part in enumerate(form.parts()):
        codes[:, at] = draw_answers(true[:, at], part.question, unskipping, _part_seed(seed, at))
    columns, first = [], 0
    for name, question in form.questions:
        n_parts = len(question.parts())
        columns.append((name, list(_draw_question(question, codes[:, first : first + n_parts], rng, texts_to_edit))))
        first += n_parts
    answers: list[Answer | None] = []
    unlike = dict(form.unlike)
    for at in range(n):
        answer: Answer = {}
        for name, values in columns:
            answer[name] = values[at] if form.is_asked(name, answer) else None
            question, other = form[name], unlike.get(name)
            if isinstance(question, Closed) and other and answer[name] == answer[other]:  # the next one that is left
                definite = question.definite
                answer[name] = definite[(definite.index(values[at]) + 1) % len(definite)]
        answers.append(None if skipped[at] else answer)
    return answers


def _part_seed(seed: int, part: int) -> int:
    return seed if part == 0 else int(np.random.SeedSequence([seed, part]).generate_state(1)[0])


def _draw_question(
    question: Question[Any], codes: Ints, rng: np.random.Generator, texts_to_edit: Sequence[str]
) -> Iterator[Any]:
    """The answers to one question, from the codes of its parts, shape `(n, n_parts)`."""
    if isinstance(question, Closed):
        yield from codes[:, 0].tolist()
    elif isinstance(question, AnyOf):
        for chosen in codes.astype(bool):  # without the last of too many, with the first others where too few are seen
            ranked = np.flatnonzero(chosen).tolist() + np.flatnonzero(~chosen).tolist()
            yield sum(1 << at for at in ranked[: min(max(int(chosen.sum()), question.min), question.most)])
    elif isinstance(question, Edit):
        alone = rng.random(len(codes)) < LEFT_ALONE
        for given_text, as_is in zip(texts_to_edit, alone.tolist(), strict=True):
            text = given_text if as_is and _is_taken(question, given_text) else _write_text(question, given_text, rng)
            if isinstance(question, Curate) and (rng.random() < REJECTED or not _is_taken(question, text)):
                text = question.load({"reject": str(rng.choice(question.reasons))})
            yield text
    elif isinstance(question, Text):
        yield from (_write_text(question, "", rng) for _ in codes)


def _is_taken(question: Edit, text: str) -> bool:
    try:
        return question.load(text) == text
    except InputError:
        return False


def _write_text(question: Text, begun: str, rng: np.random.Generator) -> str:
    """Sentences behind what has begun, as many words as may be and at least as many as must be; its lines stay."""
    words, n_begun = begun.split(), len(begun.split())
    sentences = [rng.choice(row) for row in _SENTENCES]
    while len(words) < max(question.min_words, 1) or sentences:
        words += str(sentences.pop(0) if sentences else rng.choice(_SENTENCES[-1])).split()
    if question.max_words is not None and n_begun >= question.max_words:
        return " ".join(words[: question.max_words])
    return " ".join([*([begun.rstrip()] if begun.strip() else []), *words[n_begun : question.max_words]])


def fit_habits(question: Closed, habits: Habits, effects: Effects) -> Effects:
    """The model with these effects whose labels have the shares and the kappa that `habits` lead to without any.

    Raises InputError where the question has no positive or no negative answer, or people as different as these cannot
    agree as far as the accuracy has it.
    """
    codes = list(question.codes)
    not_sure = 0.0 if len(question.definite) == len(codes) else habits.unsure
    model = class_model_at(question, habits.positive, not_sure, habits.accuracy)
    shares = model.shares[[codes.index(code) for code in _ordered(question)]]
    try:
        return fit_effects(effects, shares, model.kappa)
    except InputError as error:
        raise InputError(f"at accuracy {habits.accuracy:g}, {error}") from None


def _ordered(question: Closed) -> list[int]:
    """The codes along what pairs are like: negative ones, those that are not definite, positive ones."""
    sure = [code for code in question.definite if code not in question.positive]
    return [*sure, *[code for code in question.codes if code not in question.definite], *sorted(question.positive)]


def draw_pairs(hs: Ints, cn: Ints, effects: Effects, seed: int) -> Floats:
    """Effect of each pair, by the numbers of its texts, shape `(n_pairs,)`: normal, with variance 1."""
    rng = np.random.default_rng([seed, 5])
    of_hs, of_cn = (np.unique(ids, return_inverse=True)[1] for ids in (hs, cn))
    drawn = rng.normal(0, (1 - effects.hs - effects.cn) ** 0.5, len(hs))
    drawn += rng.normal(0, effects.hs**0.5, int(of_hs.max(initial=-1)) + 1)[of_hs]
    drawn += rng.normal(0, effects.cn**0.5, int(of_cn.max(initial=-1)) + 1)[of_cn]
    return np.asarray(drawn)


def true_codes(pairs: Floats, question: Closed, positive: float) -> Ints:
    """The true code of each pair: a share `positive` of endlessly many is positive; answers of a kind are as many."""
    codes = [code for code in _ordered(question) if code in question.definite]
    n_positive, n_negative = len(question.positive), len(codes) - len(question.positive)
    shares = [(1 - positive) / n_negative] * n_negative + [positive / n_positive] * n_positive
    return np.asarray(codes)[np.searchsorted(scipy.special.ndtri(np.minimum(np.cumsum(shares)[:-1], 1.0)), pairs)]


def draw_leniency(person_ids: Ints, effects: Effects, seed: int) -> Floats:
    """Leniency of each of these people, shape `(n,)`: the same for a person whenever it is asked."""
    ids, place = np.unique(person_ids, return_inverse=True)
    drawn = [np.random.default_rng([seed, 6, int(person_id)]).normal(0, effects.leniency) for person_id in ids]
    return np.asarray(drawn, np.float64)[place]


def draw_latent_answers(
    pairs: Floats, leniency: Floats, question: Closed, model: Effects, habits: Habits, seed: int
) -> Ints:
    """Draw the answers of annotators, a code, or -1 for a skip, by what each pair is like and how lenient who answers,
    all `(n,)`. `model` is from `fit_habits`.
    """
    rng = np.random.default_rng([seed, 7])
    seen = pairs + leniency + model.noise * rng.normal(size=len(pairs))
    codes = np.asarray(_ordered(question))[np.searchsorted(model.thresholds, seen)]
    return add_leaning_and_skips(codes, replace(habits, unsure=0.0), question, rng)
