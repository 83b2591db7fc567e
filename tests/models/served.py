"""A service on this machine that answers as a test tells it to, and keeps what it was asked."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BufferedIOBase
from threading import Condition, Event, Thread
from typing import Any, Literal
from urllib.parse import parse_qsl

Drips = Literal["head", "body"]
DRIP_S = 0.05
PATIENCE_S = 60  # with a machine that has much else to do
KEY = "sk-never-to-be-seen"
MODEL = "tiny-2"


@dataclass(frozen=True)
class Reply:
    """What the service sends; with `held` it sends nothing until it stops, and what `drips` comes byte by byte."""

    body: bytes = b""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    held: bool = False
    drips: Drips | None = None


@dataclass(frozen=True)
class Asked:
    path: str
    headers: dict[str, str]
    body: Any


def said(content: Any) -> Reply:
    """A message of the LLM: a text, or JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    return Reply(json.dumps({"model": MODEL, "choices": [{"message": {"content": text}}]}).encode())


def ranked(*ids: Any) -> Reply:
    return said({"ranking": ids})


def embedded(*vectors: Any) -> Reply:
    data = [{"index": at, "embedding": vector} for at, vector in enumerate(vectors)]
    return Reply(json.dumps({"model": MODEL, "data": data}).encode())


def message(asked: Asked) -> str:
    """The text that stands before the LLM as the message."""
    return str(json.loads(asked.body["messages"][1]["content"].split("\n")[0])["message"])


def given(asked: Asked) -> list[int]:
    """The ids of the replies that were put before the LLM, in their order."""
    return [json.loads(line)["id"] for line in asked.body["messages"][1]["content"].split("\n")[1:]]


class Served:
    """Sends the replies of `script` one after the other, then whatever `then` makes of what is asked."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self.script: list[Reply] = []
        self.then: Callable[[Asked], Reply] = lambda _: Reply(b"not told what to answer", 418)
        self._heard = Condition()
        self._stopping = Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._thread = Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def hear(self, n: int) -> list[Asked]:
        """What was asked, once it is `n` requests: who asks may give up before they have been read."""
        with self._heard:
            self._heard.wait_for(lambda: len(self.asked) >= n, PATIENCE_S)
        return self.asked

    def stop(self) -> None:
        self._stopping.set()
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _reply(self, asked: Asked) -> Reply:
        with self._heard:
            self.asked.append(asked)
            self._heard.notify_all()
        reply = self.script.pop(0) if self.script else self.then(asked)
        if reply.held:
            self._stopping.wait()
        return reply

    def _drip(self, stream: BufferedIOBase, content: bytes) -> None:
        """Send a byte now and then, until who asked is gone."""
        with suppress(ConnectionError):
            for at in range(len(content)):
                if self._stopping.wait(DRIP_S):
                    return
                stream.write(content[at : at + 1])

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        served = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                sent = self.rfile.read(int(self.headers["Content-Length"]))
                is_form = self.headers["Content-Type"] == "application/x-www-form-urlencoded"
                body = dict(parse_qsl(sent.decode())) if is_form else json.loads(sent)
                reply = served._reply(Asked(self.path, dict(self.headers), body))
                if reply.held:
                    return
                if reply.drips == "head":
                    served._drip(self.wfile, b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 100)
                    return
                self.send_response(reply.status)
                for name, value in {"Content-Length": str(len(reply.body)), **reply.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if reply.drips == "body":
                    served._drip(self.wfile, reply.body)
                else:
                    self.wfile.write(reply.body)

            def log_message(self, format: str, *args: Any) -> None:
                """Say nothing."""

        return Handler
