"""A calibration by three people and a lead, from the first batch to the figures, by keys and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.axe import violations
from browser.hosts import Host
from browser.sitting import answer, await_sent, enter, pair
from browser.windows import Windows
from fcpair.records import Role

NARROW = {"width": 320, "height": 568}
YES, NO = "appropriate", "not_appropriate"
FIRST = {"ana": (YES, YES, NO), "ben": (YES, NO, NO), "cleo": (YES, YES, NO)}


@pytest.fixture
def path(files: dict[str, Path]) -> Path:
    return files["paired"]


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def click(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    page.wait_for_load_state()


def test_three_people_answer_discuss_and_answer_again(served: Host, windows: Windows) -> None:
    served.study.add_people(
        [name for name in FIRST if name not in {one.name for one in served.study.people}], Role.ANNOTATOR
    )
    lea = windows.open(served.url, served.token("lea"))
    lea.goto("/lead/calibration")
    lea.get_by_label("How many pairs").fill("3")
    click(lea, "Start the calibration")
    expect(lea.get_by_role("button", name="Open the discussion")).to_be_visible()

    seen: list[str] = []  # the pairs, in the order in which they were first on a screen
    desks = {name: windows.open(served.url, served.token(name), viewport=NARROW) for name in FIRST}
    for name, page in desks.items():
        enter(page)
        expect(page.locator("#calibration-first")).to_contain_text("everybody answers these pairs first")
        assert violations(page) == []
        for _ in range(3):
            texts = " ".join(pair(page))
            seen += [] if texts in seen else [texts]
            answer(page, FIRST[name][seen.index(texts)])
        await_sent(page)

    click(lea, "Open the discussion")
    expect(lea.get_by_role("cell", name="3").first).to_be_visible()
    assert violations(lea) == []

    page = desks["ben"]
    page.goto("/discussion")
    expect(page.locator("main article")).to_have_count(1)
    expect(page.locator("main article li", has_text="appropriate: 2").first).to_be_visible()
    expect(page.get_by_text("(yours was this)")).to_be_visible()
    assert "ana" not in page.locator("main").inner_text()
    assert violations(page) == []
    assert fits(page)

    for page in desks.values():
        page.goto("/discussion")
        page.keyboard.press("a")
        page.wait_for_url("**/annotate")
        expect(page.locator("#calibration-again")).to_be_visible()
        answer(page, YES)
        await_sent(page)

    lea.reload()
    click(lea, "Close the calibration")
    expect(lea.get_by_text("Agreement before and after the discussion").first).to_be_visible()
    result = served.study.grid().calibration.measure()
    assert (result.phase, result.n_differing, result.n_differing_after) == ("closed", 1, 0)
