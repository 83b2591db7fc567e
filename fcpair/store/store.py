"""The study file: opening it, and the one place that commits, rolls back and translates database errors."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Lock

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from fcpair.errors import FcpairError, InputError, StudyError
from fcpair.store import dialect, schema

Tx = Connection
SHARE_TRIES, SHARE_WAIT_S = 50, 0.2


class Store:
    """One study's database. `read()` and `write()` give the transaction that the store's functions take."""

    def __init__(self, engine: Engine, place: str) -> None:
        self._engine = engine
        self._writing = Lock()
        self.place = place
        self._file = self._found()

    @classmethod
    def create(cls, path: Path, fill: Callable[[Tx], object]) -> Store:
        """Make a new study at `path`, with its first rows by `fill`.

        Raises StudyError when something is there or the place cannot be written.
        """
        if path.exists():
            raise StudyError(f"{path} exists already; choose another place or use that study")
        store = cls(dialect.engine_for(path), str(path))
        try:
            with store.write() as tx:
                schema.create(tx)
                fill(tx)
        except BaseException:
            with suppress(OSError):  # there is nothing to remove where nothing could be made
                path.unlink()
            raise
        store._file = store._found()
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
        cls._at(path)
        return cls(dialect.reading_engine(path), str(path))

    @classmethod
    def _at(cls, path: Path) -> Store:
        if not path.is_file():
            raise StudyError(
                f"there is no study at {path}; `fcpair init` makes one, `--study` or FCPAIR_STUDY names another"
            )
        if not dialect.is_database(path):
            raise StudyError(f"{path} is not a study; `fcpair init --study OTHER` makes a new one")
        return cls(dialect.engine_for(path), str(path))

    @classmethod
    def upgrade(cls, path: Path, then: Callable[[Tx], object]) -> Path | None:
        """Bring the tables of the study at `path` up to date, and do what is to be done `then`, in one transaction,
        after copying it.

        Returns the copy; None, and no copy, where there is nothing to do.
        """
        store = cls._at(path)
        with store.read() as tx:
            revision = schema.outdated(tx, store.place)
        if revision is None:
            return None
        copy = path.with_name(f"{path.stem}-{revision}{path.suffix}")
        if copy.exists():
            raise StudyError(f"{copy} exists already, where a copy of the study is to go; move it away first")
        with store.read() as tx:
            dialect.copy(tx, copy)
        try:
            with store.write(bulk=True) as tx:
                schema.upgrade(tx)
                then(tx)
        except BaseException:
            copy.unlink()
            raise
        store.close()
        return copy

    def share(self) -> None:
        """Let readers and a writer work side by side, until `close`; for as long as the study is served.

        Raises StudyError where that cannot be had: the place is read-only, or another process keeps the file.
        """
        for _ in range(SHARE_TRIES):
            with self._engine.connect() as conn:
                if dialect.share(conn, shared=True):
                    return
            time.sleep(SHARE_WAIT_S)
        raise StudyError(
            f"{self.place} cannot be shared: it is read-only, or another process is at work on it; try again when "
            "that one is done"
        )

    def close(self) -> None:
        """Let go of the file; it is one file again, unless another process has it open."""
        self._engine.dispose()  # first: a connection that lies idle has the file open too
        with self._engine.connect() as conn:
            dialect.share(conn, shared=False)
        self._engine.dispose()

    def remove(self) -> None:
        """Delete the file, unless it is not the one any more that was opened."""
        self._engine.dispose()
        if self._found() == self._file:
            for end in dialect.FILES:
                Path(f"{self.place}{end}").unlink(missing_ok=True)

    @contextmanager
    def read(self) -> Iterator[Tx]:
        """A consistent view of the study."""
        with self._transaction(write=False) as tx:
            yield tx

    @contextmanager
    def write(self, *, bulk: bool = False, wait: bool = True) -> Iterator[Tx]:
        """One transaction: all of it, or nothing. `bulk` is for rows whose references hold by construction.

        Threads take turns here: where they wait for one another in the database, some wait very long. Without `wait`,
        StudyError is raised at once while anybody else is writing.
        """
        if self._file is not None and self._found() != self._file:
            raise StudyError(
                f"{self.place} is not the file any more that was opened: it was moved, deleted or replaced; put it "
                "back and open it anew"
            )
        if not self._writing.acquire(blocking=wait):
            raise StudyError(f"{self.place}: something else is being written; nothing was changed")
        try:
            with self._transaction(write=True, bulk=bulk, wait=wait) as tx:
                yield tx
        finally:
            self._writing.release()

    def check_writable(self) -> None:
        """Raise StudyError where nothing can be written: before long work that is to be noted at its end."""
        with self.write() as tx:
            dialect.touch(tx)
            tx.rollback()

    def _found(self) -> tuple[int, int] | None:
        """Which file is at the study's place; None while there is none."""
        try:
            status = os.stat(self.place)
        except OSError:
            return None
        return status.st_dev, status.st_ino

    @contextmanager
    def _transaction(self, *, write: bool, bulk: bool = False, wait: bool = True) -> Iterator[Tx]:
        try:
            with self._engine.connect() as conn:
                if bulk:
                    dialect.pause_foreign_keys(conn, paused=True)
                    conn.commit()
                try:
                    dialect.begin(conn, write=write, wait=wait)
                    yield conn
                    conn.commit()
                finally:
                    conn.rollback()
                    if bulk:
                        dialect.pause_foreign_keys(conn, paused=False)
        except DBAPIError as error:
            raise self._translate(error) from error
        except UnicodeEncodeError as error:
            raise InputError(f"{error.object!r} holds half a surrogate pair, which no text can") from error
        except OSError as error:
            if isinstance(error, FcpairError):
                raise
            place = error.filename or self.place
            raise StudyError(f"{place}: {error.strerror or error}; the study is as it was") from error

    def _translate(self, error: DBAPIError) -> BaseException:
        said = str(error.orig).lower()
        for symptom, remedy in dialect.REMEDIES.items():
            if symptom in said:
                return StudyError(f"{self.place}: {remedy}; nothing was changed")
        return error
