"""Connections: how long one may keep quiet, how many there may be, and who goes when all are taken."""

from __future__ import annotations

import ast
import asyncio
import inspect
import logging
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event, Semaphore, Thread
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn
from awaited import Clocked, until
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from fcpair.cli.oversight.serve import KEEP_S
from fcpair.web.auth import _CALLER_KEY
from fcpair.web.server import connections
from fcpair.web.server.connections import n_fitting

GET = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"
POST = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
SLOWLY = b"GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"
LARGE = 16 * 1024 * 1024  # more than the system keeps for a client that does not read
PATIENCE_S = 10.0
SLOW = "/slow"
TICK_S = 0.1  # in which uvicorn looks whether it is to end


class Server:
    """A server in a thread, whose clock goes on when a test says so, and connections to it.

    Its app answers `/slow` when it is let go, has much to say at `/large`, and is asked for `/known` by somebody of the
    study.
    """

    def __init__(self, listener: socket.socket, **given: Any) -> None:
        self.port = listener.getsockname()[1]
        self.n_read = 0
        self.wires: list[connections.LimitedProtocol] = []
        self._done: list[Event] = []
        self._sockets: list[socket.socket] = []
        self._loop, self._go, self._connected = Clocked(), asyncio.Event(), Semaphore(0)
        config = uvicorn.Config(
            self._answer,
            http=self._noting(),
            interface="asgi3",
            lifespan="off",
            log_level="warning",
            timeout_keep_alive=KEEP_S,
            **given,
        )
        self._server = uvicorn.Server(config)
        self._thread = Thread(target=self._serve, args=(listener,))
        self._thread.start()

    def _serve(self, listener: socket.socket) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._server.serve(sockets=[listener]))
        for done in self._done:
            done.set()

    def _noting(server) -> type[connections.LimitedProtocol]:  # noqa: N805
        """The protocol, which says what has come."""

        class Noted(connections.LimitedProtocol):
            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                server.wires.append(self)
                server._connected.release()

            def data_received(self, data: bytes) -> None:
                super().data_received(data)
                server.n_read += len(data)

        return Noted

    async def _answer(self, scope: Any, receive: Any, send: Any) -> None:
        path = scope["path"]
        while (await receive()).get("more_body"):
            pass
        if path == SLOW:
            await self._go.wait()
        if path == "/known":
            scope[_CALLER_KEY] = SimpleNamespace(visitor="ana")
        body = b"x" * (LARGE if path == "/large" else 2)
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def connect(self, sent: bytes = b"") -> socket.socket:
        """A connection on which something was sent."""
        one = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE_S)
        self._sockets.append(one)
        assert self._connected.acquire(timeout=PATIENCE_S)
        one.sendall(sent)
        return one

    def await_read(self, n_bytes: int) -> None:
        """Wait until the server has read so much, of all connections together."""
        until(lambda: self.n_read >= n_bytes)

    def let_go(self) -> None:
        """Have `/slow` answered."""
        self._loop.call_soon_threadsafe(self._go.set)

    def go_on(self, seconds: float) -> None:
        """Put the server's clock forward, unless it has ended by then."""
        done = Event()
        self._done.append(done)

        async def go() -> None:
            await self._loop.go_on(seconds)
            done.set()

        def begin() -> None:
            self._going = asyncio.create_task(go())

        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(begin)
            assert done.wait(PATIENCE_S)

    def begin_to_end(self) -> None:
        self._server.should_exit = True
        self.go_on(TICK_S)

    def end(self) -> float:
        """End the server; returns the seconds that it took by its own clock."""
        begun = self._loop.time()
        self.begin_to_end()
        while self._thread.is_alive():
            self.go_on(TICK_S)
        return self._loop.time() - begun

    def close(self) -> None:
        for one in self._sockets:
            one.close()
        if not self._loop.is_closed():
            self.let_go()
        self.end()


@contextmanager
def running(**given: Any) -> Iterator[Server]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        started = Server(listener, **given)
        try:
            yield started
        finally:
            started.close()


