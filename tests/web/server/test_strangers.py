"""Strangers who hold what they can, and somebody who works meanwhile: `fcpair serve` in a process of its own.

A longer one, also behind nginx and Caddy, is `python -m benchmarks strangers`.
"""

from __future__ import annotations

import json
import socket
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from fcpair.web.server.security import PATIENCE_S
from web.served import Served
from web.server.test_serve import invited, resident_kb

pytestmark = pytest.mark.slow

MIB = 1024 * 1024
HEAD = "POST {} HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n"
HALF = b"POST /join HTTP/1.1\r\nX-Half: "
GUIDELINES = "/lead/guidelines"


class Strangers:
    """Connections that are held until the test is over."""

    def __init__(self, served: Served) -> None:
        self._address = (urlsplit(served.url).hostname, urlsplit(served.url).port)
        self.held: list[socket.socket] = []

    def come(self, n: int, *sent: bytes) -> None:
        """So many connections, on which this is sent as far as the server takes it."""
        for _ in range(n):
            one = socket.create_connection(self._address, timeout=5)
            self.held.append(one)
            with suppress(OSError):
                for part in sent:
                    one.sendall(part)


@pytest.fixture
def besiege() -> Iterator[Callable[[Served], Strangers]]:
    all_: list[Strangers] = []

    def besieged(served: Served) -> Strangers:
        all_.append(Strangers(served))
        return all_[-1]

    yield besieged
    for strangers in all_:
        for one in strangers.held:
            one.close()


def label(served: Served, token: str, n: int) -> float:
    """Answer a pair, or fail when the server lets one wait; returns the seconds that it took."""
    begun = time.perf_counter()
    (task,) = json.loads(served.ask("/api/next", token)[1])["tasks"]
    body = {"request_id": f"request-{n}", "assignment_id": task["assignment_id"], "answer": "appropriate"}
    assert served.ask("/api/judgements", token, body)[0] == 200
    return time.perf_counter() - begun


def test_somebody_who_works_gets_in_however_many_connections_are_held(
    path: Path, start: Callable[..., Served], besiege: Callable[[Served], Strangers]
) -> None:
    token = invited(path)
    served = start(n_files=160)
    strangers = besiege(served)
    for sent in (b"", HALF):
        strangers.come(150, sent)
    for n in range(5):
        label(served, token, n)
    said = [line for line in served.output.read_text().splitlines() if "connections that fit" in line]
    assert len(said) <= 1
    assert "Traceback" not in served.output.read_text()


def test_bodies_of_strangers_take_no_memory_and_no_time(
    path: Path, start: Callable[..., Served], besiege: Callable[[Served], Strangers]
) -> None:
    token = invited(path)
    served = start()
    label(served, token, 0)
    before = resident_kb(served.process.pid)
    strangers = besiege(served)
    head = HEAD.format(GUIDELINES, 2 * MIB).encode()
    strangers.come(60, head, b"x" * (2 * MIB - 1))
    strangers.come(2, head, b"&" * 2 * MIB)
    # Who waited for a body of a stranger would wait as long as one may take.
    assert max(label(served, token, n) for n in range(1, 6)) < PATIENCE_S / 2
    assert resident_kb(served.process.pid) - before < 40_000


def test_it_ends_soon_whatever_strangers_hold(
    path: Path, start: Callable[..., Served], besiege: Callable[[Served], Strangers]
) -> None:
    token = invited(path)
    served = start()
    strangers = besiege(served)
    strangers.come(100)
    strangers.come(100, HALF)
    strangers.come(50, HEAD.format("/join", 100).encode(), b"token=")
    label(served, token, 0)
    assert served.terminate() < 5
    assert "Traceback" not in served.output.read_text()
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM judgement").fetchone() == (1,)
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("delete",)


def test_who_is_still_sending_reads_why_it_is_refused_and_no_closed_connection(
    path: Path, start: Callable[..., Served], besiege: Callable[[Served], Strangers]
) -> None:
    """Behind Caddy some of these were 502, while the desk keeps an answer that meets 401."""
    strangers = besiege(start())
    for _ in range(5):
        strangers.come(1, HEAD.format("/api/judgements", 400 * 1024).encode(), b"x" * 100 * 1024)
        time.sleep(0.05)  # meanwhile it is refused
        for _ in range(3):
            strangers.held[-1].sendall(b"x" * 100 * 1024)
            time.sleep(0.01)
        assert strangers.held[-1].recv(12) == b"HTTP/1.1 401"
