"""The layers of a map of a grid: what its cells can be coloured by, each cell in one class of each layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from fcpair.records import Tier
from fcpair.report.cells import CellClass
from fcpair.report.formatting import counted, named

Ints = NDArray[np.int64]
Index = NDArray[np.uint8]
Meaning = tuple[str, str]  # of a class: in words, and the look that has its colours
MOST_LABELS, MOST_SKIPS = 9, 3
TIMES_S = (5, 10, 20, 40, 80)
"""The bounds of the classes of time, in seconds: fast readers and slow ones differ by a factor, not by a sum."""

STATES: tuple[Meaning, ...] = (
    ("no label yet", "nothing"),
    ("labelled, waits for a person", "waits"),
    ("labelled, waits for a policy", "undecided"),
    ("discarded", "discarded"),
    ("decided, not validated", "decided"),
    ("valid", "valid"),
    ("not valid", "not valid"),
)
"""Where a cell stands: the fields of `PairCounts`, in their order."""


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
    """What became of each cell, all of shape `(n_cells,)`: `state` by its place in STATES; `final`, the place of the
    decided choice, -1 for none; and, where there are tiers, the best `tier` of the four, 0 for none, and whether the
    cell is in each of the grid's `own_tiers`.
    """

    state: Ints
    final: Ints
    tier: Ints | None
    own_tiers: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)


def count_answers(cell: Ints, choice: Ints, time: Ints, n_cells: int, choices: Sequence[str]) -> CellAnswers:
    """Count answers by cell.

    Args:
        cell: the place of the cell of each answer, shape `(n_answers,)`.
        choice: the place of what was chosen; -1 for an answer without a choice, -2 for a skip.
        time: in tenths of a second; -1 where it is not known.
        n_cells: the number of cells.
        choices: the names of the choices.
    """
    n_choices = len(choices)
    chosen = choice >= 0
    flat = np.bincount(cell[chosen] * n_choices + choice[chosen], minlength=n_cells * n_choices)
    is_skip = choice == -2
    return CellAnswers(
        tuple(choices),
        flat.reshape(n_cells, n_choices),
        np.bincount(cell[~is_skip], minlength=n_cells),
        np.bincount(cell[is_skip], minlength=n_cells),
        _median_seconds(cell[time >= 0], time[time >= 0], n_cells),
    )


def _median_seconds(cell: Ints, time: Ints, n_cells: int) -> NDArray[np.float64]:
    order = np.lexsort((time, cell))
    ordered, n_timed = time[order], np.bincount(cell, minlength=n_cells)
    first = np.cumsum(n_timed) - n_timed
    has_time = n_timed > 0
    medians = np.full(n_cells, np.nan)
    lower, upper = ((first + half // 2)[has_time] for half in (n_timed - 1, n_timed))
    medians[has_time] = (ordered[lower] + ordered[upper]) / 20
    return medians


def build_layers(answers: CellAnswers, standings: CellStandings | None) -> tuple[Layer, ...]:
    """The layers that there are for these answers; without `standings` nothing is decided on them."""
    layers = [_state_layer(answers, standings)]
    if standings is not None and standings.tier is not None:
        layers.append(_tier_layer(standings.tier, has_own=bool(standings.own_tiers)))
        layers += [_own_tier_layer(name, is_in) for name, is_in in standings.own_tiers.items()]
    if answers.choices:
        layers += [_answer_layer(answers, standings), _agreement_layer(answers)]
    return (*layers, _number_layer(answers), _time_layer(answers.seconds), _skip_layer(answers.skips))


def _build(name: str, title: str, meanings: Sequence[Meaning], index: Ints) -> Layer:
    counts = np.bincount(index, minlength=len(meanings)).tolist()
    classes = tuple(CellClass(*meaning, n) for meaning, n in zip(meanings, counts, strict=True))
    return Layer(name, title, classes, index.astype(np.uint8))


def _state_layer(answers: CellAnswers, standings: CellStandings | None) -> Layer:
    if standings is not None:
        return _build("state", "State", STATES, standings.state)
    meanings = (("no answer yet", "nothing"), ("skipped, not answered", "waits"), ("answered", "decided"))
    index = np.where(answers.n_answers > 0, 2, (answers.skips > 0).astype(np.int64))
    return _build("state", "State", meanings, index)


def _tier_layer(tier: Ints, *, has_own: bool) -> Layer:
    outside = "in none of the four tiers" if has_own else "in no tier"
    meanings = [(outside, "nothing"), *((one.label, one.label) for one in Tier)]
    places = {one.value: at for at, one in enumerate(Tier, 1)}
    index = np.array([places.get(value, 0) for value in range(max(places) + 1)])[tier]
    return _build("tier", "Tier", meanings, index)


def _own_tier_layer(name: str, is_in: NDArray[np.bool_]) -> Layer:
    """A tier of the grid's own has a layer for itself, because a cell can be in several that are not nested."""
    meanings = ((f"not in the tier {name}", "nothing"), (f"in the tier {name}", "in tier"))
    return _build(f"tier-{name}", f"Tier {name}", meanings, is_in.astype(np.int64))


