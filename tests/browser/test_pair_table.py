"""The table of pairs: sorted and paged in the address, ticked over pages, with columns and views to choose."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Page, expect

from browser.axe import violations
from browser.windows import Shown

OF_ONE = re.compile(r"^1–\d+ of")


@pytest.fixture
def page(shown: Shown) -> Page:
    page = shown.page(shown.host("checked"), "lea")
    page.goto("/lead/grid?size=10")
    expect(page.locator(".tabulator-row")).to_have_count(10)
    return page


def first_pair(page: Page) -> str:
    return page.locator(".tabulator-row a").first.inner_text()


def test_a_head_sorts_and_turns_the_order_and_a_page_back_is_the_one_before(page: Page) -> None:
    head = page.locator(".tabulator-col", has_text="Pair")
    expect(head).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Pair").click()
    expect(page).to_have_url(re.compile("sort=-pair"))
    expect(head).to_have_attribute("aria-sort", "descending")
    assert first_pair(page) == "24"
    page.get_by_role("button", name="Next page").click()
    expect(page.locator("#pairs-range")).to_have_text("11–20 of 24")
    assert first_pair(page) == "14"
    page.go_back()
    expect(page.locator("#pairs-range")).to_have_text("1–10 of 24")


def test_pairs_are_ticked_over_pages_and_an_act_is_about_them(page: Page) -> None:
    page.get_by_label("Tick pair 2", exact=True).click()
    page.get_by_label("Tick pair 4", exact=True).click(modifiers=["Shift"])
    page.get_by_role("button", name="Next page").click()
    page.get_by_label("Tick pair 11", exact=True).click()
    expect(page.locator("#n-ticked")).to_have_text("(4)")
    page.get_by_role("button", name="Send to an adjudicator").click()
    expect(page.locator("main")).to_contain_text("4 pairs are chosen.")
    page.get_by_role("button", name=re.compile("Cancel|Back to the pairs")).click()
    expect(page.locator("#pairs-range")).to_have_text(OF_ONE)
    page.get_by_label("All 24 pairs that match").check()
    page.get_by_role("button", name="Ask for another label").click()
    expect(page.locator("main")).to_contain_text("24 pairs are chosen.")


def test_columns_are_chosen_and_a_view_is_found_again_by_its_name(page: Page) -> None:
    page.get_by_role("button", name="Columns").click()
    page.get_by_label("Agreement", exact=True).check()
    page.get_by_label("Verdict", exact=True).uncheck()
    expect(page.get_by_role("button", name="Agreement")).to_be_visible()
    expect(page.locator(".pair-head", has_text="Verdict")).to_have_count(0)
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Views").click()
    page.get_by_label("Name of this view").fill("Doubtful")
    page.keyboard.press("Enter")
    page.goto("/lead/grid")
    page.get_by_role("button", name="Views").click()
    page.get_by_role("link", name="Doubtful").click()
    expect(page.get_by_role("button", name="Agreement")).to_be_visible()
    expect(page.locator(".tabulator-row")).to_have_count(10)
    page.get_by_role("button", name="Views").click()
    assert violations(page) == []
    page.get_by_role("button", name="Forget the view “Doubtful”").click()
    expect(page.get_by_role("link", name="Doubtful")).to_have_count(0)


def test_filters_follow_what_is_chosen_and_are_removed_one_by_one(page: Page) -> None:
    page.locator("#filters [name=tier]").select_option("gold")
    expect(page).to_have_url(re.compile("tier=gold"))
    expect(page.locator("#n-matching")).to_contain_text("match")
    page.locator("#filters [name=words]").fill("nowhere")
    expect(page.locator("#no-pairs")).to_be_visible()
    assert violations(page) == []
    page.get_by_role("link", name="Words in either text: nowhere").click()
    expect(page.locator("#no-pairs")).to_be_hidden()
    expect(page.locator("#filters [name=words]")).to_have_value("")
    page.get_by_role("link", name="Remove all filters").click()
    expect(page.locator("#pairs-range")).to_have_text("1–24 of 24")
