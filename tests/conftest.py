"""What all tests share: the published data, no network, a cache of their own, Hypothesis at a modest size."""

from __future__ import annotations

import gc
import math
import os
import re
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import datetime
from functools import cache, partial
from ipaddress import ip_address
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from servers import TEST_POSTGRES, Database, Server, started, studies_in
from sqlalchemy import Engine
from sqlalchemy.engine.default import DefaultDialect
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.util import LRUCache

os.environ["HF_HUB_OFFLINE"] = "1"  # here, because the hub's library reads it when it is imported
os.environ.pop("COLUMNS", None)  # workers of xdist have it, and lines would be broken by it

TESTS = Path(__file__).parent
BROWSER, CLUSTER = TESTS / "browser", TESTS / "models" / "cluster"
EXCHANGE = TESTS / "exchange"
EXAMPLES = TESTS.parent / "examples"
HAD_TORCH = pytest.StashKey[bool]()
LONGEST_FIRST = ("documentation", "browser", "web/server")  # a worker that begins one of these last is waited for
FOLDER_NUMBERS = count()
FIRST_MIDNIGHT = datetime.now().replace(hour=0, minute=0, second=0, microsecond=0).astimezone()

# `make test-long` asks for the other one, by `--hypothesis-profile thorough`.
settings.register_profile("quick", deadline=None, max_examples=10)
settings.register_profile("thorough", deadline=None, max_examples=40)
settings.load_profile("quick")


def one_quick(first: object, *others: object) -> list[Any]:
    """Parameters of a test that takes seconds with each: only the first is not slow."""
    return [first, *(pytest.param(one, marks=pytest.mark.slow) for one in others)]


def one_short(first: object, *others: object) -> list[Any]:
    """Parameters of a test that repeats the same check with each: only the first is not long."""
    return [first, *(pytest.param(one, marks=pytest.mark.long) for one in others)]


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder with the published data."""
    if folder := os.environ.get("FCPAIR_DATA"):
        return Path(folder)
    if os.environ.get("FCPAIR_REQUIRE_DATA") == "1":
        pytest.fail("FCPAIR_REQUIRE_DATA is 1, but FCPAIR_DATA is not set: see docs/reference/data.md")
    pytest.skip("FCPAIR_DATA is not set: see docs/reference/data.md")


@pytest.fixture(scope="session", autouse=True)
def offline() -> Iterator[None]:
    """Fail a test that reaches beyond this machine; what it raises is no Exception, so no code under test hides it."""
    connect, connect_ex = socket.socket.connect, socket.socket.connect_ex

    def local_connect(self: socket.socket, address: Any) -> None:
        _only_local(address)
        connect(self, address)

    def local_connect_ex(self: socket.socket, address: Any) -> int:
        _only_local(address)
        return connect_ex(self, address)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", local_connect)
        patch.setattr(socket.socket, "connect_ex", local_connect_ex)
        yield


def _only_local(address: Any) -> None:
    if isinstance(address, tuple) and not _is_loopback(str(address[0])):
        pytest.fail(f"a test connects to {address[0]}; tests stay on this machine")


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Say which tests are slow, which a worker runs together (`--dist loadgroup`), and which of these begin.

    A module stays on one worker, which makes what its tests share once. All that load torch are on the same one: only
    that one grows by a gigabyte.
    """
    for item in items:
        if _is_under(item.path, BROWSER, CLUSTER) or _needs_server(item):
            item.add_marker(pytest.mark.slow)
        if _is_under(item.path, EXCHANGE):
            item.add_marker(pytest.mark.exchange)
            if "exchange" not in config.option.markexpr:
                item.add_marker(pytest.mark.skip("this installs annotation tools: `make test-exchange`"))
        if "walked" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.torch)
        item.add_marker(pytest.mark.xdist_group("torch" if item.get_closest_marker("torch") else _module(item.path)))
    items.sort(key=_turn)


@cache
def _is_under(path: Path, *folders: Path) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


@cache
def _module(path: Path) -> str:
    return path.relative_to(TESTS).with_suffix("").as_posix()


def _turn(item: pytest.Item) -> int:
    """Where the group of a test stands in the queue; groups of the same turn keep their order."""
    if item.get_closest_marker("torch"):
        return -1
    starts = [at for at, start in enumerate(LONGEST_FIRST) if _module(item.path).startswith(start)]
    return min(starts, default=len(LONGEST_FIRST))


