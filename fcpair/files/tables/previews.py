"""How a table that somebody uploads is to be read, as far as the file itself says, and its first rows."""

from __future__ import annotations

import csv
import io
import re
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from fcpair.errors import InputError
from fcpair.files.tables.spreadsheet import GUIDELINES, read_sheets
from fcpair.files.tables.tabular import LINE, WORKBOOKS, Reading, choose_reading, read_table
from fcpair.files.tables.text_files import SEPARATOR_LINE, SEPARATORS, decode, guess_encoding, guess_separator
from fcpair.params import format_of
from fcpair.sentences import say

N_ROWS = 6
LONGEST_NAME = 60  # characters of a column name; a longer one is a text
_NUMBER = re.compile(r"\s*-?[\d.,]*\d\s*")


class TableHead(NamedTuple):
    """The names of a table's columns, its first rows, and their number; or the `problem` for which it cannot be read.
    `sheets` are those of a workbook, if it is one, with the number of rows of each.
    """

    header: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    n_rows: int = 0
    sheets: tuple[tuple[str, int], ...] = ()
    problem: str = ""


def guess_reading(path: Path) -> Reading:
    """How a table is read: the first sheet with two columns, or else with one; and the encoding and separator of a text
    file. The first row has no names if a cell of it is a long text, or a number above a number.

    Raises InputError for what is no table, and a workbook without one.
    """
    kind = f".{format_of(path)}"
    if kind in WORKBOOKS:
        sheets = {
            name: [cells for _, cells in sheet.rows[:2]]
            for name, sheet in read_sheets(path, kind).items()
            if name != GUIDELINES
        }
        widths = {name: sum(map(bool, rows[0])) for name, rows in sheets.items() if len(rows) > 1}
        if not widths:
            raise InputError.say(
                "%(file)s: no sheet has a table, with column names and at least one row below; there is %(sheets)s",
                file=str(path),
                sheets=[say("`%(name)s`", name=name) for name in sheets] or say("none"),
            )
        sheet_name = next((name for name, width in widths.items() if width > 1), next(iter(widths)))
        return Reading(sheet_name, no_header=_is_data(sheets[sheet_name]))
    if kind not in (".csv", ".jsonl"):
        return Reading()
    raw = path.read_bytes()
    text = decode(raw, str(path), encoding := guess_encoding(raw))
    if kind == ".jsonl" or SEPARATOR_LINE.match(text):
        return Reading(encoding=encoding)
    separator = guess_separator(text)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATORS[separator])
    return Reading(None, encoding, separator, _is_data(list(islice(filter(None, rows), 2))))


def _is_data(rows: list[list[str]]) -> bool:
    first, second = [*rows, [], []][:2]
    has_numbers = any(_NUMBER.fullmatch(a) and _NUMBER.fullmatch(b) for a, b in zip(first, second, strict=False))
    return has_numbers or any(len(cell) > LONGEST_NAME for cell in first)


def read_head(path: Path, reading: Reading) -> TableHead:
    """Read the first rows of a table, with the `problem` that `read_table` has with it, if there is one."""
    kind, sheets = f".{format_of(path)}", tuple[tuple[str, int], ...]()
    try:
        if kind in WORKBOOKS:
            sheets = tuple((name, len(sheet.rows)) for name, sheet in read_sheets(path, kind).items())
        with choose_reading(reading):
            table = read_table(path, verbatim=True)
    except InputError as error:
        problem = _separator_problem(path, reading) if reading.separator else ""
        return TableHead(sheets=sheets, problem=problem or str(error))
    names = [str(name) for name in table.columns if name != LINE]
    rows = table[names].head(N_ROWS).itertuples(index=False, name=None)
    return TableHead(tuple(names), tuple(rows), len(table), sheets)


def _separator_problem(path: Path, reading: Reading) -> str:
    """Say that the column names of a CSV are not separated so, where there is one alone; else nothing."""
    file = str(path)
    try:
        text = decode(path.read_bytes(), file, reading.encoding)
    except InputError:
        return ""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=SEPARATORS[str(reading.separator)])
    names = next(filter(None, rows))
    if len(names) > 1:
        return ""
    return say("%(file)s: this separator gives one column only, `%(name)s`; choose another", file=file, name=names[0])
