"""CONAN English's distinct CNs by both backends, against the library's own `encode` on the same texts and threads."""

from __future__ import annotations

import hashlib
import os
import time
from functools import partial
from pathlib import Path
from typing import Any, Literal

from benchmarks.measure import Figure, alternate, column, data, job, ratios, show

REPETITIONS = 5
NEIGHBOURS = (2, 10)
NAMES = ("library", "torch", "onnx")


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure tokenising and encoding; loading the model, and exporting it, is left out."""
    os.environ["FCPAIR_CACHE"] = str(folder)
    jobs = {"library": partial(job, "benchmarks.encoding:library", data())}
    jobs |= {name: partial(job, "benchmarks.encoding:backend", data(), name) for name in NAMES[1:]}
    print(
        f"  exporting: {jobs['onnx']()['opening_s']:.2f} s, once; threads: {os.environ.get('OMP_NUM_THREADS', 'all')}"
    )
    results = alternate(jobs, repetitions)
    for name, found in results.items():
        show(f"{name}, encoding {found[0]['n_texts']:,} texts", column(found), " s")
        show(f"{name}, opening the model", column(found, "opening_s"), " s")
        show(f"{name}, peak memory", column(found, "peak_mb"), " MB")
    faster = {name: show(f"library / {name}", ratios(results["library"], results[name])) for name in NAMES[1:]}
    sets = {one["neighbours"] for runs in results.values() for one in runs}
    return [
        Figure("encoding", "times as fast as `encode`, with ONNX Runtime", faster["onnx"], "at least", 2.0, " x"),
        Figure("encoding", "different sets of neighbours", len(sets), "exactly", 1),
    ]


def backend(folder: str, name: Literal["torch", "onnx"]) -> dict[str, Any]:
    """Job: all texts by a backend of fcpair."""
    import numpy as np

    from fcpair.models.encode import encode_batches, open_encoder
    from fcpair.models.model_files import resolve

    texts = _texts(folder)
    start = time.perf_counter()
    encoder = open_encoder(resolve(backend=name))
    opened = time.perf_counter()
    vectors = np.empty((len(texts), 384), np.float32)
    for at, unit in encode_batches(texts, encoder, name):
        vectors[at] = unit
    return _result(texts, vectors, opened - start, time.perf_counter() - opened)


def library(folder: str) -> dict[str, Any]:
    """Job: all texts by `SentenceTransformer.encode` with its defaults."""
    from fcpair.models.model_files import resolve, silence_libraries

    texts = _texts(folder)
    start = time.perf_counter()
    silence_libraries()
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(resolve().folder, local_files_only=True)
    opened = time.perf_counter()
    vectors = model.encode(texts, normalize_embeddings=True)
    return _result(texts, vectors, opened - start, time.perf_counter() - opened)


def _texts(folder: str) -> list[str]:
    from fcpair.files.corpus.corpus import read_corpus
    from fcpair.params import Import

    pairs = read_corpus(Import(Path(folder) / "conan" / "CONAN.csv", "conan", only_language="en")).pairs
    return list(pairs.groupby("cn_digest", sort=False)["cn"].first())


def _result(texts: list[str], vectors: Any, opening_s: float, seconds: float) -> dict[str, Any]:
    import numpy as np

    from fcpair.stages.corpus.retrieve import nearest_to, neighbour_table

    every = np.arange(len(texts))
    tables = [neighbour_table(nearest_to(vectors, every, k), every, k) for k in NEIGHBOURS]
    sets = [table.groupby("source")["cn"].agg(sorted).tolist() for table in tables]
    digest = hashlib.sha256(repr(sets).encode()).hexdigest()
    return {"seconds": seconds, "opening_s": opening_s, "n_texts": len(texts), "neighbours": digest}
