"""Everything that is particular to one database; the rest of the store is plain SQLAlchemy.

PostgreSQL is to come second: what it needs differently belongs here and nowhere else.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, QueuePool, Select, bindparam, create_engine, event, func, select
from sqlalchemy.exc import DBAPIError
from sqlalchemy.pool import NullPool

from fcpair.store import private

ERRORS = (sqlite3.Error, DBAPIError)  # of the driver, by itself or by way of SQLAlchemy
SEAL, SEALED = "cell_sealed", "the grid is sealed"
PATIENCE_S = 30  # how long one who writes waits for another
LOCKED = "database is locked"
FILES = ("", "-wal", "-shm", "-journal")  # how the names of a study's files end, after that of the study
NEEDS_UNDOING = (
    "attempt to write a readonly database"  # what one who only reads is told of a transaction left half done
)
HEADER_BYTES = 100
_SQLITE_MAGIC = b"SQLite format 3\x00"
_LOGGED = 2  # the version of the format that means: look into the log beside the file, too
_WHOLE = 1  # our use of `user_version`: the log was folded in; only the word for it may still be missing in the header
CANNOT_OPEN = "it cannot be opened; check that the folder exists and can be written"
# What SQLite says of a place rather than of a statement, and what a user can do about it.
REMEDIES = {
    "database or disk is full": "the disk is full; make room and try again",
    "disk i/o error": "the disk could not be read or written; check its space and health",
    "readonly": "the place is read-only; copy the study to a place that can be written",
    "unable to open database file": CANNOT_OPEN,
    LOCKED: "another process is writing to it; try again when that one is done",
    "malformed": "the file is damaged; restore it from a copy, of which `fcpair doctor` says whether it is sound",
    "file is not a database": "it is not a study; `fcpair init` makes a new one elsewhere",
}
# SQLite runs a CROSS JOIN as written, the left side outermost, so that the ids that it gives out follow the order of
# the rows and then of the columns. Giving the ids explicitly would take twice the time on a large grid, and asking of
# each cell whether its column was drawn a tenth more: hence the list of those drawn, made once. Without a limit, SQLite
# would drop its order.
FILL_GRID = """
INSERT INTO cell (row_id, column_id)
WITH columns AS MATERIALIZED (
  SELECT text_id FROM side WHERE grid_id = :grid AND axis = 'column' AND drawn ORDER BY position LIMIT -1)
SELECT r.text_id, columns.text_id FROM side AS r CROSS JOIN columns
WHERE r.grid_id = :grid AND r.axis = 'row' AND r.drawn ORDER BY r.position
"""
FILL_NUMBERED = """
INSERT INTO cell (id, row_id, column_id)
WITH rows AS MATERIALIZED (SELECT text_id, row_number() OVER (ORDER BY position) AS at
  FROM side WHERE grid_id = :grid AND axis = 'row' AND drawn),
columns AS MATERIALIZED (SELECT text_id, row_number() OVER (ORDER BY position) AS at
  FROM side WHERE grid_id = :grid AND axis = 'column' AND drawn)
SELECT :before + (rows.at - 1) * (SELECT count(*) FROM columns) + columns.at, rows.text_id, columns.text_id
FROM rows CROSS JOIN columns
"""


@dataclass(frozen=True)
class Header:
    """What a file says of itself before SQLite opens it; https://www.sqlite.org/fileformat.html#the_database_header."""

    is_database: bool
    is_shared: bool  # there is a log beside it, or should be
    is_whole: bool  # nothing is missing where the log is
    counter: int  # goes up with what is written, except into the log

    @classmethod
    def of(cls, start: bytes) -> Header:
        """The header in the first bytes of a file."""
        if len(start) < HEADER_BYTES or not start.startswith(_SQLITE_MAGIC):
            return cls(start.startswith(_SQLITE_MAGIC), is_shared=False, is_whole=False, counter=0)
        counter, user_version = (int.from_bytes(start[at : at + 4], "big") for at in (24, 60))
        return cls(True, _LOGGED in start[18:20], user_version == _WHOLE, counter)


def engine_for(connect: Callable[[], sqlite3.Connection]) -> Engine:
    """An engine on connections made by `connect`; SQLAlchemy, not the driver, decides where transactions begin."""
    # What is written may be a text, a note or a token's hash, and no error message is the place for it.
    # There is no limit to the connections, so that nobody waits for one: who answers would wait for those who look.
    pool: dict[str, Any] = {"poolclass": QueuePool, "max_overflow": -1, "pool_use_lifo": True}
    engine = create_engine("sqlite://", creator=connect, hide_parameters=True, **pool)
    event.listen(engine, "close", lambda connection, _record: connection.interrupt())
    return engine


