"""Drawing cells from a grid that is too large to be put before people: every row and every column evenly, by seed."""

from __future__ import annotations

import numpy as np

from fcpair.errors import InputError
from fcpair.stages.corpus.balanced_draw import SparseCells, level_columns, move_cells
from fcpair.stages.corpus.split import Bools, Ints

REPAIRS, PATIENCE = 200, 20  # turns in all, and turns after which there are as many conflicts as before
MIXES = 12


def draw_cells(rows: Ints, columns: Ints, n: int, known_places: Ints, *, seed: int) -> Ints:
    """Draw `n` cells of a grid, none at `known_places`; returns their places `row * n_columns + column`, ascending.

    `rows` and `columns` are the orders in which those of the grid are drawn, from `own_order`.
    `known_places`, `(n_known,)`, are places, too, in any order, none twice. Rows differ by at most one cell, and so do
    columns. A row of which so much is known that it cannot have its share has all that is left, and the others are
    level; columns are then as level as that allows. Time and memory go with the cells drawn, the rows, the columns
    and the known cells, not with the product.

    Every row has ends in the number of its cells, every column too, and ends are joined at random (Bollobás 1980, A
    probabilistic proof of an asymptotic formula for the number of labelled regular graphs, European J. Combin. 1(4),
    311-316, DOI 10.1016/S0195-6698(80)80030-8). What comes twice or is known is traded away. Then all cells trade their
    columns with random others, which keeps every count (Ryser 1957, Combinatorial properties of matrices of zeros and
    ones, Canad. J. Math. 9, 371-377, DOI 10.4153/CJM-1957-044-3): a trade is as likely as the one that undoes it, so of
    designs with the same counts none is favoured (Besag and Clifford 1989, Generalized Monte Carlo significance tests,
    Biometrika 76(4), 633-642, DOI 10.1093/biomet/76.4.633). Where more than half of the cells are drawn, those that are
    left out are drawn so. How many columns two rows share has the least mean that there can be, and the spread of
    chance.

    Raises InputError where `n` is less than 1, or more than the cells that are not known.
    """
    n_rows, n_columns = len(rows), len(columns)
    n_free = n_rows * n_columns - len(known_places)
    if not 1 <= n <= n_free:
        raise InputError(f"{n:,} cells cannot be drawn; there are {n_free:,}")
    rng = np.random.default_rng(seed)
    turn = rng.permutation(rows), rng.permutation(columns)  # so that nothing rests on where a text stands
    row, column = (at.argsort()[part] for at, part in zip(turn, np.divmod(known_places, n_columns), strict=True))
    places = _draw_places((n_rows, n_columns), n, np.sort(row * n_columns + column), rng)
    row, column = np.divmod(places, n_columns)
    return np.sort(turn[0][row] * n_columns + turn[1][column])


