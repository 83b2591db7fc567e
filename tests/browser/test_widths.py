"""At every width the page keeps its sides free and fits: phones, tablets, landscape, enlarged pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from awaited import until

from browser.axe import IS_WIDER
from browser.shown import Shown

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
def test_the_sides_are_free_and_nothing_scrolls_sideways(
    who: str, path: str, stage: str, shown: Shown, files: dict[str, Path]
) -> None:
    page = shown.page(shown.host(files[stage]), who)
    page.goto(path)
    page.wait_for_load_state()
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        until(lambda: not page.evaluate(IS_WIDER))  # once a part that came by itself has its place
        assert min(page.evaluate(SIDES)) >= LEAST_PX, (width, page.evaluate(SIDES))
