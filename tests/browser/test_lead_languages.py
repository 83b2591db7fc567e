"""The lead's pages in other languages: whole, in their direction, with no word clipped, at every size."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from awaited import until
from conftest import one_short
from playwright.sync_api import expect

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.test_languages import CLIPPED, SIZES
from browser.windows import Windows
from fcpair.web.languages import LANGUAGES

CODES = ("fa", "de", "fr", "it", "es", "ar")
PLACES = (
    "/lead",
    "/lead/people",
    "/lead/people/overlap",
    "/lead/people/ana/retire",
    "/lead/agreement",
    "/lead/grid",
    "/lead/pair/5",
    "/lead/conflicts",
    "/lead/conflicts/diamond",
    "/lead/guidelines",
    "/lead/evaluation",
    "/lead/downloads",
    "/lead/terms",
    "/lead/words",
    "/lead/imports",
    "/settings",
)


@pytest.mark.parametrize("size", one_short(*SIZES))
@pytest.mark.parametrize("code", one_short(*CODES))
def test_pages_of_the_lead_fit_in_the_language_of_the_study(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str, size: tuple[int, int]
) -> None:
    served, language = host(files["checked"]), LANGUAGES[code]
    served.study.save_words(language=code)
    page = windows.open(served.url, served.token("lea"))
    page.set_viewport_size({"width": size[0], "height": size[1]})
    for place in PLACES:
        page.goto(place)
        page.wait_for_load_state("networkidle")
        expect(page.locator("html")).to_have_attribute("dir", language.direction)
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        until(lambda: not page.evaluate(IS_WIDER))
        assert page.evaluate(CLIPPED) == [], place


@pytest.mark.long
@pytest.mark.parametrize("code", CODES)
def test_axe_finds_nothing_on_pages_of_the_lead_in_any_language(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str
) -> None:
    served = host(files["checked"])
    served.study.save_words(language=code)
    page = windows.open(served.url, served.token("lea"))
    for place in PLACES:
        page.goto(place)
        page.wait_for_load_state("networkidle")
        assert violations(page) == [], place