def connect(path: str) -> sqlite3.Connection:
    """A connection to the file at an absolute `path`; an error where there is none. Nothing is read yet."""
    place = f"file://{quote(os.fsencode(path))}?mode=rw"  # without a mode, SQLite makes what is not there
    return sqlite3.connect(place, timeout=PATIENCE_S, isolation_level=None, check_same_thread=False, uri=True)


def drop(connection: sqlite3.Connection) -> None:
    """Close a connection, and leave the log as it is.

    The last one to be closed would lay the log over whatever is in the file now, were it not interrupted in that.
    """
    connection.interrupt()
    connection.close()


def prepare(connection: sqlite3.Connection) -> sqlite3.Connection:
    """Set what holds for every connection of a store."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def begin(conn: Connection, *, write: bool, patience_s: float = PATIENCE_S) -> None:
    """Begin: a writer takes its lock at once, so that two writers cannot both get half way.

    A lock that somebody else has for longer than `patience_s` is an error.
    """
    conn.begin()  # for SQLAlchemy, which would take time over each of these statements: there are some at every answer
    own = driver(conn)
    if patience_s != PATIENCE_S:
        own.execute(f"PRAGMA busy_timeout = {int(1000 * patience_s)}")
    try:
        own.execute("BEGIN IMMEDIATE" if write else "BEGIN")
    finally:
        if patience_s != PATIENCE_S:
            own.execute(f"PRAGMA busy_timeout = {1000 * PATIENCE_S}")


def touch(conn: Connection) -> None:
    """Write what is there already: an error where nothing can be written, which beginning to write does not tell."""
    version = conn.exec_driver_sql("PRAGMA user_version").scalar()
    conn.exec_driver_sql(f"PRAGMA user_version = {version}")


def pause_foreign_keys(conn: Connection, *, paused: bool) -> None:
    """Switch reference checks, outside a transaction: one look-up per cell and side would dominate."""
    conn.exec_driver_sql(f"PRAGMA foreign_keys = {'OFF' if paused else 'ON'}")


def share(connection: sqlite3.Connection) -> bool:
    """Have writers append to a log beside the file, so that readers never wait. Returns whether the file could be had
    alone for the moment that it takes.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    with suppress(sqlite3.OperationalError):
        if connection.execute("PRAGMA user_version").fetchone() != (0,):
            connection.execute("PRAGMA user_version = 0")
        if connection.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",):
            _read(connection)  # opens the log
            return True
    return False


def fold(connection: sqlite3.Connection, check: Callable[[sqlite3.Connection], object]) -> bool:
    """Fold the log into the file, unless anybody else has it open; returns whether it was folded.

    What `check` raises, while nobody else can write, is raised, and nothing is changed. Folding ends in two steps: the
    log is deleted, then the header says so. What is killed between them must not look as if the log had been lost, so
    the file is marked as whole before.
    """
    connection.execute("PRAGMA busy_timeout = 0")
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN IMMEDIATE")
        check(connection)
        connection.execute(f"PRAGMA user_version = {_WHOLE}")
        connection.execute("COMMIT")
        return bool(connection.execute("PRAGMA journal_mode = DELETE").fetchone() == ("delete",))
    except sqlite3.OperationalError:
        return False
    finally:
        with suppress(sqlite3.Error):
            connection.rollback()
            connection.execute("PRAGMA locking_mode = NORMAL")
            _read(connection)  # lets go of the lock


def _read(connection: sqlite3.Connection) -> None:
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()


def log_size(path: str) -> int | None:
    """Bytes of the log beside the file at `path`; None where there is none."""
    try:
        return os.stat(f"{path}-wal").st_size
    except OSError:
        return None


def erase(conn: Connection) -> None:
    """Overwrite what this transaction deletes, instead of only letting go of it."""
    conn.exec_driver_sql("PRAGMA secure_delete = ON")


def copy(connection: sqlite3.Connection, path: Path) -> None:
    """Write the database as it is now into a new file that only its owner can read; one file, without a log.

    Raises OSError, and leaves nothing there, where that is not possible or the copy is not whole.
    """
    private.create(path)
    try:
        with closing(sqlite3.connect(path, isolation_level=None)) as target:
            connection.backup(target)
            target.execute("PRAGMA journal_mode = DELETE")
            if found := damage(target):
                raise sqlite3.DatabaseError(found[0])
    except sqlite3.Error as error:
        for end in FILES:
            Path(f"{path}{end}").unlink(missing_ok=True)
        raise OSError(f"a copy of the study cannot be written to {path}: {error}") from error


