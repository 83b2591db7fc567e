"""Everything that is particular to one database, behind `protocol`: SQLite and PostgreSQL.

`sqlite` and `postgres` say what each does in its own way (begin, lock, insert many, protect, seal), and `backend_of`
which of them a connection leads to. `sqlite_file` reaches the file that was opened and no other, `postgres_server` the
database of a server; `at` says which of them has a place.
"""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, make_url

from fcpair.store.database.backends.protocol import Backend, Places

Place = str | Path
"""A file, or the URL of a database: `postgresql+psycopg://user@host/name`."""


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
    """Whether this is the URL of a database, and no file."""
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
