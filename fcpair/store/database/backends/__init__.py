"""Databases, each with a module of its own: `sqlite` and `postgres` say what each does in its way (begin, lock, insert
many, protect, seal); `sqlite_file` reaches the file that was opened and no other, `postgres_server` that of a server.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from sqlalchemy import Connection, make_url

from fcpair.store.database.backends.protocol import Backend

if TYPE_CHECKING:
    from fcpair.store.database.backends.postgres_server import StudyServer
    from fcpair.store.database.backends.sqlite_file import StudyFile

Home: TypeAlias = "StudyFile | StudyServer"  # where a study is: connections to it and to nothing else
Place = str | Path  # a file, or the URL of a database: `postgresql+psycopg://user@host/name`


class Places(Protocol):
    """Places of studies in one kind of database, and their backups: all of one in a stream, which is read again."""

    KIND: str  # which database this is
    MEMBER: str  # the name of what is written of a study

    def is_there(self, place: Place) -> bool:
        """Return whether something is at a place that is no new one: a file, or a database with tables in it."""

    def find(self, place: Place) -> Home:
        """The study at this place; raises StudyError when there is none."""

    def make(self, place: Place, *, create: bool) -> Home:
        """An empty database at this place; raises StudyError when something is there, or it cannot be made. Without
        `create`, a server must have the database already; a file is made in any case.
        """

    def restore_facts(self, conn: Connection) -> dict[str, str]:
        """Facts that must be known to read the study again; raises StudyError where none can be written."""

    def save(self, conn: Connection, address: str, to: Any, folder: Path) -> None:
        """Write the study to a stream; the folder has room for it, too."""

    def restore(self, place: Place, content: Any, further: Mapping[str, str], *, create: bool) -> None:
        """Write what is read from a stream at a place where no study is, as `make` does: all of it, or nothing."""


def backend_of(conn: Connection) -> Backend:
    """The database that a connection leads to."""
    if conn.dialect.name == "sqlite":
        from fcpair.store.database.backends import sqlite

        return sqlite.SQLITE
    from fcpair.store.database.backends import postgres

    return postgres.POSTGRES


def at(place: Place) -> Places:
    """The kind of database that is at a place."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return postgres_server
    from fcpair.store.database.backends import sqlite_file

    return sqlite_file


def is_url(place: Place) -> bool:
    """Return whether this is the URL of a database, and no file."""
    return isinstance(place, str) and "://" in place


def display_name(place: Place) -> str:
    """A place as messages name it, without any password."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return postgres_server.parse_url(place).render_as_string(hide_password=True)
    return str(place)


def path_beside(place: Place, end: str) -> Path:
    """A file for what belongs to a study: beside its own, or in the working folder, named for its database."""
    if is_url(place):
        return Path(f"{Path(str(make_url(str(place)).database)).name}{end}")
    return Path(place).with_name(f"{Path(place).stem}{end}")
