"""Reading the sheets of a workbook: .xlsx of Excel and .ods of LibreOffice, cells as the spreadsheet shows them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterator
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from fcpair.errors import Finding, InputError, reject, suggest_name, warn_of_table
from fcpair.files.tables.delimited import RawTable
from fcpair.files.tables.opendocument import AN_ERROR, NO_VALUE, TOO_LARGE, WHOLE_NUMBERS, Sheet, read_opendocument
from fcpair.files.tables.workbook_size import MOST_ROWS, WorkbookSize, check_unpacked
from fcpair.values import as_text

GUIDELINES = "guidelines"  # the sheet that fcpair writes beside one to be filled in; it is no table
_ZEROS = re.compile("0+")  # a number format that gives a number so many digits
_FORMULA = re.compile(rb"<(\w+:)?f[ />]")


def read_workbook(
    path: Path, kind: str, is_wanted: Callable[[list[str]], bool], sheet_name: str | None = None
) -> RawTable:
    """Read one sheet: of a name; else the one whose first row `is_wanted`; else the first that holds anything.

    Warns where there are others, and of cells that are no text.

    Args:
        path: the file.
        kind: `.xlsx` or `.ods`.
        is_wanted: says of the column names of a sheet whether it is the one to be read.
        sheet_name: the name of the sheet, where it is chosen.

    Returns:
        The cells as text and the row of each; `place` names the sheet.

    Raises:
        InputError: the file cannot be read, holds nothing or too much, or several sheets are wanted; and cells that
            cannot be read, which are errors of the spreadsheet and formulas without a stored value, by their names.
    """
    all_sheets = _read_sheets(path, kind)
    sheets = {name: sheet for name, sheet in all_sheets.items() if sheet.rows}
    if not sheets:
        raise InputError(f"{path}: the file is empty; expected a row of column names and one row below it for each row")
    if sheet_name is not None and sheet_name not in sheets:
        known = "it is empty" if sheet_name in all_sheets else suggest_name(sheet_name, sheets)
        raise InputError(f"{path}: no sheet `{sheet_name}` to read; {known}")
    matching = [name for name, sheet in sheets.items() if is_wanted(sheet.rows[0][1])]
    if sheet_name is None and len(matching) > 1:
        quoted = " and ".join(f"sheet `{name}`" for name in matching)
        raise InputError(f"{path}: {quoted} have the same columns; choose one by --sheet-name")
    name = sheet_name or [*matching, *sheets][0]
    others = ", ".join(f"`{other}`" for other in sheets if other not in (name, GUIDELINES))
    if others and sheet_name is None:
        warn_of_table(f"{path}: sheet `{name}` was read, and not {others}; --sheet-name chooses another")
    return _as_raw_table(f"{path}, sheet `{name}`", sheets[name])


def _read_sheets(path: Path, kind: str) -> dict[str, Sheet]:
    try:
        check_unpacked(path)
        with warnings.catch_warnings(action="ignore"):
            return _SHEETS[kind](path)
    except InputError:
        raise
    except Exception as error:  # whatever its XML makes the libraries stumble over
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: not a {kind} file that can be read ({why})") from None


def _as_raw_table(place: str, sheet: Sheet) -> RawTable:
    from openpyxl.utils import get_column_letter

    reject(
        place, [Finding(place, row, f"cell {get_column_letter(at)}{row} {why}", why) for row, at, why in sheet.unread]
    )
    if sheet.not_text.keys() - {WHOLE_NUMBERS}:  # which are read as they are shown, and stand in sheets of ours
        kinds = ", ".join(f"{what}: {n:,}" for what, n in sheet.not_text.most_common())
        n = sheet.not_text.total()
        warn_of_table(
            f"{place}: {n:,} cell{'s are' if n > 1 else ' is'} no text ({kinds}); read as they are shown, as "
            "far as that is known"
        )
    header = sheet.rows[0][1]
    filled = [row if len(row) >= len(header) else row + [""] * (len(header) - len(row)) for _, row in sheet.rows[1:]]
    return RawTable(place, header, filled, [at for at, _ in sheet.rows[1:]])


def _read_excel(path: Path) -> dict[str, Sheet]:
    """The sheets of an .xlsx by their names, cells as text."""
    from openpyxl import load_workbook

    extent = WorkbookSize(path)
    with ZipFile(path) as parts:
        has_formulas = any(
            _FORMULA.search(parts.read(part)) for part in parts.namelist() if part.startswith("xl/worksheets/")
        )
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    formulas = load_workbook(path, read_only=True, keep_links=False) if has_formulas else None
    try:
        return {
            sheet.title: _read_excel_sheet(sheet, formulas and formulas[sheet.title], extent)
            for sheet in book.worksheets
        }
    finally:
        book.close()
        if formulas:
            formulas.close()


def _read_excel_sheet(sheet: Any, formulas: Any, extent: WorkbookSize) -> Sheet:
    """The rows of a sheet; `formulas` is the same sheet with the formulas in place of their values, if it has any."""
    read = Sheet()
    sheet.reset_dimensions()  # what a file says of its size need not be so
    if formulas:
        formulas.reset_dimensions()
    formula_rows: Iterator[Any] = iter(formulas.rows) if formulas else iter(())
    for at, row in enumerate(sheet.rows, 1):
        formula_row = next(formula_rows, ())
        if not row and at <= MOST_ROWS:  # there may be a million of them before a stray cell
            continue
        extent.check_row(sheet.title, at, len(row))
        read.add_row(at, [_cell_text(cell, formula_row[to : to + 1], read) for to, cell in enumerate(row)])
    return read


def _cell_text(cell: Any, formula: tuple[Any, ...], sheet: Sheet) -> str:
    value = cell.value
    if value is None:
        if formula and formula[0].data_type == "f" and cell.data_type != "str":  # which is an empty text
            sheet.unread.append((cell.row, cell.column, NO_VALUE))
        return ""
    if cell.data_type == "e":
        sheet.unread.append((cell.row, cell.column, AN_ERROR.format(value)))
        return ""
    if isinstance(value, str):
        return value
    is_padded = _ZEROS.fullmatch(cell.number_format) is not None
    is_whole = isinstance(value, int) and not isinstance(value, bool) and not is_padded
    kind = WHOLE_NUMBERS if is_whole else next(name for types, name in _KINDS.items() if isinstance(value, types))
    sheet.not_text[kind] += 1
    if isinstance(value, bool):
        return str(value).upper()
    try:
        text = as_text(value)
    except ValueError:
        sheet.unread.append((cell.row, cell.column, TOO_LARGE))
        return ""
    return text.zfill(len(cell.number_format)) if is_padded and text.isdecimal() else text


_KINDS: dict[Any, str] = {
    bool: "TRUE or FALSE",
    int | float: "numbers",
    datetime | date: "dates",
    time | timedelta: "times",
}
_SHEETS: dict[str, Callable[[Path], dict[str, Sheet]]] = {".xlsx": _read_excel, ".ods": read_opendocument}
