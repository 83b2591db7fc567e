"""Texts that read from right to left do so, and nothing else does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from steps.small import open_work

from browser.hosts import Host
from browser.sitting import answer, enter, pair
from browser.studies import PERSIAN, build
from browser.windows import Windows

ARABIC = "هل قابلت واحدا منهم من قبل؟"


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Persian HS with an Arabic CN and three English ones, for one annotator."""
    return build(tmp_path_factory.mktemp("persian"), [PERSIAN], 3, ["ana"], extra=[("Nobody reads.", ARABIC)])


def direction_of(text: Locator) -> str:
    return str(text.evaluate("(text) => getComputedStyle(text).direction"))


def test_a_persian_text_runs_from_right_to_left(path: Path, host: Callable[..., Host], windows: Windows) -> None:
    served = host(path)
    page = windows.open(served.url, served.token("ana"))
    enter(page)
    expect(page.locator("#hs")).to_have_text(PERSIAN)
    assert page.locator("#hs").get_attribute("dir") == direction_of(page.locator("#hs")) == "rtl"
    assert page.locator("#hs").get_attribute("lang") == "fa"
    assert direction_of(page.locator("#pair")) == "ltr"


def test_each_text_runs_its_own_way(path: Path, host: Callable[..., Host], windows: Windows) -> None:
    served = host(path)
    page = windows.open(served.url, served.token("ana"))
    enter(page)
    found = {}
    for _ in range(4):
        found[pair(page)[1]] = direction_of(page.locator("#cn"))
        answer(page, "appropriate")
    expect(page).to_have_url(re.compile("/thanks$"))
    assert found.pop(ARABIC) == "rtl"
    assert list(found.values()) == ["ltr"] * 3


def test_the_answers_stay_in_their_order(path: Path, host: Callable[..., Host], windows: Windows) -> None:
    served = host(path)
    page = windows.open(served.url, served.token("ana"))
    enter(page)
    places = [box["x"] for one in page.locator(".answers button").all() if (box := one.bounding_box())]
    assert places == sorted(places)
    assert len(set(places)) == 3


def test_the_lead_reads_it_from_right_to_left_too(path: Path, host: Callable[..., Host], windows: Windows) -> None:
    served = host(path)
    page = windows.open(served.url, served.token("lea"))
    page.goto(f"/lead/pair/{open_work(served.study)[0][1]}")
    assert direction_of(page.locator("blockquote", has_text=PERSIAN)) == "rtl"
