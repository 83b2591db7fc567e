"""The desk of one person who answers online: single rows, asked for at every answer, so statements are made once.

A receipt says what a submit was answered, so that one that comes twice is answered alike, and done once. Of two that
come at once, the second waits until the first is done: whoever acts for a person holds that person.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cache
from hashlib import sha256
from itertools import chain
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Select, String, bindparam, case, exists, func, insert, select, update
from sqlalchemy import cast as as_type

from fcpair.errors import ConflictError
from fcpair.params import Adjudicate, Assign, Further
from fcpair.records import Known, Origin, Round, Status, Visitor
from fcpair.store import people
from fcpair.store.answers.judgements import IS_CURRENT, SEEN_DECISION
from fcpair.store.assignment import rounds
from fcpair.store.database import backends, hash_chain, latest_rows, tables
from fcpair.store.database.statements import PreparedStatement, as_param, as_subquery, count, param_subquery
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import adjudication, assignment, cell, judgement, person, receipt, round_, text
from fcpair.store.disputes import has_open_label

_row, _column, _answered = (text.alias(name) for name in ("row", "column", "answered"))
_BODIES = ((of.c.body.label(of.name), of.c.language.label(f"{of.name}_language")) for of in (_row, _column, _answered))
_SHOWN = (
    select(*assignment.c["id", "cell_id", "round_id"], round_.c.blind, *chain.from_iterable(_BODIES))
    .join(cell, cell.c.id == assignment.c.cell_id)
    .join(_row, _row.c.id == cell.c.row_id)
    .join(_column, _column.c.id == cell.c.column_id)
    .outerjoin(_answered, _answered.c.id == func.coalesce(_row.c.answers_id, _column.c.answers_id))
    .join(round_, round_.c.id == assignment.c.round_id)
    .where(assignment.c.person_id == bindparam("person"))
)
# What has no label at present, because its decision was taken back, waits until it has one again; and so does what
# somebody has still to label.
_CHECKABLE = adjudication.c.answer_id.is_not(None) & ~has_open_label(assignment.c.cell_id)
_code, _value = rounds.code_of(adjudication), rounds.value_of(adjudication)
_STANDING = (adjudication.c.id.label("decision_id"), _code.label("decided"), _value.label("decided_value"))
_earlier, _first = assignment.alias("earlier"), round_.alias("first")
_HAS_ITS_FIRST = (
    exists()
    .where(_first.c.grid_id == round_.c.grid_id, _first.c.name == bindparam("rests_on"))
    .where(_first.c.id == _earlier.c.round_id, _earlier.c.cell_id == assignment.c.cell_id)
    .where(_earlier.c.status == Status.DONE.value)
)
_ROWS = (
    select(assignment.c.id, func.min(assignment.c.position).over(partition_by=cell.c.row_id).label("first"))
    .join(cell, cell.c.id == assignment.c.cell_id)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.round_id == bindparam("round"))
    .subquery()
)


@cache
def _open_queries(*, checks: bool, rests: bool, by_row: bool) -> tuple[PreparedStatement, PreparedStatement]:
    n = select(func.count().label("n")).select_from(latest_rows.joined(assignment, round_))
    n = n.where(assignment.c.person_id == bindparam("person"))
    open_ = (assignment.c.round_id == bindparam("round")) & (assignment.c.status == Status.OPEN.value)
    queries: list[Select[Any]] = [_SHOWN.add_columns(*_STANDING) if checks else _SHOWN, n]
    queries = [query.where(open_ & _HAS_ITS_FIRST if rests else open_) for query in queries]
    if checks:
        queries = [query.join(adjudication, latest_rows.DECIDED).where(_CHECKABLE) for query in queries]
    shown, counted = queries
    order: list[ColumnElement[int]] = [assignment.c.position]
    if by_row:
        shown, order = shown.join(_ROWS, _ROWS.c.id == assignment.c.id), [_ROWS.c.first, *order]
    shown = shown.add_columns(order[0].label("at")).order_by(*order).limit(bindparam("n"))
    return PreparedStatement(shown), PreparedStatement(counted)


def _queries_of(of: Round) -> tuple[PreparedStatement, PreparedStatement]:
    by_row = of.options.shows_whole_rows
    return _open_queries(checks=of.checks is not None, rests=bool(of.options.rests_on), by_row=by_row)


def open_tasks(tx: Tx, person_id: int, of: Round, n: int) -> list[dict[str, Any]]:
    """The next `n` cells that a person has open: `id` (assignment), `cell_id`, `blind`, `row`, `column`, `answered`
    (the text that the row's or the column's answers, if any), the language of each (`row_language`, ...), and to
    validate `decision_id`, and `decided` and `decided_value`, the code and the answer that the cell has now.
    """
    query, params = _queries_of(of)[0], {"person": person_id, "n": n, "rests_on": of.options.rests_on}
    rows = [row._asdict() for round_id in of.ids for row in query.all(tx, round=round_id, **params)]
    return sorted(rows, key=itemgetter("at"))[:n]


def n_open(tx: Tx, person_id: int, of: Round) -> int:
    """Count the open cells of a person that can be shown to them now, see `_CHECKABLE` and `_HAS_ITS_FIRST`."""
    query, params = _queries_of(of)[1], {"person": person_id, "rests_on": of.options.rests_on}
    return sum(query.first(tx, round=id_, **params).n for id_ in of.ids)


_ORIGINAL = PreparedStatement(
    select(text.c.body, text.c.language)
    .join(tables.answer, tables.answer.c.text_id == text.c.id)
    .join(judgement, judgement.c.answer_id == tables.answer.c.id)
    .join(assignment, latest_rows.NEWEST)
    .join(round_, round_.c.id == assignment.c.round_id)
    .where(assignment.c.cell_id == bindparam("cell"))
    .where(round_.c.grid_id == bindparam("grid"), round_.c.name == bindparam("edits"))
    .order_by(judgement.c.id.desc())
    .limit(1)
)


def original_text(tx: Tx, of: Round, cell_id: int) -> Any:
    """Text written in the round that this one edits, `body` and `language`: the newest on the cell."""
    return _ORIGINAL.first(tx, cell=cell_id, grid=of.grid_id, edits=of.options.edits)


def row_metadata(tx: Tx, cell_id: int) -> dict[str, Any]:
    """The metadata of the text of a cell's row."""
    query = select(text.c.meta).join(cell, cell.c.row_id == text.c.id)
    return dict(tx.execute(query.where(cell.c.id == cell_id)).scalar_one())


