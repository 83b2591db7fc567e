"""Whatever has the focus shows it: by an outline of 3 to 1 at least, in light, dark and forced colours."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page

from browser.shown import Shown

LEAST = 3.0  # WCAG 2.2, 1.4.11 and 2.4.13
LEAST_PX = 2.0
MOST_TABS = 60
PAGES = [
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
    for n, page in enumerate(PAGES)
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


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("rgb(255, 255, 255)", "rgb(0, 0, 0)") == 21
    assert contrast("rgb(255, 255, 255)", "rgb(119, 119, 119)") == pytest.approx(4.48, abs=0.005)


def rings(page: Page) -> list[dict[str, Any]]:
    """What Tab leads to, one after the other, and how each shows it."""
    found: list[dict[str, Any]] = []
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        ring = page.evaluate(RING)
        if ring["name"].startswith("<body") or (found and ring == found[0]):
            break
        found.append(ring)
    return found


@pytest.mark.parametrize(("who", "path", "stage", "way"), LOOKS)
def test_what_has_the_focus_shows_it(
    who: str,
    path: str,
    stage: str,
    way: dict[str, Any],
    shown: Shown,
    files: dict[str, Path],
) -> None:
    page = shown.page(shown.host(files[stage]), who)
    page.emulate_media(**{"color_scheme": "light", "forced_colors": "none", **way})
    page.goto(path)
    page.wait_for_load_state("networkidle")  # the desk puts the focus where its first pair is
    found = rings(page)
    assert len(found) > 5
    for ring in found:
        assert ring["style"] == "solid", ring
        assert ring["width"] >= LEAST_PX, ring
        assert contrast(ring["ring"], ring["ground"]) >= LEAST, ring
