"""Reading the sheets of a workbook, .xlsx or .ods, as the spreadsheet shows them; what is too large is refused.

openpyxl reads .xlsx; .ods is read here, since no library keeps what a cell says. python-calamine 0.9.1 reads both, but
takes errors and formulas without a value for empty cells, shows `007` and 1890123456789012481 as floats, drops line
breaks and tabs in .ods, and ends the process where a cell asks for more memory than there is. odfpy builds the document
in memory before anything can be refused.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat
from zipfile import ZipFile

from fcpair.errors import Finding, InputError, reject, suggest_name, warn_of_table
from fcpair.files.tables.text_files import RawTable
from fcpair.sentences import mark, say
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.values import as_text, is_blank

MOST_UNPACKED = 100_000_000  # bytes, of all parts of a workbook
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # what Excel and LibreOffice have
MOST_CELLS = 10_000_000  # rows x columns, of all sheets
LONGEST_CELL = 1_000_000  # characters; Excel holds 32,767
NO_VALUE = say("has a formula without a stored value; open the file in a spreadsheet program and save it again")
AN_ERROR = mark("is `%(cell)s`, an error of the spreadsheet; empty the cell, or make it a text")
WHOLE_NUMBERS = "whole numbers"
TOO_LARGE = say("is a number of so many digits that a spreadsheet has rounded it; make the column a text")
GUIDELINES = "guidelines"  # the sheet that fcpair writes beside one to be filled in; it is no table
_ZEROS = re.compile("0+")  # a number format that gives a number so many digits
_FORMULA = re.compile(rb"<(\w+:)?f[ />]")


@dataclass
class WorkbookSize:
    """Counts what a workbook holds, row by row and before a row is built."""

    path: Path
    cells: int = 0

    def check_width(self, sheet: str, row: int, n_columns: int) -> None:
        """Raise InputError where a row, counted from 1, reaches further than a spreadsheet does."""
        if n_columns > MOST_COLUMNS:
            self._refuse(sheet, row, say("columns beyond %(n)s, where a spreadsheet ends", n=MOST_COLUMNS))

    def check_row(self, sheet: str, row: int, n_columns: int, times: int = 1) -> None:
        """Raise InputError where a row that is repeated so many times lies beyond what a spreadsheet has, or makes too
        many cells; `n_columns` are those up to the last that holds anything.
        """
        self.check_width(sheet, row, n_columns)
        if row + times - 1 > MOST_ROWS:
            self._refuse(sheet, None, say("rows beyond %(n)s, where a spreadsheet ends", n=MOST_ROWS))
        self.cells += max(1, n_columns) * times
        if self.cells > MOST_CELLS:
            self._refuse(sheet, row, say("up to here there are more than %(n)s cells", n=MOST_CELLS))

    def check_text(self, sheet: str, row: int, n_characters: int) -> None:
        """Raise InputError where a cell is longer than `LONGEST_CELL` characters."""
        if n_characters > LONGEST_CELL:
            self._refuse(sheet, row, say("a cell of more than %(n)s characters", n=LONGEST_CELL))

    def _refuse(self, sheet: str, row: int | None, what: str) -> None:
        hint = say("delete what is not part of the table, or save it as CSV")
        message = mark("%(file)s: too large to be read as a spreadsheet; %(hint)s")
        finding = Finding(f"{self.path}, sheet `{sheet}`", row, what)
        raise InputError(say(message, file=str(self.path), hint=hint), [finding])


@dataclass
class Sheet:
    """A sheet: the rows that hold anything, each with its number from 1, cells as text."""

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    unread: list[tuple[int, int, str]] = field(default_factory=list)  # the row, the column and the reason
    not_text: Counter[str] = field(default_factory=Counter)  # of numbers, dates and so on


_BLOCK_BYTES = 1 << 16  # bytes
_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT = f"{_SPACE}office:1.0 ", f"{_SPACE}table:1.0 ", f"{_SPACE}text:1.0 "
_CALC = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 "
_NUMBERS = dict.fromkeys(("float", "percentage", "currency"), "numbers")
_CELL_KINDS = {**_NUMBERS, "boolean": "TRUE or FALSE", "date": "dates", "time": "times"}
_INTEGER = re.compile(r"-?\d+")
_ERROR = re.compile(r"#(N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|Err:\d+")
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_SKIPPED = (f"{_OFFICE}annotation", f"{_TABLE}shapes")
_TIME = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S")
_SIGNS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}


def read_opendocument(path: Path) -> dict[str, Sheet]:
    """The sheets of an .ods by their names, cells as they are shown; raises InputError where it holds too much, and
    BadZipFile, KeyError, ExpatError or ValueError where it is no such file, or a broken one.
    """
    reader = _Reader(WorkbookSize(path))
    with ZipFile(path) as parts, parts.open("content.xml") as content:
        while part := content.read(_BLOCK_BYTES):
            reader.feed(part)
        reader.feed(b"", True)
    return reader.sheets


@dataclass
class _Reader:
    """Takes the elements of content.xml as they come; what lies inside a comment or a drawing is left out."""

    extent: WorkbookSize
    sheets: dict[str, Sheet] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._refuse_entity
        self.feed = self._parser.Parse
        self._sheet, self._at, self._aside, self._length, self._paragraphs, self._in_row = "", 0, 0, 0, 0, False
        self._cell: dict[str, str] | None = None
        self._row, self._parts = list[str](), list[str]()

    def _refuse_entity(self, *_declared: Any) -> NoReturn:
        raise ValueError("it declares entities")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._aside or name in _SKIPPED:
            self._aside += 1
        elif self._cell is not None:
            if name == f"{_TEXT}p":
                self._paragraphs += 1
                self._add_text("\n" * (self._paragraphs > 1))
            elif name == f"{_TEXT}s":
                n = _read_count(attributes, f"{_TEXT}c")
                self.extent.check_text(self._sheet, self._at + 1, self._length + n)
                self._add_text(" " * n)
            elif name in _SIGNS:
                self._add_text(_SIGNS[name])
        elif name == f"{_TABLE}table":
            self._sheet, self._at = attributes.get(f"{_TABLE}name", ""), 0
            self.sheets.setdefault(self._sheet, Sheet())
        elif name == f"{_TABLE}table-row":
            self._in_row, self._row, self._empty = True, [], 0
            self._times = _read_count(attributes, f"{_TABLE}number-rows-repeated")
        elif name in _CELLS and self._in_row:
            self._cell, self._parts, self._length, self._paragraphs = attributes, [], 0, 0

    def _characters(self, text: str) -> None:
        if self._cell is not None and not self._aside and self._paragraphs:
            self._add_text(text)

    def _add_text(self, text: str) -> None:
        self._length += len(text)
        self.extent.check_text(self._sheet, self._at + 1, self._length)
        self._parts.append(text)

    def _end(self, name: str) -> None:
        if self._aside:
            self._aside -= 1
        elif self._cell is not None and name in _CELLS:
            attributes, self._cell = self._cell, None
            is_covered = name == _CELLS[1] and f"{_OFFICE}value" not in attributes
            times = _read_count(attributes, f"{_TABLE}number-columns-repeated")
            if text := "" if is_covered else self._cell_text(attributes, "".join(self._parts), times):
                self.extent.check_width(self._sheet, self._at + 1, len(self._row) + self._empty + times)
                self._row += [""] * self._empty + [text] * times
            self._empty = 0 if text else self._empty + times
        elif self._cell is None and name == f"{_TABLE}table-row":
            has_text = not is_blank("".join(self._row))
            if self._row:
                times = self._times if has_text else 1
                self.extent.check_row(self._sheet, self._at + 1, len(self._row), times)
            if has_text:
                self.sheets[self._sheet].rows += [(self._at + at, self._row) for at in range(1, self._times + 1)]
            self._at, self._in_row = self._at + self._times, False

    def _cell_text(self, attributes: dict[str, str], shown: str, times: int) -> str:
        kind, has_formula = attributes.get(f"{_OFFICE}value-type", ""), f"{_TABLE}formula" in attributes
        is_error = attributes.get(f"{_CALC}value-type") == "error" or (has_formula and _ERROR.fullmatch(shown))
        if is_error or (has_formula and not kind):
            return self._leave_unread(say(AN_ERROR, cell=shown) if is_error else NO_VALUE)
        if kind in ("", "string"):
            return shown if kind else ""
        if kind not in _CELL_KINDS:
            raise ValueError(f"a cell is of the unknown kind `{kind}`")
        value = attributes.get(f"{_OFFICE}value", "")
        is_whole = kind == "float" and _INTEGER.fullmatch(value) is not None and value == shown
        self.sheets[self._sheet].not_text[WHOLE_NUMBERS if is_whole else _CELL_KINDS[kind]] += times
        if kind == "date":
            return as_text(datetime.fromisoformat(attributes[f"{_OFFICE}date-value"]))
        if kind in ("boolean", "time"):
            shown_or_value = attributes.get(f"{_OFFICE}{kind}-value", shown)
            return shown_or_value.upper() if kind == "boolean" else _format_time(shown_or_value) or shown
        is_shown = shown.isdecimal() and shown.lstrip("0") == value.lstrip("0")
        try:
            return (shown if is_shown else value) if _INTEGER.fullmatch(value) else as_text(float(value))
        except ValueError:
            return self._leave_unread(TOO_LARGE)

    def _leave_unread(self, why: str) -> str:
        self.sheets[self._sheet].unread.append((self._at + 1, len(self._row) + self._empty + 1, why))
        return ""


def _format_time(text: str) -> str:
    if not (match := _TIME.fullmatch(text)):
        return ""
    hours, minutes, seconds, parts = match.groups()
    fraction = f".{parts}".rstrip("0") if parts else ""
    return f"{hours:0>2}:{minutes:0>2}:{seconds:0>2}{fraction.rstrip('.')}"


def _read_count(attributes: dict[str, str], name: str) -> int:
    n = int(number := attributes.get(name, "1"))
    if n < 0:
        raise ValueError(f"something is repeated {number} times")
    return n


def read_workbook(path: Path, kind: str, columns: Sequence[str], sheet_name: str | None = None) -> RawTable:
    """Read one sheet of an `.xlsx` or `.ods`: of a name; else the one that has the columns; else the first that holds
    anything. Warns if there are others, and of cells that are no text.

    Raises InputError: the file cannot be read, holds nothing or too much, or several sheets are wanted; and cells that
    cannot be read, which are errors of the spreadsheet and formulas without a stored value, by their names.
    """
    all_sheets = read_sheets(path, kind)
    if not (sheets := {name: sheet for name, sheet in all_sheets.items() if sheet.rows}):
        empty = mark("%(file)s: the file is empty; expected a row of column names and one row below it for each row")
        raise InputError.say(empty, file=str(path))
    if sheet_name is not None and sheet_name not in sheets:
        if sheet_name in all_sheets:
            raise InputError.say("%(file)s: no sheet `%(name)s` to read; it is empty", file=str(path), name=sheet_name)
        message, hint = mark("%(file)s: no sheet `%(name)s` to read; %(hint)s"), suggest_name(sheet_name, sheets)
        raise InputError.say(message, file=str(path), name=sheet_name, hint=hint)
    wanted = {fold_name(name) for name in columns}
    matching = [name for name, sheet in sheets.items() if wanted and wanted <= {*map(fold_name, sheet.rows[0][1])}]
    if sheet_name is None and len(matching) > 1:
        message = mark("%(file)s: sheets %(names)s have the same columns; choose one by --sheet-name")
        raise InputError.say(message, file=str(path), names=[f"`{name}`" for name in matching])
    name = sheet_name or [*matching, *sheets][0]
    others = ", ".join(f"`{other}`" for other in sheets if other not in (name, GUIDELINES))
    if others and sheet_name is None:
        warn_of_table(f"{path}: sheet `{name}` was read, and not {others}; --sheet-name chooses another")
    from openpyxl.utils import get_column_letter

    place, sheet = f"{path}, sheet `{name}`", sheets[name]
    message = mark("cell %(cell)s %(why)s")
    unread = [(row, say(message, cell=f"{get_column_letter(at)}{row}", why=why), why) for row, at, why in sheet.unread]
    reject(place, [Finding(place, *problem) for problem in unread])
    if sheet.not_text.keys() - {WHOLE_NUMBERS}:  # which are read as they are shown, and stand in sheets of ours
        kinds = ", ".join(f"{what}: {n:,}" for what, n in sheet.not_text.most_common())
        n, read_so = sheet.not_text.total(), "read as they are shown, as far as that is known"
        warn_of_table(f"{place}: {n:,} cell{'s are' if n > 1 else ' is'} no text ({kinds}); {read_so}")
    header = sheet.rows[0][1]
    filled = [row if len(row) >= len(header) else row + [""] * (len(header) - len(row)) for _, row in sheet.rows[1:]]
    return RawTable(place, header, filled, [at for at, _ in sheet.rows[1:]])


def read_sheets(path: Path, kind: str) -> dict[str, Sheet]:
    """All sheets of an `.xlsx` or `.ods` by their names; raises InputError for what is none, or holds too much."""
    try:
        with ZipFile(path) as parts:
            size = sum(part.file_size for part in parts.infolist())
        if size > MOST_UNPACKED:
            raise InputError.say(
                "%(file)s: unpacks to %(size)s bytes; expected at most %(most)s. Delete what is not part of the "
                "table, or save it as CSV",
                file=str(path),
                size=size,
                most=MOST_UNPACKED,
            )
        with warnings.catch_warnings(action="ignore"):
            return _read_excel(path) if kind == ".xlsx" else read_opendocument(path)
    except InputError:
        raise
    except Exception as error:  # whatever its XML makes the libraries stumble over
        why = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError.say(
            "%(file)s: not a %(kind)s file that can be read (%(why)s)", file=str(path), kind=kind, why=why
        ) from None


def _read_excel(path: Path) -> dict[str, Sheet]:
    from openpyxl import load_workbook

    extent = WorkbookSize(path)
    with ZipFile(path) as parts:
        has_formulas = any(
            _FORMULA.search(parts.read(part)) for part in parts.namelist() if part.startswith("xl/worksheets/")
        )
    book = load_workbook(path, read_only=True, data_only=True, keep_links=False)
    formulas = load_workbook(path, read_only=True, keep_links=False) if has_formulas else None
    try:
        sheets: dict[str, Sheet] = {}
        for sheet in book.worksheets:
            read = sheets[sheet.title] = Sheet()
            sheet.reset_dimensions()  # what a file says of its size need not be so
            formula_rows: Iterator[Any] = iter(())
            if formulas:
                formulas[sheet.title].reset_dimensions()
                formula_rows = iter(formulas[sheet.title].rows)
            for at, row in enumerate(sheet.rows, 1):
                formula_row = next(formula_rows, ())
                if not row and at <= MOST_ROWS:  # there may be a million of them before a stray cell
                    continue
                extent.check_row(sheet.title, at, len(row))
                cells = [_cell_text(cell, formula_row[to : to + 1], read) for to, cell in enumerate(row)]
                if not all(map(is_blank, cells)):
                    read.rows.append((at, cells))
        return sheets
    finally:
        book.close()
        if formulas:
            formulas.close()


def _cell_text(cell: Any, formula: tuple[Any, ...], sheet: Sheet) -> str:
    if (value := cell.value) is None:
        if formula and formula[0].data_type == "f" and cell.data_type != "str":  # which is an empty text
            sheet.unread.append((cell.row, cell.column, NO_VALUE))
        return ""
    if cell.data_type == "e":
        sheet.unread.append((cell.row, cell.column, say(AN_ERROR, cell=str(value))))
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
