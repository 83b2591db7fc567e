"""A slot that must find new hands, row by row: what `steps.staff` does for many pairs at once, without any frame."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Row, delete, func, insert, select, update

from fcpair.records import Role, Round, Status
from fcpair.store.optouts import parse
from fcpair.store.store import Tx
from fcpair.store.tables import adjudication, assignment, judgement, person
from fcpair.store.work import LOAD


def heirs(tx: Tx, pair_id: int, role: Role) -> list[dict[str, Any]]:
    """The active people in a role who have had nothing to do with a pair: `id`, `opted_out`, and `load`, the pairs that
    they have done or have open.
    """
    load = (
        select(func.count())
        .where(assignment.c.person_id == person.c.id, assignment.c.status.in_(LOAD))
        .correlate(person)
        .scalar_subquery()
    )
    query = select(person.c.id, load.label("load"), person.c.opted_out).order_by(person.c.id)
    query = query.where(person.c.role == role.value, person.c.retired_at.is_(None), ~_took_part(pair_id))
    return [{"id": row.id, "load": row.load, "opted_out": parse(row.opted_out)} for row in tx.execute(query)]


def _took_part(pair_id: int) -> ColumnElement[bool]:
    given = select(assignment.c.person_id).where(assignment.c.pair_id == pair_id)
    decided = select(adjudication.c.person_id).where(
        adjudication.c.pair_id == pair_id, adjudication.c.person_id.is_not(None)
    )
    return person.c.id.in_(given) | person.c.id.in_(decided)


def fill(tx: Tx, assignment_id: int, pair_id: int, round_: Round, heir_id: int) -> None:
    """Give the slot of a skipped assignment to somebody else, at the end of their shard."""
    last = select(func.max(assignment.c.position)).where(
        assignment.c.person_id == heir_id, assignment.c.round == round_.value
    )
    row = {
        "pair_id": pair_id,
        "person_id": heir_id,
        "round": round_.value,
        "position": (tx.execute(last).scalar() or 0) + 1,
        "status": Status.OPEN.value,
        "replaces": assignment_id,
        "blind": tx.execute(select(assignment.c.blind).where(assignment.c.id == assignment_id)).scalar_one(),
    }
    tx.execute(insert(assignment), [row])


def is_passed_on(tx: Tx, assignment_id: int) -> bool:
    """Whether somebody has taken the slot of an assignment over."""
    return _successor(tx, assignment_id) is not None


def _successor(tx: Tx, assignment_id: int) -> Row[*tuple[Any, ...]] | None:
    query = select(assignment.c.id, assignment.c.status).where(assignment.c.replaces == assignment_id)
    return tx.execute(query).first()


def _has_answered(tx: Tx, assignment_id: int) -> bool:
    return tx.execute(select(judgement.c.id).where(judgement.c.assignment_id == assignment_id)).first() is not None


def reclaim(tx: Tx, assignment_id: int) -> bool:
    """Let an assignment that was skipped or withdrawn fill its slot again; False when somebody has answered there.

    Who took the slot over and has not answered yet loses it. Those in between who passed it on come before the
    assignment now, and so does whoever has an answer there that was withdrawn: the slot is still one row of people of
    whom the last one fills it.
    """
    later: list[Row[*tuple[Any, ...]]] = []
    while found := _successor(tx, later[-1].id if later else assignment_id):
        later.append(found)
    if later and later[-1].status == Status.DONE.value:
        return False
    if later and later[-1].status == Status.OPEN.value:
        if _has_answered(tx, later[-1].id):
            lapse = update(assignment).where(assignment.c.id == later[-1].id)
            tx.execute(lapse.values(status=Status.WITHDRAWN.value))
        else:
            tx.execute(delete(assignment).where(assignment.c.id == later.pop().id))
    if later:
        before = tx.execute(select(assignment.c.replaces).where(assignment.c.id == assignment_id)).scalar()
        for one, replaced in ((assignment_id, None), (later[0].id, before), (assignment_id, later[-1].id)):
            tx.execute(update(assignment).where(assignment.c.id == one).values(replaces=replaced))
    return True
