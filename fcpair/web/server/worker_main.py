"""The process that looks: it answers the requests that read the whole study, so that the server has time for people.

`worker.py` starts it. When the pipe from the server ends, so does this process, however the server ended.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from threading import Thread
from typing import IO, Any

from fastapi import FastAPI
from starlette.types import Message, Scope

from fcpair.grid import Monitor
from fcpair.params import Annotate
from fcpair.study import Study
from fcpair.web.app import create_app
from fcpair.web.context import load_templates
from fcpair.web.form import BODY
from fcpair.web.server.security import log_failure
from fcpair.web.server.worker_pipe import LENGTH, Reply, content_size, pack, unpack

NICE = 19
LOOKED_AT = ("lead", "adjudicate")  # begin the names of templates of what is looked at
LARGE = 1_000_000  # bytes; a longer body goes by a file, lest the server hold it


def _read_message(pipe: IO[bytes]) -> Any:
    """The next message; None at the end of the pipe."""
    length = pipe.read(LENGTH)
    content = pipe.read(content_size(length)) if len(length) == LENGTH else b""
    return unpack(content) if content else None


class _WorkerServer:
    def __init__(self, app: FastAPI, out: IO[bytes]) -> None:
        self._app = FastAPI.build_middleware_stack(app)  # without the guard, which is around the server
        self._fastapi, self._out = app, out

    async def serve(self, pipe: IO[bytes]) -> None:
        """Answer what comes, until the end of the pipe ends the process."""
        loop, under_way = asyncio.get_running_loop(), set()

        def begin(number: int, scope: Scope, body: bytes) -> None:
            task = loop.create_task(self._answer(number, scope, body))
            under_way.add(task)
            task.add_done_callback(under_way.discard)

        def read() -> None:
            while (message := _read_message(pipe)) is not None:
                loop.call_soon_threadsafe(begin, *message)
            os._exit(0)

        Thread(target=read, daemon=True).start()
        await asyncio.Event().wait()

    async def _answer(self, number: int, scope: Scope, body: bytes) -> None:
        start: Message = {"status": 500, "headers": []}
        parts: list[bytes] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                start.update(message)
            else:
                parts.append(message.get("body", b""))

        try:
            await self._app({**scope, "app": self._fastapi, BODY: body}, receive, send)
        except Exception as error:  # it was answered before it was raised
            log_failure(scope, error)
        content = b"".join(parts)
        body_or_file = _write_to_file(content) if len(content) > LARGE else content
        reply: Reply = (number, start["status"], start["headers"], body_or_file)
        self._out.write(pack(reply))
        self._out.flush()


def _write_to_file(content: bytes) -> Path:
    file, path = tempfile.mkstemp(prefix="fcpair-")
    with os.fdopen(file, "wb") as out:
        out.write(content)
    return Path(path)


def main() -> None:
    """Look, for the server at the other end of stdin and stdout."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # whatever else is printed must not get between
    look(sys.stdin.buffer, out)


def look(pipe: IO[bytes], out: IO[bytes]) -> None:
    """Answer what comes by a pipe, at the lowest priority, until the server ends it."""
    for signal_number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(signal_number, signal.SIG_IGN)  # the server says when
    _step_back()
    first = _read_message(pipe)
    if first is None:
        os._exit(0)  # nobody waits for it any longer
    place, given = first
    study = Study.open(place)
    app = create_app(study, study.effective_options(Annotate, **given), given=given.keys())
    asyncio.run(_WorkerServer(app, out).serve(pipe))


def _step_back() -> None:
    with suppress(OSError, AttributeError):  # not everywhere is there such a thing, or leave to do it
        os.nice(NICE)


def preload() -> None:
    """Load what a first look needs, at the lowest priority."""
    _step_back()
    Monitor.preload()
    templates = load_templates()
    for name in templates.list_templates(filter_func=lambda name: name.startswith(LOOKED_AT)):
        templates.get_template(name)


if __name__ == "__main__":
    main()
