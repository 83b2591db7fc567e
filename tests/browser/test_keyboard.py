"""No mouse, no touch: everything by the keyboard."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from browser.hosts import Host
from browser.sitting import act_until_taken, answer, await_pair, decide, tab_to
from browser.windows import Windows, come_in
from fcpair.grid import AdjudicationQueue

THANKS = re.compile("/thanks$")


def press(page: Page, key: str) -> None:
    """Press a key until the page has taken it."""
    act_until_taken(page, lambda: page.keyboard.press(key))


def agree_by_keys(page: Page) -> None:
    """Fill in the first page, and begin."""
    tab_to(page, "#question-0")
    page.keyboard.type("30")
    tab_to(page, "#question-1")
    page.keyboard.type("Frisian")
    tab_to(page, "[name=consent]")
    page.keyboard.press("Space")
    tab_to(page, "form[action='/welcome'] [type=submit]")
    page.keyboard.press("Enter")
    await_pair(page)


def test_an_annotator_gets_from_the_link_to_the_thanks(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url)
    come_in(page, desk.token("ana", consent=False))
    agree_by_keys(page)
    total = int(str(page.locator("#bar").get_attribute("max")))
    press(page, "1")
    page.keyboard.press("n")
    page.keyboard.type("1 or 3?")
    page.keyboard.press("Enter")
    press(page, "2")
    page.keyboard.press("g")
    expect(page.locator("dialog#guidelines")).to_be_visible()
    page.keyboard.press("g")
    page.keyboard.press("p")
    expect(page.locator("#pause-screen")).to_be_visible()
    page.keyboard.press("c")
    press(page, "u")
    expect(page.locator("#answered")).to_have_text("not sure")
    expect(page.locator("#note")).to_have_value("1 or 3?")
    press(page, "3")
    for _ in range(total - 3):
        press(page, "3")
    answer(page, "skip")
    expect(page).to_have_url(THANKS)
    given = desk.study.grid().labels()["label"].tolist()
    assert sorted(given) == ["appropriate"] * (total - 2) + ["not_appropriate"] + ["skip"]


def test_an_adjudicator_decides_and_takes_it_back(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"])
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    first = page.locator("#case-name").inner_text()
    page.keyboard.press("n")
    page.keyboard.type("Speaks of something else.")
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    decide(page, "[data-key='3']")
    expect(page.locator("#case-name")).to_be_focused()
    (decided,) = AdjudicationQueue(served.study.grid()).decisions(mine(served))
    assert (decided.outcome, decided.note, decided.flagged) == ("appropriate", "Speaks of something else.", True)
    assert first == f"Pair {decided.cell_id}"
    decide(page, "[data-key=u]")
    expect(page.locator("#case-name")).to_have_text(first)
    assert AdjudicationQueue(served.study.grid()).decisions(mine(served)) == []


def mine(served: Host) -> int:
    return next(one.id for one in served.study.people if one.name == "judy")


def test_the_first_tab_leads_past_the_navigation(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.goto("/guidelines")
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()


def test_the_keys_can_be_turned_off(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.goto("/annotate")
    await_pair(page)
    tab_to(page, ".keys summary")
    page.keyboard.press("Enter")
    tab_to(page, "[data-keys-switch]")
    page.keyboard.press("Space")
    page.keyboard.press("g")
    expect(page.locator("dialog#guidelines")).to_be_hidden()
    page.keyboard.press("Space")
    page.keyboard.press("g")
    expect(page.locator("dialog#guidelines")).to_be_visible()
