"""The desk of one person who answers online: single rows, asked for at every answer, so statements are made once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, exists, func, select, update

from fcpair.records import Round, Status
from fcpair.store import backends, chain, current, guidelines, lists, rounds
from fcpair.store.answers import value_of
from fcpair.store.decisions import is_about_the_label_now
from fcpair.store.docket import open_label
from fcpair.store.ready import Ready
from fcpair.store.rows import now
from fcpair.store.store import Tx
from fcpair.store.tables import adjudication, answer, assignment, cell, judgement, person, round_, text

_row, _column, _answered = text.alias(), text.alias(), text.alias()
_SHOWN = (
    select(
        assignment.c.id,
        assignment.c.cell_id,
        assignment.c.round_id,
        round_.c.blind,
        _row.c.body.label("row"),
        _row.c.language.label("row_language"),
        _column.c.body.label("column"),
        _column.c.language.label("column_language"),
        _answered.c.body.label("answered"),
        _answered.c.language.label("answered_language"),
    )
    .join(cell, cell.c.id == assignment.c.cell_id)
    .join(_row, _row.c.id == cell.c.row_id)
    .join(_column, _column.c.id == cell.c.column_id)
    .outerjoin(_answered, _answered.c.id == func.coalesce(_row.c.answers_id, _column.c.answers_id))
    .join(round_, round_.c.id == assignment.c.round_id)
    .where(assignment.c.person_id == bindparam("person"))
)
# What has no label at present, because its decision was taken back, waits until it has one again; and so does what
# somebody has still to label.
_CHECKABLE = adjudication.c.answer_id.is_not(None) & ~open_label(assignment.c.cell_id)
_STANDING = (
    adjudication.c.id.label("decision_id"),
    rounds.code_of(adjudication).label("decided"),
    value_of(adjudication).label("decided_value"),
)
_earlier, _first = assignment.alias("earlier"), round_.alias("first")
_IN_FIRST = (_earlier.c.cell_id == assignment.c.cell_id) & (_earlier.c.status == Status.DONE.value)
_HAS_ITS_FIRST = (
    exists()
    .where(_first.c.id == _earlier.c.round_id, _first.c.grid_id == round_.c.grid_id, _IN_FIRST)
    .where(_first.c.name == bindparam("rests_on"))
)


_ROWS = (
    select(assignment.c.id, func.min(assignment.c.position).over(partition_by=cell.c.row_id).label("first"))
    .join(cell, cell.c.id == assignment.c.cell_id)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.round_id == bindparam("round"))
    .subquery()
)


def _open(query: Select[Any], *, checks: bool, rests: bool) -> Select[Any]:
    """What a person has open in a round, and can be shown now."""
    query = query.where(assignment.c.round_id == bindparam("round"), assignment.c.status == Status.OPEN.value)
    if checks:
        query = query.join(adjudication, current.DECIDED).where(_CHECKABLE)
    return query.where(_HAS_ITS_FIRST) if rests else query


@cache
def _next(*, checks: bool, rests: bool, by_row: bool) -> Ready:
    """What is open of a row comes together, where the first of it was, if `by_row`."""
    query = _open(_SHOWN.add_columns(*_STANDING) if checks else _SHOWN, checks=checks, rests=rests)
    at: ColumnElement[int] = assignment.c.position
    if by_row:
        query, at = query.join(_ROWS, _ROWS.c.id == assignment.c.id), _ROWS.c.first
    return Ready(query.add_columns(at.label("at")).order_by(at, assignment.c.position).limit(bindparam("n")))


def open_tasks(tx: Tx, person_id: int, of: Round, n: int) -> list[dict[str, Any]]:
    """The next `n` cells that a person has open: `id` (assignment), `cell_id`, `blind`, `row`, `row_language`,
    `column`, `column_language`, `answered` and `answered_language` (the text that the row's or the column's answers,
    None where there is none), and to validate `decision_id`, and `decided` and `decided_value`, the code and the
    answer that the cell has now.
    """
    query = _next(**_kind(of), by_row=of.by_row)
    given = {"person": person_id, "n": n, "rests_on": of.rests_on}
    found = [row._asdict() for round_id in of.ids for row in query.all(tx, round=round_id, **given)]
    return sorted(found, key=itemgetter("at"))[:n]


def _kind(of: Round) -> dict[str, bool]:
    return {"checks": of.checks is not None, "rests": bool(of.rests_on)}


@cache
def _count(*, checks: bool, rests: bool) -> Ready:
    query = select(func.count().label("n")).select_from(assignment).join(round_, round_.c.id == assignment.c.round_id)
    return Ready(_open(query.where(assignment.c.person_id == bindparam("person")), checks=checks, rests=rests))


def n_open(tx: Tx, person_id: int, of: Round) -> int:
    """How many of the cells that a person has open can be shown to them now.

    What is to be validated has a label at present and none open; what rests on an earlier round has an answer there.
    """
    given = {"person": person_id, "rests_on": of.rests_on}
    return sum(_count(**_kind(of)).first(tx, round=one, **given).n for one in of.ids)


_ORIGINAL = Ready(
    select(text.c.body, text.c.language)
    .join(answer, answer.c.text_id == text.c.id)
    .join(judgement, judgement.c.answer_id == answer.c.id)
    .join(assignment, assignment.c.id == judgement.c.assignment_id)
    .join(round_, round_.c.id == assignment.c.round_id)
    .where(assignment.c.cell_id == bindparam("cell"), current.NEWEST)
    .where(round_.c.grid_id == bindparam("grid"), round_.c.name == bindparam("edits"))
    .order_by(judgement.c.id.desc())
    .limit(1)
)


def original(tx: Tx, of: Round, cell_id: int) -> Any:
    """What was written in the round that this one edits, `body` and `language`: the newest text on the cell."""
    return _ORIGINAL.first(tx, cell=cell_id, grid=of.grid_id, edits=of.edits)


_ROW_META = Ready(select(text.c.meta).join(cell, cell.c.row_id == text.c.id).where(cell.c.id == bindparam("cell")))


def row_metadata(tx: Tx, cell_id: int) -> dict[str, Any]:
    """The metadata of the text of a cell's row."""
    return dict(_ROW_META.first(tx, cell=cell_id).meta)


