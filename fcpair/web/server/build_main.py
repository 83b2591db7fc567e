"""The process that builds a study of its draft: `study_builder` starts it, and reads what it says.

It writes a line of JSON for each stage that is done, for what is done of a long one, and for what went wrong.
"""

from __future__ import annotations

import json
import os
import sys
from contextlib import closing
from typing import Any

from fcpair.errors import FcpairError
from fcpair.study import Study


def main() -> int:
    """Build the study whose address is on stdin; returns the exit code."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed must not get between

    def write(**message: Any) -> None:
        print(json.dumps(message), file=out, flush=True)

    try:
        with closing(Study.open(json.load(sys.stdin))) as study:
            for run in study.start.build(lambda done, total: write(done=done, total=total)):
                write(stage=run.stage, counts=run.counts)
    except FcpairError as error:
        write(problem=str(error))
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
