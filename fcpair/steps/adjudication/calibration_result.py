"""Result of a calibration: who has answered what, and agreement before the discussion and after it, side by side."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from fcpair.notebook import Result, frame_of
from fcpair.params import Agree, Calibration, CalibrationCounts
from fcpair.records import Figure, Round, Status
from fcpair.stages.stats.agreement import AgreementBlock
from fcpair.steps.adjudication.agreement import agreement_blocks, with_fitting_bins
from fcpair.steps.base.calibration_state import CalibrationState, Phase, latest_answers, need_calibration
from fcpair.steps.base.context import GridContext, effective_options, options_as_done
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, distinct_answers
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("part", "figure", "before", "before_low", "before_high", "after", "after_low", "after_high", "undefined")


@dataclass(frozen=True)
class CalibratedPerson:
    """Number of pairs that a person has answered in the calibration, and has still to answer: first, and again."""

    name: str
    answered: int
    open: int
    again: int
    again_open: int


@dataclass(frozen=True)
class FigureChange:
    """A figure of agreement on a part of the round before the discussion; `after` is None as long as there is none."""

    part: str
    before: Figure
    after: Figure | None


@dataclass(frozen=True, repr=False)
class CalibrationResult(Result):
    """Result of a calibration so far.

    `round` is the round that it is for, `phase` how far it is (answer, discuss, closed), `counts` which answers count.
    `n_pairs` are in the batch; on `n_differing` of them answers differ before the discussion, on `n_differing_after`
    after it, None before it is opened. `figures` are over the whole batch: after the discussion with each person's
    latest answer, so that those on which nobody differed are in both.
    """

    round: str
    phase: str
    counts: CalibrationCounts
    level: float
    n_pairs: int
    people: tuple[CalibratedPerson, ...]
    n_differing: int
    n_differing_after: int | None
    figures: tuple[FigureChange, ...]

    def to_frame(self) -> pd.DataFrame:
        """A row for each figure, with its value and interval before and after; `undefined` says why one has none."""
        return frame_of(self.rows(), COLUMNS)

    def rows(self) -> Iterator[dict[str, Any]]:
        """The rows of `to_frame`."""
        for change in self.figures:
            before, after = change.before, change.after
            yield {
                "part": change.part,
                "figure": before.name,
                **{"before": before.value, "before_low": before.low, "before_high": before.high},
                "after": after.value if after else None,
                "after_low": after.low if after else None,
                "after_high": after.high if after else None,
                "undefined": before.undefined or (after.undefined if after else None),
            }

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        values = {name: getattr(self, name) for name in ("round", "phase", "counts", "level", "n_pairs")}
        values |= {"differing": {"before": self.n_differing, "after": self.n_differing_after}}
        return values | {"people": [asdict(one) for one in self.people], "figures": list(self.rows())}

    def _summary(self) -> str:
        after = "" if self.n_differing_after is None else f", on {self.n_differing_after:,} after the discussion"
        return f"{self.n_pairs:,} pairs, {self.phase}; people differ on {self.n_differing:,}{after}"


def measure_calibration(grid: GridContext) -> CalibrationResult:
    """Measure how far a calibration is, and agreement before and after its discussion, by the grid's own options.

    Raises StageError where there is no calibration.
    """
    with grid._store.read() as tx:
        state, own_options = need_calibration(tx), replace(effective_options(tx, Agree, {}), by=None, metadata=None)
        options = with_fitting_bins(tx, state.first, own_options)
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
