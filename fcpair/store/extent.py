"""How far each table that only grows had grown with the last write, so that a file put together of two is recognised.

A file with a log of another time has pages of both. What is kept here is on a page that every write changes: it is as
new as the newest of them, and the rows that it counts may not be.
"""

from __future__ import annotations

import sqlite3

from sqlalchemy import Connection

from fcpair.store import dialect

# Their rows are numbered without a gap, and never deleted.
TABLES = ("judgement", "adjudication", "receipt", "run", "guideline")
_NOTE = "UPDATE extent SET last = CASE name {} END".format(
    " ".join(f"WHEN '{one}' THEN (SELECT coalesce(max(rowid), 0) FROM {one})" for one in TABLES)
)
_FOUND = " UNION ALL ".join(
    f"SELECT '{one}' AS name, count(*) AS n, coalesce(max(rowid), 0) AS top FROM {one}" for one in TABLES
)
_COMPARED = f"SELECT name, n, top, last, missing FROM ({_FOUND}) JOIN extent USING (name)"


def note(conn: Connection) -> None:
    """Note how far the tables go, at the end of a transaction that has written; nothing where it was rolled back."""
    driver = dialect.driver(conn)  # by the driver alone: this is done for every answer
    if driver.in_transaction:
        driver.execute(_NOTE)


def differences(connection: sqlite3.Connection) -> list[str]:
    """A sentence for each table that does not go as far as was noted, or has gaps that were not accepted.

    A study of an older schema has no such note.
    """
    if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'extent'").fetchone():
        return []
    return [
        f"{name} has {n:,} rows up to number {last:,}, and should have {expected - missing:,} up to {expected:,}"
        for name, n, last, expected, missing in connection.execute(_COMPARED)
        if (n, last) != (expected - missing, expected)
    ]


def accept(connection: sqlite3.Connection) -> dict[str, int]:
    """Take what is there as all that there is; returns how many rows of each table are missing, where any are."""
    compared = connection.execute(_COMPARED).fetchall()
    for name, n, last, _, _ in compared:
        connection.execute("UPDATE extent SET last = ?, missing = ? WHERE name = ?", (last, last - n, name))
    return {name: expected - missing - n for name, n, _, expected, missing in compared if expected - missing > n}
