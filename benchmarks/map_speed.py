"""The lead's map of a grid of 186,400 pairs with 228,526 labels, in Chromium: its first picture, and frames a second.

The study is that of `first_look`. The first picture is timed from the beginning of the page's load, with a server at
which somebody has looked before, but not at the grid; frames are counted while the map is dragged and while it is
zoomed, from one drawing to the next.
"""

from __future__ import annotations

import os
import shutil
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import Figure, job, show
from benchmarks.pages import Site
from benchmarks.serving import server
from benchmarks.visible import ARGUMENTS

if TYPE_CHECKING:
    from playwright.sync_api import Page

REPETITIONS = 5
SHAPE = "186,400 pairs"
MOST_S, LEAST_FRAMES = 1.0, 30.0
N_FRAMES = 90
SHOWN = "() => performance.getEntriesByName('map-shown').length > 0"
FIRST_PICTURE = "() => performance.getEntriesByName('map-shown')[0].startTime / 1000"
COUNT_FRAMES = """([act, n]) => new Promise((done) => {
  const canvas = document.getElementById("map-canvas");
  const box = canvas.getBoundingClientRect();
  const send = (type, at) => canvas.dispatchEvent(new PointerEvent(type, { pointerId: 1, bubbles: true, clientX:
    box.left + 300 + at, clientY: box.top + 200 + at / 2 }));
  canvas.setPointerCapture = () => undefined;
  const turn = (at) =>
    canvas.dispatchEvent(new WheelEvent("wheel", { deltaY: at % 60 < 30 ? -60 : 60, cancelable: true }));
  let [frames, begun] = [0, null];
  if (act === "drag") send("pointerdown", 0);
  const step = (now) => {
    begun ??= now;
    if (frames === n) return done((1000 * frames) / (now - begun));
    frames += 1;
    if (act === "drag") send("pointermove", 100 * Math.sin(frames / 5));
    else turn(frames);
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
})"""


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure the map."""
    from playwright.sync_api import sync_playwright

    path = folder / "study.db"
    tokens = {"lead": job("benchmarks.first_look:prepare", path, SHAPE)["tokens"]["lead"][0]}
    line = [str(Path(sysconfig.get_path("scripts")) / "fcpair"), "serve", "--study", str(path), "--port"]
    browser_path = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium")
    took: list[float] = []
    frames: dict[str, list[float]] = {"drag": [], "zoom": []}
    for _ in range(repetitions):
        with server(line, "/join") as (_, port, _), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
            with Site(browser, f"http://127.0.0.1:{port}", tokens).seat("lead", "/lead") as page:
                took.append(time_first_picture(page))
                for act, rates in frames.items():
                    rates.append(count_frames(page, act))
            browser.close()
    figures = [Figure("map", f"{SHAPE}: first picture", show("first picture", took, " s"), "at most", MOST_S, " s")]
    for act, rates in frames.items():
        rate = show(f"frames a second, {act}", rates, "")
        figures.append(Figure("map", f"{SHAPE}: frames a second, {act}", rate, "at least", LEAST_FRAMES))
    return figures


def time_first_picture(page: Page) -> float:
    """The seconds from the beginning of the page's load to the first picture of the map."""
    page.goto("/".join(page.url.split("/")[:3]) + "/lead/grid")
    page.wait_for_function(SHOWN, timeout=120_000)
    return float(page.evaluate(FIRST_PICTURE))


def count_frames(page: Page, act: str) -> float:
    """Frames a second while the map is dragged or zoomed."""
    page.locator("#map-canvas").scroll_into_view_if_needed()
    if act == "drag":
        for _ in range(4):
            page.locator("#map-in").click()
    return float(page.evaluate(COUNT_FRAMES, [act, N_FRAMES]))
