"""Connections: how many there may be, how long one may keep quiet, and which one goes when all are taken.

uvicorn waits without end for a request that was begun, and for whoever never begins one; it takes a head of any size,
and as many requests as come together. This is its protocol with the limits that it lacks; how long the body of a
request may take is for the guard to say, who knows whose it is.
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter, OrderedDict, deque
from typing import Any
from weakref import WeakKeyDictionary

from httptools import HttpParserError
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from fcpair.files.open_files import open_file_limit
from fcpair.web.auth import is_known

HEAD_S = 10.0  # for the head of a request, from its first byte; for the first one, from the connection
UNREAD_S = 30.0  # in which a client has to take LEAST_TAKEN of an answer, or all that is left of it
LEAST_TAKEN = 32 * 1024
LAST_S = 2.0  # for requests that are not whole when the server is told to end
SWEEP_S = 1.0
READ = 16 * 1024  # what is read at once: whatever is in it keeps others waiting
MOST_HEAD = 32 * 1024  # bytes of a head, and of what follows a body; nginx lets no larger ones through
HEAD_END = b"\r\n\r\n"
MOST = 2_000
RESERVE = 128  # of open files: the study's connections, logs, exports
ROUNDS = 4  # of connections that the loop accepts until those are closed that have to go for the first ones
LOG_EVERY_S = 60.0
FULL = (
    "all {most:,} connections are in use; {n:,} that were idle, or had sent no whole request, were closed for new "
    "ones. If this is not an attack, raise LimitNOFILE; docs/howto/deploy.md says how"
)
NO_HTTP = (
    "requests that were not HTTP, each answered 400: {n:,}; browsers must connect to the proxy, and the proxy to this "
    "server by http://"
)
_log = logging.getLogger("fcpair.web")
_connection_log = logging.getLogger("fcpair.web.server.connections")
for _quiet in (_connection_log, logging.getLogger("python_multipart.multipart")):
    # A line for each bad request would let strangers fill the disk; the gate counts them.
    _quiet.addFilter(lambda record: record.levelno >= logging.ERROR)
_buffer = memoryview(bytearray(READ))  # one for all: what is read is handed on before anything else is read


def n_fitting(n_files: int, backlog: int) -> int:
    """Number of connections that fit under a limit of open files, so that one is always left to let somebody in."""
    reserved = RESERVE + ROUNDS * backlog
    return min(MOST, max(n_files - reserved, n_files // 2))


class LimitedProtocol(HttpToolsProtocol, asyncio.BufferedProtocol):
    """One connection."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self.logger = _connection_log
        self._pool = _pool_of(server_state, config)
        self._since: float | None = None  # when the request that is awaited began; None between requests
        self._unread: tuple[float, int] | None = None  # when so many bytes of answers were last found unread
        self._ends_at: float | None = None
        self._waiting: deque[bytes] = deque()  # what came before the request ahead of it was answered
        self._n_head = 0  # bytes since something was last made of them: a head, a part of a body, an end
        self.has_visitor = False  # whether somebody whom the study knows has asked for something here

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; when all connections are taken, another one goes."""
        super().connection_made(transport)
        self._since = self.loop.time()
        self._pool.admit(self, self.loop)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._pool.remove(self)
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Where the loop puts what it reads."""
        return _buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Take what was read."""
        if self._since is None:
            self._since = self.loop.time()
        # Cut where a head may end, so that no two requests are begun at once.
        *heads, rest = bytes(_buffer[:nbytes]).split(HEAD_END)
        self._waiting.extend(head + HEAD_END for head in heads)
        if rest:
            self._waiting.append(rest)
        self._parse()

    def _parse(self) -> None:
        """Parse what waits, up to the end of a request that is to be answered first."""
        while self._waiting and not self._is_answering() and not self.transport.is_closing():
            part = self._waiting.popleft()
            self._n_head += len(part)
            if self._n_head > MOST_HEAD:
                self.send_400_response("The head of the request is too large.")
            else:
                super().data_received(part)
        if self._waiting:
            self.flow.pause_reading()

    def on_headers_complete(self) -> None:
        """Begin a request: its head is whole. One that names several hosts, or none, is refused, as RFC 9112 asks."""
        self._n_head = 0
        if self.parser.get_http_version() == "1.1" and [name for name, _ in self.headers].count(b"host") != 1:
            raise HttpParserError("no host, or several")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._n_head = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End what a client asks for; who has sent a whole request is safe until it is answered."""
        self._n_head = 0
        super().on_message_complete()
        if self._is_answering():
            self._pool.mark_busy(self)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._pool.count_event(NO_HTTP)
        super().send_400_response(msg)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.has_visitor = self.has_visitor or is_known(self.scope)
        self._since = None
        self._pool.mark_idle(self)
        super().on_response_complete()
        if self._is_answering():  # the next one: its head ended in the same part as this one's
            self._pool.mark_busy(self)
        if self._waiting:
            self._since = self.loop.time()
            self._parse()

    def shutdown(self) -> None:
        """End soon: with the answer to a whole request, else when it has had a little time to become whole."""
        self._pool.ends = True
        self._ends_at = self.loop.time() + LAST_S
        super().shutdown()

    def close_if_quiet(self, now: float) -> None:
        """Close the connection if its client has kept quiet for too long."""
        if self._is_late(now) or self._is_stuck(now):
            self.transport.abort()

    def _is_late(self, now: float) -> bool:
        if self.cycle is not None and not self.cycle.response_complete:
            return self.cycle.more_body and self._ends_at is not None and now > self._ends_at
        return self._since is not None and now > self._since + HEAD_S

    def _is_stuck(self, now: float) -> bool:
        """Whether the client does not take the answer that it asked for."""
        unread = self.transport.get_write_buffer_size()
        if not unread:
            self._unread = None
        elif self._unread is None or unread <= self._unread[1] - LEAST_TAKEN:
            self._unread = (now, unread)
        return self._unread is not None and now > self._unread[0] + UNREAD_S

    def pause_writing(self) -> None:
        """Wait for the client to read; meanwhile it may have to go for somebody who does."""
        self._pool.mark_idle(self)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on: the client has taken most of what was there."""
        self._unread = None
        if self._is_answering():
            self._pool.mark_busy(self)
        super().resume_writing()


class ConnectionPool:
    """The connections of a server, `most` at a time; those that wait for a request in the order in which they began.

    A new one is always let in as long as there is one without a whole request under way. Nothing is counted by address:
    behind a proxy all come from one, and so do all in a classroom.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[LimitedProtocol] = set()
        self._strangers: OrderedDict[LimitedProtocol, None] = OrderedDict()
        self._known: OrderedDict[LimitedProtocol, None] = OrderedDict()
        self._counts: Counter[str] = Counter()
        self._logged_at: dict[str, float] = {}
        self._sweeps = False
        self.ends = False

    def admit(self, wire: LimitedProtocol, loop: asyncio.AbstractEventLoop) -> None:
        """Take a new connection in, unless the server is about to end: nobody would tell it to."""
        if self.ends:
            wire.transport.abort()
            return
        self._open.add(wire)
        self._strangers[wire] = None
        while len(self._open) > self._most:
            self._close_one()
        if not self._sweeps:
            self._sweeps = True
            loop.call_later(SWEEP_S, self._sweep, loop)

    def _close_one(self) -> None:
        wire, _ = (self._strangers or self._known).popitem(last=False)  # the new one is among them
        self.remove(wire)
        self.count_event(FULL)
        wire.transport.abort()

    def remove(self, wire: LimitedProtocol) -> None:
        """The connection is closed."""
        self._open.discard(wire)
        self.mark_busy(wire)

    def mark_busy(self, wire: LimitedProtocol) -> None:
        """A whole request has come."""
        self._strangers.pop(wire, None)
        self._known.pop(wire, None)

    def mark_idle(self, wire: LimitedProtocol) -> None:
        """The request is answered."""
        if wire in self._open:
            (self._known if wire.has_visitor else self._strangers)[wire] = None

    def count_event(self, what: str) -> None:
        """Count what strangers cause: it is told with its number, once a minute at most."""
        self._counts[what] += 1

    def _sweep(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for wire in list(self._open):
            wire.close_if_quiet(now)
        for what in list(self._counts):
            if now > self._logged_at.get(what, now - LOG_EVERY_S - 1) + LOG_EVERY_S:
                _log.warning("%s", what.format(n=self._counts.pop(what), most=self._most))
                self._logged_at[what] = now
        self._sweeps = bool(self._open or self._counts)
        if self._sweeps:
            loop.call_later(SWEEP_S, self._sweep, loop)


_pools: WeakKeyDictionary[ServerState, ConnectionPool] = WeakKeyDictionary()


def _pool_of(server: ServerState, config: Config) -> ConnectionPool:
    """The gate of a server; uvicorn makes each connection for itself, and they share nothing else."""
    if server not in _pools:
        _pools[server] = ConnectionPool(n_fitting(open_file_limit(), config.backlog))
    return _pools[server]
