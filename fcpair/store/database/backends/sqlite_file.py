"""The file that a store has opened: that it is that one, with its own log, and that nothing is lost as it is closed.

While a study is served, its newest answers are in a log beside the file. SQLite finds both by name alone. It therefore
lays a log over whatever file has the name, and deletes the log beside a file that is empty, without a word.
"""

from __future__ import annotations

import logging
import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from shlex import quote
from threading import Lock, Thread
from typing import Any, ClassVar
from weakref import WeakValueDictionary, finalize

from sqlalchemy import Connection, Engine, NullPool, QueuePool, create_engine, event

from fcpair.errors import StudyError
from fcpair.store.database import backup_format, schema
from fcpair.store.database.backends import sqlite
from fcpair.store.database.backends.protocol import PATIENCE_S, Backend, driver
from fcpair.unfinished import new_path

KIND, MEMBER = "sqlite", "study.sqlite"
TEMPORARY_PREFIX, PART = "fcpair-backup-", ".part"
Identity = tuple[int, int]
LOG = "-wal"
SETTLE_TRIES, SETTLE_WAIT_S = 10, 0.02  # another process takes a moment to begin or to end sharing
MOVED = "is no longer the file that was opened: it was moved, deleted or replaced"
LOG_MOVED = "has lost its log: the file beside it that ends in -wal was moved, deleted or replaced"
WRITTEN_OVER = "was written over by another program"
START_ANEW = "end the server, and move away the files that end in -wal and -shm"
_log = logging.getLogger(__name__)


class MissingLogError(StudyError):
    """A file that was being served is without its log; what is in it may still be all that there is."""


def make(place: str | Path, *, create: bool = True) -> StudyFile:
    """An empty file, which SQLite takes for an empty database; not where the log of another one lies."""
    path = Path(place)
    if is_left_empty(path):  # it is deleted, unless its maker is at work on it
        with suppress(sqlite3.Error, OSError), closing(sqlite.connect(os.path.realpath(path))) as connection:
            connection.execute("PRAGMA busy_timeout = 0")
            connection.execute("BEGIN EXCLUSIVE")
            if path.stat().st_size == 0:
                path.unlink()
    if end := next((end for end in sqlite.FILES if Path(f"{path}{end}").exists()), None):
        raise StudyError(
            f"{path}{end} is the log of a study that was at {path}; put that back, or choose another place"
        )
    if end is not None:
        raise StudyError(f"{path} exists already; choose another place or use that study")
    try:
        sqlite.create_private(path)
    except OSError as error:
        raise StudyError(f"{path}: {sqlite.CANNOT_OPEN}; nothing was changed") from error
    return StudyFile(path)


def is_left_empty(path: Path) -> bool:
    """Return whether nothing was ever written to a file: its maker was killed before it was done."""
    real = os.path.realpath(path)  # where a link leads, and the log lies
    if not path.is_file() or Path(f"{real}{LOG}").exists():
        return False
    if not path.stat().st_size or Path(f"{real}-journal").exists():
        with suppress(sqlite3.Error, OSError), closing(sqlite.connect(real)) as connection:
            connection.execute("SELECT count(*) FROM sqlite_master").fetchone()  # undoes what was begun
            return path.stat().st_size == 0
    return False


def is_there(place: str | Path) -> bool:
    """Return whether there is a file that is not left empty."""
    return Path(place).exists() and not is_left_empty(Path(place))


def find(place: str | Path, *, whole: bool = True) -> StudyFile:
    """The study in a file, be it `whole` or not; raises StudyError if there is none."""
    if not (path := Path(place)).is_file():
        makes_one = "`fcpair init` or `Study.create` makes one, `--study` or FCPAIR_STUDY names another"
        raise StudyError(f"there is no study at {path}; {makes_one}")
    study_file = StudyFile(path)
    if whole:
        study_file.check_whole()
    return study_file


def restore_facts(_conn: Connection) -> dict[str, str]:
    """Give none: SQLite's own copy is all."""
    return {}


def save(conn: Connection, _address: str, to: Any, folder: Path) -> None:
    """Write SQLite's own copy of the study, which is a study by itself; it is in the folder meanwhile, too."""
    with new_path(folder, TEMPORARY_PREFIX) as temporary:
        sqlite.copy(driver(conn), temporary / MEMBER)
        with (temporary / MEMBER).open("rb") as content:
            shutil.copyfileobj(content, to)


