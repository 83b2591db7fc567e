"""The discussion of a calibration: the pairs on which people differ, what they answered, and what they noted.

Nobody is named, and nobody sees a pair here that they have not answered themselves, or whose topic they opted out of,
nor any before it is opened.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from fcpair.records import WORKERS, Role, Visitor
from fcpair.stages.questions import Form
from fcpair.stages.questions.wording import option_wordings
from fcpair.steps.adjudication.flags import load_flags
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.calibration_state import CalibrationState, Phase, load_calibration
from fcpair.steps.base.context import StudyContext, labels_of
from fcpair.steps.rules import permissions
from fcpair.steps.rules.wording import effective_words, side_words
from fcpair.store import Tx
from fcpair.store.answers import discussed_answers, task_queries
from fcpair.store.answers.discussed_answers import DiscussedAnswer
from fcpair.store.corpus import cells, grids
from fcpair.work_records import ShownText


@dataclass(frozen=True)
class DiscussedPair:
    """A pair on which people differ: its texts, the answers to it with how many gave each, and their notes.

    `column` is None where the round hides it. The most common answer comes first; `notes` are in no order that tells
    who wrote them. `own` is what the person who looks answered; None for a lead.
    """

    row: ShownText
    column: ShownText | None
    answers: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    own: str | None


@dataclass(frozen=True)
class Discussion:
    """The discussion in a grid, as somebody may see it: its pairs in the order in which they answer them again.

    `n_left` of the pairs they have still to answer again, None for a lead. `sentences` are those of the guidelines of
    which adjudicators noted that they should say more.
    """

    grid: str
    row_name: str
    column_name: str
    pairs: tuple[DiscussedPair, ...]
    n_left: int | None
    sentences: tuple[str, ...]


def discussions(study: StudyContext, visitor: Visitor) -> list[Discussion]:
    """The discussions that somebody may see: their own while they last, and of a lead all that were opened."""
    with study._store.read() as tx:
        return list(_discussions(tx, visitor))


def has_discussion(study: StudyContext, visitor: Visitor) -> bool:
    """Whether somebody who answers has a discussion to read now."""
    with study._store.read() as tx:
        return any(_cells_to_discuss(tx, state, visitor) for _, state in _open_states(tx, visitor))


def _open_states(tx: Tx, visitor: Visitor) -> Iterator[tuple[str, CalibrationState]]:
    """Yield the calibrations whose discussion a visitor may see, each with its grid, about which the transaction is."""
    phases = {Phase.DISCUSS, Phase.CLOSED} if visitor.role is Role.LEAD else {Phase.DISCUSS}
    for key in grids.for_each_grid(tx):
        state = load_calibration(tx)
        if state and state.phase in phases and visitor.role in {Role.LEAD, *WORKERS} & {Role.LEAD, state.again.role}:
            yield key.name, state


def _discussions(tx: Tx, visitor: Visitor) -> Iterator[Discussion]:
    person_id = None if visitor.role is Role.LEAD else visitor.id
    words = effective_words(tx).in_language(visitor.language)
    for grid, state in _open_states(tx, visitor):
        cell_ids = _cells_to_discuss(tx, state, visitor)
        if not cell_ids and person_id is not None:
            continue
        row_name, column_name = grids.side_names(tx)
        row, column, _, _ = side_words(tx, words)
        texts = option_wordings(form_of(state.first.form).as_json(), words, grid)
        names = {name: parts["text"] for name, parts in texts.items() if "text" in parts}
        yield Discussion(
            grid,
            row.text or row_name,
            column.text or column_name,
            tuple(_discussed_pairs(tx, state, cell_ids, person_id, names)),
            None if person_id is None else task_queries.n_open(tx, person_id, state.again),
            _flagged_sentences(tx),
        )


def _cells_to_discuss(tx: Tx, state: CalibrationState, visitor: Visitor) -> list[int]:
    """The pairs of a discussion that a visitor is to be shown, in the order in which they are answered again."""
    if visitor.role is Role.LEAD:
        return discussed_answers.cells_to_discuss(tx, state.again)
    cell_ids = discussed_answers.cells_to_discuss(tx, state.again, visitor.id)
    spared = permissions.spared_pairs(tx, visitor.id, cell_ids)
    return [cell_id for cell_id in cell_ids if cell_id not in spared]


def _discussed_pairs(
    tx: Tx, state: CalibrationState, cell_ids: Sequence[int], person_id: int | None, names: Mapping[str, str]
) -> Iterator[DiscussedPair]:
    form = form_of(state.first.form)
    given: dict[int, list[DiscussedAnswer]] = {}
    for answer in discussed_answers.current_answers(tx, state.first, list(cell_ids)):
        given.setdefault(answer.cell_id, []).append(answer)
    for cell_id in cell_ids:
        answers = given.get(cell_id, [])
        row, column = (ShownText(one["body"], one["language"] or None) for one in cells.texts_of(tx, cell_id))
        counts = Counter(_answer_text(form, one.value, names) for one in answers)
        notes = sorted(one.note for one in answers if one.note)
        random.Random(cell_id).shuffle(notes)
        own = next((_answer_text(form, one.value, names) for one in answers if one.person_id == person_id), None)
        by_number = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        shown_column = None if state.first.options.hides_column else column
        yield DiscussedPair(row, shown_column, tuple(by_number), tuple(notes), own)


def _answer_text(form: Form, value: str, names: Mapping[str, str]) -> str:
    """An answer as people read it, in the wording of the study; of several questions each with its name."""
    said = {name: names.get(text, text) for name, text in form.names(form.load(value)).items()}
    return "; ".join(f"{name}: {text}" for name, text in said.items()) if len(said) > 1 else next(iter(said.values()))


def _flagged_sentences(tx: Tx) -> tuple[str, ...]:
    """The sentences of the guidelines at which a lead has put the flags of the grid, each once."""
    flags = load_flags(tx) if labels_of(tx) else []
    return tuple(dict.fromkeys(flag.sentence for flag in flags if flag.sentence))
