"""Processes that look: they answer the requests that read the whole study, so that the server has time for people.

Leads and adjudicators have one each, since the first overview of 500,000 labels takes a minute. It begins at the first
request for it, ends ten minutes after the last one, and is replaced when it is gone. The leads' first one is forked
before the server opens the study: what both have loaded is in memory once, and loaded when somebody looks. Begun anew,
a process takes a second for that, and 60 MB more.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import multiprocessing
import os
import signal
import stat
import tempfile
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from starlette.responses import Response, StreamingResponse
from starlette.types import Message, Scope

from fcpair.errors import BusyError
from fcpair.params import Annotate
from fcpair.study import Study
from fcpair.web.context import ServedTerms, load_templates
from fcpair.web.form import BODY
from fcpair.web.server.security import log_failure

IDLE_S = 600.0  # so long after the last look the process is ended, and its memory given back
END_S = 2.0
NICE = 19
START_METHOD = "spawn"
LOOKED_AT = ("lead", "adjudicate")  # begin the names of templates of what is looked at
LARGE = 1_000_000  # bytes; a longer body goes by a file, lest the server hold it
PART = 1 << 16
SENT = ("type", "http_version", "method", "scheme", "path", "raw_path", "query_string", "headers", "client", "server")
GONE = "the process that makes this page has ended, perhaps for lack of memory; another replaces it, so try again"
Terms = tuple[str, dict[str, Any], int]  # a study's address, what is given of its terms, how often they have changed
CreateApp = Callable[..., FastAPI]  # `fcpair.web.app.create_app`, which a process finds by its name
Reply = tuple[int, list[tuple[bytes, bytes]], bytes | Path]  # status, headers, and the body, or the file that holds it


class WorkerPool:
    """A pool of one process that looks."""

    def __init__(self, method: str, *, preloads: bool = False) -> None:
        self.executor = ProcessPoolExecutor(1, multiprocessing.get_context(method), _begin)
        self._pid = self.executor.submit(_preload if preloads else os.getpid)  # upon which the process begins

    @classmethod
    def forked(cls) -> WorkerPool | None:
        """Fork it; None where that cannot be done: not on every system, nor beside threads or in an event loop."""
        with suppress(RuntimeError):
            asyncio.get_running_loop()
            return None
        if not hasattr(os, "fork") or threading.active_count() > 1:
            return None
        gc.freeze()  # lest what is garbage close a file of the fork, and looking for garbage copy what they share
        return cls("fork", preloads=True)

    @property
    def pid(self) -> int | None:
        """The process; None while it has not begun, and where it was killed as it did."""
        return self._pid.result() if self._pid.done() and not self._pid.exception() else None

    async def end(self) -> None:
        """End the process; where it is not done within a moment, as it is."""
        ending = asyncio.create_task(asyncio.to_thread(self.executor.shutdown, cancel_futures=True))
        with suppress(TimeoutError):
            await asyncio.wait_for(asyncio.shield(ending), END_S)
        if not ending.done():
            with suppress(BrokenProcessPool, ProcessLookupError):
                os.kill(await asyncio.wrap_future(self._pid), signal.SIGKILL)
        await ending


class ReportWorker:
    """Has requests answered by a process of its own, which serves the same study on the same terms."""

    def __init__(
        self, create: CreateApp, terms: ServedTerms, pool: WorkerPool | None = None, idle_s: float = IDLE_S
    ) -> None:
        self._create, self._pool, self._idle_s = create, pool, idle_s
        self._terms: Terms = (terms.study.address, dict(terms.given), 0)
        self._rest: asyncio.TimerHandle | None = None

    @property
    def pid(self) -> int | None:
        """The process; None while there is none."""
        return self._pool.pid if self._pool else None

    async def forward(self, scope: Scope) -> Response:
        """The response to a request; raises BusyError where the process ends before it has answered."""
        sent = {name: scope[name] for name in SENT if name in scope} | {"act": scope["app"].state.long_acts.state}
        answering = self._submit(self._create, self._terms, sent, scope.get(BODY, b""))
        if self._rest:
            self._rest.cancel()
        try:
            status, headers, body = await asyncio.wrap_future(answering)
        except BrokenProcessPool:
            raise BusyError(GONE) from None
        except asyncio.CancelledError:  # whoever asked for it has gone
            answering.add_done_callback(_discard)
            raise
        finally:
            if self._rest:
                self._rest.cancel()
            self._rest = asyncio.get_running_loop().call_later(self._idle_s, self._hang_up)
        response = Response(body, status) if isinstance(body, bytes) else StreamingResponse(_file_chunks(body), status)
        response.raw_headers = headers
        return response

    def _submit(self, *request: Any) -> Future[Reply]:
        if self._pool is not None:
            with suppress(BrokenProcessPool):
                return self._pool.executor.submit(answer, *request)
        self._pool = WorkerPool(START_METHOD)
        return self._pool.executor.submit(answer, *request)

    def _hang_up(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            pool.executor.shutdown(wait=False, cancel_futures=True)  # it ends when it is done with what it does

    def begin_anew(self, terms: ServedTerms) -> None:
        """Have the next request answered on these terms, by an app that knows nothing of before."""
        self._terms = terms.study.address, dict(terms.given), self._terms[2] + 1

    async def end(self) -> None:
        """End the process, if there is one."""
        if self._rest:
            self._rest.cancel()
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.end()


async def _file_chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        path.unlink()
        while part := file.read(PART):
            yield part


def _discard(answered: Future[Reply]) -> None:
    if not answered.cancelled() and not answered.exception() and isinstance(path := answered.result()[2], Path):
        path.unlink()


# What follows is done in the process that looks.


def _begin() -> None:
    """Be that process: in a session of its own, because Ctrl-C is for the server, and at the lowest priority."""
    os.setsid()
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, signal.SIG_IGN)  # the server says when
    # The sockets of a server that was forked: its port is free when it ends. The pool has pipes.
    for number in map(int, os.listdir("/dev/fd")):
        with suppress(OSError):  # as that of the list itself is gone
            if stat.S_ISSOCK(os.fstat(number).st_mode):
                os.close(number)
    with suppress(OSError, AttributeError):  # not everywhere is there such a thing, or leave to do it
        os.nice(NICE)
        # M_MMAP_THRESHOLD of malloc.h: larger blocks go back to the system as soon as they are free; else glibc keeps
        # 60 MB of 500,000 answers.
        ctypes.CDLL(None).mallopt(-3, LARGE)
    server = multiprocessing.parent_process()
    assert server is not None

    def end_with_server() -> None:
        server.join()
        os._exit(0)

    threading.Thread(target=end_with_server, daemon=True).start()


def _preload() -> int:
    """Load what a first look needs; returns the number of the process."""
    gc.disable()  # what is loaded stays, so there is no garbage to look for
    templates = load_templates()
    for name in templates.list_templates(filter_func=lambda name: name.startswith(LOOKED_AT)):
        templates.get_template(name)
    gc.freeze()
    gc.enable()
    return os.getpid()


_served: list[tuple[Terms, Study, FastAPI, asyncio.Runner]] = []  # the study, and the loop that serves it: at most one


def answer(create: CreateApp, terms: Terms, scope: Scope, body: bytes) -> Reply:
    """Answer a request, by an app on these terms."""
    if _served and _served[0][0] != terms:
        _, study, _, loop = _served.pop()
        loop.close()
        study.close()
    if not _served:
        address, given, _ = terms
        study = Study(address)
        app = create(study, study.effective_options(Annotate, **given), given=given.keys())
        _served.append((terms, study, app, asyncio.Runner()))
    _, _, app, loop = _served[0]
    app.state.long_acts.state = scope["act"]  # which only the server knows
    return loop.run(_respond(app, {**scope, "app": app, BODY: body}))


async def _respond(app: FastAPI, scope: Scope) -> Reply:
    start: Message = {"status": 500, "headers": []}
    parts: list[bytes] = []

    unread = [scope[BODY]]

    async def receive() -> Message:
        if not unread:
            await asyncio.Event().wait()  # until the response is whole: nobody is known to have gone before
        return {"type": "http.request", "body": unread.pop(), "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            start.update(message)
        else:
            parts.append(message.get("body", b""))

    try:
        await FastAPI.__call__(app, scope, receive, send)  # without the guard, which is around the server
    except Exception as error:  # it was answered before it was raised
        log_failure(scope, error)
    if len(body := b"".join(parts)) <= LARGE:
        return start["status"], start["headers"], body
    file, path = tempfile.mkstemp(prefix="fcpair-")
    with os.fdopen(file, "wb") as out:
        out.write(body)
    return start["status"], start["headers"], Path(path)
