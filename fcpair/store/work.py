"""Assignments: who has been given which pair, in which round, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import bindparam, delete, func, select, update
from sqlalchemy.orm import aliased

from fcpair.records import Round, Status
from fcpair.store import dialect
from fcpair.store.ready import Ready
from fcpair.store.rows import frame, insert_rows, records
from fcpair.store.store import Tx
from fcpair.store.tables import assignment, pair, person, text

if TYPE_CHECKING:
    import pandas as pd

LAPSED = (Status.SKIPPED.value, Status.WITHDRAWN.value)
LOAD = (Status.DONE.value, Status.OPEN.value)  # what somebody has done and will do


def add_assignments(tx: Tx, assignments: pd.DataFrame, round_: Round) -> None:
    """Give out pairs: `pair_id`, `person_id`, `position`, `status`; `replaces` where a slot is filled again; `blind`
    where it is to be validated.
    """
    insert_rows(tx, assignment, records(assignments.assign(round=round_.value)))


def assignments(tx: Tx, round_: Round) -> pd.DataFrame:
    """All assignments of a round: `id`, `pair_id`, `person_id`, `position`, `status`, `blind`, `hs_id`, `cn_id`."""
    query = (
        select(
            assignment.c.id,
            assignment.c.pair_id,
            assignment.c.person_id,
            assignment.c.position,
            assignment.c.status,
            assignment.c.blind,
            pair.c.hs_id,
            pair.c.cn_id,
        )
        .join(pair, pair.c.id == assignment.c.pair_id)
        .where(assignment.c.round == round_.value)
        .order_by(assignment.c.id)
    )
    return frame(tx, query).astype({"blind": bool})


def open_work(tx: Tx, round_: Round) -> pd.DataFrame:
    """What people still have to do, shard by shard in its order.

    Columns: `id`, `annotator` (pseudonym), `position`, `pair_id`, `blind`, `hs_id`, `cn_id`, `hs`, `cn`.
    """
    hs, cn = aliased(text), aliased(text)
    query = (
        select(
            assignment.c.id,
            person.c.name.label("annotator"),
            assignment.c.position,
            assignment.c.pair_id,
            assignment.c.blind,
            pair.c.hs_id,
            pair.c.cn_id,
            hs.c.body.label("hs"),
            cn.c.body.label("cn"),
        )
        .join(person, person.c.id == assignment.c.person_id)
        .join(pair, pair.c.id == assignment.c.pair_id)
        .join(hs, hs.c.id == pair.c.hs_id)
        .join(cn, cn.c.id == pair.c.cn_id)
        .where(assignment.c.round == round_.value, assignment.c.status == Status.OPEN.value)
        .order_by(person.c.id, assignment.c.position)
    )
    return frame(tx, query).astype({"blind": bool})


def dealt(tx: Tx, round_: Round) -> pd.DataFrame:
    """Who was dealt what to begin with, before anything found new hands: `pair_id`, `person_id`."""
    query = select(assignment.c.pair_id, assignment.c.person_id)
    return frame(tx, query.where(assignment.c.round == round_.value, assignment.c.replaces.is_(None)))


def lapsed(tx: Tx, ids: list[int]) -> list[int]:
    """Those of these assignments that were skipped or withdrawn."""
    query = select(assignment.c.id).where(assignment.c.id.in_(dialect.listed(ids)), assignment.c.status.in_(LAPSED))
    return list(tx.execute(query.order_by(assignment.c.id)).scalars())


def set_status(tx: Tx, ids: list[int], statuses: list[str]) -> None:
    """Note what became of assignments."""
    change = update(assignment).where(assignment.c.id == bindparam("one")).values(status=bindparam("new"))
    if ids:
        tx.execute(change, [{"one": one, "new": new} for one, new in zip(ids, statuses, strict=True)])


def ask_again(tx: Tx, ids: list[int], *, blind: bool) -> None:
    """Open assignments of validators again, who see the label this time or do not."""
    change = update(assignment).where(assignment.c.id.in_(dialect.listed(ids)))
    tx.execute(change.values(status=Status.OPEN.value, blind=blind))


def kinds(tx: Tx, person_id: int | None = None) -> set[bool]:
    """Whether what was dealt to validators, or to one of them, is blind: one of both, both, or none of them."""
    query = select(assignment.c.blind).where(assignment.c.round == Round.VALIDATE.value).distinct()
    return set(tx.execute(query if person_id is None else query.where(assignment.c.person_id == person_id)).scalars())


def withdraw(tx: Tx, person_id: int) -> int:
    """Take back a person's open work; returns how much there was."""
    open_ = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    return tx.execute(update(assignment).where(open_).values(status=Status.WITHDRAWN.value)).rowcount


def newest_times(tx: Tx) -> list[str]:
    """When each person who has answered online did so last."""
    own = select(func.max(assignment.c.answered_at)).where(assignment.c.person_id == person.c.id).correlate(person)
    query = select(own.scalar_subquery()).select_from(person).order_by(person.c.id)
    return [at for at in tx.execute(query).scalars() if at is not None]


_LAST = Ready(
    select(assignment.c.person_id, func.max(assignment.c.position).label("last"))
    .where(assignment.c.round == bindparam("round"), assignment.c.person_id.in_(dialect.listed_as("people")))
    .group_by(assignment.c.person_id)
)


def last_positions(tx: Tx, round_: Round, person_ids: list[int]) -> dict[int, int]:
    """The last position of the shards of these people, as far as they have one."""
    found = _LAST.all(tx, round=round_.value, people=dialect.as_list(person_ids))
    return {row.person_id: row.last for row in found}


def counts(tx: Tx) -> pd.DataFrame:
    """How many assignments there are: `round`, `person_id`, `status`, `n`."""
    columns = (assignment.c.round, assignment.c.person_id, assignment.c.status)
    return frame(tx, select(*columns, func.count().label("n")).group_by(*columns).order_by(*columns))


def labels_per_pair(tx: Tx) -> dict[int, int]:
    """How many pairs were given to so many annotators, not counting work that lapsed."""
    given = (
        select(func.count().label("n"))
        .where(assignment.c.round == Round.LABEL.value, assignment.c.status.not_in(LAPSED))
        .group_by(assignment.c.pair_id)
        .subquery()
    )
    query = select(given.c.n, func.count()).group_by(given.c.n).order_by(given.c.n)
    return {row[0]: row[1] for row in tx.execute(query)}


def clear_assignments(tx: Tx, round_: Round) -> None:
    """Forget a round that nobody has answered in."""
    tx.execute(update(assignment).where(assignment.c.round == round_.value).values(replaces=None))
    tx.execute(delete(assignment).where(assignment.c.round == round_.value))
