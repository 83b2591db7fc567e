"""The browser, studies that it can open, and windows in which somebody sits."""

from __future__ import annotations

import multiprocessing
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect, sync_playwright

from browser import acts, axe
from browser.chromium import ARGUMENTS, find_chromium
from browser.hosts import ENGLISH, TERMS, Host, Serve, build
from browser.windows import Shown, Windows
from fcpair.params import Annotate
from fcpair.study import Study


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """The browser; for this package only, because its driver keeps an event loop in the tests' thread."""
    path = find_chromium()
    expect.set_options(timeout=acts.PATIENCE_MS)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="package", autouse=True)
def lookers() -> Iterator[None]:
    """What a server of this package begins when somebody looks is forked from what has loaded all that it needs.

    Else each would load pandas, scipy and matplotlib: 2 s for each test, at the lowest priority.
    """
    multiprocessing.set_forkserver_preload(["matplotlib.figure", "pandas", "scipy.stats", "fcpair.web.app"])
    loaded = multiprocessing.get_context("forkserver").Process(target=int)
    loaded.start()  # answered when all is loaded: else the first page waits for it, on a busy machine too long
    loaded.join()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("fcpair.web.server.worker.START_METHOD", "forkserver")
        yield


@pytest.fixture(autouse=True)
def looks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let axe-core look at pages in every way where the test is long, else as a phone shows them by day."""
    monkeypatch.setattr(axe, "looks", axe.LOOKS if request.node.get_closest_marker("long") else axe.LOOKS[:1])


@pytest.fixture
def windows(browser: Browser, hosts: list[Host]) -> Iterator[Windows]:
    """Opens windows, which are gone before the servers are."""
    opened = Windows(browser)
    yield opened
    assert opened.close() == []


@pytest.fixture
def hosts() -> Iterator[list[Host]]:
    """What is being served; ended with the test."""
    begun: list[Host] = []
    yield begun
    for host in begun:
        host.close()


@pytest.fixture(scope="module")
def shown(browser: Browser, files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shown]:
    """Pages of the small study that the tests of a module only look at."""
    looked_at = Shown(browser, tmp_path_factory.mktemp("shown"), TERMS, files)
    yield looked_at
    assert looked_at.close() == []


@pytest.fixture(scope="session")
def example(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of the example corpus: five HS, six CNs, two annotators with 15 pairs each."""
    return build(tmp_path_factory.mktemp("example"), ENGLISH, 6, ("ana", "ben"))


@pytest.fixture
def serve(hosts: list[Host], files: dict[str, Path], tmp_path: Path) -> Serve:
    """Serve a copy of a study's file, or of the small study as it is after a stage of `small.STAGES`."""

    def serve(study: Path | str, annotate: Annotate = TERMS) -> Host:
        path = files[study] if isinstance(study, str) else study
        copy = shutil.copy(path, tmp_path / f"study-{len(hosts)}.db")
        hosts.append(Host(Study(copy), annotate))
        return hosts[-1]

    return serve


@pytest.fixture
def desk(serve: Serve, example: Path) -> Host:
    """The example study on the terms TERMS, being labelled by ana and ben."""
    return serve(example)


@pytest.fixture
def labelled(serve: Serve) -> Host:
    """The small study, whose labels are all in."""
    return serve("labelled")
