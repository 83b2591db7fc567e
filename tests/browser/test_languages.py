"""Pages in other languages: whole, in their direction, with no word clipped, at every size, and by the same keys."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser.axe import IS_WIDER, violations
from browser.hosts import Host
from browser.sitting import HASTE_MS, await_pair, await_sent
from browser.windows import Windows
from fcpair.web.languages import LANGUAGES
from fcpair.words import Noun

ITEMS = (
    {"row": "Cats are dull.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "It gives a case."},
    {"row": "Tea is vile.", "column": "You are vile.", "answer": "not_appropriate", "explanation": "It insults."},
)
PAIR = {code: language.noun_phrases(Noun.of("pair")) for code, language in LANGUAGES.items()}
SIZES = ((320, 568), (375, 667), (1440, 900))
CLIPPED = """() => [...document.querySelectorAll("button, h1, h2, label, summary, [role=button], .progress")]
  .filter((one) => one.checkVisibility() && !one.closest(".visually-hidden") && one.clientWidth > 1)
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


@pytest.mark.parametrize("code", one_short("fa", "de"))
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


@pytest.mark.parametrize("code", one_short("fa", "de"))
def test_practice_is_in_the_language_of_the_recipe(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str
) -> None:
    served, language = host(files["dealt"]), LANGUAGES[code]
    served.study.save_words(language=code)
    served.study.save_practice(items=ITEMS)
    page = windows.open(served.url, served.token("ana"))
    page.goto("/practice")
    expect(page.locator("html")).to_have_attribute("dir", language.direction)
    expect(page.locator("h1")).to_have_text(language.find("Practice"))
    expect(page.locator(".answers")).to_contain_text(language.answer_name("not_sure"))
    check(page)
    page.keyboard.press("2")
    expect(page.locator("#result-name")).to_contain_text(language.answer_name("not_sure"))
    check(page)
    page.goto(f"/practice?n={len(ITEMS) + 1}")
    expect(page.locator("main")).to_contain_text(language.find("Once more"))
    check(page)


@pytest.mark.parametrize("code", one_short("fa", "de"))
def test_the_goal_of_today_is_in_the_language_of_the_recipe(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str
) -> None:
    served, language = host(files["dealt"]), LANGUAGES[code]
    served.study.save_words(language=code)
    page = windows.open(served.url, served.token("ana"))
    page.goto("/annotate")
    await_pair(page)
    page.locator("#goal").fill("1")
    page.locator("#goal").blur()
    expect(page.locator("#reading")).to_have_text(language.gettext("%(n)s of %(limit)s today", n=0, limit=1))
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("3")
    expect(page.locator("#goal-name")).to_have_text(language.find("That was your goal for today"))
    expect(page.locator("#goal-number")).to_have_text(language.number(1))
    await_sent(page)
    check(page)


@pytest.mark.parametrize("code", one_short("fa", "de"))
def test_all_of_a_row_is_decided_in_the_language_of_the_recipe(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, code: str
) -> None:
    served, language = host(files["labelled"]), LANGUAGES[code]
    served.study.save_words(language=code)
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate/row")
    page.wait_for_load_state("networkidle")
    expect(page.locator("html")).to_have_attribute("dir", language.direction)
    n = page.locator(".row-case").count()
    expect(page.locator("#row-count")).to_have_text(language.gettext("%(n)s of %(all)s decided", n=0, all=n))
    check(page)
    cell_id = int(page.locator(".row-case.marked [name=cell_id]").get_attribute("value") or 0)
    name = language.gettext("%(Noun)s %(number)s", **PAIR[code], number=language.digits(cell_id))
    expect(page.locator(f"#case-name-{cell_id}")).to_have_text(name)
    page.wait_for_timeout(HASTE_MS)
    page.keyboard.press("1")
    label = language.answer_name("not_appropriate")
    expect(page.locator(f"#case-{cell_id} .row-outcome")).to_have_text(label)
    undo = "Undo %(noun)s %(number)s: %(label)s"
    words = language.gettext(undo, **PAIR[code], number=language.digits(cell_id), label=label)
    expect(page.locator("#undo-word")).to_have_text(words)
    expect(page.locator("#row-count")).to_have_text(language.gettext("%(n)s of %(all)s decided", n=1, all=n))
    await_sent(page)
    check(page)


@pytest.mark.parametrize("code", one_short("fa", "de"))
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
