"""Letting somebody go whose answers cannot stay: they are set aside, on record, and their cells are dealt again."""

from __future__ import annotations

import numpy as np

from fcpair.errors import InputError, StageError
from fcpair.files.answers.answer_files import ImportedAnswers
from fcpair.records import Round, RunRecord, Status
from fcpair.steps.base import departures
from fcpair.steps.base.context import StudyContext, begin_run, labels_of
from fcpair.steps.people import access
from fcpair.steps.people.known_dealing import assign_everywhere
from fcpair.steps.people.people import find_person
from fcpair.steps.people.reassignment import reassign_everywhere
from fcpair.steps.rules import rule_decisions
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs
from fcpair.store.people import people

DISMISS = "dismiss"
LONGEST_REASON = 2_000  # characters


def dismiss(study: StudyContext, name: str, *, reason: str = "", seed: int = 0) -> RunRecord:
    """Let a person go, and set aside what they answered: in every round whose work passes on, it is dealt to others.

    To each answer of theirs that is current a judgement is added that withdraws it; nothing is deleted. What everybody
    answers, such as a pilot, stays, and so do decisions that they took. Where texts of theirs are in a grid that was
    made of them, they stay there; `fcpair pair --redo` makes that grid anew as long as nobody has answered in it.

    With a `reason`, they read it when they come back by their link; and somebody can be dismissed who has answered
    nothing yet, as after a qualification.

    Raises:
        UnknownIdError: there is nobody of that name.
        InputError: the reason is too long to be read.
        StageError: there is nothing of theirs to be set aside; `retire` lets them go.
    """
    with study._store.write() as tx:
        person = find_person(tx, name)
        reason = _checked_reason(reason)
        run_id = begin_run(tx, DISMISS, {"person": name, **({"reason": reason} if reason else {}), "seed": seed})
        n_set_aside = sum(_set_answers_aside(tx, person.id, run_id) for _ in grids.for_each_grid(tx))
        if not n_set_aside and not reason:
            raise StageError(f"`{name}` has no answers that could go to others; `fcpair people retire {name}`")
        if not person.retired:
            people.retire(tx, person.id, keeps_link=bool(reason))
        if reason:
            access.save_farewell(tx, person.id, reason, run_id)
        n_withdrawn = assignments.withdraw_open(tx, person.id)
        counts = {"set_aside": n_set_aside, "withdrawn": n_withdrawn, **reassign_everywhere(tx, seed)}
        counts |= assign_everywhere(tx)
        departures.update_people(tx, run_id)
        return runs.end_run(tx, run_id, counts)


def _checked_reason(reason: str) -> str:
    stripped = reason.strip()
    if len(stripped) > LONGEST_REASON:
        raise InputError(f"the reason has {len(stripped):,} characters; expected at most {LONGEST_REASON:,}")
    return stripped


def _set_answers_aside(tx: Tx, person_id: int, run_id: int) -> int:
    """Withdraw what somebody answered in the grid that the transaction is about; returns how many answers."""
    n = 0
    for round_ in rounds.answer_rounds(tx):
        if not round_.reassigns_skipped:
            continue
        answers = judgements.answers_of_person(tx, person_id, round_)
        ids = answers["assignment_id"].tolist()
        judgements.withdraw(tx, answers["id"].tolist(), run_id)
        assignments.set_status(tx, ids, [Status.WITHDRAWN.value] * len(ids))
        if ids and round_.counts and labels_of(tx):
            rule_decisions.apply_policy(tx, answers["cell_id"].unique().tolist())
        n += len(ids)
    return n


def leave_out_dismissed(tx: Tx, incoming: ImportedAnswers, round_: Round) -> None:
    """Leave out the answers of people who were dismissed, with a note on each, where work passes on to others."""
    dismissed = {run.params["person"] for run in runs.runs(tx, DISMISS)} if round_.reassigns_skipped else set()
    is_dismissed = incoming.rows["person"].isin(dismissed)
    for name, rows in incoming.rows[is_dismissed].groupby("person", sort=False):
        incoming.notes.append(f"{name} was dismissed, so the answers of {name} are left out ({len(rows):,})")
    if is_dismissed.any():
        incoming.keep_rows(~is_dismissed.to_numpy(np.bool_))
