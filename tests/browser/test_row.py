"""All conflicts of one row on one screen, by keyboard alone: deciding, undoing, notes, a lost connection, a refusal."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from steps.small import standing

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_sent, intercept
from browser.windows import Windows
from fcpair.grid import AdjudicationQueue, DecisionRequest
from fcpair.records import Role, Rule

SENT = "**/api/decisions*"
FORGIVEN = (r"net::ERR_\w+", "status of (403|409|503)")
NARROW = {"width": 320, "height": 568}
TOP = "(it) => it.getBoundingClientRect().top"


@pytest.fixture
def served(host: Callable[..., Host], files: dict[str, Path]) -> Host:
    """A study whose labels are all in."""
    return host(files["labelled"])


def open_row(served: Host, windows: Windows, **options: Any) -> tuple[Page, list[int]]:
    """The fullest row before judy, and its pairs."""
    grid = served.study.grid()
    rows: dict[str, list[int]] = {}
    for pair in grid.waiting_pairs():
        rows.setdefault(grid.desk.conflict(pair).hs.body, []).append(pair)
    fullest: list[int] = max(rows.values(), key=len)
    pairs = sorted(fullest)
    page = windows.open(served.url, served.token("judy"), forgive=FORGIVEN, **options)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"/adjudicate/row?pair={pairs[0]}")
    page.wait_for_load_state("networkidle")
    return page, pairs


def press(page: Page, key: str) -> None:
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press(key)


def decided(served: Host) -> list[int]:
    return [pair for pair, (rule, _) in standing(served.study).items() if rule == Rule.PERSON]


def marked(page: Page) -> int:
    """The pair whose case hears the keys."""
    name = page.locator(".row-case.marked .case-name").inner_text()
    return int(name.removeprefix("Pair "))


def test_a_row_is_decided_by_keys_from_top_to_bottom(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows)
    assert len(pairs) > 1
    for pair in pairs:
        assert marked(page) == pair
        press(page, "3")
    expect(page.locator("#row-end")).to_be_focused()
    await_sent(page)
    assert sorted(decided(served)) == pairs
    assert page.locator("#row-count").inner_text() == f"{len(pairs)} of {len(pairs)} decided"
    press(page, "l")
    page.wait_for_url(lambda url: "row?pair=" in url and f"pair={pairs[0]}" not in url)


def test_arrows_and_tab_choose_the_case_that_hears_the_keys(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows)
    press(page, "ArrowDown")
    assert marked(page) == pairs[1]
    press(page, "ArrowUp")
    assert marked(page) == pairs[0]
    expect(page.locator(f"#case-name-{pairs[0]}")).to_be_focused()
    while page.evaluate("document.activeElement.closest('.row-case')?.id") == f"case-{pairs[0]}":
        page.keyboard.press("Tab")
    assert marked(page) == pairs[1]
    press(page, "x")
    await_sent(page)
    assert decided(served) == [pairs[1]]


def test_a_note_and_a_flag_belong_to_the_marked_case(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows)
    press(page, "ArrowDown")
    press(page, "n")
    page.keyboard.type("Another claim. 3")
    page.keyboard.press("Escape")
    press(page, "f")
    press(page, "1")
    await_sent(page)
    (kept,) = AdjudicationQueue(served.study.grid()).decisions()
    assert (kept.cell_id, kept.outcome, kept.note, kept.flagged) == (
        pairs[1],
        "not_appropriate",
        "Another claim. 3",
        True,
    )


def test_undo_brings_the_last_case_back_and_each_has_its_own(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows)
    press(page, "3")
    press(page, "3")
    await_sent(page)
    press(page, "u")
    assert marked(page) == pairs[1]
    await_sent(page)
    assert decided(served) == [pairs[0]]
    page.get_by_role("button", name=f"Undo: pair {pairs[0]}", exact=True).click()
    await_sent(page)
    assert decided(served) == []
    press(page, "1")
    await_sent(page)
    assert standing(served.study)[pairs[0]] == (Rule.PERSON, 0)


def test_what_cannot_be_sent_is_kept_and_sent_after_a_reload(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows)
    intercept(page, SENT, lambda route: route.abort())
    press(page, "3")
    expect(page.locator("#banner")).to_contain_text("Not sent yet: 1 decision is kept in this browser.")
    page.unroute(SENT)
    page.reload()
    await_sent(page)
    assert decided(served) == [pairs[0]]


def test_a_refused_decision_comes_back_with_what_was_typed_and_the_reason(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows)
    served.study.add_people(["jack"], Role.ADJUDICATOR)
    served.token("jack")
    jack = next(one.id for one in served.study.people if one.name == "jack")
    AdjudicationQueue(served.study.grid()).decide(jack, DecisionRequest("request-jack", pairs[0], "irreconcilable"))
    press(page, "n")
    page.keyboard.type("Mine.")
    page.keyboard.press("Escape")
    press(page, "3")
    case = page.locator(f"#case-{pairs[0]}")
    expect(case.get_by_role("alert")).to_contain_text(f"Pair {pairs[0]} has been decided by jack meanwhile.")
    expect(case.locator("textarea")).to_have_value("Mine.")
    expect(case.locator(".answers button").first).to_be_disabled()


def test_a_hidden_text_is_shown_before_anything_is_decided(served: Host, windows: Windows) -> None:
    served.token("judy")
    judy = next(one.id for one in served.study.people if one.name == "judy")
    served.study.access.set_blurred(judy, True)
    page, _ = open_row(served, windows)
    press(page, "3")
    expect(page.locator("#hs")).not_to_have_class(re.compile("veiled"))
    assert page.locator(".row-case.decided").count() == 0
    press(page, "b")
    expect(page.locator("#hs")).to_have_class(re.compile("veiled"))


def test_the_text_of_the_row_stays_in_sight_on_a_small_phone(served: Host, windows: Windows) -> None:
    page, pairs = open_row(served, windows, viewport=NARROW)
    for _ in pairs:
        press(page, "ArrowDown")
    assert marked(page) == pairs[-1]
    assert page.locator(".row-text").evaluate(TOP) == 0
    assert page.locator(f"#case-name-{pairs[-1]}").evaluate(TOP) > page.locator(".row-text").evaluate(
        "(it) => it.getBoundingClientRect().bottom"
    )
    assert not page.evaluate(IS_WIDER)
    assert violations(page) == []
