"""Results for programs on standard output: JSON and CSV, long ones as they come."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from fcpair.cli.table import Cell
from fcpair.cli.terminal import can_encode, print_machine, print_wrapped

ROWS_AT_ONCE = 1000
Row = Mapping[str, Cell]
_SIGNS_LOST = "Note: this encoding lacks some characters, which are escaped here; PYTHONIOENCODING=utf-8 keeps them."


def print_json(data: Any) -> None:
    """Print data as JSON; rows that an iterator gives as a list of them, without holding them all."""
    if isinstance(data, Iterator):
        _print_json_rows(data)
        return
    text = json.dumps(data, ensure_ascii=False, indent=2)
    print_machine(text if can_encode(text) else json.dumps(data, indent=2))


def _print_json_rows(rows: Iterator[Row]) -> None:
    """Print flat rows as `json.dumps` prints a list of them, with every sign that the encoding lacks escaped."""
    between = "[\n"
    for part in _row_chunks(rows):
        text = _format_objects(part, ascii_only=False)
        print_machine(between + (text if can_encode(text) else _format_objects(part, ascii_only=True)), end="")
        between = ",\n"
    print_machine("[]" if between == "[\n" else "\n]")


def _format_objects(rows: Iterable[Row], *, ascii_only: bool) -> str:
    dump = json.JSONEncoder(ensure_ascii=ascii_only).encode
    cells = (",\n".join(f"    {dump(key)}: {dump(cell)}" for key, cell in row.items()) for row in rows)
    return ",\n".join(f"  {{\n{one}\n  }}" for one in cells)


def print_csv(rows: Iterable[Row], otherwise: Sequence[str] = ()) -> None:
    """Print rows as one CSV; those of an iterator all have the columns of its first.

    Where there is no row, the columns are those given for it.
    """
    lost, columns = False, list(dict.fromkeys(key for row in rows for key in row)) if isinstance(rows, Sequence) else []
    header = True
    for part in _row_chunks(iter(rows)):
        text = _format_csv(part, columns or list(part[0]), header=header)
        print_machine(text, end="")
        header, lost = False, lost or not can_encode(text)
    if header and otherwise:
        print_machine(_format_csv([], otherwise, header=True), end="")
    if lost:
        print_wrapped(_SIGNS_LOST, err=True)


def _format_csv(rows: Sequence[Row], columns: Sequence[str], *, header: bool) -> str:
    from fcpair.files.tables.tabular import format_csv

    lines = ([_without_negative_zero(row.get(name)) for name in columns] for row in rows)
    return format_csv([*([columns] if header else []), *lines])


def _without_negative_zero(cell: Cell) -> Cell:
    """The cell, and 0 for -0."""
    return 0.0 if isinstance(cell, float) and cell == 0 else cell


def _row_chunks(rows: Iterator[Row]) -> Iterator[list[Row]]:
    return iter(lambda: list(islice(rows, ROWS_AT_ONCE)), [])
