"""Decisions that do not get through at once: nothing typed is lost, nothing is decided twice."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect
from steps.small import standing

from browser.hosts import Host
from browser.windows import Windows
from fcpair.grid import AdjudicationQueue
from fcpair.records import Rule

DECIDE = "**/adjudicate"
NOTE = "Speaks of something else."
YES = "[name=outcome][value=appropriate]"
HEIGHT = "(it) => it.offsetHeight"
IS_IN_FRONT = """(selector) => {
  const part = document.querySelector(selector), { left, top } = part.getBoundingClientRect();
  return part.contains(document.elementFromPoint(left + 5, top + 5));
}"""


@pytest.fixture
def served(host: Callable[..., Host], files: dict[str, Path]) -> Host:
    """A study whose labels are all in."""
    return host(files["labelled"])


@pytest.fixture
def page(served: Host, windows: Windows) -> Page:
    """The first conflict, before judy."""
    opened = windows.open(
        served.url,
        served.token("judy"),
        forgive=(r"net::ERR_\w+", "status of (409|503)", "Status Error Code 503", "htmx:"),
    )
    opened.goto("/adjudicate")
    return opened


def decided(served: Host) -> list[int]:
    return [pair for pair, (rule, _) in standing(served.study).items() if rule == Rule.PERSON]


def test_what_was_typed_stays_while_the_server_cannot_be_reached(served: Host, page: Page) -> None:
    first = page.locator("#case-name").inner_text()
    page.locator("#note").fill(NOTE)
    page.context.set_offline(True)
    page.locator(YES).click()
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    expect(page.locator("#note")).to_have_value(NOTE)
    page.context.set_offline(False)
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    (one,) = AdjudicationQueue(served.study.grid()).decisions()
    assert (one.outcome, one.note) == ("appropriate", NOTE)


@pytest.mark.parametrize(("width", "height"), [(375, 667), (320, 568), (600, 800), (640, 360)])
def test_on_a_phone_it_is_seen_that_a_decision_failed_wherever_the_page_is(page: Page, width: int, height: int) -> None:
    page.set_viewport_size({"width": width, "height": height})
    banner, first = page.get_by_role("alert"), page.locator("#case-name").inner_text()
    assert banner.evaluate(HEIGHT) == 0
    page.context.set_offline(True)
    page.keyboard.press("1")
    expect(banner).to_contain_text("The server cannot be reached.")
    expect(banner).to_be_in_viewport(ratio=1)
    for part in (".progress", "#hs-name", ".answers", ".steps"):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        assert page.evaluate(IS_IN_FRONT, part)  # the banner covers nothing
    page.locator("summary", has_text="Keys").click()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(banner).to_be_in_viewport(ratio=1)
    page.context.set_offline(False)
    page.keyboard.press("1")
    expect(page.locator("#case-name")).not_to_have_text(first)
    expect(banner).to_have_text("")
    assert banner.evaluate(HEIGHT) == 0


def test_what_was_typed_stays_while_another_program_writes(
    served: Host, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.study._store._writing, "patience_s", 0.5)
    first = page.locator("#case-name").inner_text()
    page.locator("#note").fill(NOTE)
    with closing(sqlite3.connect(served.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        page.locator(YES).click()
        expect(page.get_by_role("alert")).to_contain_text("nothing was changed")
        expect(page.get_by_role("alert")).to_contain_text("What you typed is still here")
        expect(page.locator("#note")).to_have_value(NOTE)
        other.execute("ROLLBACK")
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    (one,) = AdjudicationQueue(served.study.grid()).decisions()
    assert (one.outcome, one.note) == ("appropriate", NOTE)


def test_a_decision_is_kept_once_where_the_next_conflict_could_not_be_shown(served: Host, page: Page) -> None:
    """The decision is kept, and then the server has no time to look for the next pair."""
    first = page.locator("#case-name").inner_text()
    told: list[str] = []

    def keep_and_put_off(route: Route) -> None:
        kept = route.fetch(max_redirects=0)
        told.append(str(kept.status))
        route.fulfill(status=503, headers={"Retry-After": "1"}, body="<main><p>One moment.</p></main>")

    page.route(DECIDE, keep_and_put_off, times=1)
    page.locator(YES).click()
    expect(page.get_by_role("alert")).to_contain_text("One moment. What you typed is still here")
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    assert told == ["303"]
    assert len(AdjudicationQueue(served.study.grid()).decisions()) == 1


def test_a_decision_whose_reply_is_lost_is_kept_once(served: Host, page: Page) -> None:
    first = page.locator("#case-name").inner_text()

    def lose_the_reply(route: Route) -> None:
        route.fetch(max_redirects=0)
        route.abort()

    page.route(DECIDE, lose_the_reply, times=1)
    page.locator(YES).click()
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    assert len(decided(served)) == 1
    assert len(AdjudicationQueue(served.study.grid()).decisions()) == 1


def test_a_double_click_is_one_decision(served: Host, page: Page) -> None:
    page.clock.install(time=0)
    page.reload()
    first = page.locator("#case-name").inner_text()
    page.clock.pause_at(3600)
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    second = page.locator("#case-name").inner_text()
    page.locator(YES).click()
    page.clock.run_for(300)
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(second)
    assert len(decided(served)) == 2


def test_a_decision_that_was_overtaken_is_told(served: Host, page: Page) -> None:
    pair = int(page.locator("#case-name").inner_text().removeprefix("Pair "))
    served.study.grid().decide(pair, 0, by="lea")
    page.locator(YES).click()
    expect(page.locator(".notice[role=alert]")).to_contain_text("decided")
    assert standing(served.study)[pair] == (Rule.PERSON, 0)
