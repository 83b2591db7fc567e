"""Searching the pairs of a grid: set by set, so that it takes a moment in the largest grid, too."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, exists, or_, select, union

from fcpair.pair_filter import FilterState, PairFilter
from fcpair.records import Status
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import cell_range, current_grid_id
from fcpair.store.corpus.sides import Axis, on_side
from fcpair.store.database import latest_rows, sql_lists
from fcpair.store.database.frames import integer_arrays
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, cell, judgement, person, round_, side, slot, text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class FilterIds:
    """What the names in a filter stand for.

    `texts` has the texts with each of its words, `rows` and `columns` the texts of that side with each of its metadata.
    Only the pairs `among` these may match, and none of those `outside`, where they are given: each once, ascending.
    """

    texts: tuple[list[int], ...] = ()
    person: int | None = None
    answer: int | None = None
    among: NDArray[np.int64] | None = None
    outside: NDArray[np.int64] | None = None
    other: int | None = None
    other_answer: int | None = None
    rows: tuple[list[int], ...] = ()
    columns: tuple[list[int], ...] = ()


def matching_pairs(tx: Tx, wanted: PairFilter, ids: FilterIds) -> NDArray[np.int64]:
    """The cells of the grid that meet every condition, by id, ascending.

    The states `labelled`, `waiting` and those of verdicts, and tiers are conditions on `among` and `outside` alone.
    """
    import numpy as np

    conditions = list(_conditions(tx, wanted, ids))
    if ids.among is None or conditions:
        query = select(cell.c.id).where(cell_range(tx).holds(cell.c.id), *conditions)
        matching = integer_arrays(tx, query.order_by(cell.c.id))["id"]
    else:
        matching = ids.among
    if ids.among is not None and conditions:
        matching = np.intersect1d(matching, ids.among, assume_unique=True)
    return matching if ids.outside is None else np.setdiff1d(matching, ids.outside, assume_unique=True)


def _conditions(tx: Tx, wanted: PairFilter, ids: FilterIds) -> Iterator[ColumnElement[bool]]:
    for texts in ids.texts:
        subquery = sql_lists.as_subquery(texts)
        yield or_(cell.c.row_id.in_(subquery), cell.c.column_id.in_(subquery))
    for place, texts_by_condition in ((cell.c.row_id, ids.rows), (cell.c.column_id, ids.columns)):
        for texts in texts_by_condition:
            yield place.in_(sql_lists.as_subquery(texts))
    is_own = [] if ids.person is None else [assignment.c.person_id == ids.person]
    if is_own:
        yield cell.c.id.in_(select(assignment.c.cell_id).where(*is_own))
    in_labelling = rounds.in_round(rounds.primary(tx))
    if ids.answer is not None:
        yield cell.c.id.in_(_answered(in_labelling, judgement.c.answer_id == ids.answer, *is_own))
    yield from _others_conditions(in_labelling, ids)
    if wanted.skipped is not None:
        yield _is_in(_assigned(in_labelling, Status.SKIPPED, *is_own), wanted.skipped)
    if wanted.noted is not None:
        yield _is_in(_noted(ids.person, *is_own), wanted.noted)
    if wanted.state in (FilterState.OPEN, FilterState.DECIDED, FilterState.DISCARDED):
        yield cell.c.id.in_(_standing_at(FilterState(wanted.state), in_labelling))


def _others_conditions(in_labelling: ColumnElement[bool], ids: FilterIds) -> Iterator[ColumnElement[bool]]:
    is_others = [] if ids.other is None else [assignment.c.person_id == ids.other]
    if is_others:
        yield cell.c.id.in_(select(assignment.c.cell_id).where(*is_others))
    if ids.other_answer is not None:
        yield cell.c.id.in_(_answered(in_labelling, judgement.c.answer_id == ids.other_answer, *is_others))


def _is_in(cell_ids: Any, wanted: bool) -> ColumnElement[bool]:
    return cell.c.id.in_(cell_ids) if wanted else cell.c.id.not_in(cell_ids)


def _assigned(in_labelling: ColumnElement[bool], status: Status, *is_own: ColumnElement[bool]) -> Select[tuple[int]]:
    """The cells of which somebody's labelling has come to this."""
    return select(assignment.c.cell_id).where(in_labelling, assignment.c.status == status.value, *is_own)


