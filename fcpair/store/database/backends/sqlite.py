"""Operations that are SQLite's own; the file itself is held by `sqlite_file.py`.

Files are for the eyes of their owner: whoever reads a study can act as anybody in it. The umask, which is the whole
process's, is left alone.
"""

from __future__ import annotations

import os
import shlex
import sqlite3
import stat
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Table
from sqlalchemy import insert as _insert
from sqlalchemy.exc import DBAPIError

from fcpair.blocks import Rectangle
from fcpair.store.database.backends.protocol import BUSY, PATIENCE_S, SEAL, SEALED, Backend, Spans, driver, refusal

FILES = ("", "-wal", "-shm", "-journal")  # how the names of a study's files end, after that of the study
# What one who only reads is told of a transaction left half done.
NEEDS_UNDOING = "attempt to write a readonly database"
HEADER_BYTES = 100
_SQLITE_MAGIC = b"SQLite format 3\x00"
_LOG_HEADER, _FRAME_HEADER = 32, 24  # bytes
_WHOLE = 1  # our use of `user_version`: the log was folded in; only the word for it may still be missing in the header
OWNER_ALONE = 0o600
CANNOT_OPEN = "it cannot be opened; check that the folder exists and can be written"
# What SQLite says of a place rather than of a statement, and what a user can do about it.
REMEDIES = {
    "database or disk is full": "the disk is full; make room and try again",
    "disk i/o error": "the disk could not be read or written; check its space and health",
    "readonly": "the place is read-only; copy the study to a place that can be written",
    "unable to open database file": CANNOT_OPEN,
    "database is locked": BUSY,
    "malformed": "the file is damaged; restore it from a copy (`fcpair doctor` checks that the copy is sound)",
    "file is not a database": "it is not a study; `fcpair init` makes a new one elsewhere",
}
# SQLite runs a CROSS JOIN as written, the left side outermost, so that the ids that it gives out follow the order of
# the rows and then of the columns. Giving the ids explicitly would take twice the time on a large grid, and asking of
# each cell whether its column was drawn a tenth more: hence the list of those drawn, made once. Without a limit, SQLite
# would drop its order.
_SIDES = """
WITH rows AS MATERIALIZED (SELECT text_id, row_number() OVER (ORDER BY position) - 1 AS at FROM side
  WHERE grid_id = :grid AND axis = 'row' AND drawn ORDER BY position LIMIT :n_rows OFFSET :first_row),
columns AS MATERIALIZED (SELECT text_id, row_number() OVER (ORDER BY position) - 1 AS at FROM side
  WHERE grid_id = :grid AND axis = 'column' AND drawn ORDER BY position LIMIT :n_columns OFFSET :first_column)
"""
FILL_GRID = f"""
INSERT INTO cell (row_id, column_id) {_SIDES}
SELECT rows.text_id, columns.text_id FROM rows CROSS JOIN columns
"""
STAND_IN = f"INSERT INTO cell {_SIDES} SELECT :before, rows.text_id, columns.text_id FROM rows, columns LIMIT 1"
FILL_NUMBERED = f"""
INSERT INTO cell (id, row_id, column_id) {_SIDES}
SELECT :before + (rows.at - :first_row) * :n_columns + columns.at - :first_column + 1, rows.text_id, columns.text_id
FROM rows CROSS JOIN columns
"""


@dataclass(frozen=True)
class Header:
    """Header of a file, read before SQLite opens it; https://www.sqlite.org/fileformat.html#the_database_header."""

    is_database: bool
    is_shared: bool  # there is a log beside it, or should be
    is_whole: bool  # nothing is missing where the log is
    counter: int  # goes up with what is written, except into the log

    @classmethod
    def from_bytes(cls, start: bytes) -> Header:
        """The header in the first bytes of a file."""
        if len(start) < HEADER_BYTES or not start.startswith(_SQLITE_MAGIC):
            return cls(start.startswith(_SQLITE_MAGIC), is_shared=False, is_whole=False, counter=0)
        counter, user_version = (int.from_bytes(start[at : at + 4], "big") for at in (24, 60))
        # Version 2 of the format means: look into the log beside the file, too.
        return cls(True, 2 in start[18:20], user_version == _WHOLE, counter)


def connect(path: str) -> sqlite3.Connection:
    """Connect to the file at an absolute `path`; an error if there is none. Nothing is read yet."""
    place = f"file://{quote(os.fsencode(path))}?mode=rw"  # without a mode, SQLite makes what is not there
    return sqlite3.connect(place, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False, uri=True)


def drop(connection: sqlite3.Connection) -> None:
    """Close a connection, and leave the log as it is."""
    connection.interrupt()  # or the last one to be closed would lay the log over whatever is in the file now
    connection.close()


