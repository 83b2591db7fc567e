"""Pairs by the metadata of their texts: what people may opt out of reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Select, exists, false, func, or_, select, true, update

from fcpair.records import Status
from fcpair.store.database import sql_lists
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, cell, slot, text
from fcpair.store.people.optouts import OptOut, split_topics


def _column_values(column: str) -> Select[Any]:
    """The distinct values that texts have in a metadata column."""
    value = text.c.meta[column].as_string()
    return select(value).where(value.is_not(None), value != "").distinct()


def _has_value(column: str, values: Collection[str], text_condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether one side of a pair has one of these values in a metadata column."""
    value = text.c.meta[column].as_string()
    text_ids = select(text.c.id).where(value.in_(sorted(values)), text_condition).scalar_subquery()
    return or_(cell.c.row_id.in_(text_ids), cell.c.column_id.in_(text_ids))


def _is_about(
    tx: Tx, opted_out: Sequence[OptOut], text_condition: ColumnElement[bool] | None = None
) -> ColumnElement[bool]:
    """Whether a pair holds what somebody has opted out of; only texts that meet `text_condition` are looked at."""
    text_condition = true() if text_condition is None else text_condition
    covered = [
        _has_value(one.column, values, text_condition)
        for one in opted_out
        if (values := list(filter(one.covers, tx.execute(_column_values(one.column).where(text_condition)).scalars())))
    ]
    return or_(false(), *covered)


def pairs_about(tx: Tx, opted_out: Sequence[OptOut], cell_ids: list[int] | None = None) -> list[int]:
    """The pairs of the grid, or those of these few, that hold what somebody has opted out of."""
    if cell_ids is None:
        return list(tx.execute(select(cell.c.id).where(_is_about(tx, opted_out)).order_by(cell.c.id)).scalars())
    is_asked_for = cell.c.id.in_(sql_lists.as_subquery(cell_ids))
    sides = (
        select(cell.c.row_id).where(is_asked_for).union(select(cell.c.column_id).where(is_asked_for)).scalar_subquery()
    )
    about = _is_about(tx, opted_out, text.c.id.in_(sides))
    return list(tx.execute(select(cell.c.id).where(is_asked_for, about).order_by(cell.c.id)).scalars())


def _is_open_about(tx: Tx, person_id: int, opted_out: Sequence[OptOut]) -> ColumnElement[bool]:
    about = select(cell.c.id).where(_is_about(tx, opted_out)).scalar_subquery()
    open_ = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    return open_ & assignment.c.cell_id.in_(about)


def n_open_about(tx: Tx, person_id: int, opted_out: Sequence[OptOut]) -> int:
    """Count the open assignments of a person about what they opted out of."""
    query = select(func.count()).select_from(assignment).where(_is_open_about(tx, person_id, opted_out))
    return int(tx.execute(query).scalar_one())


def withdraw_about(tx: Tx, person_id: int, opted_out: Sequence[OptOut]) -> int:
    """Take back what a person has open of what they opted out of; returns how much there was."""
    change = update(assignment).where(_is_open_about(tx, person_id, opted_out))
    return tx.execute(change.values(status=Status.WITHDRAWN.value, until=None)).rowcount


def return_about(tx: Tx, person_id: int, opted_out_before: Sequence[OptOut], opted_out_now: Sequence[OptOut]) -> int:
    """Open again what a person gave back for topics in `opted_out_before` that are not in `opted_out_now`.

    What somebody else has taken over stays with them. Returns how much came back.
    """
    later = assignment.alias("later")
    free = ~exists().where(later.c.replaces == assignment.c.id) & ~exists().where(slot.c.replaces == assignment.c.id)
    mine = (assignment.c.person_id == person_id) & (assignment.c.status == Status.WITHDRAWN.value)
    about = select(cell.c.id).where(_is_about(tx, opted_out_before), ~_is_about(tx, opted_out_now)).scalar_subquery()
    change = update(assignment).where(mine, free, assignment.c.cell_id.in_(about))
    return tx.execute(change.values(status=Status.OPEN.value)).rowcount


def topics(tx: Tx, column: str, split: str) -> list[str]:
    """The topics that the texts of the grid have in a metadata column, in alphabetical order.

    Of several ways to write a topic, the first in the alphabet is taken.
    """
    used = select(cell.c.row_id).union(select(cell.c.column_id)).scalar_subquery()
    spelling_by_key: dict[str, str] = {}
    for value in tx.execute(_column_values(column).where(text.c.id.in_(used))).scalars():
        for key, written in split_topics(value, split).items():
            spelling_by_key[key] = min(written, spelling_by_key.get(key, written))
    return sorted(spelling_by_key.values())


def open_by_topic(tx: Tx, person_id: int, column: str, split: str) -> Counter[str]:
    """Count the open pairs of a person with each topic on either side, by its `topic_key`."""
    hs, cn = text.alias(), text.alias()
    sides = (side.c.meta[column].as_string().label(name) for side, name in ((hs, "hs"), (cn, "cn")))
    per_assignment = (
        select(*sides)
        .select_from(assignment)
        .join(cell, cell.c.id == assignment.c.cell_id)
        .join(hs, hs.c.id == cell.c.row_id)
        .join(cn, cn.c.id == cell.c.column_id)
        .where(assignment.c.person_id == person_id, assignment.c.status == Status.OPEN.value)
        .subquery()
    )
    query = select(per_assignment.c.hs, per_assignment.c.cn, func.count()).group_by(
        per_assignment.c.hs, per_assignment.c.cn
    )
    counts: Counter[str] = Counter()
    for *values, n in tx.execute(query):
        for key in {key for value in values for key in split_topics(value or "", split)}:
            counts[key] += n
    return counts
