"""Replies of models, verbatim, and the mark of each reply."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import select

from fcpair.records import Round
from fcpair.store.assignment import rounds
from fcpair.store.database import latest_rows
from fcpair.store.database.frames import frame, insert_rows
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, judgement, person, reply

if TYPE_CHECKING:
    import pandas as pd


def add(tx: Tx, run_id: int, replies: Iterable[tuple[int, str, Sequence[str]]]) -> None:
    """Keep replies: of each its assignment, what was said, and its marks."""
    insert_rows(
        tx,
        reply,
        ({"assignment_id": one, "run_id": run_id, "body": body, "marks": list(m)} for one, body, m in replies),
    )


def marks(tx: Tx, of: Round) -> dict[tuple[int, str], list[str]]:
    """The marks of the replies that are the current answers of a round, skips included, by cell and model's name.

    A skip to which the model had no reply has none.
    """
    query = (
        select(assignment.c.cell_id, person.c.name, reply.c.marks)
        .select_from(judgement)
        .join(assignment, latest_rows.ANSWER)
        .join(person, person.c.id == assignment.c.person_id)
        .join(reply, (reply.c.assignment_id == assignment.c.id) & (reply.c.run_id == judgement.c.run_id))
        .where(rounds.in_round(of))
        .order_by(reply.c.id)
    )
    return {(row.cell_id, row.name): row.marks for row in tx.execute(query)}


def table(tx: Tx, of: Round) -> pd.DataFrame:
    """Every reply of a round, oldest first: `cell_id`, `by`, `run`, `reply`, `marks` (a list)."""
    query = (
        select(
            assignment.c.cell_id,
            person.c.name.label("by"),
            reply.c.run_id.label("run"),
            reply.c.body.label("reply"),
            reply.c.marks,
        )
        .join(assignment, assignment.c.id == reply.c.assignment_id)
        .join(person, person.c.id == assignment.c.person_id)
        .where(rounds.in_round(of))
        .order_by(reply.c.id)
    )
    return frame(tx, query)
