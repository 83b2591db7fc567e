"""The rows and the columns of a map: what was answered in each, and the orders that follow from it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fcpair.report.formatting import named
from fcpair.report.map_layers import CellAnswers

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST_LIKENED = 4_000_000
"""Cells of the product; of more, rows are not ordered by how alike they were answered."""

ROUNDS = 60  # of the power iteration, after which an order changes no more that an eye could see


@dataclass(frozen=True)
class Order:
    """An order of a side: `places` has its texts, from 0, in the order in which they are shown."""

    name: str
    title: str
    places: Ints


@dataclass(frozen=True)
class SideFigures:
    """What was answered in each row, or each column, all of shape `(n_texts,)`, and its orders but that of the numbers.

    `shares`, shape `(n_texts, n_choices)`, has the share of each choice among its answers; `disagreement` is the share
    of cells with different answers among those with two or more. Both are NaN where they would rest on nothing.
    """

    name: str
    n_answers: Ints
    skips: Ints
    shares: Floats
    disagreement: Floats
    orders: tuple[Order, ...]


def measure_side(
    name: str, of_cell: Ints, other: Ints, shape: tuple[int, int], answers: CellAnswers, clusters: Sequence[str]
) -> SideFigures:
    """Measure the side whose texts the cells are `of_cell`; `other` are their texts on the other side.

    `shape` has the number of texts on this side and on the other; `clusters` says the cluster of each text, empty where
    none is known.
    """
    n_texts = shape[0]
    counts = (
        np.stack([_sums(of_cell, counted, n_texts) for counted in answers.counts.T], axis=1, dtype=np.int64)
        if (answers.choices)
        else np.zeros((n_texts, 0), np.int64)
    )
    is_shared = answers.counts.sum(axis=1) > 1
    is_disputed = is_shared & ((answers.counts > 0).sum(axis=1) > 1)
    shares = _ratio(counts, counts.sum(axis=1)[:, None])
    disagreement = _ratio(_sums(of_cell, is_disputed, n_texts), _sums(of_cell, is_shared, n_texts))
    orders = [
        Order(f"share-{at}", f"share of {named(choice)}", _descending(shares[:, at]))
        for at, choice in enumerate(answers.choices)
    ]
    orders += [Order("disagreement", "disagreement", _descending(disagreement))] if answers.choices else []
    if any(clusters):
        orders.append(Order("cluster", "cluster", np.lexsort((np.arange(n_texts), np.array(clusters)))))
    if answers.choices and shape[0] * shape[1] <= MOST_LIKENED:
        orders.append(Order("likeness", "likeness of answers", _by_likeness(of_cell, other, shape, answers)))
    n_answers, skips = (_sums(of_cell, counted, n_texts) for counted in (answers.n_answers, answers.skips))
    return SideFigures(name, n_answers, skips, shares, disagreement, tuple(orders))


def _sums(of_cell: Ints, values: NDArray[np.generic], n_texts: int) -> Ints:
    return np.bincount(of_cell, values, n_texts).astype(np.int64)


def _ratio(part: Ints, whole: Ints) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(whole > 0, part / whole, np.nan))


def _descending(values: Floats) -> Ints:
    """The places of the values, the largest first; those alike by their numbers, and what is missing last."""
    return np.argsort(-values, kind="stable")


def _by_likeness(of_cell: Ints, other: Ints, shape: tuple[int, int], answers: CellAnswers) -> Ints:
    """Put rows side by side whose cells were answered alike: by the first singular vector of the mean answers."""
    n_labels = answers.counts.sum(axis=1)
    mean = _ratio(answers.counts @ np.arange(len(answers.choices)), n_labels)
    is_known = n_labels > 0
    matrix = np.zeros(shape)
    matrix[of_cell[is_known], other[is_known]] = (mean - np.mean(mean[is_known]) if is_known.any() else mean)[is_known]
    vector = matrix.sum(axis=1) + np.linspace(0, 1e-6, shape[0])
    for _ in range(ROUNDS):
        vector = matrix @ (matrix.T @ vector)
        length = float(np.linalg.norm(vector))
        if not length:
            return np.arange(shape[0])
        vector /= length
    return np.argsort(-np.round(vector, 9), kind="stable")
