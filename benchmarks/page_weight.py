"""What an annotator's browser fetches from `fcpair serve`, without a proxy that would compress it.

The first visit begins with the invite link, in a browser that has nothing yet, and ends with the first pair on the
screen. Then labels are given by key, and the bytes of everything until all are stored are shared among them. A relay
counts the bytes of the connections, headers included. The same is done in English, and in a language whose messages
come as a script.
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
LANGUAGES = ("en", "fa")
TOO_SOON_MS = 260  # after a pair is shown; an answer that comes sooner is taken for a slip
CALM_MS = 400  # without a request


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure bytes and requests of the first visit, and bytes per label, in each language."""
    return [figure for language in LANGUAGES for figure in _run_in(folder / language, repetitions, language)]


def _run_in(folder: Path, repetitions: int, language: str) -> list[Figure]:
    folder.mkdir()
    tokens = prepare(folder, repetitions, language)
    visits = measure(folder / "study.db", tokens)
    kb = show(f"first visit, {language}", column(visits, "visit_kb"), " kB")
    requests = show(f"first visit, {language}", column(visits, "requests"), " requests")
    per_label = show(f"a label, {language}", column(visits, "label_bytes"), " bytes")
    show(f"a label, {language}, sent to the server", column(visits, "sent_bytes"), " bytes")
    return [
        Figure("page_weight", f"first visit to first pair, {language}", kb, "at most", 90, " kB"),
        Figure("page_weight", f"first visit to first pair, {language}, requests", requests, "at most", 20),
        Figure("page_weight", f"bytes per label, {language}", per_label, "at most", 1_500),
    ]


def prepare(folder: Path, n_visitors: int, language: str = "en") -> list[str]:
    """Make a study of pairs of CONAN, and invite people who have not been there; returns their tokens.

    The pages are in the `language`.
    """
    from fcpair.params import Assign

    pairs = draw(data() / "conan" / "CONAN.csv")
    hs, cn = (list(dict.fromkeys(pair[side] for pair in pairs)) for side in (0, 1))
    study = crossed(folder, hs[:N_HS], cn[:N_CN])
    study.grid().assign(Assign(annotators=n_visitors, seed=SEED))
    study.save_words(language=language)
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
    page.locator("[name=consent]").check()
    page.locator("form[action='/welcome'] button[type=submit]").click()
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
