"""Grids: their names and kinds, and the one that a transaction is about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, TypeVar

from sqlalchemy import ColumnElement, select, update

from fcpair.lazy import pd
from fcpair.records import GridKey
from fcpair.store.database import checksums
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import grid

Cells = TypeVar("Cells", int, "pd.Series[int]")  # one of them, or a column
_BITS = 32  # of a cell's id, for its number in its grid
MOST_CELLS: int = 2**_BITS - 1  # numbers from 1 on
_DEFINITION = ("name", "row_kind", "row_name", "column_kind", "column_name")


class CellRange(NamedTuple):
    """The ids that the cells of a grid can have, from the first to the last."""

    first: int
    last: int

    def holds(self, cell_id: ColumnElement[int]) -> ColumnElement[bool]:
        """Return whether a cell is of this grid."""
        return cell_id.between(*self)

    def has(self, cell_id: int) -> bool:
        """Return whether this is the id of a cell that the grid can have."""
        return self.first <= cell_id <= self.last


def keys(tx: Tx) -> list[GridKey]:
    """The study's grids, oldest first."""
    return [GridKey(*row) for row in tx.execute(select(grid.c.id, grid.c.name).order_by(grid.c.id))]


def current_grid_id(tx: Tx) -> int:
    """The grid that a transaction is about."""
    return int(tx.get_execution_options()["grid"])


@contextmanager
def on_grid(tx: Tx, grid_id: int) -> Iterator[None]:
    """Let a transaction be about another grid for a while."""
    before = current_grid_id(tx)
    tx.execution_options(grid=grid_id)
    try:
        yield
    finally:
        tx.execution_options(grid=before)


def on_first_grid(tx: Tx) -> AbstractContextManager[None]:
    """Let a transaction be about the oldest grid for a while, with which is kept what is about the whole study."""
    return on_grid(tx, keys(tx)[0].id)


def for_each_grid(tx: Tx) -> Iterator[GridKey]:
    """The study's grids, oldest first; while one is had, the transaction is about it."""
    for key in keys(tx):
        with on_grid(tx, key.id):
            yield key


def cell_range(tx: Tx, grid_id: int | None = None) -> CellRange:
    """The ids of the cells of a grid, or of the current one; those of the first are their numbers, one of which can be
    0.
    """
    first = ((current_grid_id(tx) if grid_id is None else grid_id) - 1) << _BITS
    return CellRange(first, first + 2**_BITS - 1)


def to_public_number(cell_id: Cells) -> Cells:
    """The number of a cell in its grid, or of each in a column: what people and files say."""
    return cell_id & (1 << _BITS) - 1


def grid_id_of(cell_id: int) -> int:
    """The id of the grid that a cell is of."""
    return (cell_id >> _BITS) + 1


def to_cell_id(tx: Tx, number: Cells) -> Cells:
    """The id of the cell with this number in the grid that a transaction is about, or of each in a column."""
    return number + cell_range(tx).first


def pair_namer(tx: Tx) -> Callable[[Any], str]:
    """Function that names a pair where any of the study's can be meant: with its grid if there are several."""
    grid_names = {key.id: key.name for key in keys(tx)}

    def name(cell_id: Any) -> str:
        if not isinstance(cell_id, int):  # damage can make anything of it
            return f"pair {cell_id}"
        of = f" of grid `{grid_names.get(grid_id_of(cell_id), '?')}`" if len(grid_names) > 1 else ""
        return f"pair {to_public_number(cell_id)}{of}"

    return name


def add(tx: Tx, name: str, row: tuple[str, str], column: tuple[str, str]) -> int:
    """Note a grid; of each side what kind of texts it has, and what they are called. Returns its id."""
    return checksums.add(tx, grid, [dict(zip(_DEFINITION, (name, *row, *column), strict=True))])


def side_kinds(tx: Tx) -> tuple[str, str]:
    """Kinds of the texts that are the rows and the columns of the grid."""
    return tuple(tx.execute(select(*grid.c["row_kind", "column_kind"]).where(grid.c.id == current_grid_id(tx))).one())


def side_names(tx: Tx) -> tuple[str, str]:
    """Names of the rows and of the columns of the grid."""
    return tuple(tx.execute(select(*grid.c["row_name", "column_name"]).where(grid.c.id == current_grid_id(tx))).one())


def redefine(tx: Tx, name: str, row: tuple[str, str], column: tuple[str, str]) -> None:
    """Let the grid, which is empty, be called so, with other sides, as `add` takes them."""
    change(tx, **dict(zip(_DEFINITION, (name, *row, *column), strict=True)))


def change(tx: Tx, **changed: str) -> None:
    """Let the grid, in which nobody has answered, have another `name`, `row_name` or `column_name`."""
    is_current = grid.c.id == current_grid_id(tx)
    row = tx.execute(select(*(grid.c[name] for name in checksums.SAYS[grid])).where(is_current)).one()
    values = {**row._mapping, **changed}
    tx.execute(update(grid).where(is_current).values(**values, checksum=checksums.checksum_of(grid, values)))
