"""Reading the sheets of a workbook: .xlsx of Excel and .ods of LibreOffice, cells as text."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from datetime import date, datetime, time
from math import isnan
from pathlib import Path
from typing import Any, Literal

from fcpair.errors import Finding, InputError, reject
from fcpair.files.delimited import Raw
from fcpair.stages.spelling import NO_TEXT

ENGINES: dict[str, Literal["openpyxl", "odf"]] = {".xlsx": "openpyxl", ".ods": "odf"}


def read_workbook(path: Path, kind: str, is_wanted: Callable[[list[str]], bool]) -> Raw:
    """Read the one sheet whose first row `is_wanted`; the first sheet that holds anything where none is.

    Args:
        path: the file.
        kind: `.xlsx` or `.ods`.
        is_wanted: says of the column names of a sheet whether it is the one to be read.

    Returns:
        The cells as text and the row of each; `place` names the sheet.

    Raises:
        InputError: the file cannot be read, it holds nothing, or several sheets are wanted.
    """
    sheets = _sheets(path, kind)
    if not sheets:
        raise InputError(f"{path}: the file is empty; expected a row of column names and one row below it for each row")
    wanted = [sheet for sheet in sheets if is_wanted(sheet.header)]
    if len(wanted) > 1:
        places = " and ".join(sheet.place.removeprefix(f"{path}, ") for sheet in wanted)
        raise InputError(f"{path}: {places} have the same columns; keep one of them in a file")
    sheet = wanted[0] if wanted else sheets[0]
    broken = [line for row, line in zip(sheet.rows, sheet.lines, strict=True) if any(map(NO_TEXT.search, row))]
    reject(path, [Finding(sheet.place, line, "a character that no text holds") for line in broken])
    return sheet


def _sheets(path: Path, kind: str) -> list[Raw]:
    """Every sheet that holds anything."""
    import pandas as pd

    try:
        with warnings.catch_warnings(action="ignore"), pd.ExcelFile(path, engine=ENGINES[kind]) as book:
            parsed = {str(name): _cells(book, name) for name in book.sheet_names}
    except Exception as error:  # whatever its XML makes the libraries stumble over
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: not a {kind} file that can be read ({why})") from None
    return [_raw(f"{path}, sheet `{name}`", rows) for name, rows in parsed.items() if rows]


def _cells(book: Any, name: Any) -> list[tuple[int, list[str]]]:
    """The rows of a sheet that hold anything, each with its number."""
    frame = book.parse(name, header=None, dtype=object, na_filter=False)
    rows = ((at, [_text(cell) for cell in row]) for at, row in enumerate(frame.itertuples(index=False, name=None), 1))
    return [(at, row) for at, row in rows if any(cell.strip() for cell in row)]


def _raw(place: str, rows: list[tuple[int, list[str]]]) -> Raw:
    return Raw(place, rows[0][1], [row for _, row in rows[1:]], [at for at, _ in rows[1:]])


def _text(cell: Any) -> str:
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    is_nothing = cell is None or (isinstance(cell, float) and isnan(cell))  # NaN stands for #N/A, #REF! and the like
    return "" if is_nothing else str(cell)
