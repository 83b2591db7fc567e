"""A lead's first look at a study: processor time of the server's processes, and their memory.

The server has just been started and nobody has looked. One study is of FC-CONAN's size, the other of 186,400 pairs with
228,526 labels; both are drawn as for `looking`.
"""

from __future__ import annotations

import asyncio
import sysconfig
import time
from pathlib import Path
from typing import Any

import psutil

from benchmarks import looking
from benchmarks.clients import Connection
from benchmarks.measure import MB, Figure, column, job, show
from benchmarks.serving import server

REPETITIONS = 5
SETTLED_S = 1.0  # after the start
SHAPES: dict[str, dict[str, Any]] = {
    "5,805 pairs": {"N_HS": 45, "N_CN": 129, "PAIRS_BY_LABELS": {1: 4_500, 2: 705, 3: 400}, "DECIDED": 200},
    "186,400 pairs": {"N_HS": 466, "N_CN": 400, "PAIRS_BY_LABELS": {1: 155_000, 2: 20_674, 3: 10_726}},
}
MOST_S = {"5,805 pairs": 0.5, "186,400 pairs": 2.0}
MOST_MB = {"5,805 pairs": 150, "186,400 pairs": 350}


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure the first look at each study."""
    figures = []
    for shape in SHAPES:
        path = folder / f"{shape[:3]}.db"
        token = job("benchmarks.first_look:prepare", path, shape)["tokens"]["lead"][0]
        figures += figures_of(shape, [_served(path, token) for _ in range(repetitions)])
    return figures


def figures_of(shape: str, looks: list[dict[str, float]]) -> list[Figure]:
    """The figures of some looks at a study of this shape."""
    cpu_s = show(f"{shape}, processor time", column(looks, "cpu_s"), " s")
    seconds = show(f"{shape}, on the clock", column(looks, "seconds"), " s")
    memory = show(f"{shape}, all processes", column(looks, "memory_mb"), " MB")
    return [
        Figure("first_look", f"{shape}: on the clock", seconds, "at most", MOST_S[shape], " s"),
        Figure("first_look", f"{shape}: processor time", cpu_s, "at most", MOST_S[shape], " s"),
        Figure("first_look", f"{shape}: memory, all processes", memory, "at most", MOST_MB[shape], " MB"),
    ]


def prepare(path: str, shape: str) -> dict[str, Any]:
    """Job: draw the study of this shape."""
    for name, value in SHAPES[shape].items():
        setattr(looking, name, value)
    return looking.prepare(path)


def _served(path: Path, token: str) -> dict[str, float]:
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    with server([script, "serve", "--study", str(path), "--port"], "/join") as (process, port, _):
        return asyncio.run(look(process, port, token))


async def look(process: psutil.Process, port: int, token: str) -> dict[str, float]:
    """Look for the first time at a server that has settled: `cpu_s`, `seconds`, and `memory_mb` afterwards.

    Of memory that processes share each has its part, so that all together have it once: run nothing else of fcpair.
    """
    connection = await Connection.to(port, token)
    await connection.ask("GET", "/api/me")
    await asyncio.sleep(SETTLED_S)
    before, begun = _cpu_s(process), time.perf_counter()
    status, _ = await connection.exchange("GET", "/lead")
    if status != 200:
        raise RuntimeError(f"/lead was answered {status}")
    seconds = time.perf_counter() - begun
    memory = sum(one.memory_full_info().pss for one in _processes(process)) / MB
    return {"cpu_s": _cpu_s(process) - before, "seconds": seconds, "memory_mb": memory}


def _processes(process: psutil.Process) -> list[psutil.Process]:
    return [process, *process.children(recursive=True)]


def _cpu_s(process: psutil.Process) -> float:
    return sum(sum(one.cpu_times()[:2]) for one in _processes(process))
