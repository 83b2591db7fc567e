"""How quick the pages are for those who sit before them, in Chromium, on the pages that `fcpair serve` gives.

First those of an adjudicator, then those of a lead (see `lead_pages.py`).
Each measure opens a window of its own and gives its figures. Time is taken in the page, from a key to the frame in
which what it leads to has been painted; the connection is slowed down by the browser, as its developer tools do.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks import lead_pages
from benchmarks.measure import SEED, Figure, show
from benchmarks.serving import crossed, server, write_rows
from benchmarks.visible import ARGUMENTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

REPETITIONS = 1
SIZE = {"width": 1366, "height": 625}
LATENCIES_MS = (0, 150, 300)
N_DECISIONS, READING_MS, MOST_MS = 40, 1_000, 34.0
N_HS, N_CN = 10, 20
TIME_A_KEY = """() => {
  const name = () => document.getElementById("case-name").textContent;
  window.timeKey = () => new Promise((done) => {
    const before = name();
    let begun = null;
    document.addEventListener("keydown", ({ timeStamp }) => (begun = timeStamp), { capture: true, once: true });
    const watch = new MutationObserver(() => {
      if (name() === before || !name().startsWith("Pair ")) return;
      watch.disconnect();
      requestAnimationFrame(() => { // the frame that shows it has been made when the next task runs
        const channel = new MessageChannel();
        channel.port1.onmessage = () => done(performance.now() - begun);
        channel.port2.postMessage(null);
      });
    });
    watch.observe(document.getElementById("desk"), { childList: true, characterData: true, subtree: true });
  });
}"""


@dataclass(frozen=True)
class Site:
    """A served study: its browser, its address, and the tokens of those who may come in."""

    browser: Browser
    url: str
    tokens: Mapping[str, str]

    @contextmanager
    def seat(self, name: str, path: str) -> Iterator[Page]:
        """A window in which somebody sits before a page."""
        context = self.browser.new_context(viewport=SIZE, reduced_motion="reduce")  # type: ignore[arg-type]
        page = context.new_page()
        page.goto(f"{self.url}/join#{self.tokens[name]}")
        page.wait_for_url(lambda url: "/join" not in url)
        page.goto(f"{self.url}{path}")
        yield page
        context.close()


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure each page, at each latency."""
    from playwright.sync_api import sync_playwright

    tokens = prepare(folder)
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    browser_path = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium")
    line = [script, "serve", "--study", str(folder / "study.db"), "--port"]
    with server(line, "/join") as (_, port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        figures = time_decisions(Site(browser, f"http://127.0.0.1:{port}", tokens), repetitions)
        browser.close()
    return [*figures, *lead_pages.run(folder, lead_pages.REPETITIONS * repetitions)]


def prepare(folder: Path) -> dict[str, str]:
    """Make a study in which two annotators contradict each other on every pair; returns the tokens."""
    from fcpair.params import Adjudicate, Assign
    from fcpair.records import Role

    words = "are said to be what is wrong with this town, and whoever says so has seldom spoken to any of them"
    reply = "I have lived next door to them for years, and all day they do what the rest of us do: work and rest"
    study = crossed(
        folder, [f"Group {n}: they {words}." for n in range(N_HS)], [f"{reply}; ask house {n}." for n in range(N_CN)]
    )
    grid = study.grid()
    study.add_people(["annotator", "other"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 1.0}, seed=SEED))
    codes, pairs = {"annotator": "0", "other": "2"}, range(1, N_HS * N_CN + 1)
    labels = [(name, str(pair), code) for name, code in codes.items() for pair in pairs]
    write_rows(folder / "labels.csv", [("annotator", "pair", "label"), *labels])
    grid.import_labels(folder / "labels.csv")
    grid.adjudicate(Adjudicate())
    study.add_people(["adjudicator"], Role.ADJUDICATOR)
    tokens = {"adjudicator": study.access.invite("adjudicator")}
    for one in study.people:
        study.access.consent(one.id, {})
    study.close()
    return tokens


def time_decisions(site: Site, repetitions: int) -> list[Figure]:
    """Time an adjudicator's keys, each until the next case is on the screen, with a second to read it."""
    figures = []
    for latency_ms in LATENCIES_MS:
        what = f"adjudicator, {latency_ms} ms of latency: key to next case"
        with site.seat("adjudicator", "/adjudicate") as page:
            slow_down(page, latency_ms)
            page.wait_for_timeout(READING_MS)
            page.evaluate(TIME_A_KEY)
            took = [time_decision(page) for _ in range(N_DECISIONS * repetitions)]
            page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.startsWith('fcpair-outbox'))")
        show(what, took, " ms")
        figures.append(Figure("pages", f"{what}, p95", percentile_95(took), "at most", MOST_MS, " ms"))
    return figures


def slow_down(page: Page, latency_ms: int) -> None:
    """Let every request of a page wait for so long."""
    conditions = {"offline": False, "latency": latency_ms, "downloadThroughput": -1, "uploadThroughput": -1}
    session = page.context.new_cdp_session(page)
    session.send("Network.enable")
    session.send("Network.emulateNetworkConditions", conditions)


def time_decision(page: Page) -> float:
    """The milliseconds from a key to the next case; then the time in which that is read."""
    page.evaluate("() => { window.took = window.timeKey(); }")
    page.keyboard.press("3")
    took = float(page.evaluate("() => window.took"))
    page.wait_for_timeout(READING_MS)
    return took


def percentile_95(values: list[float]) -> float:
    """The 95th percentile."""
    return statistics.quantiles(values, n=20, method="inclusive")[-1]
