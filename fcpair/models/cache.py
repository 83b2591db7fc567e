"""Cache on this machine between runs, so that nothing is computed or asked twice.

Answers are records. Vectors and other rows of numbers are in a folder for each model, in it parts in Parquet, each
written whole: who is stopped loses at most the part that was not written yet. What cannot be read is a warning in the
log, never an error: the work is done anew. Files are for their owner alone, since answers hold texts.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.arrays import Ints, Vectors
from fcpair.files.tables.folders import replace_file
from fcpair.models.model_files import Model

_log = logging.getLogger(__name__)
_SUFFIX = ".parquet"
_GROUP = 8192  # rows that can be read by themselves


def cache_folder() -> Path:
    """Folder of vectors, scores and answers: `$FCPAIR_CACHE`, else `fcpair` in the user's cache folder."""
    if named := os.environ.get("FCPAIR_CACHE"):
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fcpair"


def read_record(path: Path) -> dict[str, Any] | None:
    """The record that `write_record` kept; None if there is no file or it holds no record."""
    try:
        if isinstance(record := json.loads(path.read_text("utf-8")), dict):
            return record
        raise ValueError("it holds no object")
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        _log.warning("the cache %s cannot be read (%s); it is requested again", path, error)
        return None


def write_record(path: Path, record: Mapping[str, Any]) -> None:
    """Keep one record as JSON, in place of what the file has."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replace_file(path, private=True) as temporary:
            temporary.write_text(json.dumps(record, indent=1), "utf-8")
    except OSError as error:
        _log.warning("%s cannot be kept (%s)", path, error)


Part = tuple[Path, list[str], NDArray[Any]]
"""A part that is kept: its path, the digests of its texts, and their vectors, shape `(n_texts, dimension)`."""


def key_of(text: str) -> str:
    """The digest by which the vector of a text is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def folder_of(model: Model) -> Path:
    """Folder of the vectors of a model."""
    return cache_folder() / "vectors" / model.key


def read_parts(folder: Path) -> Iterator[Part]:
    """The parts that are kept in a folder; none if there is none. One that cannot be read is passed over."""
    yield from filter(None, map(read_part, sorted(folder.glob(f"[!.]*{_SUFFIX}"))))


def read_part(path: Path) -> Part | None:
    """Read a part; None if there is none, and, with a warning, where it cannot be read."""
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(["key", "vector"])
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError):
            _log.warning("the cache %s cannot be read (%s); its content is computed again", path, error)
        return None
    return path, [key.hex() for key in table["key"].to_pylist()], _array(table)


def read_vectors(path: Path, rows: Ints) -> Vectors:
    """Read the vectors of some rows of a part; raises OSError or ValueError where it is damaged."""
    from pyarrow.parquet import ParquetFile

    groups, at = np.unique(rows // _GROUP, return_inverse=True)
    with ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read_row_groups(groups.tolist(), columns=["vector"])
    vectors: Vectors = _array(table)[at * _GROUP + rows % _GROUP]
    return vectors


def _array(table: Any) -> NDArray[Any]:
    return np.reshape(table["vector"].combine_chunks().flatten().to_numpy(), (len(table), -1))


def path_of(folder: Path, keys: Sequence[str]) -> Path:
    """Path of the part with the vectors of these texts, which is named for them."""
    return folder / f"{hashlib.sha256(''.join(keys).encode()).hexdigest()[:32]}{_SUFFIX}"


def write_part(folder: Path, keys: Sequence[str], vectors: NDArray[Any]) -> Path:
    """Keep the vectors of some texts as one part, and return its path; raises OSError."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, keys)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    table = pa.table({"key": pa.array([bytes.fromhex(key) for key in keys], pa.binary(32)), "vector": rows})
    settings = {"compression": "none", "use_dictionary": False, "write_page_checksum": True}
    with replace_file(path, private=True) as temporary:
        write_table(table, temporary, row_group_size=_GROUP, **settings)
    return path
