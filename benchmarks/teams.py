"""Fifty annotators who label over HTTP without a pause, at two servers of one study in PostgreSQL.

The server of the database keeps its own durable settings. Every label is fetched and submitted; afterwards what was
acknowledged is held against what is there, and `fcpair doctor` examines the study.
"""

from __future__ import annotations

import asyncio
import sysconfig
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from benchmarks.clients import label_online, labelling
from benchmarks.crash.places import databases
from benchmarks.measure import Figure, column, show
from benchmarks.serving import prepare, server

REPETITIONS = 1
SECONDS = 60
N_CLIENTS = 50
N_SERVERS = 2
NAME = "teams"


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure labels per second and latency; count what was lost, stored twice or found by `doctor`."""
    found = [_once(folder) for _ in range(repetitions)]
    for name, unit in (("per_s", " labels/s"), ("p50_ms", " ms"), ("p99_ms", " ms"), ("max_ms", " ms")):
        show(f"{N_CLIENTS} annotators, {N_SERVERS} servers, {name}", column(found, name), unit)
    worst = {name: max(int(one[name]) for one in found) for name in ("lost", "doubled", "faults")}
    return [
        Figure("teams", "labels per second", min(column(found, "per_s")), "at least", 50, " labels/s"),
        Figure("teams", "99th percentile of fetch and submit", max(column(found, "p99_ms")), "at most", 1_000, " ms"),
        Figure("teams", "labels that were acknowledged and are not there", worst["lost"], "exactly", 0),
        Figure("teams", "labels that are there and were not acknowledged", worst["doubled"], "exactly", 0),
        Figure("teams", "promises that doctor finds broken", worst["faults"], "exactly", 0),
    ]


def _once(folder: Path) -> dict[str, Any]:
    from fcpair.study import Study

    with databases() as places:
        place = places.at(NAME)
        tokens = prepare(folder, place, N_CLIENTS)
        found = _label(place, tokens)
        there = int(places.execute("SELECT count(*) FROM judgement", NAME)[0][0])
        pairs = int(places.execute("SELECT count(DISTINCT assignment_id) FROM judgement", NAME)[0][0])
        faults = [one for one in Study.doctor(place).checks if one.found]
        for one in faults:
            print(f"  doctor, {one.name}: {one.found[0]}")
    return {**found, "lost": found["labels"] - pairs, "doubled": there - found["labels"], "faults": len(faults)}


def _label(place: str, tokens: list[str]) -> dict[str, Any]:
    """Half of the people at each server."""
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    with ExitStack() as servers:
        ports = [
            servers.enter_context(server([script, "serve", "--study", place, "--port"], "/join"))[1]
            for _ in range(N_SERVERS)
        ]
        found: dict[str, Any] = asyncio.run(labelling(ports, tokens, label_online, SECONDS))
    return found
