"""A map of a grid: its layers, the orders of its rows and columns, and one file of whole numbers for a browser.

Cells can be coloured by each layer, in which each of them has one class. A file begins with the length of its head
(4 bytes, little-endian), and its head, JSON that ends at a multiple of 4 bytes. Then come arrays, one after the other
as the head lists them under `arrays`, each with its name, its bytes a number (4 or 1) and its length, which a browser
reads without parsing each number. No text of the study is in it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import InputError
from fcpair.pair_filter import MapPart, check_name
from fcpair.records import Tier
from fcpair.report.figures.colours import DARK, LIGHT, cell_colour, to_hex
from fcpair.report.figures.grid_map import CellClass
from fcpair.report.formatting import named
from fcpair.sentences import Answer, mark, say, say_number

Ints = NDArray[np.int64]
Index = NDArray[np.uint8]
Meaning = tuple[str, str]  # of a class: in words, and the look that has its colours
MOST_LABELS, MOST_SKIPS = 9, 3
TIMES_S = (5, 10, 20, 40, 80)
"""The bounds of the classes of time, in seconds: fast readers and slow ones differ by a factor, not by a sum."""

STATES: tuple[Meaning, ...] = (
    (mark("no label yet"), "nothing"),
    (mark("labelled, waits for a person"), "waits"),
    (mark("labelled, waits for a policy"), "undecided"),
    (mark("discarded"), "discarded"),
    (mark("decided, not validated"), "decided"),
    (mark("valid"), "valid"),
    (mark("not valid"), "not valid"),
)
"""States of a cell: the fields of `PairCounts`, in their order."""


@dataclass(frozen=True)
class Layer:
    """One way to colour a map: `index`, shape `(n_cells,)`, says which of `classes` each cell of the grid is in."""

    name: str
    title: str
    classes: tuple[CellClass, ...]
    index: Index


@dataclass(frozen=True)
class CellAnswers:
    """The answers on each cell of a grid, all of shape `(n_cells,)`.

    `counts`, shape `(n_cells, n_choices)`, says how often each of the `choices` was given; `n_answers` counts them all,
    skips left out; `seconds` is the median time of the answers, skips included, NaN where none is known.
    """

    choices: tuple[str, ...]
    counts: Ints
    n_answers: Ints
    skips: Ints
    seconds: NDArray[np.float64]


@dataclass(frozen=True)
class CellStandings:
    """State of each cell, all of shape `(n_cells,)`: `state` by its place in STATES; `final`, the place of the
    decided choice, -1 for none; and, if there are tiers, the best `tier` of the four, 0 for none, and whether the
    cell is in each of the grid's `own_tiers`.
    """

    state: Ints
    final: Ints
    tier: Ints | None
    own_tiers: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)


def count_answers(cell: Ints, choice: Ints, time: Ints, n_cells: int, choices: Sequence[str]) -> CellAnswers:
    """Count answers by cell: `cell` is the place of that of each answer, `(n_answers,)`, `choice` that of what was
    chosen (-1: an answer without a choice, -2: a skip), `time` in tenths of a second, -1 where it is not known.
    """
    n_choices, chosen = len(choices), choice >= 0
    flat = np.bincount(cell[chosen] * n_choices + choice[chosen], minlength=n_cells * n_choices)
    is_skip, is_timed = choice == -2, time >= 0
    order = np.lexsort((time[is_timed], cell[is_timed]))
    ordered, n_timed = time[is_timed][order], np.bincount(cell[is_timed], minlength=n_cells)
    first, has_time = np.cumsum(n_timed) - n_timed, n_timed > 0
    medians = np.full(n_cells, np.nan)
    lower, upper = ((first + half // 2)[has_time] for half in (n_timed - 1, n_timed))
    medians[has_time] = (ordered[lower] + ordered[upper]) / 20
    n_answers, n_skips = (np.bincount(cell[rows], minlength=n_cells) for rows in (~is_skip, is_skip))
    return CellAnswers(tuple(choices), flat.reshape(n_cells, n_choices), n_answers, n_skips, medians)


def build_layers(answers: CellAnswers, standings: CellStandings | None) -> tuple[Layer, ...]:
    """The layers that there are for these answers; without `standings` nothing is decided on them."""
    meanings, state = STATES, None if standings is None else standings.state
    if state is None:
        words = (mark("no answer yet"), mark("skipped, not answered"), mark("answered"))
        meanings = tuple(zip(words, ("nothing", "waits", "decided"), strict=True))
        state = np.where(answers.n_answers > 0, 2, (answers.skips > 0).astype(np.int64))
    layers = [_build("state", mark("State"), meanings, state)]
    if standings is not None and standings.tier is not None:
        outside = mark("in none of the four tiers") if standings.own_tiers else mark("in no tier")
        tiers = [(outside, "nothing"), *((tier.label, tier.label) for tier in Tier)]
        places = {tier.value: at for at, tier in enumerate(Tier, 1)}
        index = np.array([places.get(value, 0) for value in range(max(places) + 1)])[standings.tier]
        layers.append(_build("tier", mark("Tier"), tiers, index))
        # A tier of the grid's own has a layer for itself, because a cell can be in several that are not nested.
        for name, is_in in standings.own_tiers.items():
            outside, inside = say("not in the tier %(name)s", name=name), say("in the tier %(name)s", name=name)
            title, meanings = say("Tier %(name)s", name=name), ((outside, "nothing"), (inside, "in tier"))
            layers.append(_build(f"tier-{name}", title, meanings, is_in.astype(np.int64)))
    if answers.choices:
        # The label that was decided; before that, the one that was given most often.
        n_choices = len(answers.choices)
        tie, discarded, nothing = n_choices, n_choices + 1, n_choices + 2
        chosen = [(named(name), f"level {at} of {n_choices - 1}") for at, name in enumerate(answers.choices)]
        chosen += [(mark("as many for one as for another"), "tie"), (mark("discarded"), "discarded"), STATES[0]]
        most, n_labels = answers.counts.max(axis=1), answers.counts.sum(axis=1)
        is_tie = (answers.counts == most[:, None]).sum(axis=1) > 1
        index = np.where(most == 0, nothing, np.where(is_tie, tie, answers.counts.argmax(axis=1)))
        if standings is not None:
            index = np.where(standings.final >= 0, standings.final, index)
            index[standings.state == STATES.index(("discarded", "discarded"))] = discarded
        # How many of the answers on a cell are the most frequent one.
        agreeing = (
            (mark("no label yet"), "nothing"),
            (mark("one label alone"), "single"),
            (mark("half of the labels or fewer are the same"), "level 0 of 2"),
            (mark("more than half are the same"), "level 1 of 2"),
            (mark("all are the same"), "level 2 of 2"),
        )
        step = np.select([n_labels == 0, n_labels == 1, most == n_labels, 2 * most > n_labels], [0, 1, 4, 3], 2)
        layers.append(_build("answer", mark("Answer"), chosen, index))
        layers.append(_build("agreement", mark("Agreement"), agreeing, step))
    return (*layers, *_count_layers(answers))


def _build(name: str, title: str, meanings: Sequence[Meaning], index: Ints) -> Layer:
    counts = np.bincount(index, minlength=len(meanings)).tolist()
    classes = tuple(CellClass(*meaning, n) for meaning, n in zip(meanings, counts, strict=True))
    return Layer(name, title, classes, index.astype(np.uint8))


def _count_layers(answers: CellAnswers) -> Iterator[Layer]:
    top = int(min(answers.n_answers.max(initial=1), MOST_LABELS))
    numbers = [say_number("%(n)s label", "%(n)s labels", n) for n in range(1, top + 1)]
    if answers.n_answers.max(initial=0) > top:
        numbers[-1] = say_number("%(n)s label or more", "%(n)s labels or more", top)
    meanings = _steps(mark("none"), numbers, 1, top)
    yield _build("labels", mark("Number of labels"), meanings, np.minimum(answers.n_answers, top))
    times = [
        say("less than %(number)s s", number=TIMES_S[0]),
        *(say("%(least)s to %(most)s s", least=low, most=high) for low, high in pairwise(TIMES_S)),
        say("%(number)s s or more", number=TIMES_S[-1]),
    ]
    step = np.searchsorted(TIMES_S, np.nan_to_num(answers.seconds), side="right") + 1
    meanings = _steps(mark("not known"), times, 0, len(TIMES_S))
    yield _build("time", mark("Median time"), meanings, np.where(np.isnan(answers.seconds), 0, step))
    skips = [say_number("%(n)s skip", "%(n)s skips", n) for n in range(1, MOST_SKIPS)]
    skips.append(say("%(number)s skips or more", number=MOST_SKIPS))
    meanings = _steps(mark("never skipped"), skips, 1, MOST_SKIPS)
    yield _build("skips", mark("Skips"), meanings, np.minimum(answers.skips, MOST_SKIPS))


def _steps(nothing: str, words: Sequence[str], first: int, top: int) -> list[Meaning]:
    return [(nothing, "nothing"), *((text, f"level {at} of {top}") for at, text in enumerate(words, first))]


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
    """Answers in each row, or each column, all of shape `(n_texts,)`, and its orders but that of the numbers.

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
    counts = np.zeros((n_texts, len(answers.choices)), np.int64)
    for at, counted in enumerate(answers.counts.T):
        counts[:, at] = _sums(of_cell, counted, n_texts)
    is_shared = answers.counts.sum(axis=1) > 1
    is_disputed = is_shared & ((answers.counts > 0).sum(axis=1) > 1)
    shares = _ratio(counts, counts.sum(axis=1)[:, None])
    disagreement = _ratio(_sums(of_cell, is_disputed, n_texts), _sums(of_cell, is_shared, n_texts))
    titles = [say("share of %(answer)s", answer=Answer(named(choice))) for choice in answers.choices]
    ranked: list[tuple[str, str, Floats]] = [(f"share-{at}", title, shares[:, at]) for at, title in enumerate(titles)]
    ranked += [("disagreement", mark("disagreement"), disagreement)] if answers.choices else []
    # The largest first; those alike by their numbers, and what is missing last.
    orders = [Order(of, title, np.argsort(-values, kind="stable")) for of, title, values in ranked]
    if any(clusters):
        orders.append(Order("cluster", mark("cluster"), np.lexsort((np.arange(n_texts), np.array(clusters)))))
    if answers.choices and shape[0] * shape[1] <= MOST_LIKENED:
        orders.append(Order("likeness", mark("likeness of answers"), _by_likeness(of_cell, other, shape, answers)))
    n_answers, skips = (_sums(of_cell, counted, n_texts) for counted in (answers.n_answers, answers.skips))
    return SideFigures(name, n_answers, skips, shares, disagreement, tuple(orders))


