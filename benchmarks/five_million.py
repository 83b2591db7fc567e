"""`status`, `agreement`, `partition` of 5,000,000 judgements against 500,000, in files and on a PostgreSQL server."""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import tiers
from benchmarks.crash.places import databases
from benchmarks.measure import Figure, alternate, column, job, ratios, show

REPETITIONS = 1
N_CN = 1_000
SIZES = {"0.5 million": 200, "5 million": 2_000}  # HS, each with 600 pairs of one label, 300 of two, 100 of three
STAGES = ("status", "agreement", "partition")
N_ANNOTATORS = 60


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Build both studies, copy them to a server, and measure each stage in a fresh process; some 6 GB for a while."""
    found: list[Figure] = []
    with databases() as places:
        sources = {size: folder / f"{n_hs}.db" for size, n_hs in SIZES.items()}
        for size, path in sources.items():
            made = job("benchmarks.five_million:prepare", path, SIZES[size])
            print(f"  {size}: {made['labels']:,} labels, {made['verdicts']:,} verdicts", flush=True)
            copied = job("benchmarks.five_million:copy", path, places.at(f"n{SIZES[size]}"))
            print(f"  {size}: copied to the server in {copied['seconds']:.0f} s", flush=True)
        files = {size: str(path) for size, path in sources.items()}
        servers = {size: places.at(f"n{SIZES[size]}") for size in SIZES}
        for name, there in (("SQLite", files), ("PostgreSQL", servers)):
            for stage in STAGES:
                found += _run(name, stage, there, repetitions)
    return found


def _run(name: str, stage: str, there: dict[str, str], repetitions: int) -> list[Figure]:
    jobs = {size: partial(job, f"benchmarks.five_million:{stage}", place) for size, place in there.items()}
    found = alternate(jobs, repetitions)
    of = f"{name}, {stage}"
    for size, results in found.items():
        show(f"{of}, {size}", column(results), " s")
        show(f"{of}, {size}, peak memory", column(results, "peak_mb"), " MB")
    large = found["5 million"]
    growth = show(f"{of}, 5 million / 0.5 million", ratios(large, found["0.5 million"]))
    return [
        Figure("five_million", f"{of}: 5 million", max(column(large)), "at most", 20, " s"),
        Figure("five_million", f"{of}: peak memory", max(column(large, "peak_mb")), "at most", 3_000, " MB"),
        Figure("five_million", f"{of}: growth from 0.5 million", growth, "at most", 12, " x"),
    ]


def prepare(path: str, n_hs: str) -> dict[str, Any]:
    """Job: draw a study as `tiers` does, in another size."""
    share = int(n_hs) * N_CN // 10
    tiers.N_HS, tiers.N_CN, tiers.N_ANNOTATORS = int(n_hs), N_CN, N_ANNOTATORS
    tiers.PAIRS_BY_LABELS = {1: 6 * share, 2: 3 * share, 3: share}
    return tiers.prepare(path)


def copy(path: str, place: str) -> dict[str, Any]:
    """Job: copy a study to a database."""
    from fcpair.study import Study

    start = time.perf_counter()
    Study.copy(path, place, lambda *_: None, create=True)
    return {"seconds": time.perf_counter() - start}


def status(place: str) -> dict[str, Any]:
    """Job: the study at a glance."""
    start = time.perf_counter()
    from fcpair import Study

    Study(place).status()
    return {"seconds": time.perf_counter() - start}


def agreement(place: str) -> dict[str, Any]:
    """Job: the agreement of everybody with everybody, without resampling."""
    start = time.perf_counter()
    from fcpair import Study
    from fcpair.params import Agree

    Study(place).grid().agreement(Agree())
    return {"seconds": time.perf_counter() - start}


def partition(place: str) -> dict[str, Any]:
    """Job: the four tiers."""
    return tiers.derive(place)
