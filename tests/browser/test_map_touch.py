"""The lead's map of the grid on a phone: two fingers zoom, one moves the map, or the page where all of it is shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import CDPSession, Page, expect

from browser.shown import Shown
from browser.test_grid_map import N_COLUMNS, open_map
from browser.windows import PHONE

Point = tuple[float, float]
STEPS = 8
LARGEST_CELL_PX = 144
ZOOM = 2.2


class Fingers:
    """Fingers on the canvas of the map, at places in pixels from its upper left corner."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._touches: CDPSession = page.context.new_cdp_session(page)

    def drag(self, begin: Sequence[Point], end: Sequence[Point]) -> None:
        """Put fingers down at the first places, move them to the others in a few steps, and lift them."""
        self._send("touchStart", begin)
        for step in range(1, STEPS + 1):
            share = step / STEPS
            self._send(
                "touchMove",
                [
                    (left + share * (to_left - left), top + share * (to_top - top))
                    for (left, top), (to_left, to_top) in zip(begin, end, strict=True)
                ],
            )
        self._send("touchEnd", [])

    def tap(self, *places: Point) -> None:
        """Put fingers down and lift them."""
        self._send("touchStart", places)
        self._send("touchEnd", [])

    def _send(self, kind: str, places: Sequence[Point]) -> None:
        box = self._page.locator("#map-canvas").bounding_box()
        assert box
        points = [
            {"x": box["x"] + 1 + left, "y": box["y"] + 1 + top, "id": at} for at, (left, top) in enumerate(places)
        ]
        self._touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})


def open_on_phone(shown: Shown, files: dict[str, Path], query: str = "") -> Page:
    page = shown.page(shown.host(files["checked"]), "lea", size=PHONE, has_touch=True)
    open_map(page, f"/lead/grid{query}")
    page.evaluate("document.getElementById('map-canvas').scrollIntoView({block: 'center'})")
    return page


@pytest.fixture
def page(shown: Shown, files: dict[str, Path]) -> Page:
    """The whole map."""
    return open_on_phone(shown, files)


@pytest.fixture
def zoomed(shown: Shown, files: dict[str, Path]) -> Page:
    """The map at a zoom at which it is larger than its canvas, seen at its middle."""
    return open_on_phone(shown, files, f"?zoom={ZOOM}&x=3&y=2")


@pytest.fixture
def fingers(shown: Shown, files: dict[str, Path]) -> Fingers:
    return Fingers(shown.page(shown.host(files["checked"]), "lea", size=PHONE, has_touch=True))


def zoom_of(page: Page) -> float:
    """The zoom in the address, once that says the last change."""
    page.wait_for_timeout(400)
    return float(parse_qs(urlsplit(page.url).query).get("zoom", ["1"])[0])


def place_at(page: Page, place: Point) -> Point:
    """The column and the row at a place of the canvas, with fractions, as the address has it."""
    zoom = zoom_of(page)
    query = parse_qs(urlsplit(page.url).query)
    width, height = page.evaluate(
        "(({width, height}) => [width, height])(document.getElementById('map-canvas').getBoundingClientRect())"
    )
    cell = zoom * min(width / N_COLUMNS, 48)
    left, top = place
    return float(query["x"][0]) + (left - width / 2) / cell, float(query["y"][0]) + (top - height / 2) / cell


def test_two_fingers_zoom_and_what_is_between_them_stays_there(zoomed: Page, fingers: Fingers) -> None:
    middle = (120.0, 150.0)
    before = place_at(zoomed, middle)
    fingers.drag([(90, 150), (150, 150)], [(80, 150), (160, 150)])
    assert zoom_of(zoomed) == pytest.approx(ZOOM * 80 / 60, rel=0.02)
    assert place_at(zoomed, middle) == pytest.approx(before, abs=0.1)
    assert urlsplit(zoomed.url).path == "/lead/grid"


def test_two_fingers_that_move_together_take_the_map_along(zoomed: Page, fingers: Fingers) -> None:
    before = place_at(zoomed, (150, 170))
    fingers.drag([(120, 170), (180, 170)], [(80, 160), (140, 160)])
    assert zoom_of(zoomed) == pytest.approx(ZOOM, rel=0.02)
    assert place_at(zoomed, (110, 160)) == pytest.approx(before, abs=0.1)


def test_fingers_that_come_together_show_the_whole_map_again(page: Page, fingers: Fingers) -> None:
    fingers.drag([(100, 90), (160, 90)], [(40, 90), (220, 90)])
    assert zoom_of(page) > 2
    fingers.drag([(30, 90), (270, 90)], [(130, 90), (170, 90)])
    assert zoom_of(page) == 1
    expect(page).to_have_url(re.compile("/lead/grid$"))


def test_cells_are_never_larger_than_they_may_be(page: Page, fingers: Fingers) -> None:
    width = page.evaluate("document.getElementById('map-canvas').getBoundingClientRect().width")
    for _ in range(3):
        fingers.drag([(130, 90), (150, 90)], [(20, 90), (280, 90)])
    assert zoom_of(page) == pytest.approx(LARGEST_CELL_PX / min(width / N_COLUMNS, 48), abs=0.01)


def test_one_finger_moves_a_zoomed_map_and_not_the_page(zoomed: Page, fingers: Fingers) -> None:
    before, scrolled = place_at(zoomed, (150, 170)), zoomed.evaluate("scrollY")
    fingers.drag([(150, 170)], [(110, 160)])
    assert place_at(zoomed, (110, 160)) == pytest.approx(before, abs=0.1)
    assert zoomed.evaluate("scrollY") == scrolled


def test_one_finger_scrolls_the_page_where_the_whole_map_is_shown(page: Page, fingers: Fingers) -> None:
    scrolled = page.evaluate("scrollY")
    fingers.drag([(150, 180)], [(150, 60)])
    page.wait_for_function("(before) => scrollY > before", arg=scrolled)
    assert zoom_of(page) == 1
    assert urlsplit(page.url).path == "/lead/grid"


def test_a_tap_of_one_finger_opens_the_story_of_the_cell(page: Page, fingers: Fingers) -> None:
    fingers.tap((70, 20))
    expect(page).to_have_url(re.compile("/lead/pair/2$"))


def test_a_tap_of_two_fingers_opens_nothing(page: Page, fingers: Fingers) -> None:
    fingers.tap((70, 20), (160, 20))
    page.wait_for_timeout(300)
    expect(page).to_have_url(re.compile("/lead/grid$"))
