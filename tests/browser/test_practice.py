"""The practice round by keyboard alone: each answer is explained, nothing is kept, and the real pairs come after it."""

from __future__ import annotations

from playwright.sync_api import expect
from steps.small import dump

from browser.axe import violations
from browser.hosts import Host
from browser.sitting import await_pair
from browser.windows import Windows

NARROW = {"width": 320, "height": 568}
ITEMS = (
    {"row": "Cats are dull.", "column": "Mine juggles.", "answer": "appropriate", "explanation": "It gives a case."},
    {"row": "Tea is vile.", "column": "You are vile.", "answer": "not_appropriate", "explanation": "It insults."},
)


def test_a_practice_round_is_done_by_keys_and_leads_to_the_first_pair(desk: Host, windows: Windows) -> None:
    desk.study.save_practice(items=ITEMS)
    page = windows.open(desk.url, desk.token("ana"), viewport=NARROW)
    before = dump(desk.study)
    page.goto("/practice")
    page.keyboard.press("3")
    result = page.get_by_role("heading", name="The guidelines say the same: “appropriate”")
    expect(result).to_be_focused()
    expect(page.locator("#result")).to_contain_text("It gives a case.")
    assert violations(page) == []
    page.keyboard.press("Enter")
    expect(page.get_by_text("Pair 2 of 2, for practice")).to_be_visible()
    page.wait_for_load_state()
    page.keyboard.press("?")
    expect(page.locator(".keys dl")).to_be_visible()
    page.keyboard.press("2")
    expect(page.locator("#result-name")).to_contain_text("The guidelines say “not appropriate”; you said “not sure”")
    page.wait_for_load_state()
    page.keyboard.press("u")
    expect(page.locator("#result")).to_have_count(0)
    page.wait_for_load_state()
    page.keyboard.press("1")
    expect(page.locator("#result-name")).to_contain_text("The guidelines say the same")
    page.wait_for_load_state()
    page.keyboard.press("Enter")
    expect(page.get_by_text("Nothing of it was kept.")).to_be_visible()
    assert dump(desk.study) == before
    page.wait_for_load_state()
    page.keyboard.press("Enter")
    await_pair(page)
