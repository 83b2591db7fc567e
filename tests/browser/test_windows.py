"""The watch over the windows sees what it is there to see."""

from __future__ import annotations

import pytest
from playwright.sync_api import Browser

from browser.hosts import Host
from browser.windows import Windows

ELSEWHERE = "fetch('http://fcpair.example/x').catch(() => null)"


@pytest.mark.parametrize(
    ("act", "problem"),
    [
        ("console.error('oh')", "console: oh"),
        ("setTimeout(() => { throw new Error('oh') })", "error: oh"),
        (ELSEWHERE, "request: http://fcpair.example/x"),
    ],
)
def test_what_goes_wrong_or_elsewhere_is_told(browser: Browser, desk: Host, act: str, problem: str) -> None:
    windows = Windows(browser)
    page = windows.open(desk.url)
    page.evaluate(act)
    page.evaluate("() => new Promise((done) => setTimeout(done))")
    assert any(one.startswith(problem) for one in windows.close())


def test_what_is_forgiven_is_not(browser: Browser, desk: Host) -> None:
    windows = Windows(browser)
    windows.open(desk.url, forgive=("^console: oh$",)).evaluate("console.error('oh')")
    assert windows.close() == []
