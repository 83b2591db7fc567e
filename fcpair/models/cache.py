"""Cache on this machine between runs, so that nothing is computed or asked twice.

A cache that cannot be read or written is a warning in the log, never an error: the work is done anew. Its files are
for their owner alone, since answers hold texts.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from fcpair.files.tables.folders import replace_file

_log = logging.getLogger(__name__)


def cache_folder() -> Path:
    """Where vectors, scores and answers are kept: `$FCPAIR_CACHE`, else `fcpair` in the user's cache folder."""
    if named := os.environ.get("FCPAIR_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fcpair"


def read_rows(path: Path) -> dict[str, NDArray[Any]]:
    """The rows that `write_rows` kept, by their keys; nothing where there is no file or it cannot be read."""
    try:
        with path.open("rb") as file, np.load(file) as arrays:
            return dict(zip(arrays["keys"].tolist(), arrays["vectors"], strict=True))
    except FileNotFoundError:
        return {}
    except (OSError, EOFError, ValueError, KeyError, BadZipFile) as error:
        _log.warning("the cache %s cannot be read (%s); its content is computed again", path, error)
        return {}


def write_rows(path: Path, rows: Mapping[str, NDArray[Any]]) -> None:
    """Keep rows of one shape, by their keys, in place of what the file has."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, private=True) as temporary:
            np.savez(temporary, keys=np.array(list(rows)), vectors=np.stack(list(rows.values())))
    except OSError as error:
        _log.warning("%s cannot be kept (%s)", path, error)


def read_record(path: Path) -> dict[str, Any] | None:
    """The record that `write_record` kept; None where there is no file or it holds no record."""
    try:
        record = json.loads(path.read_text("utf-8"))
        if not isinstance(record, dict):
            raise ValueError("it holds no object")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("the cache %s cannot be read (%s); it is requested again", path, error)
        return None
    return record


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Keep one record as JSON, in place of what the file has."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, private=True) as temporary:
            temporary.write_text(json.dumps(record, indent=1), "utf-8")
    except OSError as error:
        _log.warning("%s cannot be kept (%s)", path, error)
