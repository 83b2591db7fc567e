"""Measuring a calibration: who has answered what, and agreement before the discussion and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from fcpair.examination_records import CalibratedPerson, CalibrationResult, FigureChange
from fcpair.params import Agree, Calibration
from fcpair.records import Figure, Round, Status
from fcpair.stages.stats.agreement import AgreementBlock
from fcpair.steps.adjudication.agreement import agreement_blocks, with_fitting_bins
from fcpair.steps.base.calibration_state import (
    CalibrationState,
    Phase,
    latest_answers,
    load_calibration,
    need_calibration,
)
from fcpair.steps.base.context import GridContext, effective_options, options_as_done
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, distinct_answers
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd


def measure_calibration(grid: GridContext) -> CalibrationResult:
    """Measure how far a calibration is, and agreement before and after its discussion, by the grid's own options.

    Raises StageError where there is no calibration.
    """
    with grid._store.read() as tx:
        return _measure(tx, need_calibration(tx), effective_options(tx, Agree, {}))


def load_calibration_result(tx: Tx, options: Agree) -> CalibrationResult | None:
    """The same of the grid that a transaction is about, by these options; None where there is no calibration."""
    state = load_calibration(tx)
    return _measure(tx, state, options) if state else None


def _measure(tx: Tx, state: CalibrationState, options: Agree) -> CalibrationResult:
    """Measure a calibration in a transaction that is under way; over its whole batch, not column by column."""
    options = with_fitting_bins(tx, state.first, replace(options, by=None, metadata=None))
    first = judgements.current_labels(tx, "cell_id", "answer_id", of=state.first)
    is_open = state.phase is not Phase.ANSWER
    latest = latest_answers(tx, state, "cell_id", "answer_id") if is_open else None
    return CalibrationResult(
        state.target.name,
        state.phase.value,
        options_as_done(tx, Calibration).counts,
        options.level,
        len(assignments.assigned_cells(tx, state.first)),
        _calibrated_people(tx, state),
        _n_differing(tx, first),
        None if latest is None else _n_differing(tx, latest),
        () if first.empty else tuple(_figure_changes(tx, state, options, is_open=is_open)),
    )


def _calibrated_people(tx: Tx, state: CalibrationState) -> tuple[CalibratedPerson, ...]:
    """Everybody who was given pairs of the batch, in the order in which they came."""
    numbers: dict[str, dict[tuple[str, str], int]] = {}
    names = {one.id: one.name for one in people.people(tx)}
    for count in assignments.counts_of_grid(tx):
        if count.round in (state.first.name, state.again.name):
            numbers.setdefault(names[count.person_id], {})[count.round, count.status] = count.n
    done, open_ = Status.DONE.value, Status.OPEN.value

    def count_of(name: str, round_: Round, status: str) -> int:
        return numbers[name].get((round_.name, status), 0)

    return tuple(
        CalibratedPerson(
            name,
            *(count_of(name, round_, status) for round_ in (state.first, state.again) for status in (done, open_)),
        )
        for name in names.values()
        if name in numbers
    )


def _n_differing(tx: Tx, answers: pd.DataFrame) -> int:
    """Number of cells on which not all answers are the same, in whichever round they were given."""
    ids, at = np.unique(answers["answer_id"].to_numpy(np.int64), return_inverse=True)
    values = np.array(distinct_answers.answer_values(tx, ids.tolist()), object)
    n_different = answers.assign(value=values[at] if len(ids) else []).groupby("cell_id")["value"].nunique()
    return int((n_different > 1).sum())


def _figure_changes(tx: Tx, state: CalibrationState, options: Agree, *, is_open: bool) -> Iterator[FigureChange]:
    """Yield each figure over the whole batch, part by part, before and after."""
    after_blocks = agreement_blocks(tx, state.again, options) if is_open else ()
    after = {(block.part, block.of): _figures(block) for block in after_blocks}
    for block in agreement_blocks(tx, state.first, options):
        for name, figure in _figures(block).items():
            yield FigureChange(block.part, figure, after.get((block.part, block.of), {}).get(name))


def _figures(block: AgreementBlock) -> dict[str, Figure]:
    if block.agreement is None:
        return {"agreement": Figure("agreement", None, 0, undefined=block.undefined)}
    return {figure.name: figure for figure in (*block.agreement.pooled, *block.agreement.summary)}
