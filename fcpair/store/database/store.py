"""The study's database: opening it, and the one place that commits, rolls back and translates database errors."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from copy import copy
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any
from weakref import finalize

from sqlalchemy import Connection, Engine, event

from fcpair.errors import BusyError, FcpairError, InputError, StudyError
from fcpair.store.database import backends, schema
from fcpair.store.database.backends import Place, sqlite
from fcpair.store.database.backends.protocol import BUSY, PATIENCE_S, UNREACHABLE, driver
from fcpair.store.database.backends.sqlite_file import MissingLogError, find

Tx = Connection
SHARE_TRIES, SHARE_WAIT_S = 50, 0.2
SHARED_PATIENCE_S = 3.0  # how long one who writes waits while the study is served: people wait for their page meanwhile


def now(later_min: float = 0) -> str:
    """The time, or that of so many minutes later, as the study keeps it: UTC, ISO 8601, to the millisecond."""
    return (datetime.now(UTC) + timedelta(minutes=later_min)).isoformat(timespec="milliseconds")


def latest_plausible_time() -> str:
    """Latest time that a correct clock can have noted."""
    return now(2)  # clocks that are set right move by less


class Store:
    """One study's database. `read()` and `write()` give the transaction that the store's functions take."""

    def __init__(self, home: backends.Home, engine: Engine | None = None) -> None:
        self._home = home
        self._engine = engine or home.engine()
        self._writing = FairLock(PATIENCE_S)
        self._idle = _IdleConnections()
        self.many_write = home.backend.MANY_WRITE  # so that whoever writes holds what it decides about
        self._whole: Store | None = None
        self._grid = 1
        self._rehearses: Callable[[Tx], object] | None = None
        self._look: list[tuple[_Transaction, Tx]] = []  # the one that is under way; the stores of all grids share it
        self._whole_act: list[Tx] = []  # likewise
        self.place, self.address = home.place, home.address
        # Who forgets to close it leaves one file, too; who only looks folds no log in.
        finalize(self, _close_all, self._idle, home.close if engine is None else engine.dispose)

    def for_grid(self, grid_id: int) -> Store:
        """The same database, with transactions that are about one of its grids; without this, about the first."""
        scoped = copy(self)
        scoped._whole = self._whole or self  # which is closed when nobody has either any more
        scoped._grid = grid_id
        return scoped

    def rehearsing(self, look: Callable[[Tx], object]) -> Store:
        """The same database, in which nothing that is written stays; `look` sees it before it is undone."""
        rehearsing = self.for_grid(self._grid)
        rehearsing._rehearses = look
        return rehearsing

    def hiding(self, views: Callable[[str], Iterable[str]]) -> Store:
        """The same database, whose tables are hidden behind temporary views, made of the name of their schema."""
        engine = self._home.engine()

        @event.listens_for(engine, "connect")
        def hide(connection: Any, _record: object) -> None:
            for statement in views(connection.execute(self._home.backend.SCHEMA).fetchone()[0]):
                connection.execute(statement)
            connection.commit()

        return Store(self._home, engine).for_grid(self._grid)

    @classmethod
    def create(cls, place: Place, fill: Callable[[Tx], object], *, bulk: bool = False, create: bool = True) -> Store:
        """Make a new study for its owner alone, with its first rows by `fill`; raises StudyError. `create`: see
        `Places.make`.
        """
        home = backends.at(place).make(place, create=create)
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
    def open(cls, place: Place, *, look: bool = False) -> Store:
        """Open the study at `place`; raises StudyError when there is none, or one of another fcpair. For one `look`,
        all that is read until `end_look` is one state of the study. It ends with an error, too, and where something is
        written.
        """
        store = cls(backends.at(place).find(place))
        if look:
            view = _Transaction(store)
            store._look.append((view, view.__enter__()))
        with store.read() as tx:
            schema.check(tx, store.place)
        return store

    @classmethod
    def open_to_examine(cls, place: Place) -> Store:
        """Open what is at `place`, only to be read, whether or not its tables are as they should be."""
        home = backends.at(place).find(place)
        return cls(home, home.reading_engine())

    @classmethod
    def accept_as_is(
        cls, path: Path, finish: Callable[[Tx, dict[str, int], dict[str, tuple[int, int]]], object]
    ) -> dict[str, int] | None:
        """Take the file at `path` as it is, without its log or with rows that are missing, and make it one file.
        Returns how many rows of each table are missing, after doing `finish` in one transaction with them and with what
        schema.py has to know of each; None, and nothing is done, where the file is as it was written. One of an older
        fcpair only becomes one file. Raises StudyError for damage, or another one's log beside it.
        """
        file, without_log = find(path, whole=False), False
        try:
            file.check_whole()
        except MissingLogError:
            without_log = True
        with closing(cls(file)) as store:
            with store.read() as tx:
                file.check_sound(driver(tx))
                older = schema.older_revision(tx, store.place)
                different = [] if older else schema.torn_tables(driver(tx))
            if not (without_log or different):
                return None
            if older:
                return {}
            with store.write() as tx:
                sizes = schema.table_sizes(driver(tx))
                missing = {
                    name: lost for name, size in sizes.items() if (lost := size.noted - size.missing - size.n) > 0
                }
                finish(tx, missing, {name: (size.noted - size.n, size.top - size.n) for name, size in sizes.items()})
            return missing

    def share(self) -> None:
        """Let readers and a writer work side by side, until `close`; raises StudyError where that cannot be had."""
        for _ in range(SHARE_TRIES):
            try:
                self._idle.close()
                if self._home.share():
                    self._idle.keeps = not self._home.backend.MANY_WRITE
                    self._writing.patience_s = SHARED_PATIENCE_S
                    return
            except Exception as error:
                if (translated := self._translate_error(error)) is error:
                    raise
                raise translated from error
            time.sleep(SHARE_WAIT_S)
        raise StudyError(
            f"{self.place} cannot be shared: it is read-only, its disk is full, or another process is at work on it; "
            "try again when that one is done"
        )

    def close(self) -> None:
        """Let go of the study; see `StudyFile.close`."""
        self.end_look()
        self._idle.close()
        self._home.close()

    def remove(self) -> None:
        """Delete the file, unless it is not the one any more that was opened."""
        self._idle.close()
        self._engine.dispose()
        self._home.remove()

    def examine(self) -> None:
        """Raise StudyError where the study is damaged, or put together of parts of different times; reads all of it."""
        with self.read() as tx:
            self._home.examine(tx)

    def read(self) -> AbstractContextManager[Tx]:
        """A consistent view of the study."""
        if self._whole_act:
            return self._join()
        return self._read_on() if self._look else _Transaction(self)

    @contextmanager
    def all_or_nothing(self) -> Iterator[None]:
        """Have all that is read and written meanwhile be one transaction, which leaves nothing where it does not come
        to its end, even if the process is killed. Others who write wait for it.
        """
        with _Transaction(self, writes=True, bulk=True) as tx:
            self._whole_act.append(tx)
            try:
                yield
            finally:
                self._whole_act.clear()

    @contextmanager
    def _join(self) -> Iterator[Tx]:
        tx = self._whole_act[0]
        before = tx.get_execution_options()["grid"]
        try:
            yield tx.execution_options(grid=self._grid)
        finally:
            tx.execution_options(grid=before)

    @contextmanager
    def _read_on(self) -> Iterator[Tx]:
        _, tx = self._look[0]
        before = tx.get_execution_options()["grid"]
        try:
            yield tx.execution_options(grid=self._grid)
        except BaseException as error:
            while self._look:
                self._look.pop()[0]._roll_back(error)
            raise
        if self._look:
            tx.execution_options(grid=before)

    def end_look(self) -> None:
        """End the look for which the study was opened, if it is under way."""
        while self._look:
            self._look.pop()[0].__exit__(None, None, None)

    def write(
        self, *, bulk: bool = False, wait: bool = True, first: bool = False, alone: bool = True
    ) -> AbstractContextManager[Tx]:
        """One transaction: all of it, or nothing. `bulk` is for rows whose references hold by construction. Threads
        take turns here, in their order, and who is `first` before all that wait. Raises BusyError where another thread
        or process writes for longer than one waits; without `wait`, at once. Who does not need the study `alone` may
        write beside others who do not: they hold whatever they decide about.
        """
        if self._whole_act:
            return self._join()
        return _Transaction(self, writes=True, bulk=bulk, wait=wait, first=first, alone=alone)

    def check_writable(self) -> None:
        """Raise StudyError where nothing can be written: before long work that is to be noted at its end."""
        if self._whole_act:
            return
        with self.write() as tx:
            driver(tx).execute("UPDATE study SET title = title")
            tx.rollback()

    def _translate_error(self, error: Exception, *, write: bool = True) -> Exception:
        if isinstance(error, self._home.backend.ERRORS):
            remedy = self._home.backend.remedy(error)
            outcome = "" if not write and remedy == UNREACHABLE else "; nothing was changed"
            kind = BusyError if remedy == BUSY else StudyError
            return kind(f"{self.place}: {remedy}{outcome}") if remedy else error
        if isinstance(error, UnicodeDecodeError):  # an error of SQLite's that quotes what is no text any more
            return StudyError(f"{self.place}: {sqlite.REMEDIES['malformed']}; nothing was changed")
        if isinstance(error, UnicodeEncodeError):
            return InputError(f"{error.object!r} holds half a surrogate pair, which no text can")
        if isinstance(error, OSError) and not isinstance(error, FcpairError):
            return StudyError(f"{error.filename or self.place}: {error.strerror or error}; the study was not changed")
        return error


class FairLock:
    """A lock that threads are handed in their order; who takes it `first` waits only for whoever has it."""

    def __init__(self, patience_s: float) -> None:
        self.patience_s = patience_s  # how long one who writes waits at most
        self._lock = Lock()
        self._taken = False
        self._waiting: deque[Lock] = deque()  # each is locked until its thread's turn has come

    def acquire(self, patience_s: float, *, first: bool = False) -> bool:
        """Wait for one's turn, at most so many seconds; whether it came."""
        with self._lock:
            if not self._taken:
                self._taken = True
                return True
            if patience_s <= 0:
                return False
            turn = Lock()
            turn.acquire()
            self._waiting.insert(0 if first else len(self._waiting), turn)
        if turn.acquire(timeout=patience_s):
            return True
        with self._lock:
            if is_late := turn in self._waiting:  # else it came at the last moment
                self._waiting.remove(turn)
            return not is_late

    def release(self) -> None:
        """Hand the turn on."""
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._taken = False


