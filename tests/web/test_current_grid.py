"""The grid that a page is about."""

from __future__ import annotations

from pathlib import Path

from fcpair.study import Study
from fcpair.web.current_grid import Grids


def test_what_only_pages_need_is_made_once_for_each_grid_that_is_served(tmp_path: Path) -> None:
    study = Study.create(tmp_path / "study.db")
    served = Grids(study)
    assert served.oldest.monitor is served.oldest.monitor
    assert served.oldest.adjudication_queue is served.by_name(None).adjudication_queue
