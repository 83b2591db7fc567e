"""Taking back, as a whole, what a run brought: its answers are superseded by none, and the cells wait again."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fcpair.errors import StageError, UnknownIdError
from fcpair.params import Simulate
from fcpair.records import Round, RunRecord, Status
from fcpair.steps.answers.generate import GENERATE
from fcpair.steps.answers.import_fc_conan import FORMAT
from fcpair.steps.base.context import LARGEST_ID, GridContext, begin_run, labels_of
from fcpair.steps.people import access, reassignment
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

LABELS, VERDICTS, ANSWERS = ("labels", "labels"), ("verdicts", "validate"), ("answers", "answers")
"""What is answered in the round that counts, in one that checks, and in any, and the command for it."""


@dataclass(frozen=True)
class BroughtAnswers:
    """Answers that a run brought into a round of a grid.

    Of `n_answers`, skips included, `n_current` are still the current ones: those that withdrawing would take back,
    counted by the names of those who gave them.
    """

    run: RunRecord
    round: str
    n_answers: int
    n_current: int
    n_by_person: dict[str, int]
    is_withdrawn: bool


def list_brought_answers(grid: GridContext) -> list[BroughtAnswers]:
    """The imports of answers into a grid, simulated and models' answers among them, newest first."""
    with grid._store.read() as tx:
        names = {one.id: one.name for one in people.people(tx)}
        brought = (_brought_answers(tx, run, names) for run in reversed(runs.runs(tx)) if _can_bring_answers(run))
        return [one for one in brought if one is not None]


def _brought_answers(tx: Tx, run: RunRecord, names: dict[int, str]) -> BroughtAnswers | None:
    answers = judgements.answers_of_run(tx, run.id)
    if answers.empty or grids.grid_id_of(int(answers["cell_id"].iloc[0])) != grids.current_grid_id(tx):
        return None
    current = answers[answers["current"]]
    n_by_person = Counter(names[person_id] for person_id in current["person_id"].tolist())
    return BroughtAnswers(
        run,
        str(answers["round"].iloc[0]),
        len(answers),
        len(current),
        dict(sorted(n_by_person.items())),
        bool(answers["withdrawn"].any()),
    )


def _can_bring_answers(run: RunRecord) -> bool:
    """Whether a run is one that brings answers, which can be withdrawn; of a round, imports begin with its name."""
    is_import = run.stage in (Simulate.stage, GENERATE) or run.stage.endswith(" import")
    return is_import and run.params.get("format") != FORMAT


def withdraw_labels(grid: GridContext, run: int) -> RunRecord:
    """Take the labels back that a run brought, as a whole; `import_labels` and `simulate` return its `id`.

    To each that is still the current one, a judgement is added that withdraws it. Whoever gave it has the pair open
    again; where they cannot answer any more, or somebody else has in their place, the slot is given to others or stays
    as it is. An answer that was superseded since leaves the newer one standing.

    Raises:
        UnknownIdError: there is no such run.
        StageError: the run brought no such answers, an older fcpair did not note them, or they were withdrawn already.
    """
    return _withdraw(grid, run, LABELS)


def withdraw_verdicts(grid: GridContext, run: int) -> RunRecord:
    """Take the verdicts back that a run brought, as `withdraw_labels` does with labels."""
    return _withdraw(grid, run, VERDICTS)


def withdraw_answers(grid: GridContext, run: int) -> RunRecord:
    """Take the answers back that a run brought, in any round of the grid, as `withdraw_labels` does with labels."""
    return _withdraw(grid, run, ANSWERS)