def _sums(of_cell: Ints, values: NDArray[np.generic], n_texts: int) -> Ints:
    return np.bincount(of_cell, values, n_texts).astype(np.int64)


def _ratio(part: Ints, whole: Ints) -> Floats:
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.where(whole > 0, part / whole, np.nan))


def _by_likeness(of_cell: Ints, other: Ints, shape: tuple[int, int], answers: CellAnswers) -> Ints:
    """Put rows side by side whose cells were answered alike: by the first singular vector of the mean answers."""
    n_labels = answers.counts.sum(axis=1)
    mean, is_known = _ratio(answers.counts @ np.arange(len(answers.choices)), n_labels), n_labels > 0
    matrix = np.zeros(shape)
    matrix[of_cell[is_known], other[is_known]] = (mean - np.mean(mean[is_known]) if is_known.any() else mean)[is_known]
    vector = matrix.sum(axis=1) + np.linspace(0, 1e-6, shape[0])
    for _ in range(ROUNDS):
        vector = matrix @ (matrix.T @ vector)
        if not (length := float(np.linalg.norm(vector))):
            return np.arange(shape[0])
        vector /= length
    return np.argsort(-np.round(vector, 9), kind="stable")


MOST_DRAWN, LONGEST_DRAWN = 20_000_000, 16_384
"""Places of a map, and texts of a side, that a browser can draw: its picture has a pixel for each place."""

