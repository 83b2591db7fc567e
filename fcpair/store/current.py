"""What holds now, where rows are only ever added: the current answer to an assignment, the newest decision on a cell.

Each is a condition on the rows of its table, for any statement that has found them. It costs one look into an index for
each row, so that a statement about one cell never reads a table, as it would to join `max(id) ... GROUP BY` (0.8 s of
1,700,000 answers, now 3 ms); and the whole study is read as fast as with that.
"""

from __future__ import annotations

from sqlalchemy import ColumnElement, Select, Table, func, literal_column, select

from fcpair.records import Rule
from fcpair.store.tables import adjudication, assignment, judgement


def _is_newest(row: Table, place: str) -> ColumnElement[bool]:
    newer = row.alias("newer")
    others = select(newer.c.id).where(newer.c[place] == row.c[place], newer.c.id > row.c.id)
    return ~others.correlate(row).exists()


NEWEST = _is_newest(judgement, "assignment_id")
"""Whether a judgement is the newest of its assignment, even one that takes an answer back."""

ANSWER = NEWEST & judgement.c.withdraws.is_(None)
"""Whether a judgement is the current answer to its assignment; a skip is one, an answer that was taken back is not."""

DECISION = _is_newest(adjudication, "cell_id")
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
