"""The lead's pages fit every window, with few people and many, long names, and in languages of both directions."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser.hosts import ENGLISH, Host, Serve, build
from browser.layout import IS_WIDER, SIZES, misfits
from browser.windows import Windows
from fcpair.params import Adjudicate, Simulate
from fcpair.study import Study
from fcpair.web.current_grid import COMPONENTS, LEAD_PAGES

LONG = "Maximiliane-Theodora-Wilhelmina-von-und-zu-{}"
PEOPLE = {3: ("ana", "ben", LONG.format(1)), 40: tuple(LONG.format(i) if i % 5 else f"p{i}" for i in range(40))}
OTHERS = ("/lead/pair/1", "/lead/people/ana/invite", "/lead/notes", "/lead/imports", "/settings", "/lead/nowhere")
LANGUAGES = ("fa", "en", "de", "fr", "ar")
# The buttons that are wider than their words and their padding, which is of two widths of a letter.
ROOM = """(buttons) => buttons.filter((it) => {
  const words = document.createRange();
  words.selectNodeContents(it);
  return it.offsetWidth > Math.max(48, words.getBoundingClientRect().width + 32);
}).map((it) => it.innerText)"""
STATUS_ERRORS = (r"status of \d{3}",)


@pytest.fixture(scope="module", params=PEOPLE, ids=lambda n: f"{n} people")
def study(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study that so many people have answered, whose conflicts wait."""
    names = PEOPLE[request.param]
    path = build(tmp_path_factory.mktemp("people"), ENGLISH, 24, names, overlap={2: 0.5})
    with closing(Study(path)) as study:
        study.grid().simulate(Simulate(accuracy=0.7, skips=0.05, seed=1))
        study.grid().adjudicate(Adjudicate("manual"))
    return path


@pytest.mark.parametrize("code", one_short(*LANGUAGES))
def test_every_page_of_a_lead_fits_every_window(windows: Windows, serve: Serve, study: Path, code: str) -> None:
    host: Host = serve(study)
    host.token("lea")
    host.study.access.set_language(host.person("lea"), code)
    page = windows.open(host.url, host.token("lea"), forgive=STATUS_ERRORS)
    found = {}
    for path in (*(page.path for pages in LEAD_PAGES.values() for page in pages), *OTHERS):
        page.goto(path)
        page.wait_for_load_state()
        page.evaluate("document.querySelectorAll('main details').forEach((fold) => (fold.open = true))")
        if problems := misfits(page):
            found[path] = problems
    assert found == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_components_are_as_the_design_says(windows: Windows, desk: Host, scheme: str, tmp_path: Path) -> None:
    page = windows.open(desk.url, desk.token("lea"), color_scheme=scheme)
    page.goto(COMPONENTS.path)
    assert misfits(page) == []
    for size in SIZES:
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        picture = page.screenshot(path=tmp_path / f"components-{size['width']}-{scheme}.png", full_page=True)
        assert len(picture) > 20_000
    assert _height(page, "tbody tr:first-child td") == pytest.approx(40, abs=1)
    assert page.locator("main").evaluate("(it) => getComputedStyle(it).fontSize") == "15px"
    assert page.locator("main button:visible").evaluate_all(ROOM) == []
    quiet = ".secondary, .outline, .icon, .danger, [disabled]"
    expect(page.locator(f"main :is(button, [role=button]):not({quiet}):visible")).to_have_count(1)


def test_the_first_column_and_the_acts_of_a_table_stay_in_sight(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url, desk.token("lea"), viewport={"width": 375, "height": 667})
    page.goto(COMPONENTS.path)
    table = page.locator(".scroll")
    for position in (0, 300):
        table.evaluate("(it, to) => it.scrollTo(to, 0)", position)
        box = table.bounding_box()
        assert box is not None
        for part in ("tbody tr:first-child th", "tbody tr:first-child .acts"):
            own = page.locator(part).bounding_box()
            assert own is not None
            assert box["x"] <= own["x"] + 1
            assert own["x"] + own["width"] <= box["x"] + box["width"] + 1


def test_a_table_has_a_shadow_where_it_goes_on_sideways(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url, desk.token("lea"), viewport={"width": 375, "height": 667})
    page.goto(COMPONENTS.path)
    table = page.locator(".scroll")
    shaded = "(it) => !/none|, 0\\) /.test(getComputedStyle(it).boxShadow)"
    first, acts = page.locator("tbody tr:first-child th"), page.locator("tbody tr:first-child .acts")
    for position, before, behind in ((0, False, True), (60, True, True), (9999, True, False)):
        table.evaluate("(it, to) => it.scrollTo(to, 0)", position)
        page.wait_for_timeout(100)
        assert (first.evaluate(shaded), acts.evaluate(shaded)) == (before, behind), position
    page.set_viewport_size({"width": 1920, "height": 1080})
    page.wait_for_timeout(100)
    assert not first.evaluate(shaded)
    assert not acts.evaluate(shaded)


def test_paper_has_no_navigation_and_whole_tables(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url, desk.token("lea"), viewport={"width": 680, "height": 980}, color_scheme="dark")
    page.emulate_media(media="print")
    for path in ("/lead", COMPONENTS.path, "/lead/people", "/lead/agreement", "/lead/grid"):
        page.goto(path)
        page.wait_for_load_state()
        assert not page.evaluate(IS_WIDER), path
        assert page.locator(":is(nav, .lead-bar, .actions, main [role=button]):visible").count() == 0, path
        too_wide = "(tables) => tables.filter((it) => it.getBoundingClientRect().right > innerWidth).length"
        assert page.locator("main table:visible").evaluate_all(too_wide) == 0, path
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "light", path


def test_the_foot_of_the_navigation_is_in_sight_in_a_low_window(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url, desk.token("lea"), viewport={"width": 1366, "height": 400})
    page.goto("/lead")
    for name in ("Settings", "Leave"):
        box = page.locator(".side-end").get_by_text(name).bounding_box()
        assert box is not None
        assert box["y"] + box["height"] <= 400


def test_the_navigation_is_folded_on_a_phone_and_opens_by_its_button(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url, desk.token("lea"), viewport={"width": 375, "height": 667})
    page.goto("/lead")
    pages = page.get_by_role("navigation", name="Pages")
    expect(pages).to_be_hidden()
    page.get_by_role("button", name="Pages", exact=True).click()
    pages.get_by_role("link", name="People").click()
    expect(page.locator("h1")).to_have_text("People")
    page.set_viewport_size({"width": 1366, "height": 768})
    expect(pages).to_be_visible()


def test_a_look_that_is_chosen_stays(windows: Windows, desk: Host) -> None:
    page = windows.open(desk.url, desk.token("lea"), color_scheme="light", forgive=STATUS_ERRORS)
    page.goto("/lead")
    page.get_by_role("button", name="Dark").click()
    for path in ("/lead/people", "/lead/nowhere"):
        page.goto(path)
        assert page.evaluate("getComputedStyle(document.documentElement).colorScheme") == "dark"
        assert page.locator("html").get_attribute("data-theme") == "dark"
    page.get_by_role("button", name="System").click()
    page.goto("/lead")
    assert page.locator("html").get_attribute("data-theme") is None


def _height(page: Page, selector: str) -> float:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box["height"]