CORPUS = (mark("in the corpus already, so not in the grid"), "corpus")
OUTSIDE = (mark("not in the grid"), "hole")


class Size(NamedTuple):
    """Rows, columns and cells of a grid."""

    n_rows: int
    n_columns: int
    n_cells: int

    @property
    def is_drawable(self) -> bool:
        """Return whether a browser can draw a map of it."""
        return self.n_rows * self.n_columns <= MOST_DRAWN and max(self.n_rows, self.n_columns) <= LONGEST_DRAWN


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

    def layer(self, name: str) -> Layer:
        """The layer of this name; raises InputError for none, with the nearest."""
        layers = {layer.name: layer for layer in self.layers}
        check_name(mark("the map has no layer `%(name)s`; %(hint)s"), name, layers)
        return layers[name] if name else self.layers[0]

    def classes_of(self, layer: str, numbers: Ints) -> Ints:
        """The place of the class in that layer of each cell with one of these numbers."""
        places = np.minimum(np.searchsorted(self.numbers, numbers), len(self.numbers) - 1)
        return self.layer(layer).index[places].astype(np.int64)

    def numbers_in(self, part: MapPart) -> Ints:
        """The numbers of the cells in a part of it, ascending; raises InputError for what it does not have."""
        is_in = np.ones(len(self.places), bool)
        for name, at in part.classes.items():
            if at >= len(self.layer(name).classes):
                raise InputError.say("the layer `%(name)s` of the map has no class %(number)s", name=name, number=at)
            is_in &= self.layer(name).index == at
        if part.area:
            wanted, sides = (part.rows, part.columns), (self.rows, self.columns)
            bounds, places = (part.area[:2], part.area[2:]), np.divmod(self.places, self.shape[1])
            for name, side, n_texts, (first, last), place in zip(
                wanted, sides, self.shape, bounds, places, strict=True
            ):
                orders = {order.name: order.places for order in side.orders}
                check_name(mark("the map has no order `%(name)s`; %(hint)s"), name, orders)
                texts = orders.get(name, np.arange(n_texts))[first - 1 : last]
                is_in &= np.isin(np.arange(n_texts), texts)[place]
        return self.numbers[is_in]

    @property
    def outside(self) -> tuple[tuple[str, str, int], ...]:
        """The places without a cell, by why there is none: in words, their look, and how many they are."""
        n_outside = self.shape[0] * self.shape[1] - len(self.places) - len(self.corpus)
        return (*CORPUS, len(self.corpus)), (*OUTSIDE, n_outside)


