"""A hidden HS: nothing is answered or decided before it has been shown."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser import acts
from browser.hosts import Host, Serve, query
from browser.windows import TOUCH, Windows

DESKS = {"ana": ("/annotate", "dealt"), "vera": ("/validate", "checking"), "judy": ("/adjudicate", "labelled")}
FIRST = "#desk .answers button >> nth=0"
PRESSES = [  # each at the desk, and the keys at each
    pytest.param(who, act, marks=[pytest.mark.long] * (who != "ana" and act is not acts.by_key))
    for who in DESKS
    for act in (acts.by_key, acts.by_mouse, acts.by_touch)
]


def sit(serve: Serve, windows: Windows, who: str, **options: Any) -> tuple[Host, Page]:
    """Somebody at work who has the HS hidden."""
    path, stage = DESKS[who]
    served = serve(stage)
    served.hide_texts(who)
    page = windows.sit(served, who, path, **options)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    return served, page


def n_given(served: Host, who: str) -> int:
    if who == "judy":
        return len(served.decided)
    return int(query(served.study.place, "SELECT count(*) FROM judgement")[0][0])


@pytest.mark.parametrize(("who", "act"), PRESSES)
def test_the_first_press_shows_the_text_and_the_second_answers(
    who: str, act: acts.By, serve: Serve, windows: Windows
) -> None:
    served, page = sit(serve, windows, who, **(TOUCH if act is acts.by_touch else {}))
    before, shown = n_given(served, who), page.locator("#cn").inner_text()
    act(page, FIRST)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "false")
    assert page.locator("#cn").inner_text() == shown
    assert n_given(served, who) == before
    acts.rest(page)
    with page.expect_response(lambda reply: reply.request.method == "POST"):
        act(page, FIRST)
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")  # that of the next pair
    assert n_given(served, who) == before + 1


@pytest.mark.parametrize("who", one_short(*DESKS))
def test_it_is_shown_by_keys_taps_or_a_double_press_which_answers_nothing(
    who: str, serve: Serve, windows: Windows
) -> None:
    served, page = sit(serve, windows, who, **TOUCH)
    text, before, shown = page.locator("#hs"), n_given(served, who), page.locator("#cn").inner_text()
    page.keyboard.press("b")
    expect(text).to_have_attribute("aria-hidden", "false")
    acts.rest(page)
    page.locator("#reveal").tap()
    expect(text).to_have_attribute("aria-hidden", "true")
    text.tap()
    expect(text).to_have_attribute("aria-hidden", "false")
    acts.rest(page)
    page.locator("#reveal").tap()
    expect(text).to_have_attribute("aria-hidden", "true")
    acts.rest(page)
    page.locator(FIRST).dblclick(delay=0)
    acts.rest(page)
    assert page.locator("#cn").inner_text() == shown
    assert n_given(served, who) == before


def test_a_skip_needs_no_look(serve: Serve, windows: Windows) -> None:
    served, page = sit(serve, windows, "ana")
    with page.expect_response("**/api/judgements"):
        page.keyboard.press("s")
    assert served.study.grid().labels()["label"].tolist() == ["skip"]


def test_without_a_script_too_the_first_press_shows_the_text(serve: Serve, windows: Windows) -> None:
    served, page = sit(serve, windows, "judy", java_script_enabled=False)
    page.locator("#note").fill("They speak of tea.")
    page.locator(FIRST).click()
    expect(page.locator("#hs")).not_to_have_attribute("aria-hidden", "true")
    expect(page.locator("#note")).to_have_value("They speak of tea.")
    assert served.decided == []
    page.locator(FIRST).click()
    expect(page.locator("#hs")).to_have_attribute("aria-hidden", "true")
    assert len(served.decided) == 1


def test_it_is_hidden_in_each_conflict_again_and_in_the_list_of_decisions(serve: Serve, windows: Windows) -> None:
    served, page = sit(serve, windows, "judy")
    words, hidden = page.locator("#hs").inner_text(), page.locator("#hs[aria-hidden=true]")
    for _ in range(3):
        expect(hidden).to_have_count(1)
        case = page.locator("#case-name").inner_text()
        acts.press(page, "b")
        expect(hidden).to_have_count(0)
        acts.press(page, "3")
        expect(page.locator("#case-name")).not_to_have_text(case)
    acts.press(page, "u")
    expect(hidden).to_have_count(1)
    acts.await_sent(page)
    assert len(served.decided) == 2
    page.goto("/adjudicate/decided?by=judy")
    first = page.get_by_role("article").last
    expect(first.get_by_text(words)).to_be_hidden()
    first.get_by_text("Show it").click()
    expect(first.get_by_text(words)).to_be_visible()
