"""Backups of a study in a file: SQLite's own copy of it, which is a study by itself."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from fcpair.store.database import backup_format, file_permissions
from fcpair.store.database.backends import Place, sqlite, sqlite_file
from fcpair.store.database.backends.protocol import driver
from fcpair.unfinished import new_path

KIND, MEMBER = "sqlite", "study.sqlite"
TEMPORARY_PREFIX = "fcpair-backup-"


def restore_facts(_conn: Connection) -> dict[str, str]:
    """Nothing else need be known."""
    return {}


def save(conn: Connection, _address: str, to: Any, folder: Path) -> None:
    """Write the study as it is now; it is in the folder for as long as that takes, too."""
    with new_path(folder, TEMPORARY_PREFIX) as temporary:
        path = temporary / MEMBER
        sqlite.copy(driver(conn), path)
        with path.open("rb") as content:
            shutil.copyfileobj(content, to)


def restore(place: Place, content: Any, _further: Mapping[str, str], *, create: bool) -> None:
    """Write a study where none is; it has its name only when all of it is on the disk. A file is made in any case."""
    home = sqlite_file.make(Path(place))
    try:
        with (
            closing(home.connect()) as connection,
            new_path(Path(place).absolute().parent, TEMPORARY_PREFIX) as temporary,
        ):
            connection.execute("BEGIN IMMEDIATE")  # lest it be taken for one that was left empty
            path = temporary / MEMBER
            unpack(content, path)
            os.replace(path, place)
            backup_format.sync_folder(Path(place).absolute().parent)
    except BaseException:
        home.remove()
        raise


def unpack(content: Any, path: Path) -> None:
    """Write the study into a new file that only its owner can read, and see that it is on the disk."""
    file_permissions.create_private(path)
    with path.open("r+b") as target:
        shutil.copyfileobj(content, target)
        target.flush()
        os.fsync(target.fileno())