def enable_wal(connection: sqlite3.Connection) -> bool:
    """Have writers append to a log beside the file, so that readers never wait; whether the file could be had alone."""
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.OperationalError):
        if connection.execute("PRAGMA user_version").fetchone() != (_WHOLE,):
            connection.execute(f"PRAGMA user_version = {_WHOLE}")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",):
            # The first thing in the log, so that one that is empty is never this file's. Only then is the file without
            # it no longer whole.
            connection.execute("PRAGMA user_version = 0")
            connection.execute("PRAGMA wal_checkpoint").fetchone()
            return True
    return False


def checkpoint(connection: sqlite3.Connection, check: Callable[[sqlite3.Connection], object] | None) -> bool:
    """Fold the log into the file, unless anybody else has it open or `check` raises; returns whether it was folded."""
    try:
        for statement in ("PRAGMA busy_timeout = 0", "PRAGMA locking_mode = EXCLUSIVE", "BEGIN IMMEDIATE"):
            connection.execute(statement)
        if check is not None:
            check(connection)
        # Folding ends in two steps: the log is deleted, then the header says so. What is killed between them must not
        # look as if the log had been lost.
        connection.execute(f"PRAGMA user_version = {_WHOLE}")
        connection.execute("COMMIT")
        return bool(connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",))
    except sqlite3.OperationalError:
        return False
    finally:
        with suppress(sqlite3.Error):
            connection.rollback()
            connection.execute("PRAGMA locking_mode = NORMAL")
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # lets go of the lock


def has_log(path: str) -> bool:
    """Return whether anything was ever written in the log beside the file: one without a frame that has the salts of
    its beginning counts as empty (https://www.sqlite.org/fileformat.html#the_write_ahead_log).
    """
    try:
        with open(f"{path}-wal", "rb") as log:
            start = log.read(_LOG_HEADER + _FRAME_HEADER)
    except OSError:
        return False
    is_log = start[:4] in (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83") and len(start) == _LOG_HEADER + _FRAME_HEADER
    return is_log and start[16:24] == start[_LOG_HEADER + 8 : _LOG_HEADER + 16]


def copy(connection: sqlite3.Connection, path: Path) -> None:
    """Write the database into a new file for its owner, without a log; raises OSError, and leaves nothing there."""
    create_private(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            if problems := damage(target):
                raise sqlite3.DatabaseError(problems[0])
    except sqlite3.Error as error:
        for end in FILES:
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise OSError(f"a copy of the study cannot be written to {path}: {error}") from error


def damage(connection: sqlite3.Connection) -> list[str]:
    """List what SQLite finds wrong with the file, all of which it reads; empty where the file is in order."""
    return [row[0] for row in connection.execute("PRAGMA quick_check(3)") if row[0] != "ok"]


def create_private(path: Path) -> None:
    """Make an empty file that only its owner can read and write; raises FileExistsError if there is one."""
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ALONE))


def restrict_to_owner(path: str | Path) -> str | None:
    """Keep a file that everybody, not only a group, can read or write to its owner, and return a sentence about it;
    None where nothing was changed, as where the file is not there or is somebody else's.
    """
    if not (rights := _rights(path)) & 0o007:
        return None
    try:
        os.chmod(path, OWNER_ALONE)
    except OSError:
        return None
    return (
        f"everybody on this machine could read or write {path} (its rights were {rights:04o}), and now only its owner "
        f"can; `chmod 660 {shlex.quote(str(path))}` lets its group in"
    )


def exposure_warning(path: str | Path) -> str | None:
    """A sentence that says how to keep a file to its owner; None where it is, or is not there."""
    if not (rights := _rights(path)) & 0o077:
        return None
    command = f"chmod 600 {shlex.quote(str(path))}"
    return f"others on this machine may read or write {path} (its rights are {rights:04o}); `{command}` ends that"


def _rights(path: str | Path) -> int:
    with suppress(OSError):
        return stat.S_IMODE(os.stat(path).st_mode) if os.name == "posix" else 0
    return 0


class _SQLite(Backend):
    ERRORS = (sqlite3.Error, DBAPIError)
    MANY_WRITE = False
    SCHEMA = "SELECT 'main'"
    GUARDS = "SELECT name, sql FROM sqlite_master WHERE type='trigger'"
    DROP_SEAL = f"DROP TRIGGER IF EXISTS {SEAL}"
    N_PAGES = "PRAGMA page_count"

    def begin(self, conn: Connection, *, write: bool, alone: bool = True, patience_s: float = PATIENCE_S) -> None:
        # A writer takes its lock at once, so that two writers cannot both get half way; each of them writes alone.
        # SQLAlchemy would take time over each of these statements, and there are some at every answer.
        conn.begin()
        raw_connection, is_usual = driver(conn), patience_s == PATIENCE_S
        if not is_usual:
            raw_connection.execute(f"PRAGMA busy_timeout = {int(1000 * patience_s)}")
        try:
            raw_connection.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        finally:
            if not is_usual:
                raw_connection.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE_S}")

    def pause_references(self, conn: Connection, *, paused: bool) -> None:
        conn.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if paused else 'ON'}")

    def erase_deleted(self, conn: Connection) -> None:
        conn.exec_driver_sql("PRAGMA secure_delete = ON")

    def insert(self, conn: Connection, table: Table, rows: Iterable[Mapping[str, Any]]) -> None:
        remaining = iter(rows)
        while chunk := list(islice(remaining, 20_000)):
            conn.execute(_insert(table), chunk)

    def fill_grid(self, conn: Connection, grid: int, first: int, part: Rectangle) -> int:
        # Where the ids follow the last one there is, or what stands in for it, SQLite gives them out itself, faster.
        params, execute = {"grid": grid, **part.as_params(first)}, driver(conn).execute
        last = execute("SELECT coalesce(max(id), 0) FROM cell").fetchone()[0]
        if last > params["before"]:
            return int(execute(FILL_NUMBERED, params).rowcount)
        if last < params["before"]:
            execute(STAND_IN, params)
        n_cells = int(execute(FILL_GRID, params).rowcount)
        if last < params["before"]:
            execute("DELETE FROM cell WHERE id = :before", params)
        return n_cells

    def append_only_triggers(self, table: str) -> dict[str, str]:
        refuse = f"BEGIN SELECT RAISE(ABORT, '{refusal(table)}'); END"
        triggers = {act: f"BEFORE {act.upper()} ON {table} {refuse}" for act in ("update", "delete")}
        # INSERT OR REPLACE deletes the row in its way without asking the trigger on DELETE.
        triggers["replace"] = f"BEFORE INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) {refuse}"
        return {f"{table}_no_{act}": f"CREATE TRIGGER {table}_no_{act} {when}" for act, when in triggers.items()}

    def seal_trigger(self, spans: Spans) -> str:
        # After, not before: only then a row has the id that SQLite gives it.
        inside = " OR ".join(f"NEW.id BETWEEN {first} AND {last}" for first, last in spans)
        return f"CREATE TRIGGER {SEAL} AFTER INSERT ON cell WHEN {inside} BEGIN SELECT RAISE(ABORT, '{SEALED}'); END"

    def faults(self, conn: Connection) -> list[str]:
        messages = [row[0] for row in conn.exec_driver_sql("PRAGMA integrity_check") if row[0] != "ok"]
        # SQLite opens no file to be written in which a condition of a table makes no sense, but one to be read it does.
        # The first table that cannot be made as it is defined says it all: what belongs to it cannot be made, either.
        is_own = "sql IS NOT NULL AND name NOT GLOB 'sqlite_*'"
        definitions = conn.exec_driver_sql(f"SELECT name, sql FROM sqlite_master WHERE {is_own} ORDER BY rowid")
        with closing(sqlite3.connect(":memory:")) as empty:
            for name, statement in definitions:
                try:
                    empty.execute(statement)
                except sqlite3.Error as error:
                    messages.append(f"{name} is not defined as it was: {error}")
                    break
        return [f"SQLite says: {message}" for message in messages]

    def folder(self, conn: Connection) -> str:
        statement = "SELECT file FROM pragma_database_list WHERE name = 'main'"
        return os.path.dirname(str(conn.exec_driver_sql(statement).scalar_one()))

    def write_rows(self, conn: Connection, table: Table, rows: Sequence[Sequence[Any]]) -> None:
        names, values = ", ".join(f'"{column.name}"' for column in table.c), ", ".join("?" * len(table.c))
        driver(conn).executemany(f"INSERT INTO {table.name} ({names}) VALUES ({values})", rows)

    def last_number(self, conn: Connection) -> int:
        row = driver(conn).execute("SELECT seq FROM sqlite_sequence WHERE name = 'assignment'").fetchone()
        return int(row[0]) if row else 0

    def set_numbers(self, conn: Connection, _tables: Sequence[Table], last: int) -> None:
        driver(conn).execute("DELETE FROM sqlite_sequence WHERE name = 'assignment'")
        driver(conn).execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('assignment', ?)", (last,))

    def remedy(self, error: Exception) -> str | None:
        message = str(getattr(error, "orig", error)).lower()
        return next((what for symptom, what in REMEDIES.items() if symptom in message), None)


SQLITE = _SQLite()
protect, seal = SQLITE.protect, SQLITE.seal  # for migrations
