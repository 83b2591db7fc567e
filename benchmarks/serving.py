"""Nine clients that fetch a pair and submit a label, over and over, against an endpoint that only inserts a row.

Both servers run with the same database settings (write-ahead log, synchronous = FULL), in turn; the other one needs no
pair to be fetched, so it answers one request for a label where fcpair answers two.
"""

from __future__ import annotations

import asyncio
import csv
import shutil
import socket
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import psutil

from benchmarks.clients import Label, label_bare, label_online, labelling
from benchmarks.measure import MB, SEED, Figure, alternate, column, installed, ratios, show
from fcpair.store.corpus import sides

if TYPE_CHECKING:
    from fcpair.study import Study

REPETITIONS = 3
SECONDS = 30
N_CLIENTS = 9
N_HS, N_CN = 300, 210
Started = tuple[psutil.Process, int, float]
Serving = AbstractContextManager[Started]


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure labels per second, latency, processor time, memory and start of both servers."""
    tokens = prepare(folder)
    jobs = {"fcpair": lambda: _online(folder, tokens), "bare": lambda: _bare(folder)}
    for start in (_fcpair, _endpoint):  # once, which writes their bytecode
        with start(folder):
            pass
    results = alternate(jobs, repetitions)
    units = {"per_s": " labels/s", "p50_ms": " ms", "p99_ms": " ms", "max_ms": " ms", "cpu_ms": " ms/label"}
    for name, unit in {**units, "start_s": " s", "memory_mb": " MB"}.items():
        for which, found in results.items():
            show(f"{which}, {name}", column(found, name), unit)
    ratio = show("fcpair / bare, labels per second", ratios(results["fcpair"], results["bare"], "per_s"))
    worst = {name: max(column(results["fcpair"], name)) for name in ("p99_ms", "cpu_ms", "start_s", "memory_mb")}
    return [
        Figure("serving", "labels per second over the bare endpoint", ratio, "at least", 0.70, " x"),
        Figure("serving", "99th percentile of fetch and submit", worst["p99_ms"], "at most", 25, " ms"),
        Figure("serving", "processor time of the server per label", worst["cpu_ms"], "at most", 0.9, " ms"),
        Figure("serving", "start until the first answer", worst["start_s"], "at most", 1.5, " s"),
        Figure("serving", "memory after the labels", worst["memory_mb"], "at most", 110, " MB"),
    ]


def prepare(
    folder: Path,
    place: str | None = None,
    n_annotators: int = N_CLIENTS,
    n_hs: int = N_HS,
    n_cn: int = N_CN,
    **dealt: Any,
) -> list[str]:
    """Make a study at `place` or as `study.db`, and invite its annotators.

    By default it has enough pairs for the fastest server. They are `dealt` as these options of `Assign` say.
    """
    from fcpair.params import Assign

    hs = [f"A mild statement about group {i}, as long as such statements tend to be." for i in range(n_hs)]
    cn = [f"A reply with the number {i}, written to be of about the length that replies have." for i in range(n_cn)]
    study = crossed(folder, hs, cn, place)
    study.grid().assign(Assign(annotators=n_annotators, seed=SEED, **dealt))
    tokens = [study.access.invite(one.name) for one in study.people]
    for one in study.people:
        study.access.consent(one.id, {})
    return tokens


def crossed(folder: Path, hs: Sequence[str], cn: Sequence[str], place: str | None = None) -> Study:
    """Make a study of every HS with every CN, at `place` or as `study.db`, without a model."""
    from fcpair.params import Import, Pair, Select
    from fcpair.study import Study

    sources = [(one, f"a source of {one}") for one in hs]
    write_rows(folder / "corpus.csv", [("hs", "cn"), *sources, *(("another", one) for one in cn)])
    write_rows(folder / "hs.csv", [("hs",), *((one,) for one in hs)])
    study = Study.create(place or folder / "study.db")
    grid = study.grid()
    study.import_corpus(Import(folder / "corpus.csv"))
    grid.select(Select(hs_list=folder / "hs.csv"))
    _set_candidates(study, set(cn))
    grid.pair(Pair())
    return study


def write_rows(path: Path, rows: list[tuple[str, ...]]) -> None:
    """Write a CSV."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(rows)


def _set_candidates(study: Study, bodies: set[str]) -> None:
    """Do what `retrieve` does, without a model."""
    from fcpair.store.corpus import texts

    with study._store.write() as tx:
        known = texts.texts_of(tx, "cn")
        sides.set_texts(tx, "column", known["id"][known["body"].isin(bodies)].tolist())


def _online(folder: Path, tokens: list[str]) -> dict[str, Any]:
    with _fcpair(folder) as (process, port, start_s):
        return {"start_s": start_s, **_load(process, port, tokens, label_online)}


def _bare(folder: Path) -> dict[str, Any]:
    with _endpoint(folder) as (process, port, start_s):
        return {"start_s": start_s, **_load(process, port, [""] * N_CLIENTS, label_bare)}


def _fcpair(folder: Path) -> Serving:
    path = Path(shutil.copy(folder / "study.db", folder / "served.db"))
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    return server([script, "serve", "--study", str(path), "--port"], "/join", installed(folder))


def _endpoint(folder: Path) -> Serving:
    for left in folder.glob("bare.db*"):
        left.unlink()
    line = [sys.executable, "-m", "uvicorn", "benchmarks.bare_endpoint:app", "--no-access-log", "--port"]
    return server(line, "/openapi.json", installed(folder) | {"BARE_DATABASE": str(folder / "bare.db")})


def _load(process: psutil.Process, port: int, tokens: list[str], label: Label) -> dict[str, Any]:
    before = sum(process.cpu_times()[:2])
    found: dict[str, Any] = asyncio.run(labelling([port], tokens, label, SECONDS))
    cpu_s = sum(process.cpu_times()[:2]) - before
    return {**found, "cpu_ms": 1000 * cpu_s / found["labels"], "memory_mb": process.memory_info().rss / MB}


@contextmanager
def server(line: list[str], path: str, environment: dict[str, str] | None = None) -> Iterator[Started]:
    """A server on a free port: its process, the port, and the seconds until it answered for the first time."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    start = time.perf_counter()
    with (
        TemporaryFile("w+") as errors,
        subprocess.Popen([*line, str(port)], env=environment, stdout=subprocess.DEVNULL, stderr=errors) as process,
    ):
        try:
            while not _answers(port, path):
                if process.poll() is not None:
                    errors.seek(0)
                    raise RuntimeError(f"{process.args!r} does not start: {errors.read()[-1000:]}")
                time.sleep(0.01)
            yield psutil.Process(process.pid), port, time.perf_counter() - start
        finally:
            process.terminate()


def _answers(port: int, path: str) -> bool:
    from urllib.error import URLError
    from urllib.request import urlopen

    try:
        with urlopen(f"http://127.0.0.1:{port}{path}", timeout=5) as answer:
            return bool(answer.status == 200)
    except (URLError, ConnectionError, TimeoutError):  # a busy machine takes its time
        return False
