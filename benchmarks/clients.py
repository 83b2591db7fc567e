"""Clients that label as fast as a server lets them, on connections that are kept, with little work of their own."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Any


@dataclass
class Connection:
    """One HTTP/1.1 connection that is kept open; the server must answer with a Content-Length."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    headers: str

    @classmethod
    async def to(cls, port: int, token: str = "") -> Connection:
        """Connect to a port of this machine."""
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        auth = f"Authorization: Bearer {token}\r\n" if token else ""
        return cls(reader, writer, f"Host: 127.0.0.1\r\n{auth}Content-Type: application/json\r\n")

    async def ask(self, method: str, path: str, body: Any = None) -> Any:
        """The JSON that a request is answered with; raises RuntimeError unless the status is 200."""
        status, said = await self.exchange(method, path, body)
        if status != 200:
            raise RuntimeError(f"{method} {path}: {status} {str(said)[:300]}")
        return said

    async def time_page(self, path: str) -> tuple[float, float]:
        """The seconds to the first byte of a page and to its last; raises RuntimeError unless the status is 200."""
        begun = time.perf_counter()
        self.writer.write(f"GET {path} HTTP/1.1\r\n{self.headers}Content-Length: 0\r\n\r\n".encode())
        first = await self.reader.readexactly(1)
        first_s = time.perf_counter() - begun
        head = (first + await self.reader.readuntil(b"\r\n\r\n")).decode().lower()
        await self.reader.readexactly(int(head.partition("content-length:")[2].split("\r\n", 1)[0]))
        if head.split(" ", 2)[1] != "200":
            raise RuntimeError(f"GET {path}: {head.split(' ', 2)[1]}")
        return first_s, time.perf_counter() - begun

    async def exchange(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """The status of an answer, and what it holds: JSON, or the bytes of anything else."""
        content = b"" if body is None else json.dumps(body).encode()
        head = f"{method} {path} HTTP/1.1\r\n{self.headers}Content-Length: {len(content)}\r\n\r\n"
        self.writer.write(head.encode() + content)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode()
        head_lines = answer.lower().split("\r\n")
        length = next((int(line.split(":")[1]) for line in head_lines if line.startswith("content-length")), 0)
        said = await self.reader.readexactly(length)
        is_json = any(line.startswith("content-type: application/json") for line in head_lines)
        return int(answer.split(" ", 2)[1]), json.loads(said) if is_json else said


@dataclass
class Tally:
    """What the clients did: seconds of each label, from asking for the pair until the label was acknowledged."""

    seconds: float = 0
    latencies: list[float] = field(default_factory=list)

    def summary(self) -> dict[str, float]:
        """`labels`, `per_s`, and `p50_ms`, `p99_ms`, `max_ms` of one label."""
        ordered = sorted(1000 * one for one in self.latencies)
        n = len(ordered)
        at = {"p50_ms": ordered[n // 2], "p99_ms": ordered[min(n - 1, int(0.99 * n))], "max_ms": ordered[-1]}
        return {"labels": n, "per_s": n / self.seconds, **at}


Label = Callable[[Connection, int], Awaitable[None]]


async def _work(connection: Connection, label: Label, until: float, tally: Tally) -> None:
    n = 0
    while (start := time.perf_counter()) < until:
        await label(connection, n)
        tally.latencies.append(time.perf_counter() - start)
        n += 1


async def labelling(ports: Sequence[int], tokens: list[str], label: Label, seconds: float) -> dict[str, float]:
    """Let one client for each token label for some seconds, all at once, at one port after the other."""
    connections = [await Connection.to(port, token) for port, token in zip(cycle(ports), tokens, strict=False)]
    tally, start = Tally(), time.perf_counter()
    await asyncio.gather(*(_work(one, label, start + seconds, tally) for one in connections))
    tally.seconds = time.perf_counter() - start
    return tally.summary()


async def label_online(connection: Connection, n: int) -> None:
    """Fetch the next pair and submit a label."""
    (task,) = (await connection.ask("GET", "/api/next"))["tasks"]
    body = {
        "request_id": f"request-{n}",
        "assignment_id": task["assignment_id"],
        "answer": "appropriate",
        "seconds": 1.5,
    }
    await connection.ask("POST", "/api/judgements", body)


async def label_bare(connection: Connection, n: int) -> None:
    """Insert a label, without a pair to fetch first."""
    await connection.ask("POST", "/label", {"assignment_id": n, "code": 2})
