"""A phone of 375 px, by touch."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from browser.axe import IS_WIDER
from browser.hosts import Host
from browser.sitting import answer, await_pair, await_sent, enter
from browser.windows import PHONE, Windows, come_in

TOUCH_PX = 44
SMALL_PX = 24  # WCAG 2.2, 2.5.8, for what stands beside the texts that are judged
TOUCH: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True, "device_scale_factor": 2}


def by_touch(page: Page, selector: str) -> None:
    for button in page.query_selector_all(selector):
        button.tap()


def box(place: Locator) -> FloatRect:
    found = place.bounding_box()
    assert found
    return found


def test_the_first_visit_and_some_answers(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, **TOUCH)
    come_in(page, desk.token("ana", consent=False))
    assert not page.evaluate(IS_WIDER)
    page.get_by_role("checkbox", name="I have read this").tap()
    page.get_by_role("button", name="Begin").tap()
    await_pair(page)
    for name in ("appropriate", "not_appropriate", "skip"):
        answer(page, name, by_touch)
        assert not page.evaluate(IS_WIDER)
    await_sent(page)
    assert sorted(desk.study.grid().labels()["label"].tolist()) == ["appropriate", "not_appropriate", "skip"]


def test_every_answer_can_be_touched_without_scrolling(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), **TOUCH)
    enter(page)
    buttons = page.locator("[data-answer], #back").all()
    assert len(buttons) == 5
    for button in buttons:
        there = box(button)
        assert there["height"] >= (SMALL_PX if button.evaluate("(it) => !!it.closest('.steps')") else TOUCH_PX)
        assert there["width"] >= TOUCH_PX
        assert there["x"] >= 0
        assert there["x"] + there["width"] <= PHONE["width"]
        assert there["y"] >= 0
        assert there["y"] + there["height"] <= PHONE["height"]


def test_both_texts_can_be_read_though_the_answers_stay(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), **TOUCH)
    enter(page)
    for text in ("#hs", "#cn"):
        page.locator(text).scroll_into_view_if_needed()
        expect(page.locator(text)).to_be_in_viewport(ratio=1)


def test_a_hidden_text_is_shown_by_a_tap(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"), **TOUCH)
    enter(page)
    page.get_by_role("switch", name="Hide each statement").tap()
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    page.locator("#reveal").tap()
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "false")


@pytest.mark.parametrize("path", ["/annotate", "/settings", "/thanks"])
def test_whatever_is_pressed_is_large_enough_for_a_finger(desk: Host, windows: Windows, path: str) -> None:
    page = windows.open(desk.url, desk.token("ana"), **TOUCH)
    page.goto(path)
    expect(page).to_have_url(re.compile(path))
    for one in page.locator("main button:visible, main [role=button]:visible, main select:visible").all():
        small = one.evaluate("(it) => !!it.closest('.above, .steps')")
        assert box(one)["height"] >= (SMALL_PX if small else TOUCH_PX), one.inner_text()
