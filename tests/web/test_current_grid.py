"""The grid that a page is about."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from fcpair.grid import Grid
from fcpair.study import Study
from fcpair.web.current_grid import Grids


def test_what_only_pages_need_is_made_once_for_each_grid_that_is_served(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    served = Grids(study)
    assert served.oldest.monitor is served.oldest.monitor
    assert served.oldest.adjudication_queue is served.by_name(None).adjudication_queue


def test_two_requests_at_once_on_a_fresh_server_get_the_same_grid(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = Study.create(tmp_path / "study.db")
    served, both, grid = Grids(study), Barrier(2, timeout=20), study.grid

    def grid_of_both(name: str) -> Grid:
        both.wait()
        return grid(name)

    monkeypatch.setattr(study, "grid", grid_of_both)
    with ThreadPoolExecutor(2) as pool:
        first, second = [begun.result() for begun in [pool.submit(lambda: served.oldest) for _ in range(2)]]
    assert first is second
    assert [first.grid.grid.name] == study.grids
