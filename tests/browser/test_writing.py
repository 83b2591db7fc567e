"""A writer at the desk: a question before the text, the type that is always there, and what the server refuses."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from steps.writing import REPLIES, checked, dealt

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_pair, enter
from browser.test_forms import SMALL, box, save, stored
from browser.windows import Windows

SHORT = "Why is that?"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    with closing(dealt(tmp_path_factory.mktemp("writing"), checked(grammar="harper"), writer=3)) as study:
        return Path(study.place)


@pytest.fixture
def served(path: Path, host: Callable[..., Host]) -> Host:
    return host(path)


@pytest.fixture
def page(served: Host, windows: Windows) -> Page:
    page = windows.open(served.url, served.token("writer1"))
    enter(page)
    page.wait_for_timeout(HASTE_MS)
    return page


def test_the_text_is_asked_for_only_where_it_is_called_for(served: Host, page: Page) -> None:
    expect(box(page)).to_be_hidden()
    page.keyboard.press("1")
    expect(box(page)).to_be_visible()
    box(page).fill(SHORT)
    page.get_by_role("group", name="unkind").get_by_text("no", exact=True).click()
    page.get_by_role("button", name="Drop it").click()
    expect(box(page)).to_be_hidden()
    page.get_by_role("button", name="Save").click()
    await_pair(page)
    page.wait_for_timeout(HASTE_MS)
    ((_, answer),) = stored(served)
    assert answer == {"unkind": "no", "text": None, "also": None}


def test_the_given_type_is_ticked_and_stays_so(served: Host, page: Page) -> None:
    page.keyboard.press("1")
    given = page.locator("#cn").inner_text()
    own = page.get_by_role("checkbox", name=given)
    expect(own).to_be_checked()
    expect(own).to_be_disabled()
    box(page).fill(REPLIES[0])
    save(page)
    ((_, answer),) = stored(served)
    assert answer == {"unkind": "yes", "text": REPLIES[0], "also": [given]}


def test_what_the_server_refuses_is_said_beside_the_text_which_stays(served: Host, page: Page) -> None:
    page.keyboard.press("1")
    box(page).fill("من هر روز چای می‌خورم و همسایه‌ام هم همین کار را می‌کند.")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="another language")).to_be_visible()
    expect(box(page)).to_be_focused()
    assert stored(served) == []
    assert served.study.grid("write").refusals("write")["rule"].tolist() == ["language"]
    page.reload()
    await_pair(page)
    expect(box(page)).to_have_value("من هر روز چای می‌خورم و همسایه‌ام هم همین کار را می‌کند.")
    box(page).fill(REPLIES[1])
    page.wait_for_timeout(HASTE_MS)
    save(page)
    assert [answer["text"] for _, answer in stored(served)] == [REPLIES[1]]


def test_grammar_is_remarked_on_while_one_types_and_refuses_nothing(served: Host, page: Page) -> None:
    page.keyboard.press("1")
    text = "My neighbour likes the the rain, and I like it too."
    box(page).fill(text)
    expect(page.locator(".remarks li").first).to_be_visible()
    assert served.study.grid("write").refusals("write").empty
    save(page)
    assert [answer["text"] for _, answer in stored(served)] == [text]


def test_all_is_there_on_a_phone_and_axe_finds_nothing(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("writer2"), viewport=SMALL)
    enter(page)
    page.wait_for_timeout(HASTE_MS)
    page.get_by_role("radio", name="yes").check(force=True)
    box(page).fill("Warum sollte das denn ein Problem für irgendjemanden sein?")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_role("alert").filter(has_text="another language")).to_be_visible()
    assert violations(page) == []
    assert not page.evaluate(IS_WIDER)