def _withdraw(grid: GridContext, run_id: int, kind: tuple[str, str]) -> RunRecord:
    with grid._store.write() as tx:
        run_answers = _answers_of_run(tx, run_id, kind)
        round_ = rounds.by_name(tx, str(run_answers["round"].iloc[0]))
        current = run_answers[run_answers["current"]]
        withdrawal = begin_run(tx, f"{round_.name} withdraw", {"run": run_id})
        judgements.withdraw(tx, current["id"].tolist(), withdrawal)
        _reopen_cells(tx, current, round_)
        skips = int(current["skipped"].sum())
        counts: dict[str, Any] = {"answers": len(current) - skips, "skips": skips}
        counts |= {"superseded_since": len(run_answers) - len(current), **reassignment.reassign(tx, seed=0)}
        if round_.counts and labels_of(tx):
            counts |= rule_decisions.apply_policy(tx, current["cell_id"].unique().tolist())
        return runs.end_run(tx, withdrawal, counts)


def _answers_of_run(tx: Tx, run_id: int, kind: tuple[str, str]) -> pd.DataFrame:
    """The answers of a run, which are all of one round, and of which some are current."""
    run = runs.find_run(tx, run_id) if abs(run_id) <= LARGEST_ID else None
    if run is None:
        raise UnknownIdError(f"there is no run {run_id}; `fcpair log` lists the runs")
    subject = f"run {run_id} ({run.stage})"
    if run.params.get("format") == FORMAT:
        raise StageError(f"{subject} imported a published study with its decisions; `fcpair init` makes a new study")
    if not _can_bring_answers(run):
        raise StageError(f"{subject} brought no answers; `fcpair log` lists the runs")
    run_answers = judgements.answers_of_run(tx, run_id)
    if run_answers.empty:
        raise StageError(_no_answers_message(subject, run))
    _check_kind(tx, run_answers, subject, run_id, kind)
    if run_answers["withdrawn"].any():
        raise StageError(f"{subject} has been withdrawn already")
    if not run_answers["current"].any():
        raise StageError(f"every answer of {subject} has been superseded since, so none is left to withdraw")
    return run_answers


def _check_kind(tx: Tx, run_answers: pd.DataFrame, subject: str, run_id: int, kind: tuple[str, str]) -> None:
    """Raise StageError where a run answered another grid, or a round that this command is not for."""
    name, grid_id = str(run_answers["round"].iloc[0]), grids.grid_id_of(int(run_answers["cell_id"].iloc[0]))
    if grid_id != grids.current_grid_id(tx):
        other_grid = next(one.name for one in grids.keys(tx) if one.id == grid_id)
        raise StageError(f"{subject} brought answers in grid `{other_grid}`; name it (`--grid {other_grid}`)")
    by_round = {rounds.primary(tx).name: LABELS, rounds.validation(tx).name: VERDICTS}
    answers, command = by_round.get(name, ANSWERS)
    if kind != ANSWERS and kind[0] != answers:
        raise StageError(
            f"{subject} brought no {kind[0]} but {answers}; `fcpair {command} withdraw {run_id}` takes them back"
        )


def _no_answers_message(subject: str, run: RunRecord) -> str:
    if not any(run.counts.get(name) for name in ("answers", "skips")):
        return f"{subject} brought no new answers, so there are none to withdraw"
    return (
        f"{subject} was made by fcpair {run.version}, which did not note what each run brought; `--supersede` lets the "
        "right file replace it"
    )


def _reopen_cells(tx: Tx, answers: pd.DataFrame, round_: Round) -> None:
    """Let the cells wait again for those who had them, as far as they take part and their slot is still theirs.

    The latest first: a slot that was passed on and on goes back to whoever had it at first.
    """
    active_ids = {one.id for one in people.people(tx, round_.role, active=True)}
    latest = answers.iloc[::-1]
    for assignment_id, person_id in zip(latest["assignment_id"].tolist(), latest["person_id"].tolist(), strict=True):
        is_theirs = person_id in active_ids and vacant_slots.reclaim_skipped(tx, assignment_id)
        assignments.set_status(tx, [assignment_id], [(Status.OPEN if is_theirs else Status.WITHDRAWN).value])
    access.withdraw_opted_out(tx, sorted(active_ids))
