"""What holds for every request: headers, whole bodies, and an answer where fcpair fails."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.routing import iter_route_contexts
from httpx2 import Response

from fcpair.errors import StudyError
from fcpair.steps.people.access import Access
from fcpair.web.server.security import API_HEADERS, CSP, HEADERS, Guard
from web.conftest import Site


def addresses(app: FastAPI) -> list[tuple[str, str]]:
    found = iter_route_contexts(app.routes)
    return [(min(one.methods), str(one.path)) for one in found if one.methods]


@pytest.mark.parametrize("name", ["", "ana", "lea"])
def test_every_route_answers_with_the_security_headers(site: Site, name: str) -> None:
    client = site.machine(name) if name else site.stranger()
    for method, path in [*addresses(site.app), ("GET", "/nowhere"), ("GET", "/api/nowhere"), ("PATCH", "/join")]:
        response = client.request(method, path.replace("{", "").replace("}", ""))
        expected = API_HEADERS if path.startswith("/api/") else HEADERS
        assert {key: response.headers.get(key) for key in HEADERS if key in response.headers} == expected, (
            method,
            path,
        )
        assert response.headers["cache-control"] == "no-store", (method, path)


def test_no_script_or_style_within_a_page_would_run_and_the_api_loads_nothing() -> None:
    rules = dict(rule.split(" ", 1) for rule in CSP.split("; "))
    assert rules["default-src"] == rules["base-uri"] == rules["frame-ancestors"] == "'none'"
    assert rules["script-src"] == rules["style-src"] == rules["form-action"] == rules["connect-src"] == "'self'"
    assert "unsafe" not in CSP
    rules = dict(rule.split(" ", 1) for rule in API_HEADERS["content-security-policy"].split("; "))
    assert rules == {"default-src": "'none'", "frame-ancestors": "'none'"}
    assert API_HEADERS["x-content-type-options"] == "nosniff"
    assert API_HEADERS["cross-origin-resource-policy"] == "same-origin"


def test_static_files_are_kept_as_long_as_their_version_is_asked_for(site: Site) -> None:
    stranger = site.stranger()
    versioned = site.app.state.context.templates.globals["static"]("keys.js")
    assert stranger.get(versioned).headers["cache-control"] == "public, max-age=31536000, immutable"
    assert stranger.get("/static/keys.js").headers["cache-control"] == "no-cache"
    assert stranger.get("/static/nothing.js?v=1").headers["cache-control"] == "no-store"
    assert stranger.get(versioned).headers["content-security-policy"] == CSP


def ask(app: Any, messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sent: list[dict[str, Any]] = []
    left = iter(messages)

    async def receive() -> dict[str, Any]:
        return next(left)

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"transfer-encoding", b"chunked")]
    scope = {"type": "http", "method": "POST", "path": "/x", "query_string": b"", "headers": headers}
    asyncio.run(Guard(app, lambda _: None)(scope, receive, send))
    return sent


def test_the_app_gets_the_parts_of_a_body_as_one_and_never_half_of_it() -> None:
    got: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        got.extend([await receive(), await receive()])

    first: dict[str, Any] = {"type": "http.request", "body": b"ab", "more_body": True}
    gone: dict[str, Any] = {"type": "http.disconnect"}
    assert ask(app, [first, gone]) == []
    assert got == []
    ask(app, [first, {"type": "http.request", "body": b"c"}, gone])
    assert got == [{"type": "http.request", "body": b"abc", "more_body": False}, gone]


@pytest.fixture
def fail(monkeypatch: pytest.MonkeyPatch) -> Callable[[Exception], None]:
    """Have it fail to set whether texts are blurred."""

    def failing(error: Exception) -> None:
        def defect(*_: Any) -> None:
            raise error

        monkeypatch.setattr(Access, "set_blurred", defect)

    return failing


def blur(site: Site) -> tuple[Response, Response]:
    client = site.machine("ana")
    return client.put("/api/settings", json={"blurred": True}), client.post("/settings", data={"blurred": "1"})


def test_a_defect_is_answered_plainly_and_its_place_logged_without_what_it_says(
    site: Site, fail: Callable[[Exception], None], caplog: pytest.LogCaptureFixture
) -> None:
    error = ValueError("People who like tea cannot be trusted")
    error.__cause__ = error  # as some libraries chain
    fail(error)
    answer, page = blur(site)
    assert answer.status_code == page.status_code == 500
    assert "fcpair itself failed" in answer.json()["detail"]
    assert "itself failed" in page.text
    assert answer.headers["content-security-policy"] == API_HEADERS["content-security-policy"]
    assert page.headers["content-security-policy"] == CSP
    logged = [one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR]
    assert len(logged) == 2
    assert all(part in logged[0] for part in ("PUT /api/settings failed", "ValueError", "in defect"))
    assert "tea" not in caplog.text + answer.text + page.text


def test_an_address_does_not_steer_the_terminal_of_whoever_reads_the_log(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def defect(*_: Any) -> None:
        raise ValueError

    monkeypatch.setattr("fcpair.study.Study.workload", defect)
    site.browser("lea").get("/lead/people/a%1B]0;x%07%0AERROR%20all%20is%20lost/retire")
    (logged,) = (one.getMessage() for one in caplog.records if one.levelno >= logging.ERROR)
    assert logged.startswith("GET /lead/people/a%1B%5D0%3Bx%07%0AERROR%20all%20is%20lost/retire failed\n")


def test_what_is_wrong_with_the_file_is_for_the_log(
    site: Site, fail: Callable[[Exception], None], caplog: pytest.LogCaptureFixture
) -> None:
    fail(StudyError("/srv/study.db: the disk is full; nothing was changed"))
    answer, page = blur(site)
    assert answer.status_code == page.status_code == 503
    assert "cannot be read or written just now" in answer.json()["detail"]
    assert "cannot be read or written just now" in page.text
    assert "/srv" not in answer.text + page.text
    assert "/srv/study.db: the disk is full" in caplog.text
