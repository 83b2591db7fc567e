"""A study in a database of a PostgreSQL server: reaching it, making it, deleting it, and its backups.

Backups are pg_dump's: a study is backed up before it is upgraded, and what copies tables knows those of today alone.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from fcpair.errors import StudyError, missing_extra
from fcpair.store.database.backends.protocol import PATIENCE_S, Backend, driver

try:
    import psycopg
except ImportError as error:
    raise missing_extra("postgres", "a study in PostgreSQL", "psycopg") from error

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError

from fcpair.store.database.backends import postgres

KIND, MEMBER = "postgresql", "study.dump"
FOLDER = "FCPAIR_PG_BIN"
_NO_OWNERSHIP = ("--no-owner", "--no-privileges")
CONNECT_S = 10
NAME = "fcpair"  # by which its connections are known
SETTLE_TRIES, SETTLE_WAIT_S = 10, 0.05
POOL, AT_MOST = 5, 20  # connections of a process that are kept, and that there can be
# What says that it is something else, such as psql, is left alone.
_OTHERS = """
SELECT pid, coalesce(host(client_addr), 'this machine') FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND usesysid IS NOT NULL
AND coalesce(backend_type, 'client backend') = 'client backend' AND application_name IN ('', %(own)s) ORDER BY pid
"""


class StudyServer:
    """One study's database on a server; `place` names it without any password, by `address` it is reached."""

    def __init__(self, url: URL) -> None:
        self.place = url.render_as_string(hide_password=True)
        self.address = url.render_as_string(hide_password=False)
        self.backend: Backend = postgres.POSTGRES
        self._url = url
        self._engines: list[Engine] = []

    def engine(self) -> Engine:
        """An engine on the database; what is written is no part of any message."""
        pool: dict[str, Any] = {"pool_size": POOL, "max_overflow": AT_MOST - POOL, "pool_timeout": PATIENCE_S}
        pool |= {"pool_use_lifo": True, "pool_pre_ping": True}
        args = {"connect_timeout": CONNECT_S, "application_name": NAME}
        engine = create_engine(self._url, paramstyle="format", hide_parameters=True, connect_args=args, **pool)
        event.listen(engine, "connect", _prepare_session)
        self._engines.append(engine)
        return engine

    reading_engine = engine  # a server does not let what reads write anyway

    def check_in_place(self) -> None:
        """The server finds its files, or says that it does not."""

    def share(self) -> bool:
        """Readers and writers work side by side anyway."""
        return True

    def check_alone(self) -> None:
        """Raise StudyError while another fcpair is connected, or what does not say what it is, as up to 0.7.0."""
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

    def examine(self, conn: Connection) -> None:
        """Raise StudyError where the server has found damage."""
        if faults := postgres.POSTGRES.faults(conn):
            raise StudyError(f"{self.place} is damaged: {'; '.join(faults)}. Restore it from a backup")

    def close(self) -> None:
        """Close all connections."""
        for engine in self._engines:
            engine.dispose()

    abandon = close  # nobody else's is touched

    def remove(self) -> None:
        """Drop all that is in the schema of the study; the database itself stays."""
        self.close()
        with closing(_connect(self._url)) as connection, connection.transaction():
            schema = connection.execute("SELECT quote_ident(current_schema())").fetchone()
            assert schema is not None
            connection.execute(f"DROP SCHEMA {schema[0]} CASCADE; CREATE SCHEMA {schema[0]}")


def is_there(place: str | Path) -> bool:
    """Return whether a URL has a database with tables in it; raises StudyError where the server cannot be reached."""
    try:
        with closing(_connect(parse_url(place))) as connection:
            return _n_tables(connection) > 0
    except _NoDatabaseError:
        return False


class _NoDatabaseError(StudyError):
    """The server was reached, and has no such database."""


def find(place: str | Path) -> StudyServer:
    """The study at a URL; raises StudyError where the server cannot be reached, or there is no study."""
    home = StudyServer(url := parse_url(place))
    with closing(_connect(url)) as connection:
        if not _n_tables(connection):
            raise StudyError(
                f"there is no study at {home.place}; `fcpair init --study {home.place}` or `Study.create` makes one"
            )
    return home


def make(place: str | Path, *, create: bool) -> StudyServer:
    """An empty database at a URL, made to `create` it; raises StudyError if there is none, or it has tables."""
    home = StudyServer(url := parse_url(place))
    try:
        connection = _connect(url)
    except _NoDatabaseError as error:
        if not create:
            raise StudyError(
                f"there is no database {url.database} at {home.place}; check its name, or create it with `--create` "
                "(in Python, `create=True`). Nothing was changed"
            ) from error
        quoted = str(url.database).replace('"', '""')
        in_byte_order = "TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'"
        with closing(_connect(url.set(database="postgres"))) as server:
            try:
                server.execute(f'CREATE DATABASE "{quoted}" {in_byte_order}')
            except psycopg.Error as refused:
                raise StudyError(
                    f"there is no database {url.database}, and this user may not make it; run `createdb -E UTF8 "
                    f"{url.database}` as a user who may"
                ) from refused
        connection = _connect(url)
    with closing(connection):
        if _n_tables(connection):
            raise StudyError(f"{home.place} has tables already; choose another database, or use that study")
        (encoding,) = connection.execute("SHOW server_encoding").fetchone() or ("",)
        if encoding != "UTF8":
            raise StudyError(f"{home.place} is in {encoding}, which cannot store every text; make one in UTF8")
    return home


