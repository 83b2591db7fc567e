"""The study's database: opening it, and the one place that commits, rolls back and translates database errors."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from copy import copy
from pathlib import Path
from time import monotonic
from weakref import finalize

from sqlalchemy import Connection, Engine

from fcpair.errors import BusyError, FcpairError, InputError, StudyError
from fcpair.store import backends, extent, schema
from fcpair.store.backends import Place, sqlite
from fcpair.store.backends.file import MissingLogError, at
from fcpair.store.backends.protocol import BUSY, PATIENCE_S, Home, driver
from fcpair.store.turns import Turns

Tx = Connection
SHARE_TRIES, SHARE_WAIT_S = 50, 0.2
SHARED_PATIENCE_S = 3.0
"""How long one who writes waits for another while the study is served: people wait for their page meanwhile."""
UPGRADED = "was upgraded by a newer fcpair meanwhile; end what uses it, such as `fcpair serve`, and start that fcpair"
IN_DOUBT = (
    "the server ended the connection while it stored this, so it may have been done or not; look with `fcpair log` "
    "before you do it again"
)


class Store:
    """One study's database. `read()` and `write()` give the transaction that the store's functions take."""

    def __init__(self, home: Home, engine: Engine | None = None) -> None:
        self._home = home
        self._engine = engine or home.engine()
        self._writing = Turns(PATIENCE_S)
        self._whole: Store | None = None
        self._grid = 1
        self.place, self.address = home.place, home.address
        # Who forgets to close it leaves one file, too; who only looks folds no log in.
        finalize(self, home.close if engine is None else engine.dispose)

    def on(self, grid_id: int) -> Store:
        """The same database, with transactions that are about one of its grids; without this, about the first."""
        one = copy(self)
        one._whole = self._whole or self  # which is closed when nobody has either any more
        one._grid = grid_id
        return one

    @classmethod
    def create(cls, place: Place, fill: Callable[[Tx], object], *, bulk: bool = False) -> Store:
        """Make a new study at `place`, with its first rows by `fill`; only its owner can read it. `bulk` as in `write`.

        Raises StudyError when something is there or the place cannot be written.
        """
        home = backends.make(place)
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
    def to_examine(cls, place: Place) -> Store:
        """What is at `place`, only to be read, and whether or not its tables are as they should be.

        Raises StudyError when there is no file, or one that does not begin as a study does.
        """
        home = backends.find(place)
        return cls(home, home.reading_engine())

    @classmethod
    def accept(cls, path: Path, then: Callable[[Tx, dict[str, int]], object]) -> dict[str, int] | None:
        """Take the file at `path` as it is, without its log or with rows that are missing, and make it one file.

        Returns how many rows of each table are known to be missing, after doing `then` with them in one transaction;
        None, and nothing is done, where the file is as it was written. A file of an older fcpair only becomes one file.
        Raises StudyError for a file that is damaged, or that has another one's log beside it.
        """
        file = at(path)
        without_log = False
        try:
            file.check_whole()
        except MissingLogError:
            without_log = True
        store = cls(file)
        try:
            with store.read() as tx:
                file.check_sound(driver(tx))
                older = schema.outdated(tx, store.place)
                different = [] if older else extent.differences(driver(tx), sqlite.ROWS)
            if not (without_log or different):
                return None
            if older:
                return {}
            with store.write() as tx:
                missing = extent.accept(driver(tx), sqlite.ROWS)
                then(tx, missing)
            return missing
        finally:
            store.close()

    def share(self) -> None:
        """Let readers and a writer work side by side, until `close`; for as long as the study is served.

        From now on, who writes waits for another only for SHARED_PATIENCE_S.

        Raises StudyError where that cannot be had: the place is read-only, or another process keeps the file.
        """
        for _ in range(SHARE_TRIES):
            with self._translated():
                if self._home.share():
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
        self._home.close()

    def remove(self) -> None:
        """Delete the file, unless it is not the one any more that was opened."""
        self._engine.dispose()
        self._home.remove()

    def examine(self) -> None:
        """Raise StudyError where the file is damaged, or put together of a file and a log of different times.

        That reads all of it.
        """
        with self.read() as tx:
            self._home.examine(tx)

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A consistent view of the study."""
        with self._transaction(write=False) as tx:
            yield tx

    @contextmanager
    def write(
        self, *, bulk: bool = False, wait: bool = True, first: bool = False, alone: bool = True, grows: bool = True
    ) -> Iterator[Tx]:
        """One transaction: all of it, or nothing. `bulk` is for rows whose references hold by construction.

        Threads take turns here, in their order, and who is `first` before all that wait: where they wait for one
        another in the database, some wait very long. Where another thread or process writes for longer than one waits,
        BusyError is raised; without `wait`, at once.

        Who does not need the study `alone` may write beside others who do not: they hold whatever they decide about.
        Where none of the tables `grows` that extent.py knows, nobody waits who numbers rows of those.
        """
        until = monotonic() + (self._writing.patience_s if wait else 0)
        if not self._writing.take(max(until - monotonic(), 0), first=first):
            raise self._busy()
        try:
            with self._transaction(write=True, bulk=bulk, alone=alone, patience_s=max(until - monotonic(), 0)) as tx:
                yield tx
                if not extent.note(tx, schema.HEAD, grows=grows):
                    raise StudyError(f"{self.place} {UPGRADED}; nothing was changed")
            self._home.check_here()  # what nobody can find is not acknowledged
        finally:
            self._writing.end()

    def check_writable(self) -> None:
        """Raise StudyError where nothing can be written: before long work that is to be noted at its end."""
        with self.write() as tx:
            self._home.backend.touch(tx)
            tx.rollback()

    @contextmanager
    def _transaction(
        self, *, write: bool, bulk: bool = False, alone: bool = True, patience_s: float = PATIENCE_S
    ) -> Iterator[Tx]:
        backend = self._home.backend
        with self._translated(write=write):
            self._home.check_here()
            with self._engine.connect() as conn:
                if bulk:
                    backend.pause_references(conn, paused=True)
                    conn.commit()
                try:
                    backend.begin(conn, write=write, alone=alone, patience_s=patience_s)
                    yield conn.execution_options(grid=self._grid)
                    self._commit(conn, write=write)
                finally:
                    conn.rollback()
                    if bulk:
                        backend.pause_references(conn, paused=False)

    def _commit(self, conn: Connection, *, write: bool) -> None:
        try:
            conn.commit()
        except self._home.backend.ERRORS as error:
            if write and self._home.backend.is_gone(error):
                raise StudyError(f"{self.place}: {IN_DOUBT}") from error
            raise

    @contextmanager
    def _translated(self, *, write: bool = True) -> Iterator[None]:
        """Errors of the place, of the machine and of what was given as errors that say what to do."""
        try:
            yield
        except self._home.backend.ERRORS as error:
            raise self._translate(error, write=write) from error
        except UnicodeDecodeError as error:  # an error of SQLite's that quotes what is no text any more
            raise StudyError(f"{self.place}: {sqlite.REMEDIES['malformed']}; nothing was changed") from error
        except UnicodeEncodeError as error:
            raise InputError(f"{error.object!r} holds half a surrogate pair, which no text can") from error
        except OSError as error:
            if isinstance(error, FcpairError):
                raise
            place = error.filename or self.place
            raise StudyError(f"{place}: {error.strerror or error}; the study is as it was") from error

    def _busy(self) -> BusyError:
        return BusyError(f"{self.place}: {BUSY}; nothing was changed")

    def _translate(self, error: Exception, *, write: bool) -> Exception:
        """What to do about an error; a reader that loses its server does not know what was written before it read."""
        remedy = self._home.backend.remedy(error)
        if remedy == BUSY:
            return self._busy()
        said = remedy if not write and self._home.backend.is_gone(error) else f"{remedy}; nothing was changed"
        return StudyError(f"{self.place}: {said}") if remedy else error