def answered_tasks(
    tx: Tx, person_id: int, round_ids: Sequence[int], before: int | None, n: int, spared: Collection[int] = ()
) -> list[dict[str, Any]]:
    """The cells that a person has answered in these rounds, but for those `spared`, by their first answer, the latest
    first, as `open_tasks` has them and `round_id`, `value` (their answer; None: skipped), `note`, `outdated` (a verdict
    on another label than the cell has now); those before the assignment `before`. What was given to somebody else after
    a skip comes too, as long as they have not answered it.
    """
    later = assignment.alias("later")  # somebody else has answered in its place, or passed it on in their turn
    is_taken_over = exists().where(later.c.replaces == assignment.c.id, later.c.status != Status.OPEN.value)
    checks = round_.c.checks.is_not(None)
    outdated = (checks & ~judgement.c.skipped & ~func.coalesce(IS_CURRENT, False)).label("outdated")
    first_answers = (
        select(judgement.c.assignment_id, func.min(judgement.c.id).label("first"))
        .select_from(latest_rows.JUDGED)
        .where(assignment.c.person_id == person_id, assignment.c.round_id.in_(round_ids))
        .group_by(judgement.c.assignment_id)
        .subquery()
    )
    query = (
        _SHOWN.add_columns(*_STANDING, rounds.value_of(judgement).label("value"), judgement.c.note, outdated)
        .join(first_answers, first_answers.c.assignment_id == assignment.c.id)
        .join(judgement, latest_rows.NEWEST)
        .outerjoin(adjudication, latest_rows.DECIDED)
        .outerjoin(SEEN_DECISION, SEEN_DECISION.c.id == judgement.c.adjudication_id)
        .where(assignment.c.status.in_((Status.DONE.value, Status.SKIPPED.value)), ~is_taken_over.correlate(assignment))
        .where(~checks | _CHECKABLE, assignment.c.cell_id.not_in(as_subquery(sorted(spared))))
        .order_by(first_answers.c.first.desc())
        .limit(n)
    )
    if before is not None:
        first = select(first_answers.c.first).where(first_answers.c.assignment_id == before).scalar_subquery()
        query = query.where(first_answers.c.first < first)
    return [dict(row._mapping) for row in tx.execute(query, {"person": person_id})]


_IS_OPEN = (tables.setting.c.key == f"{Assign.stage}.open") & (as_type(tables.setting.c.value, String) == "true")
_WHO = (
    person.c.role.label("role_now"),
    person.c.token_hash.label("key_now"),
    people.SESSION_SECRET.label("secret_now"),
    (person.c.retired_at.is_not(None) | people.has_ended(bindparam("session"))).label("is_gone"),
)
_STATE = PreparedStatement(
    select(
        select(func.max(round_.c.id)).scalar_subquery().label("newest_round"),
        exists().where(_IS_OPEN).label("deals_openly"),
        *_WHO,
    ).where(person.c.id == bindparam("person"))
)


