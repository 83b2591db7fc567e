"""Taking back, as a whole, what a run brought: its answers are superseded by none, and the cells wait again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fcpair.errors import StageError, UnknownIdError
from fcpair.params import Simulate
from fcpair.records import Round, RunRecord, Status
from fcpair.steps.answers.generate import GENERATE
from fcpair.steps.answers.import_fc_conan import FORMAT
from fcpair.steps.base.context import LARGEST_ID, OnGrid, begin_run, labels_of
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


def withdraw_labels(grid: OnGrid, run: int) -> RunRecord:
    """Take the labels back that a run brought, as a whole; `import_labels` and `simulate` return its `id`.

    To each that is still the current one, a judgement is added that withdraws it. Whoever gave it has the pair open
    again; where they cannot answer any more, or somebody else has in their place, the slot is given to others or stays
    as it is. An answer that was superseded since leaves the newer one standing.

    Raises:
        UnknownIdError: there is no such run.
        StageError: the run brought no such answers, an older fcpair did not note them, or they were withdrawn already.
    """
    return _withdraw(grid, run, LABELS)


def withdraw_verdicts(grid: OnGrid, run: int) -> RunRecord:
    """Take the verdicts back that a run brought, as `withdraw_labels` does with labels."""
    return _withdraw(grid, run, VERDICTS)


def withdraw_answers(grid: OnGrid, run: int) -> RunRecord:
    """Take the answers back that a run brought, in any round of the grid, as `withdraw_labels` does with labels."""
    return _withdraw(grid, run, ANSWERS)


def _withdraw(grid: OnGrid, run_id: int, wanted: tuple[str, str]) -> RunRecord:
    with grid.store.write() as tx:
        brought = _brought(tx, run_id, wanted)
        round_ = rounds.named(tx, str(brought["round"].iloc[0]))
        current = brought[brought["current"]]
        withdrawal = begin_run(tx, f"{round_.name} withdraw", {"run": run_id})
        judgements.withdraw(tx, current["id"].tolist(), withdrawal)
        _reopen(tx, current, round_)
        skips = int(current["skipped"].sum())
        counts: dict[str, Any] = {"answers": len(current) - skips, "skips": skips}
        counts |= {"superseded_since": len(brought) - len(current), **reassignment.refill(tx, seed=0)}
        if round_.counts and labels_of(tx):
            counts |= rule_decisions.settle(tx, current["cell_id"].unique().tolist())
        return runs.end_run(tx, withdrawal, counts)


def _brought(tx: Tx, run_id: int, wanted: tuple[str, str]) -> pd.DataFrame:
    """The answers of a run, which are all of one round, and of which some are current."""
    run = runs.find_run(tx, run_id) if abs(run_id) <= LARGEST_ID else None
    if run is None:
        raise UnknownIdError(f"there is no run {run_id}; `fcpair log` lists the runs")
    what = f"run {run_id} ({run.stage})"
    if run.params.get("format") == FORMAT:
        raise StageError(f"{what} took a published study over with its decisions; `fcpair init` makes a study anew")
    if run.stage not in (Simulate.stage, GENERATE) and not run.stage.endswith(
        " import"
    ):  # of a round, which it begins with
        raise StageError(f"{what} brought no answers; `fcpair log` lists the runs")
    brought = judgements.brought_by(tx, run_id)
    if brought.empty:
        raise StageError(_why_none(what, run))
    _check_wanted(tx, brought, what, run_id, wanted)
    if brought["withdrawn"].any():
        raise StageError(f"{what} has been withdrawn already")
    if not brought["current"].any():
        raise StageError(f"every answer of {what} has been superseded since, so none is left to withdraw")
    return brought


def _check_wanted(tx: Tx, brought: pd.DataFrame, what: str, run_id: int, wanted: tuple[str, str]) -> None:
    """Raise StageError where a run answered another grid, or a round that this command is not for."""
    name, of = str(brought["round"].iloc[0]), grids.grid_of(int(brought["cell_id"].iloc[0]))
    if of != grids.here(tx):
        other = next(one.name for one in grids.keys(tx) if one.id == of)
        raise StageError(f"{what} brought answers in grid `{other}`; name it (`--grid {other}`)")
    by_round = {rounds.counting(tx).name: LABELS, rounds.checking(tx).name: VERDICTS}
    answers, command = by_round.get(name, ANSWERS)
    if wanted != ANSWERS and wanted[0] != answers:
        raise StageError(
            f"{what} brought no {wanted[0]} but {answers}; `fcpair {command} withdraw {run_id}` takes them back"
        )


def _why_none(what: str, run: RunRecord) -> str:
    if not any(run.counts.get(name) for name in ("answers", "skips")):
        return f"{what} brought no new answers, so there are none to withdraw"
    return (
        f"{what} was made by fcpair {run.version}, which did not note what each run brought; `--supersede` lets the "
        "right file replace it"
    )


def _reopen(tx: Tx, answers: pd.DataFrame, round_: Round) -> None:
    """Let the cells wait again for those who had them, as far as they take part and their slot is still theirs.

    The latest first: a slot that was passed on and on goes back to whoever had it at first.
    """
    able = {one.id for one in people.people(tx, round_.role, active=True)}
    latest = answers.iloc[::-1]
    for assignment_id, person_id in zip(latest["assignment_id"].tolist(), latest["person_id"].tolist(), strict=True):
        is_theirs = person_id in able and vacant_slots.reclaim(tx, assignment_id)
        assignments.set_status(tx, [assignment_id], [(Status.OPEN if is_theirs else Status.WITHDRAWN).value])
    access.withdraw_opted_out(tx, sorted(able))
