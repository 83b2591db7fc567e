"""How many pairs of CONAN a reader sees whole, with all answers, without scrolling and with nothing in front of them.

The pages are those that `fcpair serve` gives, in Chromium as a phone and as a laptop; a page is opened once for each
role and size, and the texts of the pairs are put in the place of those that it shows. A part counts as seen when every
line of it lies in the window, in no part that would have to be scrolled, and is what a finger would touch there.
"""

from __future__ import annotations

import csv
import os
import random
import shutil
import sysconfig
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.measure import SEED, Figure, data
from benchmarks.serving import crossed, server, write_rows

if TYPE_CHECKING:
    from playwright.sync_api import Browser

REPETITIONS = 1  # nothing in it is left to chance but the draw, which has a seed
N_PAIRS = 600
SIZES = {(375, 667): 98.0, (320, 568): 95.0, (1366, 625): 99.0}
WIDEST_PHONE = 600
ARGUMENTS = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking")
LONGEST_LABEL = "not appropriate"
MEASURE = """([pairs, parts, label]) => {
  const lines = (element) => {
    const range = document.createRange();
    range.selectNodeContents(element);
    return [...range.getClientRects()].filter((line) => line.width && line.height);
  };
  const cut = (one) => ["auto", "scroll", "hidden"].includes(getComputedStyle(one).overflowY) &&
    one.scrollHeight > one.clientHeight + 1;
  const within = (element) => {
    for (let one = element; one !== document.body; one = one.parentElement) if (cut(one)) return false;
    return true;
  };
  const clear = (element, line) => [line.left + 1, (line.left + line.right) / 2, line.right - 1].every((x) => {
    const found = document.elementFromPoint(x, (line.top + line.bottom) / 2);
    return found !== null && (found === element || element.contains(found));
  });
  const inside = (line) => line.top >= 0 && line.bottom <= innerHeight && line.left >= 0 && line.right <= innerWidth;
  const seen = (element) => within(element) && lines(element).every((line) => inside(line) && clear(element, line));
  const put = (id, words) => { const place = document.getElementById(id); if (place) place.textContent = words; };
  return pairs.map(([hs, cn]) => {
    put("hs", hs);
    put("cn", cn);
    put("label", label);
    scrollTo(0, 0);
    const answers = [...document.querySelectorAll(".answers button")];
    return [answers[0].getBoundingClientRect().top, ...parts.map((part) => seen(document.querySelector(part))),
      answers.every(seen)];
  });
}"""


@dataclass(frozen=True)
class Reader:
    """Somebody at a page, and what of it they judge."""

    name: str
    parts: tuple[str, ...]


READERS = (
    Reader("annotator", ("#hs", "#cn")),
    Reader("validator", ("#hs", "#cn", "#label")),
    Reader("adjudicator", ("#hs", "#cn", "section[aria-labelledby=answers-name] ul")),
)


def run(folder: Path, _repetitions: int) -> list[Figure]:
    """Measure the share of pairs that each reader sees whole at each size, in percent, and how far the answers move."""
    from playwright.sync_api import sync_playwright

    pairs = draw(data() / "conan" / "CONAN.csv")
    links = prepare(folder, pairs)
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    browser_path = os.environ.get("FCPAIR_CHROMIUM") or shutil.which("chromium")
    limits = ["--daily-limit", "40", "--total-limit", "400"]  # so that the line above the pair is as long as it gets
    line = [script, "serve", "--study", str(folder / "study.db"), *limits, "--port"]
    figures = []
    with server(line, "/join") as (_, port, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=browser_path, args=ARGUMENTS)
        for (width, height), least in SIZES.items():
            for reader in READERS:
                url = f"http://127.0.0.1:{port}/join#{links[reader.name]}"
                share, spread = measure(browser, url, reader, (width, height), pairs)
                place = f"{reader.name}, {width} x {height}"
                figures.append(Figure("visible", f"{place}: pairs seen whole", share, "at least", least, " %"))
                figures.append(Figure("visible", f"{place}: spread of the answers' place", spread, "at most", 0, " px"))
        browser.close()
    return figures


def draw(path: Path) -> list[tuple[str, str]]:
    """`N_PAIRS` of the product of the distinct English HS and CNs, drawn with `SEED`."""
    with path.open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["cn_id"].startswith("EN")]
    hs = list(dict.fromkeys(row["hateSpeech"] for row in rows))
    cn = list(dict.fromkeys(row["counterSpeech"] for row in rows))
    cells = random.Random(SEED).sample(range(len(hs) * len(cn)), N_PAIRS)
    return [(hs[cell // len(cn)], cn[cell % len(cn)]) for cell in cells]


def prepare(folder: Path, pairs: list[tuple[str, str]]) -> dict[str, str]:
    """Make a study that has something for each reader; returns their tokens."""
    from fcpair.params import Adjudicate, Assign, Validate
    from fcpair.records import Role

    hs, cns = pairs[0][0], list(dict.fromkeys(cn for _, cn in pairs))[:3]
    study = crossed(folder, [hs], cns)
    grid = study.grid()
    study.add_people(["annotator", "other"], Role.ANNOTATOR)
    grid.assign(Assign(overlap={2: 1.0}, seed=SEED))
    said = [("annotator", 1, 2), ("other", 1, 0), ("annotator", 2, 2), ("other", 2, 2)]  # the third is open
    write_rows(folder / "labels.csv", [("annotator", "pair", "label"), *((a, str(b), str(c)) for a, b, c in said)])
    grid.import_labels(folder / "labels.csv")
    grid.adjudicate(Adjudicate())
    study.add_people(["validator"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    study.add_people(["adjudicator"], Role.ADJUDICATOR)
    tokens = {reader.name: study.access.invite(reader.name) for reader in READERS}
    for one in study.people:
        study.access.consent(one.id, {})
    study.close()
    return tokens


def measure(
    browser: Browser, url: str, reader: Reader, size: tuple[int, int], pairs: list[tuple[str, str]]
) -> tuple[float, float]:
    """The percentage of the pairs of which a reader sees every part whole, and how far the answers move between pairs.

    Prints it part by part.
    """
    viewport, is_phone = {"width": size[0], "height": size[1]}, size[0] <= WIDEST_PHONE
    context = browser.new_context(
        viewport=viewport,  # type: ignore[arg-type]
        has_touch=is_phone,
        is_mobile=is_phone,
        device_scale_factor=2 if is_phone else 1,
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_function("() => location.pathname !== '/join' && document.querySelector('#cn')?.textContent")
    page.locator("#pair").wait_for()
    rows = page.evaluate(MEASURE, [pairs, list(reader.parts), LONGEST_LABEL])
    context.close()
    tops, seen = [row[0] for row in rows], [row[1:] for row in rows]
    spread = max(tops) - min(tops)
    shares = [100 * sum(part) / len(pairs) for part in zip(*seen, strict=True)]
    whole = 100 * sum(map(all, seen)) / len(pairs)
    by_part = ", ".join(f"{part} {share:.1f} %" for part, share in zip([*reader.parts, "answers"], shares, strict=True))
    place = f"answers at y {min(tops):.0f} to {max(tops):.0f}"
    print(f"  {reader.name}, {size[0]} x {size[1]}: {whole:.1f} % whole; {by_part}; {place}", flush=True)
    return whole, spread
