"""What somebody has typed outlives a session that ended meanwhile, and a server that was away; nobody else sees it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from browser.hosts import Host
from browser.sitting import await_sent, decide
from browser.windows import Windows, come_in
from fcpair.grid import AdjudicationQueue

SIGNED_OUT = ("status of 40[13]",)
GUIDELINES = "# Rules\n\nRead both texts.\n\n" + "راهنما " * 40
DRAFTS = "() => Object.keys(sessionStorage).filter((key) => key.startsWith('fcpair-draft')).length"


@pytest.fixture
def served(host: Callable[..., Host], files: dict[str, Path]) -> Host:
    return host(files["labelled"])


def type_guidelines(served: Host, windows: Windows) -> Page:
    page = windows.open(served.url, served.token("lea"), forgive=SIGNED_OUT)
    page.goto("/lead/guidelines")
    page.locator("#body").fill(GUIDELINES)
    return page


def test_guidelines_are_in_their_field_again_after_the_session_has_ended(served: Host, windows: Windows) -> None:
    page = type_guidelines(served, windows)
    served.study.access.rotate_secret()
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/join")
    come_in(page, served.token("lea"))
    page.goto("/lead/guidelines")
    expect(page.locator("#body")).to_have_value(GUIDELINES)
    restored = "The text that you typed here and did not save is back in the field"
    expect(page.locator("#draft-said")).to_contain_text(restored)
    page.get_by_role("button", name="Save").click()
    page.wait_for_url("**/lead/guidelines?run=*")
    assert served.study.guidelines == (2, GUIDELINES)
    expect(page.locator("#draft-said")).to_be_hidden()
    assert page.evaluate(DRAFTS) == 0


def test_they_can_be_dropped(served: Host, windows: Windows) -> None:
    page = type_guidelines(served, windows)
    page.reload()
    expect(page.locator("#body")).to_have_value(GUIDELINES)
    page.get_by_role("button", name="Discard it").click()
    expect(page.locator("#body")).to_have_value(served.study.guidelines[1])
    page.reload()
    expect(page.locator("#body")).to_have_value(served.study.guidelines[1])


def test_who_leaves_takes_along_what_they_typed(served: Host, windows: Windows) -> None:
    page = type_guidelines(served, windows)
    page.get_by_role("button", name="Leave").click()
    asked = page.get_by_role("dialog", name="Leave now?")
    expect(asked).to_contain_text("What you have begun and not saved will be deleted.")
    asked.get_by_role("button", name="Stay").click()
    expect(asked).to_be_hidden()
    assert page.evaluate(DRAFTS) == 1
    page.get_by_role("button", name="Leave").click()
    page.keyboard.press("l")
    page.wait_for_url("**/join")
    assert page.evaluate(DRAFTS) == 0


def test_a_note_on_a_conflict_is_there_again_after_the_session_has_ended(served: Host, windows: Windows) -> None:
    page = windows.open(served.url, served.token("judy"), forgive=SIGNED_OUT)
    page.goto("/adjudicate")
    page.keyboard.press("n")
    page.locator("#note").fill("They answer another claim.")
    served.study.access.rotate_secret()
    page.reload()
    page.wait_for_url("**/join")
    come_in(page, served.token("judy"))
    page.goto("/adjudicate")
    expect(page.locator("#note")).to_have_value("They answer another claim.")
    expect(page.locator("#note")).to_be_visible()
    decide(page, "[name=outcome][value=appropriate]")
    assert page.evaluate(DRAFTS) == 0


def test_a_note_that_was_sent_without_a_session_is_no_draft_any_more(served: Host, windows: Windows) -> None:
    page = windows.open(
        served.url, served.token("judy"), forgive=(*SIGNED_OUT, "Blocked attempt to show a 'beforeunload'")
    )
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/adjudicate")
    page.locator("#note").fill("They answer another claim.")
    served.study.access.rotate_secret()
    page.locator("[name=outcome][value=appropriate]").click()
    expect(page.get_by_role("alert")).to_contain_text("sent when you sign in again")
    come_in(page, served.token("judy"))
    page.goto("/adjudicate")
    await_sent(page)
    (decided,) = AdjudicationQueue(served.study.grid()).decisions()
    assert decided.note == "They answer another claim."
    assert page.evaluate(DRAFTS) == 0
