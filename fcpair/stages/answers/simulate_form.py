"""Simulated people before a form of any questions: what is true of a cell, and what each of them says of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.stages.answers.simulate import Habits, draw_answers, draw_truths
from fcpair.stages.questions import AnyOf, Closed, Curate, Edit, Form, Question, Text
from fcpair.stages.questions.form import Answer

Ints = NDArray[np.int64]
LEFT_ALONE = 0.5  # the share of texts to be edited that are good as they are
REJECTED = 0.2  # and of texts to be curated that are rejected
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
"""What simulated people write: one sentence of each row, and so on until it is long enough."""


def draw_form_truths(n_cells: int, form: Form, positive: float, seed: int) -> Ints:
    """The true code of each cell in each part of a form, `(n_cells, n_parts)`; of each part as `truths` draws it."""
    parts = [
        draw_truths(n_cells, part.question, positive, _part_seed(seed, at)) for at, part in enumerate(form.parts())
    ]
    return np.array(parts, np.int64).reshape(len(parts), n_cells).T


def draw_form_answers(
    true: Ints, form: Form, habits: Habits, seed: int, texts_to_edit: Sequence[str] = ()
) -> list[Answer | None]:
    """Draw people's answers, one for each row of `true`; None for a skip.

    Args:
        true: the true codes of the cell of each answer, shape `(n, n_parts)`.
        form: what they are asked.
        habits: how they answer, without a leaning.
        seed: of all that is drawn.
        texts_to_edit: the text that each is given to edit, where the form asks for that.
    """
    n, rng = len(true), np.random.default_rng([seed, 1])
    skipped = rng.random(n) < habits.skips
    codes = np.empty_like(true)
    for at, part in enumerate(form.parts()):
        codes[:, at] = draw_answers(true[:, at], part.question, replace(habits, skips=0.0), _part_seed(seed, at))
    columns, first = [], 0
    for name, question in form.questions:
        n_parts = len(question.parts())
        columns.append((name, list(_draw_question(question, codes[:, first : first + n_parts], rng, texts_to_edit))))
        first += n_parts
    return [
        None if skipped[at] else _drop_unasked(form, {name: values[at] for name, values in columns}) for at in range(n)
    ]


def _drop_unasked(form: Form, full_answer: Answer) -> Answer:
    """The same without what is not asked after it."""
    answer: Answer = {}
    for name, value in full_answer.items():
        answer[name] = value if form.is_asked(name, answer) else None
    return answer


def _part_seed(seed: int, part: int) -> int:
    return seed if part == 0 else int(np.random.SeedSequence([seed, part]).generate_state(1)[0])


def _draw_question(
    question: Question[Any], codes: Ints, rng: np.random.Generator, texts_to_edit: Sequence[str]
) -> Iterator[Any]:
    """The answers to one question, from the codes of its parts, shape `(n, n_parts)`."""
    if isinstance(question, Closed):
        yield from codes[:, 0].tolist()
    elif isinstance(question, AnyOf):
        yield from (_pick_labels(question, row) for row in codes.astype(bool))
    elif isinstance(question, Edit):
        alone = rng.random(len(codes)) < LEFT_ALONE
        edited = (
            _edit_text(question, text, rng, alone=as_is)
            for text, as_is in zip(texts_to_edit, alone.tolist(), strict=True)
        )
        yield from (_curate_text(question, text, rng) for text in edited) if isinstance(question, Curate) else edited
    elif isinstance(question, Text):
        yield from (_write_text(question, "", rng) for _ in codes)


def _pick_labels(question: AnyOf, chosen: NDArray[np.bool_]) -> int:
    """The labels that are seen, without the last of too many, and with the first of the others where too few are."""
    ranked = np.flatnonzero(chosen).tolist() + np.flatnonzero(~chosen).tolist()
    most = len(ranked) if question.max is None else question.max
    n = min(max(int(chosen.sum()), question.min), most)
    return sum(1 << at for at in ranked[:n])


def _edit_text(question: Edit, text: str, rng: np.random.Generator, *, alone: bool) -> str:
    return text if alone and _is_taken(question, text) else _write_text(question, text, rng)


def _is_taken(question: Edit, text: str) -> bool:
    try:
        return question.load(text) == text
    except InputError:
        return False


def _curate_text(question: Curate, text: str, rng: np.random.Generator) -> str:
    """The text, or a rejection for one of the reasons; always that where the text cannot be kept."""
    is_rejected = rng.random() < REJECTED or not _is_taken(question, text)
    return question.load({"reject": str(rng.choice(question.reasons))}) if is_rejected else text


def _write_text(question: Text, begun: str, rng: np.random.Generator) -> str:
    """Sentences behind what has begun, as many words as may be and at least as many as must be; its lines stay."""
    words, n_begun = begun.split(), len(begun.split())
    sentences = [rng.choice(row) for row in _SENTENCES]
    while len(words) < max(question.min_words, 1) or sentences:
        words += str(sentences.pop(0) if sentences else rng.choice(_SENTENCES[-1])).split()
    if question.max_words is not None and n_begun >= question.max_words:
        return " ".join(words[: question.max_words])
    return " ".join([*([begun.rstrip()] if begun.strip() else []), *words[n_begun : question.max_words]])
