"""A study in a database of a PostgreSQL server: reaching it, making it, and deleting it."""

from __future__ import annotations

import time
from contextlib import closing
from typing import Any

from fcpair.errors import StudyError, missing_extra
from fcpair.store.database.backends.protocol import PATIENCE_S, Backend

try:
    import psycopg
except ImportError as error:
    raise missing_extra("postgres", "a study in PostgreSQL", "psycopg") from error

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from fcpair.store.database.backends import postgres

DRIVER = "postgresql+psycopg"
CONNECT_S = 10
NAME = "fcpair"  # by which its connections are known
SETTLE_TRIES, SETTLE_WAIT_S = 10, 0.05
POOL, AT_MOST = 5, 20  # connections of a process that are kept, and that there can be
# An answer is on the disk before it is acknowledged, whatever the server does by default; plans are for whole results;
# and statements of a few milliseconds are not compiled.
_SESSION = (
    "SET synchronous_commit = on; SET cursor_tuple_fraction = 1; SET jit = off; SET client_min_messages = warning; "
    "SET timezone = 'UTC'"
)
# What says that it is something else, such as psql, is left alone.
_OTHERS = """
SELECT pid, coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
AND coalesce(backend_type, 'client backend') = 'client backend' AND application_name IN ('', %(own)s) ORDER BY pid
"""
NOT_THERE = (
    "there is no database {database} at {place}; check its name, or create it with `--create` (in Python, "
    "`create=True`). Nothing was changed"
)
_BYTE_ORDER = "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
_TABLES = "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"


class StudyServer:
    """One study's database on a server."""

    def __init__(self, url: URL) -> None:
        self.place = url.render_as_string(hide_password=True)
        self.address = url.render_as_string(hide_password=False)
        self.backend: Backend = postgres
        self._url = url
        self._engines: list[Engine] = []

    def engine(self) -> Engine:
        """An engine on the database; what is written is no part of any message."""
        pool: dict[str, Any] = {"pool_size": POOL, "max_overflow": AT_MOST - POOL, "pool_timeout": PATIENCE_S}
        engine = create_engine(
            self._url,
            paramstyle="format",
            hide_parameters=True,
            pool_use_lifo=True,
            pool_pre_ping=True,
            **pool,
            connect_args={"connect_timeout": CONNECT_S, "application_name": NAME},
        )
        event.listen(engine, "connect", _prepare_session)
        self._engines.append(engine)
        return engine

    def reading_engine(self) -> Engine:
        """The same: what reads is not let write, see `postgres.begin`."""
        return self.engine()

    def check_in_place(self) -> None:
        """The server finds its files, or says that it does not."""

    def check_alone(self) -> None:
        """Raise StudyError while another fcpair is connected, or anything that does not say what it is, as one up to
        0.7.0 does not. What one that comes later writes is not kept, see table_extents.py.
        """
        for _ in range(SETTLE_TRIES):
            with closing(_connect(self._url)) as connection:
                other_users = [f"{where} (process {pid})" for pid, where in connection.execute(_OTHERS, {"own": NAME})]
            if not other_users:
                return
            time.sleep(SETTLE_WAIT_S)  # what was closed here just now takes a moment to be gone
        raise StudyError(
            f"{self.place} is in use: connected to it from {', '.join(other_users)}. End `fcpair serve`, and "
            "whatever else uses it, then try again; `SELECT pg_terminate_backend(PROCESS)` ends a process that "
            "cannot be stopped otherwise. Nothing was changed"
        )

    def share(self) -> bool:
        """A server always lets many work side by side."""
        return True

    def examine(self, conn: Connection) -> None:
        """Raise StudyError where the server has found damage."""
        if faults := postgres.faults(conn):
            raise StudyError(f"{self.place} is damaged: {'; '.join(faults)}. Restore it from a backup")

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            engine.dispose()

    def abandon(self) -> None:
        """Close all connections; the transaction is undone, and all others that are there are not ours."""
        self.close()

    def remove(self) -> None:
        """Drop all that is in the schema of the study; the database itself stays."""
        self.close()
        with closing(_connect(self._url)) as connection, connection.transaction():
            schema = connection.execute("SELECT quote_ident(current_schema())").fetchone()
            assert schema is not None
            connection.execute(f"DROP SCHEMA {schema[0]} CASCADE; CREATE SCHEMA {schema[0]}")


