"""The heavy stages on a Dask cluster: the same functions, in pieces.

`encode_on_cluster` does what `fcpair.models.encode` does, `nearest_on_cluster` what `stages.corpus.nearest_neighbours`
does, with their functions: they cut the work, and put together what comes back. Only this module imports Dask.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import uuid4

import numpy as np

from fcpair.arrays import Ints, Vectors
from fcpair.errors import ClusterError, FcpairError, InputError, ModelError, require
from fcpair.models.cache import folder_of, key_of, path_of, read_part, read_parts, read_vectors, write_part
from fcpair.models.encode import Encoder, Progress, encode_batches, ensure_exported, open_encoder
from fcpair.models.model_files import ONNX, Model, resolve
from fcpair.params import MEMORY_MB
from fcpair.stages.corpus import nearest_neighbours as stage
from fcpair.stages.corpus.nearest_neighbours import NO_NEIGHBOUR, Blocks, Neighbours

if TYPE_CHECKING:
    from distributed import Client, Future

LOCAL = "local:"
ANSWERS_WITHIN_S = 15
_ONE_THREAD = {f"{name}_NUM_THREADS": 1 for name in ("OMP", "MKL", "OPENBLAS")}
_SETTINGS = {
    # Dask's own also has MALLOC_TRIM_THRESHOLD_, which has each block's memory given back and asked for again
    "distributed.nanny.pre-spawn-environ": _ONE_THREAD,
    "distributed.scheduler.http.routes": [],
    "distributed.worker.http.routes": [],
    "distributed.comm.timeouts.connect": ANSWERS_WITHIN_S,
}
AHEAD = 3  # pieces of work that each worker has before it, so that none waits
Piece = TypeVar("Piece")
PART = 2048  # texts
SOURCES_A_BLOCK, TEXTS_A_BLOCK = 4096, 65_536  # of a block: what one task compares
FAN_IN = 8


def check_address(address: str) -> None:
    """Raise InputError unless `address` is `local:N`, or looks like the address of a Dask scheduler."""
    n = address.removeprefix(LOCAL)
    if not (n.isdecimal() and int(n) > 0 if address.startswith(LOCAL) else address.rpartition(":")[2].isdecimal()):
        raise InputError(
            f"dask is `{address}`; expected local:N for N processes on this machine, or the address of a scheduler, "
            "such as tcp://node1:8786"
        )


@contextmanager
def connect_cluster(address: str, folder: Path) -> Iterator[Client]:
    """A client of the cluster `address`, whose workers all see `folder`; `local:N` starts N processes with one thread
    each on this machine, which end with the block. Raises InputError where `address` is neither that nor an address;
    ClusterError where the extra is not installed, no scheduler or worker is there in time, a worker does not see the
    folder, or the cluster is lost while the block runs.
    """
    check_address(address)
    require("cluster", "`--dask`", "dask", "distributed")
    import dask
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    for name in ("distributed", "distributed.client"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with ExitStack() as exit_stack, dask.config.set(_SETTINGS):
        client = exit_stack.enter_context(_open_client(address, exit_stack))
        try:
            client.wait_for_workers(1, timeout=ANSWERS_WITHIN_S)
        except TimeoutError:
            raise ClusterError(
                f"the scheduler at {address} has no worker; start one with `dask worker {address}`"
            ) from None
        _check_folder(client, folder)
        try:
            yield client
        except FcpairError:
            raise
        except KilledWorker as error:
            raise ClusterError(f"the same part of the work has crashed its worker several times ({error})") from error
        except (FutureCancelledError, CommClosedError, TimeoutError) as error:
            raise ClusterError(
                f"the cluster {address} was lost; what was encoded is kept, and the same command continues from there"
            ) from error
        except OSError as error:
            raise ClusterError(f"a worker of {address} cannot go on: {error}") from error


def _open_client(address: str, exit_stack: ExitStack) -> Client:
    from distributed import Client, LocalCluster

    if address.startswith(LOCAL):
        n, host = int(address.removeprefix(LOCAL)), "127.0.0.1"
        no_pages: dict[str, Any] = {"scheduler_kwargs": {"dashboard": False}, "worker_dashboard_address": None}
        no_pages |= {"dashboard_address": f"{host}:0", "silence_logs": logging.CRITICAL}
        cluster = LocalCluster(n_workers=n, threads_per_worker=1, processes=True, host=host, memory_limit=0, **no_pages)
        return Client(exit_stack.enter_context(cluster), timeout=ANSWERS_WITHIN_S)
    try:
        return Client(address, timeout=ANSWERS_WITHIN_S)
    except (OSError, TimeoutError, ValueError) as error:
        raise ClusterError(f"no Dask scheduler answers at {address} within {ANSWERS_WITHIN_S} s: {error}") from None


def _check_folder(client: Client, folder: Path) -> None:
    mark = folder / f".{uuid4().hex}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        mark.touch()
    except OSError as error:
        raise ClusterError(f"vectors cannot be kept in {folder}: {error.strerror}; set FCPAIR_CACHE") from None
    try:
        blind = sorted(worker for worker, sees in client.run(Path.exists, mark).items() if not sees)
    finally:
        mark.unlink()
    if blind:
        raise ClusterError(
            f"{len(blind)} workers, such as {blind[0]}, do not see the folder {folder}; set FCPAIR_CACHE to a folder "
            "that all of them share under one name"
        )


def run_pieces(
    client: Client, pieces: Iterable[Piece], submit: Callable[[Piece], Future[Any]]
) -> Iterator[tuple[Piece, Any]]:
    """Submit each piece, and yield it with its result as soon as that is there; what a dead worker had is repeated."""
    from distributed import as_completed

    waiting, pieces = {}, iter(pieces)
    done = as_completed()

    def submit_more(n: int) -> None:
        for piece in islice(pieces, n):
            future = submit(piece)
            waiting[future.key] = piece
            done.add(future)

    submit_more(AHEAD * max(1, len(client.scheduler_info(n_workers=-1)["workers"])))
    for future in done:
        result = future.result()
        yield waiting.pop(future.key), result
        future.release()
        submit_more(1)


@dataclass(frozen=True)
class VectorPlaces:
    """Places of the vectors of texts: the file of each, and its row there."""

    paths: list[Path]
    path: Ints
    row: Ints

    def subset(self, texts: Ints) -> VectorPlaces:
        """The same for some of the texts, by their positions, and only the files that these need."""
        used, path = np.unique(self.path[texts], return_inverse=True)
        return VectorPlaces([self.paths[at] for at in used], path, self.row[texts])


def encode_on_cluster(
    client: Client, texts: Sequence[str], model: Model, progress: Progress | None = None
) -> VectorPlaces:
    """Have every text encoded that is not kept yet, and return where the vectors of all of them are; `progress(done,
    total)` counts the texts that had to be encoded. Raises ModelError where the model cannot be had or run, or a worker
    has another one by this name.
    """
    if not texts:
        raise ModelError("there are no texts to encode")
    keys, folder, done = [key_of(text) for text in texts], folder_of(model), 0
    text_by_key = dict(zip(keys, texts, strict=True))
    cached_keys = {key for _, part_keys, _ in read_parts(folder) for key in part_keys}
    new = [key for key in text_by_key if key not in cached_keys]
    if new and model.backend == ONNX:
        ensure_exported(model)

    def submit(piece: list[str]) -> Future[Any]:
        return client.submit(_encode, piece, [text_by_key[key] for key in piece], model, folder)

    for piece, _ in run_pieces(client, [new[at : at + PART] for at in range(0, len(new), PART)], submit):
        done += len(piece)
        if progress:
            progress(done, len(new))
    return cached_places(keys, folder)


def cached_places(keys: list[str], folder: Path) -> VectorPlaces:
    """Places of the vectors of the keys in a folder; raises ClusterError where they are not all there."""
    paths: list[Path] = []
    place_by_key: dict[str, tuple[int, int]] = {}
    for part_path, part_keys, _ in read_parts(folder):
        place_by_key.update((key, (len(paths), row)) for row, key in enumerate(part_keys))
        paths.append(part_path)
    if n_lost := sum(key not in place_by_key for key in keys):
        raise ClusterError(f"the vectors of {n_lost:,} texts that workers have kept are not found in {folder}")
    path, row = np.array([place_by_key[key] for key in keys], np.int64).T
    return VectorPlaces(paths, path, row).subset(np.arange(len(keys)))


def _encode(keys: list[str], texts: list[str], model: Model, folder: Path) -> None:
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


def nearest_on_cluster(
    client: Client,
    places: VectorPlaces,
    sources: Ints,
    k: int,
    memory_mb: int = MEMORY_MB,
    progress: Progress | None = None,
) -> Neighbours:
    """The `k` texts nearest to each source, as `nearest_neighbours` finds them, ties included; all others where there
    are fewer: positions and cosines to six decimals, each `(n_sources, k)`, or less wide for want of texts. `places`
    says where the vectors of all texts are kept, in corpus order; `sources`, `(n_sources,)`, are positions there.
    `memory_mb` is for each task, beside the vectors; `progress(done, total)` counts sources.
    """
    n_texts = len(places.row)
    if not (k := min(k, n_texts - 1)):
        return stage.stack_parts([], 0)
    cn, score = np.empty((len(sources), k), np.int64), np.empty((len(sources), k))
    starts = range(0, n_texts, TEXTS_A_BLOCK)
    columns = [
        client.submit(_load, places.subset(np.arange(start, min(start + TEXTS_A_BLOCK, n_texts)))) for start in starts
    ]
    done = 0

    def submit_block(at: int) -> Future[Any]:
        block_sources = sources[at : at + SOURCES_A_BLOCK]
        rows = client.submit(_load, places.subset(block_sources))
        futures = [
            client.submit(_nearest_of_block, rows, texts, block_sources, start, k, memory_mb)
            for start, texts in zip(starts, columns, strict=True)
        ]
        while len(futures) > 1:
            futures = [
                client.submit(stage.merge_parts, futures[i : i + FAN_IN], k) for i in range(0, len(futures), FAN_IN)
            ]
        return futures[0]

    for at, block_neighbours in run_pieces(client, range(0, len(sources), SOURCES_A_BLOCK), submit_block):
        cn[at : at + SOURCES_A_BLOCK], score[at : at + SOURCES_A_BLOCK] = block_neighbours
        done += len(block_neighbours[0])
        if progress:
            progress(done, len(sources))
    return cn, score


def _load(places: VectorPlaces) -> Vectors:
    rows_by_path = [np.flatnonzero(places.path == number) for number in range(len(places.paths))]
    read = [read_vectors(path, places.row[rows]) for path, rows in zip(places.paths, rows_by_path, strict=True)]
    vectors = np.empty((len(places.row), read[0].shape[1]), np.float32)
    vectors[np.concatenate(rows_by_path)] = np.concatenate(read)
    return vectors


def _nearest_of_block(
    queries: Vectors, texts: Vectors, self_position: Ints, start: int, k: int, memory_mb: int
) -> Neighbours:
    cn, score = stage.nearest_neighbours(queries, texts, self_position - start, k, Blocks.fit_memory(memory_mb, k))
    return np.where(cn == NO_NEIGHBOUR, NO_NEIGHBOUR, cn + start), score
