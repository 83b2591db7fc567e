"""Whether an acknowledged answer is ever lost or stored twice.

Nine clients answer without a pause while the server is killed or terminated, again and again, and its file is moved,
copied, replaced or deleted under it. What got no reply is sent again, as a browser does.
"""

from __future__ import annotations

import asyncio
import json
import random
import shutil
import sqlite3
import sysconfig
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from benchmarks.clients import Connection
from benchmarks.measure import SEED, Figure
from benchmarks.serving import prepare, server

REPETITIONS = 200
N_HS, N_CN = 30, 30  # a hundred pairs for each client, who answer them again and again
SECONDS = (0.05, 0.4)  # how long the clients answer before something is done to the file, and after it
PATIENCE_S = 30
GONE = (ConnectionError, asyncio.IncompleteReadError, OSError)
ENDS = ("", "-wal", "-shm")
ANSWERS = ("appropriate", "not_sure", "not_appropriate")
ASSIGNMENT = "assignment_id"


@dataclass
class Client:
    """An annotator's client: it keeps what was acknowledged and what was not."""

    name: str
    token: str
    assignments: list[int]
    acknowledged: dict[str, dict[str, int]] = field(default_factory=dict)
    waiting: dict[str, Any] | None = None
    n: int = 0

    async def work(self, port: int) -> None:
        """Answer until the server is gone, beginning with what it did not acknowledge."""
        with suppress(*GONE):
            connection = await Connection.to(port, self.token)
            with closing(connection.writer):
                while True:
                    await self._answer(connection)

    async def _answer(self, connection: Connection) -> None:
        if self.waiting is None:
            self.n += 1
            about = {"assignment_id": self.assignments[self.n % len(self.assignments)], "answer": ANSWERS[self.n % 3]}
            self.waiting = {"request_id": f"{self.name}-{self.n:08}", **about, "seconds": 1.5}
        try:
            reply = await connection.ask("POST", "/api/judgements", self.waiting)
        except RuntimeError as error:
            if " 503 " not in str(error):
                raise
            await asyncio.sleep(0.02)  # the file is not there, or the database server
            return
        self.acknowledged[self.waiting["request_id"]] = reply
        self.waiting = None


@dataclass
class Round:
    """A study that is being served under load, and what may be done to its file."""

    place: Path
    other: Path
    clients: list[Client]
    rng: random.Random
    may_kill: bool = True
    slowest_s: float = 0  # to start
    silent: int = 0  # copies that lack an answer, and are not refused
    refused: Counter[str] = field(default_factory=Counter)

    @property
    def aside(self) -> Path:
        return self.place.with_name("aside.db")

    def n_acknowledged(self) -> int:
        return sum(len(client.acknowledged) for client in self.clients)

    async def a_while(self) -> None:
        """Let the clients answer for some time."""
        await asyncio.sleep(self.rng.uniform(*SECONDS))

    # What is done while clients answer; each returns what is to be done when the server has ended.

    async def nothing(self) -> Callable[[], None]:
        return lambda: None

    async def moved_and_back(self) -> Callable[[], None]:
        _move(self.place, self.aside, self.rng.choice((ENDS[:1], ENDS[:2], ENDS)))
        await self.a_while()
        _move(self.aside, self.place, ENDS)
        await self.a_while()
        return lambda: None

    async def moved_alone(self) -> Callable[[], None]:
        _move(self.place, self.aside, ENDS[:1])
        await self.a_while()
        return lambda: _move(self.aside, self.place, ENDS)

    async def moved_with_log(self) -> Callable[[], None]:
        _move(self.place, self.aside, ENDS)
        await self.a_while()
        return lambda: _move(self.aside, self.place, ENDS)

    async def replaced(self) -> Callable[[], None]:
        _move(self.place, self.aside, ENDS[:1])
        shutil.copyfile(self.other, self.place)
        await self.a_while()

        def restore() -> None:
            if self.place.read_bytes() != self.other.read_bytes():
                raise RuntimeError("the file that came in the place of the study was changed")
            _move(self.aside, self.place, ENDS)

        return restore

    async def deleted(self) -> Callable[[], None]:
        for end in ENDS:
            Path(f"{self.place}{end}").unlink(missing_ok=True)
        self.may_kill = self.rng.random() < 0.5  # what was deleted is lost with a server that had no time to notice
        if self.may_kill:
            until = time.monotonic() + PATIENCE_S
            while not _rescued(self.place):
                if time.monotonic() > until:
                    raise RuntimeError("nothing was saved")
                await asyncio.sleep(0.01)

        def take_rescued() -> None:
            (copy,) = _rescued(self.place)
            copy.rename(self.place)

        return take_rescued

    async def copied(self) -> Callable[[], None]:
        return self._copied(ENDS[:2])

    async def copied_without_log(self) -> Callable[[], None]:
        return self._copied(ENDS[:1])

    def _copied(self, ends: tuple[str, ...]) -> Callable[[], None]:
        known = {request for client in self.clients for request in client.acknowledged}
        for end in ends:
            shutil.copyfile(f"{self.place}{end}", f"{self.aside}{end}")

        def look() -> None:
            refused = _is_refused(self.aside)
            self.silent += not (refused or known <= set(_replies(self.aside)))
            self.refused[f"copies of {len(ends)} files, {'refused' if refused else 'accepted'}"] += 1
            for end in ENDS:
                Path(f"{self.aside}{end}").unlink(missing_ok=True)

        return look


