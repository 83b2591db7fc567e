"""Running one benchmark by itself, at a size that takes too long for `make bench`."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from pathlib import Path

from benchmarks.measure import Figure, machine


def main(name: str, run: Callable[[Path, int, int], list[Figure]], n_sources: int, about: str | None) -> int:
    """Measure, print, and say whether every limit was kept."""
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks.{name}", description=about)
    parser.add_argument("--sources", type=int, default=n_sources, help="how many of the vectors have neighbours found")
    parser.add_argument("--repetitions", type=int, default=1)
    given = parser.parse_args()
    print("\n".join(machine()))
    with tempfile.TemporaryDirectory(prefix="fcpair-benchmark-") as folder:
        figures = run(Path(folder), given.repetitions, given.sources)
    for figure in figures:
        print(" | ".join(figure.cells()))
    return 0 if all(figure.met for figure in figures) else 1
