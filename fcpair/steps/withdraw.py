"""Taking back, as a whole, what a run brought: its answers are superseded by none, and the cells wait again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fcpair.errors import StageError, UnknownIdError
from fcpair.params import Simulate
from fcpair.records import Round, RunRecord, Status
from fcpair.steps import access, handover, settle
from fcpair.steps.ground import LARGEST_ID, OnGrid, begin_run
from fcpair.steps.published import FORMAT
from fcpair.store import Tx, decisions, people, rounds, runs, slots, work

if TYPE_CHECKING:
    import pandas as pd

BY_CHECKS = {False: ("labels", "labels"), True: ("verdicts", "validate")}
"""What is answered in a round that checks or does not, and the command for it."""


def withdraw_labels(grid: OnGrid, run: int) -> RunRecord:
    """Take the labels back that a run brought, as a whole; `import_labels` and `simulate` return its `id`.

    To each that is still the current one, a judgement is added that withdraws it. Whoever gave it has the pair open
    again; where they cannot answer any more, or somebody else has in their place, the slot is given to others or stays
    as it is. An answer that was superseded since leaves the newer one standing.

    Raises:
        UnknownIdError: there is no such run.
        StageError: the run brought no such answers, an older fcpair did not note them, or they were withdrawn already.
    """
    return _withdraw(grid, run, checks=False)


def withdraw_verdicts(grid: OnGrid, run: int) -> RunRecord:
    """Take the verdicts back that a run brought, as `withdraw_labels` does with labels."""
    return _withdraw(grid, run, checks=True)


def _withdraw(grid: OnGrid, run_id: int, *, checks: bool) -> RunRecord:
    with grid.store.write() as tx:
        round_ = rounds.checking(tx) if checks else rounds.counting(tx)
        brought = _brought(tx, run_id, round_)
        current = brought[brought["current"]]
        withdrawal = begin_run(tx, f"{round_.name} withdraw", {"run": run_id})
        decisions.withdraw(tx, current["id"].tolist(), withdrawal)
        _reopen(tx, current, round_)
        skips = int(current["skipped"].sum())
        counts: dict[str, Any] = {"answers": len(current) - skips, "skips": skips}
        counts |= {"superseded_since": len(brought) - len(current), **handover.refill(tx, seed=0)}
        if round_.counts:
            counts |= settle.settle(tx, current["cell_id"].unique().tolist())
        return runs.end_run(tx, withdrawal, counts)


def _brought(tx: Tx, run_id: int, round_: Round) -> pd.DataFrame:
    """The answers of a run in a round, of which some are current."""
    run = runs.find_run(tx, run_id) if abs(run_id) <= LARGEST_ID else None
    if run is None:
        raise UnknownIdError(f"there is no run {run_id}; `fcpair log` lists the runs")
    what = f"run {run_id} ({run.stage})"
    if run.params.get("format") == FORMAT:
        raise StageError(f"{what} took a published study over with its decisions; `fcpair init` makes a study anew")
    if run.stage not in {Simulate.stage, *(f"{one.name} import" for one in rounds.rounds(tx))}:
        raise StageError(f"{what} brought no answers; `fcpair log` lists the runs")
    brought = decisions.brought_by(tx, run_id)
    if brought.empty:
        raise StageError(_why_none(what, run))
    there = brought[brought["round"] == round_.name]
    if there.empty:
        (answers, _), (others, command) = BY_CHECKS[bool(round_.checks)], BY_CHECKS[not round_.checks]
        raise StageError(
            f"{what} brought no {answers} but {others}; `fcpair {command} withdraw {run_id}` takes them back"
        )
    if there["withdrawn"].any():
        raise StageError(f"{what} has been withdrawn already")
    if not there["current"].any():
        raise StageError(f"every answer of {what} has been superseded since, so none is left to withdraw")
    return there


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
        is_theirs = person_id in able and slots.reclaim(tx, assignment_id)
        work.set_status(tx, [assignment_id], [(Status.OPEN if is_theirs else Status.WITHDRAWN).value])
    access.withdraw_opted_out(tx, sorted(able))
