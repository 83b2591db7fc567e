"""The connection is cut, the server killed, the page reloaded: every answer gets there, in order, once."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Page, Request, Route, expect
from steps.online import admit
from steps.small import CODE, NAMES
from web.served import Served, serving

from browser.hosts import Host
from browser.sitting import answer, await_sent, enter, intercept, pair
from browser.windows import Windows
from fcpair.study import Study

SUBMIT = "**/api/judgements"
CUT = (r"net::ERR_\w+", "status of (403|503)", "when fetching the script")  # which the browser tells in its console
Given = list[tuple[str, str, str]]


def stored(path: str | Path) -> Given:
    """HS, CN and code of each judgement that is kept, in the order in which they came."""
    query = f"""
        SELECT hs.body, cn.body, {CODE} FROM judgement
        JOIN assignment ON assignment.id = judgement.assignment_id JOIN cell ON cell.id = assignment.cell_id
        JOIN text AS hs ON hs.id = cell.row_id JOIN text AS cn ON cn.id = cell.column_id ORDER BY judgement.id
    """
    with closing(sqlite3.connect(path)) as connection:
        return [(hs, cn, NAMES[code]) for hs, cn, code in connection.execute(query)]


def give(page: Page, *names: str) -> Given:
    """Answer pairs; what was answered to which."""
    given = []
    for name in names:
        hs, cn = pair(page)
        answer(page, name)
        given.append((hs, cn, name))
    return given


@pytest.fixture
def page(desk: Host, windows: Windows) -> Page:
    """The desk, at which ana sits."""
    opened = windows.open(desk.url, desk.token("ana"), forgive=CUT)
    enter(opened)
    return opened


def test_an_answer_whose_reply_is_lost_is_sent_again_and_stored_once(desk: Host, page: Page) -> None:
    sent: list[str] = []

    def lose_the_reply(route: Route) -> None:
        route.fetch()
        route.abort()

    page.on("request", lambda request: note(request, sent))
    intercept(page, SUBMIT, lose_the_reply, times=1)
    given = give(page, "appropriate")
    await_sent(page)
    assert len(sent) == 2
    assert len(set(sent)) == 1
    assert stored(desk.study.place) == given


def note(request: Request, sent: list[str]) -> None:
    """Note the request id of an answer."""
    if urlsplit(request.url).path == "/api/judgements":
        sent.append(json.loads(request.post_data or "")["request_id"])


def test_answers_given_without_a_connection_arrive_in_order_once(desk: Host, page: Page) -> None:
    page.context.set_offline(True)
    given = give(page, "appropriate", "not_sure")
    expect(page.locator("#banner-text")).to_have_text("Not sent yet: 2 answers are kept in this page.")
    assert stored(desk.study.place) == []
    page.context.set_offline(False)
    await_sent(page)
    expect(page.locator("#banner-text")).to_have_text("All your answers have been sent.")
    assert stored(desk.study.place) == given


def test_a_reload_loses_no_unsent_answer(desk: Host, page: Page) -> None:
    page.on("dialog", lambda dialog: dialog.accept())  # the browser asks before it leaves answers behind
    intercept(page, SUBMIT, lambda route: route.abort())
    given = give(page, "not_appropriate", "appropriate")
    page.reload()
    page.unroute(SUBMIT)
    await_sent(page)
    assert stored(desk.study.place) == given
    assert pair(page) not in {(hs, cn) for hs, cn, _ in given}


def test_an_answer_that_the_server_cannot_take_now_is_sent_again(desk: Host, page: Page) -> None:
    intercept(page, SUBMIT, lambda route: route.fulfill(status=503, json={"detail": "busy"}), times=1)
    given = give(page, "appropriate")
    await_sent(page)
    assert stored(desk.study.place) == given


def test_answers_given_while_another_program_writes_are_kept_and_sent_when_it_is_done(
    desk: Host, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk.study._store._writing, "patience_s", 0.5)
    with closing(sqlite3.connect(desk.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        given = give(page, "appropriate", "not_appropriate", "appropriate")
        expect(page.locator("#banner")).to_contain_text("Not sent yet: 3 answers are kept in this page.")
        other.execute("ROLLBACK")
    await_sent(page)
    assert stored(desk.study.place) == given


def test_a_server_that_is_busy_is_not_taken_for_one_that_lets_nobody_in(desk: Host, page: Page) -> None:
    """An answer is refused for a session that was renewed elsewhere, and the page that tells so cannot be had now."""
    intercept(page, SUBMIT, lambda route: route.fulfill(status=403, json={"detail": "out of date"}), times=1)
    intercept(page, "**/annotate", lambda route: route.fulfill(status=503, body="<h1>One moment, please</h1>"))
    given = give(page, "appropriate")
    await_sent(page)
    assert stored(desk.study.place) == given
    expect(page.locator("#banner")).not_to_contain_text("not signed in")


@pytest.fixture
def path(example: Path, tmp_path: Path) -> Path:
    """The example study, in a file of its own."""
    copy = tmp_path / "killed.db"
    copy.write_bytes(example.read_bytes())
    return copy


@pytest.fixture
def start(path: Path) -> Iterator[Callable[..., Served]]:
    """Serve it in a process of its own."""
    with serving(path) as started:
        yield started


def test_a_killed_server_that_is_started_again_has_every_answer_once(
    path: Path, start: Callable[..., Served], windows: Windows
) -> None:
    study = Study(path)
    admit(study, "ana")
    token = study.access.invite("ana")
    study.close()
    served = start()
    page = windows.open(served.url, token, forgive=CUT)
    enter(page)
    given: Given = []
    for _ in range(2):
        given += give(page, "appropriate")
        served.process.kill()
        served.process.wait()
        given += give(page, "not_sure")
        expect(page.locator("#banner-text")).to_contain_text("Not sent yet")
        served = start("--port", str(urlsplit(served.url).port))
        await_sent(page)
    assert stored(path) == given
