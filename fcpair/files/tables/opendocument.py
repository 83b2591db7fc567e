"""Reading the sheets of an OpenDocument spreadsheet (.ods), row by row.

A file may say that a row, a cell or a space is repeated: what is empty is counted and never made, what is not is
counted before it is made.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat
from zipfile import ZipFile

from fcpair.files.tables.workbook_size import WorkbookSize
from fcpair.values import as_text, is_blank

NO_VALUE = "has a formula without a stored value; open the file in a spreadsheet program and save it again"
AN_ERROR = "is `{}`, an error of the spreadsheet; empty the cell, or make it a text"
WHOLE_NUMBERS = "whole numbers"
TOO_LARGE = "is a number of so many digits that a spreadsheet has rounded it; make the column a text"


@dataclass
class Sheet:
    """A sheet: the rows that hold anything, each with its number from 1, cells as text.

    `unread` are the row, the column and the reason of each cell that cannot be read; `not_text` counts cells that are
    numbers, dates and so on.
    """

    rows: list[tuple[int, list[str]]] = field(default_factory=list)
    unread: list[tuple[int, int, str]] = field(default_factory=list)
    not_text: Counter[str] = field(default_factory=Counter)

    def add_row(self, number: int, cells: list[str]) -> None:
        """Add a row, unless nobody can see anything in it."""
        if not all(map(is_blank, cells)):
            self.rows.append((number, cells))


_BLOCK_BYTES = 1 << 16  # bytes
_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT = f"{_SPACE}office:1.0 ", f"{_SPACE}table:1.0 ", f"{_SPACE}text:1.0 "
_CALC = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0 "
_KINDS = {
    "float": "numbers",
    "percentage": "numbers",
    "currency": "numbers",
    "boolean": "TRUE or FALSE",
    "date": "dates",
    "time": "times",
}
_INTEGER = re.compile(r"-?\d+")
_ERROR = re.compile(r"#(N/A|REF!|VALUE!|DIV/0!|NAME\?|NUM!|NULL!)|Err:\d+")
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_SKIPPED = (f"{_OFFICE}annotation", f"{_TABLE}shapes")
_TIME = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S")
_SIGNS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}


def read_opendocument(path: Path) -> dict[str, Sheet]:
    """The sheets of an .ods by their names, cells as they are shown.

    Raises:
        InputError: it holds more than is read (`extent`).
        BadZipFile, KeyError, ExpatError, ValueError: it is no such file, or a broken one.
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
        self._parser.EntityDeclHandler = _refuse_entity
        self.feed = self._parser.Parse
        self._sheet, self._at, self._aside = "", 0, 0
        self._cell: dict[str, str] | None = None
        self._row: list[str] = []
        self._parts: list[str] = []
        self._in_row = False

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if self._aside or name in _SKIPPED:
            self._aside += 1
        elif self._cell is not None:
            self._start_inside_cell(name, attributes)
        elif name == f"{_TABLE}table":
            self._sheet, self._at = attributes.get(f"{_TABLE}name", ""), 0
            self.sheets.setdefault(self._sheet, Sheet())
        elif name == f"{_TABLE}table-row":
            self._in_row, self._row, self._empty = True, [], 0
            self._times = _n_repeats(attributes, "rows")
        elif name in _CELLS and self._in_row:
            self._cell, self._parts, self._length, self._paragraphs = attributes, [], 0, 0

    def _start_inside_cell(self, name: str, attributes: dict[str, str]) -> None:
        if name == f"{_TEXT}p":
            self._paragraphs += 1
            if self._paragraphs > 1:
                self._add_text("\n")
        elif name == f"{_TEXT}s":
            n = _parse_count(attributes.get(f"{_TEXT}c", "1"))
            self.extent.check_text(self._sheet, self._at + 1, self._length + n)
            self._add_text(" " * n)
        elif name in _SIGNS:
            self._add_text(_SIGNS[name])

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
            self._end_cell(name, self._cell)
            self._cell = None
        elif self._cell is None and name == f"{_TABLE}table-row":
            self._end_row()

    def _end_cell(self, name: str, attributes: dict[str, str]) -> None:
        is_covered = name == _CELLS[1] and f"{_OFFICE}value" not in attributes
        times = _n_repeats(attributes, "columns")
        text = "" if is_covered else self._cell_text(attributes, "".join(self._parts), times)
        if not text:
            self._empty += times
            return
        self.extent.check_width(self._sheet, self._at + 1, len(self._row) + self._empty + times)
        self._row += [""] * self._empty + [text] * times
        self._empty = 0

    def _end_row(self) -> None:
        has_text = not is_blank("".join(self._row))
        if self._row:
            self.extent.check_row(self._sheet, self._at + 1, len(self._row), self._times if has_text else 1)
        if has_text:
            self.sheets[self._sheet].rows += [(self._at + at, self._row) for at in range(1, self._times + 1)]
        self._at, self._in_row = self._at + self._times, False

    def _cell_text(self, attributes: dict[str, str], shown: str, times: int) -> str:
        """A cell as text: numbers and dates by their values, anything else as it is shown."""
        kind, has_formula = attributes.get(f"{_OFFICE}value-type", ""), f"{_TABLE}formula" in attributes
        is_error = attributes.get(f"{_CALC}value-type") == "error" or (has_formula and _ERROR.fullmatch(shown))
        if is_error or (has_formula and not kind):
            return self._leave_unread(AN_ERROR.format(shown) if is_error else NO_VALUE)
        if kind in ("", "string"):
            return shown if kind else ""
        if kind not in _KINDS:
            raise ValueError(f"a cell is of the unknown kind `{kind}`")
        value = attributes.get(f"{_OFFICE}value", "")
        is_whole = kind == "float" and _INTEGER.fullmatch(value) is not None and value == shown
        self.sheets[self._sheet].not_text[WHOLE_NUMBERS if is_whole else _KINDS[kind]] += times
        if kind == "date":
            return as_text(datetime.fromisoformat(attributes[f"{_OFFICE}date-value"]))
        if kind in ("boolean", "time"):
            shown_or_value = attributes.get(f"{_OFFICE}{kind}-value", shown)
            return shown_or_value.upper() if kind == "boolean" else _format_time(shown_or_value) or shown
        return self._number_text(value, shown)

    def _number_text(self, value: str, shown: str) -> str:
        if _INTEGER.fullmatch(value):
            return shown if shown.isdecimal() and shown.lstrip("0") == value.lstrip("0") else value
        try:
            return as_text(float(value))
        except ValueError:
            return self._leave_unread(TOO_LARGE)

    def _leave_unread(self, why: str) -> str:
        """Note why a cell cannot be read."""
        self.sheets[self._sheet].unread.append((self._at + 1, len(self._row) + self._empty + 1, why))
        return ""


def _refuse_entity(*_declared: Any) -> NoReturn:
    raise ValueError("it declares entities")


def _n_repeats(attributes: dict[str, str], what: str) -> int:
    return _parse_count(attributes.get(f"{_TABLE}number-{what}-repeated", "1"))


def _parse_count(number: str) -> int:
    n = int(number)
    if n < 0:
        raise ValueError(f"something is repeated {number} times")
    return n


def _format_time(text: str) -> str:
    match = _TIME.fullmatch(text)
    if not match:
        return ""
    hours, minutes, seconds, parts = match.groups()
    fraction = f".{parts}".rstrip("0") if parts else ""
    return f"{hours:0>2}:{minutes:0>2}:{seconds:0>2}{fraction.rstrip('.')}"
