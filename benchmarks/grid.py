"""The grid of Multitarget-CONAN, written as `Grid.pair` and `Grid.extend` do it, against a bare INSERT of two integer
columns.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, alternate, column, data, job, ratios, show
from fcpair.store.corpus import sides

REPETITIONS = 9
N_HS, N_CN, IN_CORPUS = 3_718, 4_997, 5_002
TENTH = 372
WORDS = {"seconds": "time", "cpu_s": "processor time", "peak_mb": "peak memory", "file_mb": "file"}
BARE = "INSERT INTO pair SELECT hs.id, cn.id FROM hs CROSS JOIN cn"
LATER = 10_000_000  # added to the ids of HS in the bare table, to stand for those that come later


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure time and memory of the grid; `folder` takes some 700 MB for a while."""
    n_hs = job("benchmarks.grid:prepare", data(), folder / "full.db", N_HS)["hs"]
    job("benchmarks.grid:prepare", data(), folder / "tenth.db", TENTH)
    job("benchmarks.grid:prepare_bare", folder / "full.db", folder / "bare.db")
    jobs = {
        "fcpair": lambda: _on_copy("pair", folder / "full.db"),
        "bare": lambda: _on_copy("bare", folder / "bare.db"),
        "tenth": lambda: _on_copy("pair", folder / "tenth.db"),
    }
    results = alternate(jobs, repetitions)
    later = {
        "extended": lambda: _on_copy("extend", folder / "full.db"),
        "bare, extended": lambda: _on_copy("extend_bare", folder / "bare.db"),
    }
    job("benchmarks.grid:pair", folder / "full.db")
    job("benchmarks.grid:bare", folder / "bare.db")
    results |= alternate(later, repetitions)
    for name, unit in (("seconds", " s"), ("cpu_s", " s"), ("peak_mb", " MB"), ("file_mb", " MB")):
        for which, found in results.items():
            show(f"{which}, {WORDS[name]}", column(found, name), unit)
    time_ratio = show("fcpair / bare, time", ratios(results["fcpair"], results["bare"]))
    show("fcpair / bare, processor time", ratios(results["fcpair"], results["bare"], "cpu_s"))
    extension = show("extended / bare, time", ratios(results["extended"], results["bare, extended"]))
    show("extended / bare, processor time", ratios(results["extended"], results["bare, extended"], "cpu_s"))
    growth = show("full / tenth, peak memory", ratios(results["fcpair"], results["tenth"], "peak_mb"))
    return [
        Figure("grid", "cells, those of the corpus left out", results["fcpair"][0]["cells"], "exactly", _cells(n_hs)),
        Figure("grid", "time over the bare INSERT", time_ratio, "at most", 1.5, " x"),
        Figure("grid", "peak memory over that of a tenth", growth, "at most", 1.1, " x"),
        Figure("grid", "cells of a tenth more HS", results["extended"][0]["cells"], "exactly", TENTH * N_CN),
        Figure("grid", "time of that over the bare INSERT", extension, "at most", 1.5, " x"),
    ]


def _cells(n_hs: int) -> int:
    return n_hs * N_CN - IN_CORPUS


def _on_copy(what: str, template: Path) -> dict[str, Any]:
    """Run a job on a copy of a prepared file, and remove what it wrote."""
    copy = template.with_suffix(".copy")
    shutil.copyfile(template, copy)
    try:
        return {**job(f"benchmarks.grid:{what}", copy), "file_mb": copy.stat().st_size / 1e6}
    finally:
        copy.unlink()


def prepare(folder: str, path: str, n_hs: str) -> dict[str, Any]:
    """Job: a study with `n_hs` selected HS and every distinct CN as a candidate, ready for `Grid.pair`."""
    from benchmarks.measure import SEED
    from fcpair import Study
    from fcpair.params import Import, Select
    from fcpair.store import Store
    from fcpair.store.corpus import texts

    study = Study.create(path)
    study.import_corpus(Import(Path(folder) / "mt-conan" / "Multitarget-CONAN.csv", "mt-conan"))
    selected = study.grid().select(Select(hs=int(n_hs), seed=SEED))
    with Store.open(path).write() as tx:
        sides.set_texts(tx, "column", texts.source_copies(tx)["cn_id"].tolist())
    return {"hs": selected.counts["hs"]}


def prepare_bare(study: str, path: str) -> dict[str, Any]:
    """Job: two tables with the ids of the texts of both sides, and an empty one for the pairs."""
    connection = sqlite3.connect(path)
    connection.execute("ATTACH ? AS study", (study,))
    connection.execute("CREATE TABLE hs (id INTEGER)")
    connection.execute("CREATE TABLE cn (id INTEGER)")
    connection.execute("CREATE TABLE pair (hs_id INTEGER, cn_id INTEGER)")
    connection.execute("INSERT INTO hs SELECT text_id FROM study.side WHERE axis = 'row' ORDER BY position")
    connection.execute("INSERT INTO cn SELECT text_id FROM study.side WHERE axis = 'column' ORDER BY position")
    connection.commit()
    connection.close()
    return {}


def pair(path: str) -> dict[str, Any]:
    """Job: the stage as it is, from its first statement to its commit."""
    from fcpair import Study
    from fcpair.params import Pair

    study = Study(path)
    start, cpu = time.perf_counter(), time.process_time()
    made = study.grid().pair(Pair())
    seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu_s": cpu_s, "cells": made.counts["pairs"]}


def extend(path: str) -> dict[str, Any]:
    """Job: the grid takes a tenth more HS, from the reading of their list to the commit, what it imports aside."""
    import pandas  # noqa: F401

    from fcpair import Study

    act, table = Study(path).grid().extend, Path(path).with_suffix(".csv")  # which loads what the act is made of
    table.write_text("hs\n" + "".join(f"Opinion {at} of {TENTH}.\n" for at in range(TENTH)), "utf-8")
    start, cpu = time.perf_counter(), time.process_time()
    made = act(hs_list=table, new_texts=True)
    seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    return {"seconds": seconds, "cpu_s": cpu_s, "cells": made.counts["pairs"]}


def extend_bare(path: str) -> dict[str, Any]:
    """Job: the same cells by one statement, behind those that the table has."""
    return bare(
        path, BARE.replace("hs.id", f"hs.id + {LATER}").replace("FROM hs", f"FROM (SELECT id FROM hs LIMIT {TENTH}) hs")
    )


def bare(path: str, statement: str = BARE) -> dict[str, Any]:
    """Job: the same cells by one statement, in a database with SQLite's own settings."""
    connection = sqlite3.connect(path)
    start, cpu = time.perf_counter(), time.process_time()
    with connection:
        connection.execute(statement)
    seconds, cpu_s = time.perf_counter() - start, time.process_time() - cpu
    connection.close()
    return {"seconds": seconds, "cpu_s": cpu_s}