def restore(place: str | Path, content: Any, _further: Mapping[str, str], *, create: bool) -> None:
    """Write a study where none is; it has its name only when all of it is on the disk. A file is made in any case."""
    home, folder = make(place, create=create), Path(place).absolute().parent
    try:
        with closing(home.connect()) as connection, new_path(folder, TEMPORARY_PREFIX) as temporary:
            connection.execute("BEGIN IMMEDIATE")  # lest it be taken for one that was left empty
            unpack(content, temporary / MEMBER)
            os.replace(temporary / MEMBER, place)
            backup_format.sync_folder(folder)
    except BaseException:
        home.remove()
        raise


def unpack(content: Any, path: Path) -> None:
    """Write the study into a new file that only its owner can read, and see that it is on the disk."""
    sqlite.create_private(path)
    with path.open("r+b") as target:
        shutil.copyfileobj(content, target)
        target.flush()
        os.fsync(target.fileno())


def save_rescued(connection: sqlite3.Connection, place: str) -> Path:
    """Write a whole copy of what a connection sees, under a new name, which is returned: beside the study, or else in
    the working folder, the home folder or the temporary one. Raises OSError when it can go nowhere.
    """
    last_error = OSError(f"there is no folder to save {place} in")
    stem, suffix = f"{Path(place).stem}-rescued-{datetime.now(UTC):%Y%m%dT%H%M%S}", Path(place).suffix
    for folder in dict.fromkeys((Path(place).parent, Path.cwd(), Path.home(), Path(tempfile.gettempdir()))):
        paths = (folder / f"{stem}{f'-{n}' * (n > 1)}{suffix}" for n in count(1))
        path = next(path for path in paths if not (path.exists() or Path(f"{path}{PART}").exists()))
        try:
            sqlite.copy(connection, Path(f"{path}{PART}"))
            return Path(f"{path}{PART}").rename(path)
        except OSError as error:
            last_error = error
    raise last_error


