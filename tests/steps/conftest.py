"""A small study at any stage, copied for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import on_databases
from servers import Database, copy_study

from fcpair.study import Study
from steps.small import build_all


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_databases(metafunc)


@pytest.fixture(autouse=True)
def everywhere(database: Database) -> Iterator[None]:
    """All tests here are run on each database."""
    with database():
        yield


@pytest.fixture(scope="session")
def files(database: Database, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    with database():
        return build_all(tmp_path_factory.mktemp("small"))


@pytest.fixture
def at(files: dict[str, Path], tmp_path: Path) -> Callable[[str], Study]:
    """The small study as it is after a stage of `small.STAGES`."""
    return lambda stage: Study.open(copy_study(files[stage], tmp_path / "study.db"))