def _needs_server(item: pytest.Item) -> bool:
    """Whether a test has a study on a database server, or the server itself."""
    given = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
    return "postgres" in getattr(item, "fixturenames", ()) or given.get("database") == "postgres"


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember whether torch was loaded before a test and its fixtures."""
    item.stash[HAD_TORCH] = "torch" in sys.modules


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Iterator[None]:
    """Fail a test that loads torch without saying so, as it would be run on any worker."""
    yield
    if "torch" in sys.modules and not item.stash[HAD_TORCH] and item.get_closest_marker("torch") is None:
        pytest.fail("this test loads torch: mark it, or its module, with pytest.mark.torch")


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Collect tests, but no garbage meanwhile: nearly all that is imported and made stays."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_finish() -> None:
    """What was imported for the tests stays: it is not looked through each time that garbage is collected."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def written_once() -> Iterator[None]:
    """SQLAlchemy writes each statement once for each kind of database, not for every study that a test opens.

    A process of fcpair opens one study, the tests some thousand, and writing took a third of the time of small ones.
    """
    statements = LRUCache[Any, Any](4_000)

    def kind(dialect: DefaultDialect) -> tuple[object, ...]:
        return type(dialect), dialect.paramstyle

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DefaultDialect, "__eq__", lambda one, other: kind(one) == kind(other))
        patch.setattr(DefaultDialect, "__hash__", lambda one: hash(kind(one)))
        shared = property(lambda _: statements, lambda _, own: None)
        patch.setattr(Engine, "_compiled_cache", shared, raising=False)
        for made in (CreateTable, CreateIndex):
            patch.setattr(made, "_compiler", _compile_once(made, kind))
        yield


def _compile_once(
    made: type[CreateTable | CreateIndex], kind: Callable[[DefaultDialect], object]
) -> Callable[..., Any]:
    """Write how a study's own tables and indexes are made once: SQLAlchemy itself does so for every study."""
    from fcpair.store.database.tables import metadata

    compile_anew: Callable[..., Any] = made._compiler
    compiled: dict[object, Any] = {}

    def compile_once(self: CreateTable | CreateIndex, dialect: DefaultDialect, **options: Any) -> Any:
        table = self.element.table if isinstance(self, CreateIndex) else self.element
        if table is None or table.metadata is not metadata:  # a migration's table, which may change
            return compile_anew(self, dialect, **options)
        key = kind(dialect), self.element
        if key not in compiled:
            compiled[key] = compile_anew(self, dialect, **options)
        return compiled[key]

    return compile_once


@pytest.fixture(scope="session", autouse=True)
def unhurried() -> Iterator[None]:
    """What the lead sees follows every change, however long it took to make: a busy machine changes no test."""
    from fcpair.steps.base import figure_cache

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(figure_cache, "SLOW_S", math.inf)
        yield


@pytest.fixture(scope="session", autouse=True)
def endless_day() -> Iterator[None]:
    """For the code under test, the day on which the tests began goes on: none of them fails at midnight."""
    from fcpair.steps.oversight import activity
    from fcpair.steps.people import people

    with pytest.MonkeyPatch.context() as patch:
        for module in (people, activity):
            patch.setattr(module, "start_of_day", lambda _: FIRST_MIDNIGHT)
        yield


@pytest.fixture
def tmp_path(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for one test: for a number, pytest would look through the folders of all tests before it."""
    name = re.sub(r"\W", "_", request.node.name)[:30]
    folder = tmp_path_factory.getbasetemp() / f"{name}{next(FOLDER_NUMBERS)}"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture(scope="session", autouse=True)
def vector_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where vectors are kept: what FCPAIR_CACHE names, else a folder of this run, never the user's own.

    The workers of one run share it, so that a corpus is encoded by one of them.
    """
    here = tmp_path_factory.getbasetemp()
    of_run = here.parent if "PYTEST_XDIST_WORKER" in os.environ else here
    with pytest.MonkeyPatch.context() as patch:
        if "FCPAIR_CACHE" not in os.environ:
            patch.setenv("FCPAIR_CACHE", str(of_run / "cache"))
        yield Path(os.environ["FCPAIR_CACHE"])


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL server."""
    with ExitStack() as until_the_end:
        url = os.environ.get(TEST_POSTGRES) or until_the_end.enter_context(started())
        server = Server(url)
        yield server
        server.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The small study, as one file after each of `small.STAGES`; copy one before you change it."""
    from steps.small import build_all

    return build_all(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The study of a recipe in `examples/` (`write`), walked to its end once; copy it before you change it."""
    from fcpair.recipe import load_recipe
    from fcpair.study import Study

    folder = tmp_path_factory.mktemp("walked")

    @cache
    def walk(name: str) -> Path:
        recipe = load_recipe(EXAMPLES / f"{name}.toml")
        study = Study.create(folder / f"{name}.db", recipe.setup, grids=recipe.grids)
        for _ in study.walk(recipe):
            pass
        study.close()
        return Path(study.place)

    return walk


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which databases tests are run on that hold for all of them."""
    which = "by default, all tests of the store and those marked `server` on both, others on sqlite"
    parser.addoption("--database", choices=("sqlite", "postgres", "both"), help=which)


def on_databases(metafunc: pytest.Metafunc, *, both: bool) -> None:
    """Run a test on both databases or in files alone, or as asked; on none but files if it is about these."""
    asked = metafunc.config.getoption("--database") or ("both" if both else "sqlite")
    wanted = ["sqlite", "postgres"] if asked == "both" else [asked]
    if metafunc.definition.get_closest_marker("files"):
        wanted = ["sqlite"]
    metafunc.parametrize("database", wanted, indirect=True, scope="session")


@pytest.fixture(scope="session")
def database(request: pytest.FixtureRequest) -> Database:
    """Where the studies of a test are: in files, or in databases of a server."""
    server = request.getfixturevalue("postgres") if request.param == "postgres" else None
    return partial(studies_in, server)
