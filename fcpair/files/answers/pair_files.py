"""Files that name pairs: a table with their numbers, such as the one that a search of the grid writes."""

from __future__ import annotations

from pathlib import Path

from fcpair.errors import Finding, reject
from fcpair.files.answers.answer_files import PAIR_COLUMNS
from fcpair.files.tables.tabular import name_of, read_table


def read_pair_numbers(path: str | Path) -> list[int]:
    """The numbers in the column `pair` of a table, in its order.

    Raises InputError with every line in which there is none.
    """
    table = read_table(Path(path), [PAIR_COLUMNS.number])
    rows = list(zip(table["line"].tolist(), table[PAIR_COLUMNS.number].str.strip().tolist(), strict=True))
    findings = [
        Finding(name_of(path), line, f"`{cell}` is not the number of a pair")
        for line, cell in rows
        if not (cell.isascii() and cell.isdecimal())
    ]
    reject(name_of(path), findings)
    return [int(cell) for _, cell in rows]
