"""Making a study's tables, and refusing a file whose tables are not the ones that this fcpair knows."""

from __future__ import annotations

from importlib.resources import files
from shlex import quote
from typing import TYPE_CHECKING

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, inspect, text

from fcpair import revisions
from fcpair.errors import StudyError
from fcpair.store.database import backends, table_extents, tables

if TYPE_CHECKING:
    from alembic.config import Config

OLDER, HEAD = revisions.OLDER, revisions.HEAD
# As Alembic makes it.
_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def alembic_config(conn: Connection | None = None) -> Config:
    """Alembic's configuration for the migrations that are installed with fcpair."""
    from alembic.config import Config

    alembic = Config()
    alembic.set_main_option("script_location", str(files("fcpair._migrations")))
    alembic.attributes["connection"] = conn
    return alembic


def create(conn: Connection) -> None:
    """Make all tables in an empty database, as the migrations would, and protect those that only grow."""
    tables.metadata.create_all(conn, checkfirst=False)
    _version.create(conn)
    conn.execute(_version.insert(), [{"version_num": HEAD}])
    conn.execute(tables.extent.insert(), [{"name": name, "last": 0} for name in table_extents.TABLES])
    for table in tables.APPEND_ONLY:
        backends.backend_of(conn).protect(conn, table.name)


def upgrade(conn: Connection) -> None:
    """Bring the tables of an older study up to date."""
    from alembic import command

    command.upgrade(alembic_config(conn), "head")


def check(conn: Connection, place: str) -> None:
    """Raise StudyError unless the database is a study with the tables of this fcpair."""
    if older := older_revision(conn, place):
        raise StudyError(
            f"{place} was made by an older fcpair (its schema is {older}, this one has {HEAD}); "
            f"`fcpair upgrade --study {quote(place)}` brings it up to date, and keeps a backup"
        )


def revision(conn: Connection) -> str:
    """The revision of the tables."""
    return str(conn.execute(text("SELECT version_num FROM alembic_version")).scalar())


def older_revision(conn: Connection, place: str) -> str | None:
    """The revision of the tables where it is an older one than this fcpair's, None where it is this one's.

    Raises StudyError for a database that is no study, or a newer fcpair's.
    """
    if not {"alembic_version", "study"} <= set(inspect(conn).get_table_names()):
        raise StudyError(f"{place} is a database but not a study; `fcpair init` makes a new study")
    current = revision(conn)
    if current in OLDER:
        return current
    if current != HEAD:
        raise StudyError(
            f"{place} was made by a newer fcpair (its schema is {current}, this one knows {HEAD}); "
            "install that fcpair with `pip install --upgrade fcpair`"
        )
    return None
