"""What holds now, where rows are only ever added: the current answer to an assignment, the newest decision on a cell.

Each is a condition on the rows of its table, for any statement that has found them. It costs one look into an index for
each row, so that a statement about one cell never reads a table, as it would to join `max(id) ... GROUP BY` (0.8 s of
1,700,000 answers, now 3 ms); and the whole study is read as fast as with that.
"""

from __future__ import annotations

from sqlalchemy import Column, ColumnElement, Select, Table, func, literal_column, select

from fcpair.records import Rule
from fcpair.store.tables import adjudication, assignment, judgement


def _is_newest(row: Table, place: Column[int]) -> ColumnElement[bool]:
    """Whether a row is the newest of its `place`: a column of its own, or the key of a table that it is joined with."""
    newer = row.alias("newer")
    of_place = next(own for own in row.c if own is place or own.references(place))
    others = select(newer.c.id).where(newer.c[of_place.name] == place, newer.c.id > row.c.id)
    return ~others.correlate(row, place.table).exists()


NEWEST = _is_newest(judgement, judgement.c.assignment_id)
"""Whether a judgement is the newest of its assignment, even one that takes an answer back."""

ANSWER = NEWEST & judgement.c.withdraws.is_(None)
"""Whether a judgement is the current answer to its assignment; a skip is one, an answer that was taken back is not."""

ANSWER_TO_IT = _is_newest(judgement, assignment.c.id) & judgement.c.withdraws.is_(None)
"""The same, where judgements are joined with their assignments: looked up only for those that are asked about.

Of 200,000 verdicts beside 300,000 labels SQLite reads the current ones in 0.57 s with it and in 0.84 s with ANSWER.
"""

DECISION = _is_newest(adjudication, adjudication.c.cell_id)
"""Whether an adjudication is the newest on its cell, even one that takes a decision back."""

STANDING = DECISION & (adjudication.c.rule != Rule.REOPENED.value)
"""Whether an adjudication is the decision that stands on its cell."""

DECIDED = DECISION & (adjudication.c.cell_id == assignment.c.cell_id)
"""What joins an assignment with the newest decision on its cell."""

BY_CELL = assignment.c.cell_id + literal_column("0")
"""The cell of an answer, where all answers are read by cell: written so that no index is followed.

By the index they would come from all over the file: 1,000,000 labels in 6.3 s, and sorted afterwards in 2.4 s.
"""


def last(table: Table) -> Select[int]:
    """The number of the newest row of a table; 0 where it is empty."""
    return select(func.coalesce(func.max(table.c.id), 0))
