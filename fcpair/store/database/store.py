"""The study's database: opening it, and the one place that commits, rolls back and translates database errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from copy import copy
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import NamedTuple
from weakref import finalize

from sqlalchemy import Connection, Engine

from fcpair.errors import BusyError, FcpairError, InputError, StudyError
from fcpair.store.database import backends, schema, table_extents
from fcpair.store.database.backends import Place, sqlite
from fcpair.store.database.backends.protocol import BUSY, PATIENCE_S, Home, driver
from fcpair.store.database.backends.sqlite_file import MissingLogError, open_unchecked
from fcpair.store.database.write_lock import FairLock

Tx = Connection
SHARE_TRIES, SHARE_WAIT_S = 50, 0.2
MOST_IDLE = 4
CLOCK_TOLERANCE_MIN = 2  # clocks that are set right move by less
SHARED_PATIENCE_S = 3.0
"""How long one who writes waits for another while the study is served: people wait for their page meanwhile."""
UPGRADED = (
    "was upgraded by a newer fcpair meanwhile; end what uses it, such as `fcpair serve`, and start the newer fcpair"
)
IN_DOUBT = (
    "the server ended the connection while it stored this, so it may have been done or not; look with `fcpair log` "
    "before you do it again"
)


def now(later_min: float = 0) -> str:
    """The time, or that of so many minutes later, as the study keeps it: UTC, ISO 8601, to the millisecond."""
    return (datetime.now(UTC) + timedelta(minutes=later_min)).isoformat(timespec="milliseconds")


def next_millisecond(time: str) -> str:
    """The time right after one that is so written."""
    return (datetime.fromisoformat(time) + timedelta(milliseconds=1)).isoformat(timespec="milliseconds")


def latest_plausible_time() -> str:
    """Latest time that a correct clock can have noted."""
    return now(CLOCK_TOLERANCE_MIN)


class Store:
    """One study's database. `read()` and `write()` give the transaction that the store's functions take."""

    def __init__(self, home: Home, engine: Engine | None = None) -> None:
        self._home = home
        self._engine = engine or home.engine()
        self._writing = FairLock(PATIENCE_S)
        self._idle = _IdleConnections()
        self.many_write = home.backend.MANY_WRITE  # so that whoever writes holds what it decides about
        self._whole: Store | None = None
        self._grid = 1
        self.place, self.address = home.place, home.address
        # Who forgets to close it leaves one file, too; who only looks folds no log in.
        finalize(self, _close_all, self._idle, home.close if engine is None else engine.dispose)

    def for_grid(self, grid_id: int) -> Store:
        """The same database, with transactions that are about one of its grids; without this, about the first."""
        scoped = copy(self)
        scoped._whole = self._whole or self  # which is closed when nobody has either any more
        scoped._grid = grid_id
        return scoped

    @classmethod
    def create(cls, place: Place, fill: Callable[[Tx], object], *, bulk: bool = False, create: bool = True) -> Store:
        """Make a new study at `place`, with its first rows by `fill`; only its owner can read it. `bulk` as in `write`,
        `create` as in `backends.make`.

        Raises StudyError when something is there or the place cannot be written.
        """
        home = backends.make(place, create=create)
        try:
            store = cls(home)
            with store.write(bulk=bulk) as tx:
                schema.create(tx)
                fill(tx)
        except BaseException:
            with suppress(OSError):
                home.abandon()
            raise
        return store

    @classmethod
    def open(cls, place: Place) -> Store:
        """Open the study at `place`; raises StudyError when there is none, or one of another fcpair."""
        store = cls(backends.find(place))
        with store.read() as tx:
            schema.check(tx, store.place)
        return store

    @classmethod
    def open_to_examine(cls, place: Place) -> Store:
        """Open what is at `place`, only to be read, whether or not its tables are as they should be.

        Raises StudyError when there is no file, or one that does not begin as a study does.
        """
        home = backends.find(place)
        return cls(home, home.reading_engine())

    @classmethod
    def accept_as_is(cls, path: Path, finish: Callable[[Tx, dict[str, int]], object]) -> dict[str, int] | None:
        """Take the file at `path` as it is, without its log or with rows that are missing, and make it one file.

        Returns how many rows of each table are known to be missing, after doing `finish` with them in one transaction;
        None, and nothing is done, where the file is as it was written. A file of an older fcpair only becomes one file.
        Raises StudyError for a file that is damaged, or that has another one's log beside it.
        """
        file = open_unchecked(path)
        without_log = False
        try:
            file.check_whole()
        except MissingLogError:
            without_log = True
        store = cls(file)
        try:
            with store.read() as tx:
                file.check_sound(driver(tx))
                older = schema.older_revision(tx, store.place)
                different = [] if older else table_extents.torn_tables(driver(tx), sqlite.ROWS)
            if not (without_log or different):
                return None
            if older:
                return {}
            with store.write() as tx:
                missing = table_extents.accept_table_sizes(driver(tx), sqlite.ROWS)
                finish(tx, missing)
            return missing
        finally:
            store.close()

    def share(self) -> None:
        """Let readers and a writer work side by side, until `close`; for as long as the study is served.

        From now on, who writes waits for another only for SHARED_PATIENCE_S.

        Raises StudyError where that cannot be had: the place is read-only, or another process keeps the file.
        """
        for _ in range(SHARE_TRIES):
            with self._translating_errors():
                self._idle.close()
                if self._home.share():
                    self._idle.keeps = not self._home.backend.HAS_SERVER
                    self._writing.patience_s = SHARED_PATIENCE_S
                    return
            time.sleep(SHARE_WAIT_S)
        raise StudyError(
            f"{self.place} cannot be shared: it is read-only, its disk is full, or another process is at work on it; "
            "try again when that one is done"
        )

    def close(self) -> None:
        """Let go of the file; it is one file again, unless another process has it open.

        What was shared and is not at its place any more is left as it is, and saved in a copy; see `StudyFile.close`.
        """
        self._idle.close()
        self._home.close()

    def remove(self) -> None:
        """Delete the file, unless it is not the one any more that was opened."""
        self._idle.close()
        self._engine.dispose()
        self._home.remove()

    def examine(self) -> None:
        """Raise StudyError where the file is damaged, or put together of a file and a log of different times.

        That reads all of it.
        """
        with self.read() as tx:
            self._home.examine(tx)

    def read(self) -> AbstractContextManager[Tx]:
        """A consistent view of the study."""
        return _Transaction(self)

    def write(
        self, *, bulk: bool = False, wait: bool = True, first: bool = False, alone: bool = True, grows: bool = True
    ) -> AbstractContextManager[Tx]:
        """One transaction: all of it, or nothing. `bulk` is for rows whose references hold by construction.

        Threads take turns here, in their order, and who is `first` before all that wait: where they wait for one
        another in the database, some wait very long. Where another thread or process writes for longer than one waits,
        BusyError is raised; without `wait`, at once.

        Who does not need the study `alone` may write beside others who do not: they hold whatever they decide about.
        Where none of the tables `grows` that table_extents.py knows, nobody waits who numbers rows of those.
        """
        return _Transaction(self, _WriteMode(bulk, wait, first, alone, grows))

    def check_writable(self) -> None:
        """Raise StudyError where nothing can be written: before long work that is to be noted at its end."""
        with self.write() as tx:
            self._home.backend.touch(tx)
            tx.rollback()

    @contextmanager
    def _translating_errors(self) -> Iterator[None]:
        """Errors as ones that say what to do."""
        try:
            yield
        except Exception as error:
            translated = self._translate_error(error)
            if translated is error:
                raise
            raise translated from error

    def _busy_error(self) -> BusyError:
        return BusyError(f"{self.place}: {BUSY}; nothing was changed")

    def _translate_error(self, error: Exception, *, write: bool = True) -> Exception:
        """An error of the place, of the machine or of what was given as one that says what to do; any other as it is.

        A reader that loses its server does not know what was written before it read.
        """
        if isinstance(error, self._home.backend.ERRORS):
            remedy = self._home.backend.remedy(error)
            if remedy == BUSY:
                return self._busy_error()
            message = remedy if not write and self._home.backend.is_gone(error) else f"{remedy}; nothing was changed"
            return StudyError(f"{self.place}: {message}") if remedy else error
        if isinstance(error, UnicodeDecodeError):  # an error of SQLite's that quotes what is no text any more
            return StudyError(f"{self.place}: {sqlite.REMEDIES['malformed']}; nothing was changed")
        if isinstance(error, UnicodeEncodeError):
            return InputError(f"{error.object!r} holds half a surrogate pair, which no text can")
        if isinstance(error, OSError) and not isinstance(error, FcpairError):
            place = error.filename or self.place
            return StudyError(f"{place}: {error.strerror or error}; the study was not changed")
        return error


class _IdleConnections:
    """Connections that wait for the next transaction while the study is served, ready to be used.

    To take one from the engine's pool and to bring it back takes as long as some statements of an answer. Where a
    server could end a connection meanwhile, none is kept: the pool asks whether it still holds.
    """

    def __init__(self) -> None:
        self.keeps = False
        self._waiting: list[Connection] = []

    def take(self, engine: Engine) -> Connection:
        """A connection."""
        try:
            return self._waiting.pop()
        except IndexError:
            return engine.connect()

    def give_back(self, conn: Connection) -> None:
        """Keep a connection that has no transaction, or close it."""
        if self.keeps and len(self._waiting) < MOST_IDLE:
            self._waiting.append(conn)
        else:
            conn.close()

    def close(self) -> None:
        """Close those that are kept, and keep none any more."""
        self.keeps = False
        while self._waiting:
            self._waiting.pop().close()


def _close_all(idle: _IdleConnections, close: Callable[[], object]) -> None:
    idle.close()
    close()


class _Transaction:
    """One transaction; a class, as a generator for each of its parts would cost an answer a tenth of its time."""

    def __init__(self, store: Store, writes: _WriteMode | None = None) -> None:
        self._store, self._home, self._writes = store, store._home, writes
        self._conn: Connection | None = None
        self._commits = False

    def __enter__(self) -> Tx:
        store, writes, patience_s = self._store, self._writes, PATIENCE_S
        if writes:
            patience_s = store._writing.patience_s if writes.wait else 0.0
            until = monotonic() + patience_s
            if not store._writing.acquire(patience_s, first=writes.first):
                raise store._busy_error()
            patience_s = max(until - monotonic(), 0.0)
        try:
            self._home.check_in_place()
            self._conn = conn = store._idle.take(store._engine)
            if writes and writes.bulk:
                self._pause_references(conn, paused=True)
            alone = writes is None or writes.alone
            self._home.backend.begin(conn, write=writes is not None, alone=alone, patience_s=patience_s)
            return conn.execution_options(grid=store._grid)
        except BaseException as error:
            self._roll_back(error)
            raise

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        conn = self._conn
        if error is not None or conn is None:
            self._roll_back(error)
            return
        try:
            if self._writes:
                if not table_extents.record_table_sizes(
                    conn, self._home.backend, schema.HEAD, grows=self._writes.grows
                ):
                    raise StudyError(f"{self._store.place} {UPGRADED}; nothing was changed")
                self._commits = True
                conn.commit()
                self._release_connection(conn)
                self._home.check_in_place()  # what nobody can find is not acknowledged
                self._store._writing.release()
            else:
                conn.commit()
                self._release_connection(conn)
        except BaseException as failed:
            self._roll_back(failed)
            raise

    def _roll_back(self, error: BaseException | None) -> None:
        """End without a trace; raises the error anew where it can be said what to do about it."""
        try:
            if self._conn is not None:
                with suppress(*self._home.backend.ERRORS):  # where the connection is lost, which the error says
                    self._release_connection(self._conn)
        finally:
            if self._writes:
                self._store._writing.release()
        if isinstance(error, Exception):
            if self._commits and isinstance(error, self._home.backend.ERRORS) and self._home.backend.is_gone(error):
                raise StudyError(f"{self._store.place}: {IN_DOUBT}") from error
            translated = self._store._translate_error(error, write=self._writes is not None)
            if translated is not error:
                raise translated from error

    def _release_connection(self, conn: Connection) -> None:
        self._conn = None
        try:
            conn.rollback()
            if self._writes and self._writes.bulk:
                self._pause_references(conn, paused=False)
        except BaseException:
            conn.close()
            raise
        self._store._idle.give_back(conn)

    def _pause_references(self, conn: Connection, *, paused: bool) -> None:
        self._home.backend.pause_references(conn, paused=paused)
        conn.commit()


class _WriteMode(NamedTuple):
    """Mode in which a transaction writes; see `Store.write`."""

    bulk: bool
    wait: bool
    first: bool
    alone: bool
    grows: bool
