"""Records what the real tools export of the small study: `PYTHONPATH=tests python -m exchange.record [TOOL ...]`.

The ordinary tests read these files (`tests/steps/answers/test_recorded_exports.py`).
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from steps.small import ANNOTATORS, build_all

from exchange import hundred_pairs as pairs
from exchange.servers_of_tools import SERVERS
from fcpair.study import Study

RECORDED = Path(__file__).parents[1] / "assets" / "exchange"


def record(tool: str) -> None:
    """Replace the recorded exports of a tool, and its table of people."""
    with tempfile.TemporaryDirectory() as temporary:
        folder, place = Path(temporary), RECORDED / tool
        (folder / "small").mkdir()
        study = Study(build_all(folder / "small")["dealt"])
        study.grid().write_project(folder / "project", tool)
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir(parents=True)
        SERVERS[tool](folder / "project", place, pairs.LABEL, ANNOTATORS)
        shutil.copy(folder / "project" / "people.csv", place)
        study.close()


if __name__ == "__main__":
    for name in sys.argv[1:] or SERVERS:
        record(name)
