"""Pauses, limits and the goal of today, of annotators and adjudicators: known before they are reached, said once."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser import acts
from browser.hosts import TERMS, Host, Serve
from browser.windows import Windows

MINUTE_MS = 60_000
FIRST = "[data-key='1']"
NO_STORAGE = """for (const name of ["localStorage", "sessionStorage"])
  Object.defineProperty(window, name, { get() { throw new DOMException("denied", "SecurityError"); } });"""
YESTERDAY = """() => Object.keys(localStorage).filter((key) => key.startsWith("fcpair-goal/")).forEach((key) =>
  localStorage.setItem(key, JSON.stringify({ ...JSON.parse(localStorage[key]), day: "yesterday" })))"""


def set_goal(page: Page, n: str) -> None:
    page.get_by_label("My goal for today, in pairs").fill(n)
    page.get_by_label("My goal for today, in pairs").blur()


@pytest.mark.parametrize("who", ["ana", "judy"])
def test_a_pause_is_proposed_after_so_many_pairs_with_the_contact(
    serve: Serve, example: Path, windows: Windows, who: str
) -> None:
    place, path = (example, "/annotate") if who == "ana" else ("labelled", "/adjudicate")
    page = windows.sit(serve(place, replace(TERMS, pause_pairs=2)), who, path)
    pause = page.locator("#pause-screen")
    for _ in range(2):
        for is_due in (False, True):
            if who == "ana":
                acts.answer(page, "appropriate")
            else:
                acts.decide(page, FIRST)
            expect(pause).to_be_visible(visible=is_due)
        expect(pause).to_contain_text("You have answered 2 pairs since your last pause.")
        expect(pause).to_contain_text(TERMS.contact)
        page.keyboard.press("c")
        expect(pause).to_be_hidden()


def test_a_pause_is_proposed_after_so_many_minutes_and_to_be_away_is_one(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), forgive=("status of 422",))  # its clock is ahead of the server
    page.clock.install()
    acts.enter(page)
    acts.answer(page, "appropriate")
    for minutes, is_due in ((15, False), (15, False), (9, False), (9, False), (2, True)):
        page.clock.fast_forward(minutes * MINUTE_MS)
        acts.answer(page, "appropriate")
        expect(page.locator("#pause-screen")).to_be_visible(visible=is_due)
    expect(page.locator("#pause-reason")).to_have_text("You have been at work for 20 minutes.")


def test_the_limit_of_a_day_ends_an_adjudicators_day(serve: Serve, windows: Windows) -> None:
    page = windows.sit(serve("labelled", replace(TERMS, daily_limit=2)), "judy", "/adjudicate")
    for n in range(2):
        expect(page.locator(".progress")).to_contain_text(f"{n} of 2 today")
        acts.decide(page, FIRST)
    expect(page.locator("#case-sheet")).to_contain_text("You have read 2 pairs today")
    page.reload()
    expect(page.locator("#pair")).to_have_count(0)
    acts.decide(page, "[data-key=u]")  # what one has decided today can be changed today
    acts.press(page, "3")
    expect(page.locator("#case-sheet")).to_contain_text("You have read 2 pairs today")


def test_an_annotator_sees_how_much_of_the_limits_is_used_until_they_end_the_day(
    serve: Serve, example: Path, windows: Windows
) -> None:
    page = windows.sit(serve(example, replace(TERMS, daily_limit=3, total_limit=9)), "ana")
    reading = page.locator("#reading")
    expect(reading).to_have_text("0 of 3 today · 0 of 9 in all")
    acts.answer(page, "appropriate", "skip")
    expect(reading).to_have_text("2 of 3 today · 2 of 9 in all")
    acts.press(page, "u")
    acts.answer(page, "not_sure")  # again, on a pair that has been read
    acts.await_sent(page)
    expect(reading).to_have_text("2 of 3 today · 2 of 9 in all")
    acts.reload(page)
    expect(reading).to_have_text("2 of 3 today · 2 of 9 in all")
    acts.answer(page, "appropriate")
    expect(page).to_have_url(re.compile("/thanks$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for today")
    expect(page.locator("main")).to_contain_text("12 are left")
    expect(page.get_by_role("link", name="Go on")).to_have_count(0)


def test_a_goal_is_shown_reached_once_and_offers_to_stop(desk: Host, windows: Windows) -> None:
    page = windows.sit(desk, "ana")
    reading, reached = page.locator("#reading"), page.locator("#goal-reached")
    expect(reading).to_have_text("0 today")
    set_goal(page, "2")
    expect(reading).to_have_text("0 of 2 today")
    acts.answer(page, "appropriate")
    expect(reading).to_have_text("1 of 2 today")
    acts.await_sent(page)
    acts.reload(page)
    expect(reading).to_have_text("1 of 2 today")
    acts.answer(page, "appropriate")
    expect(reached).to_be_visible()
    expect(reached).to_contain_text("You have answered as many pairs today as you set out to: 2.")
    expect(reached.get_by_role("button", name="Stop for today")).to_be_focused()
    page.keyboard.press("c")
    expect(reached).to_be_hidden()
    acts.answer(page, "appropriate")
    expect(reading).to_have_text("3 of 2 today")
    expect(reached).to_be_hidden()
    acts.await_sent(page)
    page.evaluate(YESTERDAY)
    acts.reload(page)
    expect(reading).to_have_text("3 today")
    for goal, shown in (("9", "3 of 9 today"), ("", "3 today"), ("4", "3 of 4 today")):
        set_goal(page, goal)
        expect(reading).to_have_text(shown)
    acts.answer(page, "appropriate")
    expect(reached).to_be_visible()
    acts.await_sent(page)
    page.keyboard.press("t")
    page.wait_for_url("**/thanks")


def test_the_limit_of_the_study_stands_above_a_goal_which_needs_no_storage(
    serve: Serve, example: Path, windows: Windows
) -> None:
    served = serve(example, replace(TERMS, daily_limit=5))
    page = windows.open(served.url, served.token("ana"))
    page.add_init_script(NO_STORAGE)
    acts.enter(page)
    page.locator("#bar").click()
    expect(page.locator("#goal")).to_be_focused()
    for goal, shown in (("9", "0 of 5 today"), ("4", "0 of 4 today (5 at most)")):
        set_goal(page, goal)
        expect(page.locator("#reading")).to_have_text(shown)
    page.keyboard.press("Tab")
    acts.press(page, "3")
    expect(page.locator("#reading")).to_have_text("1 of 4 today (5 at most)")
