"""The lead's map of the grid: by a pointer, keys or fingers, from an address, and with what has changed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser.axe import violations
from browser.hosts import Serve
from browser.layout import IS_WIDER
from browser.windows import PHONE, SMALL, Shown, Windows
from fcpair.params import Adjudicate, Pair
from fcpair.sentences import isolate
from fcpair.web.languages import LANGUAGES

Point = tuple[float, float]
CELL_PX, N_COLUMNS = 48, 6  # the small study: four rows, six columns, as large as cells get
LARGEST_CELL_PX = 144
STEPS = 8
ZOOM = 2.2
OWN_READING = ("willReadFrequently",)  # which the browser says of PIXEL
PIXEL = """([x, y]) => {
  const canvas = document.getElementById("map-canvas");
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data.slice(0, 3)];
}"""
NUMBERS = "(rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))"
SWATCHES = """() => [...document.querySelectorAll(".map-swatch")].map((one) => getComputedStyle(one).backgroundColor)"""
SIZE = "(({width, height}) => [width, height])(document.getElementById('map-canvas').getBoundingClientRect())"


def middle_of(row: int, column: int) -> Any:
    """The middle of a cell on the canvas, with its border."""
    return {"x": (column + 0.5) * CELL_PX + 1, "y": (row + 0.5) * CELL_PX + 1}


def of_pair(number: int, view: str = "") -> re.Pattern[str]:
    """The address of a pair, which has the view that one came from."""
    return re.compile(rf"/lead/pair/{number}\?{view}from=search$")


def open_map(page: Page, path: str = "/lead/grid") -> Page:
    page.goto(path)
    expect(page.locator("#map-cell")).to_contain_text("Row ")
    return page


@pytest.fixture
def page(shown: Shown) -> Page:
    return open_map(shown.page(shown.host("checked"), "lea", forgive=OWN_READING))


def test_a_click_opens_the_story_of_a_cell_and_to_drag_opens_nothing(page: Page) -> None:
    box = page.locator("#map-canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(300)
    expect(page).to_have_url(re.compile("/lead/grid$"))
    page.locator("#map-canvas").click(position=middle_of(2, 3))
    expect(page).to_have_url(of_pair(2 * N_COLUMNS + 4))


def test_keys_alone_lead_to_a_cell_in_the_grid_and_open_its_story(page: Page) -> None:
    cell = page.locator("#map-cell")
    page.locator("#map-columns").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#map-canvas")).to_be_focused()
    for key in ("ArrowUp", "ArrowLeft", "PageDown", "PageDown", "End"):
        page.keyboard.press(key)
    expect(cell).to_contain_text("Row 4 (hate speech), column 6 ")
    for key in ("ArrowUp", "ArrowUp", "ArrowLeft"):
        page.keyboard.press(key)
    expect(cell).to_contain_text("Row 2 (hate speech), column 5 (counter-narrative): ")
    expect(cell).to_contain_text("People who like night owls cannot be trusted.")
    page.keyboard.press("Enter")
    expect(page).to_have_url(of_pair(N_COLUMNS + 5))
    open_map(page)
    page.locator("#map-columns").select_option("share-2")
    page.locator("#map-canvas").focus()
    page.keyboard.press("Home")
    column = re.search(r"column (\d+) ", cell.locator("p").first.text_content() or "")
    assert column
    assert column[1] in "135"  # odd pairs are appropriate: in another order a cell is still that of its texts
    page.keyboard.press("Enter")
    expect(page).to_have_url(of_pair(int(column[1]), "columns=share-2&"))


def test_what_is_chosen_is_in_the_address_and_shown_again_from_it(page: Page) -> None:
    page.locator("#map-colour").select_option("answer")
    page.locator("#map-rows").select_option("disagreement")
    page.locator("#map-columns").select_option(label="share of appropriate")
    page.locator("#map-canvas").focus()
    for key in ("+", "+", "-"):
        page.keyboard.press(key)
    query = re.compile(r"\?colour=answer&rows=disagreement&columns=share-2&zoom=[\d.]+&x=[\d.]+&y=[\d.]+$")
    expect(page).to_have_url(query)
    address = page.url
    open_map(page, address)
    expect(page.locator("#map-colour")).to_have_value("answer")
    expect(page.locator("#map-rows")).to_have_value("disagreement")
    expect(page.locator("#map-legend caption")).to_have_text("Answer")
    page.wait_for_timeout(400)
    assert page.url == address
    page.get_by_role("button", name="Whole map").click()
    expect(page).to_have_url(re.compile(r"columns=share-2$"))
    page.locator("#map-colour").select_option("state")
    page.locator("#map-rows").select_option("")
    page.locator("#map-columns").select_option("")
    expect(page).to_have_url(re.compile("/lead/grid$"))


def test_the_wheel_zooms_and_at_the_whole_map_scrolls_the_page(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 500})
    page.locator("#map-canvas").hover(position=middle_of(0, 1))
    page.mouse.wheel(0, -300)
    expect(page).to_have_url(re.compile("zoom="))
    page.mouse.wheel(0, 5_000)
    expect(page).to_have_url(re.compile("/lead/grid$"))
    before = page.evaluate("scrollY")
    page.mouse.wheel(0, 200)
    page.wait_for_function("(before) => scrollY > before", arg=before)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_cells_have_the_colours_of_the_legend(page: Page, scheme: Any) -> None:
    page.emulate_media(color_scheme=scheme)
    page.locator("#map-colour").select_option("answer")
    page.wait_for_timeout(200)
    pixels = [page.evaluate(PIXEL, [(column + 0.5) * CELL_PX, 70]) for column in range(N_COLUMNS)]
    colours = {"rgb({}, {}, {})".format(*pixel) for pixel in pixels}
    assert len(colours) > 1
    assert colours <= set(page.evaluate(SWATCHES))
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", one_short(320, 1440))
def test_the_page_is_open_to_all_at_any_width_and_keeps_its_lines_while_it_is_read_anew(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for part in ("#map", "#coverage"):
        box = page.locator(part).bounding_box()
        page.evaluate("(part) => document.querySelector(part).setAttribute('aria-busy', 'true')", part)
        assert page.locator(part).bounding_box() == box
        assert not page.evaluate(IS_WIDER)
        page.evaluate("(part) => document.querySelector(part).removeAttribute('aria-busy')", part)
    page.locator("#coverage summary").first.click()
    page.locator("summary", has_text="rows").click()
    assert violations(page) == []
    page.emulate_media(forced_colors="active")
    page.locator("#map-canvas").focus()
    assert violations(page) == []
    page.emulate_media(forced_colors="none")


@pytest.mark.parametrize("code", one_short("fa", "en", "de", "fr", "ar"))
def test_the_map_writes_and_counts_numbers_as_its_page_does(shown: Shown, code: str) -> None:
    served = shown.host("checked")
    served.study.save_words(language=code)
    page = shown.page(served, "lea", size=SMALL, forgive=OWN_READING)
    page.goto("/lead/grid")
    row = isolate("hate speech", LANGUAGES[code].direction)
    expect(page.locator("#map-cell")).to_contain_text(f"{LANGUAGES[code].digits(1)} ({row})")
    legend = page.locator("#map-legend tbody tr").evaluate_all(NUMBERS)
    page.locator("#coverage summary").first.click()
    expect(page.locator("#coverage .lead-body details").first).to_be_visible()
    assert legend == page.locator("#coverage .lead-body details").first.locator("tbody tr").evaluate_all(NUMBERS)
    assert LANGUAGES[code].number(24) == page.evaluate("fcpairLanguage.number(24)")
    assert page.evaluate("document.documentElement.scrollWidth") <= SMALL["width"]
    assert violations(page) == []
    served.study.save_words(language="en")


def test_what_there_is_not_is_said_to_be_none_and_the_map_follows_what_happens(
    shown: Shown, serve: Serve, windows: Windows
) -> None:
    page = windows.show(shown.host("checked"), "lea", "/lead/grid?question=moods", forgive=("404",))
    expect(page.get_by_role("alert")).to_contain_text("There is no question moods")
    served = serve("paired")
    page = open_map(windows.open(served.url, served.token("lea"), forgive=("404",)))
    served.study.grid().pair(Pair(candidates=2, seed=1), redo=True)
    page.locator("#map-canvas").click(position=middle_of(3, 5))
    expect(page.locator("main")).to_contain_text("There is no pair 24; the pairs of the grid are numbered from 1 to 8")
    served = serve("labelled")
    page = open_map(windows.open(served.url, served.token("lea")))
    legend = page.locator("#map-legend")
    expect(legend).to_contain_text("labelled, waits for a policy")
    served.study.grid().adjudicate(Adjudicate("majority"))
    page.get_by_role("button", name="Refresh now").click()
    expect(legend).to_contain_text("decided, not validated")
    expect(legend).not_to_contain_text("labelled, waits for a policy")


def test_a_class_and_selected_cells_are_filters_of_the_pairs_below(page: Page) -> None:
    """By a pointer with Shift, and by keys; the map is where it was when somebody comes back from a pair."""
    pairs = page.locator("#pairs-range")
    page.get_by_role("button", name="valid", exact=True).click()
    expect(page).to_have_url(re.compile(r"map\.state=5"))
    expect(page.get_by_role("link", name="State: valid")).to_be_visible()
    page.get_by_role("button", name="valid", exact=True).click()
    expect(pairs).to_have_text("1–24 of 24")
    canvas = page.locator("#map-canvas")
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 60, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 130, box["y"] + 60, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    expect(page).to_have_url(re.compile(r"area=1-2\.2-3"))
    expect(pairs).to_have_text("1–4 of 4")
    canvas.focus()
    page.keyboard.press("Shift+ArrowDown")
    expect(pairs).to_have_text("1–6 of 6")
    page.keyboard.press("Enter")
    expect(page).to_have_url(of_pair(15, r"area=1-3\.2-3&"))
    page.get_by_role("link", name="Grid").first.click()
    expect(pairs).to_have_text("1–6 of 6")
    expect(page.locator("#map-cell")).to_contain_text("Row 3 (hate speech), column 3 ")
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile(r"/lead/grid$"))
    expect(pairs).to_have_text("1–24 of 24")


# On a phone two fingers zoom, and one moves the map, or the page where all of it is shown


class Fingers:
    """Fingers on the canvas of the map, at places in pixels from its upper left corner."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self._touches = page.context.new_cdp_session(page)

    def open(self, query: str = "") -> None:
        open_map(self.page, f"/lead/grid{query}")
        self.page.evaluate("document.getElementById('map-canvas').scrollIntoView({block: 'center'})")

    def drag(self, begin: Sequence[Point], end: Sequence[Point]) -> None:
        """Put fingers down at the first places, move them to the others in a few steps, and lift them."""
        self._send("touchStart", begin)
        for share in (step / STEPS for step in range(1, STEPS + 1)):
            ways = zip(begin, end, strict=True)
            self._send(
                "touchMove", [(left + share * (x - left), top + share * (y - top)) for (left, top), (x, y) in ways]
            )
        self._send("touchEnd", [])

    def tap(self, *places: Point) -> None:
        self._send("touchStart", places)
        self._send("touchEnd", [])

    def _send(self, kind: str, places: Sequence[Point]) -> None:
        box = self.page.locator("#map-canvas").bounding_box()
        assert box
        points = [
            {"x": box["x"] + 1 + left, "y": box["y"] + 1 + top, "id": at} for at, (left, top) in enumerate(places)
        ]
        self._touches.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    @property
    def zoom(self) -> float:
        """The zoom in the address, once that says the last change."""
        self.page.wait_for_timeout(400)
        return float(parse_qs(urlsplit(self.page.url).query).get("zoom", ["1"])[0])

    def place_at(self, left: float, top: float) -> Point:
        """The column and the row at a place of the canvas, with fractions, as the address has it."""
        zoom = self.zoom
        query = parse_qs(urlsplit(self.page.url).query)
        width, height = self.page.evaluate(SIZE)
        across, down = zoom * min(width / N_COLUMNS, CELL_PX), zoom * CELL_PX
        return float(query["x"][0]) + (left - width / 2) / across, float(query["y"][0]) + (top - height / 2) / down


