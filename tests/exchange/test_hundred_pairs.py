"""100 pairs by three people in each real tool: out, answered over HTTP, back; and all 300 stand."""

from __future__ import annotations

from pathlib import Path

import pytest
from steps.small import open_work

from exchange import hundred_pairs as pairs
from exchange.servers_of_tools import SERVERS, WITH_SKIPS


@pytest.mark.parametrize("tool", SERVERS)
def test_all_300_stand(tmp_path: Path, tool: str) -> None:
    study, project, folder = pairs.build(tmp_path), tmp_path / "project", tmp_path / "exports"
    grid, work = study.grid(), set(open_work(study))
    assert len(work) == 300
    grid.write_project(project, tool)
    folder.mkdir()
    paths, people = SERVERS[tool](project, folder, pairs.LABEL, pairs.PEOPLE), project / "people.csv"
    runs = [grid.import_export(path, tool, people=people) for path in paths]
    assert sum(run.counts["answers"] + run.counts["skips"] for run in runs) == 300
    pairs.assert_all_stand(study, tool, work, has_skips=tool in WITH_SKIPS)
    again = [grid.import_export(path, tool, people=people) for path in paths]
    assert sum(run.counts["answers"] + run.counts["skips"] for run in again) == 0
    assert sum(run.counts["already_there"] for run in again) == 300
