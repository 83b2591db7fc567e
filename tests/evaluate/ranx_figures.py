"""ranx in a process of its own: JSON with `worlds` and `measures` comes in, a value for each measure and HS goes out.

The test starts it with NUMBA_DISABLE_JIT=1, so that ranx runs as plain Python: compiling it takes most of a minute.
"""

from __future__ import annotations

import json
import sys

from ranx import Qrels, Run, evaluate


def main() -> None:
    """Answer with `{world: {measure: {HS: value}}}`."""
    asked = json.load(sys.stdin)
    answers = {}
    for name, world in asked["worlds"].items():
        run = Run(world["run"])
        evaluate(Qrels(world["qrels"]), run, asked["measures"])
        answers[name] = {
            measure: {hs: float(value) for hs, value in values.items()} for measure, values in run.scores.items()
        }
    json.dump(answers, sys.stdout)


if __name__ == "__main__":
    main()
