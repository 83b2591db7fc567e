"""Drawing by seed, over an order of the items' own: the same items give the same draw, in whatever order they came.
Cells are drawn so that every row and column has them evenly.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.lazy import pd
from fcpair.sentences import Id, say


def own_order(*keys: npt.ArrayLike) -> Ints:
    """Positions of items in an order that does not depend on the one they came in; every draw goes over it. `keys` are
    what distinguishes the items, `(n_items,)` each, the first above all; items equal in all must be interchangeable.
    """
    # numpy's own strings lose NULs at their end
    columns = (np.asarray(key, dtype=object if np.asarray(key).dtype.kind == "U" else None) for key in keys)
    codes = [np.unique(column, return_inverse=True)[1].ravel() for column in columns]
    return np.lexsort(codes[::-1])


def draw_positions(order: Ints, n: int, seed: int, what: str = say("texts")) -> Ints:
    """Draw `n` items by seed, without replacement: their positions, ascending, shape `(n,)`. `order` is from
    `own_order`, `what` names the items in messages. Raises InputError for fewer than one, or more than there are.
    """
    if not 1 <= n <= len(order):
        raise InputError.say(
            "%(number)s %(what)s cannot be drawn; there are %(most)s", number=Id(n), what=what, most=Id(len(order))
        )
    return np.sort(np.random.default_rng(seed).permutation(order)[:n])


def draw_stratified(strata: npt.NDArray[np.object_], order: Ints, n: int, seed: int, what: str = "texts") -> Ints:
    """Draw `n` items by seed so that each stratum, `(n_items,)`, has its share of them, rounded by largest remainder
    (of equal ones the larger stratum, then the first name); the rest as in `draw_positions`.
    """
    draw_positions(order, n, seed, what)
    order = np.random.default_rng(seed).permutation(order)
    _, codes, sizes = np.unique(strata.astype(str), return_inverse=True, return_counts=True)
    quotas, remainders = np.divmod(n * sizes, len(strata))
    quotas[np.lexsort((-sizes, -remainders))[: n - quotas.sum()]] += 1
    return np.sort(np.concatenate([order[codes[order] == stratum][:quota] for stratum, quota in enumerate(quotas)]))


REPAIRS, PATIENCE = 200, 20  # turns in all, and turns after which there are as many conflicts as before
MIXES = 12


def draw_cells(rows: Ints, columns: Ints, n: int, known_places: Ints, *, seed: int) -> Ints:
    """Draw `n` cells of a grid, none at `known_places`; returns their places `row * n_columns + column`, ascending.

    `rows` and `columns` are the orders in which those of the grid are drawn, from `own_order`; `known_places`,
    `(n_known,)`, are places, none twice. Rows differ by at most one cell, and so do columns, unless so much of a row is
    known that it cannot have its share. Time and memory do not go with the product of rows and columns. Raises
    InputError where `n` is less than 1, or more than the cells that are not known.

    Row and column ends are joined at random (Bollobás 1980, European J. Combin. 1(4), 311-316, DOI
    10.1016/S0195-6698(80)80030-8). What comes twice or is known is traded away. Then all cells trade their columns with
    random others, which keeps every count (Ryser 1957, Canad. J. Math. 9, 371-377, DOI 10.4153/CJM-1957-044-3) and
    favours no design with the same counts (Besag and Clifford 1989, Biometrika 76(4), 633-642, DOI
    10.1093/biomet/76.4.633). Where more than half of the cells are drawn, those that are left out are drawn so.
    """
    n_rows, n_columns = len(rows), len(columns)
    n_free = n_rows * n_columns - len(known_places)
    if not 1 <= n <= n_free:
        raise InputError(f"{n:,} cells cannot be drawn; there are {n_free:,}")
    rng = np.random.default_rng(seed)
    turn = rng.permutation(rows), rng.permutation(columns)  # so that nothing rests on where a text stands
    row, column = (at.argsort()[part] for at, part in zip(turn, np.divmod(known_places, n_columns), strict=True))
    known_places = np.sort(row * n_columns + column)
    n_known = np.bincount(row, minlength=n_rows), np.bincount(column, minlength=n_columns)
    room = n_columns - n_known[0], n_rows - n_known[1]
    share = _level_counts(room[0], n, rng), _level_counts(room[1], n, rng)
    if 2 * n <= n_free:
        places = _join_ends(share, known_places, (np.zeros(n_rows, np.int64), np.zeros(n_columns, np.int64)), rng)
    else:
        inside = np.ones(n_rows * n_columns, np.bool_)
        inside[known_places] = False
        inside[_join_ends((room[0] - share[0], room[1] - share[1]), known_places, n_known, rng)] = False
        places = np.flatnonzero(inside)
    row, column = np.divmod(places, n_columns)
    return np.sort(turn[0][row] * n_columns + turn[1][column])


def _level_counts(room: Ints, n: int, rng: np.random.Generator) -> Ints:
    """Divide `n` into counts as level as possible, none above the `room` for it."""
    low, high = 0, n
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if np.minimum(room, middle).sum() <= n else (low, middle - 1)
    counts = np.minimum(room, low)
    counts[rng.permutation(np.flatnonzero(room > low))[: n - counts.sum()]] += 1
    return counts


def _join_ends(ends: tuple[Ints, Ints], known_places: Ints, base: tuple[Ints, Ints], rng: np.random.Generator) -> Ints:
    """The places of cells, none known, none twice: every row and column has as many as it has ends. Where columns
    cannot have that, what they have with their `base` is as level as it can be, rows' with theirs kept.
    """
    n_columns = len(ends[1])
    row = np.repeat(np.arange(len(ends[0])), ends[0])
    cells = SparseCells(row, rng.permutation(np.repeat(np.arange(n_columns), ends[1])), n_columns, known_places, base)
    # cells in conflict trade columns with others until none is left
    fewest, idle = len(cells.row) + 1, 0
    for _ in range(REPAIRS):
        bad = conflicting_cells(cells)
        fewest, idle = (len(bad), 0) if len(bad) < fewest else (fewest, idle + 1)
        if not len(bad) or idle > PATIENCE:
            break
        others = rng.permutation(len(cells.row))[: len(bad)]
        is_apart = ~np.isin(others, bad)
        trade_columns(cells, rng.permutation(bad)[is_apart], others[is_apart])
    if len(bad):
        for cell in conflicting_cells(cells).tolist():  # into the free column of its row that has least
            free = np.flatnonzero(cells.free_columns(cells.row[cell]))
            cells.column[cell] = free[cells.counts[1][free].argmin()]
        _level_columns(cells)
    for _ in range(MIXES if len(row) > 1 else 0):
        pairs = rng.permutation(len(row))[: len(row) // 2 * 2].reshape(2, -1)
        trade_columns(cells, *pairs[:, rng.random(pairs.shape[1]) < 0.5])  # what is not always done can be undone alone
    return cells.places


def conflicting_cells(cells: SparseCells) -> Ints:
    """The cells that are known, and all but one of those that are at the same place: indices, ascending."""
    places = pd.Series(cells.places)
    return np.flatnonzero(places.isin(cells.known) | places.duplicated())


def trade_columns(cells: SparseCells, cell_a: Ints, cell_b: Ints) -> None:
    """Let cells trade columns, pair by pair, where that leads to free places; no cell may be in two pairs. A pair stays
    where another one asks for a place that it would come to or leave, so that the same pairs undo what was done.
    """
    row, column = cells.row, cells.column
    rows = np.concatenate([row[cell_a], row[cell_b]]) * cells.n_columns
    old_places = pd.Series(rows + np.concatenate([column[cell_a], column[cell_b]]))
    new_places = pd.Series(rows + np.concatenate([column[cell_b], column[cell_a]]))
    is_blocked = new_places.isin(cells.places) | new_places.isin(cells.known)
    is_blocked |= old_places.isin(new_places) | new_places.duplicated(keep=False)
    is_traded = ~is_blocked.to_numpy().reshape(2, -1).any(axis=0)
    column[cell_a[is_traded]], column[cell_b[is_traded]] = column[cell_b[is_traded]], column[cell_a[is_traded]]


NOWHERE = -1


@dataclass(frozen=True)
class SparseCells:
    """Cells of a grid by `row` and `column`, `(n_cells,)`, which are changed in place; `known` places are barred.
    `base` says what each row and each column has beside these.
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
        rows, columns = self.base
        in_rows, in_columns = np.bincount(self.row, None, len(rows)), np.bincount(self.column, None, len(columns))
        return rows + in_rows, columns + in_columns

    def free_columns(self, row: int) -> Bools:
        """Mask of the columns that a row could still have, `(n_columns,)`."""
        free = np.ones(self.n_columns, np.bool_)
        free[self.column[self.row == row]] = False
        first, last = np.searchsorted(self.known, [row * self.n_columns, (row + 1) * self.n_columns])
        free[self.known[first:last] - row * self.n_columns] = False
        return free


