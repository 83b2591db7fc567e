"""Two Dask workers on this machine, one thread each, against the single-machine code with one thread: exact top-10.

`python -m benchmarks.cluster --sources 100000` takes all 100,000 texts as sources, not 20,000: some five minutes.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import by_itself
from benchmarks.measure import Figure, alternate, column, job, ratios, show
from benchmarks.nearest import N_TEXTS, K, vectors_of

REPETITIONS = 3
N_SOURCES = 20_000
PART = 2048


def run(folder: Path, repetitions: int, n_sources: int = N_SOURCES) -> list[Figure]:
    """Measure from vectors that are kept in the cache to neighbours; starting the workers is left out."""
    os.environ["OMP_NUM_THREADS"] = "1"
    job("benchmarks.cluster:prepare", folder / "vectors")
    jobs = {
        name: partial(job, f"benchmarks.cluster:{name}", folder / "vectors", n_sources) for name in ("alone", "two")
    }
    results = alternate(jobs, repetitions)
    of = f"{n_sources:,} x {N_TEXTS:,}"
    for name, found in results.items():
        show(f"{of}: {name}", column(found), " s")
        show(f"{of}: {name}, peak memory of the process that asks", column(found, "peak_mb"), " MB")
    show("starting the workers", column(results["two"], "start_s"), " s")
    show("peak memory of a worker", column(results["two"], "worker_mb"), " MB")
    ratio = show(f"{of}: alone / two", ratios(results["alone"], results["two"]))
    digests = {one["found"] for runs in results.values() for one in runs}
    return [
        Figure("cluster", f"{of}: times as fast with two workers", ratio, "at least", 1.6, " x"),
        Figure("cluster", "different neighbours, scores and orders", len(digests), "exactly", 1),
    ]


def prepare(folder: str) -> dict[str, Any]:
    """Job: vectors, kept in parts as a cluster keeps them."""
    from fcpair.models.cache import write_part

    vectors, keys = vectors_of("alike", N_TEXTS), _keys()
    for at in range(0, N_TEXTS, PART):
        write_part(Path(folder), keys[at : at + PART], vectors[at : at + PART])
    return {}


def _keys() -> list[str]:
    from fcpair.models.cache import key_of

    return [key_of(str(at)) for at in range(N_TEXTS)]


def alone(folder: str, n_sources: str) -> dict[str, Any]:
    """Job: the vectors read, and compared on one thread."""
    import numpy as np

    from fcpair.models.encode import compute_rows
    from fcpair.stages.corpus.retrieve import nearest_to

    keys = _keys()
    start = time.perf_counter()
    vectors = compute_rows(keys, Path(folder), lambda _: iter(()))  # all are kept
    found = nearest_to(vectors, np.arange(int(n_sources)), K)
    return {"seconds": time.perf_counter() - start, "found": _digest(found)}


def two(folder: str, n_sources: str) -> dict[str, Any]:
    """Job: the same by two workers."""
    import numpy as np

    from fcpair.models.cluster import cached_places, connect_cluster, nearest_on_cluster

    keys = _keys()
    begun = time.perf_counter()
    with connect_cluster("local:2", Path(folder)) as client:
        start = time.perf_counter()
        found = nearest_on_cluster(client, cached_places(keys, Path(folder)), np.arange(int(n_sources)), K)
        seconds = time.perf_counter() - start
        worker_mb = max(client.run(_peak_mb).values())
    return {"seconds": seconds, "start_s": start - begun, "worker_mb": worker_mb, "found": _digest(found)}


def _peak_mb() -> float:
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


def _digest(found: Any) -> str:
    cn, score = found
    return hashlib.sha256(cn.tobytes() + score.tobytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(by_itself.main("cluster", run, N_SOURCES, __doc__))
