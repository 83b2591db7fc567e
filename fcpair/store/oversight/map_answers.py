"""The cells of a grid, and what was answered and decided on each, as arrays: the facts that a map of it colours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import cast, func, select

from fcpair.records import Round
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import latest_rows
from fcpair.store.database.column_types import Number
from fcpair.store.database.frames import integer_arrays
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, cell, judgement, side, text

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Arrays = dict[str, "NDArray[np.int64]"]
NO_ID = 0
PER_SECOND = 10
"""Times are read in tenths of a second, as whole numbers."""


def cell_places(tx: Tx) -> Arrays:
    """Every cell of the grid, by id: `cell_id`, its `number`, and its `place` in the product of the drawn rows and
    columns, row by row from 0.
    """
    query = select(cell.c.id.label("cell_id"), cell.c.row_id, cell.c.column_id).where(cell_range(tx).holds(cell.c.id))
    columns = integer_arrays(tx, query.order_by(cell.c.id))
    number = columns["cell_id"] - cell_range(tx).first
    return {
        "cell_id": columns["cell_id"],
        "number": number,
        "place": _places(tx, columns["row_id"], columns["column_id"]),
    }


def corpus_places(tx: Tx) -> NDArray[np.int64]:
    """The places of the pairs of the corpus in the product, ascending."""
    import numpy as np

    pairs = integer_arrays(tx, cells.corpus_query(tx))
    return np.sort(_places(tx, pairs["hs_id"], pairs["cn_id"]))


def _places(tx: Tx, row_ids: NDArray[np.int64], column_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    import numpy as np

    drawn = [np.array(sides.text_ids(tx, axis, drawn=True), np.int64) for axis in cells.AXES]
    rows, columns = (_ranks(*one) for one in zip(drawn, (row_ids, column_ids), strict=True))
    return rows * len(drawn[1]) + columns


def _ranks(drawn: NDArray[np.int64], ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """The place of each id among those that are drawn."""
    import numpy as np

    ranks = np.zeros(int(drawn.max(initial=0)) + 1, np.int64)
    ranks[drawn] = np.arange(len(drawn))
    return np.asarray(ranks[ids])


def current_answers(tx: Tx, of: Round) -> Arrays:
    """Every current answer of a round, in no order: `cell_id`, `answer_id` (0 for a skip), and `time` in tenths of a
    second, -1 where it is not known.
    """
    query = (
        select(
            latest_rows.BY_CELL.label("cell_id"),
            func.coalesce(judgement.c.answer_id, NO_ID).label("answer_id"),
            cast(func.coalesce(func.round(judgement.c.seconds * PER_SECOND), -1), Number).label("time"),
        )
        .select_from(judgement)
        .join(assignment, latest_rows.ANSWER)
        .where(rounds.in_round(of))
    )
    return integer_arrays(tx, query)


def standing_codes(tx: Tx) -> Arrays:
    """The cell (`cell_id`) and the `code` of each decision that stands, by cell: -1 where it discards the cell."""
    code = func.coalesce(rounds.code_of(adjudication), -1).label("code")
    query = select(adjudication.c.cell_id, code)
    query = query.where(cell_range(tx).holds(adjudication.c.cell_id), latest_rows.STANDING)
    return integer_arrays(tx, query.order_by(adjudication.c.cell_id))


def side_texts(tx: Tx, axis: sides.Axis, first: int = 0, n: int | None = None) -> list[str]:
    """The texts of the drawn rows or columns, in order; `n` of them from place `first` on, from 0."""
    query = select(text.c.body).join(side, side.c.text_id == text.c.id)
    query = query.where(sides.on_side(tx, axis), side.c.drawn).order_by(side.c.position).offset(first)
    return list(tx.execute(query if n is None else query.limit(n)).scalars())


def side_clusters(tx: Tx, axis: sides.Axis) -> list[str]:
    """The cluster of each drawn row or column, where its metadata say it: empty where they do not."""
    query = select(text.c.meta).join(side, side.c.text_id == text.c.id)
    query = query.where(sides.on_side(tx, axis), side.c.drawn).order_by(side.c.position)
    return [str(meta.get("cluster", "")) for meta in tx.execute(query).scalars()]
