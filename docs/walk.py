"""Leads two whole studies in the browser: `python docs/walk.py` makes the pictures of docs/tutorials/lead.md anew.

It does with Chromium what that page tells, from an empty folder on, and presses what people press; nothing but `fcpair
serve` is called. What it answers is nobody's opinion. tests/browser/test_whole_study.py does the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

from pictures import DESKTOP, FLAGS, come_in, keep
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

EXAMPLES = Path(__file__).parents[1] / "examples"
LINK = re.compile(r"http://\S+/join#\S+")
GUIDELINES = "# Rules\n\nA reply is *appropriate* if it answers what the statement says, and stays kind."
BUILD_MS, STEP_MS, HASTE_MS, MOST_TRIES = 120_000, 50, 300, 200
LABEL_KEYS, VERDICT_KEYS, SURVEY_KEYS = "133", "111112", "1123"
Look = Callable[[Page, str], None]


@dataclass(frozen=True)
class Shape:
    """How large the study of pairs is, and who takes part."""

    hs: int
    candidates: int
    annotators: int = 9
    validators: int = 4

    @property
    def people(self) -> dict[str, list[str]]:
        """Names by the label of their field, those of FC-CONAN's people: nine, one and four."""
        return {
            "Annotators": [f"a{i}" for i in range(1, self.annotators + 1)],
            "Adjudicators": ["cora"],
            "Validators": [f"v{i}" for i in range(1, self.validators + 1)],
        }


@dataclass(frozen=True)
class Server:
    """`fcpair serve` in a folder that was empty: its address, and the one link that it printed."""

    url: str
    link: str


