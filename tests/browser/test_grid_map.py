"""The lead's map of the grid: with a pointer, by keys alone, from an address, and with what has changed meanwhile."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.shown import Shown
from browser.windows import Windows
from fcpair.params import Adjudicate, Pair
from fcpair.web.languages import LANGUAGES

CELL_PX, N_COLUMNS = 48, 6  # the small study: four rows, six columns, as large as cells get
PIXEL = """([x, y]) => {
  const canvas = document.getElementById("map-canvas");
  const ratio = canvas.width / canvas.getBoundingClientRect().width;
  return [...canvas.getContext("2d").getImageData(x * ratio, y * ratio, 1, 1).data.slice(0, 3)];
}"""
NUMBERS = "(rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent))"
SWATCHES = """() => [...document.querySelectorAll(".map-swatch")].map((one) => getComputedStyle(one).backgroundColor)"""


def middle_of(row: int, column: int) -> dict[str, float]:
    """The middle of a cell on the canvas, with its border."""
    return {"x": (column + 0.5) * CELL_PX + 1, "y": (row + 0.5) * CELL_PX + 1}


def open_map(page: Page, path: str = "/lead/grid") -> Page:
    page.goto(path)
    expect(page.locator("#map-cell")).to_contain_text("Row ")
    return page


@pytest.fixture
def page(shown: Shown, files: dict[str, Path]) -> Page:
    own_reading = ("willReadFrequently",)  # which the browser says of PIXEL
    return open_map(shown.page(shown.host(files["checked"]), "lea", forgive=own_reading))


def test_a_click_opens_the_story_of_the_cell(page: Page) -> None:
    page.locator("#map-canvas").click(position=middle_of(2, 3))  # type: ignore[arg-type]
    expect(page).to_have_url(re.compile(f"/lead/pair/{2 * N_COLUMNS + 4}$"))


def test_keys_alone_lead_to_a_cell_and_open_its_story(page: Page) -> None:
    page.locator("#map-columns").focus()
    page.keyboard.press("Tab")
    expect(page.locator("#map-canvas")).to_be_focused()
    for key in ("ArrowDown", "End", "ArrowLeft"):
        page.keyboard.press(key)
    said = page.locator("#map-cell")
    expect(said).to_contain_text("Row 2 (hate speech), column 5 (counter-narrative): ")
    expect(said).to_contain_text("People who like night owls cannot be trusted.")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/lead/pair/{N_COLUMNS + 5}$"))


def test_the_cursor_stays_in_the_grid(page: Page) -> None:
    page.locator("#map-canvas").focus()
    for key in ("ArrowUp", "ArrowLeft", "PageDown", "PageDown", "End"):
        page.keyboard.press(key)
    expect(page.locator("#map-cell")).to_contain_text("Row 4 (hate speech), column 6 ")


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


def test_in_another_order_a_cell_is_still_that_of_its_texts(page: Page) -> None:
    page.locator("#map-columns").select_option("share-2")
    page.locator("#map-canvas").focus()
    page.keyboard.press("Home")
    said = page.locator("#map-cell p").first
    column = re.search(r"column (\d+) ", said.text_content() or "")
    assert column
    assert column[1] in "135"  # odd pairs are appropriate
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(f"/lead/pair/{column[1]}$"))


def test_to_drag_opens_nothing(page: Page) -> None:
    box = page.locator("#map-canvas").bounding_box()
    assert box
    page.mouse.move(box["x"] + 60, box["y"] + 60)
    page.mouse.down()
    page.mouse.move(box["x"] + 20, box["y"] + 30, steps=4)
    page.mouse.up()
    page.wait_for_timeout(300)
    expect(page).to_have_url(re.compile("/lead/grid$"))


def test_the_wheel_zooms_and_at_the_whole_map_scrolls_the_page(page: Page) -> None:
    page.set_viewport_size({"width": 320, "height": 500})
    page.locator("#map-canvas").hover(position=middle_of(0, 1))  # type: ignore[arg-type]
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
    swatches = page.evaluate(SWATCHES)
    colours = {
        "rgb({}, {}, {})".format(*page.evaluate(PIXEL, [(column + 0.5) * CELL_PX, 70])) for column in range(N_COLUMNS)
    }
    assert len(colours) > 1
    assert colours <= set(swatches)
    page.emulate_media(color_scheme="light")


@pytest.mark.parametrize("width", one_short(320, 1440))
def test_the_page_is_open_to_all_at_any_width(page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.locator("summary", has_text="rows").click()
    assert violations(page) == []
    page.emulate_media(forced_colors="active")
    page.locator("#map-canvas").focus()
    assert violations(page) == []
    page.emulate_media(forced_colors="none")


@pytest.mark.parametrize("part", ["#map", "#coverage"])
def test_what_is_read_anew_keeps_its_lines(page: Page, part: str) -> None:
    box = page.locator(part).bounding_box()
    page.evaluate("(part) => document.querySelector(part).setAttribute('aria-busy', 'true')", part)
    assert page.locator(part).bounding_box() == box
    assert not page.evaluate(IS_WIDER)


def test_the_legend_counts_what_the_numbers_below_count(page: Page) -> None:
    legend = page.locator("#map-legend tbody tr").all_inner_texts()
    below = page.locator("#coverage details").first.locator("tbody tr").all_inner_texts()
    assert [one.split() for one in legend] == [one.split() for one in below]


@pytest.mark.parametrize("code", ["de", "fr", "fa", "ar"])
def test_the_map_writes_numbers_as_its_page_does(shown: Shown, files: dict[str, Path], code: str) -> None:
    served = shown.host(files["checked"])
    served.study.save_words(language=code)
    page = shown.page(served, "lea", forgive=("willReadFrequently",))
    page.set_viewport_size({"width": 320, "height": 800})
    page.goto("/lead/grid")
    expect(page.locator("#map-cell")).to_contain_text(f"{LANGUAGES[code].digits(1)} (hate speech)")
    legend = page.locator("#map-legend tbody tr").evaluate_all(NUMBERS)
    assert legend == page.locator("#coverage details").first.locator("tbody tr").evaluate_all(NUMBERS)
    assert LANGUAGES[code].number(24) == page.evaluate("fcpairLanguage.number(24)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 320
    assert violations(page) == []
    served.study.save_words(language="en")


def test_a_pair_that_is_no_longer_there_is_said_to_be_none(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["paired"])
    page = open_map(windows.open(served.url, served.token("lea"), forgive=("404",)))
    served.study.grid().pair(Pair(candidates=2, seed=1), redo=True)
    page.locator("#map-canvas").click(position=middle_of(3, 5))  # type: ignore[arg-type]
    expect(page.locator("main")).to_contain_text("There is no pair 24; the pairs of the grid are numbered from 1 to 8")


def test_a_question_that_nobody_asks_is_said_to_be_none(shown: Shown, files: dict[str, Path]) -> None:
    page = shown.page(shown.host(files["checked"]), "lea", forgive=("404",))
    page.goto("/lead/grid?question=moods")
    expect(page.get_by_role("alert")).to_contain_text("There is no question `moods`")


def test_the_map_follows_what_happens(host: Callable[..., Host], files: dict[str, Path], windows: Windows) -> None:
    served = host(files["labelled"])
    page = open_map(windows.open(served.url, served.token("lea")))
    legend = page.locator("#map-legend")
    expect(legend).to_contain_text("labelled, waits for a policy")
    served.study.grid().adjudicate(Adjudicate("majority"))
    page.get_by_role("button", name="Refresh now").click()
    expect(legend).to_contain_text("decided, not validated")
    expect(legend).not_to_contain_text("labelled, waits for a policy")
