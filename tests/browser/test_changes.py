"""What somebody sees whose page is open while their task changes: another role, or pairs dealt anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.hosts import Host
from browser.sitting import HASTE_MS, answer, await_sent, by_key, enter
from browser.windows import Windows
from fcpair.params import Validate
from fcpair.records import Role
from fcpair.store.answers import judgements

REFUSED = ("status of 40[39]", "status of 422", r"Cache.add\(\) failed")
LABELS, VERDICTS = ["not appropriate", "not sure", "appropriate"], ["agree", "disagree"]
NOT_NEEDED = (
    "This pair is not assigned to you, or no longer is; somebody else has it now, and your answer was not needed."
)


def sit(served: Host, windows: Windows, name: str, path: str) -> Page:
    page = windows.open(served.url, served.token(name), forgive=REFUSED)
    page.on("dialog", lambda dialog: dialog.accept())
    enter(page, path)
    return page


def offered(page: Page) -> list[str]:
    """The answers that can be given, but for a skip."""
    return [one.inner_text().split(maxsplit=1)[1] for one in page.locator(".answers button:visible").all()]


@pytest.mark.parametrize("blind", [True, False])
def test_pairs_that_are_dealt_anew_blind_or_not_are_asked_about_as_they_are_dealt(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows, blind: bool
) -> None:
    served = host(files["checking"])
    served.study.grid().assign_validation(Validate(blind=not blind, seed=1), redo=True)
    page = sit(served, windows, "vera", "/validate")
    before, now = (VERDICTS, LABELS) if blind else (LABELS, VERDICTS)
    assert offered(page) == before
    served.study.grid().assign_validation(Validate(blind=blind, seed=1), redo=True)
    page.wait_for_timeout(HASTE_MS)
    by_key(page, f'[data-answer="{"agree" if blind else "appropriate"}"]')
    expect(page.locator("#banner-text")).to_have_text(NOT_NEEDED)
    expect(page.locator(f".answers [data-answer={now[0].replace(' ', '_')}]")).to_be_visible()
    assert offered(page) == now
    page.locator("summary", has_text="Keys").click()
    assert page.locator("dl [data-of-form] dd").all_inner_texts() == now
    answer(page, "appropriate" if blind else "agree")
    await_sent(page)
    with served.study._store.read() as tx:
        assert len(judgements.current_verdicts(tx)) == 1


def test_who_has_another_role_by_now_is_told_and_led_there(
    host: Callable[..., Host], files: dict[str, Path], windows: Windows
) -> None:
    served = host(files["checking"])
    page = sit(served, windows, "vera", "/validate")
    served.study.hand_over("vera", None)
    served.study.change_role("vera", Role.ADJUDICATOR)
    answer(page, "agree")
    banner = page.locator("#banner")
    expect(banner).to_contain_text("Your task has changed since this page was loaded, or somebody else has signed in")
    expect(banner).to_contain_text("One answer is kept in this browser")
    expect(banner).not_to_contain_text("not signed in")
    page.get_by_role("link", name="Go on").click()
    page.wait_for_url("**/adjudicate")