def _answer_layer(answers: CellAnswers, standings: CellStandings | None) -> Layer:
    """The label that was decided; before that, the one that was given most often."""
    n_choices = len(answers.choices)
    tie, discarded, nothing = n_choices, n_choices + 1, n_choices + 2
    meanings = [(named(name), f"level {at} of {n_choices - 1}") for at, name in enumerate(answers.choices)]
    meanings += [("as many for one as for another", "tie"), ("discarded", "discarded"), ("no label yet", "nothing")]
    most = answers.counts.max(axis=1)
    is_tie = (answers.counts == most[:, None]).sum(axis=1) > 1
    index = np.where(most == 0, nothing, np.where(is_tie, tie, answers.counts.argmax(axis=1)))
    if standings is not None:
        index = np.where(standings.final >= 0, standings.final, index)
        index[standings.state == STATES.index(("discarded", "discarded"))] = discarded
    return _build("answer", "Answer", meanings, index)


def _agreement_layer(answers: CellAnswers) -> Layer:
    """How many of the answers on a cell are the most frequent one."""
    meanings = [
        ("no label yet", "nothing"),
        ("one label alone", "single"),
        ("half of the labels or fewer are the same", "level 0 of 2"),
        ("more than half are the same", "level 1 of 2"),
        ("all are the same", "level 2 of 2"),
    ]
    most, n_labels = answers.counts.max(axis=1), answers.counts.sum(axis=1)
    index = np.select([n_labels == 0, n_labels == 1, most == n_labels, 2 * most > n_labels], [0, 1, 4, 3], 2)
    return _build("agreement", "Agreement", meanings, index)


def _number_layer(answers: CellAnswers) -> Layer:
    top = int(min(answers.n_answers.max(initial=1), MOST_LABELS))
    meanings = [("none", "nothing"), *((counted(n, "label"), f"level {n} of {top}") for n in range(1, top + 1))]
    if answers.n_answers.max(initial=0) > top:
        meanings[-1] = (f"{top} labels or more", meanings[-1][1])
    return _build("labels", "Number of labels", meanings, np.minimum(answers.n_answers, top))


def _time_layer(seconds: NDArray[np.float64]) -> Layer:
    last = len(TIMES_S)
    words = [
        f"less than {TIMES_S[0]} s",
        *(f"{low} to {high} s" for low, high in pairwise(TIMES_S)),
    ]
    meanings = [("not known", "nothing")]
    meanings += [(text, f"level {at} of {last}") for at, text in enumerate([*words, f"{TIMES_S[-1]} s or more"])]
    index = np.where(np.isnan(seconds), 0, np.searchsorted(TIMES_S, np.nan_to_num(seconds), side="right") + 1)
    return _build("time", "Median time", meanings, index)


def _skip_layer(skips: Ints) -> Layer:
    words = [counted(n, "skip") for n in range(1, MOST_SKIPS)]
    looks = [f"level {at} of {MOST_SKIPS}" for at in range(1, MOST_SKIPS + 1)]
    meanings = [("never skipped", "nothing"), *zip([*words, f"{MOST_SKIPS} skips or more"], looks, strict=True)]
    return _build("skips", "Skips", meanings, np.minimum(skips, MOST_SKIPS))
