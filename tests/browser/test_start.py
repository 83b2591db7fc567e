"""From an empty folder to the first invited annotator, in the browser: by mouse, by keyboard, wide and narrow."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from awaited import until
from conftest import one_short
from playwright.sync_api import Locator, Page, expect
from web.served import Served, serving

from browser.axe import violations
from browser.sitting import await_pair, consent
from browser.studies import EXAMPLES
from browser.windows import PHONE, Windows

LINK = re.compile(r"http://\S+/join#\S+")
LAPTOP = {"width": 1366, "height": 625}
STATUS_ERRORS = (r"status of \d{3}",)  # which the browser tells in its console
MOST_PRESSES = 15
BUILD_MS = 120_000


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """`fcpair serve` in an empty folder."""
    monkeypatch.delenv("FCPAIR_URL", raising=False)
    with serving(tmp_path / "study.db") as start:
        served = start()
        until(lambda: "Ctrl-C" in served.output.read_text())
        yield served


@pytest.fixture
def link(served: Served) -> str:
    """The link that it printed."""
    found = LINK.search(served.output.read_text())
    assert found
    return found[0]


class Presses:
    """Presses what somebody would press, and counts it; a pasted text counts as one."""

    def __init__(self, page: Page, look: Callable[[Page], None]) -> None:
        self.page, self._look, self.n = page, look, 0

    def press(self, button: Locator) -> None:
        button.click()
        self.n += 1

    def paste(self, box: Locator, text: str) -> None:
        self.press(box)
        box.fill(text)
        self.n += 1

    def choose(self, path: Path) -> None:
        self.page.get_by_label("The table").set_input_files(path)
        self.n += 2  # the button, and the file in the dialogue

    def expect_step(self, name: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_have_text(f"New study: {name.capitalize()}")
        self._look(self.page)


def look_closely(page: Page) -> None:
    """Find nothing wrong with the page, in any size or colours."""
    size = page.viewport_size
    assert size is not None
    assert violations(page) == []
    page.set_viewport_size(size)
    page.emulate_media(color_scheme="light")


def go_on(page: Page) -> Locator:
    return page.get_by_role("button", name="Keep and go on").first


@pytest.mark.torch
@pytest.mark.parametrize("size", one_short(PHONE, LAPTOP), ids=["phone", "laptop"])
def test_from_an_empty_folder_to_the_first_annotator_s_first_pair(
    served: Served, link: str, windows: Windows, size: dict[str, int], tmp_path: Path
) -> None:
    page = windows.open(served.url, viewport=size)
    presses = Presses(page, look_closely)
    page.goto(link)
    presses.n += 1
    presses.expect_step("table")
    presses.choose(EXAMPLES / "corpus.csv")
    presses.press(page.get_by_role("button", name="Upload and go on"))
    presses.expect_step("columns")
    expect(page.locator(".start-pair")).to_have_count(20)
    presses.press(go_on(page))
    presses.expect_step("plan")
    presses.press(go_on(page))
    presses.expect_step("people")
    presses.paste(page.get_by_label("Annotators"), "ann\nbob\ncyn")
    presses.press(go_on(page))
    presses.expect_step("guidelines")
    presses.press(page.get_by_role("button", name="Write them later"))
    presses.expect_step("start")
    presses.press(page.get_by_role("button", name="Build the study"))
    page.wait_for_url("**/lead/start/links", timeout=BUILD_MS)
    look_closely(page)
    presses.press(page.get_by_role("button", name="Make the invite links"))
    look_closely(page)
    invited = page.get_by_role("textbox", name="The link of ann").input_value()
    presses.press(page.get_by_role("button", name="Copy the link of ann"))
    assert presses.n <= MOST_PRESSES
    with page.expect_download() as download:
        page.get_by_role("button", name="Save all links as CSV").click()
    download.value.save_as(tmp_path / "links.csv")
    assert f"ann,annotator,{invited}" in (tmp_path / "links.csv").read_text()
    annotator = windows.open(served.url, viewport=size)
    annotator.goto(invited)
    consent(annotator)
    await_pair(annotator)
    page.get_by_role("link", name="Go to the overview").click()
    expect(page).to_have_url(re.compile("/lead$"))


@pytest.mark.torch
def test_the_keyboard_alone_is_enough(served: Served, link: str, windows: Windows) -> None:
    page = windows.open(served.url, viewport=LAPTOP)
    page.goto(link)
    page.get_by_label("The table").set_input_files(EXAMPLES / "corpus.csv")  # the dialogue is the browser's
    for name in ("Upload and go on", "Keep and go on", "Keep and go on", "Keep and go on", "Write them later"):
        page.wait_for_load_state()
        before = page.url
        reach(page, name)
        page.keyboard.press("Enter")
        expect(page).not_to_have_url(before)
    reach(page, "Build the study")
    page.keyboard.press("Enter")
    page.wait_for_url("**/lead/start/links", timeout=BUILD_MS)
    reach(page, "Make the invite links")
    page.keyboard.press("Enter")
    expect(page.get_by_role("textbox", name="The link of a1 (annotator)")).to_have_value(LINK)


@pytest.mark.long  # `test_whole_study.py` begins a survey, too
def test_a_survey_from_an_empty_folder_to_its_first_answers(served: Served, link: str, windows: Windows) -> None:
    page = windows.open(served.url, viewport=PHONE)
    presses = Presses(page, look_closely)
    page.goto(link)
    presses.n += 1
    presses.expect_step("table")
    presses.press(page.get_by_label("They answer a survey."))
    presses.choose(EXAMPLES / "survey-statements.csv")
    presses.press(page.get_by_role("button", name="Upload and go on"))
    presses.expect_step("columns")
    expect(page.locator(".start-pair")).to_have_count(8)
    presses.press(go_on(page))
    presses.expect_step("plan")
    expect(page.locator("#figures")).to_contain_text("480")
    presses.press(go_on(page))
    presses.expect_step("people")
    presses.paste(page.get_by_label("Respondents"), "ann\nbob")
    presses.press(go_on(page))
    presses.expect_step("guidelines")
    presses.press(page.get_by_role("button", name="Write them later"))
    presses.expect_step("start")
    presses.press(page.get_by_role("button", name="Build the study"))
    page.wait_for_url("**/lead/start/links", timeout=BUILD_MS)
    presses.press(page.get_by_role("button", name="Make the invite links"))
    invited = page.get_by_role("textbox", name="The link of ann").input_value()
    assert presses.n <= MOST_PRESSES
    respondent = windows.open(served.url, viewport=PHONE)
    respondent.goto(invited)
    consent(respondent)
    expect(respondent.locator("#pair")).to_contain_text("Have you heard this said?")
    page.get_by_role("link", name="Go to the overview").click()
    expect(page).to_have_url(re.compile("/lead$"))
    expect(page.locator("main")).to_contain_text("open")
    look_closely(page)


def reach(page: Page, name: str) -> None:
    """Move the focus to a button of that name by Tab alone."""
    for _ in range(60):
        if page.evaluate("document.activeElement.innerText?.trim()") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"Tab does not lead to {name}")


def test_what_is_wrong_is_said_on_the_page_and_back_and_reload_are_safe(
    served: Served, link: str, windows: Windows, tmp_path: Path
) -> None:
    page = windows.open(served.url, viewport=PHONE, forgive=STATUS_ERRORS)
    page.goto(link)
    upload = page.get_by_role("button", name="Upload and go on")
    upload.click()
    expect(page.get_by_role("alert")).to_have_text("Choose a file first.")
    wrong = tmp_path / "picture.csv"
    wrong.write_bytes(b"hs,cn\n\xff,b\n")
    page.get_by_label("The table").set_input_files(wrong)
    upload.click()
    expect(page.get_by_role("alert")).to_contain_text("UTF-8")
    large = tmp_path / "large.csv"
    large.touch()
    os.truncate(large, 51 * 1024 * 1024)
    page.get_by_label("The table").set_input_files(large)
    upload.click()
    expect(page.get_by_role("alert")).to_contain_text("more than 50 MB")
    look_closely(page)
    page.get_by_label("The table").set_input_files(EXAMPLES / "corpus.csv")
    upload.click()
    page.get_by_label("Second text (candidate side)").select_option("hs")
    page.get_by_role("button", name="Show the rows").click()
    expect(page.get_by_role("alert")).to_contain_text("two columns")
    look_closely(page)
    page.get_by_label("Second text (candidate side)").select_option("cn")
    go_on(page).click()
    expect(page.locator("#figures")).to_contain_text("5,184")
    page.get_by_label("Annotators").fill("1")
    expect(page.locator("#figures")).to_contain_text("there are 1 annotators")
    page.get_by_label("Annotators").fill("4")
    page.get_by_label("Seconds for a pair").fill("30")
    expect(page.locator("#figures")).to_contain_text("13.2 hours")
    go_on(page).click()
    page.get_by_label("Annotators").fill("ann\nann")
    go_on(page).click()
    expect(page.get_by_role("alert")).to_contain_text("named twice")
    look_closely(page)
    page.get_by_role("link", name="Back to plan").click()
    expect(page.get_by_label("Seconds for a pair")).to_have_value("30")
    page.reload()
    expect(page.get_by_label("Seconds for a pair")).to_have_value("30")
