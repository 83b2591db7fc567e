"""The process that does a long act of the lead's: `long_acts` starts it, and reads how far it is."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from contextlib import closing
from typing import Any

from fcpair.errors import FcpairError, InputError
from fcpair.grid import Grid
from fcpair.params import Evaluate
from fcpair.study import Study
from fcpair.web.server.long_acts import EVALUATE, GENERATE

Progress = Callable[[int, int], None]
SHOWN_FINDINGS = 10
ASKS_SERVICE = (
    "{} asks a service {:,} times, which sends texts away and may cost money; `fcpair evaluate --dry-run` on the "
    "server shows how much, and `fcpair evaluate` does it"
)


def _evaluate(grid: Grid, values: dict[str, Any], progress: Progress) -> None:
    options = grid.recipe_options(Evaluate, **values)
    for system, cost in grid.evaluation_costs(options):
        if n := cost.requests - cost.cached:
            raise InputError(ASKS_SERVICE.format(f"`{system}`", n))
    grid.evaluate(options, progress=progress)


def _generate(grid: Grid, values: dict[str, Any], progress: Progress) -> None:
    grid.generate(values["round"], progress=progress)


ACTS: dict[str, Callable[[Grid, dict[str, Any], Progress], None]] = {EVALUATE: _evaluate, GENERATE: _generate}


def main() -> int:
    """Do the act that is described on stdin; returns the exit code."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed must not get between

    def write(**message: Any) -> None:
        print(json.dumps(message), file=out, flush=True)

    act = json.load(sys.stdin)
    try:
        with closing(Study.open(act["address"])) as study, study.acting_as(act["by"]):
            ACTS[act["act"]](study.grid(act["grid"]), act["values"], lambda done, total: write(done=done, total=total))
            write(run=study.log()[-1].id)
    except FcpairError as error:
        write(problem=_describe(error))
        return 1
    return 0


def _describe(error: FcpairError) -> str:
    """The error, and the first of what is wrong with a file line by line."""
    findings = [f"{one.file.rpartition('/')[2]}:{one.line}: {one.message}" for one in getattr(error, "findings", ())]
    rest = [f"{len(findings) - SHOWN_FINDINGS:,} more"] if len(findings) > SHOWN_FINDINGS else []
    return "; ".join(findings[:SHOWN_FINDINGS] + rest) or str(error)


if __name__ == "__main__":
    sys.exit(main())
