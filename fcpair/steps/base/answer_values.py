"""Answers on their way into the study and back: as clients send them, as a form takes them, as a round keeps them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from fcpair.errors import InputError
from fcpair.records import Round
from fcpair.stages.corpus.folding import fold_by
from fcpair.stages.corpus.text_identity import digest
from fcpair.stages.questions import NO_CODE, SKIP, Closed, Form, parse_form
from fcpair.stages.questions.form import Answer
from fcpair.steps.base.text_digests import folding
from fcpair.store import Tx
from fcpair.store.assignment import distinct_answers, rounds
from fcpair.store.corpus import cells


@lru_cache
def form_of(printed: str) -> Form:
    """The form of a round."""
    return parse_form(printed)


def closed_question(form: Form) -> Closed | None:
    """The question of a form that asks one closed question, whose answers have codes; None for any other form."""
    question = form.questions[0][1]
    return question if len(form.questions) == 1 and isinstance(question, Closed) else None


def take(form: Form, given: Any) -> Answer:
    """The answer that a client sent: what the only question stores, or of several an object with each by its name.

    Raises:
        InputError: what is not an answer to the form, all of it.
    """
    names = [name for name, _ in form.questions]
    if len(names) == 1:
        try:
            return form.take({names[0]: given})
        except InputError as error:
            raise InputError(f"{error} or {SKIP}") from None
    if not isinstance(given, dict):
        raise InputError(f"there are several questions here; expected an object with {', '.join(names)}")
    return form.take(given)


def text_sent(form: Form, given: Any) -> str | None:
    """The text that a client sent, in what may be no answer to the form; None where it sent none, as to reject one."""
    if len(form.questions) > 1:
        given = given.get(form.writes) if isinstance(given, Mapping) else None
    return given if isinstance(given, str) else None


def received(tx: Tx, round_id: int, printed: str, cell_id: int, given: Any) -> distinct_answers.Answer:
    """What a client sent to the form of a round, as that keeps it on a cell; raises what `take` does."""
    known = _known(printed).get(given) if isinstance(given, str | int | float) else None
    if known:
        return known
    form = form_of(printed)
    if not _depends(form):
        return kept(form, take(form, given))
    asked = _asked(tx, rounds.holding(tx, round_id), form, [cell_id])
    return kept(form, take(form, given), asked.get(cell_id), fold_by(folding(tx)))


def numbers(tx: Tx, of: Round, form: Form, said: Sequence[Answer | None], cell_ids: Sequence[int]) -> list[int]:
    """The numbers of answers in a round, each on its cell; -1 for none."""
    asked = _asked(tx, of, form, cell_ids)
    fold = fold_by(folding(tx)) if asked else str
    each = zip(said, cell_ids, strict=True)
    keep = [kept(form, answer, asked.get(cell), fold) for answer, cell in each if answer is not None]
    found = iter(distinct_answers.numbers(tx, of.id, keep))
    return [NO_CODE if answer is None else next(found) for answer in said]


def _asked(tx: Tx, of: Round, form: Form, cell_ids: Iterable[int]) -> dict[int, cells.Asked]:
    """What stands on these cells, where answers to the form depend on it; in older rounds, none does."""
    return (
        cells.asked(tx, cell_ids, rewords=of.options.rewords_rows) if of.options.answers_rows and _depends(form) else {}
    )


def _depends(form: Form) -> bool:
    return bool(form.writes or form.has_always)


@lru_cache
def _known(printed: str) -> dict[Any, distinct_answers.Answer]:
    """The answers to a form that asks one closed question, as they are sent and as they are kept: most are these."""
    form = form_of(printed)
    question = closed_question(form)
    given = ({form.questions[0][0]: code} for code in (question.codes if question else ()))
    return {as_sent(form.store(one)): kept(form, one) for one in given}


def as_sent(value: str) -> Any:
    """What a client would have sent for an answer that a round keeps as `value`."""
    given = json.loads(value)
    return given if len(given) > 1 else next(iter(given.values()))


def told(form: Form, value: str) -> str:
    """An answer that a round keeps as `value`, as people read it; of several questions each with its name."""
    names = form.names(form.load(value))
    return "; ".join(f"{name}: {said}" if len(names) > 1 else said for name, said in names.items())


def kept(
    form: Form, given: Answer, asked: cells.Asked | None = None, fold: Callable[[str], str] = str
) -> distinct_answers.Answer:
    """An answer as a round keeps it on a cell; where it wrote a text, the row that this answers belongs to it.

    Two texts are the same one where they are the same after `fold`.
    """
    given = form.complete(given, asked.column) if asked and form.has_always else given
    code = given[form.questions[0][0]] if closed_question(form) else None
    body = form.text(given)
    if body is None or asked is None:
        text = None if body is None else (digest(body), body)
        return distinct_answers.Answer(_sha256(form.key(given)), form.store(given), code, text)
    said, words = (_sha256(f"{own}\n{asked.digest}") for own in (fold(form.key(given)), digest(fold(body))))
    return distinct_answers.Answer(said, form.store(given), code, (words, body), asked.answers, asked.meta)


def _sha256(said: str) -> str:
    return hashlib.sha256(said.encode()).hexdigest()
