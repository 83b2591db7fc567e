"""Vectors kept in the cache folder: a folder for each model, in it parts in Parquet, each written once and whole.

Who is stopped loses at most the part that was not written yet. A part that is damaged is a warning in the log, and its
texts are encoded anew.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fcpair.files.tables.folders import replace_file
from fcpair.models.cache import cache_folder
from fcpair.models.model_files import Model

_log = logging.getLogger(__name__)
_SUFFIX = ".parquet"
_GROUP = 8192  # rows that can be read by themselves


@dataclass(frozen=True)
class Part:
    """A part that is kept: the digests of its texts, and their vectors, shape `(n_texts, dimension)`."""

    path: Path
    keys: list[str]
    vectors: NDArray[np.float32]


def key_of(text: str) -> str:
    """The digest by which the vector of a text is kept."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def folder_of(model: Model) -> Path:
    """Where the vectors of a model are kept."""
    return cache_folder() / "vectors" / model.key


def read_parts(folder: Path) -> Iterator[Part]:
    """The parts that are kept in a folder; none where there is none. One that cannot be read is passed over."""
    for path in sorted(folder.glob(f"[!.]*{_SUFFIX}")):
        if (part := read_part(path)) is not None:
            yield part


def read_part(path: Path) -> Part | None:
    """Read a part; None where there is none, and, with a warning, where it cannot be read."""
    from pyarrow.parquet import ParquetFile

    try:
        with ParquetFile(path, page_checksum_verification=True) as file:
            table = file.read(["key", "vector"])
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        _log.warning("the cache %s cannot be read (%s); its content is computed again", path, error)
        return None
    return Part(path, [key.hex() for key in table["key"].to_pylist()], _array(table))


def read_vectors(path: Path, rows: NDArray[np.int64]) -> NDArray[np.float32]:
    """Read the vectors of some rows of a part; raises OSError or ValueError where it is damaged."""
    from pyarrow.parquet import ParquetFile

    groups, at = np.unique(rows // _GROUP, return_inverse=True)
    with ParquetFile(path, page_checksum_verification=True) as file:
        table = file.read_row_groups(groups.tolist(), columns=["vector"])
    vectors: NDArray[np.float32] = _array(table)[at * _GROUP + rows % _GROUP]
    return vectors


def _array(table: Any) -> NDArray[np.float32]:
    flat: NDArray[np.float32] = table["vector"].combine_chunks().flatten().to_numpy()
    rows: NDArray[np.float32] = flat.reshape(len(table), -1)
    return rows


def path_of(folder: Path, keys: Sequence[str]) -> Path:
    """Where the part with the vectors of these texts is kept: it is named for them."""
    return folder / f"{hashlib.sha256(''.join(keys).encode()).hexdigest()[:32]}{_SUFFIX}"


def write_part(folder: Path, keys: Sequence[str], vectors: NDArray[np.float32]) -> Path:
    """Keep the vectors of some texts as one part, and return its path; raises OSError."""
    import pyarrow as pa
    from pyarrow.parquet import write_table

    folder.mkdir(parents=True, exist_ok=True)
    path = path_of(folder, keys)
    rows = pa.FixedSizeListArray.from_arrays(pa.array(vectors.reshape(-1)), vectors.shape[1])
    table = pa.table({"key": pa.array([bytes.fromhex(key) for key in keys], pa.binary(32)), "vector": rows})
    with replace_file(path, private=True) as temporary:
        write_table(
            table,
            temporary,
            row_group_size=_GROUP,
            compression="none",
            use_dictionary=False,
            write_page_checksum=True,
        )
    return path
