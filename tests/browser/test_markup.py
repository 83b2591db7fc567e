"""Markup in texts, notes, names and guidelines is shown as it was written, and runs nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from steps.small import open_work

from browser.conftest import TERMS
from browser.hosts import Host
from browser.sitting import answer, await_pair, await_sent, enter
from browser.studies import build
from browser.windows import Windows
from fcpair.params import Adjudicate, Annotate
from fcpair.records import Role

HS = "<script>window.ran = 'HS'</script> <img src=x onerror=\"window.ran = 'HS'\">"
CN = "</p><svg onload=\"window.ran = 'CN'\"> {{ 7 * 7 }} <b>bold</b>"
NOTE = "</textarea><img src=x onerror=\"window.ran = 'note'\">"
GUIDELINES = f"# <img src=x onerror=\"window.ran = 'g'\">\n\n{HS}\n\n[press](javascript:window.ran='link')\n\n![x](http://example.org/x.png)"
NAME = "<img src=x onerror='ran=1'>"
OURS = "img[src^='data:'], svg.lead-burn-up"
THEIRS = "main img, main svg, main b, main script"
INVADED = """([theirs, ours]) => [window.ran ?? "", ...document.querySelectorAll(theirs)].filter(
  (one) => one && !one.matches?.(ours)).map((one) => one.outerHTML ?? one)"""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One HS and three CNs for two annotators, one of whom is called like markup."""
    folder = tmp_path_factory.mktemp("markup")
    return build(folder, [HS], 2, ["ana", NAME], overlap={2: 1.0}, extra=[(HS, "Why?"), ("Else.", CN)])


@pytest.fixture
def served(path: Path, host: Callable[..., Host]) -> Host:
    """The study, with terms and guidelines of the same kind."""
    terms = Annotate(
        about=GUIDELINES, warning=HS, consent=HS, thanks=GUIDELINES, contact=HS, demographics=TERMS.demographics
    )
    site = host(path, terms)
    site.study.edit_guidelines(GUIDELINES, by="lea")
    return site


def check(page: Page, *shown: str) -> None:
    """The page shows these texts as they are, and nothing in it has run or become an element."""
    for one in shown:
        expect(page.locator("main")).to_contain_text(one)
    assert page.evaluate(INVADED, [THEIRS, OURS]) == []


def test_on_the_first_visit(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("ana", consent=False))
    page.goto("/welcome")
    check(page, HS)


def label(page: Page, served: Host, name: str, label: str) -> None:
    """Answer all pairs, each with NOTE."""
    enter(page)
    for _ in open_work_of(served, name):
        expect(page.locator("#hs")).to_have_text(HS)
        check(page)
        page.locator("#note").fill(NOTE)
        page.keyboard.press("Escape")
        answer(page, label)
    expect(page.get_by_role("heading", level=1)).to_contain_text("Thank you")


def test_at_the_desk_and_at_its_end(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("ana"))
    label(page, served, "ana", "appropriate")
    check(page, HS)
    page.goto("/annotate#answers")
    await_pair(page)
    expect(page.locator("#note")).to_have_value(NOTE)
    page.keyboard.press("g")
    check(page)


def open_work_of(served: Host, name: str) -> list[int]:
    return [pair for who, pair in open_work(served.study) if who == name]


def test_before_the_adjudicator_and_the_lead(served: Host, windows: Windows) -> None:
    for name, answered in (("ana", "appropriate"), (NAME, "not_appropriate")):
        label(windows.open(served.url, served.token(name)), served, name, answered)
    served.study.grid().adjudicate(Adjudicate())
    page = windows.open(served.url, served.token("judy"))
    page.goto("/adjudicate")
    check(page, HS, NOTE)
    page.locator("#note").fill(NOTE)
    page.locator("[name=flagged]").check()
    page.locator("[name=outcome][value=appropriate]").click()
    page.get_by_text("Undo pair").wait_for()
    await_sent(page)
    page.goto("/adjudicate/decided")
    check(page, HS, NOTE)
    lead = windows.open(served.url, served.token("lea"))
    lead.goto("/lead")
    check(lead, NAME)
    lead.goto("/lead/guidelines")
    check(lead, HS, NOTE)
    lead.goto(f"/lead/pair/{served.study.grid().waiting_pairs()[0]}")
    check(lead, HS, NOTE, NAME)


def test_in_names(served: Host, windows: Windows) -> None:
    served.study.add_people(["<b>vera", "&lt;walt"], Role.VALIDATOR)
    page = windows.open(served.url, served.token("lea"))
    page.goto("/lead/people")
    check(page, NAME, "<b>vera", "&lt;walt")
    page.get_by_label(f"Change: {NAME}", exact=True).click()
    page.get_by_role("link", name=f"Retire {NAME}").click()
    check(page, NAME)


def test_in_the_guidelines(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("lea"))
    page.goto("/guidelines")
    check(page, HS)
    assert page.locator("main a[href^=javascript]").count() == 0
    page.goto("/lead/guidelines")
    page.get_by_role("button", name="Preview").click()
    page.locator(".lead-preview").wait_for()
    check(page, HS)


def test_the_policy_lets_no_script_run_even_where_one_got_in(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("lea"), forgive=("Content Security Policy",))
    page.goto("/guidelines")
    page.evaluate(
        """() => { const script = document.createElement("script"); script.textContent = "window.ran = 1";
        document.body.append(script);
        document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="window.ran = 2">'); }"""
    )
    page.wait_for_function("() => document.querySelector('body > img').complete")
    assert page.evaluate("window.ran ?? null") is None
