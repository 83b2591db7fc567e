"""`fcpair --help`, the whole process, against `python -c "import click"` by the same interpreter."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
import time
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, alternate, column, ratios, show

REPETITIONS = 20


def run(_folder: Path, repetitions: int) -> list[Figure]:
    """Measure both processes from start to end; one run of each beforehand fills the caches of the machine."""
    script = Path(sysconfig.get_path("scripts")) / "fcpair"
    commands = {"fcpair --help": [str(script), "--help"], "import click": [sys.executable, "-c", "import click"]}
    jobs = {name: lambda line=line: _timed(line) for name, line in commands.items()}
    alternate(jobs, 1)
    results = alternate(jobs, repetitions)
    for name, found in results.items():
        show(name, [1000 * seconds for seconds in column(found)], " ms")
    ratio = show("fcpair --help / import click", ratios(results["fcpair --help"], results["import click"]))
    return [Figure("startup", "`fcpair --help` over `import click`", ratio, "at most", 2.5, " x")]


def _timed(line: list[str]) -> dict[str, Any]:
    start = time.perf_counter()
    subprocess.run(line, stdout=subprocess.DEVNULL, check=True)
    return {"seconds": time.perf_counter() - start}
