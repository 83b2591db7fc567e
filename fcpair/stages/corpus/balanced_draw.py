"""Where cells cannot be joined at random: putting them elsewhere, and levelling columns by chains of moves."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fcpair.stages.corpus.split import Bools, Ints

NOWHERE = -1


@dataclass(frozen=True)
class SparseCells:
    """Cells of a grid by `row` and `column`, `(n_cells,)`, which are changed in place; `known` places are barred.

    `base` says what each row and each column has beside these cells, as far as it counts for being level.
    """

    row: Ints
    column: Ints
    n_columns: int
    known: Ints
    base: tuple[Ints, Ints]

    @property
    def places(self) -> Ints:
        """The place of each cell, `row * n_columns + column`."""
        return self.row * self.n_columns + self.column

    @property
    def counts(self) -> tuple[Ints, Ints]:
        """Numbers of cells in each row and in each column, `base` included."""
        return (
            self.base[0] + np.bincount(self.row, minlength=len(self.base[0])),
            self.base[1] + np.bincount(self.column, minlength=len(self.base[1])),
        )

    def free_columns(self, row: int) -> Bools:
        """Which columns a row could still have, `(n_columns,)`."""
        free = np.ones(self.n_columns, np.bool_)
        free[self.column[self.row == row]] = False
        first, last = np.searchsorted(self.known, [row * self.n_columns, (row + 1) * self.n_columns])
        free[self.known[first:last] - row * self.n_columns] = False
        return free


def move_cells(cells: SparseCells, conflicting: Ints) -> None:
    """Put these cells, one by one, into the column of their row that has least, of those that are free."""
    for cell in conflicting.tolist():
        free = np.flatnonzero(cells.free_columns(cells.row[cell]))
        cells.column[cell] = free[cells.counts[1][free].argmin()]


def level_columns(cells: SparseCells) -> None:
    """Level the columns as far as it goes while rows stay as level as they are.

    A chain of moves leads from a column that has most to one that has at least two cells less, or there is none, and
    then the sum of the squares cannot be less (as in Harvey, Ladner, Lovász and Tamir 2006, Semi-matchings for
    bipartite graphs and load balancing, J. Algorithms 59(1), 53-78, DOI 10.1016/j.jalgor.2005.01.003). On its way a row
    may hand its place on to a row that has less.
    """
    while chain := next(_chains(cells), None):
        for cell, row, column in chain:
            cells.row[cell], cells.column[cell] = row, column


def _chains(cells: SparseCells) -> Iterator[list[tuple[int, int, int]]]:
    """Chains of moves that make columns more level: of each a cell, and the row and the column that it gets."""
    column_counts = cells.counts[1]
    is_used = np.bincount(cells.column, minlength=cells.n_columns) > 0
    for most in np.unique(column_counts[is_used])[::-1].tolist():
        if most - int(column_counts.min()) < 2:
            return
        if chain := _ChainSearch(cells).find_chain(
            np.flatnonzero(is_used & (column_counts == most)), column_counts <= most - 2
        ):
            yield chain


class _ChainSearch:
    """A search, breadth first, for places to which a cell of some columns can be handed on."""

    def __init__(self, cells: SparseCells) -> None:
        self._cells = cells
        n_rows = len(cells.base[0])
        self._row_counts = cells.counts[0]
        self._by_column = np.argsort(cells.column, kind="stable")
        self._ends = np.concatenate([[0], np.cumsum(np.bincount(cells.column, minlength=cells.n_columns))])
        self._cell_to = np.full(n_rows, NOWHERE)  # the cell that a row gives up where the search comes to it
        self._row_to = np.full(n_rows, NOWHERE)  # or the row that hands its place on to it
        self._column_from = np.full(cells.n_columns, NOWHERE)  # the row from which a column was reached
        self._rows_left, self._columns_left = np.ones(n_rows, np.bool_), np.ones(cells.n_columns, np.bool_)

    def find_chain(self, begin: Ints, is_end: Bools) -> list[tuple[int, int, int]]:
        """The moves that lead from one of the columns to one where it may end; none where there is no way."""
        self._columns_left[begin] = False
        rows = deque(self._rows_of(begin))
        while rows:
            row = rows.popleft()
            reached = np.flatnonzero(self._columns_left & self._cells.free_columns(row))
            self._columns_left[reached] = False
            self._column_from[reached] = row
            if len(ends := reached[is_end[reached]]):
                return self._trace_moves(int(ends[0]))
            rows.extend(self._rows_of(reached))
            rows.extend(self._lighter_rows(row))
        return []

    def _rows_of(self, columns: Ints) -> Iterator[int]:
        for column in columns.tolist():
            for cell in self._by_column[self._ends[column] : self._ends[column + 1]].tolist():
                row = int(self._cells.row[cell])
                if self._rows_left[row]:
                    self._rows_left[row], self._cell_to[row] = False, cell
                    yield row

    def _lighter_rows(self, row: int) -> list[int]:
        """The rows that have less, to which a row can hand a place on."""
        lighter = np.flatnonzero(self._rows_left & (self._row_counts < self._row_counts[row]))
        self._rows_left[lighter], self._row_to[lighter] = False, row
        return lighter.tolist()

    def _trace_moves(self, column: int) -> list[tuple[int, int, int]]:
        """The way to a column, move by move, from its end."""
        moves = []
        while (taker := int(self._column_from[column])) != NOWHERE:
            giver = taker
            while self._cell_to[giver] == NOWHERE:
                giver = int(self._row_to[giver])
            cell = int(self._cell_to[giver])
            moves.append((cell, taker, column))
            column = int(self._cells.column[cell])
        return moves