def answered_tasks(
    tx: Tx, person_id: int, round_ids: Sequence[int], before: int | None, n: int
) -> list[dict[str, Any]]:
    """The cells that a person has answered in these rounds, the latest first, as `open_tasks` has them and `round_id`,
    `value` (their answer; None: skipped), `note`, `outdated`: a verdict on another label than the cell has now.

    They come by their first answer, so that changing one does not move it; `before` is an assignment: those that were
    answered before it. What was given to somebody else after a skip comes too, as long as they have not answered it.
    """
    checks = round_.c.checks.is_not(None)
    outdated = checks & ~judgement.c.skipped & ~func.coalesce(is_about_the_label_now(), False)
    own = (
        select(judgement.c.assignment_id, func.min(judgement.c.id).label("first"))
        .join(assignment, assignment.c.id == judgement.c.assignment_id)
        .where(assignment.c.person_id == person_id, assignment.c.round_id.in_(round_ids))
        .group_by(judgement.c.assignment_id)
        .subquery()
    )
    query = (
        _SHOWN.add_columns(*_STANDING, value_of(judgement).label("value"), judgement.c.note, outdated.label("outdated"))
        .join(own, own.c.assignment_id == assignment.c.id)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .outerjoin(adjudication, current.DECIDED)
        .where(assignment.c.status.in_((Status.DONE.value, Status.SKIPPED.value)), current.NEWEST, ~_taken_over())
        .where(~checks | _CHECKABLE)
        .order_by(own.c.first.desc())
        .limit(n)
    )
    if before is not None:
        query = query.where(own.c.first < select(own.c.first).where(own.c.assignment_id == before).scalar_subquery())
    found = tx.execute(query, {"person": person_id})
    return [dict(row._mapping) for row in found]


def _taken_over() -> Any:
    """Whether somebody else has answered in the place of the assignment, or passed it on in their turn."""
    later = assignment.alias("later")
    answered = later.c.status != Status.OPEN.value
    return exists().where(later.c.replaces == assignment.c.id, answered).correlate(assignment)


