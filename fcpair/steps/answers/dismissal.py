"""Letting somebody go whose answers cannot stay: they are set aside, on record, and their cells are dealt again."""

from __future__ import annotations

from fcpair.errors import StageError
from fcpair.records import RunRecord, Status
from fcpair.steps.base.context import OnStudy, begin_run, labels_of
from fcpair.steps.people.people import find
from fcpair.steps.people.reassignment import refill_everywhere
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.store.people import people

DISMISS = "dismiss"


def dismiss(study: OnStudy, name: str, *, seed: int = 0) -> RunRecord:
    """Let a person go, and set aside what they answered: in every round whose work passes on, it is dealt to others.

    To each answer of theirs that is current a judgement is added that withdraws it; nothing is deleted. What everybody
    answers, such as a pilot, stays, and so do decisions that they took. Where texts of theirs are in a grid that was
    made of them, they stay there; `fcpair pair --redo` makes that grid anew as long as nobody has answered in it.

    Raises:
        UnknownIdError: there is nobody of that name.
        StageError: there is nothing of theirs to be set aside; `retire` lets them go.
    """
    with study.store.write() as tx:
        person = find(tx, name)
        run_id = begin_run(tx, DISMISS, {"person": name, "seed": seed})
        set_aside = sum(_set_aside(tx, person.id, run_id) for _ in grids.each(tx))
        if not set_aside:
            raise StageError(f"`{name}` has answered nothing that could go to others; `fcpair people retire {name}`")
        if not person.retired:
            people.retire(tx, person.id)
        withdrawn = assignments.withdraw(tx, person.id)
        counts = {"set_aside": set_aside, "withdrawn": withdrawn, **refill_everywhere(tx, seed)}
        return runs.end_run(tx, run_id, counts)


def _set_aside(tx: Tx, person_id: int, run_id: int) -> int:
    """Withdraw what somebody answered in the grid that the transaction is about; returns how many answers."""
    n = 0
    for of in rounds.asked(tx):
        if not of.passes_on:
            continue
        given = judgements.answered_by(tx, person_id, of)
        ids = given["assignment_id"].tolist()
        judgements.withdraw(tx, given["id"].tolist(), run_id)
        assignments.set_status(tx, ids, [Status.WITHDRAWN.value] * len(ids))
        if ids and of.counts and labels_of(tx):
            rule_decisions.settle(tx, given["cell_id"].unique().tolist())
        n += len(ids)
    return n