def _level_columns(cells: SparseCells) -> None:
    """Level the columns as far as it goes while rows stay as level as they are: along chains of moves from a column
    that has most to one that has two cells less, until there is none (DOI 10.1016/j.jalgor.2005.01.003).
    """
    is_level = False
    while not is_level:
        counts, is_level = cells.counts[1], True
        is_used = np.bincount(cells.column, minlength=cells.n_columns) > 0
        for most in np.unique(counts[is_used & (counts - counts.min() >= 2)])[::-1].tolist():
            if chain := _find_chain(cells, np.flatnonzero(is_used & (counts == most)), counts <= most - 2):
                for cell, row, column in chain:
                    cells.row[cell], cells.column[cell] = row, column
                is_level = False
                break


def _find_chain(cells: SparseCells, begin: Ints, is_end: Bools) -> list[tuple[int, int, int]]:
    """The moves from one of the columns to one where they may end, breadth first: cell, new row and new column."""
    n_rows, row_counts = len(cells.base[0]), cells.counts[0]
    by_column = np.argsort(cells.column, kind="stable")
    bounds = np.concatenate([[0], np.cumsum(np.bincount(cells.column, minlength=cells.n_columns))])
    cell_to = np.full(n_rows, NOWHERE)  # the cell that a row gives up where the search comes to it
    row_to = np.full(n_rows, NOWHERE)  # or the row that hands its place on to it
    column_from = np.full(cells.n_columns, NOWHERE)  # the row from which a column was reached
    rows_left, columns_left = np.ones(n_rows, np.bool_), np.ones(cells.n_columns, np.bool_)

    def rows_of(columns: Ints) -> Iterator[int]:
        for column in columns.tolist():
            for cell in by_column[bounds[column] : bounds[column + 1]].tolist():
                row = int(cells.row[cell])
                if rows_left[row]:
                    rows_left[row], cell_to[row] = False, cell
                    yield row

    columns_left[begin] = False
    rows = deque(rows_of(begin))
    while rows:
        row = rows.popleft()
        reached = np.flatnonzero(columns_left & cells.free_columns(row))
        columns_left[reached] = False
        column_from[reached] = row
        if len(ends := reached[is_end[reached]]):
            column, moves = int(ends[0]), []
            while (taker := int(column_from[column])) != NOWHERE:
                giver = taker
                while cell_to[giver] == NOWHERE:
                    giver = int(row_to[giver])
                cell = int(cell_to[giver])
                moves.append((cell, taker, column))
                column = int(cells.column[cell])
            return moves
        rows.extend(rows_of(reached))
        lighter = np.flatnonzero(rows_left & (row_counts < row_counts[row]))
        rows_left[lighter], row_to[lighter] = False, row
        rows.extend(lighter.tolist())
    return []
