"""Texts of a pilot: who wrote them, and how they were judged."""

from __future__ import annotations

from sqlalchemy import select

from fcpair.records import Round
from fcpair.store.assignment import rounds
from fcpair.store.database import latest_rows
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, cell, judgement


def texts_by_writer(tx: Tx, of: Round) -> dict[int, list[int]]:
    """The texts of everybody's current answers in a round, by the person."""
    query = (
        select(assignment.c.person_id, answer.c.text_id)
        .join(judgement, latest_rows.ANSWER)
        .join(answer, answer.c.id == judgement.c.answer_id)
        .where(rounds.in_round(of), answer.c.text_id.is_not(None))
        .order_by(assignment.c.id)
    )
    by_writer: dict[int, list[int]] = {}
    for person_id, text_id in tx.execute(query):
        by_writer.setdefault(person_id, []).append(text_id)
    return by_writer


def row_judgements(tx: Tx, of: Round) -> list[tuple[int, int]]:
    """The text of the row, and the code, of every current answer in a round that asks one closed question."""
    query = (
        select(cell.c.row_id, answer.c.code)
        .join(assignment, assignment.c.cell_id == cell.c.id)
        .join(judgement, latest_rows.ANSWER)
        .join(answer, answer.c.id == judgement.c.answer_id)
        .where(rounds.in_round(of), answer.c.code.is_not(None))
    )
    return [(row[0], row[1]) for row in tx.execute(query)]
