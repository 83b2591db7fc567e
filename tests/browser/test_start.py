"""From an empty folder to the first invited annotator, in the browser: by mouse, by keyboard, wide and narrow."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

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
MOST_PRESSES = 16
BUILD_MS = 120_000


@pytest.fixture
def served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    """`fcpair serve` in an empty folder."""
    monkeypatch.delenv("FCPAIR_URL", raising=False)
    with serving(tmp_path / "study.db") as start:
        served = start()
        until(lambda: "Ctrl-C" in served.output.read_text())
        urlopen(f"{served.url}/join", timeout=60).close()  # it loads what the pages need at the first
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
        """Choose a table, by the button and in the dialogue, which is the browser's own; it goes up at once."""
        self.page.get_by_label("The table").set_input_files(path)
        self.n += 2
        expect(self.page.locator(".start-tables h2")).to_have_text(path.name)
        look_closely(self.page)

    def expect_step(self, name: str) -> None:
        """A page of the start, with which nothing is wrong; except on phones, its way on is in sight."""
        expect(self.page.get_by_role("heading", level=1)).to_have_text(f"New study: {name.capitalize()}")
        size = self.page.viewport_size
        if (
            (onward := self.page.locator(".start-onward button").first).count()
            and size
            and size["width"] > PHONE["width"]
        ):
            expect(onward).to_be_in_viewport(ratio=1)
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
    presses.expect_step("task")
    presses.press_named("Go on")
    presses.expect_step("table")
    presses.choose(EXAMPLES / "corpus.csv")
    presses.press_named("Keep and go on")
    presses.expect_step("columns")
    expect(page.locator(".start-pair")).to_have_count(20)
    presses.press_named("Keep and go on")
    presses.expect_step("plan")
    presses.press_named("Remove label 2")
    expect(page.get_by_role("textbox", name="Name of label")).to_have_count(2)
    presses.press_named("Keep and go on")
    invited = presses.build("Annotators", "ann\nbob\ncyn")
    presses.press_named("Copy the link of ann")
    print(f"{presses.n} presses from an empty folder to the first link")
    assert presses.n <= MOST_PRESSES
    with page.expect_download() as download:
        page.get_by_role("button", name="Save all links as CSV").click()
    download.value.save_as(tmp_path / download.value.suggested_filename)
    assert f"ann,annotator,{invited}" in (tmp_path / "links.csv").read_text()
    annotator = windows.open(served.url, viewport=size)
    annotator.goto(invited)
    acts.consent(annotator)
    acts.await_pair(annotator)
    acts.answer(annotator, "appropriate")
    page.get_by_role("button", name="Go to the overview").click()
    expect(page).to_have_url(re.compile("/lead$"))


def test_the_keyboard_alone_is_enough_from_an_empty_folder_to_the_first_answers_of_a_survey(
    served: Served, link: str, windows: Windows
) -> None:
    page = windows.open(served.url, viewport=PHONE)
    presses = Presses(page, by_keys=True)
    page.goto(link)
    presses.n += 1
    presses.expect_step("task")
    page.get_by_label("Answer a survey").focus()
    page.keyboard.press("Space")
    presses.n += 1
    presses.press_named("Go on")
    presses.expect_step("table")
    presses.choose(EXAMPLES / "survey-statements.csv")
    presses.press_named("Keep and go on")
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
    page.get_by_role("button", name="Go to the overview").click()
    expect(page).to_have_url(re.compile(r"/lead\?grid=survey$"))
    expect(page.locator("main")).to_contain_text("open")
    look_closely(page)


