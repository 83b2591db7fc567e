"""Answers of a calibration that count: their pairs are not assigned, and the answers are carried over instead."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fcpair.errors import StageError
from fcpair.params import Calibration
from fcpair.records import Origin, Round, RunRecord, Status
from fcpair.steps.base.answer_values import answer_numbers, closed_question, form_of
from fcpair.steps.base.calibration_state import CalibrationState, Phase, latest_answers, load_calibration
from fcpair.steps.base.context import options_as_done
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, distinct_answers

if TYPE_CHECKING:
    import pandas as pd

CARRIED = ("cell_id", "person_id", "answer_id", "note", "seconds", "origin", "at")


def counted_cells(tx: Tx, target: Round) -> list[int]:
    """The cells that are not assigned in a round, as answers of its calibration count for it.

    Raises StageError as long as people are calibrating themselves for it.
    """
    state = load_calibration(tx)
    if state is None or state.target.id != target.id:
        return []
    if state.phase is not Phase.CLOSED:
        raise StageError(
            f"people are calibrating themselves for round `{target.name}`; `fcpair calibrate close` ends that"
        )
    answers = _counted_answers(tx, state)
    return [] if answers is None else np.unique(answers["cell_id"].to_numpy(np.int64)).tolist()


def _counted_answers(tx: Tx, state: CalibrationState) -> pd.DataFrame | None:
    """The answers of a calibration that count: the first ones, or of each person the latest; None where none do."""
    which = options_as_done(tx, Calibration).counts
    if which == "neither":
        return None
    if which == "first":
        return judgements.current_labels(tx, *CARRIED, of=state.first)
    return latest_answers(tx, state, *CARRIED)


def carry_answers(tx: Tx, target: Round, run_id: int) -> None:
    """Carry the answers of a calibration that count over into the round that it was for, with their times and notes."""
    import pandas as pd

    state = load_calibration(tx)
    answers = _counted_answers(tx, state) if state and state.target.id == target.id else None
    if answers is None:
        return
    form, cell_ids = form_of(target.form), answers["cell_id"].tolist()
    values = distinct_answers.answer_values(tx, answers["answer_id"].tolist())
    answers["answer_id"] = answer_numbers(tx, target, form, [form.load(value) for value in values], cell_ids)
    position = answers.groupby("person_id").cumcount() + 1
    rows = {"cell_id": answers["cell_id"], "person_id": answers["person_id"], "position": position}
    assignments.add_assignments(tx, pd.DataFrame({**rows, "status": Status.DONE.value}), target)
    assigned = assignments.assignments(tx, target)[["id", "cell_id", "person_id"]]
    answers = answers.merge(assigned.rename(columns={"id": "assignment_id"}), on=["cell_id", "person_id"])
    for origin, group in answers.groupby("origin"):
        columns = group[["assignment_id", "answer_id", "note", "seconds", "at"]]
        judgements.add_judgements(tx, columns.assign(skipped=False, run_id=run_id), Origin(str(origin)))
    if target.counts and closed_question(form):
        rule_decisions.apply_policy(tx, sorted(set(cell_ids)))


def with_calibration(run: RunRecord, cell_ids: list[int]) -> RunRecord:
    """A run that assigned a round, with a sentence on the pairs of the calibration that count, if there are any."""
    if not cell_ids:
        return run
    note = f"{len(cell_ids):,} pairs have the answers of the calibration that count, so they were not assigned"
    return replace(run, notes=(*run.notes, note))