def visitor_state(tx: Tx, visitor: Visitor) -> Any:
    """State that may have changed since somebody asked: the `newest_round`, whether any grid `deals_openly`, and
    `role_now`, `key_now`, `secret_now` and `is_gone`, by which they may still come in or not.
    """
    return _STATE.first(tx, person=visitor.id, session=visitor.remembered)


_CELLS = PreparedStatement(select(assignment.c.cell_id).where(assignment.c.id.in_(param_subquery("asked"))).distinct())


def hold_people(tx: Tx, person_ids: Sequence[int], assignment_ids: Sequence[int] = ()) -> None:
    """Let nobody else answer for these people, or answer or decide the cells of these assignments, until the end of the
    transaction, before anything of it is looked at; where answers are to be given, nobody else numbers rows either.
    """
    backend = backends.backend_of(tx)
    backend.hold_rows(tx, person, person_ids)
    if assignment_ids:
        backend.hold_rows(tx, cell, [row.cell_id for row in _CELLS.all(tx, asked=as_param(assignment_ids))])
        backend.hold_numbers(tx)


def hold_cell(tx: Tx, person_id: int, cell_id: int) -> None:
    """The same for one who decides about a cell."""
    for table, number in ((person, person_id), (cell, cell_id)):
        backends.backend_of(tx).hold_rows(tx, table, [number])


_qualification, _qualifying = round_.alias("qualification"), assignment.alias("qualifying")
_use, _use_there = (table.c.options["known"].as_string() for table in (round_, _qualification))
_known_for, _known_for_there = (table.c.options["known_for"].as_string() for table in (round_, _qualification))
# The round in which people qualify for that of an assignment, or for the one whose control pairs it has.
_QUALIFICATION = (
    select(_qualification.c.id)
    .where(_qualification.c.grid_id == round_.c.grid_id, _use_there == Known.QUALIFICATION.value)
    .where(_known_for_there == func.coalesce(_known_for, round_.c.name), _qualification.c.id != round_.c.id)
    .correlate(round_)
    .scalar_subquery()
)
_IS_QUALIFYING = exists().where(
    _qualifying.c.person_id == assignment.c.person_id,
    _qualifying.c.round_id == _QUALIFICATION,
    _qualifying.c.status == Status.OPEN.value,
)
_HAS_POLICY, _HAS_RULES = (
    exists().where(tables.setting.c.grid_id == round_.c.grid_id, tables.setting.c.key.startswith(f"{stage}."))
    for stage in (Adjudicate.stage, Further.stage)
)
_COUNTS_OR_CONTROLS = round_.c.counts | (Known.CONTROLS.value == _use)
_FIND_ASSIGNMENT = PreparedStatement(
    hash_chain.with_place(
        select(
            *assignment.c["id", "cell_id", "person_id", "round_id", "status", "until"],
            *round_.c["grid_id", "form", "counts", "checks"],
            *_STANDING[:2],
            case((round_.c.checks.is_not(None), has_open_label(assignment.c.cell_id))).label("still_labelled"),
            people.NEWEST_GUIDELINES.label("guideline_version"),
            (_COUNTS_OR_CONTROLS & _HAS_POLICY).label("may_decide"),
            (_COUNTS_OR_CONTROLS & _HAS_RULES).label("may_ask"),
            _use.label("known"),
            round_.c.options["calibrates"].as_string().label("calibrates"),
            _QUALIFICATION.label("qualification"),
            _IS_QUALIFYING.label("is_qualifying"),
            *hash_chain.PLACE,
            *_WHO,
        )
        .join(round_, round_.c.id == assignment.c.round_id)
        .join(person, person.c.id == assignment.c.person_id)
        .outerjoin(adjudication, latest_rows.DECIDED)
        .where(assignment.c.id == bindparam("one"), assignment.c.person_id == bindparam("person"))
        .where(round_.c.role == bindparam("role"))
    )
)


def find_assignment(tx: Tx, assignment_id: int, visitor: Visitor) -> Any:
    """An assignment: `id`, `cell_id`, `person_id`, `round_id`, `status`, `until`, of its round `grid_id`, `form`,
    `counts`, `checks` and the options `known` and `calibrates`, the standing `decision_id` and `decided`, the newest
    `guideline_version`, whether a policy decides by answers to it, or would if its control pairs counted
    (`may_decide`), the same of standing rules that ask further people (`may_ask`), the id of the round of its
    `qualification`, of which the visitor has something open or not (`is_qualifying`), if somebody has still to label
    what it checks (`still_labelled`), what `hash_chain.add_answer` has to know, and what `visitor_state` has. None
    where the visitor has none of this number in their role.
    """
    visitor_params = {"person": visitor.id, "role": visitor.role.value, "session": visitor.remembered}
    return _FIND_ASSIGNMENT.first(tx, one=assignment_id, **visitor_params)