def test_what_is_wrong_is_said_on_the_page_and_back_and_reload_are_safe(
    served: Served, link: str, windows: Windows, tmp_path: Path
) -> None:
    page = windows.open(served.url, viewport=PHONE, forgive=(r"status of \d{3}",))
    page.goto(link)
    page.get_by_role("button", name="Go on").click()
    alert, table = page.locator("[role=alert]:not(:empty)"), page.get_by_label("The table")
    go_on = page.get_by_role("button", name="Keep and go on").first
    wrong, large, other = tmp_path / "picture.csv", tmp_path / "large.csv", tmp_path / "notes.txt"
    other.write_text("a note", "utf-8")
    wrong.write_bytes(b"hs,cn\n\0,b\n")
    large.touch()
    os.truncate(large, 51 * 1024 * 1024)
    for paths, message in (
        ([wrong], "picture.csv: not a text file"),
        ([other], "notes.txt is not a table"),  # spelt as it is
        ([large], "more than 50 MB"),
        ([wrong] * 3, "too many files"),
    ):
        table.set_input_files(paths)
        expect(alert).to_contain_text(message)
    look_closely(page)
    table.set_input_files(EXAMPLES / "corpus.csv")
    page.get_by_label("Separator").select_option("Tab")
    expect(alert).to_contain_text("this separator gives one column only")
    look_closely(page)
    page.reload()
    go_on.click()
    page.get_by_label("Second text (candidate side)").select_option("hs")
    page.get_by_role("button", name="Show the rows").click()
    expect(alert).to_contain_text("two different columns")
    look_closely(page)
    page.get_by_label("Second text (candidate side)").select_option("cn")
    go_on.click()
    page.get_by_role("textbox", name="Name of label 2").fill("appropriate")
    go_on.click()
    expect(alert).to_contain_text("two are called", ignore_case=True)
    look_closely(page)
    page.get_by_role("button", name="Remove label 2").click()
    expect(page.get_by_role("textbox", name="Name of label")).to_have_count(2)
    figures = page.locator("#figures")
    expect(figures).to_contain_text("5,184")
    page.get_by_label("Annotators").fill("1")
    expect(figures).to_contain_text("there are 1 annotators")
    page.get_by_label("Annotators").fill("4")
    page.get_by_label("Seconds for a pair").fill("30")
    expect(figures).to_contain_text("14.0 hours")
    go_on.click()
    page.get_by_label("Annotators").fill("ann\nann")
    go_on.click()
    expect(alert).to_contain_text("named twice")
    look_closely(page)
    page.get_by_role("button", name="Back to plan").click()
    expect(page.get_by_label("Seconds for a pair")).to_have_value("30")
    page.reload()
    expect(page.get_by_label("Seconds for a pair")).to_have_value("30")


def test_back_leads_through_the_steps_after_a_preview_and_after_a_refusal(
    served: Served, link: str, windows: Windows, tmp_path: Path
) -> None:
    page = windows.open(served.url, viewport=LAPTOP, forgive=(r"status of \d{3}",))
    page.goto(link)
    go_on = page.get_by_role("button", name="Keep and go on").first
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("The table").set_input_files(EXAMPLES / "corpus.csv")
    go_on.click()  # to the columns
    go_on.click()
    page.get_by_label("Seconds for a pair").fill("often")
    go_on.click()
    expect(page.get_by_role("alert")).to_contain_text("is not a number")
    page.get_by_label("Seconds for a pair").fill("30")
    go_on.click()
    go_on.click()  # by the names that are suggested
    page.get_by_label("Text, in Markdown").fill("Be **kind**.")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("region", name="Preview")).to_contain_text("Be kind.")
    look_closely(page)
    go_on.click()
    for name in ("Start", "Guidelines", "People", "Plan", "Plan", "Columns"):
        expect(page.get_by_role("heading", level=1)).to_have_text(f"New study: {name}")
        page.go_back()


