"""The cells of a grid, counted and put into classes for a map; large grids in blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcpair.report.data import DISCARDED, HOLE, IN_CORPUS, IN_GRID, OTHER, POSITIVE, WAITING, GridMap

MOST_ROWS, MOST_COLUMNS = 160, 280
MOST_LABELS_SHOWN = 9


@dataclass(frozen=True)
class CellClass:
    """One class of cells: `look` names its colour and pattern in `colours.py`; `n` cells are in it."""

    meaning: str
    look: str
    n: int


@dataclass(frozen=True)
class ClassMap:
    """A map of classes: `index`, shape `(n_hs, n_cn)`, says which of `classes` each cell is in."""

    index: NDArray[np.int8]
    classes: tuple[CellClass, ...]


@dataclass(frozen=True)
class BlockMap:
    """A map of means over blocks of `rows` x `columns` cells, shape `(n_block_rows, n_block_columns)`.

    `mean` is missing (NaN) where a block has no cell that the mean could rest on; `index` then says why, as one of
    `looks`.
    """

    mean: NDArray[np.float64]
    index: NDArray[np.int8]
    looks: tuple[str, ...]
    rows: int
    columns: int


def block_size(shape: tuple[int, ...]) -> tuple[int, int]:
    """Number of HS and number of CNs in one block, so that a map is not larger than MOST_ROWS x MOST_COLUMNS."""
    return -(-shape[0] // MOST_ROWS), -(-shape[1] // MOST_COLUMNS)


def coverage(grid: GridMap) -> ClassMap:
    """The cells by their number of labels, and those that are not in the grid."""
    top = int(min(grid.labels.max(initial=0), MOST_LABELS_SHOWN))
    index = np.minimum(grid.labels, MOST_LABELS_SHOWN).astype(np.int8)
    meanings = [(_labels_in_words(n, grid), f"level {n} of {top}") for n in range(top + 1)]
    return _build_class_map(index, meanings, grid)


def _labels_in_words(n: int, grid: GridMap) -> str:
    if n == MOST_LABELS_SHOWN and grid.labels.max() > n:
        return f"{n} labels or more"
    return {0: "no label yet", 1: "1 label"}.get(n, f"{n} labels")


def decisions(grid: GridMap) -> ClassMap:
    """The cells by their adjudicated label, and those that are not in the grid."""
    index = np.full(grid.decision.shape, 5, np.int8)
    index[grid.labels > 0] = 4
    for at, decided in enumerate((POSITIVE, OTHER, DISCARDED, WAITING)):
        index[grid.decision == decided] = at
    meanings = [
        ("a positive label", "positive"),
        ("another definite label", "other"),
        ("discarded", "discarded"),
        ("labelled, waits for a person", "waiting"),
        ("labelled, waits for a policy", "undecided"),
        ("no label yet", "nothing"),
    ]
    return _build_class_map(index, meanings, grid)


def _build_class_map(index: NDArray[np.int8], meanings: list[tuple[str, str]], grid: GridMap) -> ClassMap:
    # Counted one class at a time: np.bincount would widen 20 million small integers to eight bytes each.
    outside = [("in the corpus already, so not in the grid", "corpus", IN_CORPUS), ("not in the grid", "hole", HOLE)]
    for at, (_, _, place) in enumerate(outside, len(meanings)):
        index[grid.place == place] = at
    meanings += [(meaning, look) for meaning, look, _ in outside]
    counts = [int(np.count_nonzero(index == at)) for at in range(len(meanings))]
    counts[-1] += grid.n_unlisted
    return ClassMap(index, tuple(CellClass(*name, n) for name, n in zip(meanings, counts, strict=True)))


def coverage_blocks(grid: GridMap) -> BlockMap:
    """The mean number of labels of the grid's cells in each block."""
    inside = grid.place == IN_GRID
    return _build_block_map(grid, grid.labels, inside, ("hole",), None)


def decision_blocks(grid: GridMap) -> BlockMap:
    """The share of positive labels among the cells of each block that have a definite label."""
    definite = (grid.decision == POSITIVE) | (grid.decision == OTHER)
    return _build_block_map(grid, grid.decision == POSITIVE, definite, ("hole", "nothing", "waiting"), grid.labels)


def _build_block_map(
    grid: GridMap,
    values: NDArray[np.int16] | NDArray[np.bool_],
    is_used: NDArray[np.bool_],
    looks: tuple[str, ...],
    labels: NDArray[np.int16] | None,
) -> BlockMap:
    rows, columns = block_size(grid.shape)
    sums, n = (_block_sums(grid, cells) for cells in (values * is_used, is_used))
    with np.errstate(invalid="ignore"):
        mean = np.where(n > 0, sums / n, np.nan)
    index = np.zeros(mean.shape, np.int8)
    if labels is not None:
        index += (_block_sums(grid, grid.place == IN_GRID) > 0).astype(np.int8)
        index += (_block_sums(grid, labels) > 0).astype(np.int8)
    return BlockMap(mean, index, looks, rows, columns)


def _block_sums(grid: GridMap, cells: NDArray[np.generic]) -> NDArray[np.int64]:
    rows, columns = block_size(grid.shape)
    if grid.at is not None:
        row, column = np.divmod(grid.at, grid.shape[1])
        shape = -(-grid.shape[0] // rows), -(-grid.shape[1] // columns)
        sums = np.bincount(row // rows * shape[1] + column // columns, cells, shape[0] * shape[1])
        return sums.astype(np.int64).reshape(shape)
    by_row = np.add.reduceat(cells, np.arange(0, cells.shape[0], rows), axis=0, dtype=np.int64)
    return np.asarray(np.add.reduceat(by_row, np.arange(0, cells.shape[1], columns), axis=1))
