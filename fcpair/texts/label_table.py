"""Cells of several labels, read as one row of truths and one of predictions for each text."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from fcpair.arrays import Bools
from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.files.tables.tabular import lines_of, read_cells, require_columns
from fcpair.lazy import pd
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.texts.aliases import split_cell

T = TypeVar("T")


@dataclass(frozen=True)
class LabelTable:
    """True and predicted labels of each text: two arrays of shape (n_rows, n_labels).

    `n_ignored` counts the predicted labels that were left out because they were to be ignored.
    """

    labels: tuple[str, ...]
    truth: Bools
    predicted: Bools
    n_ignored: int = 0


def read_label_table(
    table: pd.DataFrame,
    place: str,
    truth: Sequence[str],
    predicted: str,
    labels: Sequence[str] = (),
    ignored: Sequence[str] = (),
) -> LabelTable:
    """The labels of a table of strings, whose `line` findings name if it has one.

    A cell holds labels as `split_cell` reads them; an empty one has none. Neither capitals nor how words are joined
    tell labels apart. A text has a label if any of the columns `truth` says so. Without `labels`, they are those of the
    truth. Predicted labels in `ignored` are left out and counted.

    Raises:
        InputError: a missing column; cells that cannot be read; labels that are not known, or duplicated in a cell.
    """
    require_columns(place, table.columns, [*truth, predicted])
    findings: list[Finding] = []

    def read_column(name: str, read: Callable[[str], list[T]]) -> list[list[T]]:
        def read_cell(cell: str) -> list[T]:
            try:
                return read(cell)
            except InputError as error:
                raise InputError(f"`{name}`: {error}") from None

        return read_cells(table[name], lines_of(table), place, read_cell, findings, [])

    cells = {name: read_column(name, split_labels) for name in dict.fromkeys([*truth, predicted])}
    first: dict[str, str] = {}  # spelling of each label that occurs
    for label in (label for name in truth for cell in cells[name] for label in cell):
        first.setdefault(fold_name(label), label)
    label_by_key = index_labels(labels or [first[key] for key in sorted(first) if key])
    predicted_by_key = {fold_name(label): label for cell in cells[predicted] for label in cell}
    for name in ignored:
        if fold_name(name) in label_by_key:
            raise InputError(f"`{name}` is one of the labels, so it cannot be ignored")
        if fold_name(name) not in predicted_by_key:
            others = [label for key, label in predicted_by_key.items() if key not in label_by_key]
            hint = suggest_name(name, others) if others else "every label that is predicted is known"
            raise InputError(f"`{name}` is to be ignored, and is never predicted; {hint}")
    ignored_keys = {fold_name(name) for name in ignored}

    def mark_labels(name: str, left_out: Collection[str] = (), hint: str = "") -> Bools:
        """Which labels each row has; what is not known, or duplicated, is found."""
        labels_of = dict(zip(table[name], cells[name], strict=True))
        places = read_column(name, lambda cell: _places(labels_of[cell], label_by_key, left_out, hint))
        marks = np.zeros((len(table), len(label_by_key)), dtype=np.bool_)
        for row, at in enumerate(places):
            marks[row, at] = True
        return marks

    true = np.any([mark_labels(name) for name in truth], axis=0)
    guess = mark_labels(predicted, ignored_keys, " (`--ignore {}` leaves it out)")
    reject(place, findings)
    n_ignored = sum(fold_name(label) in ignored_keys for cell in cells[predicted] for label in cell)
    return LabelTable(tuple(label_by_key.values()), true, guess, n_ignored)


def index_labels(names: Iterable[str]) -> dict[str, str]:
    """The labels by what tells them apart, in the order given; raises InputError where there are none, or two alike."""
    label_by_key: dict[str, str] = {}
    for name in names:
        if not fold_name(name):
            raise InputError("a label has no name")
        if fold_name(name) in label_by_key:
            raise InputError(f"label `{name}` is duplicated: it is the same as `{label_by_key[fold_name(name)]}`")
        label_by_key[fold_name(name)] = name.strip()
    if not label_by_key:
        raise InputError("there are no labels: no row of the truth has one, and none are declared")
    return label_by_key


def split_labels(cell: str) -> list[str]:
    """The labels of one cell, as they are written; raises InputError for a list that is no JSON, and an empty label."""
    listed = split_cell(cell)
    if not all(fold_name(one) for one in listed):
        raise InputError(f"`{cell}` has an empty label")
    return listed


def _places(labels: Sequence[str], label_by_key: Mapping[str, str], left_out: Collection[str], hint: str) -> list[int]:
    """The places of the labels of a cell; raises InputError for one that is not known, or duplicated."""
    known, keys = list(label_by_key), [fold_name(label) for label in labels]
    for label, key in zip(labels, keys, strict=True):
        if key not in label_by_key and key not in left_out:
            nearest = suggest_name(label, label_by_key.values())
            raise InputError(f"`{label}` is not a label; {nearest}{hint.format(label)}")
        if keys.count(key) > 1:
            raise InputError(f"`{label}` is duplicated in one cell")
    return [known.index(key) for key in keys if key in label_by_key]
