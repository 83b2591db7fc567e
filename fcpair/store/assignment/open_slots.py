"""Slots that somebody must fill: those that nobody has, and those that were skipped or withdrawn; without any frame.

In open assignment, whoever asks next is given a free slot for as long as a lease runs. A slot that is given out is an
assignment with a time `until` which it is held. What is not answered by then lapses: the assignment is withdrawn, keeps
that time, and its slot is free again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Literal, NamedTuple

from sqlalchemy import ColumnElement, bindparam, delete, exists, func, literal_column, or_, select, true, update

from fcpair.records import Role, Round, Status
from fcpair.store.assignment import rounds
from fcpair.store.assignment.assignments import ACTIVE, RELEASED
from fcpair.store.database.statements import PreparedStatement, as_param, as_subquery, count, insert_rows, tentative
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import assignment, cell, person, round_, slot
from fcpair.store.optouts import OptOut, parse


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


_later = assignment.alias("later")
_IS_PASSED_ON = exists().where(_later.c.replaces == assignment.c.id)
_VACANT = (
    select(*assignment.c["id", "cell_id", "round_id"])
    .where(rounds.ROUND_PARAM, or_(*(assignment.c.status == lapsed for lapsed in RELEASED)), ~_IS_PASSED_ON)
    .where(~exists().where(slot.c.replaces == assignment.c.id))
    .order_by(assignment.c.id)
)
_ALL_VACANT, _ONE_VACANT = map(PreparedStatement, (_VACANT, _VACANT.where(assignment.c.id == bindparam("one"))))


def find_vacant(tx: Tx, of: Round, assignment_id: int | None = None) -> list[Slot]:
    """The slots of a round that were skipped or withdrawn and that nobody has taken over yet, or of these one alone."""
    query, params = (_ALL_VACANT, {}) if assignment_id is None else (_ONE_VACANT, {"one": assignment_id})
    return [Slot(*row) for row in query.all(tx, rounds=as_param(of.ids), **params)]


_holder = assignment.alias("own")
_OTHER_PAIR = PreparedStatement(
    select(assignment.c.cell_id)
    .join(_holder, _holder.c.person_id == assignment.c.person_id)
    .where(rounds.ROUND_PARAM, _holder.c.id == bindparam("one"), ~_IS_PASSED_ON)
    .order_by(assignment.c.id * bindparam("one") % 65_521)
    .limit(1)
)


def other_pair_of_holder(tx: Tx, of: Round, assignment_id: int) -> int:
    """The cell of some pair of a round that whoever has an assignment has, or left to nobody; 0 if there is none."""
    return next((row.cell_id for row in _OTHER_PAIR.all(tx, rounds=as_param(of.ids), one=assignment_id)), 0)


def _load_query(of_round: ColumnElement[bool]) -> PreparedStatement:
    done_or_open = or_(*(assignment.c.status == status for status in ACTIVE))
    load = select(func.count()).where(assignment.c.person_id == person.c.id, done_or_open, of_round).correlate(person)
    query = select(person.c.id, person.c.name, load.scalar_subquery().label("load"), person.c.opted_out)
    return PreparedStatement(query.where(person.c.role == bindparam("role"), person.c.retired_at.is_(None)))


_IN_ALL, _IN_ROUND, _IN_OTHERS = map(_load_query, (true(), rounds.ROUND_PARAM, ~rounds.ROUND_PARAM))


def candidates(tx: Tx, role: Role, of: Round | None = None) -> list[Candidate]:
    """The active people in a role, in Python's order of their names, with their load in one round or in all but those
    of known pairs: who takes what over does not depend on these.
    """
    query, params = (_IN_ALL, {}) if of is None else (_IN_ROUND, {"rounds": as_param(of.ids)})
    if of is None and (known_ids := rounds.known_ids(tx)):
        query, params = _IN_OTHERS, {"rounds": as_param(known_ids)}
    rows = sorted(query.all(tx, role=role.value, **params), key=lambda row: str(row.name))
    return [Candidate(row.id, row.load, parse(row.opted_out)) for row in rows]


def fill_slots(tx: Tx, rows: Sequence[dict[str, Any]]) -> None:
    """Give slots to others: `cell_id`, `person_id`, `round_id`, `position`, `replaces`, and why, where a rule asked."""
    names, status = ("cell_id", "person_id", "round_id", "position", "replaces"), {"status": Status.OPEN.value}
    why = reasons(tx, [row["replaces"] for row in rows])
    insert_rows(
        tx,
        assignment,
        (
            {**{name: row[name] for name in names}, **status, "because": row.get("because") or why.get(row["replaces"])}
            for row in rows
        ),
    )


def reasons(tx: Tx, ids: Iterable[int | None]) -> dict[int | None, str]:
    """What the standing rule was that asked for each of these assignments, by id, as far as one did."""
    if not (named := [id_ for id_ in ids if id_ is not None]):
        return {}
    is_meant = assignment.c.because.is_not(None), assignment.c.id.in_(as_subquery(named))
    return {row.id: row.because for row in tx.execute(select(*assignment.c["id", "because"]).where(*is_meant))}


def successors(tx: Tx, ids: list[int]) -> dict[int, int]:
    """The assignments that took these slots over, by the slot."""
    query = select(assignment.c.replaces, assignment.c.id).where(assignment.c.replaces.in_(as_subquery(ids)))
    return {row.replaces: row.id for row in tx.execute(query)}


_taken = select(*assignment.c["id", "status", "judgement_id"], literal_column("1").label("n"))
_chain = _taken.where(assignment.c.replaces == bindparam("first")).cte("chain", recursive=True)
_chain = _chain.union_all(
    select(*_later.c["id", "status", "judgement_id"], _chain.c.n + 1).where(_later.c.replaces == _chain.c.id)
)
_REMOVE = PreparedStatement(delete(assignment).where(assignment.c.id == bindparam("one")))
_unanswered = (  # by the index: the first that is open may stand behind a million
    select(assignment.c.id)
    .where(assignment.c.person_id == person.c.id, assignment.c.round_id == round_.c.id)
    .where(assignment.c.status == Status.OPEN.value, assignment.c.judgement_id.is_(None))
    .limit(1)
    .correlate(person, round_)
    .scalar_subquery()
)
_ANY_UNANSWERED = PreparedStatement(
    select(_unanswered.label("id")).select_from(person.join(round_, true())).where(_unanswered.is_not(None)).limit(1)
)
_TAKE_FREE = PreparedStatement(delete(slot).where(slot.c.replaces == bindparam("replaced")))
_LATER_HOLDERS = PreparedStatement(select(*_chain.c["id", "status", "judgement_id"]).order_by(_chain.c.n))


def reclaim_skipped(tx: Tx, assignment_id: int, *, is_control: bool = False) -> bool:
    """Let an assignment that was skipped or withdrawn fill its slot again; False when somebody has answered there. Who
    took the slot over and has not answered loses it. Those in between who passed it on, or whose answer was withdrawn,
    come before the assignment now: the last of a row of people fills a slot. Nobody took over a control pair
    (`is_control`), for which something is removed and put back: the time of a reply tells none.
    """
    # Those who had the slot after it, in order. Where it is free at the end, it is taken; somebody else may be given it
    # at this moment: then they are the last of them.
    later, n_before = _LATER_HOLDERS.all(tx, first=assignment_id), -1
    while (
        n_before != len(later)
        and not _TAKE_FREE.execute(tx, replaced=later[-1].id if later else assignment_id).rowcount
    ):
        n_before, later = len(later), _LATER_HOLDERS.all(tx, first=assignment_id)
    if (status := later[-1].status if later else None) == Status.DONE:
        return False
    unanswered, other = 0, _ANY_UNANSWERED.first(tx)
    if status == Status.OPEN and later[-1].judgement_id is not None:
        tx.execute(update(assignment).where(assignment.c.id == later[-1].id).values(status=Status.WITHDRAWN.value))
    elif status == Status.OPEN:
        unanswered = later.pop().id
    with tentative(tx, is_kept=not is_control):
        _REMOVE.execute(tx, one=other.id if is_control and other else unanswered)
    if later:
        before = tx.scalar(select(assignment.c.replaces).where(assignment.c.id == assignment_id))
        for holder_id, replaced in ((assignment_id, None), (later[0].id, before), (assignment_id, later[-1].id)):
            tx.execute(update(assignment).where(assignment.c.id == holder_id).values(replaces=replaced))
    return True


def leave_slot(tx: Tx, assignment_id: int) -> None:
    """Take an assignment out of the row of those who had a slot: somebody else has answered there in its place."""
    before = tx.scalar(select(assignment.c.replaces).where(assignment.c.id == assignment_id))
    successor_id = tx.scalar(select(assignment.c.id).where(assignment.c.replaces == assignment_id))
    tx.execute(update(assignment).where(assignment.c.id.in_([assignment_id, successor_id])).values(replaces=None))
    tx.execute(update(assignment).where(assignment.c.id == successor_id).values(replaces=before))


class FreeSlot(NamedTuple):
    """A slot that nobody has; `position` is its place in the order in which they are given out."""

    id: int
    cell_id: int
    row_id: int
    column_id: int
    position: int


def add(tx: Tx, of: Round, slots: Iterable[tuple[int, int | None]], because: Sequence[str] = ()) -> None:
    """Let slots of a round be free, behind the others: of each the cell, and the assignment that it is of, if any; and
    `because` of which rule each was asked for, where one did.
    """
    last = tx.scalar(select(func.max(slot.c.position)).where(slot.c.round_id == of.id)) or 0
    listed = list(slots)
    why = reasons(tx, [replaced for _, replaced in listed])
    names = ("round_id", "position", "cell_id", "replaces", "because")
    rows = (
        (of.id, last + at, cell_id, replaced, because[at - 1] if because else why.get(replaced))
        for at, (cell_id, replaced) in enumerate(listed, 1)
    )
    insert_rows(tx, slot, (dict(zip(names, row, strict=True)) for row in rows))


def clear(tx: Tx, of: Round) -> int:
    """Take the free slots of a round away; returns how many there were."""
    return int(tx.execute(delete(slot).where(slot.c.round_id.in_(of.ids))).rowcount)


def n_free(tx: Tx, of: Round) -> int:
    """Count the free slots of a round."""
    return count(tx, slot, slot.c.round_id.in_(of.ids))


_ANY = PreparedStatement(select(slot.c.id).where(slot.c.round_id == bindparam("round")).limit(1))


def has_free(tx: Tx, of: Round) -> bool:
    """Return whether any slot of a round is free."""
    return any(_ANY.first(tx, round=id_) is not None for id_ in of.ids)


def free_slots(tx: Tx, of: Round) -> list[tuple[int, Slot]]:
    """The free slots of a round in their order, each with its number."""
    query = select(*slot.c["id", "replaces", "cell_id", "round_id"]).where(slot.c.round_id.in_(of.ids))
    return [(row[0], Slot(*row[1:])) for row in tx.execute(query.order_by(slot.c.position))]


def remove(tx: Tx, ids: list[int]) -> None:
    """Let these slots be free no more."""
    tx.execute(delete(slot).where(slot.c.id.in_(as_subquery(ids))))


_earlier = assignment.alias("has")
_IS_HAD = (
    exists()
    .where(_earlier.c.cell_id == slot.c.cell_id, _earlier.c.round_id == slot.c.round_id)
    .where(_earlier.c.person_id == bindparam("person"))
    .where(~((_earlier.c.status == Status.WITHDRAWN.value) & _earlier.c.judgement_id.is_(None)))  # it has lapsed
)
_NEXT = (
    select(slot.c.id, slot.c.cell_id, cell.c.row_id, cell.c.column_id, slot.c.position)
    .join(cell, cell.c.id == slot.c.cell_id)
    .where(slot.c.round_id == bindparam("round"), slot.c.position > bindparam("after"), ~_IS_HAD)
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
    """The next `n` free slots behind a position whose cells a person has not had yet, or lost before they answered,
    held until the end of the transaction: `all`, waiting for what others are being given now, or the `others` without
    waiting.
    """
    return [FreeSlot(*row) for row in _NEXT_BY_HOLD[hold].all(tx, round=of.id, person=person_id, after=after, n=n)]


def assign_slots(
    tx: Tx, chosen: Sequence[FreeSlot], of: Round, person_id: int, *, until: str | None, behind: int
) -> None:
    """Give a person these slots, in order, behind a position; cells that they lost unanswered keep their number."""
    own = (assignment.c.person_id == person_id) & (assignment.c.round_id == of.id)
    is_chosen = assignment.c.cell_id.in_(as_subquery([slot.cell_id for slot in chosen]))
    rows = tx.execute(select(*assignment.c["cell_id", "id"]).where(own, is_chosen))
    own_ids, new = {row.cell_id: row.id for row in rows}, []
    for at, free_slot in enumerate(chosen, behind + 1):
        if (own_id := own_ids.get(free_slot.cell_id)) is not None:
            # It is taken out of the row of those who had a slot: it is to fill this one now.
            replaced_before = tx.scalar(select(assignment.c.replaces).where(assignment.c.id == own_id))
            tx.execute(update(assignment).where(assignment.c.id == own_id).values(replaces=None))
            for table in (assignment, slot):
                tx.execute(update(table).where(table.c.replaces == own_id).values(replaces=replaced_before))
        removed = tx.execute(delete(slot).where(slot.c.id == free_slot.id).returning(*slot.c["replaces", "because"]))
        row = {"position": at, "status": Status.OPEN.value, "until": until, **removed.one()._mapping}
        if own_id is not None:
            tx.execute(update(assignment).where(assignment.c.id == own_id).values(**row))
        else:
            new.append({"cell_id": free_slot.cell_id, "person_id": person_id, "round_id": of.id, **row})
    insert_rows(tx, assignment, new)


def texts_met(tx: Tx, of: Round, person_id: int) -> tuple[Counter[int], Counter[int]]:
    """In how many cells of a round a person has met each row and each column, by its text."""
    query = select(*cell.c["row_id", "column_id"]).join(assignment, assignment.c.cell_id == cell.c.id)
    pairs = tx.execute(query.where(assignment.c.person_id == person_id, assignment.c.round_id == of.id)).all()
    return Counter(row for row, _ in pairs), Counter(column for _, column in pairs)


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
    """Return whether any lease has run out."""
    return _ANY_OVERDUE.first(tx, now=now()) is not None


def withdraw_overdue(tx: Tx) -> None:
    """Withdraw what is held for longer than its lease."""
    tx.execute(update(assignment).where(_OVERDUE).values(status=Status.WITHDRAWN.value), {"now": now()})


def end_leases(tx: Tx, of: Round) -> None:
    """Let what is held for a while be held for good."""
    tx.execute(update(assignment).where(rounds.in_round(of), assignment.c.until.is_not(None)).values(until=None))