def own_among(tx: Tx, person_id: int, assignment_ids: Sequence[int]) -> list[int]:
    """Those of these assignments that are a person's."""
    is_asked = assignment.c.id.in_(as_subquery(assignment_ids))
    return list(tx.scalars(select(assignment.c.id).where(assignment.c.person_id == person_id, is_asked)))


_SET_STATUS = PreparedStatement(
    update(assignment)
    .where(assignment.c.id == bindparam("one"))
    .values(status=bindparam("new"), answered_at=bindparam("at"), judgement_id=bindparam("newest"))
)


def add_judgement(tx: Tx, assignment_row: Any, row: dict[str, Any], status: Status) -> int:
    """Add one answer, `row`, with what became of its assignment, as `find_assignment` has it; returns its number."""
    online = {"origin": Origin.ONLINE.value, "run_id": None, "withdraws": None, "at": (at := now())}
    added = hash_chain.add_answer(tx, {"assignment_id": assignment_row.id, **row, **online}, assignment_row)
    _SET_STATUS.execute(tx, one=assignment_row.id, new=status.value, at=at, newest=added)
    return added


def current_answer(tx: Tx, assignment_id: int) -> tuple[int, str, str] | None:
    """Number, digest and origin of the answer to an assignment that counts; None where it was skipped."""
    columns = *map(rounds.reading, ("answer_id", "digest")), judgement.c.origin
    query = select(*columns).join_from(tables.answer, judgement, judgement.c.answer_id == tables.answer.c.id)
    query = query.join(assignment, assignment.c.judgement_id == judgement.c.id).where(assignment.c.id == assignment_id)
    return (row.answer_id, row.digest, row.origin) if (row := tx.execute(query).first()) else None


_is_asked = (receipt.c.person_id == bindparam("person")) & (receipt.c.request_id == bindparam("request"))
_FIND_RECEIPT = PreparedStatement(select(*receipt.c["digest", "reply"]).where(_is_asked))
_NEXT_RECEIPT = select(func.coalesce(func.max(receipt.c.number), 0) + 1).scalar_subquery()
_ADD_RECEIPT = PreparedStatement(
    insert(receipt).values(number=_NEXT_RECEIPT), ("person_id", "request_id", "digest", "reply", "at")
)


def perform_once(
    tx: Tx, person_id: int, request_id: str, content: Mapping[str, Any], act: Callable[[], dict[str, Any]]
) -> dict[str, Any]:
    """Do `act` and keep its reply, or give that of the same request; raises ConflictError for another `content`."""
    digest = sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    if done := _FIND_RECEIPT.first(tx, person=person_id, request=request_id):
        if done.digest != digest:
            raise ConflictError.say("this request id was used for something else; use a new one for each request")
        return dict(done.reply)
    reply = act()
    _ADD_RECEIPT.execute(tx, person_id=person_id, request_id=request_id, digest=digest, reply=reply, at=now())
    if "judgement_id" not in reply:  # each answer on the pages has one
        hash_chain.count_one(tx, "receipt")
    return reply


_COUNTS = (
    select(*assignment.c["round_id", "status"], func.count().label("n"))
    .where(assignment.c.person_id == bindparam("person"), rounds.ROUND_PARAM)
    .group_by(*assignment.c["round_id", "status"])
)
_TIMES = (
    select(*assignment.c["answered_at", "round_id"], cell.c.row_id)
    .join(cell, cell.c.id == assignment.c.cell_id)
    .where(assignment.c.person_id == bindparam("person"), assignment.c.answered_at.is_not(None))
    .order_by(assignment.c.answered_at.desc())
    .limit(bindparam("n"))
)


def status_counts(tx: Tx, person_id: int, round_ids: Sequence[int]) -> dict[tuple[int, str], int]:
    """Count the assignments of a person in these rounds, by round and status."""
    params = {"person": person_id, "rounds": as_param(round_ids)}
    return {(row.round_id, row.status): row.n for row in tx.execute(_COUNTS, params)}


def answer_times(tx: Tx, person_id: int, n: int) -> list[tuple[str, int, int]]:
    """Times of a person's last `n` answers online, oldest first, in which round, and on which row, by its text."""
    return [(row[0], row[1], row[2]) for row in tx.execute(_TIMES, {"person": person_id, "n": n})][::-1]


def pairs_read(tx: Tx, person_id: int, since: str) -> int:
    """Count the pairs that a person has answered or skipped online since a time, in whatever round."""
    return count(tx, assignment, assignment.c.person_id == person_id, assignment.c.answered_at >= since)
