"""Exact top-10 of 100,000 unit vectors of 384 numbers, one thread, against faiss and a bare product in blocks.

`python -m benchmarks.nearest --sources 100000` takes all of them as sources, not 10,000, which takes half an hour.
"""

from __future__ import annotations

import os
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import by_itself
from benchmarks.measure import SEED, Figure, alternate, column, job, ratios, show

REPETITIONS = 3
N_TEXTS, DIMENSION, K = 100_000, 384, 10
N_SOURCES = 10_000
KINDS = {"random": "random vectors", "alike": "clusters with duplicates and near ones"}
CHECKED = 200  # sources that are held against the definition


def run(folder: Path, repetitions: int, n_sources: int = N_SOURCES) -> list[Figure]:
    """Measure both kinds of vectors."""
    os.environ["OMP_NUM_THREADS"] = "1"
    return [figure for kind in KINDS for figure in _run(folder / f"{kind}.npy", repetitions, n_sources, kind)]


def _run(path: Path, repetitions: int, n_sources: int, kind: str) -> list[Figure]:
    job("benchmarks.nearest:prepare", path, kind)
    jobs = {name: partial(job, f"benchmarks.nearest:{name}", path, n_sources) for name in ("fcpair", "faiss", "numpy")}
    results = alternate(jobs, repetitions)
    path.unlink()
    of = f"{KINDS[kind]}, {n_sources:,} x {N_TEXTS:,}"
    for name, found in results.items():
        show(f"{of}: {name}", column(found), " s")
        show(f"{of}: {name}, processor time", column(found, "processor_s"), " s")
        show(f"{of}: {name}, peak memory", column(found, "peak_mb"), " MB")
    least = min((results["faiss"], results["numpy"]), key=lambda found: sum(column(found)))
    ratio = show(f"{of}: fcpair / the faster of the others", ratios(results["fcpair"], least))
    wrong = sum(found["n_wrong"] for found in results["fcpair"])
    peak = max(column(results["fcpair"], "peak_mb"))
    return [
        Figure("nearest", f"{of}: time over the faster of faiss and numpy", ratio, "at most", 1.25, " x"),
        Figure("nearest", f"{of}: peak memory", peak, "at most", 1500, " MB"),
        Figure("nearest", f"{of}: of {CHECKED} sources, other than by definition", wrong, "exactly", 0),
    ]


def prepare(path: str, kind: str) -> dict[str, Any]:
    """Job: the vectors, as a file."""
    import numpy as np

    np.save(path, vectors_of(kind, N_TEXTS))
    return {}


def vectors_of(kind: str, n: int) -> Any:
    """Unit vectors: drawn alike in all directions, or around a tenth as many centres, and then with doubles.

    Of these a fifth are the same as another, a tenth the same but for rounding, and 500 in a row the same but for that.
    """
    import numpy as np

    rng = np.random.default_rng(SEED)
    vectors = rng.standard_normal((n, DIMENSION), np.float32)
    if kind == "alike":
        vectors += 1.5 * rng.standard_normal((n // 10, DIMENSION), np.float32)[rng.integers(0, n // 10, n)]
        same, near = rng.integers(0, n, (2, n // 5)), rng.integers(0, n, (2, n // 10))
        vectors[same[0]] = vectors[same[1]]
        vectors[near[0]] = vectors[near[1]] * (1 + 1e-7 * rng.standard_normal((n // 10, DIMENSION), np.float32))
        vectors[500:1000] = vectors[500] * (1 + 1e-7 * rng.standard_normal((500, DIMENSION), np.float32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors


def fcpair(path: str, n_sources: str) -> dict[str, Any]:
    """Job: as `retrieve` does it, and what of it is not what the definition says."""
    import numpy as np

    from fcpair.stages.corpus.retrieve import nearest_to

    vectors, sources = np.load(path), np.arange(int(n_sources))
    start = _clocks()
    cn, score = nearest_to(vectors, sources, K)
    times = _since(start)
    n_wrong = 0
    for source in np.random.default_rng(SEED).choice(sources, CHECKED, replace=False):
        cosine = np.round([vectors[source].astype(float) @ some.astype(float).T for some in np.split(vectors, 100)], 6)
        cosine = cosine.reshape(-1)
        cosine[source] = -np.inf
        order = np.argsort(-cosine, kind="stable")[:K]
        n_wrong += not (np.array_equal(order, cn[source]) and np.array_equal(cosine[order], score[source]))
    return {**times, "n_wrong": n_wrong}


def _clocks() -> tuple[float, float]:
    return time.perf_counter(), time.process_time()


def _since(start: tuple[float, float]) -> dict[str, float]:
    now = _clocks()
    return {"seconds": now[0] - start[0], "processor_s": now[1] - start[1]}


def faiss(path: str, n_sources: str) -> dict[str, Any]:
    """Job: `IndexFlatIP`, which finds the source itself too, and so one more."""
    import faiss
    import numpy as np

    faiss.omp_set_num_threads(1)
    vectors = np.load(path)
    start = _clocks()
    index = faiss.IndexFlatIP(DIMENSION)
    index.add(vectors)
    index.search(vectors[: int(n_sources)], K + 1)
    return _since(start)


def numpy(path: str, n_sources: str, rows: int = 1024, columns: int = 4096) -> dict[str, Any]:
    """Job: a product in float32 for each block, its top by argpartition, and that merged with those before."""
    import numpy as np

    vectors = np.load(path)
    start = _clocks()
    for at in range(0, int(n_sources), rows):
        queries = vectors[at : min(at + rows, int(n_sources))]
        best = np.full((len(queries), K + 1), -np.inf, np.float32)
        found = np.zeros((len(queries), K + 1), np.int64)
        for first in range(0, len(vectors), columns):
            block = queries @ vectors[first : first + columns].T
            part = np.argpartition(block, -K - 1, axis=1)[:, -K - 1 :]
            scores = np.concatenate([best, np.take_along_axis(block, part, axis=1)], axis=1)
            order = np.argsort(-scores, axis=1)[:, : K + 1]
            best = np.take_along_axis(scores, order, axis=1)
            found = np.take_along_axis(np.concatenate([found, part + first], axis=1), order, axis=1)
    return _since(start)


if __name__ == "__main__":
    sys.exit(by_itself.main("nearest", run, N_SOURCES, __doc__))
