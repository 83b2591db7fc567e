"""Rows that hold now in tables that only grow: the current answer to an assignment, the newest decision on a cell.

Each assignment says which judgement is its newest, so that answers are found by their numbers. The newest decision is a
condition on the rows of its table, for any statement that has found them. It costs one look into an index for each row,
so that a statement about one cell never reads a table, as it would to join `max(id) ... GROUP BY`; and the whole study
is read as fast as with that.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, FromClause, Select, Table, func, literal_column, select

from fcpair.records import BY_HAND, UNDECIDED
from fcpair.store.database import backends
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, answer, assignment, cell, judgement, person, round_

# What joins an assignment with its newest judgement, even one that takes an answer back. Nothing else may join them: of
# two conditions PostgreSQL takes it that hardly a row meets both.
NEWEST = judgement.c.id == assignment.c.judgement_id
# What joins an assignment with the current answer to it; a skip is one, an answer that was taken back is not.
ANSWER = NEWEST & judgement.c.withdraws.is_(None)

_newer = adjudication.alias("newer")
_IS_OVERTAKEN = (_newer.c.cell_id == adjudication.c.cell_id) & (_newer.c.id > adjudication.c.id)
# Whether an adjudication is the newest on its cell, even one that takes a decision back.
DECISION = ~select(_newer.c.id).where(_IS_OVERTAKEN).correlate(adjudication).exists()

# Whether an adjudication leaves its cell undecided (it takes a decision back, or requests a person's), is the decision
# that stands on its cell, or is by hand; and what joins an assignment with the newest decision on its cell.
TAKES_BACK = adjudication.c.rule.in_([rule.value for rule in UNDECIDED])
STANDING = DECISION & ~TAKES_BACK
IS_BY_HAND = adjudication.c.rule.in_([rule.value for rule in BY_HAND])
DECIDED = DECISION & (adjudication.c.cell_id == assignment.c.cell_id)

NOTHING: ColumnElement[int] = literal_column("0")
# The cell and the person of an answer, where all answers are read by them: written so that no index is followed. By it
# they would come from all over the file: 300,000 labels in 2.1 s, and sorted afterwards in 0.6 s.
BY_CELL, BY_PERSON = assignment.c.cell_id + NOTHING, assignment.c.person_id + NOTHING

ANSWERED = judgement.join(assignment, ANSWER)  # the current answers, and every judgement, each with its assignment
JUDGED = judgement.join(assignment, assignment.c.id == judgement.c.assignment_id)
_OF = {
    **{cell: cell.c.id == assignment.c.cell_id, person: person.c.id == assignment.c.person_id},
    **{round_: round_.c.id == assignment.c.round_id, answer: answer.c.id == judgement.c.answer_id},
}


def joined(rows: FromClause, *others: Table) -> FromClause:
    """Assignments or judgements, each with its `cell`, `person` and `round_`, or the `answer` that it points at."""
    for other in others:
        rows = rows.join(other, _OF[other])
    return rows


def select_newest_id(table: Table) -> Select[int]:
    """The number of the newest row of a table; 0 where it is empty."""
    return select(func.coalesce(func.max(table.c.id), 0))


def newest_number(tx: Tx, table: Table) -> int:
    """The number of the newest row, 0 if there is none; nobody else adds one until the end of the transaction."""
    backends.backend_of(tx).hold_numbers(tx)
    return tx.execute(select_newest_id(table)).scalar_one()
