"""Processor time of whole short commands on the example study, against the libraries that they cannot do without."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from benchmarks.measure import Figure, alternate, column, installed, ratios, show

REPETITIONS = 11
RECIPE = Path(__file__).parents[1] / "examples" / "recipe.toml"
IMPORTS = ("import click", "import sqlalchemy", "import sqlalchemy, pandas", "from fcpair import Study")
DEMANDS = (
    ("fcpair --help", "import click", 1.15),
    ("from fcpair import Study", "import sqlalchemy", 1.3),
    ("fcpair status", "import sqlalchemy", 1.5),
    ("fcpair grids", "import sqlalchemy", 1.5),
    ("fcpair people list", "import sqlalchemy", 1.5),
    ("fcpair explain 5", "import sqlalchemy, pandas", 1.5),
    ("fcpair partition --tier gold", "import sqlalchemy, pandas", 1.5),
)


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure all processes in turn; one run of each beforehand fills the caches of the machine."""
    environment = installed(folder)
    study = folder / "study.db"
    _seconds([_command(), "run", str(RECIPE), "--study", str(study)], environment)
    lines = {what: [sys.executable, "-c", what] for what in IMPORTS}
    for what, _, _ in DEMANDS:
        if what.startswith("fcpair "):
            of_study = [] if what == "fcpair --help" else ["--study", str(study)]
            lines[what] = [_command(), *what.split()[1:], *of_study]
    jobs = {what: lambda line=line: _seconds(line, environment) for what, line in lines.items()}
    alternate(jobs, 1)
    results = alternate(jobs, repetitions)
    for what, found in results.items():
        show(what, [1000 * seconds for seconds in column(found)], " ms")
    return [_figure(what, over, ratios(results[what], results[over]), limit) for what, over, limit in DEMANDS]


def _figure(what: str, over: str, found: list[float], limit: float) -> Figure:
    ratio = show(f"{what} / {over}", found)
    return Figure("startup", f"`{what}` over `{over}`", ratio, "at most", limit, " x")


def _command() -> str:
    return str(Path(sysconfig.get_path("scripts")) / "fcpair")


def _seconds(line: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """The processor time of a process and of those that it started and waited for."""
    process = subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, line)
    return {"seconds": used.ru_utime + used.ru_stime}
