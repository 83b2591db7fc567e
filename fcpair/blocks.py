"""Blocks of a grid: the cells that it was made with, and those that each extension added behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from fcpair.lazy import NDArray, np

Shape = tuple[int, int]  # rows and columns


class Rectangle(NamedTuple):
    """Rows crossed with columns, by their places on the sides, from 0; numbered row by row, from `before` + 1 on."""

    block: int  # from 1
    before: int
    rows: range
    columns: range

    def as_params(self, first: int) -> dict[str, int]:
        """The same as parameters of a statement, where ids of cells are numbers beyond `first`."""
        rows, columns = self.rows, self.columns
        return {
            "before": first + self.before,
            **{"first_row": rows.start, "n_rows": len(rows)},
            **{"first_column": columns.start, "n_columns": len(columns)},
        }


@dataclass(frozen=True)
class Blocks:
    """How the cells of a grid are numbered: block by block, in each the new columns of old rows before the new rows.

    `shapes` has the rows and columns of the grid after each block, `before` the last number before each.
    """

    shapes: tuple[Shape, ...]
    before: tuple[int, ...] = (0,)

    @property
    def rectangles(self) -> Iterator[Rectangle]:
        """The rectangles of all blocks that have cells, in the order of their numbers."""
        old_rows, old_columns = 0, 0
        for block, ((n_rows, n_columns), before) in enumerate(zip(self.shapes, self.before, strict=True), 1):
            beside = Rectangle(block, before, range(old_rows), range(old_columns, n_columns))
            below = before + old_rows * (n_columns - old_columns)
            for part in (beside, Rectangle(block, below, range(old_rows, n_rows), range(n_columns))):
                if part.rows and part.columns:
                    yield part
            old_rows, old_columns = n_rows, n_columns

    @property
    def newest(self) -> list[Rectangle]:
        """The rectangles of the newest block."""
        return [part for part in self.rectangles if part.block == len(self.shapes)]

    def find(self, places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The number and the block of each cell, both from 1 and `(n,)`, by its place in the product of both sides, row
        by row from 0; 0 for what is no place.
        """
        row, column = np.divmod(places, max(self.shapes[-1][1], 1))
        numbers, blocks = np.zeros((2, len(places)), np.int64)
        for part in self.rectangles:
            (first_row, n_rows), (first_column, n_columns) = ((span.start, len(span)) for span in part[2:])
            at_row, at_column = row - first_row, column - first_column
            inside = (at_row >= 0) & (at_row < n_rows) & (at_column >= 0) & (at_column < n_columns)
            numbers[inside] = part.before + 1 + (at_row * n_columns + at_column)[inside]
            blocks[inside] = part.block
        return numbers, blocks
