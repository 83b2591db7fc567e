"""Extent of each table that only grows, as of the last write, so that a file put together of two is recognised.

A file with a log of another time has pages of both. What is kept here is on a page that every write changes: it is as
new as the newest of them, and the rows that it counts may not be.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection

from fcpair.store.database.backends.protocol import Backend, driver

# Their rows are numbered without a gap, and never deleted. By which column, where that is not `id`:
TABLES = {"judgement": "id", "adjudication": "id", "receipt": "number", "run": "id", "guideline": "id"}


@cache
def _statements(rows: str, schema: str = "") -> tuple[str, str]:
    """SQL to note how far the tables go, and SQL to compare; `rows` is the database's name for any row's number."""
    numbers = {name: rows or number for name, number in TABLES.items()}
    tops = {name: f"(SELECT coalesce(max({number}), 0) FROM {name})" for name, number in numbers.items()}
    cases = " ".join(f"WHEN '{name}' THEN {top}" for name, top in tops.items())
    sizes = " UNION ALL ".join(
        f"SELECT '{name}' AS name, (SELECT count(*) FROM {name}) AS n, {top} AS top" for name, top in tops.items()
    )
    comparison = f"SELECT name, n, top, last, missing FROM ({sizes}) AS found JOIN extent USING (name)"
    is_same_schema = f"(SELECT version_num FROM alembic_version) = '{schema}'"
    return f"UPDATE extent SET last = CASE name {cases} END WHERE {is_same_schema}", comparison


def record_table_sizes(conn: Connection, backend: Backend, schema: str, *, grows: bool = True) -> bool:
    """Note how far the tables go, at the end of a transaction that has written; nothing where it was rolled back, or
    where none of them `grows`.

    False where the study has another schema: a newer fcpair has upgraded it, and what was written must not stay.
    """
    if not conn.in_transaction():
        return True
    if not grows:
        cursor = driver(conn).execute(f"SELECT 1 FROM alembic_version WHERE version_num = '{schema}'")
        return cursor.fetchone() is not None
    if backend.MANY_WRITE:
        backend.hold_numbers(conn)  # or one who read before might write after who has written since
    # By the driver alone, and with the schema in the same statement: this is done for every answer.
    return bool(driver(conn).execute(_statements(backend.ROWS, schema)[0]).rowcount)


def torn_tables(connection: Any, rows: str = "") -> list[str]:
    """A sentence for each table that does not go as far as was noted, or has gaps that were not accepted.

    The connection is the driver's; `rows` as the database's backend says.
    """
    return [
        f"{name} has {n:,} rows up to number {last:,}, and should have {expected - missing:,} up to {expected:,}"
        for name, n, last, expected, missing in connection.execute(_statements(rows)[1])
        if (n, last) != (expected - missing, expected)
    ]


def accept_table_sizes(connection: Any, rows: str = "") -> dict[str, int]:
    """Take what is there as all that there is; returns how many rows of each table are missing, where any are."""
    sizes = connection.execute(_statements(rows)[1]).fetchall()
    for name, n, last, _, _ in sizes:
        connection.execute("UPDATE extent SET last = ?, missing = ? WHERE name = ?", (last, last - n, name))
    return {name: expected - missing - n for name, n, _, expected, missing in sizes if expected - missing > n}