def parse_url(place: str | Path) -> URL:
    """The URL of a database, with the driver that is used; raises StudyError where it is none."""
    try:
        url = make_url(str(place))
    except (ArgumentError, ValueError) as error:
        raise StudyError("this is not a database URL; write postgresql+psycopg://USER@HOST/NAME") from error
    if url.get_backend_name() not in ("postgres", "postgresql"):
        raise StudyError(f"a study is a file or a PostgreSQL database, not {url.get_backend_name()}")
    if not url.database:
        raise StudyError(f"{url.render_as_string()} names no database; write postgresql+psycopg://USER@HOST/NAME")
    return url.set(drivername="postgresql+psycopg")


def _connect(url: URL) -> psycopg.Connection[tuple[Any, ...]]:
    plain = url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        return psycopg.connect(plain, connect_timeout=CONNECT_S, application_name=NAME, autocommit=True)
    except psycopg.OperationalError as error:
        message = f"{url.render_as_string()} cannot be reached: {str(error).strip().splitlines()[-1]}"
        raise (_NoDatabaseError if "does not exist" in message else StudyError)(
            f"{message}; nothing was changed"
        ) from error


def _n_tables(connection: psycopg.Connection[tuple[Any, ...]]) -> int:
    of_schema = "relnamespace = current_schema()::regnamespace AND relkind IN ('r', 'p')"
    (n,) = connection.execute(f"SELECT count(*) FROM pg_class WHERE {of_schema}").fetchone() or (0,)
    return int(n)


def _prepare_session(connection: Any, _record: Any) -> None:
    connection.autocommit = True
    # An answer is on the disk before it is acknowledged, whatever the server does by default; plans are for whole
    # results; and statements of a few milliseconds are not compiled.
    connection.execute(
        "SET synchronous_commit = on; SET cursor_tuple_fraction = 1; SET jit = off; SET client_min_messages = warning; "
        "SET timezone = 'UTC'"
    )
    connection.autocommit = False


# -- backups: what pg_dump writes of a study, and pg_restore reads


def restore_facts(conn: Connection) -> dict[str, str]:
    """In which schema the study is, and which pg_dump reads it; raises StudyError if there is none that can."""
    (number,) = driver(conn).execute("SHOW server_version_num").fetchone()
    dumps = _find_tool("pg_dump", at_least=int(number) // 10_000)
    return {"namespace": _namespace(conn), "pg_dump": str(_tool_version(dumps))}


def _namespace(conn: Connection) -> str:
    return str(driver(conn).execute("SELECT current_schema()").fetchone()[0])


def save(conn: Connection, address: str, to: Any, _folder: Path) -> None:
    """Write the study as pg_dump sees it when it begins."""
    schema = '--schema="{}"'.format(_namespace(conn).replace('"', '""'))
    command = [_find_tool("pg_dump"), "--format=custom", *_NO_OWNERSHIP, schema]
    with _tool_process(command, address, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        shutil.copyfileobj(process.stdout, to)


def restore(place: str | Path, content: Any, further: Mapping[str, str], *, create: bool) -> None:
    """Write a study into a database where none is: all of it, or nothing."""
    home = make(place, create=create)
    with home.engine().connect() as conn:
        namespace = _namespace(conn)
    home.close()
    if namespace != further["namespace"]:
        raise StudyError(
            f"the backup is of the schema {further['namespace']}, and {home.place} leads to {namespace}; "
            "name a database in whose search_path that schema comes first"
        )
    options = ("--single-transaction", "--exit-on-error", *_NO_OWNERSHIP, f"--schema={namespace}")
    command = [_find_tool("pg_restore", at_least=int(further["pg_dump"])), *options]
    with _tool_process(command, home.address, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        shutil.copyfileobj(content, process.stdin)
        process.stdin.close()


@contextmanager
def _tool_process(command: list[str], address: str, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program of PostgreSQL's that is under way on a database; raises StudyError where it fails."""
    url = parse_url(address).set(drivername="postgresql")
    environment = {**os.environ, **({"PGPASSWORD": str(url.password)} if url.password else {})}
    # Others could read a password in the list of processes.
    command = [*command, f"--dbname={url._replace(password=None).render_as_string()}"]
    with TemporaryFile() as stderr:
        process = subprocess.Popen(command, stderr=stderr, env=environment, **streams)
        try:
            yield process
        except BrokenPipeError:
            pass  # it has ended, and says why
        except BaseException:
            process.kill()
            raise
        finally:
            for stream in (process.stdin, process.stdout):
                if stream is not None and not stream.closed:
                    stream.close()
            process.wait()
        if process.returncode:
            stderr.seek(0)
            last_lines = " ".join(stderr.read().decode(errors="replace").split("\n")[-4:]).strip()
            raise StudyError(f"{Path(command[0]).name} failed: {last_lines or 'it said nothing'}")


def _find_tool(name: str, at_least: int = 0) -> str:
    folder = os.environ.get(FOLDER)
    path = shutil.which(name, path=folder or None)
    install = f"`apt-get install postgresql-client` installs it on Debian, and {FOLDER} names the folder of another one"
    if path is None:
        raise StudyError(f"{name} was not found{f' in {folder}' if folder else ''}; {install}")
    if at_least and (tool_version := _tool_version(path)) < at_least:
        raise StudyError(f"{path} is of PostgreSQL {tool_version}, and {at_least} or newer is needed; {install}")
    return path


def _tool_version(tool: str) -> int:
    output = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    if (match := re.search(r"\) (\d+)", output)) is None:
        raise StudyError(f"{tool} does not say which version of PostgreSQL it belongs to")
    return int(match[1])
