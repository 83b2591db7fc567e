"""Where pairs stand: their labels, the decision about each, and which decisions by hand are older than a label.

Statements are made once, because every answer online asks for the state of its pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import Select, bindparam, case, exists, func, select

from fcpair.records import BY_HAND, PairState
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import latest_rows, sql_lists
from fcpair.store.database.frames import STREAMED
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, judgement

CELLS_PARAM = "asked"


def pair_states(tx: Tx, codes: Sequence[int], cell_ids: Sequence[int] | None = None) -> Iterator[PairState]:
    """The labels of each pair that anybody has answered, and the newest decision about it, by pair; of some, if asked.

    `codes` are those of the scheme, in its order.
    """
    answers = rounds.label_ids(tx)
    query = _states_query(tuple(answers[code] for code in codes), some=cell_ids is not None)
    params: dict[str, Any] = dict(zip(("first", "last"), cell_range(tx), strict=True))
    params |= {} if cell_ids is None else {CELLS_PARAM: sql_lists.as_param(cell_ids)}
    for row in tx.execute(query, params, execution_options=STREAMED):
        yield PairState(row[0], tuple(row[3:]), row[1], row[2])


@cache
def _states_query(answer_ids: tuple[int, ...], *, some: bool) -> Select[Any]:
    counts = [
        func.count(case((judgement.c.answer_id == answer_id, 1))).label(f"n{answer_id}") for answer_id in answer_ids
    ]
    labels = (
        select(latest_rows.BY_CELL.label("cell_id"), *counts)
        .join(judgement, latest_rows.NEWEST)
        .where(rounds.COUNTING, latest_rows.BY_CELL.between(bindparam("first"), bindparam("last")))
        .group_by(latest_rows.BY_CELL)
    )
    if some:
        labels = labels.where(assignment.c.cell_id.in_(sql_lists.param_subquery(CELLS_PARAM)))
    per_cell = labels.subquery()
    return (
        select(
            per_cell.c.cell_id,
            adjudication.c.rule,
            rounds.code_of(adjudication),
            *(per_cell.c[f"n{answer_id}"] for answer_id in answer_ids),
        )
        .select_from(per_cell)
        .outerjoin(adjudication, (adjudication.c.cell_id == per_cell.c.cell_id) & latest_rows.DECISION)
        .order_by(per_cell.c.cell_id)
    )


Answer = tuple[int, int, int | None]


def answers_since_decision(tx: Tx, cell_ids: Sequence[int] | None = None) -> Iterator[tuple[int, int, list[Answer]]]:
    """The pairs that were labelled, again or at all, after the decision by hand that stands on them.

    Of each its number, the newest judgement that the decision saw, and every answer of its labelling, oldest first: the
    number of the judgement, its assignment, and its code (None: a skip).
    """
    some = cell_ids is not None
    params = {} if cell_ids is None else {CELLS_PARAM: sql_lists.as_param(cell_ids)}
    for (cell_id, seen), rows in groupby(tx.execute(_relabelled_query(some=some), params), key=itemgetter(0, 1)):
        yield cell_id, seen, [(row[2], row[3], row[4]) for row in rows]


@cache
def _relabelled_query(*, some: bool) -> Select[Any]:
    slot = assignment.alias("slot")
    relabelled = (
        exists()
        .where(slot.c.judgement_id > adjudication.c.seen_judgement)
        .where(slot.c.cell_id == adjudication.c.cell_id, slot.c.round_id == assignment.c.round_id)
    )
    query = (
        select(
            adjudication.c.cell_id,
            adjudication.c.seen_judgement,
            judgement.c.id,
            assignment.c.id,
            rounds.code_of(judgement),
        )
        .select_from(adjudication)
        # From the decisions, of which few are by hand, to their answers: `+ 0` keeps SQLite from going the other way,
        # over every answer there is (1,000,000 labels: 3.6 s).
        .join(assignment, assignment.c.cell_id == adjudication.c.cell_id + 0)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .where(
            rounds.COUNTING, latest_rows.DECISION, adjudication.c.rule.in_([rule.value for rule in BY_HAND]), relabelled
        )
        .order_by(adjudication.c.cell_id, judgement.c.id)
    )
    return query.where(adjudication.c.cell_id.in_(sql_lists.param_subquery(CELLS_PARAM))) if some else query
