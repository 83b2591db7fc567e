"""Nine people who label while strangers hold 1,100 connections and 450 unfinished bodies, and send separators.

The strangers are one process, and whenever one of their connections is closed they open another. The server may have
1,024 files open. It is asked directly, and behind nginx and Caddy with the files of examples/deploy;
where one of them is missing, that is said.
"""

from __future__ import annotations

import asyncio
import shutil
import subprocess
import sys
import sysconfig
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import psutil

from benchmarks.clients import Connection, Tally, label_online
from benchmarks.measure import MB, SEED, Figure, column, show
from benchmarks.proxies import behind, program
from benchmarks.serving import N_CLIENTS, prepare, server
from fcpair.unfinished import open_file_limit

REPETITIONS = 1
SECONDS = 20
N_IDLE, N_BODIES, N_SEPARATORS = 1_100, 450, 2
N_FILES = 1_024
PAUSE_S = 0.2  # after a label: fifty times as quick as people are
BODY = 2 * 1024 * 1024
COME_S = 3.0  # within which all come
PART = 64 * 1024
MOST_END_S = 30
HALF = b"POST /join HTTP/1.1\r\nHost: 127.0.0.1\r\nX-Half: "
HEAD = (
    b"POST /lead/guidelines HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\n"
    b"Content-Length: %d\r\n\r\n" % BODY
)
WAYS = {"directly": "", "behind nginx": "nginx", "behind Caddy": "caddy"}


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure the latency of those who work, the server's memory, and the time until it has ended."""
    tokens = prepare(folder)
    figures: list[Figure] = []
    for way, proxy in WAYS.items():
        if proxy and program(proxy) is None:
            print(f"  {way}: not measured, as {proxy} is not installed", flush=True)
            continue
        found = [_once(folder, tokens[:N_CLIENTS], proxy) for _ in range(repetitions)]
        alone = _once(folder, tokens[:N_CLIENTS], proxy, attacked=False)
        show(f"{way}, without strangers, p99_ms", [alone["p99_ms"]], " ms")
        for name, unit in {"per_s": " labels/s", "p50_ms": " ms", "p99_ms": " ms", "max_ms": " ms"}.items():
            show(f"{way}, {name}", column(found, name), unit)
        p99, memory, end = (max(column(found, name)) for name in ("p99_ms", "memory_mb", "end_s"))
        figures += [
            Figure("strangers", f"99th percentile of fetch and submit, {way}", p99, "at most", 200, " ms"),
            Figure("strangers", f"peak memory of the server, {way}", memory, "at most", 250, " MB"),
            Figure("strangers", f"from SIGTERM to the end, {way}", end, "at most", 12, " s"),
        ]
    return figures


def _once(folder: Path, tokens: list[str], proxy: str, *, attacked: bool = True) -> dict[str, Any]:
    for left in folder.glob("served.db*"):
        left.unlink()
    path = shutil.copy(folder / "study.db", folder / "served.db")
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    limited = ["sh", "-c", f'ulimit -n {N_FILES}; exec "$@"', "sh", script, "serve", "--study", str(path), "--port"]
    with (
        server(limited, "/join") as (process, port, _),
        _peak(process) as peak,
        _way(proxy, port, folder) as at,
        _strangers(at) if attacked else nullcontext(),
    ):
        found = asyncio.run(_people(at, tokens))
        return {**found, "memory_mb": peak(), "end_s": _end(process)}


async def _people(port: int, tokens: list[str]) -> dict[str, float]:
    """Let each of them label for some seconds, with a pause after each label."""
    tally = Tally(SECONDS)
    until = time.perf_counter() + SECONDS
    connections = [await Connection.to(port, token) for token in tokens]
    await asyncio.gather(*(_work(one, until, tally) for one in connections))
    return tally.summary()


async def _work(connection: Connection, until: float, tally: Tally) -> None:
    while (start := time.perf_counter()) < until:
        await label_online(connection, len(tally.latencies))
        tally.latencies.append(time.perf_counter() - start)
        await asyncio.sleep(PAUSE_S)


def _way(proxy: str, port: int, folder: Path) -> AbstractContextManager[int]:
    return behind(proxy, port, folder) if proxy else nullcontext(port)


def _end(process: psutil.Process) -> float:
    begun = time.perf_counter()
    process.terminate()
    process.wait(MOST_END_S)
    return time.perf_counter() - begun


@contextmanager
def _peak(process: psutil.Process) -> Iterator[Callable[[], float]]:
    """What gives the most memory that the process has had meanwhile, in MB."""
    seen, over = [0], threading.Event()

    def watch() -> None:
        while not over.wait(0.05):
            with suppress(psutil.NoSuchProcess):
                seen.append(process.memory_info().rss)

    watching = threading.Thread(target=watch)
    watching.start()
    try:
        yield lambda: max(seen) / MB
    finally:
        over.set()
        watching.join()


@contextmanager
def _strangers(port: int) -> Iterator[None]:
    """All strangers, once they have begun."""
    line = [sys.executable, "-m", "benchmarks.strangers", str(port)]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            process.stdout.readline()
            yield
        finally:
            process.kill()


@dataclass(frozen=True)
class _Stranger:
    """What one of them sends, how often, and within what time they come back once they were closed or refused."""

    head: bytes
    part: bytes
    n_parts: int
    again_s: float

    async def come(self, port: int, chance: Random, begun: asyncio.Semaphore) -> None:
        """Connect, send, wait until the server closes, and come back."""
        await asyncio.sleep(chance.uniform(0, COME_S))
        while True:
            with suppress(OSError):
                await self._hold(port, begun)
            await asyncio.sleep(chance.uniform(0, self.again_s))

    async def _hold(self, port: int, begun: asyncio.Semaphore) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        try:
            writer.write(self.head)
            begun.release()
            for _ in range(self.n_parts):
                writer.write(self.part)
                await writer.drain()
            while await reader.read(65_536):
                pass
        finally:
            writer.close()


async def _attack(port: int) -> None:
    begun, chance = asyncio.Semaphore(0), Random(SEED)
    quiet = [_Stranger(head, b"", 0, 2) for head in (b"", HALF) for _ in range(N_IDLE // 2)]
    unfinished = [_Stranger(HEAD, b"x" * PART, BODY // PART - 1, 20)] * N_BODIES
    separators = [_Stranger(HEAD, b"&" * PART, BODY // PART, 2)] * N_SEPARATORS
    strangers = [*quiet, *unfinished, *separators]
    coming = asyncio.gather(*(one.come(port, chance, begun) for one in strangers))
    for _ in strangers:
        await begun.acquire()
    print("all have begun", flush=True)
    await coming


if __name__ == "__main__":
    open_file_limit(2 * (N_IDLE + N_BODIES))
    asyncio.run(_attack(int(sys.argv[1])))
