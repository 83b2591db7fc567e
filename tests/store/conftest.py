"""The database of the store's tests comes from here alone: in a file, and on a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from conftest import on_databases
from servers import Database

from fcpair.params import Setup
from fcpair.steps import init
from fcpair.store import Store, Tx


def first_rows(tx: Tx) -> None:
    init.fill(tx, Setup(title="A study"), "")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_databases(metafunc, writes=True)


@pytest.fixture(autouse=True)
def everywhere(database: Database) -> Iterator[None]:
    """All tests here are run on each database."""
    with database():
        yield


@pytest.fixture(scope="session")
def make_store() -> Callable[[Path], Store]:
    return lambda folder: Store.create(folder / "store.db", first_rows)


@pytest.fixture
def store(make_store: Callable[[Path], Store], tmp_path: Path) -> Store:
    return make_store(tmp_path)


@pytest.fixture(scope="module")
def lasting_store(
    database: Database, make_store: Callable[[Path], Store], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Store]:
    """One store for many tests, each of which must roll back what it writes."""
    with database():
        yield make_store(tmp_path_factory.mktemp("store"))
