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
from fcpair.stages.stats.agreement import AgreementBlock
from fcpair.stages.stats.rating_bins import drop_unfit_bins
from fcpair.steps.adjudication.agreement import agreement_blocks
from fcpair.steps.adjudication.calibration_result import load_calibration_result
from fcpair.steps.assignment.validate import look_again_notes
from fcpair.steps.base.answer_values import MOST_CHOICES, closed_question, form_of
from fcpair.steps.base.context import effective_options, labels_of
from fcpair.steps.oversight import grid_status as planned
from fcpair.steps.oversight.report_figures import decision_figures, people_figures
from fcpair.steps.oversight.report_surveys import asked_part
from fcpair.steps.release.partition import GRADED
from fcpair.steps.rules import pair_counts, round_progress
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
    rules, options = partition or effective_options(tx, Partition, {}), agree or effective_options(tx, Agree, {})
    assignment_counts, question = assignments.counts(tx), labels_of(tx)
    labels = judgements.label_arrays(tx, *GRADED)
    return GridPart(
        facts=planned.grid_facts(tx, name),
        look_again=tuple(look_again_notes(tx)),
        rounds=tuple(_round_part(tx, name, round_, assignment_counts, options) for round_ in rounds.of_grid(tx)),
        decided=decision_figures(
            tx,
            question,
            rules,
            pair_counts.tally(tx),
            labels,
        )
        if question
        else None,
        asked=asked_part(tx, name),
        calibration=load_calibration_result(tx, options),
    )


def _round_part(tx: Tx, grid: str, round_: Round, assignment_counts: pd.DataFrame, options: Agree) -> RoundPart:
    form, checks, by_models = form_of(round_.form), round_.checks is not None, round_.role is Role.MODEL
    question = _countable_question(VERDICT if checks else closed_question(form))
    assignment_counts = assignment_counts[assignment_counts["round"] == round_.name]
    is_answered = not checks and bool(judgements.answered_cells(tx, round_))
    return RoundPart(
        name=round_.name,
        role=round_.role,
        form=round_.form,
        checks=checks,
        dealt=round_progress.round_progress(tx, round_).dealt,
        choices=tuple(choice.name for choice in question or ()),
        people=() if by_models else people_figures(tx, round_.role, round_, question, assignment_counts),
        models=_model_figures(tx, grid, round_, assignment_counts) if by_models else (),
        texts=_text_figures(tx, round_) if is_answered else (),
        agreement=_with_numbered_sides(tx, agreement_blocks(tx, round_, drop_unfit_bins(form, options)), options)
        if is_answered
        else (),
    )


def _countable_question(question: Closed | None) -> Closed | None:
    """The question, if its answers can be counted one by one."""
    return question if question and len(question.choices) <= MOST_CHOICES else None


def _model_figures(tx: Tx, grid: str, round_: Round, assignment_counts: pd.DataFrame) -> tuple[ModelFigures, ...]:
    """Counts of each model that has had cells of a round, and which model it is by the runs that asked it."""
    model_records: dict[str, Any] = {}
    for run in runs.runs(tx, "generate"):
        if (run.params["grid"], run.params["round"]) == (grid, round_.name):
            model_records |= run.params["models"]
    figures = []
    for person in people.people(tx, Role.MODEL):
        by_status = assignment_counts[assignment_counts["person_id"] == person.id].set_index("status")["n"]
        if len(by_status):
            record = model_records.get(person.name, {})
            counts = (int(by_status.get(status.value, 0)) for status in (Status.DONE, Status.OPEN, Status.SKIPPED))
            figures.append(ModelFigures(person.name, record.get("name", ""), record.get("sha256", ""), *counts))
    return tuple(figures)


def _text_figures(tx: Tx, round_: Round) -> tuple[WrittenTexts, ...]:
    """Count the texts in a round and measure their length, question by question."""
    form = form_of(round_.form)
    answers = [form.load(value) for value in judgements.answer_values(tx, round_)["value"].dropna()]
    figures = []
    for name, question in form.questions:
        if isinstance(question, Text):
            lengths = [n for answer in answers if (n := n_words(answer[name] or ""))]  # None where it was not asked
            figures.append(WrittenTexts(name, len(lengths), float(median(lengths)) if lengths else None))
    return tuple(figures)


def _with_numbered_sides(
    tx: Tx, measured_blocks: tuple[AgreementBlock, ...], options: Agree
) -> tuple[AgreementBlock, ...]:
    """Agreement by column or row, with the number of each in place of a text that the plan does not name."""
    if options.by is None or options.metadata is not None or grids.side_kinds(tx)[options.by == "column"] == "name":
        return measured_blocks
    numbers = {text: at for at, text in enumerate(dict.fromkeys(one.of for one in measured_blocks if one.of), 1)}
    return tuple(replace(one, of=f"{options.by} {numbers[one.of]}") if one.of else one for one in measured_blocks)
