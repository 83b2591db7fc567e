"""The benchmark `kills`, a life for each thing that it does to the file of a study under load."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]
N_ACTS = 8


def test_nothing_is_lost_or_doubled_whatever_is_done_to_the_server_and_its_file() -> None:
    line = [sys.executable, "-m", "benchmarks", "kills", "--repetitions", str(N_ACTS)]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    found = re.search(r"([\d,]+) answers acknowledged", run.stdout)
    assert found
    assert int(found[1].replace(",", "")) > N_ACTS
    assert {"moved_alone", "replaced", "deleted", "copied_without_log"} <= set(
        re.findall(r"(\w+), (?:kill|term)", run.stdout)
    )
