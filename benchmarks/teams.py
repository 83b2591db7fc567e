"""Fifty annotators who label over HTTP without a pause, at two servers of one study in PostgreSQL.

The server of the database keeps its own durable settings. Pairs are dealt in shards, and then openly, half of them for
two labels. Every label is fetched and submitted; afterwards what was acknowledged is held against what is there, and
`fcpair doctor` examines the study.
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
DEALT: dict[str, dict[str, Any]] = {"in shards": {}, "openly": {"open": True, "overlap": {2: 0.5}}}
# Pairs with more labels, given or to be given, than slots that they began with.
BEYOND = """SELECT count(*) FROM (
  SELECT cell_id FROM assignment WHERE status IN ('open', 'done') GROUP BY cell_id
  HAVING count(*) > (SELECT count(*) FROM assignment AS f WHERE f.cell_id = assignment.cell_id AND f.replaces IS NULL)
) AS beyond"""
TWICE = """SELECT count(*) FROM (
  SELECT 1 FROM assignment GROUP BY cell_id, person_id HAVING count(*) > 1
) AS twice"""

COUNTED = {"beyond": BEYOND, "twice": TWICE}


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure labels per second and latency; count what was lost, doubled, given too often or found by `doctor`."""
    return [figure for dealt in DEALT for figure in _run(folder, repetitions, dealt)]


def _run(folder: Path, repetitions: int, dealt: str) -> list[Figure]:
    found = [_once(folder, DEALT[dealt]) for _ in range(repetitions)]
    for name, unit in (("per_s", " labels/s"), ("p50_ms", " ms"), ("p99_ms", " ms"), ("max_ms", " ms")):
        show(f"dealt {dealt}, {N_CLIENTS} annotators, {N_SERVERS} servers, {name}", column(found, name), unit)
    wrong = {
        "labels that were acknowledged and are not there": "lost",
        "labels that are there and were not acknowledged": "doubled",
        "pairs beyond their labels": "beyond",
        "pairs that somebody has twice": "twice",
        "promises that doctor finds broken": "faults",
    }
    per_s, p99_ms = min(column(found, "per_s")), max(column(found, "p99_ms"))
    return [
        Figure("teams", f"{dealt}: labels per second", per_s, "at least", 50, " labels/s"),
        Figure("teams", f"{dealt}: 99th percentile of fetch and submit", p99_ms, "at most", 1_000, " ms"),
        *(
            Figure("teams", f"{dealt}: {what}", max(int(one[name]) for one in found), "exactly", 0)
            for what, name in wrong.items()
        ),
    ]


def _once(folder: Path, dealt: dict[str, Any]) -> dict[str, Any]:
    from fcpair.study import Study

    with databases() as places:
        place = places.at(NAME)
        tokens = prepare(folder, place, N_CLIENTS, **dealt)
        found = _label(place, tokens)
        there = int(places.execute("SELECT count(*) FROM judgement", NAME)[0][0])
        pairs = int(places.execute("SELECT count(DISTINCT assignment_id) FROM judgement", NAME)[0][0])
        counted = {name: int(places.execute(query, NAME)[0][0]) for name, query in COUNTED.items()}
        faults = [one for one in Study.doctor(place).checks if one.found]
        for one in faults:
            print(f"  doctor, {one.name}: {one.found[0]}")
    return {
        **found,
        **counted,
        "lost": found["labels"] - pairs,
        "doubled": there - found["labels"],
        "faults": len(faults),
    }


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
