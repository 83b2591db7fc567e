"""Makes the pictures of the pages anew: `python docs/pictures.py`, with the extras `web` and `dev` installed.

It builds the example study by examples/recipe.toml, serves it, and goes through the pages as people do. It needs
Chromium, on the PATH or where FCPAIR_CHROMIUM says. What it answers is nobody's opinion.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Page, expect, sync_playwright

from fcpair.params import Adjudicate
from fcpair.recipe import Recipe, load_recipe
from fcpair.records import Role
from fcpair.study import Study

HERE = Path(__file__).parent
IMAGES = HERE / "images"
RECIPE = HERE.parent / "examples" / "recipe.toml"
FLAGS = (
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
)
DESKTOP, TALL, PHONE = (1280, 770), (1280, 910), (375, 740)
MARGIN = 8  # above and below a part of a page
MOST_BYTES = 150_000
COLOURS = 128
PATIENCE_S = 30.0
READING_S = 4.0  # between two answers, so that the page knows a pace
ANSWERS = ("1", "3", "1", "1", "2", "1", "3")


@dataclass(frozen=True)
class Site:
    """A study that is served, and who may come in."""

    url: str
    study: Study

    def invite(self, name: str, role: Role) -> str:
        """An invite link for somebody, who is added if nobody has that name."""
        if name not in {one.name for one in self.study.people}:
            self.study.add_people([name], role)
        return f"{self.url}/join#{self.study.access.invite(name)}"


@contextmanager
def served(folder: Path, recipe: Recipe, until: str = "") -> Iterator[Site]:
    """The study that a recipe makes, as far as it goes without people or to the end of a stage, and served."""
    study = Study.create(folder / f"{len(list(folder.iterdir()))}.db", recipe.setup)
    for run in study.walk(recipe):
        if run.stage == until:
            break
    command = [sys.executable, "-m", "fcpair", "serve", "--study", study.place, "--port", "0"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment) as it:
        assert it.stdout is not None
        found = re.search(r"http://\S+", it.stdout.readline())
        if not found:
            raise SystemExit("the server did not start")
        try:
            yield Site(found[0], study)
        finally:
            it.terminate()
            study.close()


@contextmanager
def come_in(browser: Browser, link: str, size: tuple[int, int] = DESKTOP) -> Iterator[Page]:
    """A page of somebody who has opened their invite link."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]}, color_scheme="light")
    page = context.new_page()
    page.goto(link)
    page.wait_for_url(re.compile(r"/(?!join)\w+$"))
    yield page
    context.close()


def consent(page: Page) -> None:
    """Agree, and begin."""
    page.locator("input[name=consent]").check()
    page.get_by_role("button", name="Begin").click()


def keep(page: Page, name: str, part: str | None = None) -> None:
    """Write a picture: of the window, or of one part of the page in its whole width."""
    path = IMAGES / f"{name}.png"
    page.mouse.move(0, 0)
    if part is None:
        page.screenshot(path=path, animations="disabled", caret="hide")
    else:
        place = page.locator(part).evaluate("it => [it.getBoundingClientRect().top + scrollY, it.offsetHeight]")
        top = max(place[0] - MARGIN, 0)
        clip = FloatRect(x=0, y=top, width=DESKTOP[0], height=place[1] + 2 * MARGIN)
        page.screenshot(path=path, animations="disabled", caret="hide", full_page=True, clip=clip)
    with Image.open(path) as picture:
        few = picture.convert("RGB").quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
        few.save(path, optimize=True)
    size = path.stat().st_size
    print(f"{path.name}: {size:,} bytes")
    if size > MOST_BYTES:
        raise SystemExit(f"{path.name} is larger than {MOST_BYTES:,} bytes")


def annotating(browser: Browser, site: Site) -> None:
    """The first visit, the pairs on a desk and on a phone, a hidden text, a pause; then the lead's view of it."""
    link = site.invite("a1", Role.ANNOTATOR)
    with come_in(browser, link, PHONE) as page:
        keep(page, "welcome-phone")
        consent(page)
        expect(page.locator("#pair")).to_be_visible()
    with come_in(browser, link) as page:
        expect(page.locator("#pair")).to_be_visible()
        for key in ANSWERS:
            time.sleep(READING_S)
            page.keyboard.press(key)
        page.reload()
        expect(page.locator("#left")).to_contain_text("about")
        keep(page, "annotate")
    with come_in(browser, link, PHONE) as page:
        expect(page.locator("#left")).to_contain_text("about")
        keep(page, "annotate-phone")
        page.locator("#blur-choice").check()
        page.keyboard.press("Home")
        page.evaluate("window.scrollTo(0, 0)")
        keep(page, "hidden-phone")
        page.locator("#blur-choice").uncheck()
        page.locator("#pause").click()
        keep(page, "pause-phone")
    with come_in(browser, site.invite("lee", Role.LEAD)) as page:
        keep(page, "lead-progress", "#progress")
        page.goto(f"{site.url}/lead/people")
        keep(page, "lead-people", "main")


def adjudicating(browser: Browser, site: Site) -> None:
    """A conflict."""
    with come_in(browser, site.invite("cora", Role.ADJUDICATOR), TALL) as page:
        consent(page)
        expect(page.locator("#answers-name")).to_be_visible()
        keep(page, "adjudicate")


def validating(browser: Browser, site: Site) -> None:
    """A label to check."""
    with come_in(browser, site.invite("v1", Role.VALIDATOR)) as page:
        consent(page)
        expect(page.locator("#label-line")).to_be_visible()
        keep(page, "validate")


def watching(browser: Browser, site: Site) -> None:
    """What the lead sees of a finished study."""
    with come_in(browser, site.invite("lee", Role.LEAD)) as page:
        keep(page, "lead")
        page.goto(f"{site.url}/lead/agreement")
        keep(page, "lead-agreement", "#every_two .heat")
        page.goto(f"{site.url}/lead/grid")
        expect(page.locator("#map-cell")).to_contain_text("Row ")
        keep(page, "lead-grid", "#map")
        page.goto(f"{site.url}/lead/components")
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            keep(page, f"components-{scheme}", "main")


def main() -> None:
    """Make all of them."""
    path = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium") or "/usr/bin/chromium"
    whole = replace(load_recipe(RECIPE), evaluate=None)
    by_people = replace(whole, simulate=None)
    disputed = replace(whole, adjudicate=Adjudicate("manual"))
    with TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        with served(Path(folder), by_people) as site:
            annotating(browser, site)
        with served(Path(folder), disputed) as site:
            adjudicating(browser, site)
        with served(Path(folder), whole, until="validate") as site:
            validating(browser, site)
        with served(Path(folder), whole) as site:
            watching(browser, site)
        browser.close()


if __name__ == "__main__":
    main()
