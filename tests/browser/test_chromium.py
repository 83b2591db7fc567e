"""The browser of the tests is as Playwright would have it, and draws no pages but ours."""

from __future__ import annotations

import re

from playwright.sync_api import Browser

from browser.hosts import Host
from browser.windows import Windows


def test_all_that_playwright_switches_off_is_off(browser: Browser) -> None:
    line = browser.new_browser_cdp_session().send("SystemInfo.getInfo")["commandLine"]
    of_playwright, ours = (set(one.split(",")) for one in re.findall(r"--disable-features=(\S+)", line))
    assert of_playwright - ours == set()


def test_a_window_has_no_pages_that_nobody_sees(browser: Browser, windows: Windows, desk: Host) -> None:
    windows.open(desk.url, desk.token("ana")).goto("/settings")
    targets = browser.new_browser_cdp_session().send("Target.getTargets")["targetInfos"]
    assert [one["url"] for one in targets if one["type"] != "service_worker"] == [f"{desk.url}/settings"]