@pytest.fixture
def server() -> Iterator[Server]:
    with running() as started:
        yield started


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A server for four connections."""
    monkeypatch.setattr(connections, "MOST", 4)
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


def await_first(one: socket.socket) -> None:
    """Wait for the first byte of an answer, without taking it."""
    assert one.recv(1, socket.MSG_PEEK)


def answer(one: socket.socket) -> bytes:
    """What is answered, up to its end or its first part."""
    got = one.recv(1000)
    return got if b"\r\n\r\nxx" in got or b" 200 " not in got else got + one.recv(1000)


def test_the_oldest_without_a_whole_request_goes_for_a_new_one(small: Server) -> None:
    unfinished = (b"", b"GET / HTTP/1.1\r\n", POST)
    held = [small.connect(sent) for sent in unfinished]
    slow = small.connect(SLOWLY)
    small.await_read(sum(map(len, (*unfinished, SLOWLY))))
    new = [small.connect(GET) for _ in range(2)]
    assert [b" 200 " in answer(one) for one in new] == [True, True]
    assert [is_closed(one, 0.2) for one in held] == [True, True, False]
    small.let_go()
    assert b" 200 " in answer(slow)


def test_who_is_known_and_idle_goes_last(small: Server) -> None:
    known = small.connect(GET.replace(b"/ ", b"/known "))
    assert b" 200 " in answer(known)
    strangers = [small.connect(GET) for _ in range(3)]
    assert all(b" 200 " in answer(one) for one in strangers)
    assert all(b" 200 " in answer(small.connect(GET)) for _ in range(2))
    assert [is_closed(one, 0.2) for one in strangers] == [True, True, False]
    assert not is_closed(known, 0.2)


def test_who_does_not_read_goes_for_who_does(small: Server) -> None:
    for one in [small.connect(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n") for _ in range(4)]:
        await_first(one)
    assert b" 200 " in answer(small.connect(GET))


def test_connections_that_went_are_told_in_one_line(small: Server, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(50):
        small.connect()
    until(lambda: len(small.wires) == 50)
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert len(said) == 1, said
    assert said[0].startswith("all 4 connections are in use; ")
    assert "LimitNOFILE" in said[0]


def test_what_is_no_http_is_told_in_one_line(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    for _ in range(20):
        one = server.connect(b"\x16\x03\x01\x02\x00\x01\r\n\r\n")  # as TLS begins
        assert b" 400 " in answer(one)
    upgrade = server.connect(GET[:-2] + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n")
    assert b" 200 " in answer(upgrade)
    said = [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING]
    assert [one.split(",")[0] for one in said] == ["requests that were not HTTP"]


def test_little_is_read_at_once(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    received = connections.LimitedProtocol.data_received

    def noted(self: connections.LimitedProtocol, data: bytes) -> None:
        sizes.append(len(data))
        received(self, data)

    monkeypatch.setattr(connections.LimitedProtocol, "data_received", noted)
    body = b"1\r\nx\r\n" * 20_000 + b"0\r\n\r\n"
    one = server.connect(CHUNKED + body)
    assert b" 200 " in answer(one)
    assert max(sizes) <= 16 * 1024
    assert sum(sizes) > len(body)


@pytest.mark.parametrize(
    "sent",
    [
        *(
            b"GET / HTTP/1.1\r\nHost: x\r\n" + head + b"\r\n\r\n"
            for head in (b"X: " + b"x" * 70_000, b"a:\r\n" * 20_000)
        ),
        *(CHUNKED + more for more in (b"0\r\n" + b"a:\r\n" * 20_000, b"5;" + b"x" * 70_000)),
    ],
    ids=["a long field", "many fields", "many fields after a body", "a long extension of a chunk"],
)
def test_a_head_of_more_than_32_kib_is_refused_and_what_goes_with_a_body(server: Server, sent: bytes) -> None:
    connection = server.connect()
    with suppress(OSError):  # closed before all of it was sent
        connection.sendall(sent)
    try:
        received = answer(connection)
    except ConnectionResetError:
        received = b""
    assert b" 200 " not in received


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


def test_requests_that_come_together_are_answered_in_order(server: Server) -> None:
    one, got = server.connect(GET * 5 + GET.replace(b"x\r\n", b"x\r\nConnection: close\r\n")), b""
    while part := one.recv(100_000):
        got += part
    assert got.count(b"HTTP/1.1 200 ") == 6


def test_many_requests_that_come_together_are_refused(server: Server) -> None:
    one = server.connect(SLOWLY + GET * 400)
    assert b" 400 " in answer(one)
    assert is_closed(one)
    assert len(server.wires[0].pipeline) <= connections.MOST_TOGETHER


def test_requests_are_told_apart_wherever_they_are_cut(server: Server) -> None:
    both = SLOWLY + GET
    ends = [server.connect(both[:cut]) for cut in range(1, len(both))]
    server.await_read(sum(range(1, len(both))))
    for cut, one in enumerate(ends, 1):
        one.sendall(both[cut:])
    server.let_go()
    for one in ends:
        got = b""
        while got.count(b"\r\n\r\nxx") < 2:
            got += one.recv(1000)
        assert got.count(b"HTTP/1.1 200 ") == 2


def test_bodies_that_are_not_whole_do_not_hold_up_the_end(server: Server) -> None:
    parts = (POST + b"half", b"", b"GET / HT", b"nothing\r\n\r\n")
    for _ in range(20):
        for part in parts:
            server.connect(part)
    server.await_read(20 * sum(map(len, parts)))
    assert server.end() < connections.LAST_S + 3


def test_what_is_whole_is_answered_before_the_end() -> None:
    with running(timeout_graceful_shutdown=5) as server:
        one = server.connect(SLOWLY)
        server.await_read(len(SLOWLY))
        server.begin_to_end()
        server.go_on(1)
        server.let_go()
        assert server.end() < 3
        assert b" 200 " in answer(one)


@pytest.mark.parametrize(("n_files", "n"), [(4096, 2_000), (1024, 1024 - 128 - 64), (300, 150), (64, 32)])
def test_connections_leave_files_for_the_study(n_files: int, n: int) -> None:
    assert n_fitting(n_files, backlog=16) == n


# What is used of uvicorn's protocol, which uvicorn promises nobody, is still what it was written for

EXTENDED = {  # methods that call uvicorn's own, and what those take
    "__init__": ["config", "server_state", "app_state", "_loop"],
    "connection_made": ["transport"],
    "connection_lost": ["exc"],
    "data_received": ["data"],
    "on_headers_complete": [],
    "on_body": ["body"],
    "on_response_complete": [],
    "send_400_response": ["msg"],
    "shutdown": [],
    "pause_writing": [],
    "resume_writing": [],
}
OF_A_CONNECTION = {"cycle", "headers", "logger", "loop", "parser", "pipeline", "scope", "transport"}
OF_A_CYCLE = {"more_body", "response_complete"}


def attributes_of(owner: str) -> set[str]:
    """The attributes of this expression that our protocol names."""
    tree = ast.parse(inspect.getsource(connections.LimitedProtocol))
    named = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
    return {node.attr for node in named if ast.unparse(node.value) == owner}


def test_uvicorn_has_what_we_use_of_it_and_all_that_we_use_is_listed_here() -> None:
    taken = {name: list(inspect.signature(vars(HttpToolsProtocol)[name]).parameters)[1:] for name in EXTENDED}
    assert taken == EXTENDED
    assert attributes_of("super()") == EXTENDED.keys()
    loop = asyncio.new_event_loop()
    config = uvicorn.Config(lambda _scope, _receive, _send: None, lifespan="off", log_config=None)
    made = vars(HttpToolsProtocol(config, ServerState(), {}, loop)).keys()
    loop.close()
    assert made >= OF_A_CONNECTION
    assert attributes_of("self") & made == OF_A_CONNECTION
    assert attributes_of("self.cycle") == OF_A_CYCLE
    names = inspect.signature(RequestResponseCycle).parameters
    cycle = RequestResponseCycle(**dict.fromkeys(names, logging.getLogger("nobody")))  # type: ignore[arg-type]
    assert (cycle.more_body, cycle.response_complete) == (True, False)
