"""Free slots of open dealing: those that nobody has, and that whoever asks next is given for as long as a lease runs.

A slot that is given out is an assignment with a time `until` which it is held. What is not answered by then lapses:
the assignment is withdrawn, keeps that time, and its slot is free again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Literal, NamedTuple, cast

from sqlalchemy import bindparam, delete, exists, func, literal_column, select, update

from fcpair.records import Round, Status
from fcpair.store.assignment import rounds
from fcpair.store.assignment.vacant_slots import Slot
from fcpair.store.database import sql_lists
from fcpair.store.database.frames import insert_rows
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import assignment, cell, slot


class FreeSlot(NamedTuple):
    """A slot that nobody has; `position` is its place in the order in which they are given out."""

    id: int
    cell_id: int
    row_id: int
    column_id: int
    position: int


def lease_end(minutes: float) -> str:
    """The end of a lease that begins now."""
    return now(minutes)


def add(tx: Tx, of: Round, cell_ids: Sequence[int]) -> None:
    """Let a slot of each of these cells be free, in this order, behind those that are."""
    last = _last_position(tx, of)
    rows = ({"cell_id": one, "round_id": of.id, "position": last + at} for at, one in enumerate(cell_ids, 1))
    insert_rows(tx, slot, rows)


def _last_position(tx: Tx, of: Round) -> int:
    query = select(func.coalesce(func.max(slot.c.position), 0)).where(slot.c.round_id == of.id)
    return int(tx.execute(query).scalar_one())


def give_back(tx: Tx, of: Round, vacant: Sequence[Slot]) -> None:
    """Let slots be free that were skipped or withdrawn, behind the others."""
    last = _last_position(tx, of)
    rows = (
        {"cell_id": one.cell_id, "round_id": of.id, "position": last + at, "replaces": one.id}
        for at, one in enumerate(vacant, 1)
    )
    insert_rows(tx, slot, rows)


def clear(tx: Tx, of: Round) -> int:
    """Take the free slots of a round away; returns how many there were."""
    return int(tx.execute(delete(slot).where(slot.c.round_id.in_(of.ids))).rowcount)


def n_free(tx: Tx, of: Round) -> int:
    """Count the free slots of a round."""
    return int(tx.execute(select(func.count()).select_from(slot).where(slot.c.round_id.in_(of.ids))).scalar_one())


_ANY = PreparedStatement(select(slot.c.id).where(slot.c.round_id == bindparam("round")).limit(1))


def has_free(tx: Tx, of: Round) -> bool:
    """Whether any slot of a round is free."""
    return any(_ANY.first(tx, round=one) is not None for one in of.ids)


def free_slots(tx: Tx, of: Round) -> list[tuple[int, Slot]]:
    """The free slots of a round in their order, each with its number."""
    query = select(slot.c.id, slot.c.replaces, slot.c.cell_id, slot.c.round_id).where(slot.c.round_id.in_(of.ids))
    return [(row[0], Slot(*row[1:])) for row in tx.execute(query.order_by(slot.c.position))]


def remove(tx: Tx, ids: list[int]) -> None:
    """Let these slots be free no more."""
    tx.execute(delete(slot).where(slot.c.id.in_(sql_lists.as_subquery(ids))))


_earlier = assignment.alias("has")
_LAPSED = (_earlier.c.status == Status.WITHDRAWN.value) & _earlier.c.judgement_id.is_(None)
_SAME = (_earlier.c.cell_id == slot.c.cell_id) & (_earlier.c.round_id == slot.c.round_id)
_OWN = _SAME & (_earlier.c.person_id == bindparam("person"))
_IS_ALLOWED = ~exists().where(_OWN, ~_LAPSED)
_NEXT = (
    select(slot.c.id, slot.c.cell_id, cell.c.row_id, cell.c.column_id, slot.c.position)
    .join(cell, cell.c.id == slot.c.cell_id)
    .where(slot.c.round_id == bindparam("round"), slot.c.position > bindparam("after"), _IS_ALLOWED)
    .order_by(slot.c.position)
    .limit(bindparam("n"))
)
Hold = Literal["no", "others", "all"]
_NEXT_BY_HOLD: dict[Hold, PreparedStatement] = {
    "no": PreparedStatement(_NEXT),
    "others": PreparedStatement(_NEXT.with_for_update(of=slot, skip_locked=True)),
    "all": PreparedStatement(_NEXT.with_for_update(of=slot)),
}


def next_free(tx: Tx, of: Round, person_id: int, after: int, n: int, hold: Hold) -> list[FreeSlot]:
    """The next `n` free slots behind a position whose cells a person has not had yet, or lost before they answered.

    `hold` says whether they are held until the end of the transaction: all of them, so that what somebody else is being
    given at this moment is waited for, or the others without waiting.
    """
    return [FreeSlot(*row) for row in _NEXT_BY_HOLD[hold].all(tx, round=of.id, person=person_id, after=after, n=n)]


def assign_slots(
    tx: Tx, chosen: Sequence[FreeSlot], of: Round, person_id: int, *, until: str | None, behind: int
) -> None:
    """Give a person these slots, in their order, behind a position of their own.

    A cell that they had and lost unanswered is theirs again under the same number.
    """
    own_ids = _own_assignments(tx, chosen, of, person_id)
    new = []
    for at, free_slot in enumerate(chosen, behind + 1):
        replaces = _remove_slot(tx, free_slot.id, own_ids.get(free_slot.cell_id))
        row = {"position": at, "status": Status.OPEN.value, "replaces": replaces, "until": until}
        if free_slot.cell_id in own_ids:
            tx.execute(update(assignment).where(assignment.c.id == own_ids[free_slot.cell_id]).values(**row))
        else:
            new.append({"cell_id": free_slot.cell_id, "person_id": person_id, "round_id": of.id, **row})
    insert_rows(tx, assignment, new)


_TEXTS_MET = (
    select(cell.c.row_id, cell.c.column_id)
    .join(assignment, assignment.c.cell_id == cell.c.id)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.round_id == bindparam("round"))
)


def texts_met(tx: Tx, of: Round, person_id: int) -> tuple[Counter[int], Counter[int]]:
    """In how many cells of a round a person has met each row and each column, by its text."""
    pairs = [tuple(row) for row in tx.execute(_TEXTS_MET, {"person": person_id, "round": of.id})]
    return Counter(row for row, _ in pairs), Counter(column for _, column in pairs)


def _own_assignments(tx: Tx, chosen: Sequence[FreeSlot], of: Round, person_id: int) -> dict[int, int]:
    """The assignments that a person had on these cells, by the cell."""
    query = select(_earlier.c.cell_id, _earlier.c.id).where(
        _earlier.c.person_id == person_id, _earlier.c.round_id == of.id
    )
    rows = tx.execute(query.where(_earlier.c.cell_id.in_(sql_lists.as_subquery([one.cell_id for one in chosen]))))
    return {row.cell_id: row.id for row in rows}


def _remove_slot(tx: Tx, slot_id: int, own_id: int | None) -> int | None:
    """Let a slot be free no more; returns which assignment it replaces.

    `own_id` is taken out of the row of those who had a slot: it is to fill this one now.
    """
    if own_id is not None:
        replaced_before = tx.execute(select(assignment.c.replaces).where(assignment.c.id == own_id)).scalar_one()
        tx.execute(update(assignment).where(assignment.c.id == own_id).values(replaces=None))
        for table in (assignment, slot):
            tx.execute(update(table).where(table.c.replaces == own_id).values(replaces=replaced_before))
    removed = tx.execute(delete(slot).where(slot.c.id == slot_id).returning(slot.c.replaces))
    return cast("int | None", removed.scalar_one())


_RENEW = PreparedStatement(
    update(assignment)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.round_id == bindparam("round"))
    .where(assignment.c.status == Status.OPEN.value, assignment.c.until.is_not(None))
    .values(until=bindparam("ends"))
)


def renew_leases(tx: Tx, person_id: int, of: int, ends: str) -> None:
    """Let a person hold until then what they hold in a round, by its id."""
    _RENEW.execute(tx, person=person_id, round=of, ends=ends)


_IS_OPEN = assignment.c.status == literal_column("'open'")  # no parameter, so that the index on leases is used
_OVERDUE = _IS_OPEN & assignment.c.until.is_not(None) & (assignment.c.until < bindparam("now"))
_ANY_OVERDUE = PreparedStatement(select(assignment.c.id).where(_OVERDUE).limit(1))


def has_overdue(tx: Tx) -> bool:
    """Whether any lease has run out."""
    return _ANY_OVERDUE.first(tx, now=now()) is not None


def withdraw_overdue(tx: Tx) -> None:
    """Withdraw what is held for longer than its lease."""
    tx.execute(update(assignment).where(_OVERDUE).values(status=Status.WITHDRAWN.value), {"now": now()})


def end_leases(tx: Tx, of: Round) -> None:
    """Let what is held for a while be held for good."""
    tx.execute(update(assignment).where(rounds.in_round(of), assignment.c.until.is_not(None)).values(until=None))
