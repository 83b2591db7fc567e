"""Pairs by the metadata of their texts: what people may opt out of reading."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import ColumnElement, exists, func, or_, select, true, update

from fcpair.records import Status
from fcpair.store.store import Tx
from fcpair.store.tables import assignment, pair, text


def _texts_of(column: str, values: Collection[str]) -> ColumnElement[bool]:
    """Whether one side of a pair has one of these values in a metadata column."""
    meant = select(text.c.id).where(text.c.meta[column].as_string().in_(sorted(values))).scalar_subquery()
    return or_(pair.c.hs_id.in_(meant), pair.c.cn_id.in_(meant))


def _any_of(opted_out: Mapping[str, Collection[str]]) -> ColumnElement[bool]:
    return or_(*(_texts_of(column, values) for column, values in opted_out.items()))


def pairs_about(tx: Tx, opted_out: Mapping[str, Collection[str]]) -> list[int]:
    """The pairs of the grid that hold what somebody has opted out of, values by metadata column."""
    return list(tx.execute(select(pair.c.id).where(_any_of(opted_out)).order_by(pair.c.id)).scalars())


def is_about(tx: Tx, pair_id: int, opted_out: Mapping[str, Collection[str]]) -> bool:
    """Whether a pair holds what somebody has opted out of."""
    return tx.execute(select(pair.c.id).where(pair.c.id == pair_id, _any_of(opted_out))).first() is not None


def withdraw_about(tx: Tx, person_id: int, opted_out: Mapping[str, Collection[str]]) -> int:
    """Take back what a person has open of what they opted out of; returns how much there was."""
    about = select(pair.c.id).where(_any_of(opted_out)).scalar_subquery()
    open_ = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    change = update(assignment).where(open_, assignment.c.pair_id.in_(about))
    return tx.execute(change.values(status=Status.WITHDRAWN.value)).rowcount


def return_about(
    tx: Tx, person_id: int, before: Mapping[str, Collection[str]], now: Mapping[str, Collection[str]]
) -> int:
    """Open again what a person gave back because of what they opted out of `before`, and not of what they do `now`.

    What somebody else has taken over stays with them. Returns how much came back.
    """
    later = assignment.alias("later")
    free = ~exists().where(later.c.replaces == assignment.c.id)
    mine = (assignment.c.person_id == person_id) & (assignment.c.status == Status.WITHDRAWN.value)
    about = select(pair.c.id).where(_any_of(before), ~_any_of(now) if now else true()).scalar_subquery()
    change = update(assignment).where(mine, free, assignment.c.pair_id.in_(about))
    return tx.execute(change.values(status=Status.OPEN.value)).rowcount


def topics(tx: Tx, column: str) -> list[str]:
    """The values that the texts of the grid have in a metadata column, in alphabetical order."""
    used = select(pair.c.hs_id).union(select(pair.c.cn_id)).scalar_subquery()
    value = text.c.meta[column].as_string()
    query = select(value).where(text.c.id.in_(used), value.is_not(None), value != "").distinct().order_by(value)
    return list(tx.execute(query).scalars())


def open_by_topic(tx: Tx, person_id: int, column: str) -> dict[str, int]:
    """How many open pairs of a person have each value in a metadata column, on either side."""
    value = text.c.meta[column].as_string()
    query = (
        select(value, func.count(assignment.c.id.distinct()))
        .select_from(assignment)
        .join(pair, pair.c.id == assignment.c.pair_id)
        .join(text, or_(text.c.id == pair.c.hs_id, text.c.id == pair.c.cn_id))
        .where(assignment.c.person_id == person_id, assignment.c.status == Status.OPEN.value, value.is_not(None))
        .group_by(value)
    )
    return {row[0]: row[1] for row in tx.execute(query)}
