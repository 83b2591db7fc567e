"""Hints at the desk: the keys, the last answer beside its undo, what is not sent when one leaves, kinds of notices."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_sent, enter, intercept
from browser.windows import Windows

SMALL = {"width": 320, "height": 568}
WORD = "(place) => getComputedStyle(document.querySelector(place), '::before').content"


@pytest.fixture
def sit(desk: Host, windows: Windows) -> Callable[..., Page]:
    def sit(name: str = "ana", **options: object) -> Page:
        page = windows.open(desk.url, desk.token(name), **options)  # type: ignore[arg-type]
        enter(page)
        page.wait_for_timeout(HASTE_MS)
        return page

    return sit


@pytest.mark.parametrize("key", ["?", "؟"])
def test_a_question_mark_opens_the_keys_wherever_they_are_and_closes_them(sit: Callable[..., Page], key: str) -> None:
    page = sit(viewport=SMALL)
    keys = page.locator("details.keys dl")
    expect(keys).to_be_hidden()
    page.evaluate("(key) => document.body.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))", key)
    expect(keys).to_be_visible()
    expect(page.locator("details.keys summary")).to_be_focused()
    expect(page.locator("details.keys summary")).to_be_in_viewport()
    page.keyboard.press("?")
    expect(keys).to_be_hidden()


def test_the_last_answer_stays_in_sight_on_its_undo(sit: Callable[..., Page]) -> None:
    page = sit(viewport=SMALL)
    undo = page.locator("#back")
    expect(undo).to_have_text("Undo  U")
    answer(page, "not_appropriate")
    expect(undo).to_have_text("Undo “not appropriate” U")
    expect(undo).to_have_attribute("title", "Your last answer was “not appropriate”.")
    assert not page.evaluate(IS_WIDER)
    answer(page, "skip")
    expect(undo).to_have_text("Undo “skip” U")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("skip")
    expect(page.locator("#last")).to_be_hidden()
    assert violations(page) == []


def test_who_leaves_with_an_answer_that_is_not_sent_is_asked_once(sit: Callable[..., Page]) -> None:
    page = sit(forgive=("ERR_FAILED", "Failed to load"))
    intercept(page, "**/api/judgements", lambda route: route.abort())
    answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet")
    page.get_by_role("button", name="Leave").click()
    asked = page.get_by_role("dialog", name="Leave now?")
    expect(asked).to_contain_text("1 answer is not sent yet. It stays in this browser")
    assert violations(page) == []
    page.keyboard.press("l")
    page.wait_for_url("**/join")


def test_who_has_sent_everything_leaves_without_a_question(sit: Callable[..., Page]) -> None:
    page = sit()
    answer(page, "appropriate")
    await_sent(page)
    page.get_by_role("button", name="Leave").click()
    page.wait_for_url("**/join")


def test_errors_warnings_and_notes_differ_by_a_word_and_a_colour(
    sit: Callable[..., Page], desk: Host, windows: Windows
) -> None:
    page, colours = sit(forgive=("status of 422", "ERR_FAILED", "Failed to load")), set()
    refusal = {"status": 422, "json": {"detail": "this cannot be"}}
    progress = page.locator("#count").inner_text()
    intercept(page, "**/api/judgements", lambda route: route.fulfill(**refusal), times=1)
    page.keyboard.press("3")
    expect(page.locator("#banner-text")).to_have_text("This cannot be.")
    assert page.evaluate(WORD, "#banner-text") == '"Error: "'
    expect(page.locator("#banner-text")).to_have_attribute("data-word", "Error")
    colours.add(colour(page))
    intercept(page, "**/api/judgements", lambda route: route.abort(), times=1)
    expect(page.locator("#count")).to_have_text(progress)  # what was refused is open again
    answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_have_attribute("data-word", "Warning")
    colours.add(colour(page))
    expect(page.locator("#banner-text")).to_have_text("All your answers have been sent.")
    expect(page.locator("#banner-text")).to_have_attribute("data-word", "Note")
    colours.add(colour(page))
    assert len(colours) == 3
    assert violations(page) == []
    expect(page.locator("#banner-text")).to_have_text("", timeout=15_000)
    assert page.locator("#banner-text").get_attribute("data-word") is None


def colour(page: Page) -> str:
    """The colour of the line beside what is said."""
    return str(page.evaluate("() => getComputedStyle(document.getElementById('banner')).borderInlineStartColor"))


def test_the_content_warning_is_called_one(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ben"))
    page.goto("/welcome")
    expect(page.locator("section.warning")).to_have_attribute("data-word", "Warning")
