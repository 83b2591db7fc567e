"""What a report is made from: plain records, gathered by `fcpair.steps.report` and read by the pages and figures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.records import Role, RunRecord
from fcpair.stages.question import Closed

if TYPE_CHECKING:
    import pandas as pd

    from fcpair.evaluate.outcome import Outcome
    from fcpair.stages.agree import Agreement

IN_GRID, IN_CORPUS, HOLE = 0, 1, 2
UNDECIDED, POSITIVE, OTHER, DISCARDED, WAITING = 0, 1, 2, 3, 4


@dataclass(frozen=True)
class Stage:
    """How far one stage is: what it made, in words, or the command that does it; `open` answers are still to come."""

    name: str
    done: bool
    result: str
    command: str
    open: int = 0


@dataclass(frozen=True)
class GridMap:
    """Every cell of HS x CN, all of shape `(n_hs, n_cn)`, in the order in which the texts were chosen.

    `place` is IN_GRID, IN_CORPUS (a pair of the corpus, so not in the grid) or HOLE (not in the grid for another
    reason); `labels` counts current labels; `decision` is UNDECIDED, POSITIVE, OTHER (definite label), DISCARDED or
    WAITING (for a person).
    """

    place: NDArray[np.int8]
    labels: NDArray[np.int16]
    decision: NDArray[np.int8]


@dataclass(frozen=True)
class TierFigures:
    """The four tiers: which Diamond rule was used, every rule in words, and FC-CONAN's Tables 1 to 3."""

    diamond: str
    rules: tuple[tuple[str, str], ...]
    tables: tuple[pd.DataFrame, ...]
    n_labelled: int
    n_final: int
    n_verdicts: int
    n_valid: int


@dataclass(frozen=True)
class PersonFigures:
    """What one person was given and did in one round; `answers` counts each choice of the round's scheme.

    `median_s` is the median number of seconds of the `n_timed` answers (skips included) whose time is known.
    """

    name: str
    role: Role
    retired: bool
    assigned: int
    done: int
    open: int
    skipped: int
    withdrawn: int
    answers: tuple[int, ...]
    median_s: float | None
    n_timed: int
    notes: int

    @property
    def n_answers(self) -> int:
        """How many current answers the person has given, skips not counted."""
        return sum(self.answers)


@dataclass(frozen=True)
class EvaluationFigures:
    """What the newest evaluation found, the run that made it, and how many later steps changed what it rests on."""

    outcome: Outcome
    run: RunRecord
    later: int


@dataclass(frozen=True)
class ReportData:
    """Everything that stands in a report. What the study has not come to yet is None or empty."""

    facts: dict[str, str]
    question: Closed
    version: str
    simulated: str | None
    look_again: tuple[str, ...]
    stages: tuple[Stage, ...]
    log: tuple[RunRecord, ...]
    grid: GridMap | None
    agreement: Agreement | None
    rules_used: dict[str, int]
    n_need_person: int
    tiers: TierFigures | None
    no_tiers: str
    releases: tuple[dict[str, Any], ...]
    evaluation: EvaluationFigures | None
    annotators: tuple[PersonFigures, ...]
    validators: tuple[PersonFigures, ...]
