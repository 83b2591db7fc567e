"""Pages in other languages: whole, in their direction, with no word clipped, at every size, and by the same keys."""

from __future__ import annotations

import pytest
from awaited import until
from conftest import one_short
from playwright.sync_api import Page, expect

from browser import acts
from browser.axe import violations
from browser.hosts import Serve
from browser.layout import IS_WIDER
from browser.windows import LAPTOP, PHONE, SMALL, Windows
from fcpair.web.languages import LANGUAGES
from fcpair.words import Noun

ITEMS = (
    {"row": "Cats are dull.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "It gives a case."},
    {"row": "Tea is vile.", "column": "You are vile.", "answer": "not_appropriate", "explanation": "It insults."},
)
CODES = ("fa", "de", "fr", "it", "es", "ar")
SIZES = (SMALL, PHONE, LAPTOP)
OF_LEADS = (
    *("/lead", "/lead/people", "/lead/people/overlap", "/lead/people/ana/retire", "/lead/agreement", "/lead/grid"),
    *("/lead/pair/5", "/lead/conflicts", "/lead/tiers", "/lead/guidelines", "/lead/evaluation"),
    *("/lead/downloads", "/lead/terms", "/lead/words", "/lead/imports", "/settings"),
)
CLIPPED = """() => [...document.querySelectorAll("button, h1, h2, label, summary, [role=button], .progress")]
  .filter((one) => one.checkVisibility() && !one.closest(".visually-hidden") && one.clientWidth > 1)
  .filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.outerHTML.slice(0, 120))"""
IN_SIGHT = """(selector) => [...document.querySelectorAll(selector)].every((one) => {
  const { top, bottom, left, right } = one.getBoundingClientRect();
  return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth; })"""
OPEN_ALL = "document.querySelectorAll('details').forEach((one) => { one.open = true; })"


def check(page: Page, answers: str = "") -> None:
    for size in SIZES:
        acts.resize(page, size)
        assert not page.evaluate(IS_WIDER), f"{page.url} at {size} scrolls sideways"
        assert page.evaluate(CLIPPED) == [], f"{page.url} at {size}"
        assert not answers or page.evaluate(IN_SIGHT, answers), f"{page.url} at {size} hides answers"
    assert violations(page) == []


@pytest.mark.parametrize("code", one_short("fa", "de"))
def test_from_the_terms_to_the_goal_all_is_in_the_language_of_the_recipe(
    serve: Serve, windows: Windows, code: str
) -> None:
    served, language = serve("dealt"), LANGUAGES[code]
    served.study.save_words(language=code)
    page = windows.show(served, "ana", "/welcome", consent=False)
    expect(page.locator("html")).to_have_attribute("dir", language.direction)
    check(page)
    page.locator("[name=consent]").check()
    page.get_by_role("button", name=language.find("Begin")).click()
    acts.await_pair(page)
    expect(page.locator("#skip-word")).to_have_text(language.find("Skip"))
    expect(page.locator("#count")).to_contain_text(language.ngettext("%(n)s answered", "%(n)s answered", 0))
    check(page, "[data-answer]")
    page.locator("#goal").fill("1")
    page.locator("#goal").blur()
    expect(page.locator("#reading")).to_have_text(language.gettext("%(n)s of %(limit)s today", n=0, limit=1))
    acts.press(page, "3")
    expect(page.locator("#goal-name")).to_have_text(language.find("That was your goal for today"))
    expect(page.locator("#goal-number")).to_have_text(language.number(1))
    acts.await_sent(page)
    assert served.study.grid().labels()["label"].tolist() == ["appropriate"]
    check(page)
    page.keyboard.press("c")
    page.keyboard.press("p")
    expect(page.locator("#pause-reason")).to_have_text(language.find("You asked for a pause."))
    served.study.save_practice(items=ITEMS)
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
def test_an_adjudicator_decides_pairs_and_rows_in_the_language_that_they_chose(
    serve: Serve, windows: Windows, code: str
) -> None:
    language = LANGUAGES[code]
    noun = language.noun_phrases(Noun.of("pair"))
    undo = "Undo %(noun)s %(number)s: %(label)s"
    page = windows.show(serve("labelled"), "judy", "/settings")
    page.get_by_label("Language").select_option(code)
    page.get_by_role("button", name="Change the language").click()
    expect(page.locator("h1")).to_have_text(language.find("Settings"))
    check(page)
    page.goto("/adjudicate")
    expect(page.locator("html")).to_have_attribute("lang", code)
    check(page, ".answers button")
    acts.press(page, "1")
    expect(page.locator("#undo button")).to_contain_text(language.find(undo).partition("%")[0])
    acts.await_sent(page)
    page.goto("/adjudicate/decided")
    expect(page.locator("h1")).to_have_text(language.find("Decisions"))
    check(page)
    page.goto("/adjudicate/row")
    page.wait_for_load_state("networkidle")
    expect(page.locator("html")).to_have_attribute("dir", language.direction)
    n = page.locator(".row-case").count()
    expect(page.locator("#row-count")).to_have_text(language.gettext("%(n)s of %(all)s decided", n=0, all=n))
    check(page)
    cell_id = int(page.locator(".row-case.marked [name=cell_id]").get_attribute("value") or 0)
    name = language.gettext("%(Noun)s %(number)s", **noun, number=language.digits(cell_id))
    expect(page.locator(f"#case-name-{cell_id}")).to_have_text(name)
    acts.press(page, "1")
    label = language.answer_name("not_appropriate")
    expect(page.locator(f"#case-{cell_id} .row-outcome")).to_have_text(label)
    words = language.gettext(undo, **noun, number=language.digits(cell_id), label=label)
    expect(page.locator("#undo-word")).to_have_text(words)
    expect(page.locator("#row-count")).to_have_text(language.gettext("%(n)s of %(all)s decided", n=1, all=n))
    acts.await_sent(page)
    check(page)


@pytest.mark.parametrize(
    "of", one_short(("fa", SIZES[:1]), *((code, SIZES) for code in CODES)), ids=lambda look: look[0]
)
def test_pages_of_the_lead_fit_and_are_open_to_all_in_the_language_of_the_study(
    serve: Serve, windows: Windows, of: tuple[str, tuple[dict[str, int], ...]]
) -> None:
    (code, sizes), served = of, serve("checked")
    served.study.save_words(language=code)
    page = windows.open(served.url, served.token("lea"))
    for place in OF_LEADS:
        page.goto(place)
        expect(page.locator("html")).to_have_attribute("dir", LANGUAGES[code].direction)
        if place == "/lead/grid":  # the map comes by itself
            expect(page.locator("#map-cell")).not_to_be_empty()
        for size in sizes:
            acts.resize(page, size)
            page.evaluate(OPEN_ALL)
            until(lambda: not page.evaluate(IS_WIDER))
            assert page.evaluate(CLIPPED) == [], place
        if len(sizes) > 1:
            assert violations(page) == [], place
