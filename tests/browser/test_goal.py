"""Today's goal: set by oneself, shown beside what is done, said once when it is reached, never above a limit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.conftest import TERMS
from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_sent, enter
from browser.windows import Windows
from fcpair.params import Annotate

NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });"""


def set_goal(page: Page, n: str) -> None:
    page.get_by_label("My goal for today, in pairs").fill(n)
    page.get_by_label("My goal for today, in pairs").blur()


def test_a_goal_is_shown_reached_once_and_offers_to_stop(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    expect(page.locator("#reading")).to_have_text("0 today")
    set_goal(page, "2")
    expect(page.locator("#reading")).to_have_text("0 of 2 today")
    answer(page, "appropriate")
    expect(page.locator("#reading")).to_have_text("1 of 2 today")
    await_sent(page)
    page.reload()
    enter(page)
    expect(page.locator("#reading")).to_have_text("1 of 2 today")
    answer(page, "appropriate")
    reached = page.locator("#goal-reached")
    expect(reached).to_be_visible()
    expect(reached).to_contain_text("You have answered as many pairs today as you set out to: 2.")
    expect(reached.get_by_role("button", name="Stop for today")).to_be_focused()
    page.keyboard.press("c")
    expect(reached).to_be_hidden()
    answer(page, "appropriate")
    expect(page.locator("#reading")).to_have_text("3 of 2 today")
    expect(reached).to_be_hidden()
    await_sent(page)


def test_to_stop_leads_to_the_last_page(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    set_goal(page, "1")
    answer(page, "appropriate")
    expect(page.locator("#goal-reached")).to_be_visible()
    await_sent(page)
    page.keyboard.press("t")
    page.wait_for_url("**/thanks")


def test_a_goal_of_yesterday_or_none_is_gone(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    set_goal(page, "5")
    page.evaluate(
        """() => Object.keys(localStorage).filter((key) => key.startsWith("fcpair-goal/")).forEach((key) =>
          localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage[key]), day: "yesterday" })))"""
    )
    page.reload()
    enter(page)
    expect(page.locator("#reading")).to_have_text("0 today")
    set_goal(page, "3")
    set_goal(page, "")
    expect(page.locator("#reading")).to_have_text("0 today")


@pytest.mark.parametrize(("goal", "shown"), [("2", "0 of 2 today (3 at most)"), ("9", "0 of 3 today")])
def test_the_limit_of_the_study_stands_above_a_goal(
    host: Callable[..., Host], example: Path, windows: Windows, goal: str, shown: str
) -> None:
    limited: Annotate = replace(TERMS, daily_limit=3)
    served = host(example, limited)
    page = windows.open(served.url, served.token("ana"))
    enter(page)
    set_goal(page, goal)
    expect(page.locator("#reading")).to_have_text(shown)


def test_a_goal_works_without_storage_and_from_the_bar(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.add_init_script(NO_STORAGE)
    enter(page)
    page.locator("#bar").click()
    expect(page.locator("#goal")).to_be_focused()
    set_goal(page, "4")
    expect(page.locator("#reading")).to_have_text("0 of 4 today")
    page.keyboard.press("Tab")
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("3")
    expect(page.locator("#reading")).to_have_text("1 of 4 today")
