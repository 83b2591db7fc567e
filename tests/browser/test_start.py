"""From an empty folder to the first invited annotator, in the browser: by mouse, by keyboard, wide and narrow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from awaited import until
from conftest import one_short
from playwright.sync_api import Locator, Page, expect
from web.served import Served, serving

from browser import acts
from browser.axe import violations
from browser.hosts import EXAMPLES
from browser.windows import LAPTOP, PHONE, Windows

LINK = re.compile(r"http://\S+/join#\S+")
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

    def __init__(self, page: Page, *, by_keys: bool = False) -> None:
        self.page, self._by_keys, self.n = page, by_keys, 0

    def press(self, button: Locator) -> None:
        """Press a button with the mouse, or reach it by Tab alone and press Enter."""
        if self._by_keys:
            for _ in range(acts.MOST_TABS):
                if button.evaluate("(it) => it === document.activeElement"):
                    break
                self.page.keyboard.press("Tab")
            else:
                raise AssertionError(f"Tab does not lead to {button}")
            self.page.keyboard.press("Enter")
        else:
            button.click()
        self.n += 1

    def press_named(self, name: str) -> None:
        self.press(self.page.get_by_role("button", name=name).first)

    def choose(self, path: Path) -> None:
        """Choose a table, by the button and in the dialogue, which is the browser's own."""
        self.page.get_by_label("The table").set_input_files(path)
        self.n += 2

    def expect_step(self, name: str) -> None:
        """A page of the start, with which nothing is wrong."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(f"New study: {name.capitalize()}")
        look_closely(self.page)

    def build(self, label: str, names: str) -> str:
        """From the page of people to the links: name them, write no guidelines, build; returns the link of ann."""
        self.expect_step("people")
        self.page.get_by_label(label).fill(names)
        self.n += 2
        self.press_named("Keep and go on")
        self.expect_step("guidelines")
        self.press_named("Write them later")
        self.expect_step("start")
        self.press_named("Build the study")
        self.page.wait_for_url("**/lead/start/links", timeout=BUILD_MS)
        look_closely(self.page)
        self.press_named("Make the invite links")
        link = self.page.get_by_role("textbox", name="The link of ann").input_value()
        look_closely(self.page)
        return link


def look_closely(page: Page) -> None:
    """Find nothing wrong with the page, in any size or colours."""
    size = page.viewport_size
    assert size is not None
    assert violations(page) == []
    acts.resize(page, {"width": size["width"], "height": size["height"]})
    page.emulate_media(color_scheme="light")


@pytest.mark.torch
@pytest.mark.parametrize("size", one_short(PHONE, LAPTOP), ids=["phone", "laptop"])
def test_from_an_empty_folder_to_the_first_annotator_s_first_pair(
    served: Served, link: str, windows: Windows, size: dict[str, int], tmp_path: Path
) -> None:
    page = windows.open(served.url, viewport=size)
    presses = Presses(page)
    page.goto(link)
    presses.n += 1
    presses.expect_step("table")
    presses.choose(EXAMPLES / "corpus.csv")
    presses.press_named("Upload and go on")
    presses.expect_step("columns")
    expect(page.locator(".start-pair")).to_have_count(20)
    presses.press_named("Keep and go on")
    presses.expect_step("plan")
    presses.press_named("Keep and go on")
    invited = presses.build("Annotators", "ann\nbob\ncyn")
    presses.press_named("Copy the link of ann")
    assert presses.n <= MOST_PRESSES
    with page.expect_download() as download:
        page.get_by_role("button", name="Save all links as CSV").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    assert f"ann,annotator,{invited}" in (tmp_path / "links.csv").read_text()
    annotator = windows.open(served.url, viewport=size)
    annotator.goto(invited)
    acts.consent(annotator)
    acts.await_pair(annotator)
    page.get_by_role("link", name="Go to the overview").click()
    expect(page).to_have_url(re.compile("/lead$"))


def test_the_keyboard_alone_is_enough_from_an_empty_folder_to_the_first_answers_of_a_survey(
    served: Served, link: str, windows: Windows
) -> None:
    page = windows.open(served.url, viewport=PHONE)
    presses = Presses(page, by_keys=True)
    page.goto(link)
    presses.n += 1
    presses.expect_step("table")
    page.get_by_label("They answer a survey.").focus()
    page.keyboard.press("Space")
    presses.n += 1
    presses.choose(EXAMPLES / "survey-statements.csv")
    presses.press_named("Upload and go on")
    presses.expect_step("columns")
    expect(page.locator(".start-pair")).to_have_count(8)
    presses.press_named("Keep and go on")
    presses.expect_step("plan")
    expect(page.locator("#figures")).to_contain_text("480")
    presses.press_named("Keep and go on")
    invited = presses.build("Respondents", "ann\nbob")
    assert presses.n <= MOST_PRESSES
    respondent = windows.open(served.url, viewport=PHONE)
    respondent.goto(invited)
    acts.consent(respondent)
    expect(respondent.locator("#pair")).to_contain_text("Have you heard this said?")
    page.get_by_role("link", name="Go to the overview").click()
    expect(page).to_have_url(re.compile(r"/lead\?grid=survey$"))
    expect(page.locator("main")).to_contain_text("open")
    look_closely(page)


def test_what_is_wrong_is_said_on_the_page_and_back_and_reload_are_safe(
    served: Served, link: str, windows: Windows, tmp_path: Path
) -> None:
    page = windows.open(served.url, viewport=PHONE, forgive=(r"status of \d{3}",))
    page.goto(link)
    alert, table = page.get_by_role("alert"), page.get_by_label("The table")
    upload = page.get_by_role("button", name="Upload and go on")
    go_on = page.get_by_role("button", name="Keep and go on").first
    upload.click()
    expect(alert).to_have_text("Choose a file first.")
    wrong, large = tmp_path / "picture.csv", tmp_path / "large.csv"
    wrong.write_bytes(b"hs,cn\n\xff,b\n")
    large.touch()
    os.truncate(large, 51 * 1024 * 1024)
    for path, message in ((wrong, "UTF-8"), (large, "more than 50 MB")):
        table.set_input_files(path)
        upload.click()
        expect(alert).to_contain_text(message)
    look_closely(page)
    table.set_input_files(EXAMPLES / "corpus.csv")
    upload.click()
    page.get_by_label("Second text (candidate side)").select_option("hs")
    page.get_by_role("button", name="Show the rows").click()
    expect(alert).to_contain_text("two columns")
    look_closely(page)
    page.get_by_label("Second text (candidate side)").select_option("cn")
    go_on.click()
    figures = page.locator("#figures")
    expect(figures).to_contain_text("5,184")
    page.get_by_label("Annotators").fill("1")
    expect(figures).to_contain_text("there are 1 annotators")
    page.get_by_label("Annotators").fill("4")
    page.get_by_label("Seconds for a pair").fill("30")
    expect(figures).to_contain_text("13.2 hours")
    go_on.click()
    page.get_by_label("Annotators").fill("ann\nann")
    go_on.click()
    expect(alert).to_contain_text("named twice")
    look_closely(page)
    page.get_by_role("link", name="Back to plan").click()
    expect(page.get_by_label("Seconds for a pair")).to_have_value("30")
    page.reload()
    expect(page.get_by_label("Seconds for a pair")).to_have_value("30")
