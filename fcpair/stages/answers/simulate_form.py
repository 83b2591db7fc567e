"""Simulated people before a form of any questions: what is true of a cell, and what each of them says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import Habits, answers, truths
from fcpair.stages.questions import AnyOf, Closed, Curate, Edit, Form, Question, Text
from fcpair.stages.questions.form import Answer

Ints = NDArray[np.int64]
LEFT_ALONE = 0.5  # the share of texts to be edited that are good as they are
REJECTED = 0.2  # and of texts to be curated that are rejected
_SAID = (
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
"""What simulated people write: one sentence of each row, and so on until it is long enough."""


def form_truths(n_cells: int, form: Form, positive: float, seed: int) -> Ints:
    """The true code of each cell in each part of a form, `(n_cells, n_parts)`; of each part as `truths` draws it."""
    parts = [truths(n_cells, part.question, positive, _of(seed, at)) for at, part in enumerate(form.parts())]
    return np.array(parts, np.int64).reshape(len(parts), n_cells).T


def fill_in(true: Ints, form: Form, habits: Habits, seed: int, given: Sequence[str] = ()) -> list[Answer | None]:
    """What people answer, one for each row of `true`; None for a skip.

    Args:
        true: the true codes of the cell of each answer, shape `(n, n_parts)`.
        form: what they are asked.
        habits: how they answer, without a leaning.
        seed: of all that is drawn.
        given: the text that each is given to edit, where the form asks for that.
    """
    n, rng = len(true), np.random.default_rng([seed, 1])
    skipped = rng.random(n) < habits.skips
    seen = np.empty_like(true)
    for at, part in enumerate(form.parts()):
        seen[:, at] = answers(true[:, at], part.question, replace(habits, skips=0.0), _of(seed, at))
    columns, first = [], 0
    for name, question in form.questions:
        n_parts = len(question.parts())
        columns.append((name, list(_said(question, seen[:, first : first + n_parts], rng, given))))
        first += n_parts
    return [None if skipped[at] else _asked(form, {name: said[at] for name, said in columns}) for at in range(n)]


def _asked(form: Form, said: Answer) -> Answer:
    """The same without what is not asked after it."""
    answer: Answer = {}
    for name, one in said.items():
        answer[name] = one if form.is_asked(name, answer) else None
    return answer


def _of(seed: int, part: int) -> int:
    return seed if part == 0 else int(np.random.SeedSequence([seed, part]).generate_state(1)[0])


def _said(question: Question[Any], codes: Ints, rng: np.random.Generator, given: Sequence[str]) -> Iterator[Any]:
    """The answers to one question, from the codes of its parts, shape `(n, n_parts)`."""
    if isinstance(question, Closed):
        yield from codes[:, 0].tolist()
    elif isinstance(question, AnyOf):
        yield from (_chosen(question, row) for row in codes.astype(bool))
    elif isinstance(question, Edit):
        alone = rng.random(len(codes)) < LEFT_ALONE
        kept = (_edited(question, text, rng, alone=as_is) for text, as_is in zip(given, alone.tolist(), strict=True))
        yield from (_curated(question, text, rng) for text in kept) if isinstance(question, Curate) else kept
    elif isinstance(question, Text):
        yield from (_written(question, "", rng) for _ in codes)


def _chosen(question: AnyOf, chosen: NDArray[np.bool_]) -> int:
    """The labels that are seen, without the last of too many, and with the first of the others where too few are."""
    wanted = np.flatnonzero(chosen).tolist() + np.flatnonzero(~chosen).tolist()
    most = len(wanted) if question.max is None else question.max
    n = min(max(int(chosen.sum()), question.min), most)
    return sum(1 << at for at in wanted[:n])


def _edited(question: Edit, text: str, rng: np.random.Generator, *, alone: bool) -> str:
    return text if alone and _is_taken(question, text) else _written(question, text, rng)


def _is_taken(question: Edit, text: str) -> bool:
    try:
        return question.load(text) == text
    except InputError:
        return False


def _curated(question: Curate, text: str, rng: np.random.Generator) -> str:
    """The text, or a rejection for one of the reasons; always that where the text cannot be kept."""
    is_rejected = rng.random() < REJECTED or not _is_taken(question, text)
    return question.load({"reject": str(rng.choice(question.reasons))}) if is_rejected else text


def _written(question: Text, begun: str, rng: np.random.Generator) -> str:
    """Sentences behind what has begun, as many words as may be and at least as many as must be; its lines stay."""
    words, n_begun = begun.split(), len(begun.split())
    own = [rng.choice(row) for row in _SAID]
    while len(words) < max(question.min_words, 1) or own:
        words += str(own.pop(0) if own else rng.choice(_SAID[-1])).split()
    if question.max_words is not None and n_begun >= question.max_words:
        return " ".join(words[: question.max_words])
    return " ".join([*([begun.rstrip()] if begun.strip() else []), *words[n_begun : question.max_words]])
