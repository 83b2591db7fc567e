"""A small study at any stage, copied for each test."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.study import Study
from steps.small import build_all


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_all(tmp_path_factory.mktemp("small"))


@pytest.fixture
def at(files: dict[str, Path], tmp_path: Path) -> Callable[[str], Study]:
    """The small study as it is after a stage of `small.STAGES`."""
    return lambda stage: Study.open(shutil.copy(files[stage], tmp_path / "study.db"))