Act = Callable[[Round], Awaitable[Callable[[], None]]]
ACTS: tuple[Act, ...] = (
    Round.nothing,
    Round.moved_and_back,
    Round.moved_alone,
    Round.moved_with_log,
    Round.replaced,
    Round.deleted,
    Round.copied,
    Round.copied_without_log,
)


def run(folder: Path, repetitions: int) -> list[Figure]:
    """End the server so often under load, and count what was acknowledged and is not there, or is there twice."""
    tokens = prepare(folder, n_hs=N_HS, n_cn=N_CN)
    other = Path(shutil.copy(folder / "study.db", folder / "other.db"))
    (folder / "served").mkdir()
    place = Path(shutil.move(folder / "study.db", folder / "served" / "study.db"))
    this = Round(place, other, clients(place, tokens), random.Random(SEED))
    began, done = time.perf_counter(), Counter[str]()
    for at in range(repetitions):
        act = ACTS[at % len(ACTS)]
        killed = _live_and_die(this, act)
        done[f"{act.__name__}, {'killed' if killed else 'terminated'}"] += 1
    lost, doubled = _missing(this)
    print("  " + "; ".join(f"{what}: {n}" for what, n in sorted((done + this.refused).items())))
    took_s = time.perf_counter() - began
    print(f"  {this.n_acknowledged():,} answers acknowledged in {took_s:.0f} s; slowest start {this.slowest_s:.1f} s")
    return [
        Figure("kills", f"answers lost of {this.n_acknowledged():,}, in {repetitions} kills", lost, "exactly", 0),
        Figure("kills", "answers stored twice", doubled, "exactly", 0),
        Figure("kills", "copies that lack an answer and are not refused", this.silent, "exactly", 0),
        *_on_postgresql(folder / "postgresql", max(repetitions // 2, 4)),
    ]


def _on_postgresql(folder: Path, repetitions: int) -> list[Figure]:
    """The same with a database server behind it, which is killed, too."""
    from benchmarks.crash import served
    from benchmarks.crash.places import databases

    folder.mkdir()
    with databases() as places:
        return served.run(folder, places, repetitions)


def clients(place: Path | str, tokens: list[str]) -> list[Client]:
    """One for each person who was invited to a study."""
    from fcpair.params import Annotate
    from fcpair.study import Study

    study = Study(place)
    found = []
    for at, token in enumerate(tokens):
        visitor = study.access.by_token(token)
        if visitor is None:
            raise RuntimeError("a token that was just made lets nobody in")
        tasks = study.work_queue(Annotate()).tasks(visitor, 100)
        found.append(Client(f"client-{at}", token, [task.assignment_id for task in tasks]))
    study.close()
    return found


def _live_and_die(this: Round, act: Act) -> bool:
    """One life of the server; returns whether it was killed, and not only terminated."""
    script = str(Path(sysconfig.get_path("scripts")) / "fcpair")
    line = [script, "serve", "--study", str(this.place), "--port"]
    with server(line, "/join") as (process, port, start_s):
        this.slowest_s = max(this.slowest_s, start_s)
        killed, afterwards = asyncio.run(_under_load(this, act, process, port))
    afterwards()
    for left in (*_rescued(this.place), *this.place.parent.glob("aside.db*")):
        left.unlink()
    return killed


async def _under_load(this: Round, act: Act, process: psutil.Process, port: int) -> tuple[bool, Callable[[], None]]:
    working = [asyncio.create_task(client.work(port)) for client in this.clients]
    before, until = this.n_acknowledged(), time.monotonic() + PATIENCE_S
    while this.n_acknowledged() == before and time.monotonic() < until:
        await asyncio.sleep(0.01)
    await this.a_while()
    afterwards = await act(this)
    killed = this.may_kill and this.rng.random() < 0.6
    this.may_kill = True
    process.kill() if killed else process.terminate()
    await asyncio.gather(*working)
    return killed, afterwards


def _move(place: Path, to: Path, ends: tuple[str, ...]) -> None:
    for end in ends:
        with suppress(FileNotFoundError):
            Path(f"{place}{end}").rename(f"{to}{end}")


def _rescued(place: Path) -> list[Path]:
    return sorted(place.parent.glob("study-rescued-*.db"))


def _is_refused(path: Path) -> bool:
    """Whether fcpair refuses a file, as `serve` and `status` do."""
    from fcpair.errors import StudyError
    from fcpair.study import Study

    try:
        study = Study(path)
        try:
            study.examine()
        finally:
            study.close()
    except StudyError:
        return True
    return False


def _replies(path: Path) -> dict[str, dict[str, int]]:
    with closing(sqlite3.connect(path)) as connection:
        return {name: json.loads(reply) for name, reply in connection.execute("SELECT request_id, reply FROM receipt")}


def _missing(this: Round) -> tuple[int, int]:
    """How many answers that were acknowledged are not there as they were, and how many are there twice."""
    if _is_refused(this.place):
        raise RuntimeError(f"{this.place} is refused")
    with closing(sqlite3.connect(this.place)) as connection:
        stored = {row[0] for row in connection.execute("SELECT id FROM judgement")}
    return missing(this.clients, _replies(this.place), stored)


def missing(asking: list[Client], replies: dict[str, dict[str, Any]], stored: set[int]) -> tuple[int, int]:
    """How many acknowledged answers are not kept as they were told, and how many are kept twice.

    A study has `replies`, by their requests, and the numbers of the answers that are `stored`.
    """
    known = {request: reply for client in asking for request, reply in client.acknowledged.items()}
    lost = sum(not _is_kept(reply, replies.get(request), stored) for request, reply in known.items())
    # Clients are told another number of an assignment, which stands for that one alone.
    pairs = {
        (reply[ASSIGNMENT], replies[request][ASSIGNMENT]) for request, reply in known.items() if request in replies
    }
    lost += len(pairs) - min(len(set(numbers)) for numbers in zip(*pairs, strict=True)) if pairs else 0
    numbers = Counter(reply["judgement_id"] for reply in replies.values())
    return lost, len(stored - set(numbers)) + sum(n - 1 for n in numbers.values())


def _is_kept(told: dict[str, int], kept: dict[str, int] | None, stored: set[int]) -> bool:
    """Whether the study has a reply as it was told, and its judgement, whose numbers clients are told another way."""
    if kept is None or kept["judgement_id"] not in stored:
        return False
    return all(kept[name] == value for name, value in told.items() if name not in ("judgement_id", ASSIGNMENT))
