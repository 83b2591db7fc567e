"""Nearest neighbours on a cluster: blocks of sources by blocks of texts, and a tree that keeps the nearest of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fcpair.models.cluster.cluster_encode import VectorPlaces
from fcpair.models.cluster.flow import run_pieces
from fcpair.models.encode import Progress
from fcpair.models.vector_cache import read_vectors
from fcpair.params import MEMORY_MB
from fcpair.stages.corpus import nearest_neighbours as stage
from fcpair.stages.corpus.nearest_neighbours import NO_NEIGHBOUR, Blocks, Neighbours

if TYPE_CHECKING:
    from distributed import Client, Future

SOURCES, TEXTS = 4096, 65_536  # of a block: what one task compares
FAN_IN = 8

Vectors = NDArray[np.float32]
Positions = NDArray[np.int64]


def nearest_on_cluster(
    client: Client,
    places: VectorPlaces,
    sources: Positions,
    k: int,
    memory_mb: int = MEMORY_MB,
    progress: Progress | None = None,
) -> Neighbours:
    """The `k` texts nearest to each source, as `nearest_neighbours` finds them, ties included.

    Args:
        client: of the cluster.
        places: where the vectors of all texts are kept, in corpus order.
        sources: positions of the source texts, shape `(n_sources,)`.
        k: how many neighbours; all others where there are fewer.
        memory_mb: what a task may take beside the vectors and what it finds.
        progress: called with the sources that are done, and all of them.

    Returns:
        Positions and cosines to six decimals, each of shape `(n_sources, k)`, or less wide for want of texts.
    """
    n_texts = len(places.row)
    k = min(k, n_texts - 1)
    if not k:
        return stage.stack_parts([], 0)
    cn, score = np.empty((len(sources), k), np.int64), np.empty((len(sources), k))
    starts = range(0, n_texts, TEXTS)
    columns = [client.submit(_load, places.subset(np.arange(start, min(start + TEXTS, n_texts)))) for start in starts]
    done = 0

    def submit_block(at: int) -> Future[Any]:
        block_sources = sources[at : at + SOURCES]
        rows = client.submit(_load, places.subset(block_sources))
        futures = [
            client.submit(_nearest_of_block, rows, texts, block_sources, start, k, memory_mb)
            for start, texts in zip(starts, columns, strict=True)
        ]
        while len(futures) > 1:
            futures = [client.submit(_merge, futures[i : i + FAN_IN], k) for i in range(0, len(futures), FAN_IN)]
        return futures[0]

    for at, block_neighbours in run_pieces(client, range(0, len(sources), SOURCES), submit_block):
        cn[at : at + SOURCES], score[at : at + SOURCES] = block_neighbours
        done += len(block_neighbours[0])
        if progress:
            progress(done, len(sources))
    return cn, score


def _load(places: VectorPlaces) -> Vectors:
    """Read vectors in a worker, from the files in which they are kept."""
    read: list[tuple[Positions, Vectors]] = []
    for number, path in enumerate(places.paths):
        at = np.flatnonzero(places.path == number)
        read.append((at, read_vectors(path, places.row[at])))
    vectors = np.empty((len(places.row), read[0][1].shape[1]), np.float32)
    for at, rows in read:
        vectors[at] = rows
    return vectors


def _nearest_of_block(
    queries: Vectors, texts: Vectors, self_position: Positions, start: int, k: int, memory_mb: int
) -> Neighbours:
    """Find in a worker the nearest of some sources among the texts that begin at `start`."""
    cn, score = stage.nearest_neighbours(queries, texts, self_position - start, k, Blocks.fit_memory(memory_mb, k))
    return np.where(cn == NO_NEIGHBOUR, NO_NEIGHBOUR, cn + start), score


def _merge(parts: list[Neighbours], k: int) -> Neighbours:
    return stage.merge_parts(parts, k)