def _answered(*conditions: ColumnElement[bool]) -> Select[tuple[int]]:
    """The cells with a current answer of which all this is true."""
    return select(assignment.c.cell_id).join(judgement, latest_rows.ANSWER).where(*conditions)


def _noted(person_id: int | None, *is_own: ColumnElement[bool]) -> Any:
    """The cells with a note, at a current answer in any round or at the standing decision; of one person, if asked."""
    decided = select(adjudication.c.cell_id).where(latest_rows.STANDING, adjudication.c.note != "")
    if person_id is not None:
        decided = decided.where(adjudication.c.person_id == person_id)
    return select(union(_answered(judgement.c.note != "", *is_own), decided).subquery().c.cell_id)


def _standing_at(state: FilterState, in_labelling: ColumnElement[bool]) -> Any:
    if state is FilterState.OPEN:
        is_free = slot.c.round_id.in_(select(round_.c.id).where(round_.c.counts))
        free = select(slot.c.cell_id).where(is_free)
        return select(union(_assigned(in_labelling, Status.OPEN), free).subquery().c.cell_id)
    is_discarded = adjudication.c.answer_id.is_(None)
    outcome = is_discarded if state is FilterState.DISCARDED else ~is_discarded
    return select(adjudication.c.cell_id).where(latest_rows.STANDING, outcome)


def people_with_pairs(tx: Tx) -> list[str]:
    """The names of those who were given pairs of the grid, in any round, in the order in which they came."""
    own = exists().where(assignment.c.person_id == person.c.id, cell_range(tx).holds(assignment.c.cell_id))
    return list(tx.execute(select(person.c.name).where(own).order_by(person.c.id)).scalars())


def has_answers(tx: Tx) -> bool:
    """Whether anybody has a current answer, a skip included, in the labelling of the grid."""
    query = _answered(rounds.in_round(rounds.primary(tx))).limit(1)
    return tx.execute(query).first() is not None


def text_bodies(tx: Tx) -> dict[int, str]:
    """The texts of both sides of the grid, by id."""
    on_side = select(side.c.text_id).where(side.c.grid_id == current_grid_id(tx))
    return {row[0]: row[1] for row in tx.execute(select(text.c.id, text.c.body).where(text.c.id.in_(on_side)))}


def text_metadata(tx: Tx, axis: Axis) -> dict[int, dict[str, Any]]:
    """The metadata that the texts of a side of the grid came with, by id."""
    query = select(text.c.id, text.c.meta).join(side, side.c.text_id == text.c.id).where(on_side(tx, axis))
    return {row.id: row.meta for row in tx.execute(query)}


def newest_marks(tx: Tx) -> tuple[int, int]:
    """The numbers of the newest judgement and the newest decision of the study; 0 where there is none."""
    newest_judgement, newest_decision = (
        int(tx.execute(latest_rows.select_newest_id(table)).scalar_one()) for table in (judgement, adjudication)
    )
    return newest_judgement, newest_decision


def pairs_touched_since(tx: Tx, judgement_id: int, adjudication_id: int) -> list[int]:
    """The pairs of the grid that were answered, in any round, or decided after these, by id."""
    answered = select(assignment.c.cell_id).join(judgement, judgement.c.assignment_id == assignment.c.id)
    decided = select(adjudication.c.cell_id).where(adjudication.c.id > adjudication_id)
    touched = union(answered.where(judgement.c.id > judgement_id), decided).subquery()
    return list(tx.execute(select(touched.c.cell_id).where(cell_range(tx).holds(touched.c.cell_id))).scalars())
