"""Qualifying by keyboard alone: after the last pair comes what was right; then the shard, control pairs among it."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import expect
from steps.people.known import assign_with_known_pairs

from browser.axe import violations
from browser.hosts import Host
from browser.sitting import await_pair
from browser.windows import Windows

NARROW = {"width": 320, "height": 568}


def test_who_has_qualified_reads_what_was_right_and_begins(desk: Host, windows: Windows, tmp_path: Path) -> None:
    assign_with_known_pairs(desk.study, tmp_path)
    page = windows.open(desk.url, desk.token("ana"), viewport=NARROW)
    for _ in range(2):
        page.goto("/annotate")
        await_pair(page)
        page.wait_for_timeout(400)
        page.keyboard.press("2")
        page.wait_for_timeout(400)
    page.wait_for_url("**/qualification")
    expect(page.get_by_role("status")).to_contain_text("decide how to go on")
    assert violations(page) == []
    desk.study.grid().desk.let_on("ana")
    page.reload()
    page.wait_for_load_state()
    page.keyboard.press("Enter")
    await_pair(page)
    kept = page.evaluate("JSON.stringify({...localStorage})") + page.content()
    assert "known:controls" not in kept
