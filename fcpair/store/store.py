"""The study file: opening it, and the one place that commits, rolls back and translates database errors."""

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
from fcpair.store import dialect, extent, private, schema
from fcpair.store.file import MissingLogError, StudyFile
from fcpair.store.turns import Turns

Tx = Connection
SHARE_TRIES, SHARE_WAIT_S = 50, 0.2
SHARED_PATIENCE_S = 3.0
"""How long one who writes waits for another while the study is served: people wait for their page meanwhile."""


class Store:
    """One study's database. `read()` and `write()` give the transaction that the store's functions take."""

    def __init__(self, file: StudyFile, engine: Engine | None = None) -> None:
        self._file = file
        self._engine = engine or file.engine()
        self._writing = Turns(dialect.PATIENCE_S)
        self._whole: Store | None = None
        self._grid = 1
        self.place = file.place
        if engine is None:
            finalize(self, file.close)  # who forgets to close it leaves one file, too

    def on(self, grid_id: int) -> Store:
        """The same database, with transactions that are about one of its grids; without this, about the first."""
        one = copy(self)
        one._whole = self._whole or self  # which is closed when nobody has either any more
        one._grid = grid_id
        return one

    @classmethod
    def create(cls, path: Path, fill: Callable[[Tx], object]) -> Store:
        """Make a new study at `path`, with its first rows by `fill`; only its owner can read it.

        Raises StudyError when something is there or the place cannot be written.
        """
        _make_file(path)
        try:
            store = cls(StudyFile(path))
            with store.write() as tx:
                schema.create(tx)
                fill(tx)
        except BaseException:
            with suppress(OSError):
                path.unlink()
            raise
        return store

    @classmethod
    def open(cls, path: Path) -> Store:
        """Open the study at `path`; raises StudyError when there is none, or one of another fcpair."""
        store = cls._at(path)
        with store.read() as tx:
            schema.check(tx, store.place)
        return store

    @classmethod
    def to_examine(cls, path: Path) -> Store:
        """What is at `path`, only to be read, and whether or not its tables are as they should be.

        Raises StudyError when there is no file, or one that does not begin as a study does.
        """
        file = StudyFile(_there(path))
        file.check_whole()
        return cls(file, dialect.reading_engine(path.resolve()))

    @classmethod
    def _at(cls, path: Path) -> Store:
        file = StudyFile(_there(path))
        file.check_whole()
        return cls(file)

    @classmethod
    def upgrade(cls, path: Path, then: Callable[[Tx], object]) -> Path | None:
        """Bring the tables of the study at `path` up to date, and do what is to be done `then`, in one transaction,
        after copying it.

        Returns the copy; None, and no copy, where there is nothing to do.
        """
        store = cls._at(path)
        try:
            with store.read() as tx:
                revision = schema.outdated(tx, store.place)
            return None if revision is None else store._upgrade(path, revision, then)
        finally:
            store.close()

    def _upgrade(self, path: Path, revision: str, then: Callable[[Tx], object]) -> Path:
        copy = path.with_name(f"{path.stem}-{revision}{path.suffix}")
        if copy.exists():
            raise StudyError(f"{copy} exists already, where a copy of the study is to go; move it away first")
        with self.read() as tx:
            dialect.copy(dialect.driver(tx), copy)
        try:
            with self.write(bulk=True) as tx:
                schema.upgrade(tx)
                then(tx)
        except BaseException:
            copy.unlink()
            raise
        return copy

    @classmethod
    def accept(cls, path: Path, then: Callable[[Tx, dict[str, int]], object]) -> dict[str, int] | None:
        """Take the file at `path` as it is, without its log or with rows that are missing, and make it one file.

        Returns how many rows of each table are known to be missing, after doing `then` with them in one transaction;
        None, and nothing is done, where the file is as it was written. A file of an older fcpair only becomes one file.
        Raises StudyError for a file that is damaged, or that has another one's log beside it.
        """
        file = StudyFile(_there(path))
        without_log = False
        try:
            file.check_whole()
        except MissingLogError:
            without_log = True
        store = cls(file)
        try:
            with store.read() as tx:
                file.check_sound(dialect.driver(tx))
                older = schema.outdated(tx, store.place)
                different = [] if older else extent.differences(dialect.driver(tx))
            if not (without_log or different):
                return None
            if older:
                return {}
            with store.write() as tx:
                missing = extent.accept(dialect.driver(tx))
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
                if self._file.share():
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
        self._file.close()

    def remove(self) -> None:
        """Delete the file, unless it is not the one any more that was opened."""
        self._engine.dispose()
        self._file.remove()

    def examine(self) -> None:
        """Raise StudyError where the file is damaged, or put together of a file and a log of different times.

        That reads all of it.
        """
        with self.read() as tx:
            self._file.examine(dialect.driver(tx))

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A consistent view of the study."""
        with self._transaction(write=False) as tx:
            yield tx

    @contextmanager
    def write(self, *, bulk: bool = False, wait: bool = True, first: bool = False) -> Iterator[Tx]:
        """One transaction: all of it, or nothing. `bulk` is for rows whose references hold by construction.

        Threads take turns here, in their order, and who is `first` before all that wait: where they wait for one
        another in the database, some wait very long. Where another thread or process writes for longer than one waits,
        BusyError is raised; without `wait`, at once.
        """
        until = monotonic() + (self._writing.patience_s if wait else 0)
        if not self._writing.take(max(until - monotonic(), 0), first=first):
            raise self._busy()
        try:
            with self._transaction(write=True, bulk=bulk, patience_s=max(until - monotonic(), 0)) as tx:
                yield tx
                extent.note(tx)
            self._file.check_here()  # what nobody can find is not acknowledged
        finally:
            self._writing.end()

    def check_writable(self) -> None:
        """Raise StudyError where nothing can be written: before long work that is to be noted at its end."""
        with self.write() as tx:
            dialect.touch(tx)
            tx.rollback()

    @contextmanager
    def _transaction(self, *, write: bool, bulk: bool = False, patience_s: float = dialect.PATIENCE_S) -> Iterator[Tx]:
        with self._translated():
            self._file.check_here()
            with self._engine.connect() as conn:
                if bulk:
                    dialect.pause_foreign_keys(conn, paused=True)
                    conn.commit()
                try:
                    dialect.begin(conn, write=write, patience_s=patience_s)
                    yield conn.execution_options(grid=self._grid)
                    conn.commit()
                finally:
                    conn.rollback()
                    if bulk:
                        dialect.pause_foreign_keys(conn, paused=False)

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Errors of the place, of the machine and of what was given as errors that say what to do."""
        try:
            yield
        except dialect.ERRORS as error:
            raise self._translate(error) from error
        except UnicodeDecodeError as error:  # an error of SQLite's that quotes what is no text any more
            raise StudyError(f"{self.place}: {dialect.REMEDIES['malformed']}; nothing was changed") from error
        except UnicodeEncodeError as error:
            raise InputError(f"{error.object!r} holds half a surrogate pair, which no text can") from error
        except OSError as error:
            if isinstance(error, FcpairError):
                raise
            place = error.filename or self.place
            raise StudyError(f"{place}: {error.strerror or error}; the study is as it was") from error

    def _busy(self) -> BusyError:
        return BusyError(f"{self.place}: {dialect.REMEDIES[dialect.LOCKED]}; nothing was changed")

    def _translate(self, error: Exception) -> Exception:
        said = str(getattr(error, "orig", error)).lower()
        if dialect.LOCKED in said:
            return self._busy()
        for symptom, remedy in dialect.REMEDIES.items():
            if symptom in said:
                return StudyError(f"{self.place}: {remedy}; nothing was changed")
        return error


def _make_file(path: Path) -> None:
    """An empty file, which SQLite takes for an empty database; not where the log of another one lies."""
    for end in dialect.FILES:
        if Path(f"{path}{end}").exists():
            what = "exists already; choose another place or use that study"
            log = f"is the log of a study that was at {path}; put that back, or choose another place"
            raise StudyError(f"{path}{end} {log if end else what}")
    try:
        private.create(path)
    except OSError as error:
        raise StudyError(f"{path}: {dialect.CANNOT_OPEN}; nothing was changed") from error


def _there(path: Path) -> Path:
    """The path of a study; raises StudyError where there is no file."""
    if not path.is_file():
        raise StudyError(
            f"there is no study at {path}; `fcpair init` makes one, `--study` or FCPAIR_STUDY names another"
        )
    return path
