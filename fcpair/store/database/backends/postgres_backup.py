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
_LINES_SAID = 3
_AS_IT_IS = ("--no-owner", "--no-privileges")


def further(conn: Connection) -> dict[str, str]:
    """In which schema the study is, and which pg_dump reads it; raises StudyError where there is none that can."""
    (number,) = driver(conn).execute("SHOW server_version_num").fetchone()
    dumps = _tool("pg_dump", at_least=int(number) // 10_000)
    return {"namespace": _namespace(conn), "pg_dump": str(_version(dumps))}


def _namespace(conn: Connection) -> str:
    return str(driver(conn).execute("SELECT current_schema()").fetchone()[0])


def save(conn: Connection, address: str, to: Any, _folder: Path) -> None:
    """Write the study as pg_dump sees it when it begins."""
    of = f"--schema={_exactly(_namespace(conn))}"
    command = [_tool("pg_dump"), "--format=custom", *_AS_IT_IS, of, *_at(address)]
    with _running(command, postgres_server.read(address).password, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        shutil.copyfileobj(process.stdout, to)


def restore(place: Place, content: Any, further: Mapping[str, str], *, create: bool) -> None:
    """Write a study into a database where none is: all of it, or nothing."""
    home = postgres_server.make(str(place), create=create)
    with home.engine().connect() as conn:
        there = _namespace(conn)
    home.close()
    if there != further["namespace"]:
        raise StudyError(
            f"the backup is of the schema {further['namespace']}, and {home.place} leads to {there}; "
            "name a database in whose search_path that schema comes first"
        )
    whole = ("--single-transaction", "--exit-on-error", *_AS_IT_IS, f"--schema={there}")
    command = [_tool("pg_restore", at_least=int(further["pg_dump"])), *whole, *_at(home.address)]
    with _running(command, postgres_server.read(home.address).password, stdin=subprocess.PIPE) as process:
        assert process.stdin is not None
        shutil.copyfileobj(content, process.stdin)
        process.stdin.close()


def _at(address: str) -> list[str]:
    """Where the database is, without a password, which others could read in the list of processes."""
    url = postgres_server.read(address).set(drivername="postgresql", password=None)
    return [f"--dbname={url.render_as_string()}"]


def _exactly(name: str) -> str:
    return '"{}"'.format(name.replace('"', '""'))


@contextmanager
def _running(command: list[str], password: object, **streams: Any) -> Iterator[subprocess.Popen[bytes]]:
    """A program of PostgreSQL's that is under way; raises StudyError where it fails."""
    known = {"PGPASSWORD": str(password)} if password else {}
    with TemporaryFile() as said:
        process = subprocess.Popen(command, stderr=said, env={**os.environ, **known}, **streams)
        try:
            yield process
        except BrokenPipeError:
            pass  # it has ended, and says why
        except BaseException:
            process.kill()
            raise
        finally:
            _close(process)
            process.wait()
        if process.returncode:
            raise StudyError(f"{Path(command[0]).name} failed: {_last_lines(said)}")


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout):
        if stream is not None and not stream.closed:
            stream.close()


def _last_lines(said: IO[bytes]) -> str:
    said.seek(0)
    return " ".join(said.read().decode(errors="replace").split("\n")[-_LINES_SAID - 1 :]).strip() or "it said nothing"


def _tool(name: str, at_least: int = 0) -> str:
    """A program of PostgreSQL's; raises StudyError where it is missing or older than need be."""
    folder = os.environ.get(FOLDER)
    found = shutil.which(name, path=folder or None)
    install = f"`apt-get install postgresql-client` installs it on Debian, and {FOLDER} names the folder of another one"
    if found is None:
        raise StudyError(f"{name} is not to be found{f' in {folder}' if folder else ''}; {install}")
    if at_least and (there := _version(found)) < at_least:
        raise StudyError(f"{found} is of PostgreSQL {there}, and {at_least} or newer is needed; {install}")
    return found


def _version(tool: str) -> int:
    said = subprocess.run([tool, "--version"], capture_output=True, text=True, check=False).stdout
    found = _VERSION.search(said)
    if found is None:
        raise StudyError(f"{tool} does not say of which PostgreSQL it is")
    return int(found[1])