class _IdleConnections:
    """Connections that are kept for the next transaction while the study is served, except those of a server, which
    could end one meanwhile: to take one from the engine's pool and to bring it back takes as long as some statements.
    """

    def __init__(self) -> None:
        self.keeps = False
        self.waiting: list[Connection] = []

    def give_back(self, conn: Connection) -> None:
        """Keep a connection that has no transaction, or close it."""
        if self.keeps and len(self.waiting) < 4:
            self.waiting.append(conn)
        else:
            conn.close()

    def close(self) -> None:
        """Close those that are kept, and keep none any more."""
        self.keeps = False
        while self.waiting:
            self.waiting.pop().close()


def _close_all(idle: _IdleConnections, close: Callable[[], object]) -> None:
    idle.close()
    close()


@dataclass(eq=False)
class _Transaction:
    """One transaction; a class, as a generator for each of its parts would cost an answer a tenth of its time."""

    store: Store
    writes: bool = False
    bulk: bool = False
    wait: bool = True
    first: bool = False
    alone: bool = True
    conn: Connection | None = None
    commits: bool = False

    def __enter__(self) -> Tx:
        store, patience_s = self.store, PATIENCE_S
        if self.writes:
            if store._look:
                store.end_look()
            until = monotonic() + (patience_s := store._writing.patience_s if self.wait else 0.0)
            if not store._writing.acquire(patience_s, first=self.first):
                raise BusyError(f"{store.place}: {BUSY}; nothing was changed")
            patience_s = max(until - monotonic(), 0.0)
        try:
            store._home.check_in_place()
            try:
                self.conn = conn = store._idle.waiting.pop()
            except IndexError:
                self.conn = conn = store._engine.connect()
            if self.bulk:
                self._pause_references(conn, paused=True)
            store._home.backend.begin(conn, write=self.writes, alone=self.alone, patience_s=patience_s)
            return conn.execution_options(grid=store._grid)
        except BaseException as error:
            self._roll_back(error)
            raise

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        conn, look = self.conn, self.store._rehearses if self.writes else None
        if error is not None or conn is None or look:
            try:
                if look and conn and not error:
                    look(conn)
            finally:
                self._roll_back(error)
            return
        try:
            is_written = self.writes and conn.in_transaction()
            if is_written and driver(conn).execute(schema.REVISION).fetchone()[0] != schema.HEAD:
                raise StudyError(
                    f"{self.store.place} was upgraded by a newer fcpair meanwhile; end what uses it, such as `fcpair "
                    "serve`, and start the newer fcpair; nothing was changed"
                )
            self.commits = self.writes
            conn.commit()
            self._release_connection(conn)
            if self.writes:
                self.store._home.check_in_place()  # what nobody can find is not acknowledged
                self.store._writing.release()
        except BaseException as failed:
            self._roll_back(failed)
            raise

    def _roll_back(self, error: BaseException | None) -> None:
        """End without a trace; raises the error anew where it can be said what to do about it."""
        try:
            if self.conn is not None:
                with suppress(*self.store._home.backend.ERRORS):  # where the connection is lost, which the error says
                    self._release_connection(self.conn)
        finally:
            if self.writes:
                self.store._writing.release()
        if isinstance(error, Exception):
            if self.commits and self.store._home.backend.remedy(error) == UNREACHABLE:
                raise StudyError(
                    f"{self.store.place}: the server ended the connection while it stored this, so it may have been "
                    "done or not; look with `fcpair log` before you do it again"
                ) from error
            if (translated := self.store._translate_error(error, write=self.writes)) is not error:
                raise translated from error

    def _release_connection(self, conn: Connection) -> None:
        self.conn = None
        try:
            conn.rollback()
            if self.bulk:
                self._pause_references(conn, paused=False)
        except BaseException:
            conn.close()
            raise
        self.store._idle.give_back(conn)

    def _pause_references(self, conn: Connection, *, paused: bool) -> None:
        self.store._home.backend.pause_references(conn, paused=paused)
        conn.commit()
