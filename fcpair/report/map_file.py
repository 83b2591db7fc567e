"""A map of a grid as one file of whole numbers, which a browser reads without parsing each of them.

A file begins with the length of its head (4 bytes, little-endian), and its head, JSON that ends at a multiple of 4
bytes. Then come arrays, one after the other as the head lists them under `arrays`, each with its name, its bytes a
number (4 or 1) and its length. No text of the study is in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.report.figures.colours import DARK, LIGHT, cell_colour, to_hex
from fcpair.report.map_layers import Layer
from fcpair.report.map_sides import SideFigures

Ints = NDArray[np.int64]
MOST_DRAWN, LONGEST_DRAWN = 20_000_000, 16_384
"""Places of a map, and texts of a side, that a browser can draw: its picture has a pixel for each place."""

CORPUS, OUTSIDE = ("in the corpus already, so not in the grid", "corpus"), ("not in the grid", "hole")


@dataclass(frozen=True)
class CellMap:
    """All that a map shows of a grid, for the answers to one `question` of `questions`, whose names people read.

    `places`, shape `(n_cells,)`, says where each cell is in the product of rows and columns, row by row from 0, and
    `numbers` what it is called; `corpus` has the places of pairs of the corpus.
    """

    shape: tuple[int, int]
    places: Ints
    numbers: Ints
    corpus: Ints
    layers: tuple[Layer, ...]
    rows: SideFigures
    columns: SideFigures
    choices: tuple[str, ...]
    questions: tuple[str, ...]
    question: str

    @property
    def n_labels(self) -> int:
        """The number of answers, skips left out."""
        return int(self.rows.n_answers.sum())

    @property
    def is_drawable(self) -> bool:
        """Whether a browser can draw it."""
        return self.shape[0] * self.shape[1] <= MOST_DRAWN and max(self.shape) <= LONGEST_DRAWN

    @property
    def outside(self) -> tuple[tuple[str, str, int], ...]:
        """The places without a cell, by why there is none: in words, their look, and how many they are."""
        n_outside = self.shape[0] * self.shape[1] - len(self.places) - len(self.corpus)
        return (*CORPUS, len(self.corpus)), (*OUTSIDE, n_outside)


def pack(cell_map: CellMap, version: str, translate: Callable[[str], str] = str) -> bytes:
    """Pack a map; its `version` changes with what it shows. `translate` gives its words in the language of the page."""
    arrays = _arrays(cell_map)
    head: dict[str, Any] = {
        "version": version,
        "shape": cell_map.shape,
        "cells": len(cell_map.places),
        "question": cell_map.question,
        "questions": cell_map.questions,
        "layers": [
            {
                "name": layer.name,
                "title": translate(layer.title),
                "classes": [_class(translate(one.meaning), one.look) for one in layer.classes],
            }
            for layer in cell_map.layers
        ],
        "outside": [_class(translate(meaning), look) for meaning, look, _ in cell_map.outside],
        "orders": {
            side.name: [{"name": order.name, "title": translate(order.title)} for order in side.orders]
            for side in (cell_map.rows, cell_map.columns)
        },
        "arrays": [[name, array.itemsize, len(array)] for name, array in arrays],
    }
    packed_head = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()
    packed_head += b" " * (-len(packed_head) % 4)
    return len(packed_head).to_bytes(4, "little") + packed_head + b"".join(array.tobytes() for _, array in arrays)


def _arrays(cell_map: CellMap) -> list[tuple[str, NDArray[Any]]]:
    """Arrays by name; those left out that say nothing: the places of a whole product, and numbers that are places."""
    arrays: list[tuple[str, Ints]] = []
    if len(cell_map.places) != cell_map.shape[0] * cell_map.shape[1]:
        arrays.append(("places", cell_map.places))
    if not np.array_equal(cell_map.numbers, cell_map.places + 1):
        arrays.append(("numbers", cell_map.numbers))
    arrays.append(("corpus", cell_map.corpus))
    for side in (cell_map.rows, cell_map.columns):
        arrays += [(f"{side.name}-{order.name}", order.places) for order in side.orders]
    narrow = [(layer.name, layer.index) for layer in cell_map.layers]
    return [*((name, array.astype("<u4")) for name, array in arrays), *narrow]


def _class(meaning: str, look: str) -> dict[str, str]:
    colours = {theme.name: to_hex(cell_colour(look, theme)) for theme in (LIGHT, DARK)}
    return {"meaning": meaning, **colours}
