"""Limits on reading a workbook: what is larger is refused before it is built; `spreadsheet.py` reads the rest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from zipfile import ZipFile

from fcpair.errors import Finding, InputError

MOST_UNPACKED = 100_000_000  # bytes, of all parts of a workbook
MOST_ROWS, MOST_COLUMNS = 1_048_576, 16_384  # what Excel and LibreOffice have
MOST_CELLS = 10_000_000  # rows x columns, of all sheets
LONGEST_CELL = 1_000_000  # characters; Excel holds 32,767


def check_unpacked(path: Path) -> None:
    """Raise InputError where a workbook unpacks to more than `MOST_UNPACKED` bytes; BadZipFile where it is none."""
    with ZipFile(path) as parts:
        size = sum(part.file_size for part in parts.infolist())
    if size > MOST_UNPACKED:
        raise InputError(
            f"{path}: unpacks to {size:,} bytes; expected at most {MOST_UNPACKED:,}. Delete what is not part of the "
            "table, or save it as CSV"
        )


@dataclass
class WorkbookSize:
    """Counts what a workbook holds, row by row and before a row is built."""

    path: Path
    cells: int = 0

    def check_width(self, sheet: str, row: int, n_columns: int) -> None:
        """Raise InputError where a row, counted from 1, reaches further than a spreadsheet does."""
        if n_columns > MOST_COLUMNS:
            self._refuse(sheet, row, f"columns beyond {MOST_COLUMNS:,}, where a spreadsheet ends")

    def check_row(self, sheet: str, row: int, n_columns: int, times: int = 1) -> None:
        """Raise InputError where a row lies beyond what a spreadsheet has, or makes too many cells.

        Args:
            sheet: the name of the sheet.
            row: the number of the row, from 1.
            n_columns: how many cells it has up to the last that holds anything.
            times: how often it is repeated.
        """
        self.check_width(sheet, row, n_columns)
        if row + times - 1 > MOST_ROWS:
            self._refuse(sheet, None, f"rows beyond {MOST_ROWS:,}, where a spreadsheet ends")
        self.cells += max(1, n_columns) * times
        if self.cells > MOST_CELLS:
            self._refuse(sheet, row, f"up to here there are more than {MOST_CELLS:,} cells")

    def check_text(self, sheet: str, row: int, n_characters: int) -> None:
        """Raise InputError where a cell is longer than `LONGEST_CELL` characters."""
        if n_characters > LONGEST_CELL:
            self._refuse(sheet, row, f"a cell of more than {LONGEST_CELL:,} characters")

    def _refuse(self, sheet: str, row: int | None, what: str) -> None:
        raise InputError(
            f"{self.path}: too large to be read as a spreadsheet; delete what is not part of the table, or save it "
            "as CSV",
            [Finding(f"{self.path}, sheet `{sheet}`", row, what)],
        )