def damage(connection: sqlite3.Connection) -> list[str]:
    """What SQLite finds wrong with the file; nothing where it is in order. It reads the whole file."""
    return [row[0] for row in connection.execute("PRAGMA quick_check(3)") if row[0] != "ok"]


def driver(conn: Connection) -> sqlite3.Connection:
    """The driver's own connection."""
    own: Any = conn.connection.driver_connection
    return own  # type: ignore[no-any-return]


def listed(values: list[int]) -> Select[tuple[Any]]:
    """A list of numbers as a subquery, whatever its length: one parameter instead of one for each."""
    return _each(json.dumps(values))


def listed_as(name: str) -> Select[tuple[Any]]:
    """The same for a statement that is made once: the list is the parameter of this name, written by `as_list`."""
    return _each(bindparam(name))


def as_list(values: Sequence[int]) -> str:
    """A list of numbers as the parameter of `listed_as`."""
    return json.dumps(list(values))


def _each(values: Any) -> Select[tuple[Any]]:
    each = func.json_each(values).table_valued("value")
    return select(each.c.value)


def protect(conn: Connection, table: str) -> None:
    """Make `table` append-only: the database itself refuses to change, delete or replace a row."""
    for trigger in protection(table).values():
        conn.exec_driver_sql(trigger)


def protection(table: str) -> dict[str, str]:
    """The triggers that make `table` append-only, by name."""
    refusal = f"BEGIN SELECT RAISE(ABORT, '{table} is append-only'); END"
    made = {act: f"BEFORE {act.upper()} ON {table} {refusal}" for act in ("update", "delete")}
    # INSERT OR REPLACE deletes the row in its way without asking the trigger on DELETE.
    made["replace"] = f"BEFORE INSERT ON {table} WHEN EXISTS (SELECT 1 FROM {table} WHERE id = NEW.id) {refusal}"
    return {f"{table}_no_{act}": f"CREATE TRIGGER {table}_no_{act} {when}" for act, when in made.items()}


def fill_grid(conn: Connection, grid: int, before: int) -> int:
    """Write every cell of a grid, in its order, with ids from `before` + 1 on; returns how many they are."""
    is_next = conn.exec_driver_sql("SELECT coalesce(max(id), 0) = ? FROM cell", (before,)).scalar_one()
    statement = FILL_GRID if is_next else FILL_NUMBERED
    given = {"grid": grid} if is_next else {"grid": grid, "before": before}
    return int(driver(conn).execute(statement, given).rowcount)


def seal_of(spans: Sequence[tuple[int, int]]) -> str:
    """The trigger that seals the grids whose cells have these ids, from the first to the last of each."""
    # After, not before: only then a row has the id that SQLite gives it.
    inside = " OR ".join(f"NEW.id BETWEEN {first} AND {last}" for first, last in spans)
    return f"CREATE TRIGGER {SEAL} AFTER INSERT ON cell WHEN {inside} BEGIN SELECT RAISE(ABORT, '{SEALED}'); END"


def seal(conn: Connection, spans: Sequence[tuple[int, int]]) -> None:
    """Refuse any further cell of these grids, and of no others: each is whole, so another could only be a copy."""
    conn.exec_driver_sql(f"DROP TRIGGER IF EXISTS {SEAL}")
    if spans:
        conn.exec_driver_sql(seal_of(spans))


def reading_engine(path: Path) -> Engine:
    """An engine that only reads the study at `path`, whatever became of it: no log is folded in, nothing is undone.

    Text that is no UTF-8 any more comes as what it is, so that it can be said where it stands.
    """

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True, timeout=PATIENCE_S)
        connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
        connection.isolation_level = None
        return connection

    return create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)


def faults(conn: Connection) -> list[str]:
    """What SQLite finds wrong with the pages of the file, and with indexes that are not those of their tables."""
    return [row[0] for row in conn.exec_driver_sql("PRAGMA integrity_check") if row[0] != "ok"]


def n_pages(conn: Connection) -> int:
    """How many pages the file has."""
    return int(conn.exec_driver_sql("PRAGMA page_count").scalar_one())


def dangling(conn: Connection, table: str) -> list[tuple[int, str]]:
    """The rows of a table that refer to nothing, each with the table in which there should be something."""
    return [(row[1], row[2]) for row in conn.exec_driver_sql(f"PRAGMA foreign_key_check({table})")]


def triggers(conn: Connection) -> dict[str, str]:
    """Every trigger by its name, as it was written."""
    return {row[0]: row[1] for row in conn.exec_driver_sql("SELECT name, sql FROM sqlite_master WHERE type='trigger'")}
