"""Twenty writers who have texts checked while they write, held against 10,000 texts that came often and their own.

A server of `fcpair serve`; about every second each writer sends a text that nobody has sent before, as the page does
while one types. Another client asks for something else meanwhile, which shows whether checks hold that up.
"""

from __future__ import annotations

import asyncio
import random
import sysconfig
import time
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.clients import Connection
from benchmarks.measure import SEED, Figure, show
from benchmarks.serving import server

if TYPE_CHECKING:
    from fcpair.grid import Grid

REPETITIONS = 1
SECONDS = 40
N_WRITERS = 20
N_TEXTS = 10_000
N_TIMES = 11  # as often as each of these texts has been written, by as many other people
EVERY_S = 1.0
WHO = ("I see", "We hear", "They say", "You think", "People know", "My aunt said", "Some hope", "A friend read")
WHAT = ("tea", "rain", "bread", "the bridge", "the last train", "a quiet street", "her garden", "this town", "the shop")
HOW = ("is kinder", "was louder", "grows slower", "feels nearer", "looks greener", "seems older", "stays longer")
THAN = ("in spring", "most believe", "in the valley", "the neighbours say", "a map shows", "it used to be", "the sea")
WHY = ("because of the wind", "as books tell", "since last year", "for all of us", "when nobody looks", "in a way")


def run(folder: Path, repetitions: int) -> list[Figure]:
    """Measure checks of too few words and of likeness, one after the other and by twenty writers at once."""
    tokens = prepare(folder)
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    found: dict[str, list[float]] = {}
    with server([script, "serve", "--study", str(folder / "study.db"), "--port"], "/join") as (_, port, start_s):
        show("start until the first answer", [start_s], " s")
        found = asyncio.run(_measure(port, tokens))
    for name, values in found.items():
        show(f"{name}: p50", [_at(values, 0.5)], " ms")
        show(f"{name}: p99, of {len(values):,}", [_at(values, 0.99)], " ms")
    words = _at(found["words, alone"], 0.5) - _at(found["progress, alone"], 0.5)
    return [
        Figure("writing", "too few words, over a request without a check", words, "at most", 5, " ms"),
        Figure(
            "writing", "likeness by 20 writers, p99", _at(found["likeness, 20 writers"], 0.99), "at most", 150, " ms"
        ),
        Figure(
            "writing", "another request meanwhile, p99", _at(found["progress, meanwhile"], 0.99), "at most", 100, " ms"
        ),
    ]


def texts() -> list[str]:
    """So many different texts, of about the same kind, in an order drawn by seed."""
    every = [
        f"{who} {what} {how} than {than}, {why}." for who, what, how, than, why in product(WHO, WHAT, HOW, THAN, WHY)
    ]
    random.Random(SEED).shuffle(every)
    return every[:N_TEXTS]


def prepare(folder: Path) -> list[str]:
    """Make the study, with all texts written as often as it takes, and invite its writers."""
    from fcpair.params import Setup
    from fcpair.plans import Checks, GridPlan, RoundPlan, SidePlan
    from fcpair.records import Role
    from fcpair.study import Study

    rows = [f"A mild statement with the number {at}." for at in range(N_TEXTS)]
    checks = Checks(similar=0.95, often=N_TIMES - 1)
    asked = RoundPlan("write", "text: text(min_words=6)", role="writer", answers=0, language="en", checks=checks)
    plan = GridPlan("write", SidePlan(names=tuple(rows)), SidePlan(names=("reply",)), (asked,))
    study = Study.create(folder / "study.db", Setup(title="Written"), grids=[plan])
    study.add_people([f"before{at}" for at in range(N_TIMES)], Role.WRITER)
    study.add_people([f"w{at}" for at in range(N_WRITERS)], Role.WRITER)
    study.grid().pair()
    study.grid().assign_round()
    _write_all(study.grid())
    tokens = [study.access.invite(f"w{at}") for at in range(N_WRITERS)]
    for one in study.people:
        if one.name.startswith("w"):
            study.access.consent(one.id, {})
    study.close()
    return tokens


