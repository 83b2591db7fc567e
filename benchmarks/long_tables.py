"""Tables of 173,000 rows on a terminal: the commands that print one row a pair, read by `head` and to their end."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks import tiers
from benchmarks.measure import Figure, alternate, column, job, show

REPETITIONS = 3
N_HS, N_CN = 173, 1_000
PAIRS_BY_LABELS = {1: 120_000, 2: 40_000, 3: 13_000}
N_ANNOTATORS = 9
COMMANDS = {
    "table": ("partition", "--tier", "bronze"),
    "csv": ("partition", "--tier", "bronze", "--format", "csv"),
    "json": ("partition", "--tier", "bronze", "--format", "json"),
    "explain": ("explain", "17"),
    "log": ("log",),
}


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Build a study of 173,000 pairs, and print them; `folder` takes some 100 MB for a while."""
    study = folder / "study.db"
    pairs = job("benchmarks.long_tables:prepare", study)["decisions"]
    jobs = {
        f"{name}{' | head' * cut}": lambda words=words, cut=cut: _timed(study, words, cut=cut)
        for name, words in COMMANDS.items()
        for cut in ((True, False) if name == "table" else (False,))
    }
    results = alternate(jobs, repetitions)
    figures = [Figure("long_tables", "pairs", pairs, "exactly", N_HS * N_CN)]
    for name, found in results.items():
        show(f"{name}, time", column(found), " s")
        cpu = show(f"{name}, processor time", column(found, "cpu_s"), " s")
        peak = show(f"{name}, peak memory", column(found, "peak_mb"), " MB")
        if name == "table | head":
            figures += [
                Figure("long_tables", "processor time of `| head`", cpu, "at most", 5.0, " s"),
                Figure("long_tables", "peak memory of `| head`", peak, "at most", 500.0, " MB"),
            ]
    return figures


def prepare(path: str) -> dict[str, Any]:
    """Job: draw a study as `tiers` does, in another size."""
    tiers.N_HS, tiers.N_CN, tiers.PAIRS_BY_LABELS, tiers.N_ANNOTATORS = N_HS, N_CN, PAIRS_BY_LABELS, N_ANNOTATORS
    return tiers.prepare(path)


def _timed(study: Path, words: tuple[str, ...], *, cut: bool) -> dict[str, Any]:
    """Run a command whose output somebody reads: ten lines of it, or all."""
    start = time.perf_counter()
    environment = {**os.environ, "FCPAIR_STUDY": str(study)}
    command = [sys.executable, "-m", "fcpair", *words]
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        if cut:
            for _ in range(10):
                process.stdout.readline()
        else:
            while process.stdout.read(1 << 20):
                pass
        process.stdout.close()
        _, _, used = os.wait4(process.pid, 0)
        process.returncode = 0
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1000}
