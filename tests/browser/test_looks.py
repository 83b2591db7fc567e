"""Dark where the reader's system is dark, still where it asks for no motion."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import Page

from browser.hosts import Host
from browser.sitting import enter
from browser.windows import Windows

PATHS = ("/annotate", "/settings", "/guidelines", "/thanks")
COLOURS = """() => [getComputedStyle(document.documentElement).backgroundColor,
  getComputedStyle(document.querySelector("main p, main h1")).color]"""
SLOWEST = """() => Math.max(...[...document.querySelectorAll("*")].map((one) => getComputedStyle(one)).flatMap(
  (style) => [...style.transitionDuration.split(","), ...style.animationDuration.split(",")].map(parseFloat)))"""


def brightness(page: Page) -> list[float]:
    """Of the page and of its words, from 0 to 1."""
    colours = [[int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in page.evaluate(COLOURS)]
    return [sum(colour) / 3 / 255 for colour in colours]


@pytest.mark.parametrize("path", PATHS)
def test_dark_is_dark_and_light_is_light(desk: Host, windows: Windows, path: str) -> None:
    page = windows.open(desk.url, desk.token("ana"), color_scheme="dark")
    page.goto(path)
    ground, words = brightness(page)
    assert ground < 0.2
    assert words > 0.6
    page.emulate_media(color_scheme="light")
    ground, words = brightness(page)
    assert ground > 0.9
    assert words < 0.4


@pytest.mark.parametrize(("asked", "still"), [("reduce", True), ("no-preference", False)])
def test_nothing_moves_where_no_motion_is_wanted(desk: Host, windows: Windows, asked: Any, still: bool) -> None:
    page = windows.open(desk.url, desk.token("ana"), reduced_motion=asked)
    enter(page)
    assert (page.evaluate(SLOWEST) <= 0.001) is still