def _write_all(grid: Grid) -> None:
    """Have those who were there before write one text on each row, into the tables: checks would refuse them."""
    from fcpair.records import Origin
    from fcpair.steps.answers.answer_import import save_answers
    from fcpair.steps.base.answer_values import answer_numbers, form_of
    from fcpair.steps.base.context import begin_run
    from fcpair.store.assignment import assignments, rounds
    from fcpair.store.oversight import runs

    with grid._store.write() as tx:
        of = rounds.by_name(tx, "write")
        open_ = assignments.open_work(tx, of)
        open_ = open_[open_["annotator"].str.startswith("before")].rename(columns={"id": "assignment_id"})
        cells = sorted(open_["cell_id"].unique().tolist())
        said = answer_numbers(tx, of, form_of(of.form), [{"text": one} for one in texts()], cells)
        run_id = begin_run(tx, "import answers", {})
        number_of = dict(zip(cells, said, strict=True))
        save_answers(tx, open_.assign(note="", answer_id=open_["cell_id"].map(number_of)), Origin.IMPORTED, run_id)
        runs.end_run(tx, run_id, {"answers": len(open_)})


async def _measure(port: int, tokens: list[str]) -> dict[str, list[float]]:
    """Milliseconds of each request, by what was asked."""
    first = await _Writer.at(port, tokens[0], N_WRITERS)
    found = {"the first check of a new server": [await first.check(first.text())]}
    writers = [await _Writer.at(port, token, at) for at, token in enumerate(tokens)]
    found["progress, alone"] = [await writers[0].timed("GET", "/api/progress") for _ in range(200)]
    found["words, alone"] = [await writers[0].check("Too few.") for _ in range(200)]
    found["likeness, alone"] = [await writers[0].check(writers[0].text()) for _ in range(50)]
    until = time.perf_counter() + SECONDS
    looking = asyncio.create_task(_look(port, tokens[0], until))
    checked = await asyncio.gather(*(_write(one, until, EVERY_S) for one in writers))
    found["likeness, 20 writers"] = [one for each in checked for one in each]
    found["progress, meanwhile"] = await looking
    return found


async def _write(writer: _Writer, until: float, every_s: float) -> list[float]:
    taken = []
    await asyncio.sleep(every_s * random.Random(writer.number).random())
    while (start := time.perf_counter()) < until:
        taken.append(await writer.check(writer.text()))
        await asyncio.sleep(max(every_s * writer.pace.uniform(0.5, 1.5) - (time.perf_counter() - start), 0))
    return taken


async def _look(port: int, token: str, until: float) -> list[float]:
    connection, taken = await Connection.to(port, token), []
    while (start := time.perf_counter()) < until:
        await connection.ask("GET", "/api/progress")
        taken.append(1000 * (time.perf_counter() - start))
        await asyncio.sleep(0.05)
    return taken


@dataclass
class _Writer:
    """Somebody at the desk, with a cell to write on, who never sends the same text twice."""

    number: int
    connection: Connection
    assignment_id: int
    pace: random.Random
    n: int = 0

    @classmethod
    async def at(cls, port: int, token: str, number: int) -> _Writer:
        connection = await Connection.to(port, token)
        (task,) = (await connection.ask("GET", "/api/next"))["tasks"]
        return cls(number, connection, task["assignment_id"], random.Random(number))

    def text(self) -> str:
        self.n += 1
        return (
            f"I am writer {self.number}, and this is what I have to say for the {self.n}th time about your statement."
        )

    async def check(self, text: str) -> float:
        body = {"assignment_id": self.assignment_id, "answer": text}
        return await self.timed("POST", "/api/check", body)

    async def timed(self, method: str, path: str, body: Any = None) -> float:
        start = time.perf_counter()
        await self.connection.ask(method, path, body)
        return 1000 * (time.perf_counter() - start)


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)]
