"""Slots that must find new hands, who there is to take them, and giving them back; without any frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Row, bindparam, delete, exists, func, or_, select, true, update

from fcpair.records import Role, Round, Status
from fcpair.store.assignment import rounds
from fcpair.store.assignment.assignments import ACTIVE, RELEASED
from fcpair.store.database import sql_lists
from fcpair.store.database.frames import insert_rows
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, person, slot
from fcpair.store.people.optouts import OptOut, parse


class Slot(NamedTuple):
    """An assignment that was skipped or withdrawn and that nobody has taken over; `id` is None where nobody had it."""

    id: int | None
    cell_id: int
    round_id: int


class Candidate(NamedTuple):
    """Somebody who might take a slot over; `load` is how many pairs they have done or have open."""

    id: int
    load: int
    opted_out: tuple[OptOut, ...] = ()


_FILLED_COLUMNS = ("person_id", "round_id", "position", "replaces")
_later = assignment.alias("later")
_VACANT = (
    select(assignment.c.id, assignment.c.cell_id, assignment.c.round_id)
    .where(
        or_(*(assignment.c.status == lapsed for lapsed in RELEASED)),
        ~exists().where(_later.c.replaces == assignment.c.id),
        ~exists().where(slot.c.replaces == assignment.c.id),
    )
    .order_by(assignment.c.id)
)
_ALL = PreparedStatement(_VACANT.where(rounds.ROUND_PARAM))
_ONE = PreparedStatement(_VACANT.where(rounds.ROUND_PARAM, assignment.c.id == bindparam("one")))


def find_vacant(tx: Tx, of: Round, assignment_id: int | None = None) -> list[Slot]:
    """The slots of a round that were skipped or withdrawn and that nobody has taken over yet, or of these one alone."""
    query, params = (_ALL, {}) if assignment_id is None else (_ONE, {"one": assignment_id})
    return [Slot(*row) for row in query.all(tx, rounds=rounds.round_param(of), **params)]


def _load_query(of_round: ColumnElement[bool]) -> PreparedStatement:
    """The active people in a role, with how much they have done or have open."""
    done_or_open = or_(*(assignment.c.status == status for status in ACTIVE))
    load = select(func.count()).where(assignment.c.person_id == person.c.id, done_or_open, of_round).correlate(person)
    query = select(person.c.id, person.c.name, load.scalar_subquery().label("load"), person.c.opted_out)
    return PreparedStatement(query.where(person.c.role == bindparam("role"), person.c.retired_at.is_(None)))


_IN_ALL, _IN_ROUND, _IN_OTHERS = map(_load_query, (true(), rounds.ROUND_PARAM, ~rounds.ROUND_PARAM))


def candidates(tx: Tx, role: Role, of: Round | None = None) -> list[Candidate]:
    """The active people in a role by name, with their load in all rounds or in one.

    They are dealt to in this order (Python's, as databases differ), so that nothing rests on who was added first. Known
    pairs are no load: who takes what over does not depend on them.
    """
    query, params = (_IN_ALL, {}) if of is None else (_IN_ROUND, {"rounds": rounds.round_param(of)})
    if of is None and (known_ids := rounds.known_ids(tx)):
        query, params = _IN_OTHERS, {"rounds": sql_lists.as_param(known_ids)}
    rows = sorted(query.all(tx, role=role.value, **params), key=lambda row: str(row.name))
    return [Candidate(row.id, row.load, parse(row.opted_out)) for row in rows]


def fill_slots(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Give slots to others: `cell_id`, `person_id`, `round_id`, `position`, `replaces`."""
    complete_rows = ({"cell_id": row["cell_id"], **{name: row[name] for name in _FILLED_COLUMNS}} for row in rows)
    insert_rows(tx, assignment, ({**row, "status": Status.OPEN.value} for row in complete_rows))


def successors(tx: Tx, ids: list[int]) -> dict[int, int]:
    """The assignments that took these slots over, by the slot."""
    query = select(assignment.c.replaces, assignment.c.id).where(assignment.c.replaces.in_(sql_lists.as_subquery(ids)))
    return {row.replaces: row.id for row in tx.execute(query)}


def _successor(tx: Tx, assignment_id: int) -> Row[*tuple[Any, ...]] | None:
    query = select(assignment.c.id, assignment.c.status, assignment.c.judgement_id)
    return tx.execute(query.where(assignment.c.replaces == assignment_id)).first()


def reclaim_skipped(tx: Tx, assignment_id: int) -> bool:
    """Let an assignment that was skipped or withdrawn fill its slot again; False when somebody has answered there.

    Who took the slot over and has not answered yet loses it, and it is free no more. Those in between who passed it on
    come before the assignment now, and so does whoever has an answer there that was withdrawn: the slot is still one
    row of people of whom the last one fills it.
    """
    later = _later_holders(tx, assignment_id)
    if later and later[-1].status == Status.DONE.value:
        return False
    if later and later[-1].status == Status.OPEN.value:
        if later[-1].judgement_id is not None:
            lapse = update(assignment).where(assignment.c.id == later[-1].id)
            tx.execute(lapse.values(status=Status.WITHDRAWN.value))
        else:
            tx.execute(delete(assignment).where(assignment.c.id == later.pop().id))
    if later:
        before = tx.execute(select(assignment.c.replaces).where(assignment.c.id == assignment_id)).scalar()
        for holder_id, replaced in ((assignment_id, None), (later[0].id, before), (assignment_id, later[-1].id)):
            tx.execute(update(assignment).where(assignment.c.id == holder_id).values(replaces=replaced))
    return True


def leave_slot(tx: Tx, assignment_id: int) -> None:
    """Take an assignment out of the row of those who had a slot: somebody else has answered there in its place."""
    own = assignment.c.id == assignment_id
    before = tx.execute(select(assignment.c.replaces).where(own)).scalar()
    later = assignment.c.replaces == assignment_id
    successor_id = tx.execute(select(assignment.c.id).where(later)).scalar()
    tx.execute(update(assignment).where(assignment.c.id.in_([assignment_id, successor_id])).values(replaces=None))
    tx.execute(update(assignment).where(assignment.c.id == successor_id).values(replaces=before))


def _later_holders(tx: Tx, assignment_id: int) -> list[Row[*tuple[Any, ...]]]:
    """Find those who have had a slot after this assignment, one after the other; where it is free at the end, take it.

    Somebody else may be given it at this moment: then they are the last of them.
    """
    later: list[Row[*tuple[Any, ...]]] = []
    while True:
        last = later[-1].id if later else assignment_id
        if successor := _successor(tx, last):
            later.append(successor)
        elif not tx.execute(delete(slot).where(slot.c.replaces == last)).rowcount:
            successor = _successor(tx, last)
            if successor is None:
                return later
            later.append(successor)
        else:
            return later
