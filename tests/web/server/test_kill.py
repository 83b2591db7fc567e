"""What is acknowledged stays: the server is killed under load, again and again, and asked again for what it knows."""

from __future__ import annotations

import http.client
import json
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Semaphore, Thread
from typing import Any
from urllib.parse import urlsplit

import pytest
from awaited import PATIENCE_S
from conftest import one_short
from steps.online import admit
from steps.small import ANNOTATORS, NAMES

from fcpair.params import Annotate
from fcpair.steps.base.context import load_opaque_ids
from fcpair.study import Study
from web.served import Served

ROOT = Path(__file__).parents[3]
N_ACTS = 8
KILLS = 2, 6  # the benchmark `kills` has two hundred
MORE = (0, 200)  # so many answers a server acknowledges after the first of everybody
GONE = (ConnectionError, http.client.HTTPException, TimeoutError)


@dataclass
class Client:
    """An annotator's client: it answers without a pause, and keeps what was acknowledged and what was not."""

    name: str
    token: str
    assignments: list[int]
    acknowledged: dict[str, dict[str, int]] = field(default_factory=dict)
    unanswered: list[dict[str, Any]] = field(default_factory=list)
    n: int = 0
    told: Semaphore = field(default_factory=lambda: Semaphore(0))  # of each acknowledgement

    def work(self, url: str, end: Event) -> None:
        """Send again what got no answer, then answer until the server is gone."""
        place = urlsplit(url)
        connection = http.client.HTTPConnection(str(place.hostname), place.port, timeout=20)
        with closing(connection):
            try:
                while not end.is_set():
                    self.submit(connection, self.unanswered[0] if self.unanswered else self._new())
            except GONE:
                return

    def _new(self) -> dict[str, Any]:
        self.n += 1
        answer = {"assignment_id": self.assignments[self.n % len(self.assignments)], "answer": NAMES[self.n % 3]}
        self.unanswered.append({"request_id": f"{self.name}-{self.n:08}", **answer, "seconds": 1.5})
        return self.unanswered[-1]

    def submit(self, connection: http.client.HTTPConnection, answer: dict[str, Any]) -> dict[str, int]:
        """Send an answer; it counts as acknowledged when the whole reply is here."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", "/api/judgements", json.dumps(answer), headers)
        with connection.getresponse() as response:  # which has the socket where the server closes it after this
            body = response.read()
        assert response.status == 200, body
        reply: dict[str, int] = json.loads(body)
        self.acknowledged[answer["request_id"]] = reply
        self.unanswered = [one for one in self.unanswered if one is not answer]
        self.told.release()
        return reply


def clients_of(study: Study) -> list[Client]:
    """A client for each annotator, with all that they were dealt."""
    found = []
    for name in ANNOTATORS:
        visitor, token = admit(study, name), study.access.invite(name)
        tasks = study.work_queue(Annotate()).tasks(visitor, 100)
        found.append(Client(name, token, [task.assignment_id for task in tasks]))
    return found


def stored(path: Path) -> tuple[dict[str, dict[str, int]], Counter[int]]:
    """The reply kept for each request, and how often each judgement is there; read after the server was killed."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        replies = connection.execute("SELECT request_id, reply FROM receipt").fetchall()
        judgements = connection.execute("SELECT id FROM judgement").fetchall()
    return {request: json.loads(reply) for request, reply in replies}, Counter(row[0] for row in judgements)


@pytest.mark.slow
@pytest.mark.parametrize("n_kills", one_short(*KILLS))
def test_every_acknowledged_judgement_is_there_once_however_often_the_server_is_killed(
    files: dict[str, Path], tmp_path: Path, n_kills: int
) -> None:
    path = Path(shutil.copy(files["dealt"], tmp_path / "study.db"))
    study = Study(path)
    clients = clients_of(study)
    with study._store.read() as tx:
        numbers = load_opaque_ids(tx)
    study.close()
    rng = random.Random(13)
    for _ in range(n_kills):
        _live_and_die(path, clients, rng.randint(*MORE))
        replies, judgements = stored(path)
        for client in clients:
            acknowledged = {
                request: _told(reply) | {"assignment_id": numbers.decrypt_assignment(reply["assignment_id"])}
                for request, reply in client.acknowledged.items()
            }
            assert {request: _told(replies[request]) for request in acknowledged} == acknowledged
        assert Counter(reply["judgement_id"] for reply in replies.values()) == judgements
    assert sum(len(client.acknowledged) for client in clients) > n_kills
    assert len(Study(path).grid().labels()) > 0


def _told(reply: dict[str, int]) -> dict[str, int]:
    """What the study keeps of a reply; clients are told other numbers of the judgement, and of its assignment."""
    return {name: value for name, value in reply.items() if name != "judgement_id"}


def _live_and_die(path: Path, clients: list[Client], n_more: int) -> None:
    served, end = Served(path), Event()
    assert served.ask("/join")[0] == 200  # it listens before it answers
    threads = [Thread(target=client.work, args=(served.url, end)) for client in clients]
    for client in clients:
        client.told = Semaphore(0)
    for thread in threads:
        thread.start()
    for at in range(len(clients) + n_more):  # it is under load before it dies
        assert clients[at % len(clients)].told.acquire(timeout=PATIENCE_S), served.output.read_text()
    served.process.kill()
    served.process.wait()
    end.set()
    for thread in threads:
        thread.join()


@pytest.mark.slow
def test_what_was_sent_before_the_kill_answers_alike_afterwards(files: dict[str, Path], tmp_path: Path) -> None:
    path = Path(shutil.copy(files["dealt"], tmp_path / "study.db"))
    study = Study(path)
    client = clients_of(study)[0]
    study.close()
    _live_and_die(path, [client], 200)
    before = dict(client.acknowledged)
    served = Served(path)
    place = urlsplit(served.url)
    with closing(http.client.HTTPConnection(str(place.hostname), place.port, timeout=20)) as connection:
        n = len(before)
        request = f"{client.name}-{n:08}"
        answer = {"assignment_id": client.assignments[n % len(client.assignments)], "answer": NAMES[n % 3]}
        assert client.submit(connection, {"request_id": request, **answer, "seconds": 1.5}) == before[request]
    served.end()


@pytest.mark.long
def test_nothing_is_lost_or_doubled_whatever_is_done_to_the_server_and_its_file() -> None:
    """The benchmark `kills`, a life for each thing that it does to the file of a study under load."""
    line = [sys.executable, "-m", "benchmarks", "kills", "--repetitions", str(N_ACTS)]
    run = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    acknowledged = re.search(r"([\d,]+) answers acknowledged", run.stdout)
    assert acknowledged
    assert int(acknowledged[1].replace(",", "")) > N_ACTS
    acts = set(re.findall(r"(\w+), (?:kill|term)", run.stdout))
    assert {"moved_alone", "replaced", "deleted", "copied_without_log"} <= acts
