"""The cells of a grid: every row with every column, numbered, and sealed once they are written."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, Subquery, delete, exists, func, select

from fcpair.blocks import Blocks
from fcpair.errors import InputError
from fcpair.lazy import NDArray, np, pd
from fcpair.records import COMPARES, COMPARISON
from fcpair.store.corpus import sides
from fcpair.store.corpus.grids import MOST_CELLS, CellRange, cell_range, current_grid_id, side_kinds
from fcpair.store.database import backends, statements
from fcpair.store.database.statements import as_subquery, count, frame, integer_arrays, is_true
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import cell, grid, side, source_pair, text
from fcpair.store.oversight import settings

AXES: tuple[sides.Axis, sides.Axis] = ("row", "column")
TEXT_IDS = (cell.c.row_id.label("hs_id"), cell.c.column_id.label("cn_id"))
HS, CN = text.alias("hs_text"), text.alias("cn_text")
BODIES = (HS.c.body.label("hs"), CN.c.body.label("cn"))


def join_texts(query: Select[Any], cell_id: ColumnElement[int]) -> Select[Any]:
    """A query joined with `cell`, by its id, and with the texts of its row and its column, HS and CN."""
    query = query.join(cell, cell.c.id == cell_id)
    return query.join(HS, HS.c.id == cell.c.row_id).join(CN, CN.c.id == cell.c.column_id)


def fill(tx: Tx, *, keep_known: bool = False) -> tuple[int, int]:
    """Write every cell of the newest block, less those of the corpus unless `keep_known`, and seal the grid; returns
    how many cells it has, and how many of the block are in the corpus. Raises InputError where a grid has not so many
    numbers.
    """
    blocks = load_blocks(tx)
    n_rows, n_columns = blocks.shapes[-1]
    if max(blocks.before[-1], n_rows * n_columns) > MOST_CELLS:
        raise InputError(
            f"the grid would have {n_rows:,} x {n_columns:,} = {n_rows * n_columns:,} cells, and can have "
            f"{MOST_CELLS:,}; `fcpair pair --sample N` draws cells from a grid of HS and CNs, and others need shorter "
            "sides"
        )
    backend = backends.backend_of(tx)
    backend.update_statistics(tx, (source_pair, side, text))
    numbers, block = blocks.find(places_of(tx, corpus_pairs(tx)))
    known = numbers[block == len(blocks.shapes)]
    # Those of other grids would look at every cell.
    own = [range_ for range_ in sealed_ranges(tx) if range_ == cell_range(tx) and len(blocks.shapes) == 1]
    backend.seal(tx, own)
    product, first = 0, cell_range(tx).first
    for part in blocks.newest:
        product += backend.fill_grid(tx, current_grid_id(tx), first, part)
    left_out = [] if keep_known else (known + first).tolist()
    tx.execute(delete(cell).where(cell.c.id.in_(as_subquery(left_out))))
    seal(tx)
    return product - len(left_out), len(known)


def fill_drawn(tx: Tx, places: NDArray[np.int64]) -> None:
    """Write the cells at some places of the product of the drawn rows and columns, ascending, and seal the grid."""
    row_at, column_at = np.divmod(places, shape(tx)[1])
    rows, columns = (np.array(sides.text_ids(tx, axis, drawn=True), np.int64) for axis in AXES)
    backends.backend_of(tx).seal(tx, [range_ for range_ in sealed_ranges(tx) if range_ != cell_range(tx)])
    drawn = pd.DataFrame({"id": ids_at(tx, places), "hs_id": rows[row_at], "cn_id": columns[column_at]})
    add(tx, drawn.sort_values("id"))


BLOCKS = "blocks"  # of a grid that was extended: its shape after each block but the newest, and the last number in each


def load_blocks(tx: Tx) -> Blocks:
    """The blocks of the grid; of one that was never extended, all of it."""
    saved = settings.of_stage(tx, BLOCKS)
    shapes = (*((n_rows, n_columns) for n_rows, n_columns in saved.get("shapes", ())), shape(tx))
    return Blocks(shapes, (0, *saved.get("before", ())))


def begin_block(tx: Tx, run_id: int) -> None:
    """Let what is added to the sides from now on be a block of its own, numbered behind all that was ever numbered."""
    blocks, last = load_blocks(tx), (number_range(tx)[1] or 0) - cell_range(tx).first
    n_rows, n_columns = blocks.shapes[-1]
    before = max(last, n_rows * n_columns if is_numbered_by_place(tx) else 0)
    run_ids = [*settings.of_stage(tx, BLOCKS).get("runs", ()), run_id]
    begun = {"shapes": [*map(list, blocks.shapes)], "before": [*blocks.before[1:], before], "runs": run_ids}
    settings.save_settings(tx, BLOCKS, begun, run_id)


def shape(tx: Tx) -> tuple[int, int]:
    """Number of rows and number of columns that are drawn."""
    n_rows, n_columns = (count(tx, side, sides.on_side(tx, axis), side.c.drawn) for axis in AXES)
    return n_rows, n_columns


def places_of(tx: Tx, pairs: Any) -> NDArray[np.int64]:
    """The place of each pair (`hs_id`, `cn_id`) in the product, row by row from 0; -1 where a text is not drawn."""
    is_drawn, places = np.ones(len(pairs["hs_id"]), np.bool_), np.zeros(len(pairs["hs_id"]), np.int64)
    for axis, name in zip(AXES, ("hs_id", "cn_id"), strict=True):
        drawn, text_id = np.array(sides.text_ids(tx, axis, drawn=True), np.int64), np.asarray(pairs[name], np.int64)
        order = np.append(np.argsort(drawn), 0)
        at = order[np.searchsorted(drawn, text_id, sorter=order[:-1])]
        is_drawn &= np.append(drawn, -1)[at] == text_id
        places = places * len(drawn) + at
    return np.where(is_drawn, places, -1)


def digest(tx: Tx) -> str:
    """The SHA-256 of all cells of the grid: of each its id and the ids of its texts, in order."""
    ids = cells(tx)[["cell_id", "hs_id", "cn_id"]].to_numpy("<i8")
    return hashlib.sha256(np.ascontiguousarray(ids).tobytes()).hexdigest()


def ids_at(tx: Tx, places: NDArray[np.int64]) -> NDArray[np.int64]:
    """The ids of the cells of the newest block that are drawn at these places, ascending."""
    blocks, first = load_blocks(tx), cell_range(tx).first
    if not is_numbered_by_place(tx):
        return first + blocks.before[-1] + 1 + np.arange(len(places))
    return first + blocks.find(places)[0]


def is_numbered_by_place(tx: Tx) -> bool:
    """Return whether cells are numbered by their places in the product, which can have more places than numbers."""
    n_rows, n_columns = shape(tx)
    return n_rows * n_columns <= MOST_CELLS


def ranked_texts(tx: Tx, axis: sides.Axis) -> Subquery:
    """The drawn texts of a side, `text_id`, each with its place among them, `at`, from 1."""
    at = func.row_number().over(order_by=side.c.position).label("at")
    return select(side.c.text_id, at).where(sides.on_side(tx, axis), side.c.drawn).subquery()


def add(tx: Tx, cells: pd.DataFrame) -> None:
    """Write a grid that was made elsewhere, `id`, `hs_id`, `cn_id`, and seal it."""
    statements.insert_rows(
        tx, cell, statements.records(cells.rename(columns={"hs_id": "row_id", "cn_id": "column_id"}))
    )
    seal(tx)


def seal(tx: Tx) -> None:
    """Seal every grid that has cells."""
    backends.backend_of(tx).seal(tx, sealed_ranges(tx))


def sealed_ranges(tx: Tx) -> list[CellRange]:
    """The ids of the cells of every grid that has any."""
    spans = (cell_range(tx, grid_id) for grid_id in tx.scalars(select(grid.c.id).order_by(grid.c.id)))
    return [span for span in spans if is_true(tx, exists().where(span.holds(cell.c.id)))]


def n_cells(tx: Tx) -> int:
    """Count the cells of the grid."""
    return count(tx, cell, cell_range(tx).holds(cell.c.id))


def row_numbers(tx: Tx, cell_ids: NDArray[np.int64]) -> NDArray[np.int64]:
    """Row of each of these cells, counted from 0."""
    located, rows = cell_arrays(tx, cell_ids.tolist()), pd.Index(sides.text_ids(tx, "row", drawn=True), dtype="int64")
    return np.asarray(rows.get_indexer(pd.Index(located["hs_id"]))[np.searchsorted(located["cell_id"], cell_ids)])


def has_comparisons(tx: Tx) -> bool:
    """Return whether the columns of the grid are comparisons of several texts of a row."""
    return side_kinds(tx)[1] == COMPARISON


def add_comparisons(tx: Tx, row_ids: list[int], column_ids: list[int]) -> None:
    """Write a cell for each comparison, a column of the grid, with the row that it is of, numbered from 1; and seal."""
    sides.set_texts(tx, "row", dict.fromkeys(row_ids))
    sides.set_texts(tx, "column", column_ids)
    numbers = cell_range(tx).first + 1 + np.arange(len(row_ids))
    add(tx, pd.DataFrame({"id": numbers, "hs_id": row_ids, "cn_id": column_ids}))


def compared_texts(tx: Tx, cell_ids: Iterable[int] | None = None) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """The cells of a grid of comparisons, or some of them (`cell_id`, `hs_id`), and the ids of the texts that each
    shows, in that order, `(n, size)`.
    """
    query = select(cell.c.id.label("cell_id"), cell.c.row_id.label("hs_id"), text.c.meta[COMPARES].as_string())
    query = query.join(text, text.c.id == cell.c.column_id).where(cell_range(tx).holds(cell.c.id))
    rows = tx.execute(query.where(statements.among(cell.c.id, cell_ids)).order_by(cell.c.id)).all()
    shown = np.array([row[2].split() for row in rows], np.int64).reshape(len(rows), -1 if rows else 0)
    return pd.DataFrame([row[:2] for row in rows], columns=["cell_id", "hs_id"]), shown


def number_range(tx: Tx) -> tuple[int | None, int | None]:
    """The lowest and the highest id of a cell; None for an empty grid."""
    is_inside = cell_range(tx).holds(cell.c.id)  # an index finds one end at a time
    return tx.scalar(select(func.min(cell.c.id)).where(is_inside)), tx.scalar(
        select(func.max(cell.c.id)).where(is_inside)
    )


def _cells_query(tx: Tx, *conditions: ColumnElement[bool]) -> Select[Any]:
    query = select(cell.c.id.label("cell_id"), *TEXT_IDS)
    return query.where(cell_range(tx).holds(cell.c.id), *conditions).order_by(cell.c.id)


def cells(tx: Tx) -> pd.DataFrame:
    """All cells of the grid, in order: `cell_id`, `hs_id`, `cn_id`."""
    return frame(tx, _cells_query(tx), streamed=True)


def cell_arrays(tx: Tx, cell_ids: Iterable[int] | None = None) -> dict[str, NDArray[np.int64]]:
    """The same, or of those that have one of these ids, as arrays."""
    return integer_arrays(
        tx, _cells_query(tx, statements.among(cell.c.id, None if cell_ids is None else sorted(set(cell_ids))))
    )


def by_id(tx: Tx, cell_ids: Iterable[int]) -> pd.DataFrame:
    """Those cells of the grid that have one of these ids: `cell_id`, `hs_id`, `cn_id`."""
    return pd.DataFrame(cell_arrays(tx, cell_ids))


def of_rows(tx: Tx, row_ids: Iterable[int]) -> pd.DataFrame:
    """The cells of some rows: `cell_id`, `hs_id`, `cn_id`."""
    return frame(tx, _cells_query(tx, cell.c.row_id.in_(as_subquery(sorted(set(row_ids))))))


def texts_of_grid(tx: Tx) -> pd.DataFrame:
    """The texts of both sides of the cells: `text_id`, `kind`, `body`, `language`, `meta`, in corpus order."""
    inside = cell_range(tx).holds(cell.c.id)
    used = select(cell.c.row_id).where(inside).union(select(cell.c.column_id).where(inside))
    query = select(text.c.id.label("text_id"), *text.c["kind", "body", "language", "meta"])
    table = frame(tx, query.where(text.c.id.in_(used)).order_by(text.c.id))
    if others := sides.other_spellings(tx):
        metadata = zip(table["text_id"], table["meta"], strict=True)
        table["meta"] = [meta | others.get(text_id, {}) for text_id, meta in metadata]
    return table


def texts_of(tx: Tx, cell_id: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """The two texts of a cell, the row's first: `text_id`, `body`, `language`, `meta`."""
    query = select(text.c.id.label("text_id"), *text.c["body", "language", "meta"]).where(cell.c.id == cell_id)
    queries = (query.join(cell, text_id == text.c.id) for text_id in cell.c["row_id", "column_id"])
    row, column = (dict(tx.execute(query).one()._mapping) for query in queries)
    others = sides.other_spellings(tx)
    row, column = ({**of, "meta": of["meta"] | others.get(of["text_id"], {})} for of in (row, column))
    return row, column


