"""Columns of numbers in a table of strings."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fcpair.errors import Finding
from fcpair.files.tables.tabular import LINE

if TYPE_CHECKING:
    import pandas as pd

Floats = npt.NDArray[np.float64]


def read_numbers(table: pd.DataFrame, place: str, column: str, findings: list[Finding]) -> Floats:
    """The numbers of a column, shape (n_rows,), NaN where a cell is empty; what is no finite number is found.

    A decimal comma, or the separator of Persian and Arabic, may stand for the point.
    """
    values: dict[str, float] = {}
    problems: dict[str, str] = {}
    for cell in table[column].unique():
        try:
            values[cell] = _parse_number(cell)
        except ValueError:
            values[cell], problems[cell] = math.nan, f"`{column}` is `{cell}`; expected a number, or nothing"
    if problems:
        findings.extend(
            Finding(place, line, problems[cell]) for cell, line in cells_with_lines(table, column) if cell in problems
        )
    return np.array([values[cell] for cell in table[column]], dtype=np.float64)


def cells_with_lines(table: pd.DataFrame, column: str) -> list[tuple[str, int | None]]:
    """Each cell of a column with its line, None in a table that has no lines."""
    lines = table[LINE].tolist() if LINE in table else [None] * len(table)
    return list(zip(table[column], lines, strict=True))


def _parse_number(cell: str) -> float:
    if not cell.strip():
        return math.nan
    number = float(cell.strip().replace(",", ".").replace("٫", "."))
    if not math.isfinite(number):
        raise ValueError(cell)
    return number