@pytest.mark.long
def test_a_recipe_and_the_plan_of_another_task_have_nothing_wrong_in_any_state(
    served: Served, link: str, windows: Windows
) -> None:
    page = windows.open(served.url, viewport=LAPTOP, forgive=(r"status of \d{3}",))
    page.goto(link)
    page.get_by_label("Take a recipe").check(force=True)
    page.get_by_role("button", name="Go on").click()
    look_closely(page)
    page.get_by_label("The recipe and its files").set_input_files(EXAMPLES / "write.toml")
    page.get_by_role("button", name="Upload").click()
    page.get_by_role("button", name="Keep and go on").click()
    expect(page.get_by_role("alert").first).to_contain_text("which was not uploaded")
    look_closely(page)
    page.get_by_label("The recipe and its files").set_input_files(
        [EXAMPLES / "write-guidelines.md", EXAMPLES / "statements.csv"]
    )
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_text("statements.csv", exact=True)).to_be_visible()
    page.get_by_role("button", name="Keep and go on").click()
    expect(page.get_by_label("Writers")).to_have_value("w1\nw2\nw3\nw4\nw5\nw6")
    look_closely(page)
    page.get_by_role("link", name="Task").first.click()
    page.get_by_label("Write").first.check(force=True)
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("The table").set_input_files(EXAMPLES / "statements.csv")
    page.get_by_role("button", name="Keep and go on").click()
    page.get_by_role("button", name="Keep and go on").first.click()
    page.get_by_text("More", exact=True).click()
    look_closely(page)
    page.get_by_label("Kinds of text that are written to each").fill("facts\nfacts")
    page.get_by_role("button", name="Keep and go on").click()
    expect(page.get_by_role("alert")).to_contain_text("two are called", ignore_case=True)
    look_closely(page)


def test_two_tables_are_dropped_and_lead_to_the_plan(served: Served, link: str, windows: Windows) -> None:
    page = windows.open(served.url, viewport=LAPTOP)
    page.goto(link)
    page.get_by_role("button", name="Go on").click()
    drop(page, "#file", {"fragen.csv": "nr;Frage\n1;Trinkst du grünen Tee?\n2;Wer mag Äpfel?\n".encode("cp1252")})
    expect(page.get_by_role("region", name="The first rows of fragen.csv")).to_contain_text("Trinkst du grünen Tee?")
    expect(page.get_by_label("Encoding")).to_have_value("windows-1252")
    expect(page.get_by_label("Separator")).to_have_value("semicolon")
    page.get_by_label("The first row has the names").uncheck()
    expect(page.get_by_role("columnheader", name="column 2")).to_be_visible()
    page.get_by_label("The first row has the names").check()
    expect(page.get_by_role("columnheader", name="Frage")).to_be_visible()
    drop(page, "#second", {"passages.csv": b"id,title,passage\na,Tea,Tea is a plant.\nb,Apple,Apples grow on trees.\n"})
    expect(page.get_by_role("heading", name="Second texts: passages.csv")).to_be_visible()
    look_closely(page)
    page.reload()
    page.get_by_role("button", name="Keep and go on").click()
    expect(page.get_by_label("Name of the first text")).to_have_value("Frage")
    page.get_by_label("Second text (candidate side)").select_option("title")
    expect(page.get_by_label("Name of the second text")).to_have_value("title")
    page.get_by_label("Second text (candidate side)").select_option("passage")
    page.get_by_label("Name of the second text").fill("answer")
    look_closely(page)
    page.get_by_role("button", name="Keep and go on").click()
    expect(page.locator("#figures")).to_contain_text("4 (2 × 2)")
    expect(page.locator("main")).to_contain_text("2 distinct answer texts")


def drop(page: Page, field: str, files: dict[str, bytes]) -> None:
    """Drop files where they are taken, as from a folder."""
    page.locator(f"form:has({field})").evaluate(
        """(form, files) => {
            const dataTransfer = new DataTransfer();
            for (const [name, bytes] of Object.entries(files)) {
                dataTransfer.items.add(new File([new Uint8Array(bytes)], name));
            }
            for (const type of ["dragover", "drop"]) {
                form.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
            }
        }""",
        {name: list(content) for name, content in files.items()},
    )
