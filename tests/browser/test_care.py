"""Adjudicators are looked after as annotators are, and limits are known before they are reached."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from playwright.sync_api import expect

from browser.conftest import TERMS
from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_sent, decide, enter
from browser.windows import Windows

FIRST = "[data-key='1']"


def test_an_adjudicator_is_proposed_a_pause_with_the_contact(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"], replace(TERMS, pause_pairs=2))
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    pause = page.locator("#pause-screen")
    decide(page, FIRST)
    expect(pause).to_be_hidden()
    decide(page, FIRST)
    expect(pause).to_contain_text("You have answered 2 pairs since your last pause.")
    expect(pause).to_contain_text(TERMS.contact)
    page.keyboard.press("c")
    expect(pause).to_be_hidden()
    decide(page, FIRST)
    expect(pause).to_be_hidden()


def test_an_adjudicator_can_pause_and_stop_for_today(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"])
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    decide(page, FIRST)
    page.keyboard.press("p")
    expect(page.locator("#pause-reason")).to_have_text("You asked for a pause.")
    page.get_by_role("button", name="Stop for today").click()
    expect(page).to_have_url(re.compile("/thanks$"))
    expect(page.locator("main")).to_contain_text("You have decided 1 pair")
    expect(page.locator("main")).to_contain_text(TERMS.contact)
    page.get_by_role("link", name="Look at my decisions again").click()
    expect(page.get_by_role("article")).to_have_count(1)


def test_the_limit_of_a_day_ends_an_adjudicators_day(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"], replace(TERMS, daily_limit=2))
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    expect(page.locator(".progress")).to_contain_text("0 of 2 today")
    decide(page, FIRST)
    expect(page.locator(".progress")).to_contain_text("1 of 2 today")
    decide(page, FIRST)
    expect(page.locator("#docket")).to_contain_text("You have read 2 pairs today")
    page.reload()
    expect(page.locator("#pair")).to_have_count(0)
    decide(page, "[data-key=u]")  # what one has decided today can be changed today
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("3")
    expect(page.locator("#docket")).to_contain_text("You have read 2 pairs today")


def test_an_adjudicator_has_settings(host: Callable[..., Host], files: dict[str, Path], windows: Windows) -> None:
    served = host(files["labelled"])
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    page.get_by_role("link", name="Settings").click()
    expect(page.get_by_text("Topics that I would rather not read about")).to_have_count(0)
    page.get_by_role("checkbox", name="Hide each").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    page.goto("/adjudicate")
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")


def test_an_annotator_sees_how_much_of_the_limits_is_used(
    host: Callable[..., Host], example: Path, windows: Windows
) -> None:
    served = host(example, replace(TERMS, daily_limit=4, total_limit=9))
    page = windows.open(served.url, served.token("ana"))
    enter(page)
    reading = page.locator("#reading")
    expect(reading).to_have_text("0 of 4 today · 0 of 9 in all")
    answer(page, "appropriate")
    answer(page, "skip")
    expect(reading).to_have_text("2 of 4 today · 2 of 9 in all")
    page.keyboard.press("u")
    page.wait_for_timeout(HASTE_MS)
    answer(page, "not_sure")  # again, on a pair that has been read
    await_sent(page)
    expect(reading).to_have_text("2 of 4 today · 2 of 9 in all")
    page.reload()
    expect(reading).to_have_text("2 of 4 today · 2 of 9 in all")


def test_without_limits_only_today_is_told(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    enter(page)
    expect(page.locator("#reading")).to_have_text("0 today")
