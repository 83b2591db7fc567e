"""Everything that is particular to one database, behind `protocol`: SQLite and PostgreSQL.

`sqlite` and `postgres` say what each does in its own way (begin, lock, insert many, protect, seal), and `backend_of`
which of them a connection leads to. `sqlite_file` reaches the file that was opened and no other, `postgres_server` the
database of a server; `find` and `make` lead to the place where a study is. `table_dump` has the lines that tables are
copied and backed up as.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

from fcpair.store.database.backends.protocol import Backend, Backups, Home, Lines

Place = str | Path
"""A file, or the URL of a database: `postgresql+psycopg://user@host/name`."""


def backend_of(conn: Connection) -> Backend:
    """The database that a connection leads to."""
    if conn.dialect.name == "sqlite":
        from fcpair.store.database.backends import sqlite

        return sqlite
    from fcpair.store.database.backends import postgres

    return postgres


def lines_of(conn: Connection) -> Lines:
    """Reading and writing whole tables in the database that a connection leads to."""
    if conn.dialect.name == "sqlite":
        from fcpair.store.database.backends import sqlite_lines

        return sqlite_lines
    from fcpair.store.database.backends import postgres_lines

    return postgres_lines


def backups_at(place: Place) -> Backups:
    """Choose the way to back up studies that are at such a place."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_backup

        return postgres_backup
    from fcpair.store.database.backends import sqlite_backup

    return sqlite_backup


def is_url(place: Place) -> bool:
    """Whether this is the URL of a database, and no file."""
    return isinstance(place, str) and "://" in place


def display_name(place: Place) -> str:
    """A place as messages name it, without any password."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return postgres_server.parse_url(str(place)).render_as_string(hide_password=True)
    return str(place)


def is_there(place: Place) -> bool:
    """Whether something is at a place that is no new one: a file, or a database with tables in it."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return postgres_server.is_there(str(place))
    from fcpair.store.database.backends import sqlite_file

    return Path(place).exists() and not sqlite_file.is_left_empty(Path(place))


def path_beside(place: Place, end: str) -> Path:
    """A file for what belongs to a study: beside its own, or in the working folder, named for its database."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return Path(f"{Path(str(postgres_server.parse_url(str(place)).database)).name}{end}")
    return Path(place).with_name(f"{Path(place).stem}{end}")


def find(place: Place) -> Home:
    """The study at this place; raises StudyError when there is none."""
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return postgres_server.find(str(place))
    from fcpair.store.database.backends import sqlite_file

    return sqlite_file.find(Path(place))


def make(place: Place, *, create: bool = True) -> Home:
    """An empty database at this place; raises StudyError when something is there, or it cannot be made.

    Without `create`, a server must have the database already; a file is made in any case.
    """
    if is_url(place):
        from fcpair.store.database.backends import postgres_server

        return postgres_server.make(str(place), create=create)
    from fcpair.store.database.backends import sqlite_file

    return sqlite_file.make(Path(place))
