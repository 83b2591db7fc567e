"""Connections: how many there may be, and which one goes when all are taken.

Against slow clients stands the proxy. Without one, strangers would take all open files, or with uvicorn's
`limit_concurrency` have everybody answered 503; behind this protocol nine people got answers as quickly as without
strangers (`benchmarks strangers`). It also limits a head, and requests that come together, and ends without waiting for
half a request. How long a body may take is for the guard to say, who knows whose it is.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter, OrderedDict
from contextlib import suppress
from typing import Any, cast
from weakref import WeakKeyDictionary

from httptools import HttpParserError
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.server import ServerState

from fcpair.unfinished import open_file_limit
from fcpair.web.auth import is_known

READ = 16 * 1024  # what is read at once: whatever is in it keeps others waiting
LAST_S = 2.0  # for requests that are not whole when the server is told to end
MOST_HEAD = 32 * 1024  # bytes of a head, and of what follows a body; nginx lets no larger ones through
MOST_TOGETHER = 8  # requests that one connection sends before the first is answered; no browser and no proxy does
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
    # A line for each bad request would let strangers fill the disk; the pool counts them.
    _quiet.addFilter(lambda record: record.levelno >= logging.ERROR)


def n_fitting(n_files: int, backlog: int) -> int:
    """Number of connections that fit under a limit of open files, so that one is always left to let somebody in."""
    return min(MOST, max(n_files - RESERVE - ROUNDS * backlog, n_files // 2))


class LimitedProtocol(HttpToolsProtocol):
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
        if server_state not in _pools:  # uvicorn makes each connection for itself, and they share nothing else
            _pools[server_state] = ConnectionPool(n_fitting(open_file_limit(), config.backlog))
        self._pool = _pools[server_state]
        self._n_head = 0  # bytes since something was last made of them: a head, a part of a body, an end
        self.has_visitor = False  # whether somebody whom the study knows has asked for something here

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin; when all connections are taken, another one goes."""
        super().connection_made(transport)
        with suppress(AttributeError):  # uvloop, where it is installed, reads as it likes
            cast(Any, transport).max_size = READ
        self._pool.admit(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._pool.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what was read, unless nothing comes of it; who has sent a whole request is safe until it is answered."""
        cycle, was_whole = self.cycle, self.cycle is not None and not self.cycle.more_body
        self._n_head += len(data)
        super().data_received(data)
        # What is in the pipeline waits until a whole request before it is answered.
        if (self.cycle is not cycle or not was_whole) and (self.pipeline or self._is_answering()):
            self._n_head = 0
            self._pool.mark_busy(self)
        elif self._n_head > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response("The head of the request is too large.")

    def on_headers_complete(self) -> None:
        """Begin a request: its head is whole. One that names several hosts, or none, is refused, as RFC 9112 asks."""
        self._n_head = 0
        if self.parser.get_http_version() == "1.1" and [name for name, _ in self.headers].count(b"host") != 1:
            raise HttpParserError("no host, or several")
        if len(self.pipeline) >= MOST_TOGETHER:
            raise HttpParserError("too many requests at once")
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._n_head = 0
        super().on_body(body)

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.more_body and not self.cycle.response_complete

    def send_400_response(self, msg: str) -> None:
        """Refuse what is no HTTP."""
        self._pool.count_event(NO_HTTP)
        super().send_400_response(msg)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self.has_visitor = self.has_visitor or is_known(self.scope)
        if not self._is_answering():  # no other that came together with this one
            self._pool.mark_idle(self)
        super().on_response_complete()

    def shutdown(self) -> None:
        """End soon: with the answer to a whole request, else when it has had a little time to become whole."""
        self._pool.ends = True
        super().shutdown()
        if self.cycle is not None and self.cycle.more_body:
            self.loop.call_later(LAST_S, lambda: self.transport.abort() if self.cycle.more_body else None)

    def pause_writing(self) -> None:
        """Wait for the client to read; meanwhile it may have to go for somebody who does."""
        self._pool.mark_idle(self)
        super().pause_writing()

    def resume_writing(self) -> None:
        """Go on: the client has taken most of what was there."""
        if self._is_answering():
            self._pool.mark_busy(self)
        super().resume_writing()


class ConnectionPool:
    """The connections of a server, `most` at a time; a new one is let in while another has no whole request under way.

    Nothing is counted by address: behind a proxy all come from one, and so do all in a classroom.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._open: set[LimitedProtocol] = set()
        self._strangers: OrderedDict[LimitedProtocol, None] = OrderedDict()
        self._known: OrderedDict[LimitedProtocol, None] = OrderedDict()
        self._counts: Counter[str] = Counter()
        self._quiet_until: dict[str, float] = {}
        self.ends = False

    def admit(self, wire: LimitedProtocol) -> None:
        """Take a new connection in, unless the server is about to end: nobody would tell it to."""
        if self.ends:
            wire.transport.abort()
            return
        self._open.add(wire)
        self._strangers[wire] = None
        while len(self._open) > self._most:
            oldest, _ = (self._strangers or self._known).popitem(last=False)  # the new one is among them
            self.remove(oldest)
            self.count_event(FULL)
            oldest.transport.abort()

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
        """Count what strangers cause, and say so with its number, once a minute at most."""
        self._counts[what] += 1
        if (now := time.monotonic()) >= self._quiet_until.get(what, 0):
            _log.warning("%s", what.format(n=self._counts.pop(what), most=self._most))
            self._quiet_until[what] = now + LOG_EVERY_S


_pools: WeakKeyDictionary[ServerState, ConnectionPool] = WeakKeyDictionary()
