"""Checksums of rows that never change, and that answers rest on: texts, guidelines, rounds, answers, pseudonyms.

The digest by which a text is known is that of the folded text, and does not see a letter that changes its case.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from sqlalchemy import Table, insert
from sqlalchemy import text as sql

from fcpair.store.database import backends, latest_rows
from fcpair.store.database.hash_chain import FIRST, link
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, grid, guideline, person, round_, text

# What of a row is in its checksum. JSON is read first, so that how it is written does not matter.
SAYS = {
    text: ("id", "kind", "digest", "body", "language", "meta", "answers_id"),
    guideline: ("id", "body", "at", "person_id"),
    grid: ("id", "name", "row_kind", "row_name", "column_kind", "column_name"),
    round_: ("id", "grid_id", "name", "role", "form", "checks", "counts", "blind", "options"),
    answer: ("id", "round_id", "digest", "value", "code", "text_id", "reads_as"),
    person: ("id", "name"),
}
# What is in no checksum of a row that has none, so that those of before it was there still fit.
_LATER = ("answers_id", "reads_as")


def with_checksums(tx: Tx, table: Table, rows: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Rows that are to be added next, with their numbers and checksums. All that is in a checksum must be there."""
    for number, values in enumerate(rows, latest_rows.newest_number(tx, table) + 1):
        row = {**{name: None for name in _LATER if name in SAYS[table]}, **values, "id": number}
        yield {**row, "checksum": checksum_of(table, row)}


def add(tx: Tx, table: Table, rows: Iterable[Mapping[str, Any]]) -> int:
    """Add a few rows, with their numbers and checksums; returns the number of the last."""
    if not (complete_rows := list(with_checksums(tx, table, rows))):
        return 0
    tx.execute(insert(table), complete_rows)
    return int(complete_rows[-1]["id"])


def checksum_of(table: Table, row: Mapping[str, Any]) -> bytes:
    """The checksum of a row, in which all that the checksum is of must be there."""
    return _digest_values({name: int(row[name]) if name in ("counts", "blind") else row[name] for name in SAYS[table]})


def _digest_values(values: Mapping[str, Any]) -> bytes:
    return link(FIRST, [value for name, value in values.items() if name not in _LATER or value is not None])


def _read_rows(tx: Tx, table: Table, names: Sequence[str]) -> Iterator[tuple[int, Any, bytes | None]]:
    """Each row's number, the checksum that it has, and the one that it should have: None where it cannot be read."""
    says = ", ".join(backends.backend_of(tx).raw_column(table, name, table.name) for name in names)
    for id_, checksum, *row in tx.execute(
        sql(f"SELECT {table.name}.id, checksum, {says} FROM {table.name} ORDER BY id")
    ):
        named, expected = zip(names, row, strict=True), None
        with suppress(TypeError, ValueError):  # damage can make anything of a value
            values = {name: json.loads(value) if name in ("meta", "options") else value for name, value in named}
            expected = _digest_values(values)
        yield id_, checksum, expected


def make(tx: Tx, table: Table) -> None:
    """Give all rows their checksums anew, in a study that is being upgraded and has no later columns yet."""
    names = [name for name in SAYS[table] if name not in _LATER]
    if new_checksums := [{"id": number, "checksum": checksum} for number, _, checksum in _read_rows(tx, table, names)]:
        tx.execute(sql(f"UPDATE {table.name} SET checksum = :checksum WHERE id = :id"), new_checksums)


def misfits(tx: Tx, table: Table) -> tuple[int, list[int], list[bytes]]:
    """Number of rows, the numbers of those that do not fit their checksums, and all checksums, in order."""
    rows = list(_read_rows(tx, table, SAYS[table]))
    wrong = [number for number, there, expected in rows if there != expected or expected is None]
    return len(rows), wrong, [there for _, there, _ in rows]
