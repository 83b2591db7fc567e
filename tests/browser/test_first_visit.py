"""The first visit, from the invite link to the first pair."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from browser.hosts import Host
from browser.sitting import answer, await_pair, await_sent, consent
from browser.windows import Windows, come_in


def test_the_link_leads_to_the_terms_and_from_there_to_the_first_pair(desk: Host, windows: Windows) -> None:
    page = windows.open(desk.url)
    come_in(page, desk.token("ana", consent=False))
    expect(page).to_have_url(re.compile("/welcome$"))
    consent(page)
    await_pair(page)
    answer(page, "appropriate")
    await_sent(page)
    assert len(desk.study.grid().labels()) == 1
