"""The server's end of the process that looks, `fcpair.web.server.worker_main`: it is begun when somebody does."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from asyncio import StreamReader, StreamWriter
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from functools import partial
from itertools import count
from pathlib import Path
from socket import socket

from starlette.responses import Response, StreamingResponse
from starlette.types import Scope

from fcpair.errors import BusyError
from fcpair.web.form import BODY
from fcpair.web.served_terms import ServedTerms
from fcpair.web.server.worker_parent import WORKER, WorkerParent
from fcpair.web.server.worker_pipe import LENGTH, Reply, content_size, pack, unpack

IDLE_S = 600.0
"""So long after the last look the process is ended, and its memory given back."""

END_S = 2.0
POLL_S = 0.01
PART = 1 << 16
SENT = ("type", "http_version", "method", "scheme", "path", "raw_path", "query_string", "headers", "client", "server")
GONE = "the process that makes this page has ended, perhaps for lack of memory; another replaces it, so try again"
Pipe = tuple[StreamReader, StreamWriter]
FRUGAL = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "2"}


class ReportWorker:
    """Has requests answered by a process of its own, which serves the same study on the same terms."""

    def __init__(self, terms: ServedTerms, parent: WorkerParent | None = None, idle_s: float = IDLE_S) -> None:
        self._first_message = _first_message(terms)
        self._is_outdated = False
        self._parent = parent
        self._idle_s = idle_s
        self._beginning = asyncio.Lock()
        self._worker: _WorkerProcess | None = None
        self._rest: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process; None while there is none."""
        return self._worker.pid if self._worker else None

    async def forward(self, scope: Scope) -> Response:
        """The response to a request; raises BusyError where the process ends before it has answered."""
        if self._rest:
            self._rest.cancel()
        async with self._beginning:
            if self._is_outdated:
                self._is_outdated = False
                self._hang_up()
            if self._worker is None or self._worker.has_ended:
                self._worker = await _WorkerProcess.start(self._parent, self._first_message)
        try:
            return await self._worker.forward(scope)
        finally:
            if self._rest:
                self._rest.cancel()
            self._rest = asyncio.get_running_loop().call_later(self._idle_s, self._hang_up)

    def begin_anew(self, terms: ServedTerms) -> None:
        """Have the next request answered by another process, on these terms, which knows nothing of before."""
        self._first_message = _first_message(terms)
        self._is_outdated = True

    async def end(self) -> None:
        """End the process, if there is one, and its parent."""
        if self._rest:
            self._rest.cancel()
        worker = self._worker
        self._hang_up()
        if worker is not None:
            await worker.end()
        if self._parent is not None:
            self._parent.end()

    def _hang_up(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.hang_up()


def _first_message(terms: ServedTerms) -> bytes:
    return pack((terms.study.address, dict(terms.given)))


class _WorkerProcess:
    """One such process, and who waits for its replies."""

    def __init__(self, pid: int, pipe: Pipe, kill: Callable[[], object], wait: Callable[[], Awaitable[object]]) -> None:
        self.pid, self._kill, self._wait = pid, kill, wait
        self._reader, self._writer = pipe
        self._numbers = count()
        self._waiting: dict[int, asyncio.Future[Reply]] = {}
        self.has_ended = False  # which its pipe says at once, and the system some time after
        self._reading = asyncio.create_task(self._read())

    @classmethod
    async def start(cls, parent: WorkerParent | None, begins_with: bytes) -> _WorkerProcess:
        forked = await parent.start_worker() if parent else None
        worker = await cls._spawn() if forked is None else await cls._take_fork(*forked)
        worker._write(begins_with)
        return worker

    @classmethod
    async def _take_fork(cls, pid: int, pipe: socket) -> _WorkerProcess:
        connected = await asyncio.open_unix_connection(sock=pipe)
        return cls(pid, connected, partial(os.kill, pid, signal.SIGKILL), partial(_wait_for_end, pid))

    @classmethod
    async def _spawn(cls) -> _WorkerProcess:
        line, environment = (sys.executable, "-m", WORKER), {**os.environ, **FRUGAL}
        # In a session of its own, because Ctrl-C is for the server, which ends it.
        process = await asyncio.create_subprocess_exec(
            *line, stdin=PIPE, stdout=PIPE, env=environment, start_new_session=True
        )
        assert process.stdin is not None
        assert process.stdout is not None
        return cls(process.pid, (process.stdout, process.stdin), process.kill, process.wait)

    async def forward(self, scope: Scope) -> Response:
        number = next(self._numbers)
        reply = self._waiting[number] = asyncio.get_running_loop().create_future()
        sent = {name: scope[name] for name in SENT if name in scope}
        self._write(pack((number, sent, scope.get(BODY, b""))))
        try:
            return _to_response(await reply)
        finally:
            self._waiting.pop(number, None)

    def _write(self, message: bytes) -> None:
        self._writer.write(message)

    def hang_up(self) -> None:
        """Send no more, upon which it ends."""
        if not self.has_ended:
            self._writer.write_eof()

    async def end(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(self._reading), END_S)
        if not self._reading.done():
            self._kill()
            await self._reading

    async def _read(self) -> None:
        """Hand out replies, until the process ends."""
        pipe = self._reader
        try:
            with suppress(asyncio.IncompleteReadError, ConnectionError):
                while True:
                    reply: Reply = unpack(await pipe.readexactly(content_size(await pipe.readexactly(LENGTH))))
                    self._deliver(reply)
        finally:
            self.has_ended = True
            self._writer.close()
        await self._wait()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(BusyError(GONE))

    def _deliver(self, reply: Reply) -> None:
        future = self._waiting.get(reply[0])
        if future is not None and not future.done():
            future.set_result(reply)
        elif isinstance(reply[3], Path):  # whoever asked for it has gone
            reply[3].unlink()


async def _wait_for_end(pid: int) -> None:
    """Wait for a process that is no child of this one, and whose pipe has ended, to be gone with all its files."""
    with suppress(ProcessLookupError, PermissionError):  # which another process of its number might give
        while True:
            os.kill(pid, 0)
            await asyncio.sleep(POLL_S)


def _to_response(reply: Reply) -> Response:
    _, status, headers, body = reply
    response = Response(body, status) if isinstance(body, bytes) else StreamingResponse(_file_chunks(body), status)
    response.raw_headers = headers
    return response


async def _file_chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        path.unlink()
        while part := file.read(PART):
            yield part
