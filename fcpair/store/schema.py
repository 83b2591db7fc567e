"""Making a study's tables, and refusing a file whose tables are not the ones that this fcpair knows."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect, text

from fcpair.errors import StudyError

if TYPE_CHECKING:
    from alembic.config import Config

HEAD = "0001"  # the newest migration; a test holds it against the scripts, so that opening need not load Alembic


def config(conn: Connection | None = None) -> Config:
    """Alembic's configuration for the migrations that are installed with fcpair."""
    from alembic.config import Config

    alembic = Config()
    alembic.set_main_option("script_location", str(files("fcpair._migrations")))
    alembic.attributes["connection"] = conn
    return alembic


def create(conn: Connection) -> None:
    """Make all tables in an empty database."""
    from alembic import command

    command.upgrade(config(conn), "head")


def check(conn: Connection, place: str) -> None:
    """Raise StudyError unless the database is a study with the tables of this fcpair."""
    if not {"alembic_version", "study"} <= set(inspect(conn).get_table_names()):
        raise StudyError(f"{place} is a database but no study; `fcpair init` makes a new study")
    found = conn.execute(text("SELECT version_num FROM alembic_version")).scalar()
    if found != HEAD:
        raise StudyError(
            f"{place} was made by a newer fcpair (its schema is {found}, this one knows {HEAD}); "
            "install that fcpair with `pip install --upgrade fcpair`"
        )
