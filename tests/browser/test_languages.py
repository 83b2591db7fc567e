"""Pages in other languages: whole, in their direction, with no word clipped, at every size, and by the same keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_pair, await_sent
from browser.windows import Windows
from fcpair.web.languages import LANGUAGES

SIZES = ((320, 568), (375, 667), (1440, 900))
CLIPPED = """() => [...document.querySelectorAll("button, h1, h2, label, summary, [role=button], .progress")]
  .filter((one) => one.checkVisibility() && !one.closest(".visually-hidden") && one.clientWidth)
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 120))"""
IN_SIGHT = """(selector) => [...document.querySelectorAll(selector)].every((one) => {
  const { top, bottom, left, right } = one.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth; })"""


def check(page: Page, answers: str = "") -> None:
    for width, height in SIZES:
        page.set_viewport_size({"width": width, "height": height})
        assert not page.evaluate(IS_WIDER), f"{page.url} at {width} px scrolls sideways"
        assert page.evaluate(CLIPPED) == [], f"{page.url} at {width} px"
        assert not answers or page.evaluate(IN_SIGHT, answers), f"{page.url} at {width} px hides answers"
    assert violations(page) == []


@pytest.mark.parametrize("code", ["fa", "de"])
def test_from_the_terms_to_an_answer_all_is_in_the_language_of_the_recipe(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str
) -> None:
    served, language = host(files["dealt"]), LANGUAGES[code]
    served.study.save_words(language=code)
    page = windows.open(served.url, served.token("ana", consent=False))
    page.goto("/welcome")
    expect(page.locator("html")).to_have_attribute("dir", language.direction)
    check(page)
    page.locator("[name=consent]").check()
    page.get_by_role("button", name=language.find("Begin")).click()
    await_pair(page)
    expect(page.locator("#skip-word")).to_have_text(language.find("Skip"))
    expect(page.locator("#count")).to_contain_text(language.ngettext("%(n)s answered", "%(n)s answered", 0))
    check(page, "[data-answer]")
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("3")
    await_sent(page)
    assert served.study.grid().labels()["label"].tolist() == ["appropriate"]
    page.keyboard.press("p")
    expect(page.locator("#pause-reason")).to_have_text(language.find("You asked for a pause."))


@pytest.mark.parametrize("code", ["fa", "de"])
def test_an_adjudicator_decides_in_the_language_that_they_chose(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str
) -> None:
    served, language = host(files["labelled"]), LANGUAGES[code]
    page = windows.open(served.url, served.token("judy"))
    page.goto("/settings")
    page.get_by_label("Language").select_option(code)
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("h1")).to_have_text(language.find("Settings"))
    check(page)
    page.goto("/adjudicate")
    expect(page.locator("html")).to_have_attribute("lang", code)
    check(page, ".answers button")
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("1")
    expect(page.locator("#undo button")).to_contain_text(
        language.find("Undo %(noun)s %(number)s: %(label)s").partition("%")[0]
    )
    page.goto("/adjudicate/decided")
    expect(page.locator("h1")).to_have_text(language.find("Decisions"))
    check(page)
