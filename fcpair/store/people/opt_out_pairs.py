"""Pairs by the metadata of their texts: what people may opt out of reading."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, false, func, or_, select, true, union, update

from fcpair.records import Status
from fcpair.store.assignment.assignments import OPTED_OUT
from fcpair.store.database import sql_lists
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, cell, person, round_, text
from fcpair.store.people.optouts import OptOut, split_topics


def _column_values(column: str) -> Select[Any]:
    """The distinct values that texts have in a metadata column."""
    value = text.c.meta[column].as_string()
    return select(value).where(value.is_not(None), value != "").distinct()


def _has_value(column: str, values: Collection[str], text_condition: ColumnElement[bool]) -> ColumnElement[bool]:
    """Whether one side of a pair, or the text that it answers, has one of these values in a metadata column."""
    value = text.c.meta[column].as_string()
    having = select(text.c.id).where(value.in_(sorted(values)), text_condition)
    answering = text.alias("answering")
    text_ids = having.union(select(answering.c.id).where(answering.c.answers_id.in_(having)))
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


def pairs_about(tx: Tx, opted_out: Sequence[OptOut], cell_ids: Sequence[int] | None = None) -> list[int]:
    """The pairs of the grid, or those of these few, that hold what somebody has opted out of."""
    if cell_ids is None:
        return list(tx.execute(select(cell.c.id).where(_is_about(tx, opted_out)).order_by(cell.c.id)).scalars())
    is_asked_for = cell.c.id.in_(sql_lists.as_subquery(list(cell_ids)))
    rows, columns = select(cell.c.row_id).where(is_asked_for), select(cell.c.column_id).where(is_asked_for)
    side = text.alias("side")
    answered = select(side.c.answers_id).where(side.c.id.in_(rows.union(columns)), side.c.answers_id.is_not(None))
    about = _is_about(tx, opted_out, text.c.id.in_(union(rows, columns, answered)))
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
    return tx.execute(change.values(status=OPTED_OUT, until=None)).rowcount


class TakenBack(NamedTuple):
    """Assignment that was taken back from somebody who opted out of its topic, of a round of a grid."""

    id: int
    round_id: int
    grid_id: int


def taken_back(tx: Tx, person_id: int, opted_out_now: Sequence[OptOut]) -> list[TakenBack]:
    """What was taken back from a person, in the role that they have now, for topics that are not in `opted_out_now`."""
    query = (
        select(assignment.c.id, assignment.c.round_id, round_.c.grid_id)
        .join(cell, cell.c.id == assignment.c.cell_id)
        .join(round_, round_.c.id == assignment.c.round_id)
        .join(person, person.c.id == assignment.c.person_id)
        .where(assignment.c.person_id == person_id, assignment.c.status == OPTED_OUT)
        .where(round_.c.role == person.c.role, ~_is_about(tx, opted_out_now))
        .order_by(assignment.c.id)
    )
    return [TakenBack(*row) for row in tx.execute(query)]


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
