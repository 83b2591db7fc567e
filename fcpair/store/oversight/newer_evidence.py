"""Answers and decisions that came after a run, which figures that it noted do not rest on."""

from __future__ import annotations

from collections.abc import Iterable

from sqlalchemy import and_, or_, select

from fcpair.records import Round, RunRecord
from fcpair.store.corpus import grids
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, judgement


def is_answered_since(tx: Tx, run: RunRecord, of: Iterable[Round]) -> bool:
    """Whether an answer of these rounds came after a run: of a later run, or online at a later time."""
    round_ids = [round_id for one in of for round_id in one.ids]
    is_later = or_(judgement.c.run_id > run.id, and_(judgement.c.run_id.is_(None), judgement.c.at > run.at))
    answers = select(judgement.c.id).join(assignment, assignment.c.id == judgement.c.assignment_id)
    query = answers.where(assignment.c.round_id.in_(round_ids), is_later)
    return bool(tx.execute(select(query.exists())).scalar_one())


def is_decided_since(tx: Tx, run: RunRecord) -> bool:
    """Whether a pair of the grid that a transaction is about was decided after a run, by a rule or by somebody."""
    query = select(adjudication.c.id).where(
        grids.cell_range(tx).holds(adjudication.c.cell_id), adjudication.c.at > run.at
    )
    return bool(tx.execute(select(query.exists())).scalar_one())
