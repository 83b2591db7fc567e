"""Protocols of what the store needs of a database beyond the SQL that all of them speak."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType
from typing import Any, Protocol

from sqlalchemy import Connection, Select, Table

from fcpair.blocks import Rectangle
from fcpair.lazy import NDArray

PATIENCE_S = 30.0  # how long one who writes waits for another
BUSY = "another process is writing to it; try again when that one is done"
UNREACHABLE = "the server cannot be reached, or has ended the connection; see that it runs, and try again"
SEAL, SEALED = "cell_sealed", "the grid is sealed"
Spans = Sequence[tuple[int, int]]  # the first and the last id that the cells of each of some grids can have
# The driver's own connection; what every answer needs is executed on it, without SQLAlchemy's share of the time. All
# drivers here have `execute`, which returns a cursor.
driver: Callable[[Connection], Any] = attrgetter("connection.driver_connection")


refusal: Callable[[str], str] = "{} is append-only".format  # for whoever changes a table whose rows are only ever added


class Backend(Protocol):
    """A database; what it does not need to do, it does not. `conn` is the connection of a transaction under way."""

    ERRORS: tuple[type[Exception], ...]  # what its driver raises, by itself or by way of SQLAlchemy
    MANY_WRITE: bool  # a server keeps it: several can write at once, and a connection can be ended at any time
    SCHEMA: str  # the statement that names the schema which has a study's tables
    GUARDS: str  # the statement that lists whatever acts on changes: its name, and how it is defined
    REFUSAL: Mapping[str, str] = MappingProxyType({})  # the function that triggers call, and how it is defined
    MAKE_REFUSAL: tuple[str, ...] = ()  # the statement that makes it
    DROP_SEAL: str
    N_PAGES: str  # the statement that counts the pages that `faults` looks at

    def begin(self, conn: Connection, *, write: bool, alone: bool, patience_s: float) -> None:
        """Begin to read what there is now, or to write, `alone` or not; raises one of ERRORS after waiting
        `patience_s`.
        """

    def hold_rows(self, conn: Connection, table: Table, numbers: Sequence[int]) -> None:
        """Let nobody else who holds one of these rows go on until the end of the transaction."""
        return

    def hold_numbers(self, conn: Connection) -> None:
        """Let nobody else give numbers, which have no gaps, to rows until the end of the transaction."""
        return

    def update_statistics(self, conn: Connection, tables: Sequence[Table]) -> None:
        """Let the database find out what is in tables that have just been filled, where it plans by that."""
        return

    def pause_references(self, conn: Connection, *, paused: bool) -> None:
        """Switch reference checks, outside a transaction, where looking each of them up would dominate."""
        return

    def insert(self, conn: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        """Insert rows, all with the same keys."""

    def integer_arrays(self, _conn: Connection, _query: Select[Any]) -> dict[str, NDArray[Any]] | None:
        """The result of a query as `statements.integer_arrays` has it, if there is a quicker way than row by row."""
        return None

    def fill_grid(self, conn: Connection, grid: int, first: int, part: Rectangle) -> int:
        """Write the cells of a part of a grid, their ids their numbers beyond `first`; returns how many they are."""

    def append_only_triggers(self, table: str) -> dict[str, str]:
        """The triggers that make a table append-only, by name, as the database shows them."""

    def seal_trigger(self, spans: Spans) -> str:
        """The trigger that seals these grids, as the database shows it."""

    def protect(self, conn: Connection, table: str) -> None:
        """Make a table append-only: the database itself refuses to change, delete or replace a row."""
        for statement in (*self.MAKE_REFUSAL, *self.append_only_triggers(table).values()):
            driver(conn).execute(statement)

    def seal(self, conn: Connection, spans: Spans) -> None:
        """Refuse any further cell of these grids, and of no others: each is whole, so another could only be a copy."""
        for statement in (self.DROP_SEAL, *((*self.MAKE_REFUSAL, self.seal_trigger(spans)) if spans else ())):
            driver(conn).execute(statement)

    def guards(self, conn: Connection, tables: Sequence[str], spans: Spans) -> tuple[dict[str, str], dict[str, str]]:
        """Guards, by name, that should protect these tables and seal these grids; and all that act on changes."""
        expected = {name: sql for table in tables for name, sql in self.append_only_triggers(table).items()}
        expected |= {**self.REFUSAL, **({SEAL: self.seal_trigger(spans)} if spans else {})}
        return expected, {row[0]: row[1] for row in driver(conn).execute(self.GUARDS)}

    def erase_deleted(self, conn: Connection) -> None:
        """Overwrite what this transaction deletes, where the database can, instead of only letting go of it."""
        return

    def raw_column(self, _table: Table, column: str, of: str) -> str:
        """A column, of the rows that a statement calls `of`, as it is in a digest: no number may become another."""
        return f'{of}."{column}"'

    def faults(self, conn: Connection) -> list[str]:
        """A sentence for each thing that the database finds wrong with how the study is kept."""

    def n_pages(self, conn: Connection) -> int:
        """Number of pages that `faults` looks at."""
        return int(conn.exec_driver_sql(self.N_PAGES).scalar_one())

    def folder(self, _conn: Connection) -> str:
        """The folder that the study's file is in; the working folder where it is in none."""
        return os.getcwd()

    def write_rows(self, conn: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        """Write rows of all columns, in their order, as `raw_column` reads them."""

    def last_number(self, conn: Connection) -> int:
        """The highest number that was ever given to an assignment: none is given out again, though its row is gone."""

    def set_numbers(self, conn: Connection, tables: Sequence[Table], last: int) -> None:
        """Let the next assignment have the number after this one, and rows of other tables those after their own."""

    def remedy(self, error: Exception) -> str | None:
        """Say what a user can do about an error that says something of the place; None for any other."""
