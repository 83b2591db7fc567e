"""Work on known pairs: what people were given of them, in which order, and what they answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import bindparam, delete, func, select, update

from fcpair.records import Round, Status
from fcpair.store.assignment import rounds
from fcpair.store.assignment.assignments import ACTIVE, IS_TAKEN_BACK
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database.statements import PreparedStatement, as_subquery
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, cell, judgement


class KnownAnswer(NamedTuple):
    """Assignment of a known pair, by its cell and its texts; `code` is the current answer, None where there is none or
    a skip.
    """

    person_id: int
    cell_id: int
    row_id: int
    column_id: int
    status: str
    code: int | None


_ANSWERS = (
    select(assignment.c.person_id, *cell.c["id", "row_id", "column_id"], assignment.c.status, answer.c.code)
    .join(cell, cell.c.id == assignment.c.cell_id)
    .outerjoin(judgement, judgement.c.id == assignment.c.judgement_id)
    .outerjoin(answer, answer.c.id == judgement.c.answer_id)
    .where(rounds.ROUND_PARAM, ~IS_TAKEN_BACK)
    .order_by(assignment.c.id)
)
_ALL = PreparedStatement(_ANSWERS)
_OF_PERSON = PreparedStatement(_ANSWERS.where(assignment.c.person_id == bindparam("person")))


def answers(tx: Tx, of: Round, person_id: int | None = None) -> list[KnownAnswer]:
    """What people have, or one person has, of a round of known pairs, whatever was withdrawn left out."""
    params = {"rounds": rounds.round_param(of)}
    rows = _ALL.all(tx, **params) if person_id is None else _OF_PERSON.all(tx, person=person_id, **params)
    return [KnownAnswer(*row) for row in rows]


def cell_ids(tx: Tx, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The id of the cell of each pair of texts that the grid has."""
    columns = (cell.c.row_id, cell.c.column_id)
    row_ids = as_subquery(sorted({row_id for row_id, _ in pairs}))
    query = select(cell.c.id, *columns).where(cell_range(tx).holds(cell.c.id), cell.c.row_id.in_(row_ids))
    wanted = set(pairs)
    return {(row.row_id, row.column_id): row.id for row in tx.execute(query) if (row.row_id, row.column_id) in wanted}


class OpenPlace(NamedTuple):
    """Place of open work in somebody's shard: the assignment, its position and the text of its row."""

    id: int
    position: int
    row_id: int


def open_places(tx: Tx, of: Round, person_id: int) -> list[OpenPlace]:
    """What somebody has open in a round, in the order in which they come to it."""
    query = select(assignment.c.id, assignment.c.position, cell.c.row_id).join(cell, cell.c.id == assignment.c.cell_id)
    own = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    ordered = query.where(rounds.in_round(of), own).order_by(assignment.c.position, assignment.c.id)
    return [OpenPlace(*row) for row in tx.execute(ordered)]


def set_positions(tx: Tx, positions: Mapping[int, int]) -> None:
    """Put assignments in other places of their shards."""
    change = update(assignment).where(assignment.c.id == bindparam("one")).values(position=bindparam("new"))
    if positions:
        tx.execute(change, [{"one": one, "new": new} for one, new in positions.items()])


def n_active(tx: Tx, of: Round) -> dict[int, int]:
    """Count what each person has done and has open in a round."""
    query = select(assignment.c.person_id, func.count())
    active = query.where(rounds.in_round(of), assignment.c.status.in_(ACTIVE))
    return {row[0]: row[1] for row in tx.execute(active.group_by(assignment.c.person_id))}


def merge_doubled(tx: Tx, known: Round, main: Round) -> None:
    """Make known pairs that people have open, and were given in their shard just now, part of the shard in their place.

    Whoever has them sees nothing come or go, which would tell that they were known.
    """
    own = assignment.alias("own")
    is_same = (own.c.cell_id == assignment.c.cell_id) & (own.c.person_id == assignment.c.person_id)
    is_open = (own.c.status == Status.OPEN.value) & (assignment.c.status == Status.OPEN.value)
    doubled = select(assignment.c.id, own.c.id.label("own_id"), own.c.round_id, own.c.replaces).join(own, is_same)
    for row in tx.execute(doubled.where(rounds.in_round(known), own.c.round_id.in_(main.ids), is_open)).all():
        tx.execute(delete(assignment).where(assignment.c.id == row.own_id))
        values = {"round_id": row.round_id, "replaces": row.replaces}
        tx.execute(update(assignment).where(assignment.c.id == row.id).values(values))


def faults(tx: Tx, known: Round, main: Round, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """Cells that somebody has both as a known pair and in their shard (both), or that are no known pairs (unknown)."""
    given = select(assignment.c.cell_id, assignment.c.person_id, cell.c.row_id, cell.c.column_id)
    given = given.join(cell, cell.c.id == assignment.c.cell_id)
    given = given.where(rounds.in_round(known), ~IS_TAKEN_BACK)
    rows = list(tx.execute(given))
    own = select(assignment.c.cell_id, assignment.c.person_id).where(rounds.in_round(main), ~IS_TAKEN_BACK)
    ids = as_subquery(sorted({row.cell_id for row in rows}))
    doubled = {(row[0], row[1]) for row in tx.execute(own.where(assignment.c.cell_id.in_(ids)))}
    known_pairs = set(pairs)
    return [
        *((row.cell_id, "both") for row in rows if (row.cell_id, row.person_id) in doubled),
        *((row.cell_id, "unknown") for row in rows if (row.row_id, row.column_id) not in known_pairs),
    ]
