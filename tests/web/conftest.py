"""A small study at any stage, served to browsers and other clients in this process."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import cache
from html import unescape
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import start_blocking_portal
from awaited import until
from fastapi.testclient import TestClient
from httpx2 import Response
from steps import forms
from steps.small import dump

from fcpair.params import DEFAULT_SERVER_URL, Annotate
from fcpair.records import Role, Visitor
from fcpair.study import Study
from fcpair.web import languages
from fcpair.web.app import create_app
from web.served import Served, serving

INLINE = re.compile(r"\sstyle=|<style|<script(?![^>]*\ssrc=)|\son\w+=", re.IGNORECASE)
EVERYBODY = {"ana": Role.ANNOTATOR, "vera": Role.VALIDATOR, "judy": Role.ADJUDICATOR, "lea": Role.LEAD}


def add_everybody(study: Study) -> None:
    known = {one.name for one in study.people}
    for name, role in EVERYBODY.items():
        if name not in known:
            study.add_people([name], role)


class Site:
    """The app of a study, and its visitors. Of each role somebody takes part, and has consented: EVERYBODY."""

    def __init__(self, study: Study, annotate: Annotate, url: str = DEFAULT_SERVER_URL) -> None:
        self.study = study
        self.app = create_app(study, annotate, url)
        self.tokens: dict[str, str] = {}
        self._clients: list[TestClient] = []
        self._requests = count()
        add_everybody(study)

    def token(self, name: str, *, consent: bool = True) -> str:
        if name not in self.tokens:
            self.tokens[name] = self.study.access.invite(name)
            visitor = self.study.access.by_token(self.tokens[name])
            assert visitor is not None
            if consent:
                self.study.access.consent(visitor.id, {})
        return self.tokens[name]

    def visitor(self, name: str) -> Visitor:
        """Somebody, as the pages know them."""
        visitor = self.study.access.by_token(self.token(name))
        assert visitor is not None
        return visitor

    def stranger(self, **given: Any) -> TestClient:
        """A client of nobody in particular, which follows no redirect."""
        client = TestClient(self.app, follow_redirects=False, **given)
        self._clients.append(client)
        return client

    def browser(self, name: str, **given: Any) -> TestClient:
        """Somebody's browser, with a session."""
        client = self.stranger(**given)
        assert client.post("/join", data={"token": self.token(name)}).status_code == 303
        return client

    def machine(self, name: str, *, consent: bool = True) -> TestClient:
        """Somebody's client of the API, with their bearer token."""
        return self.stranger(headers={"Authorization": f"Bearer {self.token(name, consent=consent)}"})

    def new_request(self) -> str:
        return f"request-{next(self._requests):04}"

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.study.close()


Serve = Callable[..., Site]
LookAt = Callable[[str], Site]


def csrf_of(browser: TestClient) -> str:
    """The token in the forms of the pages that a browser gets."""
    return value_of(browser.get("/guidelines").text, "csrf")


def send(browser: TestClient, path: str, **form: Any) -> Response:
    """Send a form, with the token of the pages."""
    return browser.post(path, data={"csrf": csrf_of(browser), **form})


def post(browser: TestClient, path: str, **form: str) -> str:
    """Send a form, and give the page that it ends at."""
    answer = send(browser, path, **form)
    assert answer.status_code == 303, answer.text
    return page_of(browser, answer.headers["location"])


def page_of(browser: TestClient, path: str) -> str:
    """A page that is there, and holds no style and no script itself."""
    answer = browser.get(path)
    assert answer.status_code == 200, (path, answer.text)
    assert not INLINE.search(answer.text), path
    return unescape(answer.text)


def words_of(html: str) -> str:
    """What a page says, without its tags, and with its elements apart."""
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", html)).split())


def sentences_of(html: str) -> str:
    """A page with names in backquotes, as its sentences have them."""
    return unescape(re.sub(r"</?code>", "`", html))


def value_of(html: str, name: str) -> str:
    """What a field of a page has."""
    field = re.search(rf'name="{re.escape(name)}" value="([^"]*)"', html)
    assert field, name
    return unescape(field[1])


def hidden_of(html: str) -> dict[str, str]:
    """The hidden fields of a form, but for the one that guards it."""
    fields = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', html)
    return {name: unescape(value) for name, value in fields if name != "csrf"}


def is_in(client: TestClient) -> bool:
    return client.get("/api/me").status_code == 200


def until_done(site: Site) -> None:
    """Wait for what takes long, which a process of its own does."""
    until(lambda: not site.app.state.long_acts.state.is_running)


@pytest.fixture(scope="session", autouse=True)
def loop_of_clients() -> Iterator[None]:
    """All clients share one event loop and its threads: each request would start, and end, its own."""
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        yield


@pytest.fixture(autouse=True)
def no_plain_sentence(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No page shows a refusal, a notice or an outcome that it could say in English alone."""
    plain: list[str] = []
    monkeypatch.setattr(languages, "on_plain", plain.append)
    yield
    assert not plain, "\n".join(["these are mere texts; raise or return them as sentences, by `say`:", *plain])


@pytest.fixture(scope="session")
def visited(files: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The study after a stage, with EVERYBODY in it: each is made once, for all the sites of it."""
    folder = tmp_path_factory.mktemp("visited")

    @cache
    def at(stage: str) -> Path:
        with closing(Study(shutil.copy(files[stage], folder / f"{stage}.db"))) as study:
            add_everybody(study)
        return folder / f"{stage}.db"

    return at


@pytest.fixture(scope="session")
def forms_study(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The study of all kinds of forms, to be copied."""
    return forms.build(tmp_path_factory.mktemp("forms"))


@pytest.fixture(scope="session")
def look_at(
    visited: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], Site]]:
    """The small study after a stage, one site for all tests that only look at it; none of them may change it."""
    folder, before = tmp_path_factory.mktemp("looked-at"), dict[Site, str]()

    @cache
    def at(stage: str) -> Site:
        site = Site(Study(shutil.copy(visited(stage), folder / f"{stage}.db")), Annotate())
        for name in EVERYBODY:
            site.token(name)
        before[site] = dump(site.study)
        return site

    yield at
    for site, rows in before.items():
        assert dump(site.study) == rows, "a test has changed a study that was to be looked at"
        site.close()


@pytest.fixture
def serve(visited: Callable[[str], Path], tmp_path: Path) -> Iterator[Serve]:
    """Serve the small study as it is after a stage of `small.STAGES`."""
    sites: list[Site] = []

    def served(stage: str, annotate: Annotate | None = None) -> Site:
        study = Study(shutil.copy(visited(stage), tmp_path / f"study-{len(sites)}.db"))
        sites.append(Site(study, annotate or Annotate()))
        return sites[-1]

    yield served
    for site in sites:
        site.close()


@pytest.fixture
def site(serve: Serve) -> Site:
    """The small study in which labels are being given."""
    return serve("dealt")


@pytest.fixture
def lea(site: Site) -> TestClient:
    """The lead's browser."""
    return site.browser("lea")


@pytest.fixture
def path(files: dict[str, Path], tmp_path: Path) -> Path:
    """A study in which labels are being given."""
    return Path(shutil.copy(files["dealt"], tmp_path / "study.db"))


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., Served]]:
    """Starts servers of it."""
    with serving(path) as started:
        yield started