def is_there(place: str) -> bool:
    """Whether there is a database at a URL with tables in it; raises StudyError where the server cannot be reached."""
    try:
        connection = _connect(parse_url(place))
    except StudyError as error:
        if _is_missing(error):
            return False
        raise
    with closing(connection):
        return _n_tables(connection) > 0


def _is_missing(error: StudyError) -> bool:
    """Whether the server was reached, and has no such database."""
    return isinstance(error.__cause__, psycopg.OperationalError) and "does not exist" in str(error)


def find(place: str) -> StudyServer:
    """The study at a URL; raises StudyError where the server cannot be reached, or there is no study."""
    url = parse_url(place)
    home = StudyServer(url)
    with closing(_connect(url)) as connection:
        if not _n_tables(connection):
            raise StudyError(f"there is no study at {home.place}; `fcpair init --study {home.place}` makes one")
    return home


def make(place: str, *, create: bool) -> StudyServer:
    """An empty database at a URL; where it is not there, it is made if one is to `create` it and may.

    Raises StudyError where it is not, or has tables.
    """
    url = parse_url(place)
    home = StudyServer(url)
    try:
        connection = _connect(url)
    except StudyError as error:
        if not _is_missing(error):
            raise
        if not create:
            raise StudyError(NOT_THERE.format(database=url.database, place=home.place)) from error
        _create_database(url)
        connection = _connect(url)
    with closing(connection):
        if _n_tables(connection):
            raise StudyError(f"{home.place} has tables already; choose another database, or use that study")
        (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
        if encoding != "UTF8":
            raise StudyError(f"{home.place} is in {encoding}, which cannot store every text; make one in UTF8")
    return home


def parse_url(place: str) -> URL:
    """The URL of a database, with the driver that is used; raises StudyError where it is none."""
    try:
        url = make_url(place)
    except (ArgumentError, ValueError) as error:
        raise StudyError("this is not a database URL; write postgresql+psycopg://USER@HOST/NAME") from error
    if url.get_backend_name() not in ("postgres", "postgresql"):
        raise StudyError(f"a study is a file or a PostgreSQL database, not {url.get_backend_name()}")
    if not url.database:
        raise StudyError(f"{url.render_as_string()} names no database; write postgresql+psycopg://USER@HOST/NAME")
    return url.set(drivername=DRIVER)


def _connect(url: URL) -> psycopg.Connection[tuple[Any, ...]]:
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        return psycopg.connect(plain, connect_timeout=CONNECT_S, application_name=NAME, autocommit=True)
    except psycopg.OperationalError as error:
        message = str(error).strip().splitlines()[-1]
        raise StudyError(f"{url.render_as_string()} cannot be reached: {message}; nothing was changed") from error


def _create_database(url: URL) -> None:
    """Make the database, where this user may."""
    assert url.database is not None
    name = url.database.replace('"', '""')
    with closing(_connect(url.set(database="postgres"))) as connection:
        try:
            connection.execute(f'CREATE DATABASE "{name}" {_BYTE_ORDER}')
        except psycopg.Error as error:
            raise StudyError(
                f"there is no database {url.database}, and this user may not make it; run `createdb -E UTF8 "
                f"{url.database}` as a user who may"
            ) from error


def _n_tables(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    (n,) = connection.execute(_TABLES).fetchone() or (0,)
    return int(n)


def _prepare_session(connection: Any, _record: Any) -> None:
    """Set what holds for every connection of a store."""
    connection.autocommit = True
    connection.execute(_SESSION)
    connection.autocommit = False