@contextmanager
def serve(folder: Path) -> Iterator[Server]:
    """Call `fcpair serve`, and nothing else."""
    command = [sys.executable, "-m", "fcpair", "serve", "--study", str(folder / "study.db"), "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as it:
        assert it.stdout is not None
        said = ""
        while "Ctrl-C" not in said:
            line = it.stdout.readline()
            assert line, f"the server ended: {said}"
            said += line
        (link,) = LINK.findall(said)
        try:
            yield Server(link.partition("/join")[0], link)
        finally:
            it.terminate()


def go_on(page: Page) -> None:
    """Keep a step of the start."""
    page.get_by_role("button", name="Keep and go on").first.click()


def begin(page: Page, people: dict[str, list[str]], folder: Path) -> dict[str, str]:
    """Name the people, write the guidelines, have the study built, and invite everybody; returns their links."""
    for group, names in people.items():
        page.get_by_label(group).fill("\n".join(names))
    go_on(page)
    page.locator("textarea").first.fill(GUIDELINES)
    go_on(page)
    page.get_by_role("button", name="Build the study").click()
    page.wait_for_url("**/lead/start/links", timeout=BUILD_MS)
    page.get_by_role("button", name="Make the invite links").click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Save all links as CSV").click()
    download.value.save_as(folder / "links.csv")
    lines = (folder / "links.csv").read_text("utf-8").splitlines()[1:]
    return {name: link for name, _, link in (line.split(",") for line in lines)}


def start_pairs(page: Page, shape: Shape, folder: Path, look: Look) -> dict[str, str]:
    """From the lead's link to the links of the people who label pairs."""
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("The table").set_input_files(EXAMPLES / "corpus.csv")
    go_on(page)
    page.get_by_label("Title of the study").fill("Replies to mild prejudices")
    page.get_by_label("Name of the first text").fill("statement")
    page.get_by_label("Name of the second text").fill("reply")
    look(page, "walk-columns")
    go_on(page)
    page.get_by_label("Some statement texts").check()
    page.get_by_label("First texts to draw").fill(str(shape.hs))
    page.get_by_label("Candidates to draw").fill(str(shape.candidates))
    page.get_by_label("Annotators").fill(str(shape.annotators))
    page.get_by_label("Validators").fill(str(shape.validators))
    page.get_by_label("Pairs with two labels").fill("40")
    page.get_by_label("Pairs with three labels").fill("20")
    expect(page.locator("#figures")).to_contain_text(f"{shape.hs * shape.candidates}")
    look(page, "walk-plan")
    go_on(page)
    return begin(page, shape.people, folder)


def start_survey(page: Page, respondents: list[str], folder: Path, look: Look) -> dict[str, str]:
    """From the lead's link to the links of the respondents of a survey."""
    page.locator("label", has_text="Answer a survey").click()
    page.get_by_role("button", name="Go on").click()
    page.get_by_label("The table").set_input_files(EXAMPLES / "survey-statements.csv")
    go_on(page)
    page.get_by_label("Title of the study").fill("Night owls and cyclists")
    go_on(page)
    page.get_by_label("Answer that is neither").fill("I would rather not say")
    page.get_by_label("Last question").fill("")
    page.get_by_label("Respondents").fill(str(len(respondents)))
    look(page, "walk-survey")
    go_on(page)
    return begin(page, {"Respondents": respondents}, folder)


@contextmanager
def visit(browser: Browser, link: str) -> Iterator[Page]:
    """Come in by a link, and agree to the terms where they are asked."""
    with come_in(browser, link, DESKTOP) as page:
        consent = page.locator("input[name=consent]")
        if consent.count():
            consent.check()
            page.get_by_role("button", name="Begin").click()
        yield page


def press(page: Page, key: str, has_gone_on: Callable[[], bool]) -> None:
    """Press a key until the page has taken it: one that comes too soon after the last is no answer."""
    for _ in range(MOST_TRIES):
        page.keyboard.press(key)
        page.wait_for_timeout(STEP_MS)
        if has_gone_on():
            return
    raise AssertionError(f"{page.url} does not take `{key}`")


def pick(keys: str, *facts: str) -> str:
    """One of the keys, by what is on the screen and who sits before it: the same every time."""
    digest = sha256("\n".join(facts).encode()).digest()
    return keys[digest[0] % len(keys)]


def answer_all(page: Page, who: str, keys: str) -> int:
    """Answer everything at the desk by one key each, until nothing is left; returns how many were answered."""
    n_answered = 0
    while not _has_ended(page):
        before = page.locator("#count").inner_text()
        # Nearly everybody says the same of a pair; one in four, by chance, something else.
        texts = page.locator("#hs").inner_text(), page.locator("#cn").inner_text()
        key = pick(keys, *texts, who if pick("1234", *texts, who) == "4" else "")
        if page.locator("#save").is_visible():  # a form: a key for each of its questions, and Enter
            page.wait_for_timeout(HASTE_MS)
            for number in range(page.locator("#form fieldset").count()):
                page.keyboard.press(pick(keys, *texts, who, str(number)))
            key = "Enter"
        press(page, key, lambda before=before: _has_ended(page) or page.locator("#count").inner_text() != before)  # type: ignore[misc]
        n_answered += 1
    page.wait_for_url(re.compile("/thanks$"))
    return n_answered


def _has_ended(page: Page) -> bool:
    """Wait until there is something to answer, or nothing more."""
    for _ in range(MOST_TRIES):
        if page.url.endswith("/thanks") or page.locator("#pair").is_visible():
            return page.url.endswith("/thanks")
        page.wait_for_timeout(STEP_MS)
    raise AssertionError(f"{page.url} shows nothing to answer")


def decide_all(page: Page, look: Look) -> int:
    """Decide every conflict by one key each; returns how many there were."""
    n_decided, case, name = 0, page.locator("form#pair"), page.locator("#case-name")
    expect(name).to_be_visible()
    while case.count():
        if not n_decided:
            look(page, "walk-conflict")
        shown = name.inner_text()
        key = pick("13", case.inner_text())
        press(page, key, lambda shown=shown: not _is_shown(name, shown))  # type: ignore[misc]
        n_decided += 1
    return n_decided


def _is_shown(name: Locator, case: str) -> bool:
    """Whether the page still shows a case, or has not got the next one yet."""
    return name.inner_text() == case or "on its way" in name.inner_text()


def download(page: Page, name: str, folder: Path) -> None:
    """Download a file of the page Downloads, under the name that it comes with."""
    form = page.locator(f'form[action^="/lead/download/{name}"]')
    with page.expect_download() as begun:
        form.get_by_role("button").click()
    begun.value.save_as(folder / begun.value.suggested_filename)


def lead_pairs(browser: Browser, folder: Path, shape: Shape, look: Look) -> None:
    """FC-CONAN's shape, from the empty folder to Gold, the recipe and the guidelines' last version."""
    with serve(folder) as server, come_in(browser, server.link, DESKTOP) as lead:
        links = start_pairs(lead, shape, folder, look)
        lead.get_by_role("button", name="Go to the overview").click()
        look(lead, "walk-begun")
        for name in shape.people["Annotators"]:
            with visit(browser, links[name]) as page:
                assert answer_all(page, name, LABEL_KEYS)
        lead.goto(f"{server.url}/lead/agreement")
        look(lead, "walk-agreement")
        with visit(browser, links["cora"]) as page:
            assert decide_all(page, look)
        lead.goto(f"{server.url}/lead/conflicts/policy")
        lead.get_by_role("button", name="Apply the policy").click()
        lead.goto(f"{server.url}/lead/conflicts/validation")
        lead.get_by_role("button", name="Assign the pairs").click()
        for name in shape.people["Validators"]:
            with visit(browser, links[name]) as page:
                assert answer_all(page, name, VERDICT_KEYS)
        lead.goto(f"{server.url}/lead")
        expect(lead.locator("main")).to_contain_text("Nobody has anything left to do.")
        look(lead, "walk-done")
        lead.goto(f"{server.url}/lead/downloads")
        look(lead, "walk-downloads")
        lead.locator('form[action^="/lead/download/partition"] select[name=tier]').select_option("gold")
        download(lead, "partition", folder)
        download(lead, "recipe", folder)


def lead_survey(browser: Browser, folder: Path, respondents: list[str], look: Look) -> None:
    """A survey, from the empty folder to its results."""
    with serve(folder) as server, come_in(browser, server.link, DESKTOP) as lead:
        links = start_survey(lead, respondents, folder, look)
        for name in respondents:
            with visit(browser, links[name]) as page:
                assert answer_all(page, name, SURVEY_KEYS)
        lead.goto(f"{server.url}/lead#results")
        results = lead.locator("#results")
        expect(results).to_contain_text("What people said")
        results.evaluate("it => it.scrollIntoView()")  # what is above it may have come after it
        look(lead, "walk-results")
        lead.goto(f"{server.url}/lead/downloads")
        download(lead, "answers", folder)
        download(lead, "recipe", folder)


def main() -> None:
    """Make all pictures."""
    path = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        for name in ("pairs", "survey"):
            (Path(folder) / name).mkdir()
        lead_pairs(browser, Path(folder) / "pairs", Shape(6, 15), keep)
        lead_survey(browser, Path(folder) / "survey", [f"p{i}" for i in range(1, 13)], keep)
        browser.close()


if __name__ == "__main__":
    main()