@pytest.fixture
def fingers(shown: Shown) -> Fingers:
    """Fingers on the whole map."""
    fingers = Fingers(shown.page(shown.host("checked"), "lea", size=PHONE, has_touch=True))
    fingers.open()
    return fingers


def test_fingers_zoom_a_part_and_take_it_along(fingers: Fingers) -> None:
    fingers.open(f"?zoom={ZOOM}&x=3&y=2")
    before = pytest.approx(fingers.place_at(120, 150), abs=0.1)
    fingers.drag([(90, 150), (150, 150)], [(80, 150), (160, 150)])
    assert fingers.zoom == pytest.approx(ZOOM * 80 / 60, rel=0.02)
    assert fingers.place_at(120, 150) == before
    fingers.open(f"?zoom={ZOOM}&x=3&y=2")
    before = pytest.approx(fingers.place_at(150, 170), abs=0.1)
    fingers.drag([(120, 170), (180, 170)], [(80, 160), (140, 160)])
    assert fingers.zoom == pytest.approx(ZOOM, rel=0.02)
    assert fingers.place_at(110, 160) == before
    fingers.open(f"?zoom={ZOOM}&x=3&y=2")
    before, scrolled = pytest.approx(fingers.place_at(150, 170), abs=0.12), fingers.page.evaluate("scrollY")
    fingers.drag([(150, 170)], [(110, 160)])  # one finger, and not the page
    assert fingers.place_at(110, 160) == before
    assert fingers.page.evaluate("scrollY") == scrolled


