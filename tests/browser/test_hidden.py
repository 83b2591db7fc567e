"""A hidden HS: nothing is answered or decided before it has been shown."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from steps.small import standing

from browser.hosts import Host
from browser.sitting import HASTE_MS, await_pair, by_key, by_mouse
from browser.windows import PHONE, Windows
from fcpair.records import Rule

TOUCH: dict[str, Any] = {"viewport": PHONE, "has_touch": True, "is_mobile": True}
DESKS = {"ana": ("/annotate", "dealt"), "vera": ("/validate", "checking"), "judy": ("/adjudicate", "labelled")}
FIRST = "#desk .answers button >> nth=0"
Press = Callable[[Page, str], None]


def by_tap(page: Page, selector: str) -> None:
    for button in page.query_selector_all(selector):
        button.tap()


PRESSES = [  # each at the desk, and the keys at each
    pytest.param(who, press, marks=[pytest.mark.long] * (who != "ana" and press is not by_key))
    for who in DESKS
    for press in (by_key, by_mouse, by_tap)
]


@pytest.fixture
def served(host: Callable[..., Host], files: dict[str, Path]) -> Callable[[str], Host]:
    """The study as it is while somebody works, in which they have the HS hidden."""

    def served(who: str) -> Host:
        site = host(files[DESKS[who][1]])
        site.token(who)
        site.study.access.set_blurred(next(one.id for one in site.study.people if one.name == who), True)
        return site

    return served


def sit(site: Host, windows: Windows, who: str, **options: Any) -> Page:
    page = windows.open(site.url, site.token(who), **options)
    page.goto(DESKS[who][0])
    await_pair(page)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    page.wait_for_timeout(HASTE_MS)
    return page


def n_given(site: Host, who: str) -> int:
    """How many answers or decisions of somebody the study has."""
    if who == "judy":
        return sum(rule == Rule.PERSON for rule, _ in standing(site.study).values())
    with closing(sqlite3.connect(site.study.place)) as connection:
        return int(connection.execute("SELECT count(*) FROM judgement").fetchone()[0])


@pytest.mark.parametrize(("who", "press"), PRESSES)
def test_the_first_press_shows_the_text_and_the_second_answers(
    who: str, press: Press, served: Callable[[str], Host], windows: Windows
) -> None:
    site = served(who)
    page = sit(site, windows, who, **(TOUCH if press is by_tap else {}))
    shown = page.locator("#cn").inner_text()
    before = n_given(site, who)
    press(page, FIRST)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "false")
    assert page.locator("#cn").inner_text() == shown
    assert n_given(site, who) == before
    page.wait_for_timeout(HASTE_MS)
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        press(page, FIRST)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")  # that of the next pair
    assert n_given(site, who) == before + 1


@pytest.mark.parametrize("who", DESKS)
def test_a_double_press_shows_the_text_and_answers_nothing(
    who: str, served: Callable[[str], Host], windows: Windows
) -> None:
    site = served(who)
    page = sit(site, windows, who)
    before, shown = n_given(site, who), page.locator("#cn").inner_text()
    page.locator(FIRST).dblclick(delay=0)
    page.wait_for_timeout(HASTE_MS)
    assert page.locator("#cn").inner_text() == shown
    assert n_given(site, who) == before


@pytest.mark.parametrize("who", DESKS)
def test_it_can_be_shown_by_its_button_or_a_tap_and_hidden_again(
    who: str, served: Callable[[str], Host], windows: Windows
) -> None:
    page = sit(served(who), windows, who, **TOUCH)
    text = page.locator("#hs")
    page.keyboard.press("b")
    expect(text).to_have_attribute("aria-hidden", "false")
    page.wait_for_timeout(HASTE_MS)
    page.locator("#reveal").tap()
    expect(text).to_have_attribute("aria-hidden", "true")
    text.tap()
    expect(text).to_have_attribute("aria-hidden", "false")


def test_a_skip_needs_no_look(served: Callable[[str], Host], windows: Windows) -> None:
    site = served("ana")
    page = sit(site, windows, "ana")
    with page.expect_response("**/api/judgements"):
        page.keyboard.press("s")
    assert site.study.grid().labels()["label"].tolist() == ["skip"]


def test_without_a_script_too_the_first_press_shows_the_text(served: Callable[[str], Host], windows: Windows) -> None:
    site = served("judy")
    page = sit(site, windows, "judy", java_script_enabled=False)
    page.locator("#note").fill("They speak of tea.")
    page.locator(FIRST).click()
    expect(page.locator("#hs")).not_to_have_attribute("aria-hidden", "true")
    expect(page.locator("#note")).to_have_value("They speak of tea.")
    assert n_given(site, "judy") == 0
    page.locator(FIRST).click()
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    assert n_given(site, "judy") == 1


def test_the_list_of_decisions_keeps_it_hidden_until_asked(served: Callable[[str], Host], windows: Windows) -> None:
    site = served("judy")
    page = sit(site, windows, "judy")
    words = page.locator("#hs").inner_text()
    page.keyboard.press("b")
    page.wait_for_timeout(HASTE_MS)
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        page.keyboard.press("1")
    page.goto("/adjudicate/decided?by=judy")
    expect(page.get_by_text(words)).to_be_hidden()
    page.get_by_text("Show it").first.click()
    expect(page.get_by_text(words)).to_be_visible()
