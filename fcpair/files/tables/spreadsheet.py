"""Reading the sheets of a workbook: .xlsx of Excel and .ods of LibreOffice, cells as text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

from fcpair.errors import InputError
from fcpair.files.tables.delimited import RawTable
from fcpair.files.tables.opendocument import NumberedRows, read_opendocument
from fcpair.files.tables.workbook_size import MOST_ROWS, WorkbookSize, check_unpacked


def read_workbook(path: Path, kind: str, is_wanted: Callable[[list[str]], bool]) -> RawTable:
    """Read the one sheet whose first row `is_wanted`; the first sheet that holds anything where none is.

    Args:
        path: the file.
        kind: `.xlsx` or `.ods`.
        is_wanted: says of the column names of a sheet whether it is the one to be read.

    Returns:
        The cells as text and the row of each; `place` names the sheet.

    Raises:
        InputError: the file cannot be read, holds nothing or too much, or several sheets are wanted.
    """
    sheets = _read_sheets(path, kind)
    if not sheets:
        raise InputError(f"{path}: the file is empty; expected a row of column names and one row below it for each row")
    matching = [sheet for sheet in sheets if is_wanted(sheet.header)]
    if len(matching) > 1:
        places = " and ".join(sheet.place.removeprefix(f"{path}, ") for sheet in matching)
        raise InputError(f"{path}: {places} have the same columns; keep one of them in a file")
    return matching[0] if matching else sheets[0]


def _read_sheets(path: Path, kind: str) -> list[RawTable]:
    """Every sheet that holds anything."""
    try:
        check_unpacked(path)
        with warnings.catch_warnings(action="ignore"):
            sheets = _SHEETS[kind](path)
    except InputError:
        raise
    except Exception as error:  # whatever its XML makes the libraries stumble over
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: not a {kind} file that can be read ({why})") from None
    return [_as_raw_table(f"{path}, sheet `{name}`", rows) for name, rows in sheets.items() if rows]


def _read_excel(path: Path) -> dict[str, NumberedRows]:
    """The sheets of an .xlsx by their names, cells as text."""
    from openpyxl import load_workbook

    extent = WorkbookSize(path)
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    try:
        return {sheet.title: list(_filled_rows(sheet, extent)) for sheet in book.worksheets}
    finally:
        book.close()


def _filled_rows(sheet: Any, extent: WorkbookSize) -> Iterator[tuple[int, list[str]]]:
    """The rows of a sheet that hold anything, each with its number."""
    from openpyxl.cell.read_only import EMPTY_CELL

    sheet.reset_dimensions()  # what a file says of its size need not be so
    for at, row in enumerate(sheet.rows, 1):
        if not row and at <= MOST_ROWS:  # there may be a million of them before a stray cell
            continue
        extent.check_row(sheet.title, at, len(row))
        cells = ["" if cell is EMPTY_CELL else _cell_text(cell) for cell in row]
        if "".join(cells).strip():
            yield at, cells


def _as_raw_table(place: str, rows: NumberedRows) -> RawTable:
    header = rows[0][1]
    filled = [row if len(row) >= len(header) else row + [""] * (len(header) - len(row)) for _, row in rows[1:]]
    return RawTable(place, header, filled, [at for at, _ in rows[1:]])


def _cell_text(cell: Any) -> str:
    value = cell.value
    if value is None or cell.data_type == "e":  # #N/A, #REF! and the like
        return ""
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


_SHEETS: dict[str, Callable[[Path], dict[str, NumberedRows]]] = {".xlsx": _read_excel, ".ods": read_opendocument}
