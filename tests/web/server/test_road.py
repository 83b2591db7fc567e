"""The road of an answer, from the socket to the commit: how many modules, functions and hand-overs it takes.

Each costs time at every label, and whoever looks for where an answer goes has to read them all.
"""

from __future__ import annotations

import asyncio
import json
import math
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
import uvicorn

import fcpair
from fcpair.web.server import answer_batches
from fcpair.web.server.connections import LimitedProtocol
from web.conftest import Site

OURS = str(Path(fcpair.__file__).parent)
IN_A_FUNCTION = ("<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")  # part of the function that it is in
MODULES, FUNCTIONS, HAND_OVERS = 12, 39, 5


class Road:
    """The functions of ours that were called until a commit, and where other code called ours."""

    def __init__(self) -> None:
        self.functions: set[CodeType] = set()
        self.hand_overs: set[CodeType] = set()
        self.committed = False

    @property
    def modules(self) -> set[str]:
        return {one.co_filename for one in self.functions}

    def see(self, frame: FrameType, event: str, what: Any) -> None:
        """Look at what Python calls."""
        if event == "c_call" and getattr(what, "__name__", "") == "commit":
            self.committed = True
        code = frame.f_code
        if event != "call" or self.committed or not code.co_filename.startswith(OURS) or code.co_name in IN_A_FUNCTION:
            return
        self.functions.add(code)
        caller = frame.f_back
        if caller is None or not caller.f_code.co_filename.startswith(OURS):
            self.hand_overs.add(code)


@contextmanager
def watched(see: Callable[[FrameType, str, Any], None]) -> Iterator[None]:
    sys.setprofile(see)
    try:
        yield
    finally:
        sys.setprofile(None)


class Client:
    """One connection of somebody, in the loop of the server."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, token: str) -> None:
        self._reader, self._writer = reader, writer
        self._head = f"Host: here\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\n"

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        content = b"" if body is None else json.dumps(body).encode()
        length = f"Content-Length: {len(content)}\r\n\r\n"
        self._writer.write(f"{method} {path} HTTP/1.1\r\n{self._head}{length}".encode() + content)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode().lower()
        said = await self._reader.readexactly(int(head.split("content-length: ")[1].split("\r\n")[0]))
        assert " 200 " in head.split("\r\n")[0], said
        return json.loads(said)

    async def close(self) -> None:
        self._writer.close()
        await self._writer.wait_closed()

    async def answer(self, number: int) -> None:
        (task,) = (await self.ask("GET", "/api/next"))["tasks"]
        sent = {"request_id": f"request-{number}", "assignment_id": task["assignment_id"], "answer": "appropriate"}
        await self.ask("POST", "/api/judgements", {**sent, "seconds": 1.5})


async def road_of_an_answer(site: Site) -> Road:
    road = Road()
    server = uvicorn.Server(uvicorn.Config(site.app, http=LimitedProtocol, port=0, log_level="critical", ws="none"))
    served = asyncio.create_task(server.serve())
    while not server.started:
        await asyncio.sleep(0)
    port = server.servers[0].sockets[0].getsockname()[1]
    client = Client(*await asyncio.open_connection("127.0.0.1", port), site.token("ana"))
    for number in (1, 2):  # what is made once per server is made
        await client.answer(number)
    (task,) = (await client.ask("GET", "/api/next"))["tasks"]
    sent = {"request_id": "request-3", "assignment_id": task["assignment_id"], "answer": "appropriate"}
    with watched(road.see):  # as a page sends it
        answered_at = datetime.now(UTC).isoformat()
        await client.ask("POST", "/api/judgements", {**sent, "seconds": 1.5, "answered_at": answered_at})
    await client.close()
    server.should_exit = True
    await served
    return road


def test_the_road_of_an_answer_is_short(serve: Callable[..., Site], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answer_batches, "QUICK_S", math.inf)  # on a busy machine it would be written in a thread
    road = asyncio.run(road_of_an_answer(serve("dealt")))
    assert road.committed
    there = {one.rpartition("/")[2] for one in road.modules}
    assert {"connections.py", "answer_batches.py", "submissions.py", "hash_chain.py"} <= there, (
        "this is not the road of an answer"
    )
    assert len(road.modules) <= MODULES
    assert len(road.functions) <= FUNCTIONS
    assert len(road.hand_overs) <= HAND_OVERS
