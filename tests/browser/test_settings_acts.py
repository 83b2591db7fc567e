"""A lead changes the settings of a study that people work in: overlap, words, terms, and the rule of Diamond."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import one_short
from playwright.sync_api import Page, expect

from browser.axe import violations
from browser.hosts import Host
from browser.sitting import enter
from browser.windows import PHONE, WIDE, Windows
from fcpair.params import Annotate, Assign, Partition
from fcpair.words import Words


def press(page: Page, name: str | re.Pattern[str]) -> None:
    """Press a button of the page's own part, and wait for what comes."""
    page.locator("main").get_by_role("button", name=name).click()
    page.wait_for_load_state()
    assert violations(page) == []


@pytest.mark.parametrize("size", one_short(PHONE, WIDE), ids=["phone", "wide"])
def test_a_lead_goes_through_all_acts_on_settings(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, size: dict[str, int]
) -> None:
    served = host(files["dealt"])
    study, done = served.study, re.compile("Done")
    ana = windows.open(served.url, served.token("ana"))
    enter(ana)
    page = windows.open(served.url, served.token("lea"))
    page.set_viewport_size({"width": size["width"], "height": size["height"]})

    page.goto("/lead/people")
    page.get_by_role("link", name="Assign further labels").click()
    page.get_by_label("Pairs with 2 labels, in percent").fill("50")
    press(page, "Show what it would add")
    press(page, re.compile("^Assign [0-9]+ further labels"))
    expect(page.locator(".notice[role=status]")).to_contain_text(done)
    assert study.grid().effective_options(Assign).overlap[2] == 0.5

    page.goto("/lead/guidelines")
    page.get_by_role("link", name="the words of questions, options and sides").click()
    page.get_by_label("Option not_sure", exact=True).fill("I cannot tell")
    press(page, "Preview")
    expect(page.locator(".lead-preview")).to_contain_text("I cannot tell")
    press(page, "Save these words")
    expect(page.locator(".notice[role=status]")).to_contain_text(done)
    assert study.effective_options(Words).options == {"not_sure": "I cannot tell"}

    page.goto("/lead/guidelines")
    page.get_by_role("link", name=re.compile("^the terms")).click()
    page.get_by_label("Sentence that people agree to").fill("I agree to the new terms.")
    page.get_by_label(re.compile("Ask everybody again")).check()
    press(page, "Show what would change")
    press(page, "Save these terms")
    expect(page.locator(".notice[role=status]")).to_contain_text(done)
    assert study.effective_options(Annotate).consent == "I agree to the new terms."

    ana.goto("/annotate")
    expect(ana).to_have_url(re.compile("/welcome$"))
    ana.get_by_label("I agree to the new terms.").check()
    ana.get_by_role("button", name="Begin").click()
    expect(ana.get_by_role("button", name=re.compile("I cannot tell"))).to_be_visible()


@pytest.mark.parametrize("size", one_short(PHONE, WIDE), ids=["phone", "wide"])
def test_a_lead_chooses_the_rule_of_diamond(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, size: dict[str, int]
) -> None:
    served = host(files["checked"])
    page = windows.open(served.url, served.token("lea"))
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    page.goto("/lead/conflicts")
    page.get_by_role("link", name="The rule of Diamond").click()
    press(page, re.compile("^Use “majority”"))
    expect(page.locator(".notice[role=status]")).to_contain_text("Done")
    assert served.study.grid().effective_options(Partition) == Partition("majority")
