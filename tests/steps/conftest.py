"""A small study at any stage, copied for each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest
from conftest import on_databases
from servers import Database, Places, copy_study

from fcpair.study import Study
from steps.small import build_all


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run tests marked `server` on both databases.

    They were chosen so that of what writes, or says who may, each statement is run on a server by three tests or more,
    and each module by one; what is at the same time is all run there. `--database both` runs every test on both.
    """
    on_databases(metafunc, both=metafunc.definition.get_closest_marker("server") is not None)


@pytest.fixture(autouse=True)
def everywhere(database: Database) -> Iterator[None]:
    """All tests here are run on each database."""
    with database(lasting=False):
        yield


@pytest.fixture(scope="session")
def on_server(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], dict[str, Path]]:
    """The small study in databases of a server, built once, however often tests go from files to these and back."""
    return cache(lambda: build_all(tmp_path_factory.mktemp("small")))


@pytest.fixture(scope="session")
def files(database: Database, files: dict[str, Path], on_server: Callable[[], dict[str, Path]]) -> dict[str, Path]:
    with database():
        return files if Places.now is None else on_server()


@pytest.fixture
def at(files: dict[str, Path], tmp_path: Path) -> Callable[[str], Study]:
    """The small study as it is after a stage of `small.STAGES`."""
    return lambda stage: Study(copy_study(files[stage], tmp_path / "study.db"))
