"""Rounds with the answers that they can have; and answers as clients send them, a form takes and a round keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from fcpair.errors import InputError
from fcpair.records import Role, Round
from fcpair.stages.corpus.text_identity import digest, fold_by
from fcpair.stages.questions import NO_CODE, SKIP, Closed, Form, parse_form
from fcpair.stages.questions.form import Answer
from fcpair.steps.base.text_digests import folding
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells

MOST_CHOICES = 20  # where answers are counted one by one: of a question with more, only their number is


@lru_cache
def form_of(printed: str) -> Form:
    """The form of a round."""
    return parse_form(printed)


def current_form(round_: Round) -> str:
    """The form of a round as a new study could have it, without the names that labels had before."""
    return str(form_of(round_.form).current)


def closed_question(form: Form) -> Closed | None:
    """The question of a form that asks one closed question, whose answers have codes; None for any other form."""
    question = form.questions[0][1]
    return question if len(form.questions) == 1 and isinstance(question, Closed) else None


def parse_answer(form: Form, submitted: Any) -> Answer:
    """The answer that a client sent: what the only question stores, or of several an object with each by its name."""
    names = [name for name, _ in form.questions]
    if len(names) == 1:
        try:
            return form.load_submitted({names[0]: submitted})
        except InputError as error:
            raise InputError.say("%(problem)s or %(answer)s", problem=str(error), answer=SKIP) from None
    if not isinstance(submitted, dict):
        raise InputError.say("there are several questions here; expected an object with %(names)s", names=names)
    return form.load_submitted(submitted)


def text_sent(form: Form, submitted: Any) -> str | None:
    """The text that a client sent, in what may be no answer to the form; None where it sent none, as to reject one."""
    if len(form.questions) > 1:
        submitted = submitted.get(form.written_question) if isinstance(submitted, Mapping) else None
    return submitted if isinstance(submitted, str) else None


def parse_submitted(tx: Tx, round_id: int, printed: str, cell_id: int, submitted: Any) -> rounds.Answer:
    """Parse what a client sent to the form of a round into what the round stores; raises what `parse_answer` raises."""
    stored_answer = _closed_answers(printed).get(submitted) if isinstance(submitted, str | int | float) else None
    if stored_answer:
        return stored_answer
    form = form_of(printed)
    if not (form.written_question or form.has_always):
        return to_stored(form, parse_answer(form, submitted))
    contexts = _cell_contexts(tx, rounds.by_id(tx, round_id), form, [cell_id])
    return to_stored(form, parse_answer(form, submitted), contexts.get(cell_id), fold_by(folding(tx)))


def answer_numbers(
    tx: Tx, round_: Round, form: Form, answers: Sequence[Answer | None], cell_ids: Sequence[int]
) -> list[int]:
    """The numbers of answers in a round, each on its cell; -1 for none."""
    contexts = _cell_contexts(tx, round_, form, cell_ids)
    fold = fold_by(folding(tx)) if contexts else str
    answers_on_cells = zip(answers, cell_ids, strict=True)
    stored_answers = [
        to_stored(form, answer, contexts.get(cell), fold) for answer, cell in answers_on_cells if answer is not None
    ]
    answer_ids = iter(rounds.get_or_add_answers(tx, round_.id, stored_answers))
    return [NO_CODE if answer is None else next(answer_ids) for answer in answers]


def _cell_contexts(tx: Tx, round_: Round, form: Form, cell_ids: Iterable[int]) -> dict[int, cells.CellContent]:
    """Contents of these cells by id, where answers to the form depend on them; empty elsewhere, and in older rounds."""
    return (
        cells.cell_contents(tx, cell_ids, rewords=round_.options.rewords_rows)
        if round_.options.answers_rows and (form.written_question or form.has_always)
        else {}
    )


@lru_cache
def _closed_answers(printed: str) -> dict[Any, rounds.Answer]:
    """The answers to a form that asks one closed question, as they are sent and as they are kept: most are these."""
    form = form_of(printed)
    question = closed_question(form)
    answers = ({form.questions[0][0]: code} for code in (question.codes if question else ()))
    return {to_client(form.store(answer)): to_stored(form, answer) for answer in answers}


def to_client(value: str) -> Any:
    """Turn an answer that a round stores as `value` back into what a client would have sent."""
    answers = json.loads(value)
    return answers if len(answers) > 1 else next(iter(answers.values()))


def format_answer(form: Form, value: str, texts: Mapping[str, str] = MappingProxyType({})) -> str:
    """An answer that a round keeps as `value`, by the `texts` of options; of several questions each with its name."""
    names = {name: texts.get(said, said) for name, said in form.names(form.load(value)).items()}
    return "; ".join(f"{name}: {said}" if len(names) > 1 else said for name, said in names.items())


def to_stored(
    form: Form, answer: Answer, context: cells.CellContent | None = None, fold: Callable[[str], str] = str
) -> rounds.Answer:
    """An answer as a round keeps it on a cell; a text that it wrote is known by its words after `fold`, and its row."""
    answer = form.complete(answer, context.column) if context and form.has_always else answer
    code = answer[form.questions[0][0]] if closed_question(form) else None
    body = form.text(answer)
    if body is None or context is None:
        text = None if body is None else (digest(body), body)
        return rounds.Answer(_sha256(form.key(answer)), form.store(answer), code, text)
    answer_digest, text_digest = (
        _sha256(f"{part}\n{context.digest}") for part in (fold(form.key(answer)), digest(fold(body)))
    )
    return rounds.Answer(answer_digest, form.store(answer), code, (text_digest, body), context.answers, context.meta)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def add_round(tx: Tx, grid_id: int, name: str, role: Role, form: Form, **round_options: Any) -> int:
    """Add a round of a grid, as `rounds.add` takes it, with the answers that its form can have; returns its id."""
    question = closed_question(form)
    possible = (to_stored(form, {form.questions[0][0]: code}) for code in (question.codes if question else ()))
    return rounds.add(tx, grid_id, name, role, str(form), possible, **round_options)
