"""State of a grid's calibration: its two rounds, how far it is, and the answer that each person has come to in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fcpair.errors import StageError
from fcpair.lazy import pd
from fcpair.records import Round, Status
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.oversight import settings

FIRST, AGAIN = "calibrate", "calibrate again"  # the names of the two rounds
STAGE = "calibrating"  # of the settings: how far it is
BOTH = ["cell_id", "person_id"]


class Phase(StrEnum):
    """Phase of a calibration: everybody answers, people discuss and answer again, or it is over."""

    ANSWER = "answer"
    DISCUSS = "discuss"
    CLOSED = "closed"


@dataclass(frozen=True)
class CalibrationState:
    """A calibration that was begun: its rounds, the round that it is for, and how far it is."""

    first: Round
    again: Round
    target: Round
    phase: Phase

    @property
    def answered(self) -> Round | None:
        """The round in which people answer now; None once it is over."""
        return {Phase.ANSWER: self.first, Phase.DISCUSS: self.again, Phase.CLOSED: None}[self.phase]


def load_calibration(tx: Tx) -> CalibrationState | None:
    """The calibration of the grid; None where none was begun, or its cells were made anew since."""
    calibration_rounds = rounds.calibration_rounds(tx)
    if not calibration_rounds or not assignments.n_by_status(tx, calibration_rounds[0]):
        return None
    first, again = calibration_rounds
    phase = Phase(settings.of_stage(tx, STAGE)["phase"])
    return CalibrationState(first, again, rounds.by_name(tx, first.options.calibrates), phase)


def need_calibration(tx: Tx) -> CalibrationState:
    """The calibration of the grid; raises StageError if there is none."""
    if state := load_calibration(tx):
        return state
    raise StageError.say("there is no calibration; `fcpair calibrate start` begins one")


def is_closed(tx: Tx, round_: Round) -> bool:
    """Return whether a round is one of a calibration that takes no answers now, as those before or after stand."""
    if not round_.options.calibrates:
        return False
    state = load_calibration(tx)
    return state is None or state.answered is None or state.answered.id != round_.id


def latest_answers(tx: Tx, state: CalibrationState, *columns: str) -> pd.DataFrame:
    """Each person's latest answer on each cell, none where they skipped it the second time, in these columns of
    `current_labels`; `answer_id` is of the round in which it was given.
    """
    first, again = (
        judgements.current_labels(tx, *dict.fromkeys((*BOTH, *columns)), of=round_)
        for round_ in (state.first, state.again)
    )
    given = assignments.assignments(tx, state.again)
    given = given[given["status"].isin([Status.DONE.value, Status.SKIPPED.value])]
    is_replaced = pd.MultiIndex.from_frame(first[BOTH]).isin(pd.MultiIndex.from_frame(given[BOTH]))
    latest = pd.concat([first[~is_replaced], again]) if len(again) else first[~is_replaced]
    return latest.sort_values(BOTH, kind="stable", ignore_index=True)[list(columns)]