def test_fingers_zoom_as_far_as_cells_may_be_large_and_come_together_to_the_whole_map(fingers: Fingers) -> None:
    fingers.drag([(90, 90), (150, 90)], [(30, 90), (210, 90)])
    assert fingers.zoom > 2
    fingers.drag([(10, 90), (220, 90)], [(95, 90), (125, 90)])
    assert fingers.zoom == 1
    expect(fingers.page).to_have_url(re.compile("/lead/grid$"))
    width, _ = fingers.page.evaluate(SIZE)
    for _ in range(3):
        fingers.drag([(100, 90), (120, 90)], [(10, 90), (220, 90)])
    assert fingers.zoom == pytest.approx(LARGEST_CELL_PX / min(width / N_COLUMNS, CELL_PX), abs=0.01)


def test_on_the_whole_map_one_finger_scrolls_the_page_and_a_tap_opens_the_story(fingers: Fingers) -> None:
    scrolled = fingers.page.evaluate("scrollY")
    fingers.drag([(150, 180)], [(150, 60)])
    fingers.page.wait_for_function("(before) => scrollY > before", arg=scrolled)
    assert fingers.zoom == 1
    fingers.open()
    fingers.tap((70, 20), (160, 20))  # of two fingers, which opens nothing
    fingers.page.wait_for_timeout(300)
    expect(fingers.page).to_have_url(re.compile("/lead/grid$"))
    fingers.tap((70, 20))
    expect(fingers.page).to_have_url(of_pair(2))
