"""Exact nearest neighbours: blocks of cosines in single precision find few, double precision decides between these.

A block of cosines in float32 is compared with a floor for each row: its k-th greatest cosine so far, less what rounding
can hide. Only the few that reach it are computed in float64; a row in which too many do is, as a whole.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Bools, Floats, Ints, Vectors

DECIMALS = 6  # what float32 vectors are good for; below it equal texts would not tie
NO_NEIGHBOUR = -1  # stands where a query has fewer neighbours than were asked for
ROWS, COLUMNS = 1024, 4096  # of a block; beyond these a product gets no faster
CROWD = 2048  # neighbours that one row may have in sight before it is computed in float64 as a whole
GATHERED = 4096  # pairs computed in float64 at once
_CELL_BYTES = 100  # of a block at worst: its cosine, whether it reaches the floor, and where it then is
_KEPT_BYTES = 100  # of a neighbour in sight, while those of a row are put in order

Neighbours = tuple[Ints, Floats]


@dataclass(frozen=True)
class Blocks:
    """Numbers of rows and columns that are multiplied at once."""

    rows: int
    columns: int

    @classmethod
    def fit_memory(cls, memory_mb: int, k: int) -> Blocks:
        """The largest blocks, up to those beyond which nothing gets faster, that take `memory_mb` together."""
        memory, row = memory_mb * 1_000_000, _crowd_size(k) * _KEPT_BYTES + COLUMNS * _CELL_BYTES
        rows = min(max(1, memory // row), ROWS)
        left = memory - rows * _crowd_size(k) * _KEPT_BYTES
        return cls(rows, min(max(1, left // (rows * _CELL_BYTES)), COLUMNS))


def nearest_neighbours(queries: Vectors, texts: Vectors, self_position: Ints, k: int, blocks: Blocks) -> Neighbours:
    """The `k` texts nearest to each query by cosine similarity, nearest first; ties by the order of the texts.

    `queries`, `(n_queries, dimension)`, and `texts` are unit vectors; `self_position` says which text each query is,
    and no neighbour of (outside 0 to n_texts - 1: none). `blocks` change nothing in what is found. Returns positions of
    texts and cosines to six decimals, `(n_queries, k)`; -1 (`NO_NEIGHBOUR`) and -inf behind if there are fewer.
    """
    # A cosine in float32 may be wrong by n u / (1 - n u) times the lengths of both vectors, in whatever order its n
    # summands were summed, with u = 2**-24 (Higham 2002, section 3.1, https://doi.org/10.1137/1.9780898718027).
    summed: float = texts.shape[1] * 2.0**-24
    longest = (math.sqrt(np.einsum("ij,ij->i", vectors, vectors).max(initial=0)) for vectors in (queries, texts))
    error = math.prod(longest, start=summed / (1 - summed)) * 1.001
    parts = [
        _nearest_of_block(queries[rows], texts, self_position[rows], k, blocks.columns, error)
        for rows in (slice(at, at + blocks.rows) for at in range(0, len(queries), blocks.rows))
    ]
    return stack_parts(parts, k)


def stack_parts(parts: Sequence[Neighbours], k: int) -> Neighbours:
    """Stack the neighbours of the queries of each part, one part below the other; without any part, for no query."""
    if not parts:
        return np.empty((0, k), np.int64), np.empty((0, k))
    cn, score = zip(*parts, strict=True)
    return np.concatenate(cn), np.concatenate(score)


def merge_parts(parts: Sequence[Neighbours], k: int) -> Neighbours:
    """The `k` nearest of what was found for the same queries in different texts; ties by the positions given."""
    cn, score = (np.concatenate(columns, axis=1) for columns in zip(*parts, strict=True))
    order = np.lexsort((cn, -score))[:, :k]
    return np.take_along_axis(cn, order, axis=1), np.take_along_axis(score, order, axis=1)


def top_columns(similarity: Floats, places: int) -> Ints:
    """The columns of the `places` largest values of each row, largest first; of equal values the first column."""
    if places == 0:
        return np.empty((len(similarity), 0), np.int64)
    part = np.argpartition(-similarity, places - 1, axis=1)[:, :places]
    tied = (similarity >= np.take_along_axis(similarity, part, axis=1).min(axis=1)[:, None]).sum(axis=1) > places
    part[tied] = np.argsort(-similarity[tied], axis=1, kind="stable")[:, :places]  # the last place is shared
    part = np.sort(part, axis=1)
    order = np.argsort(-np.take_along_axis(similarity, part, axis=1), axis=1, kind="stable")
    return np.take_along_axis(part, order, axis=1)


def _crowd_size(k: int) -> int:
    return max(CROWD, 8 * k)


class _CandidateSet:
    """The neighbours that some queries may have, by row, and the floor that a cosine in float32 must reach to be one.
    What is among the `k` greatest to six decimals is smaller than the k-th by two errors and one unit of it at most.
    """

    def __init__(self, n_rows: int, k: int, error: float) -> None:
        self.row = np.empty(0, np.int64)
        self.column = np.empty(0, np.int64)
        self.cosine = np.empty(0, np.float32)
        self.floor = np.full(n_rows, np.finfo(np.float32).min)
        self.crowded = np.zeros(n_rows, bool)
        self._k, self.slack = k, 2 * error + 2 * 10.0**-DECIMALS
        self._room = 4 * k * n_rows  # neighbours in sight before they are sifted

    def add(self, block: Vectors, start: int) -> None:
        """Take in what reaches the floor, of a block whose first column is the text `start`."""
        at = np.flatnonzero(block >= self.floor.astype(np.float32)[:, None])
        row, column = np.divmod(at, block.shape[1])
        self.row = np.concatenate([self.row, row])
        self.column = np.concatenate([self.column, column + start])
        self.cosine = np.concatenate([self.cosine, block.reshape(-1)[at]])
        if len(self.row) > self._room:
            self.sift()
            self._room = max(self._room, 2 * len(self.row))

    def sift(self) -> None:
        """Raise the floor to what is in sight, leave out what is below it, and give up rows with too many."""
        order = np.lexsort((-self.cosine, self.row))
        self.row, self.column, self.cosine = self.row[order], self.column[order], self.cosine[order]
        count = np.bincount(self.row, minlength=len(self.floor))
        enough = count >= self._k
        last = (np.cumsum(count) - count + self._k - 1)[enough]
        level = np.full(len(count), -np.inf)
        level[enough] = self.cosine[last]
        self.floor = np.maximum(self.floor, level - self.slack)
        self._keep_rows(self.cosine >= self.floor.astype(np.float32)[self.row])
        self.crowded |= np.bincount(self.row, minlength=len(self.floor)) > _crowd_size(self._k)
        self.floor[self.crowded] = np.inf
        self._keep_rows(~self.crowded[self.row])

    def _keep_rows(self, is_kept: Bools) -> None:
        self.row, self.column, self.cosine = self.row[is_kept], self.column[is_kept], self.cosine[is_kept]


def _nearest_of_block(
    queries: Vectors, texts: Vectors, self_position: Ints, k: int, width: int, error: float
) -> Neighbours:
    """The nearest of one block of rows, `width` columns at once."""
    candidates = _CandidateSet(len(queries), k, error)
    buffer = np.empty(len(queries) * min(width, len(texts)), np.float32)
    for start in range(0, len(texts), width):
        columns = texts[start : start + width]
        block = buffer[: len(queries) * len(columns)].reshape(len(queries), len(columns))
        np.matmul(queries, columns.T, out=block)
        _exclude_self(self_position, block, start)
        if start == 0:  # the k-th greatest of the maxima of some of its columns is a floor that is low enough
            n_rows, n_columns = block.shape
            each = max(1, n_columns // (8 * k))
            if (n := n_columns // each) >= k:
                level = np.partition(block[:, : n * each].reshape(n_rows, n, each).max(axis=2), n - k, axis=1)[:, n - k]
                candidates.floor = np.maximum(candidates.floor, level - candidates.slack)
        candidates.add(block, start)
    candidates.sift()
    # of those in sight, which are by row, the nearest by their cosines in float64
    exact = np.empty(len(candidates.row))
    for part in (slice(at, at + GATHERED) for at in range(0, len(exact), GATHERED)):
        one, other = queries[candidates.row[part]], texts[candidates.column[part]]
        exact[part] = np.round(np.einsum("ij,ij->i", one.astype(np.float64), other.astype(np.float64)), DECIMALS)
    order = np.lexsort((candidates.column, -exact, candidates.row))
    count = np.bincount(candidates.row, minlength=len(queries))
    rank = np.arange(len(order)) - np.repeat(np.cumsum(count) - count, count)
    order, rank = order[rank < k], rank[rank < k]
    cn, score = np.full((len(queries), k), NO_NEIGHBOUR, np.int64), np.full((len(queries), k), -np.inf)
    for array, values in ((cn, candidates.column), (score, exact)):
        array[candidates.row[order], rank] = values[order]
    if (crowded := np.flatnonzero(candidates.crowded)).size:
        cn[crowded], score[crowded] = _nearest_in_float64(queries[crowded], texts, self_position[crowded], k, width)
    return cn, score


def _nearest_in_float64(queries: Vectors, texts: Vectors, self_position: Ints, k: int, columns: int) -> Neighbours:
    """The nearest of queries by their cosines with every text in float64, block by block."""
    exact = queries.astype(np.float64)
    cn, score = np.full((len(queries), k), NO_NEIGHBOUR, np.int64), np.full((len(queries), k), -np.inf)
    for start in range(0, len(texts), columns):
        block = np.round(exact @ texts[start : start + columns].astype(np.float64).T, DECIMALS)
        _exclude_self(self_position, block, start)
        better = np.flatnonzero((block > score[:, -1:]).any(axis=1))  # of equal ones the first found stays
        scores = np.concatenate([score[better], block[better]], axis=1)
        positions = np.concatenate(
            [cn[better], np.tile(np.arange(start, start + block.shape[1]), (len(better), 1))], axis=1
        )
        best = top_columns(scores, k)
        cn[better], score[better] = (np.take_along_axis(values, best, axis=1) for values in (positions, scores))
    return cn, score


def _exclude_self(self_position: Ints, block: NDArray[np.floating], start: int) -> None:
    """No query is its own neighbour: its cosine with itself, if it is in this block, becomes the least of all."""
    inside = np.flatnonzero((self_position >= start) & (self_position < start + block.shape[1]))
    block[inside, self_position[inside] - start] = -np.inf
