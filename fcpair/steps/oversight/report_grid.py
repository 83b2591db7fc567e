"""The part of a report about one planned grid: its rounds, what people and models did in them, and what was decided."""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any

from fcpair.params import Agree, Partition
from fcpair.records import Role, Round, Status
from fcpair.report.data import GridPart, ModelFigures, RoundPart, WrittenTexts
from fcpair.stages.questions import Closed
from fcpair.stages.questions.labels import VERDICT
from fcpair.stages.questions.text_question import Text, n_words
from fcpair.stages.stats.agreement import Block
from fcpair.stages.stats.rating_bins import fitting
from fcpair.steps.adjudication.agreement import blocks
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.answer_values import closed_question, form_of
from fcpair.steps.base.context import labels_of, own
from fcpair.steps.oversight import grid_status as planned
from fcpair.steps.oversight.answer_shares import MOST_CHOICES
from fcpair.steps.oversight.report_figures import decided, given_people, standing
from fcpair.steps.oversight.report_surveys import asked_part
from fcpair.steps.rules import round_progress
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd


def grid_part(tx: Tx, name: str, partition: Partition | None = None, agree: Agree | None = None) -> GridPart:
    """Everything about the planned grid that a transaction is about; by its own options where none are given."""
    rules, options = partition or own(tx, Partition, {}), agree or own(tx, Agree, {})
    given, question = assignments.counts(tx), labels_of(tx)
    labelled = bool(judgements.answered_cells(tx, rounds.counting(tx)))
    return GridPart(
        facts=planned.grid_facts(tx, name),
        look_again=tuple(look_again_notes(tx)),
        rounds=tuple(_round_part(tx, name, one, given, options) for one in rounds.rounds(tx)),
        decided=decided(tx, question, rules, standing(tx), labelled=labelled) if question else None,
        asked=asked_part(tx, name),
    )


def _round_part(tx: Tx, grid: str, of: Round, given: pd.DataFrame, options: Agree) -> RoundPart:
    form, checks, by_models = form_of(of.form), of.checks is not None, of.role is Role.MODEL
    question = _counted(VERDICT if checks else closed_question(form))
    given = given[given["round"] == of.name]
    answered = not checks and bool(judgements.answered_cells(tx, of))
    return RoundPart(
        name=of.name,
        role=of.role,
        form=of.form,
        checks=checks,
        dealt=round_progress.standing(tx, of).dealt,
        choices=tuple(choice.name for choice in question or ()),
        people=() if by_models else given_people(tx, of.role, of, question, given),
        models=_models(tx, grid, of, given) if by_models else (),
        texts=_texts(tx, of) if answered else (),
        agreement=_without_texts(tx, blocks(tx, of, fitting(form, options)), options) if answered else (),
    )


def _counted(question: Closed | None) -> Closed | None:
    """The question, if its answers can be counted one by one."""
    return question if question and len(question.choices) <= MOST_CHOICES else None


def _models(tx: Tx, grid: str, of: Round, given: pd.DataFrame) -> tuple[ModelFigures, ...]:
    """What each model did that has had cells of a round, and which model it is by the runs that asked it."""
    asked: dict[str, Any] = {}
    for run in runs.runs(tx, "generate"):
        if (run.params["grid"], run.params["round"]) == (grid, of.name):
            asked |= run.params["models"]
    found = []
    for one in people.people(tx, Role.MODEL):
        by_status = given[given["person_id"] == one.id].set_index("status")["n"]
        if len(by_status):
            record = asked.get(one.name, {})
            counts = (int(by_status.get(status.value, 0)) for status in (Status.DONE, Status.OPEN, Status.SKIPPED))
            found.append(ModelFigures(one.name, record.get("name", ""), record.get("sha256", ""), *counts))
    return tuple(found)


def _texts(tx: Tx, of: Round) -> tuple[WrittenTexts, ...]:
    """How many texts there are in a round, and how long they are, question by question."""
    form = form_of(of.form)
    given = [form.load(value) for value in judgements.values(tx, of)["value"].dropna()]
    found = []
    for name, question in form.questions:
        if isinstance(question, Text):
            lengths = [n for answer in given if (n := n_words(answer[name] or ""))]  # None where it was not asked
            found.append(WrittenTexts(name, len(lengths), float(median(lengths)) if lengths else None))
    return tuple(found)


def _without_texts(tx: Tx, measured: tuple[Block, ...], options: Agree) -> tuple[Block, ...]:
    """Agreement by column or row, with the number of each in place of a text that the plan does not name."""
    if options.by is None or grids.kinds(tx)[options.by == "column"] == "name":
        return measured
    numbers = {text: at for at, text in enumerate(dict.fromkeys(one.of for one in measured if one.of), 1)}
    return tuple(replace(one, of=f"{options.by} {numbers[one.of]}") if one.of else one for one in measured)
