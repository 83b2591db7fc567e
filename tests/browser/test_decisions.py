"""Decisions on their way: the next conflict is there at once, nothing typed is lost, nothing is decided twice."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import Page, Route, expect
from steps.small import record, standing

from browser.hosts import Host
from browser.sitting import HASTE_MS, await_sent, decide, intercept
from browser.windows import Windows, come_in
from fcpair.grid import AdjudicationQueue
from fcpair.params import Annotate
from fcpair.records import Rule

SENT, ASKED = "**/api/decisions*", re.compile(r"/adjudicate\?.*ahead=")
NOTE = "Speaks of something else."
YES = "[name=outcome][value=appropriate]"
FORGIVEN = (r"net::ERR_\w+", "status of (401|403|409|503)")
UNSENT = "Not sent yet: 1 decision is kept in this browser."
OPPOSITES = {"appropriate": "not_appropriate", "not_appropriate": "appropriate"}
HEIGHT = "(it) => it.offsetHeight"
FOCUS = "() => window.dispatchEvent(new Event('focus'))"
IS_IN_FRONT = """(selector) => {
  const part = document.querySelector(selector), { left, top } = part.getBoundingClientRect();
  return part.contains(document.elementFromPoint(left + 5, top + 5));
}"""


@pytest.fixture
def served(host: Callable[..., Host], files: dict[str, Path]) -> Host:
    """A study whose labels are all in."""
    return host(files["labelled"])


@pytest.fixture
def page(served: Host, windows: Windows) -> Page:
    """The first conflict, before judy, with the next ones at hand."""
    return open_page(served, windows)


def open_page(served: Host, windows: Windows, **options: Any) -> Page:
    page = windows.open(served.url, served.token("judy"), forgive=FORGIVEN, **options)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/adjudicate")
    page.wait_for_load_state("networkidle")
    return page


def decided(served: Host) -> list[int]:
    return [pair for pair, (rule, _) in standing(served.study).items() if rule == Rule.PERSON]


def decisions(served: Host) -> list[tuple[int, str, str]]:
    """The pair, outcome and note of each decision, the oldest first."""
    made = AdjudicationQueue(served.study.grid()).decisions()
    return [(one.cell_id, one.outcome, one.note) for one in reversed(made)]


def pair_on(page: Page) -> int:
    return int(page.locator("#case-name").inner_text().removeprefix("Pair "))


def choose(page: Page, key: str = "3") -> int:
    """Decide at once, wait for the next pair and no longer; returns the pair."""
    pair = pair_on(page)
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press(key)
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {pair}")
    return pair


def open_contradicted(served: Host, page: Page) -> int:
    """Look at a pair with two labels that contradict each other."""
    rows = served.study.grid().labels()
    labels = {pair: set(rows["label"][rows["pair"] == pair]) for pair in served.study.grid().waiting_pairs()}
    pair = next(pair for pair, names in labels.items() if names == set(OPPOSITES))
    page.goto(f"/adjudicate/{pair}")
    page.wait_for_load_state("networkidle")
    return pair


def swap_labels(served: Host, folder: Path, pair: int) -> None:
    """Let those who labelled a pair change their minds, so that it is in dispute as before."""
    rows = served.study.grid().labels()
    labels = rows[rows["pair"] == pair].set_index("annotator")["label"].map(OPPOSITES)
    record(served.study, folder, [(str(who), pair, label) for who, label in labels.items()], supersede=True)


def cut(page: Page) -> None:
    """Let no decision reach the server."""
    intercept(page, SENT, lambda route: route.abort())


def mend(page: Page) -> None:
    page.unroute(SENT)
    page.evaluate(FOCUS)
    await_sent(page)


# The next conflict


def test_the_next_conflict_is_there_before_the_server_has_the_decision(served: Host, page: Page) -> None:
    held: list[Route] = []
    intercept(page, SENT, lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
    first = choose(page)
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))
    expect(page.locator("#case-name")).to_be_focused()
    expect(page.locator("#said")).to_have_text("")
    expect(page.locator(".progress")).to_contain_text("0 decided by you")
    assert decided(served) == []
    held[0].continue_()
    expect(page.locator("#said")).to_have_text("Saved.")
    expect(page.locator(".progress")).to_contain_text("1 decided by you")
    assert decided(served) == [first]


def test_conflicts_come_in_the_order_of_the_server_and_each_once(served: Host, page: Page) -> None:
    queue, judy = AdjudicationQueue(served.study.grid()), next(one for one in served.study.people if one.name == "judy")
    expected, after = [pair_on(page)], pair_on(page)
    while (case := queue.next(judy.id, after)) and case.cell_id != expected[0]:
        expected.append(after := case.cell_id)
    seen = [pair_on(page)]
    for _ in expected[1:]:
        decide(page, YES)
        seen.append(pair_on(page))
    assert seen == expected
    decide(page, YES)
    expect(page.locator("#case-name")).to_have_text("Nothing is waiting for you")
    assert sorted(decided(served)) == sorted(expected)


def test_decisions_are_sent_in_order_whatever_the_connection(served: Host, page: Page) -> None:
    cut(page)
    pairs = [choose(page), choose(page, "1")]
    expect(page.get_by_role("alert")).to_have_text("Not sent yet: 2 decisions are kept in this browser.")
    mend(page)
    expect(page.get_by_role("alert")).to_have_text("")
    assert decisions(served) == [(pairs[0], "appropriate", ""), (pairs[1], "not_appropriate", "")]


def test_when_none_is_at_hand_it_is_shown_as_soon_as_it_comes(served: Host, page: Page) -> None:
    intercept(page, ASKED, lambda route: route.abort())
    first, second, third = choose(page), choose(page), choose(page)
    expect(page.locator("#case-name")).to_have_text("The next pair is on its way.")
    page.unroute(ASKED)
    page.evaluate(FOCUS)
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))
    assert pair_on(page) not in {first, second, third}
    await_sent(page)
    assert sorted(decided(served)) == sorted([first, second, third])


def test_no_more_is_at_hand_than_may_be_read(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"], Annotate(daily_limit=2))
    page = open_page(served, windows)
    intercept(page, SENT, lambda route: route.abort())
    choose(page)
    choose(page)
    expect(page.locator("#case-name")).to_have_text("The next pair is on its way.")
    mend(page)
    expect(page.locator("#case-name")).to_have_text("You have reached the limit")


def test_later_shows_the_next_at_once_and_comes_back_to_it(served: Host, page: Page) -> None:
    first, n = pair_on(page), len(served.study.grid().waiting_pairs())
    seen = []
    for _ in range(n):
        seen.append(pair_on(page))
        page.keyboard.press("l")
        expect(page.locator("#case-name")).not_to_have_text(f"Pair {seen[-1]}")
    assert sorted(seen) == sorted(served.study.grid().waiting_pairs())
    assert pair_on(page) == first


def test_a_queue_is_kept_from_case_to_case(served: Host, page: Page) -> None:
    rows, waiting = served.study.grid().labels(), served.study.grid().waiting_pairs()
    unsure = [pair for pair in waiting if "not_sure" in set(rows["label"][rows["pair"] == pair])]
    page.get_by_role("link", name=f"{len(unsure)} not sure").click()
    expect(page.locator("[aria-current=true]")).to_have_text(f"{len(unsure)} not sure")
    seen = []
    for _ in unsure:
        seen.append(pair_on(page))
        decide(page, YES)
        expect(page).to_have_url(re.compile(r"queue=not_sure"))
    expect(page.locator("#case-name")).to_have_text("Nothing is waiting for you")
    assert sorted(seen) == unsure
    page.get_by_role("link", name="Go on with all that wait").click()
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))


def test_a_double_click_is_one_decision(served: Host, page: Page) -> None:
    page.clock.install(time=0)
    page.reload()
    page.wait_for_load_state("networkidle")
    first = page.locator("#case-name").inner_text()
    page.clock.pause_at(3600)
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    second = page.locator("#case-name").inner_text()
    page.locator(YES).click()
    page.clock.run_for(300)
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(second)
    page.clock.resume()
    await_sent(page)
    assert len(decided(served)) == 2


# What cannot be sent


@pytest.mark.parametrize("size", one_short((320, 568), (375, 667), (600, 800), (640, 360)))
def test_on_a_phone_it_is_seen_that_a_decision_failed_wherever_the_page_is(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    banner = page.get_by_role("alert")
    assert banner.evaluate(HEIGHT) == 0
    cut(page)
    choose(page, "1")
    expect(banner).to_have_text(UNSENT)
    expect(banner).to_be_in_viewport(ratio=1)
    for part in (".progress", "#hs-name", ".answers", "#docket .steps"):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        assert page.evaluate(IS_IN_FRONT, part)  # the banner covers nothing
    page.locator("summary", has_text="Keys").click()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(banner).to_be_in_viewport(ratio=1)
    mend(page)
    expect(banner).to_have_text("")
    assert banner.evaluate(HEIGHT) == 0


def test_what_is_not_sent_survives_a_reload_which_asks(served: Host, page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.type))
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")
    cut(page)
    first = choose(page)
    second = pair_on(page)
    page.reload()
    assert asked == ["beforeunload"]
    assert pair_on(page) == second
    mend(page)
    assert decisions(served) == [(first, "appropriate", NOTE)]


def test_a_pair_that_is_decided_and_not_sent_is_not_asked_again(page: Page) -> None:
    cut(page)
    first = choose(page)
    page.goto("/adjudicate")
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))
    assert pair_on(page) != first
    mend(page)


def test_a_decision_waits_while_another_program_writes(
    served: Host, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(served.study._store._writing, "patience_s", 0.5)
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")
    with closing(sqlite3.connect(served.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        first = choose(page)
        expect(page.get_by_role("alert")).to_have_text(UNSENT)
        other.execute("ROLLBACK")
    await_sent(page)
    assert decisions(served) == [(first, "appropriate", NOTE)]


def test_a_decision_whose_reply_is_lost_is_kept_once(served: Host, page: Page) -> None:
    def lose_the_reply(route: Route) -> None:
        route.fetch()
        route.abort()

    intercept(page, SENT, lose_the_reply, times=1)
    first = choose(page)
    await_sent(page)
    assert decided(served) == [first]
    assert len(AdjudicationQueue(served.study.grid()).decisions()) == 1


def test_who_is_signed_out_is_told_and_what_they_decided_is_sent_when_they_come_in(served: Host, page: Page) -> None:
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")
    served.study.access.rotate_secret()
    first = choose(page)
    expect(page.get_by_role("alert")).to_contain_text("You are no longer signed in. One decision is kept")
    page.get_by_role("link", name="Sign in again").click()
    page.wait_for_url("**/join")
    come_in(page, served.token("judy"))
    page.goto("/adjudicate")
    await_sent(page)
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {first}")
    assert decisions(served) == [(first, "appropriate", NOTE)]


def test_who_came_in_anew_in_another_tab_decides_on(served: Host, page: Page) -> None:
    come_in(page.context.new_page(), served.token("judy"))
    first = choose(page)
    await_sent(page)
    assert decided(served) == [first]


# What is refused


def test_what_changed_meanwhile_comes_back_with_what_was_typed(served: Host, page: Page, tmp_path: Path) -> None:
    pair = open_contradicted(served, page)
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")
    page.keyboard.press("f")
    swap_labels(served, tmp_path, pair)
    page.keyboard.press("3")
    notice = page.locator(".notice[role=alert]")
    expect(notice).to_contain_text(f"A label of pair {pair} has changed since it was shown")
    assert pair_on(page) == pair
    expect(page.locator("#note")).to_have_value(NOTE)
    expect(page.locator("[name=flagged]")).to_be_checked()
    assert decided(served) == []
    page.wait_for_timeout(1000 + HASTE_MS)
    page.keyboard.press("1")
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {pair}")
    await_sent(page)
    assert decisions(served) == [(pair, "not_appropriate", NOTE)]


def test_a_press_that_was_meant_for_another_pair_decides_nothing_on_one_that_comes_back(
    served: Host, page: Page, tmp_path: Path
) -> None:
    pair = open_contradicted(served, page)
    swap_labels(served, tmp_path, pair)
    page.keyboard.press("3")
    expect(page.locator(".notice[role=alert]")).to_be_visible()
    page.keyboard.press("1")
    expect(page.locator("#case-name")).to_have_text(f"Pair {pair}")
    await_sent(page)
    assert decided(served) == []


def test_what_somebody_else_decided_first_is_told_with_what_was_typed(served: Host, page: Page) -> None:
    pair = pair_on(page)
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")
    served.study.grid().decide(pair, 0, by="lea")
    page.keyboard.press("3")
    dialog = page.get_by_role("dialog", name="Not taken")
    expect(dialog).to_contain_text(f"Pair {pair} has been decided by lea meanwhile")
    expect(dialog).to_contain_text(NOTE)
    page.keyboard.press("3")  # nothing is decided behind it
    page.keyboard.press("c")
    expect(dialog).to_be_hidden()
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {pair}")
    await_sent(page)
    assert standing(served.study)[pair] == (Rule.PERSON, 0)
    assert decided(served) == [pair]


def test_a_case_at_hand_that_somebody_else_decided_meanwhile_is_refused(served: Host, page: Page) -> None:
    first = choose(page)
    await_sent(page)
    stale = pair_on(page)
    served.study.grid().decide(stale, 0, by="lea")
    choose(page)
    expect(page.get_by_role("dialog", name="Not taken")).to_contain_text(f"Pair {stale} has been decided by lea")
    assert sorted(decided(served)) == sorted([first, stale])
    assert standing(served.study)[stale] == (Rule.PERSON, 0)


# Taking back


def test_a_decision_is_taken_back_before_it_is_sent(served: Host, page: Page) -> None:
    cut(page)
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")
    first = choose(page)
    second = pair_on(page)
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("u")
    expect(page.locator("#case-name")).to_have_text(f"Pair {first}")
    expect(page.locator("#note")).to_have_value(NOTE)
    mend(page)
    assert decided(served) == []
    choose(page, "1")
    await_sent(page)
    assert decisions(served) == [(first, "not_appropriate", NOTE)]
    assert pair_on(page) == second


def test_a_decision_is_taken_back_while_it_is_on_its_way(served: Host, page: Page) -> None:
    held: list[Route] = []
    intercept(page, SENT, lambda route: held.append(route), times=1)  # noqa: PLW0108  # Playwright marks it
    first = choose(page)
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("u")
    expect(page.locator("#case-name")).to_have_text(f"Pair {first}")
    held[0].continue_()
    await_sent(page)
    assert decided(served) == []
    assert [row["rule"] for row in served.study.grid().explain(first).decisions] == ["person", "reopened"]
    choose(page, "1")
    await_sent(page)
    assert standing(served.study)[first] == (Rule.PERSON, 0)


def test_decisions_are_taken_back_one_after_the_other(served: Host, page: Page) -> None:
    pairs = [choose(page) for _ in range(3)]
    await_sent(page)
    page.reload()
    page.wait_for_load_state("networkidle")
    pairs.append(choose(page))
    await_sent(page)
    for pair in reversed(pairs):
        page.wait_for_timeout(HASTE_MS)
        expect(page.locator("#undo button")).to_have_text(f"Undo pair {pair}: appropriate U")
        page.keyboard.press("u")
        expect(page.locator("#case-name")).to_have_text(f"Pair {pair}")
    await_sent(page)
    assert decided(served) == []
    expect(page.locator("#undo")).to_have_count(0)


def test_what_was_hidden_is_hidden_in_each_conflict_again(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["labelled"])
    served.token("judy")
    served.study.access.set_blurred(next(one.id for one in served.study.people if one.name == "judy"), True)
    page = open_page(served, windows)
    hidden = page.locator("#hs[aria-hidden=true]")
    for _ in range(3):
        expect(hidden).to_have_count(1)
        page.wait_for_timeout(HASTE_MS)
        page.keyboard.press("b")
        expect(hidden).to_have_count(0)
        choose(page)
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("u")
    expect(hidden).to_have_count(1)
    await_sent(page)
    assert len(decided(served)) == 2


def test_nothing_of_a_conflict_is_stored_in_the_browser(served: Host, page: Page) -> None:
    cut(page)
    words = [page.locator("#hs").inner_text(), page.locator("#cn").inner_text()]
    choose(page)
    stored = page.evaluate("() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])")
    assert not any(text in stored for text in words)
    assert page.evaluate("() => caches.keys()") == []
    mend(page)
