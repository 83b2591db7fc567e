"""What only a browser shows about the desk: what is there without a wait, what is remembered, what ends."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, Route, expect
from steps.small import CODE

from browser.conftest import TERMS
from browser.hosts import Host
from browser.sitting import act_until_taken, answer, await_pair, await_sent, enter, intercept, pair
from browser.studies import PIZZA
from browser.windows import Windows

MINUTE_MS = 60_000


def codes(served: Host) -> list[tuple[int, int]]:
    """Assignment and code of each judgement, in the order in which they came."""
    with closing(sqlite3.connect(served.study.place)) as connection:
        return connection.execute(f"SELECT assignment_id, {CODE} FROM judgement ORDER BY id").fetchall()


def sit(desk: Host, windows: Windows, **options: Any) -> Page:
    page = windows.open(desk.url, desk.token("ana"), **options)
    enter(page)
    return page


def test_the_next_pair_is_there_before_the_server_has_the_answer(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    held: list[Route] = []
    intercept(page, "**/api/judgements", lambda route: held.extend([route]))
    shown = pair(page)
    with page.expect_request("**/api/judgements"):
        answer(page, "appropriate")
    assert pair(page) != shown
    assert codes(desk) == []
    held.pop().continue_()
    await_sent(page)
    assert len(codes(desk)) == 1


def test_a_double_press_is_one_answer(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.clock.install(time=0)
    enter(page)
    page.clock.pause_at(3600)
    page.keyboard.press("1")
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("1 answered, 14 open")
    page.clock.run_for(300)
    page.keyboard.press("1")
    expect(page.locator("#count")).to_have_text("2 answered, 13 open")


def test_a_pause_is_proposed_after_so_many_pairs_with_the_contact(
    host: Callable[..., Host], example: Path, windows: Windows
) -> None:
    page = sit(host(example, replace(TERMS, pause_pairs=2)), windows)
    pause = page.locator("#pause-screen")
    for _ in range(2):
        answer(page, "appropriate")
        expect(pause).to_be_hidden()
        answer(page, "appropriate")
        expect(pause).to_contain_text("You have answered 2 pairs since your last pause.")
        expect(pause).to_contain_text(TERMS.contact)
        page.keyboard.press("c")
        expect(pause).to_be_hidden()


def test_a_pause_is_proposed_after_so_many_minutes(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.clock.install()
    enter(page)
    answer(page, "appropriate")
    for _ in range(2):
        page.clock.fast_forward(9 * MINUTE_MS)
        answer(page, "appropriate")
        expect(page.locator("#pause-screen")).to_be_hidden()
    page.clock.fast_forward(2 * MINUTE_MS)
    answer(page, "appropriate")
    expect(page.locator("#pause-reason")).to_have_text("You have been at work for 20 minutes.")


def test_who_comes_back_after_a_long_while_has_had_a_pause(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.clock.install()
    enter(page)
    answer(page, "appropriate")
    for _ in range(2):
        page.clock.fast_forward(15 * MINUTE_MS)
        answer(page, "appropriate")
    expect(page.locator("#pause-screen")).to_be_hidden()


def test_a_hidden_text_stays_hidden_over_a_reload(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    with page.expect_response("**/api/settings"):
        page.locator("#blur-choice").check()
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    page.keyboard.press("b")
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "false")
    page.reload()
    await_pair(page)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    assert "blur" in str(page.locator("#hs").evaluate("(text) => getComputedStyle(text).filter"))


def test_each_text_is_hidden_anew(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    page.locator("#blur-choice").check()
    page.keyboard.press("b")
    answer(page, "appropriate")
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")


def test_undo_leads_back_and_the_new_answer_is_a_new_judgement(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    first = pair(page)
    answer(page, "appropriate")
    second = pair(page)
    act_until_taken(page, lambda: page.keyboard.press("u"))
    assert pair(page) == first
    expect(page.locator("#answered")).to_have_text("appropriate")
    expect(page.locator("[data-answer=appropriate]")).to_have_attribute("aria-pressed", "true")
    answer(page, "not_sure")
    assert pair(page) == second
    await_sent(page)
    (assignment, code), (again, changed) = codes(desk)
    assert (assignment, code, changed) == (again, 2, 1)
    assert desk.study.grid().labels()["label"].tolist() == ["not_sure"]
    expect(page.locator("#count")).to_have_text("1 answered, 14 open")


def test_undo_reaches_what_was_answered_on_another_day(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    first = pair(page)
    answer(page, "appropriate")
    await_sent(page)
    page.reload()
    await_pair(page)
    act_until_taken(page, lambda: page.keyboard.press("u"))
    assert pair(page) == first
    page.keyboard.press("f")
    expect(page.locator("#earlier")).to_be_hidden()
    assert pair(page) != first


def test_the_time_left_goes_by_ones_own_pace(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    expect(page.locator("#left")).to_have_text("time left: known after a few more answers")
    for _ in range(8):
        answer(page, "appropriate")
    await_sent(page)
    page.reload()
    await_pair(page)
    expect(page.locator("#left")).to_have_text("about a minute left")


def test_who_opts_out_of_a_topic_reads_no_more_of_it(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    page.goto("/settings")
    topic = page.locator("label", has=page.locator("[name=topic][value=food]"))
    n_food = int(re.findall(r"\((\d+) of your pairs\)", topic.inner_text())[0])
    topic.locator("input").check()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status")).to_have_text("Saved.")
    enter(page)
    n_left = int(str(page.locator("#bar").get_attribute("max")))
    assert n_left == 15 - n_food < 15
    for _ in range(n_left):
        assert pair(page)[0] != PIZZA
        answer(page, "appropriate")
    expect(page).to_have_url(re.compile("/thanks$"))


def test_the_daily_limit_ends_the_day(host: Callable[..., Host], example: Path, windows: Windows) -> None:
    page = sit(host(example, replace(TERMS, daily_limit=2)), windows)
    answer(page, "appropriate")
    answer(page, "appropriate")
    expect(page).to_have_url(re.compile("/thanks$"))
    expect(page.get_by_role("heading", level=1)).to_have_text("Thank you for today")
    expect(page.locator("main")).to_contain_text("13 are left")
    expect(page.get_by_role("link", name="Go on")).to_have_count(0)
    page.goto("/annotate")
    expect(page).to_have_url(re.compile("/thanks$"))


def test_a_revoked_link_ends_the_session_and_keeps_the_answer_until_the_next(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows, forgive=("status of 401",))
    page.on("dialog", lambda dialog: dialog.accept())
    desk.study.access.revoke("ana")
    answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("You are no longer signed in. One answer is kept")
    page.goto("/annotate")
    expect(page).to_have_url(re.compile("/join$"))
    assert codes(desk) == []
    page.goto(f"/join#{desk.study.access.invite('ana')}")  # on the page where the form is already
    await_pair(page)
    await_sent(page)
    assert len(codes(desk)) == 1


def test_whoever_is_signed_out_is_told_so_when_no_pair_is_at_hand_any_more(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows, forgive=("status of 401",))
    desk.study.access.revoke("ana")
    answer(page, "appropriate")
    expect(page.locator("#banner-text")).to_contain_text("You are no longer signed in. One answer is kept")
    answer(page, "appropriate")
    expect(page.locator("#count")).to_have_text("2 answered, 13 open")
    kept = "2 answers are kept in this browser, and sent when you sign in again."
    expect(page.locator("#waiting")).to_have_text(kept)
    expect(page.locator("#banner-text")).to_have_text(f"You are no longer signed in. {kept}")


OLDER_PAGE = """([place, sent, begun]) => {
  const [old, note] = [JSON.stringify, "typed before the upgrade"];
  const item = { request_id: "request-of-0.7", assignment_id: sent, decision_id: null, answer: "not_sure", note: "",
    seconds: 2, again: false };
  localStorage.setItem(place, old([item]));
  localStorage.setItem(`fcpair-draft/answer/${place}/${begun}`, old({ answer: null, note, at: Date.now() }));
}"""


def test_what_a_page_of_fcpair_0_7_kept_is_sent_and_shown_after_one_reload(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows)
    place = page.locator("#desk").get_attribute("data-place")
    assert page.locator("#desk").get_attribute("data-outbox") is None  # by which older pages see that they are old
    with closing(sqlite3.connect(desk.study.place)) as connection:
        (first, second) = (
            row[0]
            for row in connection.execute(
                "SELECT assignment.id FROM assignment JOIN person ON person.id = person_id "
                "WHERE person.name = 'ana' AND status = 'open' ORDER BY position LIMIT 2"
            )
        )
    page.evaluate(OLDER_PAGE, [place, first, second])
    page.on("dialog", lambda dialog: dialog.accept())
    page.reload()
    await_pair(page)
    await_sent(page)
    assert codes(desk) == [(first, 1)]
    expect(page.locator("#note")).to_have_value("typed before the upgrade")


def test_a_pair_that_was_taken_back_meanwhile_is_told(desk: Host, windows: Windows) -> None:
    page = sit(desk, windows, forgive=("status of 409",))
    desk.study.hand_over("ana", "ben")
    answer(page, "appropriate")
    page.get_by_role("link", name="Go to the last page").click()
    expect(page).to_have_url(re.compile("/thanks$"))
    assert codes(desk) == []
