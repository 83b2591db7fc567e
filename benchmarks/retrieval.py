"""`Study.retrieve` on CONAN English: each distinct text encoded once, against `encode` over the rows as they come."""

from __future__ import annotations

import hashlib
import shutil
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from benchmarks.measure import Figure, alternate, column, data, job, ratios, show
from fcpair.store.corpus import sides

REPETITIONS = 5
K, N_CANDIDATES = 2, 133
Result = TypeVar("Result")


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure encoding, loading of the model left out, and compare the candidates."""
    study = folder / "study.db"
    job("benchmarks.retrieval:prepare", data(), study)
    jobs = {
        "fcpair": partial(_with_new_cache, study, folder / "cache"),
        "rows": partial(job, "benchmarks.retrieval:rows", data()),
        "again": partial(_retrieve, study, folder / "cache"),
    }
    results = alternate(jobs, repetitions)
    for name, found in results.items():
        show(f"{name}, encoding {found[0]['n_texts']:,} texts", column(found), " s")
    print(f"  threads: {sorted({found['threads'] for name in ('fcpair', 'rows') for found in results[name]})}")
    show("again, the whole stage", column(results["again"], "stage_s"), " s")
    return _figures(results, show("rows / fcpair", ratios(results["rows"], results["fcpair"])))


def _figures(results: dict[str, list[dict[str, Any]]], ratio: float) -> list[Figure]:
    every = [found for runs in results.values() for found in runs]
    loads = sum(found["model_loaded"] for found in results["again"])
    return [
        Figure("retrieval", "times as fast as the rows as they come", ratio, "at least", 2.5, " x"),
        Figure("retrieval", "candidates", results["fcpair"][0]["n_candidates"], "exactly", N_CANDIDATES),
        Figure("retrieval", "different sets of candidates", len({one["candidates"] for one in every}), "exactly", 1),
        Figure("retrieval", "loads of the model in second runs", loads, "exactly", 0),
    ]


def _with_new_cache(study: Path, cache: Path) -> dict[str, Any]:
    shutil.rmtree(cache, ignore_errors=True)
    return _retrieve(study, cache)


def _retrieve(study: Path, cache: Path) -> dict[str, Any]:
    copy = study.with_suffix(".copy")
    shutil.copyfile(study, copy)
    try:
        return job("benchmarks.retrieval:stage", copy, cache, "" if cache.exists() else "new")
    finally:
        copy.unlink()


def prepare(folder: str, path: str) -> dict[str, Any]:
    """Job: a study of CONAN English with the 45 HS of FC-CONAN."""
    import pandas as pd

    from fcpair import Study
    from fcpair.params import Import, Select

    published = pd.read_csv(Path(folder) / "fc-conan" / "recommender" / "fc_conan_bronze_hs.csv", dtype=str)
    listed = Path(path).with_suffix(".csv")
    published.set_axis(["hs"], axis="columns").to_csv(listed, index=False)
    study = Study.create(path)
    study.import_corpus(Import(Path(folder) / "conan" / "CONAN.csv", "conan", only_language="en"))
    study.grid().select(Select(hs_list=listed))
    return {}


def stage(path: str, cache: str, new: str) -> dict[str, Any]:
    """Job: `Study.retrieve` as it is, its encoding timed less the loading of the model."""
    import os

    os.environ["FCPAIR_CACHE"] = cache
    if new:
        import sentence_transformers  # noqa: F401  # imported here, so that importing it is not timed either
    from fcpair import Study
    from fcpair.models import encode
    from fcpair.params import Retrieve
    from fcpair.store import Store
    from fcpair.store.corpus import texts

    loading, encoding, counted = Clock(), Clock(), Clock()
    encode.load_sentence_transformer = loading.around(encode.load_sentence_transformer)
    encode._open_and_encode = counted.around(encode._open_and_encode)
    encode.encode = encoding.around(encode.encode)
    study = Study(path)
    start = time.perf_counter()
    study.grid().retrieve(Retrieve(k=K, count_duplicates=True))
    stage_s = time.perf_counter() - start
    with Store.open(Path(path)).read() as tx:
        there = texts.texts_of(tx, "cn").set_index("id")["body"]
        chosen = there.loc[sides.text_ids(tx, "column")].tolist()
    return {
        "seconds": encoding.seconds - loading.seconds,
        "stage_s": stage_s,
        "n_texts": len(counted.last_args[0]) if counted.calls else 0,
        "threads": _threads(),
        "model_loaded": "sentence_transformers" in sys.modules or bool(loading.calls),
        **_named(chosen),
    }


class Clock:
    """How often a function was called, for how long in all, and with what the last time."""

    def __init__(self) -> None:
        self.calls = 0
        self.seconds = 0.0
        self.last_args: tuple[Any, ...] = ()

    def around(self, function: Callable[..., Result]) -> Callable[..., Result]:
        """The function, timed."""

        def timed(*args: Any, **kwargs: Any) -> Result:
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.calls += 1
                self.seconds += time.perf_counter() - start
                self.last_args = args

        return timed


def rows(folder: str) -> dict[str, Any]:
    """Job: the CN of every row in file order through `SentenceTransformer.encode`, and the candidates from these."""
    import pandas as pd
    from sentence_transformers import SentenceTransformer
    from transformers.utils import logging

    from fcpair.models.model_files import resolve

    logging.disable_progress_bar()  # type: ignore[no-untyped-call]
    published = pd.read_csv(Path(folder) / "fc-conan" / "recommender" / "fc_conan_bronze_hs.csv", dtype=str)
    corpus = pd.read_csv(Path(folder) / "conan" / "CONAN.csv", dtype=str)
    corpus = corpus[corpus["cn_id"].str.lower().str.startswith("en")]
    model = SentenceTransformer(resolve().folder, local_files_only=True)
    texts = corpus["counterSpeech"].tolist()
    start = time.perf_counter()
    vectors = model.encode(texts)
    seconds = time.perf_counter() - start
    selected = corpus["hateSpeech"].str.strip().isin(published.iloc[:, 0].str.strip())
    chosen = _candidates([text.strip() for text in texts], selected.to_numpy(), vectors)
    return {"seconds": seconds, "n_texts": len(texts), "threads": _threads(), **_named(chosen)}


def _candidates(texts: list[str], selected: Any, vectors: Any) -> list[str]:
    """The `K` rows nearest to each source CN, itself in no row, less the source CNs; written without fcpair."""
    import numpy as np

    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    names = np.array(texts, object)
    sources = {text: at for at, text in reversed(list(enumerate(texts))) if selected[at]}
    found: set[str] = set()
    for text, at in sources.items():
        similarity = np.round(unit.astype(np.float64) @ unit[at], 6)
        similarity[names == text] = -np.inf
        found |= set(names[np.argsort(-similarity, kind="stable")[:K]])
    return list(found - set(sources))


def _named(chosen: list[str]) -> dict[str, Any]:
    texts = "\n".join(sorted(text.strip() for text in chosen))
    return {"n_candidates": len(chosen), "candidates": hashlib.sha256(texts.encode()).hexdigest()}


def _threads() -> int:
    torch = sys.modules.get("torch")
    return int(torch.get_num_threads()) if torch else 0