def _draw_places(shape: tuple[int, int], n: int, known_places: Ints, rng: np.random.Generator) -> Ints:
    """The places of the cells that are drawn, in any order; `known_places` is ascending."""
    row, column = np.divmod(known_places, shape[1])
    n_known = np.bincount(row, minlength=shape[0]), np.bincount(column, minlength=shape[1])
    room = shape[1] - n_known[0], shape[0] - n_known[1]
    share = _level_counts(room[0], n, rng), _level_counts(room[1], n, rng)
    if 2 * n <= room[0].sum():
        return _join_ends(share, known_places, (np.zeros_like(room[0]), np.zeros_like(room[1])), rng)
    inside = np.ones(shape[0] * shape[1], np.bool_)
    inside[known_places] = False
    inside[_join_ends((room[0] - share[0], room[1] - share[1]), known_places, n_known, rng)] = False
    return np.flatnonzero(inside)


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
    """The places of cells, none of `known_places`, none twice: every row and column has as many as it has ends.

    Where columns cannot have that, what they have with their `base` is as level as it can be, rows' with theirs kept.
    """
    n_columns = len(ends[1])
    row = np.repeat(np.arange(len(ends[0])), ends[0])
    column = rng.permutation(np.repeat(np.arange(n_columns), ends[1]))
    cells = SparseCells(row, column, n_columns, known_places, base)
    if _repair_conflicts(cells, rng):
        move_cells(cells, conflicting_cells(cells))
        level_columns(cells)
    for _ in range(MIXES if len(row) > 1 else 0):
        pairs = rng.permutation(len(row))[: len(row) // 2 * 2].reshape(2, -1)
        trade_columns(cells, *pairs[:, rng.random(pairs.shape[1]) < 0.5])  # what is not always done can be undone alone
    return cells.places


def conflicting_cells(cells: SparseCells) -> Ints:
    """The cells that are known, and all but one of those that are at the same place: indices, ascending."""
    places = cells.places
    bad = isin_large(places, cells.known)
    several = np.flatnonzero(duplicated_large(places))
    _, first = np.unique(places[several], return_index=True)
    bad[np.delete(several, first)] = True
    return np.flatnonzero(bad)


def _repair_conflicts(cells: SparseCells, rng: np.random.Generator) -> bool:
    """Let cells in conflict trade columns with others until none is left; returns whether some are."""
    fewest, idle = len(cells.row) + 1, 0
    for _ in range(REPAIRS):
        bad = conflicting_cells(cells)
        fewest, idle = (len(bad), 0) if len(bad) < fewest else (fewest, idle + 1)
        if not len(bad) or idle > PATIENCE:
            break
        others = rng.permutation(len(cells.row))[: len(bad)]
        is_apart = ~np.isin(others, bad)
        trade_columns(cells, rng.permutation(bad)[is_apart], others[is_apart])
    return len(bad) > 0


def trade_columns(cells: SparseCells, cell_a: Ints, cell_b: Ints) -> None:
    """Let cells trade columns, pair by pair, where that leads to free places; no cell may be in two pairs.

    A pair stays as it is where another one asks for a place that it would come to or would leave. So the same pairs,
    asked again, undo what was done, and nothing else.
    """
    row, column = cells.row, cells.column
    rows = np.concatenate([row[cell_a], row[cell_b]]) * cells.n_columns
    old_places = rows + np.concatenate([column[cell_a], column[cell_b]])
    new_places = rows + np.concatenate([column[cell_b], column[cell_a]])
    is_blocked = (
        isin_large(new_places, cells.places)
        | isin_large(new_places, cells.known)
        | isin_large(old_places, new_places)
        | duplicated_large(new_places)
    )
    is_traded = ~is_blocked.reshape(2, -1).any(axis=0)
    column[cell_a[is_traded]], column[cell_b[is_traded]] = column[cell_b[is_traded]], column[cell_a[is_traded]]


SPARE = 3  # bits beyond those that would do: one slot of eight is taken at most, so that few places need a second look


GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: Knuth's multiplicative hashing


def _hash_slots(values: Ints, n: int) -> Ints:
    """The slot of each value in a table for `n`; the same for the same."""
    bits = n.bit_length() + SPARE
    return np.asarray((values.astype(np.uint64) * GOLDEN >> np.uint64(64 - bits)).astype(np.int64))


def _empty_table(n: int) -> Bools:
    return np.zeros(1 << n.bit_length() + SPARE, np.bool_)


def isin_large(values: Ints, others: Ints) -> Bools:
    """Which of the values are among the others, neither in any order; all are 0 or more."""
    n = len(values) + len(others)
    slots, other_slots = _hash_slots(values, n), _hash_slots(others, n)
    is_other, is_candidate = _empty_table(n), _empty_table(n)
    is_other[other_slots] = True
    is_member = is_other[slots]
    is_candidate[slots[is_member]] = True
    is_member[is_member] = np.isin(values[is_member], others[is_candidate[other_slots]])
    return is_member


def duplicated_large(values: Ints) -> Bools:
    """Which of the values come more than once; all are 0 or more."""
    slots, at = _hash_slots(values, len(values)), np.arange(len(values))
    last, shared = np.zeros(1 << len(values).bit_length() + SPARE, np.int64), _empty_table(len(values))
    last[slots] = at
    shared[slots[last[slots] != at]] = True
    is_duplicate = shared[slots]
    _, index, n_each = np.unique(values[is_duplicate], return_inverse=True, return_counts=True)
    is_duplicate[is_duplicate] = n_each[index] > 1
    return is_duplicate
