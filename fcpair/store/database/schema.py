"""Making a study's tables, and refusing a file whose tables are not the ones that this fcpair knows, or were torn.

A file put together of two, such as one with a log of another time, has pages of both. It is recognised by what is known
twice: how many rows each table that only grows should have is in `chain`, and its numbers have no gap. The heads of the
chains are written with each answer anyway, and are few pages, which the log of any answer has.
"""

from __future__ import annotations

import json
from importlib.resources import files
from shlex import quote
from typing import Any, NamedTuple

from sqlalchemy import Column, Connection, MetaData, PrimaryKeyConstraint, String, Table, inspect

from fcpair import revisions
from fcpair.errors import StudyError
from fcpair.store.database import backends, tables
from fcpair.store.database.backends.protocol import driver

OLDER, HEAD = revisions.OLDER, revisions.HEAD
REVISION = "SELECT version_num FROM alembic_version"  # for the driver alone, as every write asks for it
# As Alembic makes it.
_version = Table(
    "alembic_version",
    MetaData(),
    Column("version_num", String(32), nullable=False),
    PrimaryKeyConstraint("version_num", name="alembic_version_pkc"),
)


def alembic_config(conn: Connection | None = None) -> Any:
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
    return str(driver(conn).execute(REVISION).fetchone()[0])


def older_revision(conn: Connection, place: str) -> str | None:
    """The revision of the tables if it is older than this fcpair's, None if it is the same; else raises StudyError."""
    if not {"alembic_version", "study"} <= set(inspect(conn).get_table_names()):
        raise StudyError(f"{place} is a database but not a study; `fcpair init` makes a new study")
    if (current := revision(conn)) not in (*OLDER, HEAD):
        raise StudyError(
            f"{place} was made by a newer fcpair (its schema is {current}, this one knows {HEAD}); "
            "install that fcpair with `pip install --upgrade fcpair`"
        )
    return current if current in OLDER else None


# The tables whose rows are numbered without a gap and never deleted: the column of their number, and the SQL of how
# many rows were written. Answers and decisions are counted by their chains; so are runs, guidelines and the receipts
# that are of no answer, as rows of `chain` that are nobody's. Every answer on the pages has its receipt. Nothing is
# read by an index: in a file of two times it may be of another time than the rows.
_NOTED = "SELECT coalesce(sum(n), 0) FROM chain WHERE kind || '' = '{}'"
_ONLINE = "SELECT count(at) FROM judgement WHERE origin = 'online' AND run_id IS NULL"
GROWING = {
    "judgement": ("id", _NOTED.format("answer")),
    "adjudication": ("id", _NOTED.format("decision")),
    "receipt": ("number", f"SELECT ({_NOTED.format('receipt')}) + ({_ONLINE})"),
    "run": ("id", _NOTED.format("run")),
    "guideline": ("id", _NOTED.format("guideline")),
}
_SIZES = " UNION ALL ".join(
    f"SELECT '{name}' AS name, count(at), coalesce(max({number} + 0), 0), ({noted}) FROM {name}"
    for name, (number, noted) in GROWING.items()
)
_ACCEPTED = "SELECT key, CAST(value AS text) FROM setting WHERE key LIKE 'accept.%'"
ACCEPT = "accept"  # the stage whose settings say how many rows and numbers of each table are known to be missing


class TableSize(NamedTuple):
    """Size of a table that only grows."""

    n: int  # rows
    top: int  # their highest number
    noted: int  # how many were written
    missing: int = 0  # of these, when the study was accepted as it was
    gaps: int = 0  # of the numbers up to the highest, then


def table_sizes(connection: Any) -> dict[str, TableSize]:
    """The size of each table that only grows; the connection is the driver's."""
    accepted = {key.partition(".")[2]: json.loads(value) for key, value in connection.execute(_ACCEPTED)}
    return {name: TableSize(*size, *accepted.get(name, ())) for name, *size in connection.execute(_SIZES)}


def torn_tables(connection: Any) -> list[str]:
    """A sentence for each table that has other rows than were written, or gaps that were not accepted."""
    return [
        f"{name} has {size.n:,} rows up to number {size.top:,}, and should have {expected:,} up to "
        f"{expected + size.gaps:,}"
        for name, size in table_sizes(connection).items()
        if (size.n, size.top) != ((expected := size.noted - size.missing), expected + size.gaps)
    ]
