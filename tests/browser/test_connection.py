"""The connection is cut, or a pair answered elsewhere: every answer gets there, in order, once, and no other unseen."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing

import pytest
from playwright.sync_api import Page, expect

from browser import acts
from browser.hosts import Host
from browser.windows import CUT, Windows


@pytest.fixture
def page(desk: Host, windows: Windows) -> Page:
    return windows.sit(desk, "ana", forgive=CUT)


def test_an_answer_whose_reply_is_lost_is_sent_again_stored_once_and_can_be_changed(desk: Host, page: Page) -> None:
    sent: list[str] = []
    page.on(
        "request",
        lambda asked: (
            sent.append(json.loads(asked.post_data or "")["request_id"]) if "/api/judgements" in asked.url else None
        ),
    )
    acts.intercept(page, acts.SUBMIT, acts.lose_the_reply, times=1)
    given = acts.answer(page, "appropriate")
    acts.await_sent(page)
    assert len(sent) == 2
    assert len(set(sent)) == 1
    assert desk.given == given
    acts.intercept(page, acts.SUBMIT, acts.lose_the_reply, times=1)
    acts.answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("Not sent yet")
    page.keyboard.press("u")
    expect(page.locator("#answered")).to_have_text("appropriate")
    acts.answer(page, "not_sure")
    acts.await_sent(page)
    assert [code for _, code in desk.codes] == [2, 2, 1]


def test_answers_given_without_a_connection_arrive_in_order_once_and_are_said_to_be_kept_then(
    desk: Host, page: Page
) -> None:
    banner, said = page.locator("#banner-text"), page.locator("#said")
    given = acts.answer(page, "appropriate")
    expect(said).to_have_text("Kept. 14 left.")
    acts.await_sent(page)
    acts.offline(page)
    given += acts.answer(page, "appropriate", "not_sure")
    expect(banner).to_have_text("Not sent yet: 2 answers are kept in this page.")
    expect(said).to_have_text("")
    assert desk.given == given[:1]
    acts.offline(page, cut=False)
    acts.await_sent(page)
    expect(banner).to_have_text("All your answers have been sent.")
    expect(said).to_have_text("Kept. 12 left.")
    assert desk.given == given


def test_what_the_server_cannot_take_now_is_sent_again(desk: Host, page: Page, monkeypatch: pytest.MonkeyPatch) -> None:
    acts.intercept(page, acts.SUBMIT, lambda route: route.fulfill(status=503, json={"detail": "busy"}), times=1)
    given = acts.answer(page, "appropriate")
    acts.await_sent(page)
    assert desk.given == given
    # Another program writes.
    monkeypatch.setattr(desk.study._store._writing, "patience_s", 0.5)
    with closing(sqlite3.connect(desk.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        given += acts.answer(page, "appropriate", "not_appropriate", "appropriate")
        expect(page.locator("#banner")).to_contain_text("Not sent yet: 3 answers are kept in this page.")
        other.execute("ROLLBACK")
    acts.await_sent(page)
    assert desk.given == given
    # A session was renewed elsewhere, and the page that tells so cannot be had now: nobody is said to be signed out.
    acts.intercept(page, acts.SUBMIT, lambda route: route.fulfill(status=403, json={"detail": "out of date"}), times=1)
    acts.intercept(page, "**/annotate", lambda route: route.fulfill(status=503, body="<h1>One moment, please</h1>"))
    given += acts.answer(page, "appropriate")
    acts.await_sent(page)
    assert desk.given == given
    expect(page.locator("#banner")).not_to_contain_text("not signed in")


# In another window or on another device


def test_another_device_says_that_the_pair_has_just_been_answered(desk: Host, windows: Windows) -> None:
    first, second = windows.sit(desk, "ana"), windows.sit(desk, "ana", forgive=("status of 409",))
    texts = acts.pair(first)
    acts.answer(first, "appropriate")
    acts.await_sent(first)
    assert acts.pair(second) == texts
    acts.answer(second, "not_appropriate")
    expect(second.locator("#banner-text")).to_contain_text(
        "You have just answered this pair in another window or on another device: that answer counts"
    )
    assert [code for _, code in desk.codes] == [2]
    acts.press(second, "u")
    expect(second.locator("#answered")).to_have_text("appropriate")
    assert acts.pair(second) == texts
    acts.answer(second, "not_sure")  # knowingly
    acts.await_sent(second)
    assert [code for _, code in desk.codes] == [2, 1]


def test_an_answer_changed_on_another_device_is_not_replaced_unseen(desk: Host, windows: Windows) -> None:
    first, second = windows.sit(desk, "ana"), windows.sit(desk, "ana", forgive=("status of 409",))
    acts.answer(first, "appropriate")
    acts.await_sent(first)
    acts.press(second, "u")
    expect(second.locator("#answered")).to_have_text("appropriate")
    acts.press(first, "u")
    acts.answer(first, "not_appropriate")
    acts.await_sent(first)
    acts.answer(second, "not_sure")
    expect(second.locator("#banner-text")).to_contain_text("You have answered this pair otherwise")
    assert [code for _, code in desk.codes] == [2, 0]
    acts.press(second, "u")
    expect(second.locator("#answered")).to_have_text("not appropriate")
    acts.answer(second, "not_sure")  # knowingly
    acts.await_sent(second)
    assert [code for _, code in desk.codes] == [2, 0, 1]


def test_another_window_says_so_at_once_and_replaces_nothing_unseen(desk: Host, page: Page) -> None:
    second = page.context.new_page()
    acts.enter(second)
    acts.rest(second)
    texts = acts.pair(second)
    acts.answer(page, "appropriate")
    expect(second.locator("#banner-text")).to_contain_text("You have just answered this pair in another window.")
    expect(second.locator("#answered")).to_have_text("appropriate")
    assert acts.pair(second) == texts
    acts.press(second, "1")
    expect(second.get_by_role("dialog", name="Answered in another window “appropriate”")).to_be_visible()
    second.keyboard.press("k")
    expect(second.locator("#earlier")).to_be_hidden()
    assert acts.pair(second) == acts.pair(page)
    acts.await_sent(page)
    assert [code for _, code in desk.codes] == [2]
    acts.offline(page)
    acts.answer(page, "not_sure")  # waits in the browser
    expect(second.locator("#answered")).to_have_text("not sure")
    acts.press(second, "f")
    page.context.set_offline(False)
    page.evaluate(acts.COMES_BACK)
    acts.await_sent(page)
    assert [code for _, code in desk.codes] == [2, 1]
