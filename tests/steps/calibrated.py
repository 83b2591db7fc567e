"""People who calibrate themselves on four pairs of the small study, with answers whose agreement is known by hand."""

from __future__ import annotations

from collections.abc import Mapping

from fcpair.params import Calibration
from fcpair.records import Role, Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.study import Study
from steps.online import admit, give
from steps.small import ANNOTATORS

YES, NO = "appropriate", "not_appropriate"
FIRST = {"ana": (YES, YES, NO, YES), "ben": (YES, YES, NO, NO), "cleo": (YES, NO, NO, NO)}
"""The first answers of each to the four pairs, in their order: they differ on the second and the fourth."""
AGAIN = {"ana": (YES, YES), "ben": (YES, NO), "cleo": (YES, NO)}
"""The second answers to these two: now they differ on the fourth alone."""
ALPHA = 7 / 18
"""Twelve answers, six of each; of the twelve pairs of answers on a pair four differ: 1 - (1/3) / (72/132)."""
ALPHA_AFTER = 24 / 35
"""Seven and five; two of twelve differ: 1 - (1/6) / (70/132)."""


def begin(study: Study, counts: str = "neither") -> dict[str, Visitor]:
    """Ana, ben and cleo have come in, and a calibration on four pairs has begun."""
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().calibration.start(Calibration(pairs=4, counts=counts, seed=2))  # type: ignore[arg-type]
    return {name: admit(study, name) for name in ANNOTATORS}


def batch(study: Study) -> list[int]:
    """The pairs of the batch, in their order."""
    return sorted(study.grid().answers("calibrate")["cell"].unique().tolist()) or _assigned(study)


def _assigned(study: Study) -> list[int]:
    from fcpair.store.assignment import assignments, rounds

    with study._store.read() as tx:
        return assignments.assigned_cells(tx, rounds.by_name(tx, "calibrate"))


def answer_all(study: Study, visitors: Mapping[str, Visitor], answers: Mapping[str, tuple[str, ...]]) -> None:
    """Everybody answers what they have open, which are pairs of one round, as `answers` has it in their order."""
    desk: WorkQueue = study.work_queue()
    for name, visitor in visitors.items():
        tasks = sorted(desk.tasks(visitor, 50), key=lambda task: task.cell_id)
        assert len(tasks) == len(answers[name])
        for task, answer in zip(tasks, answers[name], strict=True):
            give(desk, visitor, answer, task.assignment_id, note=f"{name} notes" if answer == NO else "")


def discussing(study: Study, counts: str = "neither") -> dict[str, Visitor]:
    """Everybody has answered, and the discussion is open."""
    visitors = begin(study, counts)
    answer_all(study, visitors, FIRST)
    study.grid().calibration.open_discussion()
    return visitors


def calibrated(study: Study, counts: str = "neither") -> dict[str, Visitor]:
    """Everybody has answered again, and the calibration is closed."""
    visitors = discussing(study, counts)
    answer_all(study, visitors, AGAIN)
    study.grid().calibration.close()
    return visitors
