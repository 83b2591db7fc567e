"""Reading and writing whole tables of a study in PostgreSQL, as lines; see `table_dump.py`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from psycopg import DataError, Error, IntegrityError
from sqlalchemy import JSON, Boolean, Column, Connection, Float, Table

from fcpair.store.database.backends import table_dump
from fcpair.store.database.backends.protocol import OddRowError, driver

_REFERENCES = """
SELECT conrelid::regclass::text, quote_ident(conname), pg_get_constraintdef(oid) FROM pg_constraint
WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2
"""
_COUNTERS = """
SELECT c.relname, a.attname, pg_get_serial_sequence(quote_ident(c.relname), a.attname)
FROM pg_class AS c JOIN pg_attribute AS a ON a.attrelid = c.oid
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' AND a.attnum > 0
  AND pg_get_serial_sequence(quote_ident(c.relname), a.attname) IS NOT NULL
"""
_PLACE = re.compile(r"^COPY \w+, line (\d+)(?:, column (\w+))?", re.MULTILINE)


def read(conn: Connection, table: Table) -> Iterator[bytes]:
    """Every line of a table, in order, a block at a time."""
    names = ", ".join(_select_expression(column) for column in table.columns)
    order = ", ".join(f'"{name}"' for name in table_dump.key_columns(table))
    with driver(conn).cursor().copy(f'COPY (SELECT {names} FROM "{table.name}" ORDER BY {order}) TO STDOUT') as copy:
        yield from table_dump.gather_blocks(copy)


def _select_expression(column: Column[Any]) -> str:
    """Expression that turns a column's value into one that is written in one way only."""
    name = f'"{column.name}"'
    if isinstance(column.type, Boolean):
        return f"{name}::integer"
    if isinstance(column.type, Float):
        return f"nullif({name}, 'NaN') + 0"
    if isinstance(column.type, JSON):
        number = f"trim_scale({name}::text::numeric)::text"
        return f"CASE json_typeof({name}) WHEN 'number' THEN {number} ELSE {name}::text END"
    return name


def write(conn: Connection, table: Table, blocks: Iterable[bytes], _number: str) -> None:
    """Write lines into an empty table; raises OddRowError for one that PostgreSQL does not take."""
    names = ", ".join(f'"{name}"' for name in table_dump.column_names(table))
    try:
        with driver(conn).cursor().copy(f'COPY "{table.name}" ({names}) FROM STDIN') as copy:
            for block in blocks:
                copy.write(block)
    except (DataError, IntegrityError) as error:
        place = _PLACE.search(error.diag.context or "")
        raise OddRowError(
            table.name, _error_message(error, place and place[2]), line=int(place[1]) if place else 0
        ) from error


def _error_message(error: Error, column: str | None) -> str:
    """Message of PostgreSQL about a row, without what is in it."""
    message = error.diag.message_primary or "it is refused"
    message = "it contains a NUL character, which PostgreSQL cannot store in a text" if "0x00" in message else message
    return f"`{column}`: {message}" if column else message


def begin(conn: Connection) -> list[tuple[str, str, str]]:
    """Take the references away: each of them is looked up in far less time when all rows are there."""
    references: list[tuple[str, str, str]] = driver(conn).execute(_REFERENCES).fetchall()
    for table, name, _ in references:
        driver(conn).execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
    return references


def end(conn: Connection, references: Sequence[tuple[str, str, str]]) -> None:
    """Put the references back, which looks them up, and count what the plans of statements rest on."""
    for table, name, what in references:
        try:
            driver(conn).execute(f"ALTER TABLE {table} ADD CONSTRAINT {name} {what}")
        except IntegrityError as error:
            raise OddRowError(table.strip('"'), error.diag.message_detail or _error_message(error, None)) from error
    driver(conn).execute("ANALYZE")


def last_numbers(conn: Connection, tables: Sequence[Table]) -> dict[str, int]:
    """The highest number that was ever given to a row of each table whose numbers are not given out again."""
    named = {table.name for table in tables}
    counters = [(name, counter) for name, _, counter in driver(conn).execute(_COUNTERS).fetchall() if name in named]
    last = "SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM "
    return {name: int(driver(conn).execute(last + counter).fetchone()[0]) for name, counter in counters}


def set_last_numbers(conn: Connection, last: Mapping[str, int]) -> None:
    """Let the next numbers follow these, and those of all other tables their rows."""
    for name, column, counter in driver(conn).execute(_COUNTERS).fetchall():
        (top,) = driver(conn).execute(f'SELECT coalesce(max("{column}"), 0) FROM "{name}"').fetchone()
        if number := max(top, last.get(name, 0)):
            driver(conn).execute("SELECT setval(%s::regclass, %s)", (counter, number))
