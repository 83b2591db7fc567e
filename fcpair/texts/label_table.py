"""Cells of several labels, read as one row of truths and one of predictions for each text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fcpair.errors import Finding, InputError, reject, suggest_name
from fcpair.files.tables.tabular import LINE, require_columns
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.texts.label_cells import split_cell

if TYPE_CHECKING:
    import pandas as pd

Bools = npt.NDArray[np.bool_]


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
    cells = {name: _split_column(table, place, name, findings) for name in dict.fromkeys([*truth, predicted])}
    label_by_key = index_labels(labels or _occurring_labels(cells[name] for name in truth))
    ignored_by_key = _ignored_labels(ignored, label_by_key, cells[predicted])
    true = np.zeros((len(table), len(label_by_key)), dtype=np.bool_)
    for name in truth:
        true |= _mark_labels(table, place, name, cells[name], label_by_key, {}, findings)
    guess = _mark_labels(table, place, predicted, cells[predicted], label_by_key, ignored_by_key, findings, hint=True)
    reject(place, findings)
    n_ignored = sum(fold_name(label) in ignored_by_key for cell in cells[predicted] for label in cell)
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


def _occurring_labels(columns: Iterable[list[list[str]]]) -> list[str]:
    """Each label that occurs, in its first spelling, in alphabetical order."""
    first: dict[str, str] = {}
    for column in columns:
        for cell in column:
            for label in cell:
                first.setdefault(fold_name(label), label)
    return [first[key] for key in sorted(first) if key]


def _ignored_labels(names: Sequence[str], label_by_key: Mapping[str, str], cells: list[list[str]]) -> dict[str, str]:
    predicted = {fold_name(label): label for cell in cells for label in cell}
    for name in names:
        if fold_name(name) in label_by_key:
            raise InputError(f"`{name}` is one of the labels, so it cannot be ignored")
        if fold_name(name) not in predicted:
            others = [label for key, label in predicted.items() if key not in label_by_key]
            hint = suggest_name(name, others) if others else "every label that is predicted is known"
            raise InputError(f"`{name}` is to be ignored, and is never predicted; {hint}")
    return {fold_name(name): name for name in names}


def _split_column(table: pd.DataFrame, place: str, name: str, findings: list[Finding]) -> list[list[str]]:
    """The labels of each cell as they are written, each distinct cell read once."""
    parts: dict[str, list[str]] = {}
    problems: dict[str, str] = {}
    for cell in table[name].unique():
        try:
            parts[cell] = split_labels(cell)
        except InputError as error:
            parts[cell], problems[cell] = [], f"`{name}`: {error}"
    findings.extend(_findings(table, place, name, problems))
    return [parts[cell] for cell in table[name]]


def split_labels(cell: str) -> list[str]:
    """The labels of one cell, as they are written; raises InputError for a list that is no JSON, and an empty label."""
    listed = split_cell(cell)
    if not all(fold_name(one) for one in listed):
        raise InputError(f"`{cell}` has an empty label")
    return listed


def _mark_labels(
    table: pd.DataFrame,
    place: str,
    name: str,
    cells: list[list[str]],
    label_by_key: Mapping[str, str],
    ignored: Mapping[str, str],
    findings: list[Finding],
    *,
    hint: bool = False,
) -> Bools:
    """Which labels each row has; what is not known, or duplicated, is found."""
    at = {key: column for column, key in enumerate(label_by_key)}
    marks = np.zeros((len(cells), len(label_by_key)), dtype=np.bool_)
    rows = [(row, fold_name(label)) for row, cell in enumerate(cells) for label in cell]
    positions = np.array([(row, at[key]) for row, key in rows if key in at], dtype=np.int64).reshape(-1, 2)
    marks[positions[:, 0], positions[:, 1]] = True
    problems: dict[str, str] = {}
    for cell, labels in dict(zip(table[name], cells, strict=True)).items():
        if problem := _problem(labels, label_by_key, ignored, hint=hint):
            problems[cell] = f"`{name}`: {problem}"
    findings.extend(_findings(table, place, name, problems))
    return marks


def _problem(labels: list[str], label_by_key: Mapping[str, str], ignored: Mapping[str, str], *, hint: bool) -> str:
    keys = [fold_name(label) for label in labels]
    for label, key in zip(labels, keys, strict=True):
        if key not in label_by_key and key not in ignored:
            leave = f" (`--ignore {label}` leaves it out)" if hint else ""
            return f"`{label}` is not a label; {suggest_name(label, label_by_key.values())}{leave}"
        if keys.count(key) > 1:
            return f"`{label}` is duplicated in one cell"
    return ""


def _findings(table: pd.DataFrame, place: str, name: str, problems: Mapping[str, str]) -> list[Finding]:
    """One finding for each row whose cell has a problem."""
    if not problems:
        return []
    lines = table[LINE] if LINE in table else [None] * len(table)
    rows = zip(table[name], lines, strict=True)
    affected = ((cell, line) for cell, line in rows if cell in problems)
    return [Finding(place, None if line is None else int(line), problems[cell]) for cell, line in affected]