class CellContent(NamedTuple):
    """Content of a cell, and what is known of a text that is written there."""

    digest: str  # of the row
    column: str  # its text
    answers: int | None  # the id of the text that one written there answers, None for none; and its metadata
    meta: Mapping[str, Any]


_column = text.alias("column")
_CONTENTS = statements.PreparedStatement(
    select(cell.c.id.label("cell_id"), *text.c["id", "digest", "answers_id", "meta"], _column.c.body)
    .join(text, text.c.id == cell.c.row_id)
    .join(_column, _column.c.id == cell.c.column_id)
    .where(cell.c.id.in_(statements.param_subquery("cells")))
)


def cell_contents(tx: Tx, cell_ids: Iterable[int], *, rewords: bool) -> dict[int, CellContent]:
    """Contents of these cells, by id. A text there answers the row, or if it `rewords` it, is of it as the row is."""
    return {
        row.cell_id: CellContent(row.digest, row.body, *((row.answers_id, row.meta) if rewords else (row.id, {})))
        for row in _CONTENTS.all(tx, cells=statements.as_param(sorted(set(cell_ids))))
    }


def has_cell(tx: Tx, cell_id: int) -> bool:
    """Return whether the grid has this cell; what is no id of any grid may be asked for."""
    return cell_range(tx).has(cell_id) and is_true(tx, exists().where(cell.c.id == cell_id))


def corpus_pairs(tx: Tx) -> dict[str, NDArray[np.int64]]:
    """The pairs of the corpus between a drawn row and a drawn column, or a spelling of these: `hs_id`, `cn_id`, each
    once.
    """
    columns = source_pair.c["hs_id", "cn_id"]
    if merged := sides.spellings(tx):
        pairs = frame(tx, select(*columns).distinct()).replace(merged).drop_duplicates().sort_values(["hs_id", "cn_id"])
        pairs = pairs[places_of(tx, pairs) >= 0]
        return {name: pairs[name].to_numpy(np.int64) for name in ("hs_id", "cn_id")}
    query = select(*columns).distinct()
    for axis, text_id in zip(AXES, columns, strict=True):
        drawn_side = side.alias(axis)
        is_drawn = (drawn_side.c.grid_id == current_grid_id(tx)) & (drawn_side.c.axis == axis) & drawn_side.c.drawn
        query = query.join(drawn_side, is_drawn & (drawn_side.c.text_id == text_id))
    return integer_arrays(tx, query.order_by(*columns))
