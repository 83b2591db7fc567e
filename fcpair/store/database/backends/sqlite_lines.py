"""Reading and writing whole tables of a study in a file, as lines; see `table_dump.py`."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence

from sqlalchemy import Connection, Table

from fcpair.store.database.backends import table_dump
from fcpair.store.database.backends.protocol import OddRowError, driver
from fcpair.store.database.backends.table_dump import OddValueError

CACHE_KB = 64_000  # for the rows of one index that come in another order
_ADDED = "SELECT type, name, sql FROM sqlite_master WHERE type IN ('index', 'trigger') AND sql IS NOT NULL"
_NOT_UTF8 = "Could not decode to UTF-8"


def read(conn: Connection, table: Table) -> Iterator[bytes]:
    """Every line of a table, in order, a block at a time; raises OddRowError for one that cannot be written."""
    cursor = driver(conn).cursor()
    cursor.execute(
        f"SELECT {_quote_names(table_dump.column_names(table))} FROM {table.name} ORDER BY "
        f"{_quote_names(table_dump.key_columns(table))}"
    )
    while rows := _fetch_block(cursor, table):
        try:
            yield table_dump.format_rows(table, rows)
        except OddValueError as error:
            key = _row_key(table, rows[error.at])
            raise OddRowError(table.name, f"`{error.column}` {error.reason}", row=key) from error


def _fetch_block(cursor: sqlite3.Cursor, table: Table) -> list[tuple[object, ...]]:
    try:
        return cursor.fetchmany(table_dump.BLOCK)
    except sqlite3.OperationalError as error:
        if _NOT_UTF8 not in str(error):
            raise
        raise OddRowError(table.name, "it holds bytes that are not a text") from error


def _row_key(table: Table, row: Sequence[object]) -> str:
    return ", ".join(str(row[table_dump.column_names(table).index(name)]) for name in table_dump.key_columns(table))


def write(conn: Connection, table: Table, blocks: Iterable[bytes], number: str) -> None:
    """Write lines into an empty table; `number` is the column, if any, that is the number of the row, too."""
    names = table_dump.column_names(table)
    indexes = [*range(len(names)), *([names.index(number)] if number else [])]
    target_columns = [*names, *(["rowid"] if number else [])]
    statement = (
        f"INSERT INTO {table.name} ({_quote_names(target_columns)}) VALUES "
        f"({', '.join(f'?{one + 1}' for one in indexes)})"
    )
    for block in blocks:
        driver(conn).executemany(statement, table_dump.parse_block(table, block))


def begin(conn: Connection) -> list[str]:
    """Take indexes and triggers away: indexes are made in far less time when all rows are there."""
    driver(conn).execute(f"PRAGMA cache_size = -{CACHE_KB}")
    dropped = driver(conn).execute(_ADDED).fetchall()
    for kind, name, _ in dropped:
        driver(conn).execute(f"DROP {kind} {name}")
    return [sql for _, _, sql in dropped]


def end(conn: Connection, added: Sequence[str]) -> None:
    """Make them again, as they were written."""
    for sql in added:
        driver(conn).execute(sql)


def last_numbers(conn: Connection, tables: Sequence[Table]) -> dict[str, int]:
    """The highest number that was ever given to a row of each table whose numbers are not given out again."""
    numbers = dict(driver(conn).execute("SELECT name, seq FROM sqlite_sequence").fetchall())
    return {table.name: int(numbers.get(table.name, 0)) for table in tables}


def set_last_numbers(conn: Connection, last: Mapping[str, int]) -> None:
    """Let the next numbers follow these."""
    for name, number in last.items():
        driver(conn).execute("DELETE FROM sqlite_sequence WHERE name = ?", (name,))
        driver(conn).execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", (name, number))


def _quote_names(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
