"""Pairs of a grid: searching them, and the facts that a map of them colours.

All is done set by set, so that it takes a moment in the largest grid, too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlalchemy import ColumnElement, Select, cast, exists, func, or_, select, union

from fcpair.lazy import NDArray, np
from fcpair.pair_filter import FilterState, PairFilter
from fcpair.records import Round, Status
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import latest_rows
from fcpair.store.database.statements import as_subquery, integer_arrays, is_true
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import Number, adjudication, assignment, cell, judgement, person, round_, slot


@dataclass(frozen=True)
class FilterIds:
    """Ids that the names in a filter stand for."""

    texts: tuple[list[int], ...] = ()  # with each of its words
    person: int | None = None
    answer: int | None = None
    among: NDArray[np.int64] | None = None  # the only pairs that may match, each once, ascending
    outside: NDArray[np.int64] | None = None  # pairs that may not
    other: int | None = None
    other_answer: int | None = None
    rows: tuple[list[int], ...] = ()  # the texts of that side with each of its metadata
    columns: tuple[list[int], ...] = ()


def matching_pairs(tx: Tx, wanted: PairFilter, ids: FilterIds) -> NDArray[np.int64]:
    """The cells of the grid that meet every condition, by id, ascending; `ids.among` and `ids.outside` stand for states
    that are no conditions on rows: `labelled`, `waiting`, those of verdicts, and tiers.
    """
    conditions, matching = list(_conditions(tx, wanted, ids)), ids.among
    if matching is None or conditions:
        query = select(cell.c.id).where(cell_range(tx).holds(cell.c.id), *conditions)
        selected = integer_arrays(tx, query.order_by(cell.c.id))["id"]
        matching = selected if matching is None else np.intersect1d(selected, matching, assume_unique=True)
    return matching if ids.outside is None else np.setdiff1d(matching, ids.outside, assume_unique=True)


def _conditions(tx: Tx, wanted: PairFilter, ids: FilterIds) -> Iterator[ColumnElement[bool]]:
    for texts in ids.texts:
        subquery = as_subquery(texts)
        yield or_(cell.c.row_id.in_(subquery), cell.c.column_id.in_(subquery))
    for place, texts_by_condition in ((cell.c.row_id, ids.rows), (cell.c.column_id, ids.columns)):
        for texts in texts_by_condition:
            yield place.in_(as_subquery(texts))
    in_labelling, label_id = rounds.in_round(rounds.primary(tx)), rounds.reads_as(tx, judgement.c.answer_id)
    for person_id, answer_id in ((ids.person, ids.answer), (ids.other, ids.other_answer)):
        if is_theirs := [] if person_id is None else [assignment.c.person_id == person_id]:
            yield cell.c.id.in_(select(assignment.c.cell_id).where(*is_theirs))
        if answer_id is not None:
            yield cell.c.id.in_(_answered(in_labelling, label_id == answer_id, *is_theirs))
    is_own = [] if ids.person is None else [assignment.c.person_id == ids.person]
    if wanted.skipped is not None:
        skipped = _assigned(in_labelling, Status.SKIPPED, *is_own)
        yield cell.c.id.in_(skipped) if wanted.skipped else cell.c.id.not_in(skipped)
    standing = select(adjudication.c.cell_id).where(latest_rows.STANDING)
    if wanted.noted is not None:  # at a current answer in any round or at the standing decision
        is_decider = [] if ids.person is None else [adjudication.c.person_id == ids.person]
        decided = standing.where(adjudication.c.note != "", *is_decider)
        noted = select(union(_answered(judgement.c.note != "", *is_own), decided).subquery().c.cell_id)
        yield cell.c.id.in_(noted) if wanted.noted else cell.c.id.not_in(noted)
    free = select(slot.c.cell_id).where(slot.c.round_id.in_(select(round_.c.id).where(round_.c.counts)))
    if wanted.state == FilterState.UNASSIGNED:
        given = select(assignment.c.cell_id).where(in_labelling)
        yield cell.c.id.not_in(select(union(given, free).subquery().c.cell_id))
    elif wanted.state == FilterState.OPEN:
        yield cell.c.id.in_(select(union(_assigned(in_labelling, Status.OPEN), free).subquery().c.cell_id))
    elif wanted.state in (FilterState.DECIDED, FilterState.DISCARDED):
        is_discarded = adjudication.c.answer_id.is_(None)
        yield cell.c.id.in_(standing.where(is_discarded if wanted.state == FilterState.DISCARDED else ~is_discarded))


def _assigned(in_labelling: ColumnElement[bool], status: Status, *is_own: ColumnElement[bool]) -> Select[tuple[int]]:
    return select(assignment.c.cell_id).where(in_labelling, assignment.c.status == status.value, *is_own)


def _answered(*conditions: ColumnElement[bool]) -> Select[tuple[int]]:
    return select(assignment.c.cell_id).join(judgement, latest_rows.ANSWER).where(*conditions)


def people_with_pairs(tx: Tx) -> list[str]:
    """The names of those who were given pairs of the grid, in any round, in the order in which they came."""
    own = exists().where(assignment.c.person_id == person.c.id, cell_range(tx).holds(assignment.c.cell_id))
    return list(tx.scalars(select(person.c.name).where(own).order_by(person.c.id)))


def has_answers(tx: Tx) -> bool:
    """Return whether anybody has a current answer, a skip included, in the labelling of the grid."""
    return is_true(tx, _answered(rounds.in_round(rounds.primary(tx))).exists())


NO_ID = 0


def current_answers(tx: Tx, of: Round) -> dict[str, NDArray[np.int64]]:
    """Every current answer of a round, in no order: `cell_id`, `answer_id` (0: a skip), `time` (0.1 s; -1: unknown)."""
    answer_id = func.coalesce(judgement.c.answer_id, NO_ID).label("answer_id")
    time = cast(func.coalesce(func.round(judgement.c.seconds * 10), -1), Number).label("time")
    query = select(latest_rows.BY_CELL.label("cell_id"), answer_id, time).select_from(latest_rows.ANSWERED)
    return integer_arrays(tx, query.where(rounds.in_round(of)))
