"""Text files with one record a line: decoding them, and reading CSV as people send it back, and JSONL."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from fcpair.errors import Finding, InputError, reject
from fcpair.stages.corpus.text_identity import NO_TEXT

SEPARATORS = (",", ";", "\t")
SAMPLED_ROWS = 20  # rows below the column names, to find out what separates cells
WINDOWS = "cp1252"
NO_TEXT_HERE = "a NUL character or half a surrogate pair, which a text may not contain"
_WORD = re.compile(r"""[^\s,;"']+""")
_SEPARATOR_LINE = re.compile("sep=(.)\r?\n", re.IGNORECASE)  # the first line of some CSVs, for Excel alone
_NO_TEXT_FILE = {
    b"PK\x03\x04": "this is a spreadsheet or a zip file; a spreadsheet must be named .xlsx or .ods",
    b"\xd0\xcf\x11\xe0": "this is a file of an older Excel (.xls), or one with a password; save it as .xlsx",
    b"PAR1": "this is a Parquet file; it must be named .parquet",
}


@dataclass(frozen=True)
class RawTable:
    """A table as its file has it: the column names, the cells below them as text, and the line of each row.

    `place` is what findings call the file. Rows of a CSV need not be as wide as the header.
    """

    place: str
    header: list[str]
    rows: list[list[str]]
    lines: list[int]


def decode(path: Path) -> str:
    """The text of a file: UTF-8, or UTF-16 with its mark, which is what Excel calls Unicode text.

    Raises:
        InputError: another encoding (Windows-1252 is named), no text at all, a NUL.
    """
    return decode_bytes(path.read_bytes(), str(path))


def decode_bytes(raw: bytes, path: str) -> str:
    """The text of bytes, as `decode` has that of a file; errors call them `path`."""
    for magic, what in _NO_TEXT_FILE.items():
        if raw.startswith(magic):
            raise InputError(f"{path}: {what}")
    utf_16 = raw.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    try:
        text = raw.decode("utf-16" if utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        remedy = "save the file as UTF-8" if utf_16 else _remedy(raw, error.start)
        message = f"byte 0x{raw[error.start]:02x} is not {'UTF-16' if utf_16 else 'UTF-8'}; {remedy}"
        raise InputError(f"{path}: the encoding is broken", [Finding(path, line, message)]) from None
    if not text.strip():
        raise InputError(f"{path}: the file is empty; expected a line of column names and one line a row")
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise InputError(f"{path}: not a text file", [Finding(path, line, "a NUL character")])
    return text


def _remedy(raw: bytes, at: int) -> str:
    """Remedy for a byte that is not UTF-8, with the word around it as Windows-1252 would have it."""
    before = raw[max(0, at - 60) : at].decode(WINDOWS, "replace")
    after = raw[at : at + 60].decode(WINDOWS, "replace")
    word = next((word.group() for word in _WORD.finditer(before + after) if word.end() > len(before)), "")
    if not word or "\ufffd" in word or not word.isprintable():
        return "save the file as UTF-8"
    return (
        f"the file looks like Windows-1252 (Latin-1), which Excel writes as plain CSV and in which this is `{word}`; "
        "save it as `CSV UTF-8` or as .xlsx"
    )


def check_texts(raw: RawTable) -> None:
    """Raise InputError where a column name or a cell holds what no text does; lists and objects are looked into."""
    if any(map(NO_TEXT.search, raw.header)):
        reject(raw.place, [Finding(raw.place, 1, f"a column name has {NO_TEXT_HERE}")])
    broken = [line for row, line in zip(raw.rows, raw.lines, strict=True) if any(map(NO_TEXT.search, row))]
    reject(raw.place, [Finding(raw.place, line, NO_TEXT_HERE) for line in broken])


def read_csv(path: Path) -> RawTable:
    """Read a CSV whose cells are separated by commas, semicolons or tabs, as most of its column names are."""
    return parse_csv(decode(path), str(path))


def parse_csv(text: str, place: str) -> RawTable:
    """Read the text of a CSV, which errors call `place`."""
    csv.field_size_limit(max(len(text), 131072))
    separator_line = _SEPARATOR_LINE.match(text)
    body = text[separator_line.end() :] if separator_line else text
    if not body.strip("\r\n"):
        raise InputError(f"{place}: the file is empty; expected a line of column names and one line a row")
    skipped = 1 if separator_line else 0
    reader = csv.reader(
        io.StringIO(body, newline=""),
        strict=True,
        delimiter=separator_line.group(1) if separator_line else _guess_separator(body),
    )
    rows: list[list[str]] = []
    lines: list[int] = []
    try:
        header = next(row for row in reader if row)
        line = reader.line_num + 1
        for row in reader:
            if row:
                rows.append(row)
                lines.append(line + skipped)
            line = reader.line_num + 1
    except csv.Error as error:
        reject(place, [Finding(place, reader.line_num + skipped, f"broken CSV: {error}{_cut_off_hint(error)}")])
    return RawTable(place, header, rows, lines)


def _cut_off_hint(error: csv.Error) -> str:
    return "; is the file cut off?" if "unexpected end" in str(error) else ""


def _guess_separator(text: str) -> str:
    return max(SEPARATORS, key=lambda separator: _n_columns(text, separator))  # the first of them where they are even


def _n_columns(text: str, separator: str) -> int:
    """Number of columns in the header; 1 if there are rows below and none of them has more than one cell."""
    rows: Iterator[list[str]] = filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=separator))
    header, below = next(rows), list(islice(rows, SAMPLED_ROWS))
    return len(header) if not below or any(len(row) > 1 for row in below) else 1


def read_jsonl(path: Path) -> RawTable:
    """Read a file with one JSON object a line."""
    header: dict[str, None] = {}
    records: list[dict[str, Any]] = []
    lines: list[int] = []
    findings: list[Finding] = []
    for line, content in enumerate(decode(path).split("\n"), 1):
        if not content.strip():
            continue
        try:
            record = json.loads(content)
        except json.JSONDecodeError as error:
            findings.append(Finding(str(path), line, f"not JSON: {error.msg} at column {error.colno}"))
            continue
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
            findings.append(Finding(str(path), line, f"cannot be read: {error}"))
            continue
        if not isinstance(record, dict):
            findings.append(Finding(str(path), line, f"expected an object, found {type(record).__name__}"))
            continue
        if any(NO_TEXT.search(as_text(cell)) for cell in record.values() if isinstance(cell, str | list | dict)):
            findings.append(Finding(str(path), line, NO_TEXT_HERE))
            continue
        header.update(dict.fromkeys(record))
        records.append(record)
        lines.append(line)
    reject(path, findings)
    return RawTable(str(path), list(header), [[as_text(one.get(name)) for name in header] for one in records], lines)


def as_text(cell: Any) -> str:
    """A cell of a table that is not made of text: nothing is empty, lists and objects are JSON."""
    if cell is None:
        return ""
    if isinstance(cell, str):
        return cell
    return json.dumps(cell, ensure_ascii=False) if isinstance(cell, dict | list) else str(cell)