class _OpenFile:
    """A file that is kept open, so that its number is not given to another one while it is asked for.

    One for all stores of this process: closing any descriptor of a file gives up the locks that SQLite has on it.
    """

    _all: ClassVar[WeakValueDictionary[Identity, _OpenFile]] = WeakValueDictionary()
    _adding: ClassVar = Lock()

    def __init__(self, fd: int, identity: Identity) -> None:
        self.fd, self.identity = fd, identity
        finalize(self, os.close, fd)

    @classmethod
    def for_path(cls, path: str) -> _OpenFile:
        """The file at `path`; raises OSError if there is none that can be read."""
        with cls._adding:
            current = identity(path)
            if current and (cached := cls._all.get(current)):
                return cached
            fd = os.open(path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
            status = os.fstat(fd)
            if opened := cls._all.get(key := (status.st_dev, status.st_ino)):  # put there just now
                finalize(opened, os.close, fd)
            else:
                opened = cls._all[key] = cls(fd, key)
            return opened

    def start(self) -> bytes:
        """The first bytes of the file, as they are now."""
        return os.pread(self.fd, sqlite.HEADER_BYTES, 0)


def identity(path: str) -> Identity | None:
    """Identity of the file at `path`; None while there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class StudyFile:
    """One study's file: connections to it and to no other, and the log beside it while it is shared."""

    def __init__(self, path: Path) -> None:
        """Hold the file at `path`; raises StudyError when there is none, or one that cannot be read."""
        self.place, self.address = str(path), os.path.abspath(path)
        self.backend: Backend = sqlite.SQLITE
        self._real = os.path.realpath(path)  # SQLite keeps the log beside the file that a link leads to
        try:
            self._open_file = _OpenFile.for_path(self._real)
        except OSError as error:
            raise StudyError(f"{self.place} cannot be read: {error.strerror}") from error
        self._keeper: sqlite3.Connection | None = None  # open as long as the file is shared
        self._shared_log: Identity | None = None
        self._start = b""  # of the file, while it is shared
        self._engines: list[Engine] = []
        self._process = os.getpid()
        self._rescuing = Lock()
        self._absent = self._saved = False  # since it was missed; all that was acknowledged is saved once

    def check_whole(self) -> None:
        """Raise StudyError, before SQLite opens the file, if its log is missing, or that of another file lies beside
        it.
        """
        for _ in range(SETTLE_TRIES):
            header = sqlite.Header.from_bytes(start := self._open_file.start())
            is_missing = header.is_shared and not header.is_whole and not sqlite.has_log(self._real)
            if not is_missing:
                break
            time.sleep(SETTLE_WAIT_S)
        if not header.is_database:
            what = "not a study; `fcpair init --study OTHER` makes a new one"
            if backup_format.is_backup_start(start):
                command = f"`fcpair restore {quote(self.place)} --study OTHER`"
                what = f"a backup of a study; {command} brings the study back"
            raise StudyError(f"{self.place} is {what}")
        place = self._real if os.path.islink(self.place) else self.place
        log, log_bytes = f"{place}{LOG}", 0
        with suppress(OSError):
            log_bytes = os.stat(f"{self._real}{LOG}").st_size
        if log_bytes and not header.is_shared:
            raise StudyError(
                f"{place} has a log beside it that belongs to another file, {log}: is it a copy that was put in the "
                f"place of a study that was being served? If {place} is what you want, move {log} and the file that "
                "ends in -shm away; if not, put back the file to which the log belongs. Nothing was changed"
            )
        if is_missing:
            raise MissingLogError(
                f"{place} was being served and lacks its log, {log}: its newest answers may be missing. Put the log "
                "beside it, or copy both again. If this is a complete copy that SQLite's `.backup` made, if another "
                "program has folded the log in, or if the log is lost, `fcpair doctor --as-it-is` accepts the file as "
                "it is. Nothing was changed"
            )

    def check_in_place(self) -> None:
        """Raise StudyError unless the file at its place, and its log, is the one that was opened; rescue it if not."""
        if reason := self._identity_error():
            if not self._absent:
                self._absent = True
                Thread(target=self.rescue, daemon=True).start()
            remedy = START_ANEW if reason == WRITTEN_OVER else "put the original back to continue"
            raise StudyError(f"{self.place} {reason}; {remedy}")
        if self._absent:
            with self._rescuing:
                self._absent = self._saved = False
            _log.warning("%s is back, and is in use again", self.place)

    def _identity_error(self) -> str | None:
        if identity(self._real) != self._open_file.identity:
            return MOVED
        if self._keeper is None:
            return None
        start = self._open_file.start()
        if start != self._start:  # looked at before and after each answer, and seldom changed
            before, now = sqlite.Header.from_bytes(self._start), sqlite.Header.from_bytes(start)
            if not now.is_shared or now.counter < before.counter:
                return WRITTEN_OVER
            self._start = start
        return None if identity(self._real + LOG) == self._shared_log else LOG_MOVED

    def check_sound(self, connection: sqlite3.Connection) -> None:
        """Raise StudyError where SQLite finds damage."""
        if faults := sqlite.damage(connection):
            until = "Restore it from a copy; keep this file, with what lies beside it, until then"
            raise StudyError(f"{self.place} is damaged: {'; '.join(faults)}. {until}")

    def examine(self, conn: Connection | sqlite3.Connection) -> None:
        """Raise StudyError where the file is damaged, or put together of a file and a log of different times."""
        connection = driver(conn) if isinstance(conn, Connection) else conn
        self.check_sound(connection)
        # What a file of an older schema should have is looked at once it is upgraded.
        current = connection.execute("SELECT 1 FROM alembic_version WHERE version_num = ?", (schema.HEAD,)).fetchone()
        if differences := schema.torn_tables(connection) if current else []:
            raise StudyError(
                f"{self.place} is inconsistent: {'; '.join(differences)}. Part of it is from another time, as when a "
                "copy is combined with the log of another moment. Put back a file with its own log, or a complete "
                "copy; if there is none, `fcpair doctor --as-it-is` accepts the file as it is"
            )

    def engine(self) -> Engine:
        """An engine on the file; `close` disposes of it. SQLAlchemy, not the driver, begins transactions."""
        # What is written may be a text, a note or a token's hash, and no error message is the place for it.
        # There is no limit to the connections, so that nobody waits for one: who answers would wait for those who look.
        pool: dict[str, Any] = {"poolclass": QueuePool, "max_overflow": -1, "pool_use_lifo": True}
        engine = create_engine("sqlite://", creator=self.connect, hide_parameters=True, **pool)
        event.listen(engine, "close", lambda connection, _record: connection.interrupt())
        self._engines.append(engine)
        return engine

    def reading_engine(self) -> Engine:
        """An engine that only reads the file, whatever became of it; text that is no UTF-8 any more comes as it is."""

        def connect() -> sqlite3.Connection:
            uri = f"{Path(self._real).absolute().as_uri()}?mode=ro"
            connection = sqlite3.connect(uri, uri=True, timeout=PATIENCE_S, isolation_level=None)
            connection.text_factory = lambda raw: raw.decode("utf-8", "surrogateescape")
            return connection

        return create_engine("sqlite://", creator=connect, poolclass=NullPool, hide_parameters=True)

    def connect(self) -> sqlite3.Connection:
        """A connection to the file; raises StudyError unless it is at its place. It never makes one."""
        self.check_in_place()
        connection = sqlite.connect(self._real)
        try:
            self.check_in_place()  # again: it is this one that was opened
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA synchronous = FULL")
            return connection
        except BaseException:
            sqlite.drop(connection)
            raise

    def _is_shared(self) -> bool:
        return sqlite.Header.from_bytes(self._open_file.start()).is_shared

    def check_alone(self) -> None:
        """Raise StudyError while another process serves the file; only then its log is still there."""
        if self._is_shared():
            raise StudyError(
                f"{self.place} is being served: end `fcpair serve`, and whatever else uses it, then try again. Nothing "
                "was changed"
            )

    def share(self) -> bool:
        """Begin the log, if the file can be had alone for a moment; returns whether it could. Raises StudyError where a
        log that was left there, which is folded in first, and the file do not go together.
        """
        for engine in self._engines:
            engine.dispose()
        if self._is_shared():
            self._close_connection(self.connect())
        if not sqlite.enable_wal(keeper := self.connect()):
            sqlite.drop(keeper)
            return False
        self._shared_log = identity(self._real + LOG)
        self._start = self._open_file.start()
        self._keeper, before = keeper, self._keeper
        if before is not None:
            sqlite.drop(before)
        return True

    def close(self) -> None:
        """Close all connections, and fold the log into the file, where nobody else has it open. A file that is not at
        its place, and a log that does not go with the file, are left as they are; all that was acknowledged is saved.
        """
        if os.getpid() != self._process:  # a fork has no business with its parent's files
            return
        leftover = None
        if self._keeper is None and self._is_shared() and self._identity_error() != MOVED:
            with suppress(sqlite3.Error, StudyError):
                leftover = self.connect()
        for engine in self._engines:
            engine.dispose()
        if self._keeper is not None:
            if not self._may_checkpoint():
                self.rescue()
            self._close_connection(self._keeper, began_here=True)
            self._keeper = None
        elif leftover is not None:
            with suppress(StudyError):
                self._close_connection(leftover)

    def _close_connection(self, connection: sqlite3.Connection, *, began_here: bool = False) -> None:
        """Close a connection, after folding the log if it may be; one that this process did not begin is examined."""
        try:
            if self._may_checkpoint():
                sqlite.checkpoint(connection, None if began_here else self.examine)
        finally:
            sqlite.drop(connection)

    def remove(self) -> None:
        """Delete the file with what lies beside it, unless it is not the one any more that was opened."""
        if self._identity_error() != MOVED:
            for end in sqlite.FILES:
                Path(f"{self._real}{end}").unlink(missing_ok=True)

    abandon = remove

    def _may_checkpoint(self) -> bool:
        """Return whether the log belongs to the file at the place; it is folded from here even if it was moved away."""
        reason = self._identity_error()
        return reason is None or (reason == LOG_MOVED and identity(self._real + LOG) is None)

    def rescue(self) -> None:
        """Save all that was acknowledged in a new file, once for each time that the shared file is gone; log that."""
        with self._rescuing:
            if not (reason := self._identity_error()) or self._keeper is None or self._saved:
                return
            self._absent = True
            try:
                copy = save_rescued(self._keeper, self._real)
            except OSError as error:
                what = "Its answers could not be saved elsewhere (%s): put it back now"
                _log.error(f"%s %s. {what}", self.place, reason, error)
                return
            self._saved = True
            what = (
                f"What can still be read of the original is in {copy}, but it may lack answers and be damaged: "
                f"examine it with `fcpair doctor --study {quote(str(copy))}`, and keep it. To serve what is there "
                f"now, {START_ANEW}"
                if reason == WRITTEN_OVER
                else f"All answers that were acknowledged are in {copy}. Put the original back, with the file that "
                "ends in -wal, to continue; or end the server and put that copy in its place"
            )
            _log.error("%s %s. No more answers are accepted. %s", self.place, reason, what)
