"""A pair that was answered in another window or on another device: that is said, and nothing is silently replaced."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_pair, await_sent, enter, intercept, pair
from browser.test_connection import CUT
from browser.test_desk import codes
from browser.windows import Windows

CONFLICT = ("status of 409",)
Sit = Callable[..., Page]


@pytest.fixture
def sit(desk: Host, windows: Windows) -> Sit:
    """Ana at her desk, on a device of its own."""

    def sit(**options: Any) -> Page:
        page = windows.open(desk.url, desk.token("ana"), **options)
        page.on("dialog", lambda dialog: dialog.accept())
        enter(page)
        page.wait_for_timeout(HASTE_MS)
        return page

    return sit


def another_window(page: Page) -> Page:
    """The desk in a second window of the same browser."""
    other = page.context.new_page()
    enter(other)
    other.wait_for_timeout(HASTE_MS)
    return other


def test_another_device_says_that_the_pair_has_just_been_answered(desk: Host, sit: Sit) -> None:
    first, second = sit(), sit(forgive=CONFLICT)
    texts = pair(first)
    answer(first, "appropriate")
    await_sent(first)
    assert pair(second) == texts
    answer(second, "not_appropriate")
    expect(second.locator("#banner-text")).to_contain_text(
        "You have just answered this pair in another window or on another device: that answer counts"
    )
    assert [code for _, code in codes(desk)] == [2]
    second.wait_for_timeout(HASTE_MS)
    second.keyboard.press("u")
    expect(second.locator("#answered")).to_have_text("appropriate")
    assert pair(second) == texts
    answer(second, "not_sure")  # knowingly
    await_sent(second)
    assert [code for _, code in codes(desk)] == [2, 1]


def test_another_window_says_so_at_once_and_leaves_the_pair_where_it_is(desk: Host, sit: Sit) -> None:
    first = sit()
    second = another_window(first)
    texts = pair(second)
    answer(first, "appropriate")
    expect(second.locator("#banner-text")).to_contain_text("You have just answered this pair in another window.")
    expect(second.locator("#answered")).to_have_text("appropriate")
    assert pair(second) == texts
    second.keyboard.press("f")
    expect(second.locator("#earlier")).to_be_hidden()
    assert pair(second) == pair(first)
    await_sent(first)
    assert [code for _, code in codes(desk)] == [2]


def test_what_waits_in_the_browser_is_not_replaced_by_another_window_unseen(desk: Host, sit: Sit) -> None:
    first = sit(forgive=CUT)
    second = another_window(first)
    first.context.set_offline(True)
    answer(first, "appropriate")
    expect(second.locator("#answered")).to_have_text("appropriate")
    second.wait_for_timeout(HASTE_MS)
    second.keyboard.press("f")
    first.context.set_offline(False)
    first.evaluate("() => window.dispatchEvent(new Event('focus'))")
    await_sent(first)
    assert [code for _, code in codes(desk)] == [2]


def test_an_answer_whose_reply_was_lost_can_be_changed(desk: Host, sit: Sit) -> None:
    page = sit(forgive=("ERR_FAILED",))

    def lose_the_reply(route: Any) -> None:
        route.fetch()
        route.abort()

    intercept(page, "**/api/judgements", lose_the_reply, times=1)
    answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("appropriate")
    answer(page, "not_sure")
    await_sent(page)
    assert [code for _, code in codes(desk)] == [2, 1]


# What is said to who listens


def test_kept_is_said_of_what_the_server_has(desk: Host, sit: Sit) -> None:
    page = sit(forgive=CUT)
    said = page.locator("#said")
    answer(page, "appropriate")
    expect(said).to_have_text("Kept. 14 left.")
    page.context.set_offline(True)
    answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet: 1 answer is kept in this page.")
    expect(said).to_have_text("")
    page.context.set_offline(False)
    page.evaluate("() => window.dispatchEvent(new Event('focus'))")
    expect(said).to_have_text("Kept. 13 left.")


def test_kept_is_never_said_of_what_was_refused(desk: Host, sit: Sit) -> None:
    page = sit(forgive=("status of 422",))
    heard: list[str] = []

    def hear(text: str) -> None:
        heard.append(text)

    page.expose_function("hear", hear)
    page.evaluate(
        "() => new MutationObserver(() => hear(document.querySelector('#said').textContent))"
        ".observe(document.querySelector('#said'), {childList: true, characterData: true, subtree: true})"
    )
    refusal = {"status": 422, "json": {"detail": "it is no answer here"}}
    intercept(page, "**/api/judgements", lambda route: route.fulfill(**refusal), times=1)
    page.keyboard.press("3")
    expect(page.locator("#banner-text")).to_have_text("It is no answer here.")
    await_pair(page)
    assert not any("ept" in one for one in heard)
    assert codes(desk) == []
