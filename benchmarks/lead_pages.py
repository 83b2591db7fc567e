"""The lead's pages, page by page, on studies of 5,805 pairs and of 186,400 with 228,526 labels.

A first look at a server that was just started; each page with its time to the first byte and to the last, its length in
screens of 1440 x 900 and how often it says *undefined*; filters of the page Grid; and submits of nine people without a
pause while two leads look and filter. `python -m benchmarks.lead_pages --answering` has nine people answer beside all
of it, each with a pause after every answer.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import statistics
import sysconfig
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks import first_look, looking
from benchmarks.clients import Connection
from benchmarks.looking import Seen, answer_without_pause
from benchmarks.measure import Figure, job, show
from benchmarks.serving import server
from benchmarks.visible import ARGUMENTS
from fcpair.web.current_grid import LEAD_PAGES

if TYPE_CHECKING:
    import psutil
    from playwright.sync_api import Page

PAGES = [page for of_group in LEAD_PAGES.values() for page in of_group]
REPETITIONS = 5
WITH_OPEN_WORK = first_look.SHAPES["186,400 pairs"] | {"N_CN": 500}  # where 46,600 pairs more have no label yet
SECONDS, N_LEADS, PAUSE_S = 30, 2, 0.2
WIDTH, HEIGHT, MOST_SCREENS = 1440, 900, 3.0
MOST_FILTER_MS, MOST_SUBMIT_MS = 300.0, 60.0
MEASURED = """() => [
  document.documentElement.scrollHeight, (document.body.innerText.match(/undefined/gi) ?? []).length,
]"""
FILTERS = (
    "tier=gold",
    "state=labelled",
    "state=open",
    "state=waiting",
    "state=decided",
    "state=valid",
    "answer=appropriate",
    "person=a1",
    "person=a1&answer=not_appropriate",
    "words=text+7",
    "noted=yes",
    "skipped=no",
    "tier=none",
    "state=labelled&answer=not_sure",
    "tier=bronze&words=hs1",
)


@dataclass(frozen=True)
class Study:
    """A study that was drawn, and the tokens of its people by what they do."""

    path: Path
    tokens: dict[str, list[str]]
    answering: bool

    def serve(self) -> Any:
        """Begin a server of it."""
        line = [str(Path(sysconfig.get_path("scripts")) / "fcpair"), "serve", "--study", str(self.path), "--port"]
        return server(line, "/join")

    @asynccontextmanager
    async def people_beside(self, port: int) -> AsyncIterator[None]:
        """Have people answer meanwhile, if they are to."""
        tokens = self.tokens["answering"] if self.answering else []
        answering = [asyncio.create_task(_answer(port, token)) for token in tokens]
        yield
        for task in answering:
            task.cancel()
        await asyncio.gather(*answering, return_exceptions=True)


def run(folder: Path, repetitions: int, *, answering: bool = False) -> list[Figure]:
    """Measure both studies; a figure of pages is a median, one of filters and submits is of all runs together."""
    figures = []
    for shape in first_look.SHAPES:
        path = folder / f"{shape.partition(',')[0]}.db"
        tokens = job("benchmarks.first_look:prepare", path, shape)["tokens"]
        study = Study(path, tokens, answering)
        figures += _first_looks(study, shape, repetitions)
        _time_pages(study, shape, repetitions)
        figures += [*_lengths(study, shape), *_time_filters(study, shape, repetitions)]
    path = folder / "open.db"
    tokens = job("benchmarks.lead_pages:prepare_with_open_work", path)["tokens"]
    return [*figures, *_time_submits(Study(path, tokens, answering), "228,526 labels")]


def prepare_with_open_work(path: str) -> dict[str, Any]:
    """Job: draw the largest study with columns more, so that people have something to answer."""
    for name, value in WITH_OPEN_WORK.items():
        setattr(looking, name, value)
    return looking.prepare(path)


def _first_looks(study: Study, shape: str, repetitions: int) -> list[Figure]:
    async def look(process: psutil.Process, port: int) -> dict[str, float]:
        async with study.people_beside(port):
            return await first_look.look(process, port, study.tokens["lead"][0])

    looks = []
    for _ in range(repetitions):
        with study.serve() as (process, port, _started_s):
            looks.append(asyncio.run(look(process, port)))
    return first_look.figures_of(shape, looks)


def _time_pages(study: Study, shape: str, repetitions: int) -> None:
    """Print what each page takes, at once after the one before, at a server that nobody has looked at."""
    print(f"  {shape}: seconds to the first byte, and to the last")
    times: dict[str, list[tuple[float, float]]] = {}
    for _ in range(repetitions):
        with study.serve() as (_, port, _started_s):
            for title, taken in asyncio.run(_page_times(study, port)).items():
                times.setdefault(title, []).append(taken)
    for title, of_page in times.items():
        first, whole = (statistics.median(column) for column in zip(*of_page, strict=True))
        print(f"    {title:12} {first:6.3f} {whole:6.3f}", flush=True)


async def _page_times(study: Study, port: int) -> dict[str, tuple[float, float]]:
    connection = await Connection.to(port, study.tokens["lead"][0])
    async with study.people_beside(port):
        return {page.title: await connection.time_page(page.path) for page in PAGES}


def _lengths(study: Study, shape: str) -> list[Figure]:
    from playwright.sync_api import sync_playwright

    browser_path = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium")
    with study.serve() as (_, port, _started_s), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        window = browser.new_page(viewport={"width": WIDTH, "height": HEIGHT})
        window.set_default_timeout(0)
        window.goto(f"http://127.0.0.1:{port}/join#{study.tokens['lead'][0]}")
        window.wait_for_url(lambda url: "/join" not in url)
        measured = {page.title: _measure_page(window, f"http://127.0.0.1:{port}{page.path}") for page in PAGES}
        browser.close()
    for title, (screens, n_undefined) in measured.items():
        print(f"    {title:12} {screens:5.1f} screens, {n_undefined} times undefined", flush=True)
    longest, n_undefined = max(one[0] for one in measured.values()), sum(one[1] for one in measured.values())
    return [
        Figure("pages", f"{shape}: the longest of the lead's pages", longest, "at most", MOST_SCREENS, " screens"),
        Figure("pages", f"{shape}: `undefined` on the lead's pages", n_undefined, "exactly", 0),
    ]


def _measure_page(window: Page, address: str) -> tuple[float, int]:
    window.goto(address)
    height, n_undefined = window.evaluate(MEASURED)
    return height / HEIGHT, n_undefined


def _time_filters(study: Study, shape: str, repetitions: int) -> list[Figure]:
    """Time each filter, at a server at which a lead has looked at Progress, but searched for nothing."""

    async def search(port: int) -> list[tuple[str, float]]:
        connection = await Connection.to(port, study.tokens["lead"][0])
        await connection.time_page("/lead")
        async with study.people_beside(port):
            return [(one, 1000 * (await connection.time_page(f"/lead/grid?{one}"))[1]) for one in FILTERS]

    taken: list[tuple[str, float]] = []
    for _ in range(repetitions):
        with study.serve() as (_, port, _started_s):
            taken += asyncio.run(search(port))
    for query in FILTERS:
        show(f"{shape}, {query}", [ms for name, ms in taken if name == query], " ms")
    slowest = statistics.quantiles([ms for _, ms in taken], n=20, method="inclusive")[-1]
    return [Figure("pages", f"{shape}: a filter, p95", slowest, "at most", MOST_FILTER_MS, " ms")]


def _time_submits(study: Study, shape: str) -> list[Figure]:
    with study.serve() as (_, port, _started_s):
        seen = asyncio.run(_all_at_once(study, port))
    ordered = sorted(1000 * one for one in seen.submits)
    show(f"{shape}, submits", ordered, " ms")
    for name, taken in sorted(seen.looks.items()):
        show(f"{shape}, meanwhile {name}", taken, " s")
    print(f"    asked to come later: {dict(seen.later)}; failed: {dict(seen.failed)}")
    p99 = ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))]
    return [
        Figure("pages", f"{shape}: submit while two leads look and filter, p99", p99, "at most", MOST_SUBMIT_MS, " ms"),
        Figure("pages", f"{shape}: requests that failed meanwhile", seen.failed.total(), "exactly", 0),
    ]


async def _all_at_once(study: Study, port: int) -> Seen:
    seen, until = Seen(), time.perf_counter() + SECONDS
    await asyncio.gather(
        *(answer_without_pause(port, token, at, until, seen) for at, token in enumerate(study.tokens["answering"])),
        *(_look_and_filter(port, study.tokens["lead"][0], until, seen) for _ in range(N_LEADS)),
    )
    return seen


async def _look_and_filter(port: int, token: str, until: float, seen: Seen) -> None:
    connection = await Connection.to(port, token)
    kinds = [(page.title, page.path) for page in PAGES] + [("filter", f"/lead/grid?{one}") for one in FILTERS]
    while time.perf_counter() < until:
        for name, path in kinds:
            if time.perf_counter() < until:
                await seen.look(connection, name, path)


async def _answer(port: int, token: str) -> None:
    """Answer one pair after the other, each after a pause, until cancelled or at the end."""
    connection, n = await Connection.to(port, token), 0
    while tasks := (await connection.ask("GET", "/api/next"))["tasks"]:
        body = {"request_id": f"beside-{time.time_ns()}-{n}", "assignment_id": tasks[0]["assignment_id"]}
        await connection.ask("POST", "/api/judgements", {**body, "answer": "appropriate", "seconds": 1.5})
        await asyncio.sleep(PAUSE_S)
        n += 1


def main() -> None:
    """Measure by itself, and print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.lead_pages", description=__doc__)
    parser.add_argument("--answering", action="store_true", help="have nine people answer beside all of it")
    parser.add_argument("--repetitions", type=int, default=REPETITIONS, help="how often each is run")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fcpair-benchmark-") as folder:
        figures = run(Path(folder), given.repetitions, answering=given.answering)
    print("\n".join(" | ".join(figure.cells()) for figure in figures))


if __name__ == "__main__":
    main()
