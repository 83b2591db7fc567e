"""Answers of each person in the rounds of a planned grid, question by question."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fcpair.records import Person
from fcpair.stages.questions import AnyOf, Closed, Question
from fcpair.steps.answers.answer_tables import export_answers
from fcpair.steps.base.answer_values import MOST_CHOICES, form_of
from fcpair.steps.base.context import GridContext
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.people.people import people

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class PersonShares:
    """Counts of one person's current answers to a question, by its choices, and the time that a cell took them."""

    name: str
    retired: bool
    n_answers: int
    answers: tuple[int, ...]
    skipped: int
    notes: int
    median_s: float | None
    n_timed: int


@dataclass(frozen=True)
class QuestionShares:
    """Everybody's answers to one `question` of a `round`; without choices where a text is written."""

    round: str
    question: str
    choices: tuple[str, ...]
    people: tuple[PersonShares, ...]


def question_shares(grid: GridContext) -> tuple[QuestionShares, ...]:
    """The answers to every question that somebody has answered, in the order of the rounds and questions of a grid."""
    with grid._store.read() as tx:
        forms = {one.name: _questions(tx, one.ids) for one in rounds.of_grid(tx)}
        everybody = people(tx)
    tables = ((name, questions, export_answers(grid, name)) for name, questions in forms.items())
    return tuple(
        _shares_of_question(name, question, choices, table, everybody)
        for name, questions, table in tables
        for question, choices in questions.items()
        if (table[question] != "").any()
    )


def _questions(tx: Tx, round_ids: tuple[int, ...]) -> dict[str, tuple[str, ...]]:
    """The questions of a round, blind or not, with their choices."""
    forms = (form_of(rounds.form(tx, one)) for one in round_ids)
    return {name: _choices(question) for form in forms for name, question in form.questions}


def _choices(question: Question[int] | Question[str]) -> tuple[str, ...]:
    if isinstance(question, AnyOf):
        return question.names
    names = tuple(choice.name for choice in question) if isinstance(question, Closed) else ()
    return names if len(names) <= MOST_CHOICES else ()


def _shares_of_question(
    round_: str, question: str, choices: tuple[str, ...], table: pd.DataFrame, everybody: list[Person]
) -> QuestionShares:
    rows_by_person = ((person, table[table["by"] == person.name]) for person in everybody)
    people_ = tuple(_shares_of_person(person, rows, question, choices) for person, rows in rows_by_person if len(rows))
    return QuestionShares(round_, question, choices, people_)


def _shares_of_person(person: Person, rows: pd.DataFrame, question: str, choices: tuple[str, ...]) -> PersonShares:
    answers = rows[question][rows[question] != ""]
    n_by_choice = Counter(
        name for answer in answers for name in ([answer] if answer in choices else answer.split("; "))
    )
    seconds = rows["seconds"].dropna().astype(float)
    return PersonShares(
        name=person.name,
        retired=person.retired,
        n_answers=len(answers),
        answers=tuple(n_by_choice[name] for name in choices),
        skipped=int(rows["skipped"].sum()),
        notes=int((rows["note"] != "").sum()),
        median_s=float(seconds.median()) if len(seconds) else None,
        n_timed=len(seconds),
    )
