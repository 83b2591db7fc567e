"""Workbooks that are larger than they look are refused before they are built, and stray cells cost nothing."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import openpyxl
import pytest
from peak import PEAK_MB

from fcpair.errors import InputError
from fcpair.files.tables.spreadsheet import MOST_CELLS, MOST_UNPACKED
from fcpair.files.tables.tabular import LINE, read_table

SPACES = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "table", "text")
)
CALC_SPACE = "urn:org:documentfoundation:names:experimental:calc:xmlns:calcext:1.0"
CALC = f'calcext:value-type="error" xmlns:calcext="{CALC_SPACE}"'
LAST_ROW = 1_048_576
BOUND_S, BOUND_MB = 10.0, 300  # what is built in full takes a minute, or gigabytes; 1 to 2 s on an idle machine
MEASURED = f"""{PEAK_MB}
import time
from fcpair.errors import InputError
from fcpair.files.tables.tabular import read_table
start = time.process_time()
try:
    said = f"{{len(read_table(sys.argv[1], ['pair', 'label']))}} rows"
except InputError:
    said = "refused"
print(said, time.process_time() - start, peak_mb(), sep=";")
"""


def cell(text: str, told: str = "") -> str:
    return f'<table:table-cell office:value-type="string" {told}><text:p>{text}</text:p></table:table-cell>'


def row(*cells: str, times: int = 1) -> str:
    return f'<table:table-row table:number-rows-repeated="{times}">{"".join(cells)}</table:table-row>'


def ods(folder: Path, *rows: str) -> Path:
    """A spreadsheet with the columns pair and label, and rows as LibreOffice writes them."""
    path = folder / "t.ods"
    table = f'<table:table table:name="s">{row(cell("pair"), cell("label"))}{"".join(rows)}</table:table>'
    body = f"<office:body><office:spreadsheet>{table}</office:spreadsheet></office:body>"
    with ZipFile(path, "w", ZIP_DEFLATED) as parts:
        parts.writestr("content.xml", f"<office:document-content {SPACES}>{body}</office:document-content>")
    return path


def xlsx(folder: Path, **cells: str) -> Path:
    """A workbook with the columns pair and label, one row, and more cells at places."""
    path = folder / "t.xlsx"
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet.append(["pair", "label"])
    sheet.append(["1", "appropriate"])
    for place, value in cells.items():
        sheet[place] = value
    book.save(path)
    return path


def one_long_cell(folder: Path) -> Path:
    """A workbook of a few megabytes that unpacks to 1.5 GB of the letter a."""
    before, after = (
        b'<worksheet><sheetData><row><c t="inlineStr"><is><t>',
        b"</t></is></c></row></sheetData></worksheet>",
    )
    path = folder / "long.xlsx"
    with ZipFile(xlsx(folder)) as book, ZipFile(path, "w", ZIP_DEFLATED, compresslevel=1) as parts:
        for name in book.namelist():
            if "sheet1" not in name:
                parts.writestr(name, book.read(name))
        with parts.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            sheet.write(before)
            for _ in range(1500):
                sheet.write(b"a" * 1_000_000)
            sheet.write(after)
    return path


def refused(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_table(path, ["pair", "label"])
    return str(caught.value)


WIDE = 'table:number-columns-repeated="{}"'
TOO_LARGE: dict[str, Callable[[Path], Path]] = {
    "repeated rows": lambda folder: ods(folder, row(cell("1"), cell("x"), times=300_000_000)),
    "repeated cells": lambda folder: ods(folder, row(cell("1", WIDE.format(300_000_000)))),
    "rows x columns": lambda folder: ods(folder, row(cell("1", WIDE.format(4000)), times=1_000_000)),
    "repeated spaces": lambda folder: ods(folder, row(cell('1<text:s text:c="2000000000"/>'), cell("x"))),
    "a cell far away": lambda folder: xlsx(folder, XFD200000="x"),
    "cells far away in many rows": lambda folder: xlsx(folder, **{f"XFD{at}": "x" for at in range(2, 402)}),
    "one long cell": one_long_cell,
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", [*TOO_LARGE, "a stray space", "a stray cell"])
def test_what_is_too_large_is_soon_refused_and_a_stray_cell_costs_little(tmp_path: Path, kind: str) -> None:
    stray = {"a stray space": (" ", "1 rows"), "a stray cell": ("x", "2 rows")}
    text, outcome = stray.get(kind, ("", "refused"))
    said, seconds, megabytes = measured(TOO_LARGE[kind](tmp_path) if not text else xlsx(tmp_path, A1048576=text))
    assert said == outcome
    assert seconds < BOUND_S
    assert megabytes < BOUND_MB


def measured(path: Path) -> tuple[str, float, float]:
    """What came of reading a file in a process of its own, seconds of the processor, and its peak memory in MB."""
    ran = subprocess.run([sys.executable, "-c", MEASURED, str(path)], capture_output=True, text=True, check=True)
    said, seconds, megabytes = ran.stdout.split(";")
    return said, float(seconds), float(megabytes)


def test_the_sheet_and_row_that_are_too_large_are_named_and_not_unpacked(tmp_path: Path) -> None:
    for kind, message in {
        "rows x columns": f"sheet `s`:2: up to here there are more than {MOST_CELLS:,} cells",
        "repeated rows": "sheet `s`: rows beyond 1,048,576",
        "repeated cells": "sheet `s`:2: columns beyond 16,384",
        "repeated spaces": "sheet `s`:2: a cell of more than 1,000,000 characters",
    }.items():
        path = TOO_LARGE[kind](tmp_path)
        assert f"{path}, {message}" in refused(path)
    with ZipFile(path := xlsx(tmp_path), "a", ZIP_DEFLATED) as parts:
        parts.writestr("xl/more.xml", " " * MOST_UNPACKED)
    assert f"expected at most {MOST_UNPACKED:,}" in refused(path)
    with ZipFile(path := tmp_path / "t.ods", "w") as parts:
        parts.writestr("content.xml", '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>')
    assert "not a .ods file that can be read" in refused(path)  # as it declares entities


def test_repeated_rows_cells_and_spaces_are_read_to_the_end_of_the_sheet(tmp_path: Path) -> None:
    empty = f"<table:table-cell {WIDE.format(16_384)}/>"
    rows = (row(cell("1"), cell("x"), empty), row(empty, times=LAST_ROW - 3), row(cell("2"), cell("y")))
    read = read_table(ods(tmp_path, *rows), ["pair", "label"])
    assert read.to_numpy().tolist() == [["1", "x", 2], ["2", "y", LAST_ROW]]
    path = ods(tmp_path, row(cell("1"), cell('a<text:s text:c="3"/>b<text:line-break/>c'), times=2))
    read = read_table(path, ["pair", "label"])
    assert read["label"].tolist() == ["a   b\nc"] * 2
    assert read[LINE].tolist() == [2, 3]


@pytest.mark.parametrize(
    ("told", "shown", "text"),
    [
        ('office:value-type="float" office:value="2"', "2", "2"),
        ('office:value-type="percentage" office:value="0.5"', "50 %", "0.5"),
        ('office:value-type="boolean" office:boolean-value="true"', "WAHR", "TRUE"),
        ('office:value-type="date" office:date-value="2026-11-21T14:05:00"', "21.11.26", "2026-11-21 14:05:00"),
        ('office:value-type="time" office:time-value="PT14H05M00S"', "02:05 PM", "14:05:00"),
        ('office:value-type="string"', "<text:span>a</text:span> b</text:p><text:p>c", "a b\nc"),
        (
            'office:value-type="string"',
            "a</text:p><office:annotation><text:p>to whom it may</text:p></office:annotation><text:p>b",
            "a\nb",
        ),
        ('office:value-type="date" office:date-value="2026-01-02"', "2.1.26", "2026-01-02"),
        ('office:value-type="float" office:value="7"', "007", "007"),
        ('office:value-type="float" office:value="1890123456789012481"', "1,89E+18", "1890123456789012481"),
        ('office:value-type="string"', "#N/A", "#N/A"),
    ],
)
def test_a_cell_of_an_open_document_is_read_by_its_value(tmp_path: Path, told: str, shown: str, text: str) -> None:
    typed = f"<table:table-cell {told}><text:p>{shown}</text:p></table:table-cell>"
    assert read_table(ods(tmp_path, row(cell("1"), typed)), ["pair", "label"])["label"].tolist() == [text]


TYPED_STRING = 'office:value-type="string" office:string-value=""'


@pytest.mark.parametrize(
    ("told", "shown", "reason"),
    [
        (f'table:formula="of:=NA()" {TYPED_STRING} {CALC}', "#N/A", "is `#N/A`, an error of the spreadsheet"),
        (f'table:formula="of:=1/0" {TYPED_STRING}', "#DIV/0!", "is `#DIV/0!`, an error of the spreadsheet"),
        (f'office:value-type="float" office:value="0" {CALC}', "Err:502", "is `Err:502`, an error of the spreadsheet"),
        ('table:formula="of:=[.A1]"', "", "has a formula without a stored value"),
        ('office:value-type="float" office:value="1e20"', "1E+20", "is a number of so many digits"),
    ],
)
def test_a_cell_of_an_open_document_is_named_if_unread(tmp_path: Path, told: str, shown: str, reason: str) -> None:
    unread = f"<table:table-cell {told}><text:p>{shown}</text:p></table:table-cell>"
    assert f"sheet `s`:3: cell B3 {reason}" in refused(ods(tmp_path, row(cell("1"), cell("x")), row(cell("2"), unread)))


def test_all_error_cells_of_an_open_document_are_named_at_once(tmp_path: Path) -> None:
    error = f'<table:table-cell table:formula="of:=NA()" {TYPED_STRING} {CALC}><text:p>#N/A</text:p></table:table-cell>'
    said = refused(ods(tmp_path, row(error, cell("x")), row(cell("2"), cell("y"), times=2), row(cell("4"), error)))
    assert [f"sheet `s`:{place[1]}: cell {place} is `#N/A`" in said for place in ("A2", "B5")] == [True, True]