def pack(cell_map: CellMap, version: str, translate: Callable[[str], str] = str) -> bytes:
    """Pack a map; its `version` changes with what it shows. `translate` gives its words in the language of the page."""
    # Those left out that say nothing: the places of a whole product, and numbers that are places.
    places: list[tuple[str, Ints]] = []
    if not np.array_equal(cell_map.places, np.arange(cell_map.shape[0] * cell_map.shape[1])):
        places.append(("places", cell_map.places))
    if not np.array_equal(cell_map.numbers, cell_map.places + 1):
        places.append(("numbers", cell_map.numbers))
    places.append(("corpus", cell_map.corpus))
    for side in (cell_map.rows, cell_map.columns):
        places += [(f"{side.name}-{order.name}", order.places) for order in side.orders]
    arrays: list[tuple[str, NDArray[Any]]] = [(name, array.astype("<u4")) for name, array in places]
    arrays += [(layer.name, layer.index) for layer in cell_map.layers]
    classes_of = [[_class(translate(of.meaning), of.look) for of in layer.classes] for layer in cell_map.layers]
    head: dict[str, Any] = {
        "version": version,
        "shape": cell_map.shape,
        "cells": len(cell_map.places),
        "question": cell_map.question,
        "questions": cell_map.questions,
        "layers": [
            {"name": layer.name, "title": translate(layer.title), "classes": classes}
            for layer, classes in zip(cell_map.layers, classes_of, strict=True)
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


def _class(meaning: str, look: str) -> dict[str, str]:
    return {"meaning": meaning, **{theme.name: to_hex(cell_colour(look, theme)) for theme in (LIGHT, DARK)}}
