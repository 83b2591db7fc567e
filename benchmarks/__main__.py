"""Run the benchmarks, all or those named; exits with 1 when a limit is missed."""

from __future__ import annotations

import argparse
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from benchmarks import (
    asking,
    cluster,
    controls,
    coverage,
    crashes,
    encoding,
    evaluation,
    first_look,
    five_million,
    flips,
    grid,
    grid_server,
    groups,
    kills,
    label_models,
    long_tables,
    looking,
    map_speed,
    nearest,
    page_weight,
    pages,
    planning,
    retrieval,
    serving,
    startup,
    strangers,
    teams,
    tiers,
    visible,
    writing,
)
from benchmarks.measure import Figure, machine

BENCHMARKS: dict[str, ModuleType] = {
    "grid": grid,
    "grid_server": grid_server,
    "retrieval": retrieval,
    "encoding": encoding,
    "nearest": nearest,
    "cluster": cluster,
    "tiers": tiers,
    "five_million": five_million,
    "long_tables": long_tables,
    "evaluation": evaluation,
    "serving": serving,
    "kills": kills,
    "teams": teams,
    "crashes": crashes,
    "looking": looking,
    "first_look": first_look,
    "startup": startup,
    "strangers": strangers,
    "visible": visible,
    "page_weight": page_weight,
    "pages": pages,
    "map": map_speed,
    "coverage": coverage,
    "plan": planning,
    "groups": groups,
    "label_models": label_models,
    "controls": controls,
    "flips": flips,
    "writing": writing,
    "asking": asking,
}
HEAD = ("benchmark", "what", "measured", "demanded", "met")


def main() -> int:
    """Run, print, and say whether every limit was kept."""
    given = _arguments()
    print(f"fcpair benchmarks, {datetime.now(UTC).isoformat(timespec='seconds')}")
    print("\n".join(machine()), flush=True)
    figures: list[Figure] = []
    for name in given.names or BENCHMARKS:
        figures += _run(name, given.repetitions)
    print()
    print(_table(figures))
    return 0 if all(figure.met for figure in figures) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(BENCHMARKS)}; all if none is given")
    parser.add_argument(
        "--repetitions", type=int, help="how often each is run; each benchmark's own number if not given"
    )
    given = parser.parse_args()
    if unknown := sorted(set(given.names) - set(BENCHMARKS)):
        parser.error(f"unknown benchmark {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    return given


def _run(name: str, repetitions: int | None) -> list[Figure]:
    module = BENCHMARKS[name]
    n = repetitions or module.REPETITIONS
    print(f"\n{name}: {(module.__doc__ or '').strip()}\n  repetitions: {n}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fcpair-benchmark-") as folder:
        figures: list[Figure] = module.run(Path(folder), n)
    for figure in figures:
        _, what, value, demand, met = figure.cells()
        print(f"  -> {what}: {value}, demanded {demand}, met: {met}", flush=True)
    return figures


def _table(figures: list[Figure]) -> str:
    rows = [HEAD, tuple("-" * len(name) for name in HEAD), *(figure.cells() for figure in figures)]
    widths = [max(len(row[at]) for row in rows) for at in range(len(HEAD))]
    return "\n".join(
        "| " + " | ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)) + " |" for row in rows
    )


if __name__ == "__main__":
    sys.exit(main())
