"""What an annotator's browser fetches from `fcpair serve`, without a proxy that would compress it.

The first visit begins with the invite link, in a browser that has nothing yet, and ends with the first pair on the
screen. Then labels are given by key, and the bytes of everything until all are stored are shared among them. A relay
counts the bytes of the connections, headers included.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.measure import SEED, Figure, column, data, show
from benchmarks.relay import Traffic, relayed
from benchmarks.serving import crossed, server
from benchmarks.visible import ARGUMENTS, draw

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

REPETITIONS = 5
N_HS, N_CN = 45, 129
N_LABELS = 30
TOO_SOON_MS = 260  # after a pair is shown; an answer that comes sooner is taken for a slip
CALM_MS = 400  # without a request


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure bytes and requests of the first visit, and bytes per label."""
    tokens = prepare(folder, repetitions)
    visits = measure(folder / "study.db", tokens)
    kb = show("first visit", column(visits, "visit_kb"), " kB")
    requests = show("first visit", column(visits, "requests"), " requests")
    per_label = show("a label", column(visits, "label_bytes"), " bytes")
    show("a label, sent to the server", column(visits, "sent_bytes"), " bytes")
    return [
        Figure("page_weight", "first visit to first pair", kb, "at most", 90, " kB"),
        Figure("page_weight", "first visit to first pair, requests", requests, "at most", 20),
        Figure("page_weight", "bytes per label", per_label, "at most", 1_500),
    ]


def prepare(folder: Path, n_visitors: int) -> list[str]:
    """Make a study of pairs of CONAN, and invite people who have not been there; returns their tokens."""
    from fcpair.params import Assign

    pairs = draw(data() / "conan" / "CONAN.csv")
    hs, cn = (list(dict.fromkeys(pair[side] for pair in pairs)) for side in (0, 1))
    study = crossed(folder, hs[:N_HS], cn[:N_CN])
    study.grid().assign(Assign(annotators=n_visitors, seed=SEED))
    tokens = [study.access.invite(person.name) for person in study.people]
    study.close()
    return tokens


def measure(study: Path, tokens: list[str]) -> list[dict[str, Any]]:
    """Have each person visit the study for the first time, and label."""
    from playwright.sync_api import sync_playwright

    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    chromium = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium")
    line = [script, "serve", "--study", str(study), "--port"]
    with server(line, "/join") as (_, port, _), relayed(port) as traffic, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        visits = [_visit(browser, traffic, token) for token in tokens]
        browser.close()
    return visits


def _visit(browser: Browser, traffic: Traffic, token: str) -> dict[str, Any]:
    context = browser.new_context()
    page = context.new_page()
    traffic.reset()
    page.goto(f"http://127.0.0.1:{traffic.port}/join#{token}")
    page.get_by_role("checkbox", name="I have read this").check()
    page.get_by_role("button", name="Begin").click()
    page.locator("#pair").wait_for()
    visit = {"visit_kb": traffic.to_browser / 1000, "requests": traffic.requests}
    _wait_for_calm(page, traffic)
    traffic.reset()
    _label(page)
    _wait_for_calm(page, traffic)
    visit |= {"label_bytes": traffic.to_browser / N_LABELS, "sent_bytes": traffic.to_server / N_LABELS}
    context.close()
    return visit


def _label(page: Page) -> None:
    for _ in range(N_LABELS):
        shown = page.locator("#count").inner_text()
        page.wait_for_timeout(TOO_SOON_MS)
        page.keyboard.press("1")
        page.wait_for_function("shown => document.getElementById('count').innerText !== shown", arg=shown)


def _wait_for_calm(page: Page, traffic: Traffic) -> None:
    carried = -1
    while carried != (carried := traffic.to_browser):
        page.wait_for_timeout(CALM_MS)
