"""Decisions on their way: the next conflict is there at once, nothing typed is lost, nothing is decided twice."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from awaited import until
from conftest import one_short
from playwright.sync_api import APIResponse, Page, Route, expect
from steps.small import record, standing

from browser import acts
from browser.axe import violations
from browser.hosts import Host
from browser.layout import IS_WIDER
from browser.windows import SMALL, Windows
from fcpair.grid import AdjudicationQueue
from fcpair.records import Role, Rule

SENT, ASKED = "**/api/decisions*", re.compile(r"/adjudicate\?.*ahead=")
NOTE = "Speaks of something else."
YES = "[name=outcome][value=appropriate]"
FORGIVEN = (r"net::ERR_\w+", "status of (401|403|409|503)", "Blocked attempt to show a 'beforeunload'")
UNSENT = "Not sent yet: 1 decision is kept in this browser."
OPPOSITES = {"appropriate": "not_appropriate", "not_appropriate": "appropriate"}
HEIGHT, TOP = "(it) => it.offsetHeight", "(it) => it.getBoundingClientRect().top"
DRAFTS = "() => Object.keys(sessionStorage).filter((key) => key.startsWith('fcpair-draft')).length"
KEPT = "() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])"
IS_IN_FRONT = """(selector) => {
  const part = document.querySelector(selector), { left, top } = part.getBoundingClientRect();
  return part.contains(document.elementFromPoint(left + 5, top + 5));
}"""


@pytest.fixture
def page(labelled: Host, windows: Windows) -> Page:
    """The first conflict, before judy, with the next ones at hand."""
    return open_page(labelled, windows)


def open_page(served: Host, windows: Windows, path: str = "/adjudicate", **options: Any) -> Page:
    page = windows.show(served, "judy", path, forgive=FORGIVEN, **options)
    page.wait_for_load_state("networkidle")
    return page


def pair_on(page: Page) -> int:
    return int(page.locator("#case-name").inner_text().removeprefix("Pair "))


def choose(page: Page, key: str = "3") -> int:
    """Decide at once, wait for the next pair and no longer; returns the pair."""
    pair = pair_on(page)
    acts.press(page, key)
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {pair}")
    return pair


def type_note(page: Page) -> None:
    page.keyboard.press("n")
    page.locator("#note").fill(NOTE)
    page.keyboard.press("Escape")


def take_back(page: Page, pair: int) -> None:
    acts.press(page, "u")
    expect(page.locator("#case-name")).to_have_text(f"Pair {pair}")


def mend(page: Page) -> None:
    """Let decisions reach the server again."""
    page.unroute(SENT)
    page.evaluate(acts.COMES_BACK)
    acts.await_sent(page)


# The next conflict


def test_the_next_conflict_is_there_before_the_server_has_the_decision(labelled: Host, page: Page) -> None:
    held: list[Route] = []
    acts.intercept(page, SENT, lambda route: held.append(route))  # noqa: PLW0108  # Playwright marks it
    first = choose(page)
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))
    expect(page.locator("#case-name")).to_be_focused()
    expect(page.locator("#said")).to_have_text("")
    expect(page.locator(".progress")).to_contain_text("0 decided by you")
    assert labelled.decided == []
    held[0].continue_()
    expect(page.locator("#said")).to_have_text("Saved.")
    expect(page.locator(".progress")).to_contain_text("1 decided by you")
    assert labelled.decided == [first]


def test_conflicts_come_in_the_order_of_the_server_and_each_once(labelled: Host, page: Page) -> None:
    queue, judy = AdjudicationQueue(labelled.study.grid()), labelled.person("judy")
    expected, after = [pair_on(page)], pair_on(page)
    while (case := queue.next(judy, after)) and case.cell_id != expected[0]:
        expected.append(after := case.cell_id)
    for at_first in (True, False):  # at first all are put off, and come back
        seen = []
        for _ in expected:
            seen.append(pair_on(page))
            if at_first:
                page.keyboard.press("l")
                expect(page.locator("#case-name")).not_to_have_text(f"Pair {seen[-1]}")
            else:
                acts.decide(page, YES)
        assert seen == expected
    expect(page.locator("#case-name")).to_have_text("Nothing is waiting for you")
    assert sorted(labelled.decided) == sorted(expected)


def test_when_none_is_at_hand_it_is_shown_as_soon_as_it_comes(labelled: Host, page: Page) -> None:
    acts.intercept(page, ASKED, lambda route: route.abort())
    decided = [choose(page), choose(page), choose(page)]
    expect(page.locator("#case-name")).to_have_text("The next pair is on its way.")
    page.unroute(ASKED)
    page.evaluate(acts.COMES_BACK)
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))
    assert pair_on(page) not in decided
    acts.await_sent(page)
    assert sorted(labelled.decided) == sorted(decided)


def test_what_was_decided_while_the_server_looked_for_the_next_is_not_asked_again(labelled: Host, page: Page) -> None:
    for _ in range(len(labelled.study.grid().waiting_pairs()) - 2):
        acts.decide(page, YES)
    (last,) = set(labelled.study.grid().waiting_pairs()) - {pair_on(page)}
    late: list[tuple[Route, APIResponse]] = []

    def hold_last(route: Route) -> None:
        response = route.fetch()
        if re.search(rf"Pair {last}\b", response.text()):
            late.append((route, response))
        else:
            route.fulfill(response=response)

    def is_found() -> bool:
        page.wait_for_timeout(acts.STEP_MS)
        return bool(late)

    acts.intercept(page, ASKED, hold_last)
    choose(page)
    until(is_found)  # before it is decided
    assert choose(page) == last
    acts.await_sent(page)
    page.unroute(ASKED)
    for route, response in late:
        route.fulfill(response=response)
    expect(page.locator("#case-name")).to_have_text("Nothing is waiting for you")
    assert len(labelled.decisions) == len(labelled.decided)


def test_a_double_click_is_one_decision(labelled: Host, page: Page) -> None:
    page.clock.install(time=0)
    page.reload()
    page.wait_for_load_state("networkidle")
    first = page.locator("#case-name").inner_text()
    page.clock.pause_at(50)  # of a later one the server would say that it is still to come
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(first)
    second = page.locator("#case-name").inner_text()
    page.locator(YES).click()
    page.clock.run_for(300)
    page.locator(YES).click()
    expect(page.locator("#case-name")).not_to_have_text(second)
    page.clock.resume()
    acts.await_sent(page)
    assert len(labelled.decided) == 2


# What cannot be sent


def test_when_all_at_hand_are_decided_and_none_can_be_sent_the_page_says_what_the_next_waits_for(page: Page) -> None:
    acts.intercept(page, SENT, lambda route: route.fulfill(status=503, body=""))
    acts.intercept(page, ASKED, lambda route: route.abort())
    for _ in range(3):
        choose(page)
    expect(page.locator("#case-name")).to_have_text("The next pair comes when your decisions can be sent.")
    page.unroute(ASKED)
    mend(page)
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))


@pytest.mark.parametrize("size", one_short((320, 568), (375, 667), (600, 800), (640, 360)))
def test_on_a_phone_it_is_seen_that_a_decision_failed_wherever_the_page_is(page: Page, size: tuple[int, int]) -> None:
    page.set_viewport_size({"width": size[0], "height": size[1]})
    banner = page.get_by_role("alert")
    assert banner.evaluate(HEIGHT) == 0
    acts.intercept(page, SENT, lambda route: route.abort())
    choose(page, "1")
    expect(banner).to_have_text(UNSENT)
    expect(banner).to_be_in_viewport(ratio=1)
    for part in (".progress", "#hs-name", ".answers", "#case-sheet .steps"):
        expect(page.locator(part)).to_be_in_viewport(ratio=0.99)
        assert page.evaluate(IS_IN_FRONT, part)  # the banner covers nothing
    page.locator("summary", has_text="Keys").click()
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
    expect(banner).to_be_in_viewport(ratio=1)
    mend(page)
    expect(banner).to_have_text("")
    assert banner.evaluate(HEIGHT) == 0


def test_what_is_not_sent_survives_a_reload_which_asks_and_no_text_of_it_is_kept(labelled: Host, page: Page) -> None:
    asked: list[str] = []
    page.on("dialog", lambda dialog: asked.append(dialog.type))
    type_note(page)
    words = [page.locator("#hs").inner_text(), page.locator("#cn").inner_text()]
    acts.intercept(page, SENT, lambda route: route.abort())
    pairs = [choose(page)]
    kept = page.evaluate(KEPT)
    assert not any(text in kept for text in words)
    assert page.evaluate("() => caches.keys()") == []
    page.goto("/adjudicate")  # where what is decided is not asked again
    expect(page.locator("#case-name")).to_have_text(re.compile(r"^Pair \d+$"))
    page.wait_for_load_state("networkidle")
    pairs.append(choose(page, "1"))
    assert len(set(pairs)) == 2
    expect(page.get_by_role("alert")).to_have_text("Not sent yet: 2 decisions are kept in this browser.")
    third = pair_on(page)
    asked.clear()
    page.reload()
    assert asked == ["beforeunload"]
    assert pair_on(page) == third
    mend(page)
    expect(page.get_by_role("alert")).to_have_text("")
    assert labelled.decisions == [(pairs[0], "appropriate", NOTE), (pairs[1], "not_appropriate", "")]


def test_a_decision_waits_while_another_program_writes_and_is_kept_once(
    labelled: Host, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(labelled.study._store._writing, "patience_s", 0.5)
    type_note(page)
    with closing(sqlite3.connect(labelled.study.place, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        first = choose(page)
        expect(page.get_by_role("alert")).to_have_text(UNSENT)
        other.execute("ROLLBACK")
    acts.await_sent(page)
    acts.intercept(page, SENT, acts.lose_the_reply, times=1)
    second = choose(page)
    acts.await_sent(page)
    assert labelled.decisions == [(first, "appropriate", NOTE), (second, "appropriate", "")]


def test_who_is_signed_out_is_told_and_what_they_typed_and_decided_is_there_when_they_come_in(
    labelled: Host, page: Page
) -> None:
    type_note(page)
    labelled.study.access.rotate_secret()
    page.reload()
    page.wait_for_url("**/join")
    acts.come_in(page, labelled.token("judy"))
    page.goto("/adjudicate")
    expect(page.locator("#note")).to_have_value(NOTE)
    expect(page.locator("#note")).to_be_visible()
    page.wait_for_load_state("networkidle")
    labelled.study.access.rotate_secret()
    first = choose(page)
    expect(page.get_by_role("alert")).to_contain_text("You are no longer signed in. One decision is kept")
    page.get_by_role("link", name="Sign in again").click()
    page.wait_for_url("**/join")
    acts.come_in(page, labelled.token("judy"))
    page.goto("/adjudicate")
    acts.await_sent(page)
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {first}")
    assert labelled.decisions == [(first, "appropriate", NOTE)]
    assert page.evaluate(DRAFTS) == 0
    acts.come_in(page.context.new_page(), labelled.token("judy"))  # in another tab
    second = choose(page)
    acts.await_sent(page)
    assert sorted(labelled.decided) == sorted([first, second])


# What is refused


def test_what_changed_meanwhile_comes_back_with_what_was_typed_and_hears_no_press_meant_for_another(
    labelled: Host, page: Page, tmp_path: Path
) -> None:
    rows = labelled.study.grid().labels()
    labels = {pair: set(rows["label"][rows["pair"] == pair]) for pair in labelled.study.grid().waiting_pairs()}
    pair = next(pair for pair, names in labels.items() if names == set(OPPOSITES))
    page.goto(f"/adjudicate/{pair}")
    page.wait_for_load_state("networkidle")
    type_note(page)
    page.keyboard.press("f")
    swapped = rows[rows["pair"] == pair].set_index("annotator")["label"].map(OPPOSITES)
    record(labelled.study, tmp_path, [(str(who), pair, label) for who, label in swapped.items()], supersede=True)
    page.keyboard.press("3")
    notice = page.locator(".notice[role=alert]")
    expect(notice).to_contain_text(f"A label of pair {pair} has changed since it was shown")
    page.keyboard.press("1")
    expect(page.locator("#case-name")).to_have_text(f"Pair {pair}")
    acts.await_sent(page)
    expect(page.locator("#note")).to_have_value(NOTE)
    expect(page.locator("[name=flagged]")).to_be_checked()
    assert labelled.decided == []
    page.wait_for_timeout(1000)
    choose(page, "1")
    acts.await_sent(page)
    assert labelled.decisions == [(pair, "not_appropriate", NOTE)]


def test_what_somebody_else_decided_first_is_told_with_what_was_typed(labelled: Host, page: Page) -> None:
    first = choose(page)
    acts.await_sent(page)
    pair = pair_on(page)  # was at hand
    type_note(page)
    labelled.study.grid().decide(pair, 0, by="lea")
    acts.press(page, "3")
    dialog = page.get_by_role("dialog", name="Not taken")
    expect(dialog).to_contain_text(f"Pair {pair} has been decided by lea meanwhile")
    expect(dialog).to_contain_text(NOTE)
    page.keyboard.press("3")  # nothing is decided behind it
    page.keyboard.press("c")
    expect(dialog).to_be_hidden()
    expect(page.locator("#case-name")).not_to_have_text(f"Pair {pair}")
    acts.await_sent(page)
    assert standing(labelled.study)[pair] == (Rule.PERSON, 0)
    assert sorted(labelled.decided) == sorted([first, pair])


# Taking back


def test_a_decision_is_taken_back_before_it_is_sent(labelled: Host, page: Page) -> None:
    acts.intercept(page, SENT, lambda route: route.abort())
    type_note(page)
    first = choose(page)
    second = pair_on(page)
    take_back(page, first)
    expect(page.locator("#note")).to_have_value(NOTE)
    mend(page)
    assert labelled.decided == []
    choose(page, "1")
    acts.await_sent(page)
    assert labelled.decisions == [(first, "not_appropriate", NOTE)]
    assert pair_on(page) == second


def test_a_decision_is_taken_back_while_it_is_on_its_way(labelled: Host, page: Page) -> None:
    held: list[Route] = []
    acts.intercept(page, SENT, lambda route: held.append(route), times=1)  # noqa: PLW0108  # Playwright marks it
    first = choose(page)
    take_back(page, first)
    held[0].continue_()
    acts.await_sent(page)
    assert labelled.decided == []
    assert [row["rule"] for row in labelled.study.grid().explain(first).decisions] == ["person", "reopened"]
    choose(page, "1")
    acts.await_sent(page)
    assert standing(labelled.study)[first] == (Rule.PERSON, 0)


def test_decisions_are_taken_back_one_after_the_other(labelled: Host, page: Page) -> None:
    pairs = [choose(page) for _ in range(3)]
    acts.await_sent(page)
    page.reload()
    page.wait_for_load_state("networkidle")
    pairs.append(choose(page))
    acts.await_sent(page)
    for pair in reversed(pairs):
        expect(page.locator("#undo button")).to_have_text(f"Undo pair {pair}: appropriate U")
        take_back(page, pair)
    acts.await_sent(page)
    assert labelled.decided == []
    expect(page.locator("#undo")).to_have_count(0)


# All conflicts of one row on one screen


@pytest.fixture
def pairs(labelled: Host) -> list[int]:
    """Those of the row in which most wait."""
    rows: dict[str, list[int]] = {}
    for pair in labelled.study.grid().waiting_pairs():
        rows.setdefault(labelled.study.grid().desk.conflict(pair).hs.body, []).append(pair)
    return sorted(rows[max(rows, key=lambda body: len(rows[body]))])


@pytest.fixture
def row(labelled: Host, windows: Windows, pairs: list[int]) -> Page:
    """That row, before judy."""
    return open_page(labelled, windows, f"/adjudicate/row?pair={pairs[0]}")


def marked(page: Page) -> int:
    return int(page.locator(".row-case.marked .case-name").inner_text().removeprefix("Pair "))


def test_a_row_is_decided_by_keys_from_top_to_bottom(labelled: Host, row: Page, pairs: list[int]) -> None:
    assert len(pairs) > 1
    for pair in pairs:
        assert marked(row) == pair
        acts.press(row, "3")
    expect(row.locator("#row-end")).to_be_focused()
    acts.await_sent(row)
    assert sorted(labelled.decided) == pairs
    assert row.locator("#row-count").inner_text() == f"{len(pairs)} of {len(pairs)} decided"
    acts.press(row, "l")
    row.wait_for_url(lambda url: "row?pair=" in url and f"pair={pairs[0]}" not in url)


def test_arrows_and_tab_choose_the_case_that_hears_the_keys_a_note_and_a_flag(
    labelled: Host, row: Page, pairs: list[int]
) -> None:
    acts.press(row, "ArrowDown")
    assert marked(row) == pairs[1]
    acts.press(row, "ArrowUp")
    assert marked(row) == pairs[0]
    expect(row.locator(f"#case-name-{pairs[0]}")).to_be_focused()
    while row.evaluate("document.activeElement.closest('.row-case')?.id") == f"case-{pairs[0]}":
        row.keyboard.press("Tab")
    assert marked(row) == pairs[1]
    acts.press(row, "n")
    row.keyboard.type("Another claim. 3")
    row.keyboard.press("Escape")
    acts.press(row, "f", "x")
    acts.await_sent(row)
    (kept,) = AdjudicationQueue(labelled.study.grid()).decisions()
    assert (kept.cell_id, kept.outcome) == (pairs[1], "irreconcilable")
    assert (kept.note, kept.flagged) == ("Another claim. 3", True)


def test_undo_brings_the_last_case_back_and_each_has_its_own(labelled: Host, row: Page, pairs: list[int]) -> None:
    acts.press(row, "3", "3")
    acts.await_sent(row)
    acts.press(row, "u")
    assert marked(row) == pairs[1]
    acts.await_sent(row)
    assert labelled.decided == [pairs[0]]
    row.get_by_role("button", name=f"Undo: pair {pairs[0]}", exact=True).click()
    acts.await_sent(row)
    assert labelled.decided == []
    acts.press(row, "1")
    acts.await_sent(row)
    assert standing(labelled.study)[pairs[0]] == (Rule.PERSON, 0)


def test_in_a_row_what_cannot_be_sent_is_sent_after_a_reload_and_what_is_refused_comes_back(
    labelled: Host, row: Page, pairs: list[int]
) -> None:
    acts.intercept(row, SENT, lambda route: route.abort())
    acts.press(row, "3")
    expect(row.locator("#banner")).to_contain_text(UNSENT)
    row.unroute(SENT)
    row.reload()
    acts.await_sent(row)
    assert labelled.decided == [pairs[0]]
    row.wait_for_load_state("networkidle")
    refused = marked(row)
    labelled.study.add_people(["jack"], Role.ADJUDICATOR)
    labelled.study.grid().decide(refused, 0, by="jack")
    acts.press(row, "n")
    row.keyboard.type("Mine.")
    row.keyboard.press("Escape")
    acts.press(row, "3")
    case = row.locator(f"#case-{refused}")
    expect(case.get_by_role("alert")).to_contain_text(f"Pair {refused} has been decided by jack meanwhile.")
    expect(case.locator("textarea")).to_have_value("Mine.")
    expect(case.locator(".answers button").first).to_be_disabled()


def test_a_hidden_row_is_shown_before_anything_is_decided_and_stays_in_sight_on_a_small_phone(
    labelled: Host, windows: Windows, pairs: list[int]
) -> None:
    labelled.hide_texts("judy")
    page = open_page(labelled, windows, f"/adjudicate/row?pair={pairs[0]}", viewport=SMALL)
    text, veiled = page.locator("#hs"), re.compile("veiled")
    acts.press(page, "3")
    expect(text).not_to_have_class(veiled)
    assert page.locator(".row-case.decided").count() == 0
    acts.press(page, "b")
    expect(text).to_have_class(veiled)
    acts.press(page, "b", *["ArrowDown"] * len(pairs))
    assert marked(page) == pairs[-1]
    assert page.locator(".row-text").evaluate(TOP) == 0
    bottom = page.locator(".row-text").evaluate("(it) => it.getBoundingClientRect().bottom")
    assert page.locator(f"#case-name-{pairs[-1]}").evaluate(TOP) > bottom
    assert not page.evaluate(IS_WIDER)
    assert violations(page) == []


def test_adjudicators_and_leads_decide_by_the_keys_that_the_labels_have_of_their_own(
    labelled: Host, windows: Windows
) -> None:
    labelled.study.save_words(options={"appropriate": {"key": "a", "colour": "green"}})
    page = open_page(labelled, windows)
    pair = pair_on(page)
    acts.press(page, "3")
    assert pair_on(page) == pair
    assert choose(page, "a") == pair
    until(lambda: bool(labelled.decided))
    other = next(number for number in labelled.study.grid().waiting_pairs() if number != pair)
    lead = windows.show(labelled, "lea", f"/lead/pair/{other}/decide")
    lead.keyboard.press("3")
    lead.keyboard.press("n")
    lead.keyboard.type("a reason")
    lead.keyboard.press("Escape")
    with lead.expect_navigation():
        lead.keyboard.press("a")
    assert [(*made[:2],) for made in labelled.decisions] == [(pair, "appropriate"), (other, "appropriate")]
    assert labelled.decisions[-1][2] == "a reason"


def test_the_badge_of_a_key_is_as_high_on_a_link_as_on_a_button_and_a_warning_looks_like_one(page: Page) -> None:
    heights = page.locator(".above kbd, #later kbd, .answers kbd").evaluate_all(f"(all) => all.map({HEIGHT})")
    assert len(heights) == 6
    assert max(heights) - min(heights) <= 2
    page.context.set_offline(True)
    choose(page)
    banner = page.locator("#banner")
    expect(banner).to_have_text(UNSENT)
    colours = "const { color, borderInlineStartColor: edge } = getComputedStyle(it); return color === edge;"
    assert banner.evaluate(f"(it) => {{ it.style.color = 'var(--of-warnings)'; {colours} }}")
    assert banner.evaluate("(it) => getComputedStyle(it, '::before').content") == '"Warning: "'
    page.context.set_offline(False)
    expect(banner).to_have_text("")
