"""Answers that a discussion is about, for pages that many people look at: without any frame."""

from __future__ import annotations

from typing import NamedTuple

from sqlalchemy import func, select

from fcpair.records import Round
from fcpair.store.assignment import rounds
from fcpair.store.database import latest_rows, sql_lists
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, judgement


class DiscussedAnswer(NamedTuple):
    """Somebody's current answer on a cell: its value as a round keeps it, and the note on it."""

    cell_id: int
    person_id: int
    value: str
    note: str


def cells_to_discuss(tx: Tx, again: Round, person_id: int | None = None) -> list[int]:
    """The cells that people answer once more after a discussion, or one of them does, in the order of their shards."""
    query = select(assignment.c.cell_id).where(rounds.in_round(again))
    if person_id is not None:
        query = query.where(assignment.c.person_id == person_id)
    return list(tx.execute(query.group_by(assignment.c.cell_id).order_by(func.min(assignment.c.position))).scalars())


def current_answers(tx: Tx, of: Round, cell_ids: list[int]) -> list[DiscussedAnswer]:
    """The current answers of a round on these cells, skips left out."""
    query = (
        select(assignment.c.cell_id, assignment.c.person_id, answer.c.value, judgement.c.note)
        .select_from(judgement)
        .join(assignment, latest_rows.ANSWER)
        .join(answer, answer.c.id == judgement.c.answer_id)
        .where(rounds.in_round(of), ~judgement.c.skipped, assignment.c.cell_id.in_(sql_lists.as_subquery(cell_ids)))
        .order_by(assignment.c.cell_id, assignment.c.person_id)
    )
    return [DiscussedAnswer(*row) for row in tx.execute(query)]
