"""Encoding on a cluster: texts in parts, each kept as soon as it is done; a worker loads the model once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import ClusterError, ModelError
from fcpair.models.cluster.flow import run_pieces
from fcpair.models.encode import Progress, encode_batches, open_encoder, prepare_backend
from fcpair.models.encoder import Encoder
from fcpair.models.model_files import Model, resolve
from fcpair.models.vector_cache import folder_of, key_of, path_of, read_part, read_parts, write_part

if TYPE_CHECKING:
    from distributed import Client

PART = 2048  # texts


@dataclass(frozen=True)
class VectorPlaces:
    """Where the vectors of texts are kept: in which file each is, and in which of its rows."""

    paths: list[Path]
    path: NDArray[np.int64]
    row: NDArray[np.int64]

    def subset(self, texts: NDArray[np.int64]) -> VectorPlaces:
        """The same for some of the texts, by their positions, and only the files that these need."""
        used, path = np.unique(self.path[texts], return_inverse=True)
        return VectorPlaces([self.paths[at] for at in used], path, self.row[texts])


def encode_on_cluster(
    client: Client, texts: Sequence[str], model: Model, progress: Progress | None = None
) -> VectorPlaces:
    """Have every text encoded that is not kept yet; returns where the vectors of all of them are.

    `progress(done, total)` counts the texts that had to be encoded.

    Raises:
        ModelError: the model cannot be had or run, or a worker has another one by this name.
    """
    keys = [key_of(text) for text in texts]
    distinct = dict(zip(keys, texts, strict=True))
    if not distinct:
        raise ModelError("there are no texts to encode")
    cached_keys = {key for part in read_parts(folder_of(model)) for key in part.keys}
    new = [key for key in distinct if key not in cached_keys]
    pieces = [new[at : at + PART] for at in range(0, len(new), PART)]
    folder, done = folder_of(model), 0
    if new:
        prepare_backend(model)
    for piece, _ in run_pieces(
        client,
        pieces,
        lambda piece_keys: client.submit(_encode, piece_keys, [distinct[key] for key in piece_keys], model, folder),
    ):
        done += len(piece)
        if progress:
            progress(done, len(new))
    return cached_places(keys, folder)


def cached_places(keys: list[str], folder: Path) -> VectorPlaces:
    """Where in a folder the vectors of the keys are kept; raises ClusterError where they are not all there."""
    paths: list[Path] = []
    place_by_key: dict[str, tuple[int, int]] = {}
    for part in read_parts(folder):
        place_by_key.update((key, (len(paths), row)) for row, key in enumerate(part.keys))
        paths.append(part.path)
    if n_lost := sum(key not in place_by_key for key in keys):
        raise ClusterError(f"the vectors of {n_lost:,} texts that workers have kept are not found in {folder}")
    path, row = np.array([place_by_key[key] for key in keys], np.int64).T
    return VectorPlaces(paths, path, row).subset(np.arange(len(keys)))


def _encode(keys: list[str], texts: list[str], model: Model, folder: Path) -> None:
    """Encode the texts of a part in a worker, and keep their vectors, unless a lost worker has done so before."""
    if read_part(path_of(folder, keys)) is not None:
        return
    done = list(encode_batches(texts, _encoder(model), model.name))
    vectors = np.empty((len(texts), done[0][1].shape[1]), np.float32)
    for at, unit in done:
        vectors[at] = unit
    write_part(folder, keys, vectors)


@lru_cache(maxsize=1)
def _encoder(model: Model) -> Encoder:
    """The model, loaded once in a worker; it must be what it is where the work comes from."""
    local_model = resolve(model.folder if Path(model.folder).is_dir() else model.name, backend=model.backend)
    if local_model.key != model.key:
        raise ModelError(
            f"a worker has another {model.name}: weights, configuration or libraries differ "
            f"({local_model.record()['libraries']}); install the same versions on all workers"
        )
    return open_encoder(local_model)
