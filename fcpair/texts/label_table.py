"""Cells of several labels, read as one row of truths and one of predictions for each text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fcpair.errors import Finding, InputError, nearest, reject
from fcpair.files.tables.tabular import LINE, require
from fcpair.stages.corpus.text_identity import fold
from fcpair.texts.label_cells import labels_in

if TYPE_CHECKING:
    import pandas as pd

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Labelled:
    """What is true and what was predicted of each text: two arrays of shape (n_rows, n_labels).

    `n_ignored` counts the predicted labels that were left out because they were to be ignored.
    """

    labels: tuple[str, ...]
    truth: Bools
    predicted: Bools
    n_ignored: int = 0


def read_labelled(
    table: pd.DataFrame,
    place: str,
    truth: Sequence[str],
    predicted: str,
    labels: Sequence[str] = (),
    ignored: Sequence[str] = (),
) -> Labelled:
    """The labels of a table of strings, whose `line` findings name if it has one.

    A cell holds labels as `labels_in` reads them; an empty one has none. Neither capitals nor how words are joined tell
    labels apart. A text has a label if any of the columns `truth` says so. Without `labels`, they are those of the
    truth. Predicted labels in `ignored` are left out and counted.

    Raises:
        InputError: a missing column; cells that cannot be read; labels that are not known, or duplicated in a cell.
    """
    require(place, table.columns, [*truth, predicted])
    found: list[Finding] = []
    cells = {name: _split(table, place, name, found) for name in dict.fromkeys([*truth, predicted])}
    known = known_labels(labels or _all(cells[name] for name in truth))
    left_out = _ignored(ignored, known, cells[predicted])
    true = np.zeros((len(table), len(known)), dtype=np.bool_)
    for name in truth:
        true |= _marked(table, place, name, cells[name], known, {}, found)
    guess = _marked(table, place, predicted, cells[predicted], known, left_out, found, hint=True)
    reject(place, found)
    n_ignored = sum(fold(label) in left_out for cell in cells[predicted] for label in cell)
    return Labelled(tuple(known.values()), true, guess, n_ignored)


def known_labels(names: Iterable[str]) -> dict[str, str]:
    """The labels by what tells them apart, in the order given; raises InputError where there are none, or two alike."""
    known: dict[str, str] = {}
    for name in names:
        if not fold(name):
            raise InputError("a label has no name")
        if fold(name) in known:
            raise InputError(f"label `{name}` is duplicated: it is the same as `{known[fold(name)]}`")
        known[fold(name)] = name.strip()
    if not known:
        raise InputError("there are no labels: no row of the truth has one, and none are declared")
    return known


def _all(columns: Iterable[list[list[str]]]) -> list[str]:
    """Each label that occurs, in its first spelling, in alphabetical order."""
    first: dict[str, str] = {}
    for column in columns:
        for cell in column:
            for label in cell:
                first.setdefault(fold(label), label)
    return [first[key] for key in sorted(first) if key]


def _ignored(names: Sequence[str], known: Mapping[str, str], cells: list[list[str]]) -> dict[str, str]:
    there = {fold(label): label for cell in cells for label in cell}
    for name in names:
        if fold(name) in known:
            raise InputError(f"`{name}` is one of the labels, so it cannot be ignored")
        if fold(name) not in there:
            others = [label for key, label in there.items() if key not in known]
            hint = nearest(name, others) if others else "every label that is predicted is known"
            raise InputError(f"`{name}` is to be ignored, and is never predicted; {hint}")
    return {fold(name): name for name in names}


def _split(table: pd.DataFrame, place: str, name: str, found: list[Finding]) -> list[list[str]]:
    """The labels of each cell as they are written, each distinct cell read once."""
    parts: dict[str, list[str]] = {}
    problems: dict[str, str] = {}
    for cell in table[name].unique():
        try:
            parts[cell] = split_labels(cell)
        except InputError as error:
            parts[cell], problems[cell] = [], f"`{name}`: {error}"
    found.extend(_findings(table, place, name, problems))
    return [parts[cell] for cell in table[name]]


def split_labels(cell: str) -> list[str]:
    """The labels of one cell, as they are written; raises InputError for a list that is no JSON, and an empty label."""
    listed = labels_in(cell)
    if not all(fold(one) for one in listed):
        raise InputError(f"`{cell}` has an empty label")
    return listed


def _marked(
    table: pd.DataFrame,
    place: str,
    name: str,
    cells: list[list[str]],
    known: Mapping[str, str],
    ignored: Mapping[str, str],
    found: list[Finding],
    *,
    hint: bool = False,
) -> Bools:
    """Which labels each row has; what is not known, or duplicated, is found."""
    at = {key: column for column, key in enumerate(known)}
    marks = np.zeros((len(cells), len(known)), dtype=np.bool_)
    rows = [(row, fold(label)) for row, cell in enumerate(cells) for label in cell]
    there = np.array([(row, at[key]) for row, key in rows if key in at], dtype=np.int64).reshape(-1, 2)
    marks[there[:, 0], there[:, 1]] = True
    problems: dict[str, str] = {}
    for cell, labels in dict(zip(table[name], cells, strict=True)).items():
        if problem := _problem(labels, known, ignored, hint=hint):
            problems[cell] = f"`{name}`: {problem}"
    found.extend(_findings(table, place, name, problems))
    return marks


def _problem(labels: list[str], known: Mapping[str, str], ignored: Mapping[str, str], *, hint: bool) -> str:
    keys = [fold(label) for label in labels]
    for label, key in zip(labels, keys, strict=True):
        if key not in known and key not in ignored:
            leave = f" (`--ignore {label}` leaves it out)" if hint else ""
            return f"`{label}` is no label; {nearest(label, known.values())}{leave}"
        if keys.count(key) > 1:
            return f"`{label}` is duplicated in one cell"
    return ""


def _findings(table: pd.DataFrame, place: str, name: str, problems: Mapping[str, str]) -> list[Finding]:
    """One finding for each row whose cell has a problem."""
    if not problems:
        return []
    lines = table[LINE] if LINE in table else [None] * len(table)
    rows = zip(table[name], lines, strict=True)
    there = ((cell, line) for cell, line in rows if cell in problems)
    return [Finding(place, None if line is None else int(line), problems[cell]) for cell, line in there]
