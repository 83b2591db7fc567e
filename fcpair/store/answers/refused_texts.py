"""Texts that were refused, by which rule, and those that a new one is held against; and replies of models, verbatim."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from sqlalchemy import ColumnElement, Table, bindparam, func, select

from fcpair.lazy import pd
from fcpair.records import Round
from fcpair.store.assignment import rounds
from fcpair.store.database import latest_rows
from fcpair.store.database.statements import PreparedStatement, as_param, frame, insert_rows
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import answer, assignment, judgement, person, refusal, reply, text
from fcpair.work_records import Remark

_WITH_TEXT = latest_rows.joined(latest_rows.JUDGED, answer).join(text, text.c.id == answer.c.text_id)
_WRITTEN = select(text.c.body).select_from(_WITH_TEXT).where(rounds.ROUND_PARAM)
_SINCE = PreparedStatement(
    select(judgement.c.id, judgement.c.assignment_id, text.c.body)
    .join(assignment, assignment.c.id == judgement.c.assignment_id)
    .outerjoin(answer, (answer.c.id == judgement.c.answer_id) & judgement.c.withdraws.is_(None))
    .outerjoin(text, text.c.id == answer.c.text_id)
    .where(rounds.ROUND_PARAM, judgement.c.id > bindparam("after"))
    .order_by(judgement.c.id)
)
_is_own = (assignment.c.person_id == bindparam("person")) & (assignment.c.id != bindparam("besides"))
_OWN = PreparedStatement(_WRITTEN.where(_is_own).group_by(text.c.body).order_by(func.min(judgement.c.id)))


def texts_since(tx: Tx, of: Round, after: int) -> list[tuple[int, int, str | None]]:
    """List the answers in a round after a judgement, oldest first: number of the judgement, assignment, and text (None:
    none was written, or one was taken back). Of each assignment the newest holds.
    """
    return [(row.id, row.assignment_id, row.body) for row in _SINCE.all(tx, rounds=as_param(of.ids), after=after)]


def texts_of_round(tx: Tx, of: Round) -> list[str]:
    """The texts that anybody ever wrote in a round."""
    return list(tx.scalars(_WRITTEN.distinct(), {"rounds": as_param(of.ids)}))


def texts_of_person(tx: Tx, of: Round, person_id: int, excluded_id: int = 0) -> list[str]:
    """The texts that somebody ever wrote in a round, the oldest first, besides those of one assignment."""
    return [row.body for row in _OWN.all(tx, rounds=as_param(of.ids), person=person_id, besides=excluded_id)]


def add(tx: Tx, assignment_id: int, remarks: Sequence[Remark], body: str) -> None:
    """Note what refused a text; the text itself only where its writer lets it be kept."""
    keeps_refused = select(person.c.keeps_refused).join(assignment, assignment.c.person_id == person.c.id)
    stored_body = body if tx.scalar(keeps_refused.where(assignment.c.id == assignment_id)) else None
    same = {"assignment_id": assignment_id, "body": stored_body, "at": now()}
    names = ("rule", "version", "score")
    insert_rows(tx, refusal, ({**same, **{name: getattr(remark, name) for name in names}} for remark in remarks))


def table(tx: Tx, of: Round) -> pd.DataFrame:
    """Texts refused in a round, in order: `cell_id`, `by`, `rule`, `version`, `score`, `text`, `time`."""
    texts = refusal.c.body.label("text"), refusal.c.at.label("time")
    return _table(tx, of, refusal, *refusal.c["rule", "version", "score"], *texts)


def _table(tx: Tx, of: Round, source: Table, *columns: ColumnElement[Any]) -> pd.DataFrame:
    rows = latest_rows.joined(source.join(assignment, assignment.c.id == source.c.assignment_id), person)
    query = select(assignment.c.cell_id, person.c.name.label("by"), *columns).select_from(rows)
    return frame(tx, query.where(rounds.in_round(of)).order_by(source.c.id))


def add_replies(tx: Tx, run_id: int, replies: Iterable[tuple[int, str, Sequence[str]]]) -> None:
    """Keep replies: of each its assignment, what was said, and its marks."""
    rows = ({"assignment_id": at, "run_id": run_id, "body": body, "marks": list(m)} for at, body, m in replies)
    insert_rows(tx, reply, rows)


def reply_marks(tx: Tx, of: Round) -> dict[tuple[int, str], list[str]]:
    """The marks of the replies that are the current answers of a round, skips included, by cell and model's name."""
    is_of_answer = (reply.c.assignment_id == assignment.c.id) & (reply.c.run_id == judgement.c.run_id)
    answers = latest_rows.joined(latest_rows.ANSWERED, person).join(reply, is_of_answer)
    query = select(assignment.c.cell_id, person.c.name, reply.c.marks).select_from(answers)
    rows = tx.execute(query.where(rounds.in_round(of)).order_by(reply.c.id))
    return {(row.cell_id, row.name): row.marks for row in rows}


def reply_table(tx: Tx, of: Round) -> pd.DataFrame:
    """Every reply of a round, oldest first: `cell_id`, `by`, `run`, `reply`, `marks` (a list)."""
    return _table(tx, of, reply, reply.c.run_id.label("run"), reply.c.body.label("reply"), reply.c.marks)
