"""Backups of a study in PostgreSQL: what pg_dump writes of it, and pg_restore reads."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Any

from sqlalchemy import Connection

from fcpair.errors import StudyError
from fcpair.store.database.backends import Place, postgres_server
from fcpair.store.database.backends.protocol import driver

KIND, MEMBER = "postgresql", "study.dump"
FOLDER = "FCPAIR_PG_BIN"
_VERSION = re.compile(r"\) (\d+)")
_LINES_SHOWN = 3
_NO_OWNERSHIP = ("--no-owner", "--no-privileges")


def restore_facts(conn: Connection) -> dict[str, str]:
    """In which schema the study is, and which pg_dump reads it; raises StudyError where there is none that can."""
    (number,) = driver(conn).execute("SHOW server_version_num").fetchone()
    dumps = _find_tool("pg_dump", at_least=int(number) // 10_000)
    return {"namespace": _namespace(conn), "pg_dump": str(_tool_version(dumps))}


def _namespace(conn: Connection) -> str:
    return str(driver(conn).execute("SELECT current_schema()").fetchone()[0])


def save(conn: Connection, address: str, to: Any, _folder: Path) -> None:
    """Write the study as pg_dump sees it when it begins."""
    schema_option = f"--schema={_quote_name(_namespace(conn))}"
    command = [_find_tool("pg_dump"), "--format=custom", *_NO_OWNERSHIP, schema_option, *_dbname_option(address)]
    with _tool_process(command, postgres_server.parse_url(address).password, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        shutil.copyfileobj(process.stdout, to)


def restore(place: Place, content: Any, further: Mapping[str, str], *, create: bool) -> None:
    """Write a study into a database where none is: all of it, or nothing."""
    home = postgres_server.make(str(place), create=create)
    with home.engine().connect() as conn:
        namespace = _namespace(conn)
    home.close()
    if namespace != further["namespace"]:
        raise StudyError(
            f"the backup is of the schema {further['namespace']}, and {home.place} leads to {namespace}; "
            "name a database in whose search_path that schema comes first"
        )
    options = ("--single-transaction", "--exit-on-error", *_NO_OWNERSHIP, f"--schema={namespace}")
    command = [_find_tool("pg_restore", at_least=int(further["pg_dump"])), *options, *_dbname_option(home.address)]
    with _tool_process(command, postgres_server.parse_url(home.address).password, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        shutil.copyfileobj(content, process.stdin)
        process.stdin.close()


def _dbname_option(address: str) -> list[str]:
    """Where the database is, without a password, which others could read in the list of processes."""
    url = postgres_server.parse_url(address).set(drivername="postgresql", password=None)
    return [f"--dbname={url.render_as_string()}"]


def _quote_name(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


@contextmanager
def _tool_process(command: list[str], password: object, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program of PostgreSQL's that is under way; raises StudyError where it fails."""
    environment = {"PGPASSWORD": str(password)} if password else {}
    with TemporaryFile() as stderr:
        process = subprocess.Popen(command, stderr=stderr, env={**os.environ, **environment}, **streams)
        try:
            yield process
        except BrokenPipeError:
            pass  # it has ended, and says why
        except BaseException:
            process.kill()
            raise
        finally:
            _close_streams(process)
            process.wait()
        if process.returncode:
            raise StudyError(f"{Path(command[0]).name} failed: {_last_lines(stderr)}")


def _close_streams(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None and not stream.closed:
            stream.close()


def _last_lines(output: IO[bytes]) -> str:
    output.seek(0)
    return (
        " ".join(output.read().decode(errors="replace").split("\n")[-_LINES_SHOWN - 1 :]).strip() or "it said nothing"
    )


def _find_tool(name: str, at_least: int = 0) -> str:
    """A program of PostgreSQL's; raises StudyError where it is missing or older than need be."""
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
    match = _VERSION.search(output)
    if match is None:
        raise StudyError(f"{tool} does not say which version of PostgreSQL it belongs to")
    return int(match[1])
