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
from fcpair.models.cluster.flow import each
from fcpair.models.encode import Progress, batches, open_encoder, prepare
from fcpair.models.encoder import Encoder
from fcpair.models.model_files import Model, resolve
from fcpair.models.vector_cache import folder_of, key_of, parts, path_of, read_part, write_part

if TYPE_CHECKING:
    from distributed import Client

PART = 2048  # texts


@dataclass(frozen=True)
class Places:
    """Where the vectors of texts are kept: in which file each is, and in which of its rows."""

    paths: list[Path]
    path: NDArray[np.int64]
    row: NDArray[np.int64]

    def of(self, texts: NDArray[np.int64]) -> Places:
        """The same for some of the texts, by their positions, and only the files that these need."""
        used, path = np.unique(self.path[texts], return_inverse=True)
        return Places([self.paths[at] for at in used], path, self.row[texts])


def encoded(client: Client, texts: Sequence[str], model: Model, progress: Progress | None = None) -> Places:
    """Have every text encoded that is not kept yet; returns where the vectors of all of them are.

    `progress(done, total)` counts the texts that had to be encoded.

    Raises:
        ModelError: the model cannot be had or run, or a worker has another one by this name.
    """
    keys = [key_of(text) for text in texts]
    distinct = dict(zip(keys, texts, strict=True))
    if not distinct:
        raise ModelError("there are no texts to encode")
    there = {key for part in parts(folder_of(model)) for key in part.keys}
    new = [key for key in distinct if key not in there]
    pieces = [new[at : at + PART] for at in range(0, len(new), PART)]
    folder, done = folder_of(model), 0
    if new:
        prepare(model)
    for piece, _ in each(
        client, pieces, lambda some: client.submit(_encode, some, [distinct[key] for key in some], model, folder)
    ):
        done += len(piece)
        if progress:
            progress(done, len(new))
    return kept_places(keys, folder)


def kept_places(keys: list[str], folder: Path) -> Places:
    """Where in a folder the vectors of the keys are kept; raises ClusterError where they are not all there."""
    paths: list[Path] = []
    found: dict[str, tuple[int, int]] = {}
    for part in parts(folder):
        found.update((key, (len(paths), row)) for row, key in enumerate(part.keys))
        paths.append(part.path)
    if lost := sum(key not in found for key in keys):
        raise ClusterError(f"the vectors of {lost:,} texts that workers have kept are not found in {folder}")
    path, row = np.array([found[key] for key in keys], np.int64).T
    return Places(paths, path, row).of(np.arange(len(keys)))


def _encode(keys: list[str], texts: list[str], model: Model, folder: Path) -> None:
    """What a worker does: encode the texts of a part, and keep their vectors, unless one did that and was lost then."""
    if read_part(path_of(folder, keys)) is not None:
        return
    done = list(batches(texts, _encoder(model), model.name))
    vectors = np.empty((len(texts), done[0][1].shape[1]), np.float32)
    for at, unit in done:
        vectors[at] = unit
    write_part(folder, keys, vectors)


@lru_cache(maxsize=1)
def _encoder(model: Model) -> Encoder:
    """The model, loaded once in a worker; it must be what it is where the work comes from."""
    here = resolve(model.folder if Path(model.folder).is_dir() else model.name, backend=model.backend)
    if here.key != model.key:
        raise ModelError(
            f"a worker has another {model.name}: weights, configuration or libraries differ "
            f"({here.record()['libraries']}); install the same versions on all workers"
        )
    return open_encoder(here)
