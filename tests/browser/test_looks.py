"""How pages look: the focus is seen, dark is dark, nothing moves unwanted, and every width has free sides."""

from __future__ import annotations

import re
from typing import Any

import pytest
from awaited import until
from playwright.sync_api import Page

from browser import acts
from browser.hosts import Host
from browser.layout import IS_WIDER
from browser.windows import Shown, Windows

LEAST = 3.0  # WCAG 2.2, 1.4.11 and 2.4.13
LEAST_RING_PX = 2.0
FOCUSED = [
    ("ana", "/annotate", "dealt"),
    ("ana", "/settings", "dealt"),
    ("judy", "/adjudicate", "labelled"),
    ("judy", "/welcome", "labelled"),
    ("lea", "/lead", "labelled"),
    ("lea", "/lead/conflicts", "labelled"),
    ("lea", "/lead/people", "labelled"),
]
WAYS: list[dict[str, Any]] = [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"forced_colors": "active"}]
LOOKS = [  # the first page in each way, and each page in the first
    pytest.param(*page, way, id=f"{page[1]}-{next(iter(way.values()))}", marks=[pytest.mark.long] * bool(n and at))
    for at, way in enumerate(WAYS)
    for n, page in enumerate(FOCUSED)
]
RING = """() => {
  const one = document.activeElement, style = getComputedStyle(one);
  const painted = (colour) => !/, 0\\)$|^transparent$/.test(colour);
  let ground = one.parentElement;
  while (ground.parentElement && !painted(getComputedStyle(ground).backgroundColor)) ground = ground.parentElement;
  const colour = getComputedStyle(ground).backgroundColor;
  return {name: one.outerHTML.slice(0, 80), style: style.outlineStyle, width: parseFloat(style.outlineWidth),
    ring: style.outlineColor, ground: painted(colour) ? colour : getComputedStyle(document.body).backgroundColor};
}"""


def numbers(colour: str) -> list[float]:
    """The red, green and blue of a computed colour, from 0 to 1; it must be opaque."""
    parts = [float(one) for one in colour[colour.index("(") + 1 : -1].replace(",", " ").split()]
    assert len(parts) == 3, f"{colour} is not opaque"
    return [one / 255 for one in parts]


def luminance(colour: str) -> float:
    """As WCAG 2.2 defines it."""
    linear = [one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in numbers(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """As WCAG 2.2 defines it: from 1 to 21."""
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def rings(page: Page) -> list[dict[str, Any]]:
    """What Tab leads to, one after the other, and how each shows it."""
    found: list[dict[str, Any]] = []
    for _ in range(acts.MOST_TABS):
        page.keyboard.press("Tab")
        ring = page.evaluate(RING)
        if ring["name"].startswith("<body") or (found and ring == found[0]):
            break
        found.append(ring)
    return found


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("rgb(255, 255, 255)", "rgb(0, 0, 0)") == 21
    assert contrast("rgb(255, 255, 255)", "rgb(119, 119, 119)") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize(("who", "path", "stage", "way"), LOOKS)
def test_what_has_the_focus_shows_it(who: str, path: str, stage: str, way: dict[str, Any], shown: Shown) -> None:
    """By an outline of 3 to 1 at least, in light, dark and forced colours."""
    page = shown.page(shown.host(stage), who)
    page.emulate_media(**{"color_scheme": "light", "forced_colors": "none", **way})
    page.goto(path)
    if not path.startswith("/lead"):  # the desk puts the focus where its first pair is
        page.wait_for_load_state("networkidle")
    found = rings(page)
    assert len(found) > 5
    for ring in found:
        assert ring["style"] == "solid", ring
        assert ring["width"] >= LEAST_RING_PX, ring
        assert contrast(ring["ring"], ring["ground"]) >= LEAST, ring
    page.emulate_media(color_scheme="light", forced_colors="none")


WIDTHS = (320, 375, 575, 576, 600, 640, 667, 680, 681, 700, 767, 768, 800, 1023, 1024, 1280)
LEAST_PX = 8
PAGES = [
    ("ana", "/annotate", "dealt"),
    ("ana", "/settings", "dealt"),
    ("ana", "/thanks", "labelled"),
    ("vera", "/validate", "checking"),
    ("judy", "/adjudicate", "labelled"),
    ("judy", "/adjudicate/row", "labelled"),
    ("judy", "/adjudicate/decided", "labelled"),
    ("lea", "/lead", "labelled"),
    ("lea", "/lead/people", "labelled"),
    ("lea", "/lead/agreement", "checked"),
    ("lea", "/lead/grid", "checked"),
    ("lea", "/lead/grid?words=cats", "checked"),
    ("lea", "/lead/conflicts", "labelled"),
    ("lea", "/lead/evaluation", "labelled"),
]
SIDES = """() => [...document.querySelectorAll("main > *, #desk > *, .act, .site a")].map(
  (one) => one.getBoundingClientRect()).filter((box) => box.width > 2 && box.height > 2).flatMap(
  (box) => [box.left, innerWidth - box.right])"""


@pytest.mark.parametrize(("who", "path", "stage"), PAGES, ids=[path for _, path, _ in PAGES])
def test_the_sides_are_free_and_nothing_scrolls_sideways(who: str, path: str, stage: str, shown: Shown) -> None:
    page = shown.page(shown.host(stage), who)
    page.goto(path)
    page.wait_for_load_state()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        until(lambda: not page.evaluate(IS_WIDER))  # once a part that came by itself has its place
        assert min(page.evaluate(SIDES)) >= LEAST_PX, (width, page.evaluate(SIDES))


PATHS = ("/annotate", "/settings", "/guidelines", "/thanks")
COLOURS = """() => [getComputedStyle(document.documentElement).backgroundColor,
  getComputedStyle(document.querySelector("main p, main h1")).color]"""
SLOWEST = """() => Math.max(...[...document.querySelectorAll("*")].map((one) => getComputedStyle(one)).flatMap(
  (style) => [...style.transitionDuration.split(","), ...style.animationDuration.split(",")].map(parseFloat)))"""


def brightness(page: Page) -> list[float]:
    """Of the page and of its words, from 0 to 1."""
    colours = [[int(part) for part in re.findall(r"\d+", colour)[:3]] for colour in page.evaluate(COLOURS)]
    return [sum(colour) / 3 / 255 for colour in colours]


def test_dark_is_dark_light_is_light_and_nothing_moves_where_no_motion_is_wanted(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url, desk.token("ana"))
    for path in PATHS:
        page.emulate_media(color_scheme="dark")
        page.goto(path)
        ground, words = brightness(page)
        assert ground < 0.2
        assert words > 0.6
        page.emulate_media(color_scheme="light")
        ground, words = brightness(page)
        assert ground > 0.9
        assert words < 0.4
    for asked, is_still in (("reduce", True), ("no-preference", False)):
        page = windows.sit(desk, "ana", reduced_motion=asked)
        assert (page.evaluate(SLOWEST) <= 0.001) is is_still
