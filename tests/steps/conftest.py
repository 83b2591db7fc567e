"""A small study at any stage, copied for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import on_databases
from servers import Places, copy_study

from fcpair.study import Study
from steps.small import build_all


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_databases(metafunc)


@pytest.fixture(scope="session", autouse=True)
def everywhere(database: str) -> str:
    """All tests here are run on each database."""
    return database


@pytest.fixture(autouse=True)
def closed(database: str) -> Iterator[None]:
    """No connection to a server outlives a test."""
    yield
    if Places.now is not None:
        Places.now.close()


@pytest.fixture(scope="session")
def files(database: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return build_all(tmp_path_factory.mktemp("small"))


@pytest.fixture
def at(files: dict[str, Path], tmp_path: Path) -> Callable[[str], Study]:
    """The small study as it is after a stage of `small.STAGES`."""
    return lambda stage: Study.open(copy_study(files[stage], tmp_path / "study.db"))
