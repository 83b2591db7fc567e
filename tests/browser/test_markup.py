"""Markup in texts, notes, names and guidelines is shown as it was written, and runs nothing."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page, expect
from steps.small import open_work

from browser import acts
from browser.hosts import TERMS, Host, Serve, build
from browser.windows import Windows
from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role

HS = "<script>window.ran = 'HS'</script> <img src=x onerror=\"window.ran = 'HS'\">"
CN = "</p><svg onload=\"window.ran = 'CN'\"> {{ 7 * 7 }} <b>bold</b>"
NOTE = "</textarea><img src=x onerror=\"window.ran = 'note'\">"
GUIDELINES = f"# <img src=x onerror=\"window.ran = 'g'\">\n\n{HS}\n\n[press](javascript:window.ran='link')\n\n![x](http://example.org/x.png)"
NAME = "<img src=x onerror='ran=1'>"
OURS = "img[src^='data:'], .days svg"
THEIRS = "main img, main svg, main b, main script"
INVADED = """([theirs, ours]) => [window.ran ?? "", ...document.querySelectorAll(theirs)].filter(
  (one) => one && !one.matches?.(ours)).map((one) => one.outerHTML ?? one)"""
INVADE = """() => { const script = document.createElement("script"); script.textContent = "window.ran = 1";
  document.body.append(script);
  document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="window.ran = 2">'); }"""


def check(page: Page, *shown: str) -> None:
    """The page shows these texts as they are, and nothing in it has run or become an element."""
    for text in shown:
        expect(page.locator("main")).to_contain_text(text)
    assert page.evaluate(INVADED, [THEIRS, OURS]) == []


def label(page: Page, served: Host, name: str, label: str) -> None:
    acts.enter(page)
    for _ in [pair for who, pair in open_work(served.study) if who == name]:
        expect(page.locator("#hs")).to_have_text(HS)
        check(page)
        page.locator("#note").fill(NOTE)
        page.keyboard.press("Escape")
        acts.answer(page, label)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")
    check(page, HS)


def test_markup_is_text_from_the_first_visit_to_the_pages_of_the_lead(
    serve: Serve, windows: Windows, tmp_path: Path
) -> None:
    """One HS and three CNs for two annotators, one of whom is called like markup; terms and guidelines are, too."""
    own = {"about": GUIDELINES, "warning": HS, "consent": HS, "thanks": GUIDELINES, "contact": HS}
    path = build(tmp_path, [HS], 2, ["ana", NAME], overlap={2: 1.0}, extra=[(HS, "Why?"), ("Else.", CN)])
    served = serve(path, Annotate(**own, demographics=TERMS.demographics))  # type: ignore[arg-type]
    served.study.edit_guidelines(GUIDELINES, by="lea")
    served.study.add_people(["<b>vera", "&lt;walt"], Role.VALIDATOR)
    page = windows.show(served, "ana", "/welcome", consent=False)
    check(page, HS)
    page.locator("[name=consent]").check()
    page.locator("form[action='/welcome'] [type=submit]").click()
    acts.await_pair(page)
    label(page, served, "ana", "appropriate")
    acts.enter(page, "/annotate#answers")
    expect(page.locator("#note")).to_have_value(NOTE)
    page.keyboard.press("g")
    check(page)
    label(windows.open(served.url, served.token(NAME)), served, NAME, "not_appropriate")
    served.study.grid().adjudicate(Adjudicate())
    page = windows.show(served, "judy", "/adjudicate")
    check(page, HS, NOTE)
    page.locator("#note").fill(NOTE)
    page.locator("[name=flagged]").check()
    page.locator("[name=outcome][value=appropriate]").click()
    page.get_by_text("Undo pair").wait_for()
    acts.await_sent(page)
    page.goto("/adjudicate/decided")
    check(page, HS, NOTE)

    lead = windows.show(served, "lea", "/lead", forgive=("Content Security Policy",))
    check(lead, NAME)
    lead.goto(f"/lead/pair/{served.study.grid().waiting_pairs()[0]}")
    check(lead, HS, NOTE, NAME)
    lead.goto("/lead/people")
    check(lead, NAME, "<b>vera", "&lt;walt")
    lead.get_by_role("button", name=f"Actions on {NAME}", exact=True).click()
    lead.get_by_role("link", name=f"Retire {NAME}").click()
    check(lead, NAME)
    lead.goto("/lead/guidelines")
    check(lead, HS, NOTE)
    lead.get_by_role("button", name="Preview").click()
    lead.locator(".lead-preview").wait_for()
    check(lead, HS)
    lead.goto("/guidelines")
    check(lead, HS)
    assert lead.locator("main a[href^=javascript]").count() == 0
    lead.evaluate(INVADE)  # the policy lets no script run even where one got in
    lead.wait_for_function("() => document.querySelector('body > img').complete")
    assert lead.evaluate("window.ran ?? null") is None