_CELLS = Ready(select(assignment.c.cell_id).where(assignment.c.id.in_(lists.listed_as("asked"))).distinct())


def hold(tx: Tx, person_ids: Sequence[int], assignment_ids: Sequence[int]) -> None:
    """Let nobody else answer for these people, or answer or decide the cells of these assignments, until the end of
    the transaction; before anything of it is looked at, where others may write at the same time.
    """
    backend = backends.of(tx)
    if backend.MANY_WRITE:
        backend.hold(tx, person, person_ids)
        backend.hold(tx, cell, [row.cell_id for row in _CELLS.all(tx, asked=lists.as_list(assignment_ids))])


def hold_cell(tx: Tx, person_id: int, cell_id: int) -> None:
    """The same for one who decides about a cell."""
    backend = backends.of(tx)
    backend.hold(tx, person, [person_id])
    backend.hold(tx, cell, [cell_id])


_ASSIGNMENT = Ready(
    select(
        assignment.c.cell_id,
        *(assignment.c[name] for name in ("id", "person_id", "round_id", "status", "until")),
        *(round_.c[name] for name in ("grid_id", "role", "form", "counts", "checks")),
        *_STANDING[:2],
        open_label(assignment.c.cell_id).label("still_labelled"),
        guidelines.NEWEST.label("guideline_version"),
    )
    .join(round_, round_.c.id == assignment.c.round_id)
    .outerjoin(adjudication, current.DECIDED)
    .where(assignment.c.id == bindparam("one"))
)


def find_assignment(tx: Tx, assignment_id: int) -> Any:
    """An assignment: `id`, `cell_id`, `person_id`, `round_id`, `status`, `until`, of its round `grid_id`, `role`,
    `form`, `counts` and `checks`, the standing `decision_id` and `decided`, whether somebody has still to label the
    pair (`still_labelled`), and the newest `guideline_version`; None where there is none.
    """
    return _ASSIGNMENT.first(tx, one=assignment_id)


_SET_STATUS = Ready(
    update(assignment)
    .where(assignment.c.id == bindparam("one"))
    .values(status=bindparam("new"), answered_at=bindparam("at"))
)


def add_judgement(tx: Tx, row: dict[str, Any], status: Status) -> int:
    """Add one answer, with what became of its assignment; returns its number.

    `row` has the columns of a judgement, but for `adjudication_id` of a label.
    """
    at = now()
    added = chain.add_answer(tx, {"adjudication_id": None, **row, "at": at})
    _SET_STATUS.run(tx, one=row["assignment_id"], new=status.value, at=at)
    return added


_COUNTS = (
    select(assignment.c.round_id, assignment.c.status, func.count().label("n"))
    .where(assignment.c.person_id == bindparam("person"), rounds.GIVEN)
    .group_by(assignment.c.round_id, assignment.c.status)
)
_TIMES = (
    select(assignment.c.answered_at, assignment.c.round_id, cell.c.row_id)
    .join(cell, cell.c.id == assignment.c.cell_id)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.answered_at.is_not(None))
    .order_by(assignment.c.answered_at.desc())
    .limit(bindparam("n"))
)
_READ = select(func.count()).where(
    assignment.c.person_id == bindparam("person"), assignment.c.answered_at >= bindparam("since")
)


def status_counts(tx: Tx, person_id: int, round_ids: Sequence[int]) -> dict[tuple[int, str], int]:
    """How many assignments a person has in these rounds, by round and status."""
    given = {"person": person_id, "rounds": lists.as_list(round_ids)}
    return {(row.round_id, row.status): row.n for row in tx.execute(_COUNTS, given)}


def answer_times(tx: Tx, person_id: int, n: int) -> list[tuple[str, int, int]]:
    """When a person gave their last `n` answers online, oldest first, in which round, and on which row, by its text."""
    return [(row[0], row[1], row[2]) for row in tx.execute(_TIMES, {"person": person_id, "n": n})][::-1]


def pairs_read(tx: Tx, person_id: int, since: str) -> int:
    """How many pairs a person has answered or skipped online since a time, in whatever round."""
    return int(tx.execute(_READ, {"person": person_id, "since": since}).scalar_one())
