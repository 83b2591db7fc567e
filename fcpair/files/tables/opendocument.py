"""Reading the sheets of an OpenDocument spreadsheet (.ods), row by row.

A file may say that a row, a cell or a space is repeated: what is empty is counted and never made, what is not is
counted before it is made.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn
from xml.parsers import expat
from zipfile import ZipFile

from fcpair.files.tables.workbook_size import WorkbookSize

NumberedRows = list[tuple[int, list[str]]]
"""The rows of a sheet that hold anything, each with its number from 1."""

_BLOCK_BYTES = 1 << 16  # bytes
_SPACE = "urn:oasis:names:tc:opendocument:xmlns:"
_OFFICE, _TABLE, _TEXT = f"{_SPACE}office:1.0 ", f"{_SPACE}table:1.0 ", f"{_SPACE}text:1.0 "
_CELLS = (f"{_TABLE}table-cell", f"{_TABLE}covered-table-cell")
_SKIPPED = (f"{_OFFICE}annotation", f"{_TABLE}shapes")
_TIME = re.compile(r"PT(\d+)H(\d+)M(\d+)(?:[.,](\d+))?S")
_SIGNS = {f"{_TEXT}tab": "\t", f"{_TEXT}line-break": "\n"}


def read_opendocument(path: Path) -> dict[str, NumberedRows]:
    """The sheets of an .ods by their names, cells as text.

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
    sheets: dict[str, NumberedRows] = field(default_factory=dict)

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
            self.sheets.setdefault(self._sheet, [])
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
        text = "" if is_covered else _cell_text(attributes, "".join(self._parts))
        times = _n_repeats(attributes, "columns")
        if not text:
            self._empty += times
            return
        self.extent.check_width(self._sheet, self._at + 1, len(self._row) + self._empty + times)
        self._row += [""] * self._empty + [text] * times
        self._empty = 0

    def _end_row(self) -> None:
        is_blank = not "".join(self._row).strip()
        if self._row:
            self.extent.check_row(self._sheet, self._at + 1, len(self._row), 1 if is_blank else self._times)
        if not is_blank:
            self.sheets[self._sheet] += [(self._at + at, self._row) for at in range(1, self._times + 1)]
        self._at, self._in_row = self._at + self._times, False


def _refuse_entity(*_declared: Any) -> NoReturn:
    raise ValueError("it declares entities")


def _n_repeats(attributes: dict[str, str], what: str) -> int:
    return _parse_count(attributes.get(f"{_TABLE}number-{what}-repeated", "1"))


def _parse_count(number: str) -> int:
    n = int(number)
    if n < 0:
        raise ValueError(f"something is repeated {number} times")
    return n


def _cell_text(attributes: dict[str, str], shown: str) -> str:
    """A cell as text: numbers, dates and truths by their values, anything else as it is shown."""
    kind = attributes.get(f"{_OFFICE}value-type")
    if kind is None or shown == "#N/A":
        return ""
    if kind in ("float", "percentage", "currency"):
        value = float(attributes[f"{_OFFICE}value"])
        return str(int(value)) if value == int(value) else str(value)
    if kind == "boolean":
        return str(attributes.get(f"{_OFFICE}boolean-value", shown).lower() == "true")
    if kind == "date":
        return datetime.fromisoformat(attributes[f"{_OFFICE}date-value"]).isoformat()
    if kind == "time":
        return _format_time(attributes.get(f"{_OFFICE}time-value", "")) or shown
    if kind == "string":
        return shown
    raise ValueError(f"a cell is of the unknown kind `{kind}`")


def _format_time(text: str) -> str:
    match = _TIME.fullmatch(text)
    if not match:
        return ""
    hours, minutes, seconds, parts = match.groups()
    fraction = f".{parts}".rstrip("0") if parts else ""
    return f"{hours:0>2}:{minutes:0>2}:{seconds:0>2}{fraction.rstrip('.')}"
