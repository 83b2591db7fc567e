"""axe-core, which knows what keeps a page from those who do not see, hear or point as others do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page

from browser import acts
from browser.chromium import lacking
from browser.layout import misfits
from browser.windows import PHONE, WIDE

Look = tuple[dict[str, int], Literal["light", "dark"], list[str]]
SCRIPT = Path(__file__).parent / "node_modules" / "axe-core" / "axe.min.js"
HOW_TO = f"axe-core is not there: run `npm ci` in {SCRIPT.parents[2]}, as `make test-slow` does"
TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
OF_COLOURS = ["color-contrast", "link-in-text-block"]  # the rules that the colours of a page matter to
LOOKS: Sequence[Look] = (  # in the dark only colours differ
    (PHONE, "light", TAGS),
    (WIDE, "light", TAGS),
    (WIDE, "dark", OF_COLOURS),
    (PHONE, "dark", OF_COLOURS),
)
looks = LOOKS  # of the test that runs: conftest.py takes the first alone where that is not long
RUN = """async (only) => (await axe.run(document, {runOnly: only, resultTypes: ["violations"]})).violations.flatMap(
  (found) => found.nodes.map((node) => `${found.id}: ${node.html.slice(0, 160)}: ${node.failureSummary}`))"""


@cache
def _script() -> str:
    return SCRIPT.read_text(encoding="utf-8") if SCRIPT.is_file() else lacking(HOW_TO)


def violations(page: Page, looked: Sequence[Look] = ()) -> list[str]:
    """What is wrong with the page as it is now, in the looks that are asked for or are those of the test."""
    page.evaluate(_script())
    found = misfits(page)
    for size, scheme, rules in looked or looks:
        acts.resize(page, size)
        page.emulate_media(color_scheme=scheme)
        found += [f"{size['width']} px, {scheme}: {one}" for one in page.evaluate(RUN, rules)]
    return found
