"""The grid of Multitarget-CONAN into PostgreSQL, as `Grid.pair` writes it, against a bare INSERT ... SELECT.

The bare one has the same three numbers in a row and a primary key, and nothing else; the server keeps its own durable
settings.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from benchmarks.crash.places import Databases, databases
from benchmarks.grid import IN_CORPUS, N_CN, N_HS
from benchmarks.measure import Figure, alternate, column, data, job, ratios, show

REPETITIONS = 3
SIDES, NAME, BARE_NAME = "sides", "grid", "bare"
BARE = "INSERT INTO bare (hs_id, cn_id) SELECT hs.id, cn.id FROM hs CROSS JOIN cn"


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure the time of both, in turn; `folder` and the server take some 6 GB for a while."""
    with databases() as places:
        job("benchmarks.grid:prepare", data(), places.at(SIDES), N_HS)
        _prepare_bare(places)
        jobs = {"fcpair": lambda: _pair(places), "bare": lambda: _bare(places)}
        results = alternate(jobs, repetitions)
    for which, found in results.items():
        show(f"{which}, time", column(found), " s")
    ratio = show("fcpair / bare, time", ratios(results["fcpair"], results["bare"]))
    cells = N_HS * N_CN - IN_CORPUS
    return [
        Figure("grid_server", "cells, those of the corpus left out", results["fcpair"][0]["cells"], "exactly", cells),
        Figure("grid_server", "time over the bare INSERT ... SELECT", ratio, "at most", 1.5, " x"),
    ]


def _pair(places: Databases) -> dict[str, Any]:
    """The stage as it is, from its first statement to its commit, in a new copy of a study with both sides."""
    from fcpair import Study
    from fcpair.params import Pair

    places.copy(SIDES, NAME)
    study = Study(places.at(NAME))
    start = time.perf_counter()
    made = study.grid().pair(Pair())
    seconds = time.perf_counter() - start
    study.close()
    return {"seconds": seconds, "cells": made.counts["pairs"]}


def _prepare_bare(places: Databases) -> None:
    places.copy(SIDES, BARE_NAME)
    for name, axis in (("hs", "row"), ("cn", "column")):
        ids = f"SELECT text_id AS id FROM side WHERE axis = '{axis}' ORDER BY position"
        places.execute(f"CREATE TABLE {name} AS {ids}", BARE_NAME)
    places.execute("CREATE TABLE bare (id bigserial PRIMARY KEY, hs_id bigint, cn_id bigint)", BARE_NAME)


def _bare(places: Databases) -> dict[str, Any]:
    places.execute("TRUNCATE bare", BARE_NAME)
    start = time.perf_counter()
    places.execute(BARE, BARE_NAME)
    return {"seconds": time.perf_counter() - start}
