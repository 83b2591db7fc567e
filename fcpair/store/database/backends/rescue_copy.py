"""Saving what is in a file that has lost its name: whoever has it open can still read all of it."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from fcpair.store.database.backends import sqlite

PART = ".part"


def save(connection: sqlite3.Connection, place: str) -> Path:
    """Write a whole copy of what a connection sees, under a new name, and return it.

    It goes beside the study; where that cannot be, into the working folder, the home folder or the temporary one.
    Raises OSError when it can go nowhere.
    """
    last_error: OSError | None = None
    for path in _free_paths(Path(place)):
        part = path.with_name(path.name + PART)
        try:
            sqlite.copy(connection, part)
            os.rename(part, path)
        except OSError as error:
            last_error = error
        else:
            return path
    raise last_error or OSError(f"there is no folder to save {place} in")


def _free_paths(place: Path) -> Iterator[Path]:
    """A new name in each folder that may do."""
    stem = f"{place.stem}-rescued-{datetime.now(UTC):%Y%m%dT%H%M%S}"
    for folder in dict.fromkeys((place.parent, Path.cwd(), Path.home(), Path(tempfile.gettempdir()))):
        if not folder.is_dir():
            continue
        names = (f"{stem}{f'-{n}' * (n > 1)}{place.suffix}" for n in count(1))
        yield next(folder / name for name in names if not _is_taken(folder / name))


def _is_taken(path: Path) -> bool:
    return path.exists() or path.with_name(path.name + PART).exists()
