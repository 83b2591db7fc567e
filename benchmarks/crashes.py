"""Whether a study is ever left half done: every stage that writes is killed at random moments, on both databases.

On PostgreSQL the process that serves the stage's connection, and the whole server, are killed too. Afterwards the
study must be exactly as after one of the stage's commits, `fcpair doctor` must be content, all ten promises of the
design must hold, and the stage must end as it would have without the kill. Then every stage meets a disk that takes no
changes, and one that is full, and so does `fcpair serve` while people answer.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from importlib import import_module
from pathlib import Path

from benchmarks.crash import disks, served
from benchmarks.crash.places import Databases, Files, Places, databases
from benchmarks.crash.stages import Stage
from benchmarks.crash.trials import Bench, Count
from benchmarks.measure import SEED, Figure

REPETITIONS = 400
FILLED = 20  # times that the disk of a study is filled up while people answer
# Of what is killed on PostgreSQL; each but the first makes the whole server recover, which takes its time.
HOW = ("process", "process", "process", "backend", "process", "process", "process", "server")

# Which stages are tried on a disk; on PostgreSQL those that write most.
SOME: dict[str, Callable[[Stage], bool]] = {
    Files.name: lambda stage: True,
    Databases.name: lambda stage: stage.name in ("import", "pair", "assign", "labels import"),
}


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Kill so often on each database, stage after stage; returns what was broken."""
    warm_up()
    figures = []
    with ExitStack() as until_the_end:
        for places in _both(folder, until_the_end):
            began = time.perf_counter()
            count = crash(places, folder / places.name, repetitions, HOW if isinstance(places, Databases) else HOW[:1])
            show(places.name, count, time.perf_counter() - began)
            kills = sum(count.kills.values())
            tried = disks.run(folder / f"{places.name}-disk", places.name, SOME[places.name])
            print(f"  {places.name}: {tried.read_only} stages met a read-only disk, {tried.full} a full one")
            print("\n".join(f"  BROKEN {one}" for one in tried.broken), flush=True)
            refused = f"stages refused by a disk, {places.name}: what was wrong with {tried.read_only + tried.full}"
            figures.append(Figure("crashes", refused, len(tried.broken), "exactly", 0))
            figures.append(
                Figure("crashes", f"promises broken in {kills} kills, {places.name}", len(count.broken), "exactly", 0)
            )
    return [*figures, *served.run_full(folder / "served", FILLED)]


def _both(folder: Path, until_the_end: ExitStack) -> Iterator[Places]:
    (folder / "files").mkdir()
    yield Files(folder / "files")
    yield until_the_end.enter_context(databases())


def warm_up(*, models: bool = True) -> None:
    """Import what takes long, so that no child has to; `models` are what retrieving needs."""
    import alembic.command  # noqa: F401
    import pandas  # noqa: F401
    import psycopg  # noqa: F401

    import fcpair.study  # noqa: F401
    from fcpair.cli import COMMANDS

    for module, _ in COMMANDS.values():
        import_module(f"fcpair.cli.{module.partition(':')[0]}")
    if models:
        import sentence_transformers  # noqa: F401


def crash(
    places: Places,
    folder: Path,
    n: int,
    hows: Sequence[str],
    seed: int = SEED,
    wanted: Callable[[Stage], bool] = lambda stage: True,
) -> Count:
    """Kill `n` times, stage after stage, what `hows` names in turn."""
    bench = Bench(places, folder, random.Random(seed))
    known = bench.learn(wanted)
    for at in range(n):
        bench.crash(known[at % len(known)], hows[(at + at // len(known)) % len(hows)])
    return bench.count


def show(name: str, count: Count, seconds: float) -> None:
    """Print what was killed, when, and what was left."""
    for what, counted in (("killed", count.kills), ("fell", count.fell), ("left", count.states)):
        print(f"  {name}, {what}: " + "; ".join(f"{one}: {n}" for one, n in sorted(counted.items())))
    print(f"  {name}: {count.again} times done again with the same result; {seconds:.0f} s", flush=True)
