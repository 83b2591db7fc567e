"""Connections: how long one may keep quiet, how many there may be, and who goes when all are taken."""

from __future__ import annotations

import asyncio
import logging
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Thread
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from fcpair.web import wire
from fcpair.web.door import _SEEN
from fcpair.web.wire import fitting

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
LARGE = 16 * 1024 * 1024  # more than the system keeps for a client that does not read
SLOW_S = 1.0
PATIENCE_S = 10.0


async def app(scope: Any, receive: Any, send: Any) -> None:
    """`/slow` takes its time, `/large` has much to say, `/known` comes from somebody of the study."""
    path = scope["path"]
    while (await receive()).get("more_body"):
        pass
    if path == "/slow":
        await asyncio.sleep(SLOW_S)
    if path == "/known":
        scope[_SEEN] = SimpleNamespace(visitor="ana")
    body = b"x" * (LARGE if path == "/large" else 2)
    headers = [(b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


class Server:
    """A server in a thread, and connections to it."""

    def __init__(self, port: int, server: uvicorn.Server, thread: Thread) -> None:
        self.port, self._server, self._thread = port, server, thread
        self._sockets: list[socket.socket] = []

    def connect(self, sent: bytes = b"") -> socket.socket:
        """A connection on which something was sent."""
        one = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        self._sockets.append(one)
        one.sendall(sent)
        return one

    def end(self) -> float:
        """End the server; returns the seconds that it took."""
        begun = time.perf_counter()
        self._server.should_exit = True
        self._thread.join(PATIENCE_S)
        return time.perf_counter() - begun

    def close(self) -> None:
        """Close all connections, and end."""
        for one in self._sockets:
            one.close()
        self.end()


@contextmanager
def running(**given: Any) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        config = uvicorn.Config(app, http=wire.Wire, lifespan="off", log_level="warning", **given)
        server = uvicorn.Server(config)
        thread = Thread(target=server.run, args=([listener],))
        thread.start()
        running_ = Server(listener.getsockname()[1], server, thread)
        try:
            yield running_
        finally:
            running_.close()


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have all limits of time pass quickly."""
    for name, seconds in {"HEAD_S": 0.5, "UNREAD_S": 0.6, "LAST_S": 0.3, "SWEEP_S": 0.05}.items():
        monkeypatch.setattr(wire, name, seconds)


@pytest.fixture
def server(quick: None) -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def small(quick: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server for four connections, in which time is no limit."""
    monkeypatch.setattr(wire, "MOST", 4)
    monkeypatch.setattr(wire, "HEAD_S", 60)
    with running() as started:
        yield started


def is_closed(one: socket.socket, within_s: float = 3.0) -> bool:
    one.settimeout(within_s)
    try:
        return one.recv(1) == b""
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


def answer(one: socket.socket) -> bytes:
    """What is answered, up to its end or its first part."""
    got = one.recv(1000)
    return got if b"\r\n\r\nxx" in got or b" 200 " not in got else got + one.recv(1000)


@pytest.mark.parametrize("sent", [b"", b"GET", GET[:-2], b"POST / HTTP/1.1\r\nX-"])
def test_who_sends_no_whole_head_is_not_waited_for(server: Server, sent: bytes) -> None:
    assert is_closed(server.connect(sent))


def test_a_head_that_drips_is_not_waited_for(server: Server) -> None:
    one, begun = server.connect(b"GET /"), time.perf_counter()
    with suppress(ConnectionError):
        while time.perf_counter() < begun + 5:
            one.sendall(b"x")
            time.sleep(0.1)
    assert time.perf_counter() < begun + 3


def test_the_next_request_of_a_connection_has_as_long_from_its_first_byte(server: Server) -> None:
    one = server.connect(GET)
    assert b" 200 " in answer(one)
    time.sleep(0.8)  # longer than a head may take: nothing is under way, so nothing is late
    one.sendall(GET)
    assert b" 200 " in answer(one)
    one.sendall(b"G")
    assert is_closed(one)


def test_a_request_that_is_whole_may_take_as_long_as_its_answer(server: Server) -> None:
    one = server.connect(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    assert b" 200 " in answer(one)


@pytest.mark.parametrize("head", [b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /large HTTP/1.0\r\n\r\n"])
def test_who_does_not_take_the_answer_is_not_waited_for(server: Server, head: bytes) -> None:
    one = server.connect(head)
    time.sleep(1.5)
    got = 0
    with suppress(ConnectionResetError):
        while part := one.recv(1 << 20):  # what the system had taken already
            got += len(part)
    assert got < LARGE


def test_who_reads_slowly_but_steadily_gets_all_of_it(server: Server) -> None:
    one, got = server.connect(b"GET /large HTTP/1.0\r\n\r\n"), 0
    begun = time.perf_counter()
    while part := one.recv(256 * 1024):
        got += len(part)
        time.sleep(0.02)
    assert got > LARGE
    assert time.perf_counter() > begun + 0.6


def test_the_oldest_without_a_whole_request_goes_for_a_new_one(small: Server) -> None:
    held = [small.connect(sent) for sent in (b"", b"GET / HTTP/1.1\r\n", POST)]
    slow = small.connect(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(0.1)
    new = [small.connect(GET) for _ in range(2)]
    assert [b" 200 " in answer(one) for one in new] == [True, True]
    assert [is_closed(one, 0.2) for one in held] == [True, True, False]
    assert b" 200 " in answer(slow)


def test_who_is_known_and_idle_goes_last(small: Server) -> None:
    known = small.connect(GET.replace(b"/ ", b"/known "))
    assert b" 200 " in answer(known)
    strangers = [small.connect(GET) for _ in range(3)]
    assert all(b" 200 " in answer(one) for one in strangers)
    assert all(b" 200 " in answer(small.connect(GET)) for _ in range(2))
    assert [is_closed(one, 0.2) for one in strangers] == [True, True, False]
    assert not is_closed(known, 0.2)


def test_who_does_not_read_goes_for_who_does(small: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "UNREAD_S", 60)
    for _ in range(4):
        small.connect(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
    time.sleep(0.3)
    assert b" 200 " in answer(small.connect(GET))


def test_connections_that_went_are_told_in_one_line(small: Server, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(50):
        small.connect()
    time.sleep(0.5)
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(said) == 1, said
    assert said[0].startswith("all 4 connections that fit are taken; ")
    assert "LimitNOFILE" in said[0]


def test_what_is_no_http_is_told_in_one_line(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(20):
        one = server.connect(b"\x16\x03\x01\x02\x00\x01\r\n\r\n")  # as TLS begins
        assert b" 400 " in answer(one)
    upgrade = server.connect(GET[:-2] + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert b" 200 " in answer(upgrade)
    time.sleep(0.3)
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert [one.partition(" ")[2].split(",")[0] for one in said] == ["times something came that is no HTTP"]


def test_little_is_read_at_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    updated = wire.Wire.buffer_updated

    def noted(self: wire.Wire, nbytes: int) -> None:
        sizes.append(nbytes)
        updated(self, nbytes)

    monkeypatch.setattr(wire.Wire, "buffer_updated", noted)
    body = b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"
    one = server.connect(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + body)
    assert b" 200 " in answer(one)
    assert max(sizes) <= 16 * 1024
    assert sum(sizes) > len(body)


@pytest.mark.parametrize("head", [b"X: " + b"x" * 70_000, b"a:\r\n" * 20_000])
def test_a_head_of_more_than_32_kib_is_refused(server: Server, head: bytes) -> None:
    one = server.connect()
    with suppress(OSError):  # closed before all of it was sent
        one.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n")
    assert b" 200 " not in received_of(one)


@pytest.mark.parametrize("more", [b"0\r\n" + b"a:\r\n" * 20_000, b"5;" + b"x" * 70_000])
def test_what_goes_with_a_body_is_refused_where_it_is_more(server: Server, more: bytes) -> None:
    one = server.connect()
    with suppress(OSError):
        one.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n" + more)
    assert b" 200 " not in received_of(one)


@pytest.mark.parametrize(
    "head",
    [
        b"GET / HTTP/1.1\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n",
        b"GET / HTTP/1.1\r\nHost : x\r\n",
        b"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n",
        b"GET /\xff HTTP/1.1\r\nHost: x\r\n",
        b"CONNECT x:443 HTTP/1.1\r\nHost: x\r\n",
        b"BREW / HTTP/1.1\r\nHost: x\r\n",
    ],
)
def test_what_a_proxy_could_read_otherwise_is_refused(
    server: Server, caplog: pytest.LogCaptureFixture, head: bytes
) -> None:
    one = server.connect(head + b"\r\n")
    assert b" 400 " in answer(one)
    assert is_closed(one)
    assert not [line for line in caplog.records if line.levelno >= logging.ERROR]


def received_of(one: socket.socket) -> bytes:
    try:
        return answer(one)
    except ConnectionResetError:
        return b""


def test_requests_that_come_together_are_answered_in_order(server: Server) -> None:
    one, got = server.connect(GET * 50 + GET.replace(b"x\r\n", b"x\r\nConnection: close\r\n")), b""
    while part := one.recv(100_000):
        got += part
    assert got.count(b"HTTP/1.1 200 ") == 51


def test_requests_are_told_apart_wherever_they_are_cut(server: Server) -> None:
    both = GET.replace(b"/ ", b"/slow ") + GET
    ends = [server.connect(both[:cut]) for cut in range(1, len(both))]
    time.sleep(0.1)
    for cut, one in enumerate(ends, 1):
        one.sendall(both[cut:])
    for one in ends:
        got = b""
        while got.count(b"\r\n\r\nxx") < 2:
            got += one.recv(1000)
        assert got.count(b"HTTP/1.1 200 ") == 2


def test_of_requests_that_come_together_one_is_begun_at_a_time(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    wires: list[wire.Wire] = []
    made = wire.Wire.connection_made

    def noted(self: wire.Wire, transport: Any) -> None:
        wires.append(self)
        made(self, transport)

    monkeypatch.setattr(wire.Wire, "connection_made", noted)
    one = server.connect(GET.replace(b"/ ", b"/slow ") + GET * 400 + b"POST / HTTP/1.1\r\n")
    time.sleep(SLOW_S / 2)
    assert len(wires[0].pipeline) == 0
    got = b""
    while got.count(b"\r\n\r\nxx") < 401:
        got += one.recv(100_000)
    assert is_closed(one)  # the last one never becomes whole


def test_bodies_that_are_not_whole_do_not_hold_up_the_end(server: Server) -> None:
    for _ in range(20):
        server.connect(POST + b"half")
        server.connect()
        server.connect(b"GET / HT")
        server.connect(b"nothing\r\n\r\n")
    time.sleep(0.2)
    assert server.end() < 3


def test_what_is_whole_is_answered_before_the_end(quick: None) -> None:
    with running(timeout_graceful_shutdown=5) as server:
        one = server.connect(b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
        time.sleep(0.2)
        assert server.end() < 3
        assert b" 200 " in answer(one)


@pytest.mark.parametrize(("n_files", "n"), [(4096, 2_000), (1024, 1024 - 128 - 64), (300, 150), (64, 32)])
def test_connections_leave_files_for_the_study(n_files: int, n: int) -> None:
    assert fitting(n_files, backlog=16) == n
