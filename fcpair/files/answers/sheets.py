"""Sheets to be filled in: as CSV, or as a workbook with the allowed answers to choose from and the guidelines."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from fcpair.errors import InputError
from fcpair.files.tables.folders import replace_file
from fcpair.files.tables.spreadsheet import GUIDELINES
from fcpair.files.tables.tabular import unguard, write_table
from fcpair.lazy import pd
from fcpair.stages.corpus.text_identity import fold_name

if TYPE_CHECKING:
    from openpyxl.worksheet.worksheet import Worksheet

SheetFormat = Literal["csv", "xlsx"]
SHEET_FORMATS: tuple[SheetFormat, ...] = get_args(SheetFormat)
LONGEST_CELL = 32_767  # characters; a spreadsheet program cuts the rest off
PAIRS = "pairs"
_WIDE = dict.fromkeys(("hs", "cn", "row", "column", "original", "text"), 60)
WIDTHS = {**_WIDE, "labels": 40, "note": 40, GUIDELINES: 100}  # of columns, in characters
NARROW = 16
AS_TEXT, GENERAL = "@", "General"  # number formats
_NUMBER = re.compile(r"-?\d+(\.\d+)?")  # is compared as a number with what is typed, so it must be one
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")  # a workbook cannot hold them


@dataclass(frozen=True)
class SheetLayout:
    """Layout of a sheet."""

    columns: Mapping[str, Sequence[str] | str]  # the words that one can choose from in each, or what to write
    guidelines: str  # in Markdown
    headings: Mapping[str, str]  # as the study calls columns of a workbook, if no two have the same


def write_sheet(rows: pd.DataFrame, path: Path, layout: SheetLayout) -> None:
    """Write a sheet to be filled in, by the suffix of `path`: whole, or not at all.

    A workbook (.xlsx) has the rows on its first sheet, with the headings always in sight, texts wrapped and the words
    to choose from in each cell of their column; the words and the guidelines are on the second. All its cells are text,
    as they are, but for numbers; in a CSV a cell that would be run as a formula stands behind an apostrophe. Raises
    InputError where a text is longer than a cell of a workbook can be.
    """
    if path.suffix != ".xlsx":
        write_table(rows, path)
        return
    from openpyxl import Workbook
    from openpyxl.utils import get_column_letter
    from openpyxl.worksheet.datavalidation import DataValidation

    book = Workbook()
    sheet = book.worksheets[0]
    sheet.title = PAIRS
    columns = [str(name) for name in rows.columns]
    named = [(name, layout.headings.get(name, name)) for name in columns]
    folded = [*map(fold_name, (*(heading for _, heading in named), *columns))]
    is_unique = {heading: folded.count(fold_name(heading)) == 1 for _, heading in named}
    headings = [heading if heading == name or is_unique[heading] else name for name, heading in named]
    _write_rows(sheet, columns, [headings, *rows.itertuples(index=False, name=None)], path)
    guidelines_sheet, lines = book.create_sheet(GUIDELINES), list[str | float]()
    for name, words in layout.columns.items():
        lines.append("Allowed answers" if len(layout.columns) == 1 else f"Allowed answers: {name}")
        if isinstance(words, str):
            lines += [words, ""]
            continue
        first, last = 1 + len(lines), len(lines) + len(words)
        lines += [*(float(word) if _NUMBER.fullmatch(word) else word for word in words), ""]
        from_list = f"{GUIDELINES}!$A${first}:$A${last}"
        choice = DataValidation("list", formula1=from_list, allow_blank=True, showDropDown=False, showErrorMessage=True)
        choice.errorTitle, choice.error = "This is not an answer", f"Choose one of: {', '.join(words)}"[:225]
        sheet.add_data_validation(choice)
        letter = get_column_letter(1 + columns.index(name))
        choice.add(f"{letter}2:{letter}{1 + len(rows)}")
        if any(_NUMBER.fullmatch(word) for word in words):
            for (cell,) in sheet[f"{letter}2:{letter}{1 + len(rows)}"]:
                cell.number_format = GENERAL  # of numbers that are typed as text, none would be on the list
    lines += ["Guidelines", *layout.guidelines.splitlines()]
    _write_rows(guidelines_sheet, [GUIDELINES], [[line] for line in lines], path)
    with replace_file(path) as temporary:
        book.save(temporary)


def _write_rows(sheet: Worksheet, columns: Sequence[str], rows: Sequence[Sequence[Any]], path: Path) -> None:
    from openpyxl.styles import Alignment, Font
    from openpyxl.utils import get_column_letter

    sheet.freeze_panes = "A2"
    for at, name in enumerate(columns, 1):
        sheet.column_dimensions[get_column_letter(at)].width = WIDTHS.get(name, NARROW)
    wrapped, bold = Alignment(wrap_text=True, vertical="top"), Font(bold=True)
    for at, row in enumerate(rows, 1):
        for to, value in enumerate(row, 1):
            is_text = isinstance(value, str)
            cell = sheet.cell(at, to, (_cell_text(value, path) or None) if is_text else value)
            if is_text:
                cell.number_format = AS_TEXT  # what is typed over it is text, too: `1/2` is no day
            if is_text and value:
                cell.data_type = "s"  # `=1+1` is no formula, `#N/A` no error
            cell.alignment = wrapped
            if at == 1:
                cell.font = bold


def _cell_text(text: str, path: Path) -> str:
    if len(text) > LONGEST_CELL:
        has = f"a text has {len(text):,} characters"
        raise InputError(f"{path}: {has}, but a cell holds at most {LONGEST_CELL:,}; write CSV")
    text = _UNPRINTABLE.sub(" ", text)
    return f"'{text}" if unguard(text) != text else text  # so that reading takes off no apostrophe of the text
