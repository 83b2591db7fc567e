"""The desk of one person who answers online: single rows, asked for at every answer, so statements are made once."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

from sqlalchemy import bindparam, case, exists, func, select, update
from sqlalchemy.orm import aliased

from fcpair.records import Round, Status
from fcpair.store import chain, current, guidelines, rounds
from fcpair.store.decisions import is_about_the_label_now
from fcpair.store.docket import open_label
from fcpair.store.ready import Ready
from fcpair.store.rows import now
from fcpair.store.store import Tx
from fcpair.store.tables import adjudication, assignment, cell, judgement, round_, text

_hs, _cn = aliased(text), aliased(text)
_SHOWN = (
    select(
        assignment.c.id,
        assignment.c.cell_id,
        round_.c.blind,
        assignment.c.status,
        _hs.c.body.label("hs"),
        _hs.c.language.label("hs_language"),
        _cn.c.body.label("cn"),
        _cn.c.language.label("cn_language"),
    )
    .join(cell, cell.c.id == assignment.c.cell_id)
    .join(_hs, _hs.c.id == cell.c.row_id)
    .join(_cn, _cn.c.id == cell.c.column_id)
    .join(round_, round_.c.id == assignment.c.round_id)
    .where(assignment.c.person_id == bindparam("person"))
)
_IS_OPEN = (assignment.c.round_id == bindparam("round")) & (assignment.c.status == Status.OPEN.value)
_OPEN = _SHOWN.add_columns(assignment.c.position).where(_IS_OPEN).order_by(assignment.c.position).limit(bindparam("n"))
# What has no label at present, because its decision was taken back, waits until it has one again; and so does what
# somebody has still to label.
_CHECKABLE = adjudication.c.answer_id.is_not(None) & ~open_label(assignment.c.cell_id)
_STANDING = (adjudication.c.id.label("decision_id"), rounds.code_of(adjudication).label("decided"))
_CODE = rounds.code_of(judgement)
_GIVEN = (_CODE.label("code"), case((rounds.was_blind(), _CODE)).label("own_code"), judgement.c.note)
_TO_ANSWER = Ready(_OPEN)
_TO_CHECK = Ready(_OPEN.add_columns(*_STANDING).join(adjudication, current.DECIDED).where(_CHECKABLE))


def open_tasks(tx: Tx, person_id: int, of: Round, n: int) -> list[dict[str, Any]]:
    """The next `n` pairs that a person has open: `id` (assignment), `cell_id`, `blind`, `hs`, `hs_language`,
    `cn`, `cn_language`, and to validate `decision_id` and `decided`, the code that the pair has now.
    """
    found = [
        row._asdict()
        for round_id in of.ids
        for row in (_TO_CHECK if of.checks else _TO_ANSWER).all(tx, person=person_id, round=round_id, n=n)
    ]
    return sorted(found, key=itemgetter("position"))[:n]


def answered_tasks(tx: Tx, person_id: int, of: Round, before: int | None, n: int) -> list[dict[str, Any]]:
    """The pairs that a person has answered, the latest first, as `open_tasks` has them and `code`, `own_code`, `note`,
    `outdated`: a verdict on another label than the pair has now.

    They come by their first answer, so that changing one does not move it; `before` is an assignment: those that were
    answered before it. What was given to somebody else after a skip comes too, as long as they have not answered it.
    """
    own = (
        select(judgement.c.assignment_id, func.min(judgement.c.id).label("first"))
        .join(assignment, assignment.c.id == judgement.c.assignment_id)
        .where(assignment.c.person_id == person_id, rounds.among(of))
        .group_by(judgement.c.assignment_id)
        .subquery()
    )
    query = (
        _SHOWN.add_columns(*_STANDING, *_GIVEN)
        .join(own, own.c.assignment_id == assignment.c.id)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .outerjoin(adjudication, current.DECIDED)
        .where(assignment.c.status.in_((Status.DONE.value, Status.SKIPPED.value)), current.NEWEST, ~_taken_over())
        .order_by(own.c.first.desc())
        .limit(n)
    )
    if before is not None:
        query = query.where(own.c.first < select(own.c.first).where(own.c.assignment_id == before).scalar_subquery())
    if of.checks:
        outdated = (~judgement.c.skipped & ~func.coalesce(is_about_the_label_now(), False)).label("outdated")
        query = query.add_columns(outdated).where(_CHECKABLE)
    found = tx.execute(query, {"person": person_id})
    return [dict(row._mapping) for row in found]


def _taken_over() -> Any:
    """Whether somebody else has answered in the place of the assignment, or passed it on in their turn."""
    later = assignment.alias("later")
    answered = later.c.status != Status.OPEN.value
    return exists().where(later.c.replaces == assignment.c.id, answered).correlate(assignment)


_ASSIGNMENT = Ready(
    select(
        assignment.c.cell_id,
        *(assignment.c[name] for name in ("id", "person_id", "round_id", "status")),
        round_.c.blind,
        *_STANDING,
        open_label(assignment.c.cell_id).label("still_labelled"),
        guidelines.NEWEST.label("guideline_version"),
    )
    .join(round_, round_.c.id == assignment.c.round_id)
    .outerjoin(adjudication, current.DECIDED)
    .where(assignment.c.id == bindparam("one"))
)


def find_assignment(tx: Tx, assignment_id: int) -> Any:
    """An assignment: `id`, `cell_id`, `person_id`, `round_id`, `blind`, `status`, the standing `decision_id` and
    `decided`, whether somebody has still to label the pair (`still_labelled`), and the newest `guideline_version`;
    None where there is none.
    """
    return _ASSIGNMENT.first(tx, one=assignment_id)


_SET_STATUS = Ready(
    update(assignment)
    .where(assignment.c.id == bindparam("one"))
    .values(status=bindparam("new"), answered_at=bindparam("at"))
)


def add_judgement(tx: Tx, row: dict[str, Any], status: Status) -> int:
    """Add one answer, with what became of its assignment; returns its number.

    `row` has the columns of a judgement, but for `adjudication_id` of a label.
    """
    at = now()
    added = chain.add_answer(tx, {"adjudication_id": None, **row, "at": at})
    _SET_STATUS.run(tx, one=row["assignment_id"], new=status.value, at=at)
    return added


_COUNTS = (
    select(assignment.c.status, func.count().label("n"))
    .where(assignment.c.person_id == bindparam("person"), rounds.GIVEN)
    .group_by(assignment.c.status)
)
_TIMES = (
    select(assignment.c.answered_at)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.answered_at.is_not(None))
    .order_by(assignment.c.answered_at.desc())
    .limit(bindparam("n"))
)
_READ = select(func.count()).where(
    assignment.c.person_id == bindparam("person"), assignment.c.answered_at >= bindparam("since")
)


def status_counts(tx: Tx, person_id: int, of: Round) -> dict[str, int]:
    """How many assignments a person has in a round, by status."""
    return {row.status: row.n for row in tx.execute(_COUNTS, {"person": person_id, "rounds": rounds.ids(of)})}


_SHOWN_TO_VALIDATOR = (
    select(func.count())
    .select_from(assignment)
    .join(adjudication, current.DECIDED)
    .where(assignment.c.person_id == bindparam("person"), rounds.CHECKING)
    .where(assignment.c.status == Status.OPEN.value, _CHECKABLE)
)


def n_shown(tx: Tx, person_id: int) -> int:
    """How many open pairs a validator can be shown: those that have a label at present, and none open."""
    return int(tx.execute(_SHOWN_TO_VALIDATOR, {"person": person_id}).scalar_one())


def answer_times(tx: Tx, person_id: int, n: int) -> list[str]:
    """When a person gave their last `n` answers online, oldest first."""
    return list(tx.execute(_TIMES, {"person": person_id, "n": n}).scalars())[::-1]


def pairs_read(tx: Tx, person_id: int, since: str) -> int:
    """How many pairs a person has answered or skipped online since a time, in whatever round."""
    return int(tx.execute(_READ, {"person": person_id, "since": since}).scalar_one())
