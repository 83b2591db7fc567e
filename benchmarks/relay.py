"""A relay between a browser and a server on this machine, which counts what goes through it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Thread

PART = 1 << 16
REQUEST = b" HTTP/1.1\r\n"  # ends the first line of one, which is never cut on this machine


@dataclass
class Traffic:
    """The port at which the relay listens, and the requests and bytes that it has carried since `reset`."""

    port: int = 0
    requests: int = 0
    to_browser: int = 0
    to_server: int = 0

    def reset(self) -> None:
        """Begin to count anew."""
        self.requests = self.to_browser = self.to_server = 0


@contextmanager
def relayed(server_port: int) -> Iterator[Traffic]:
    """A relay to the server at this port."""
    traffic, loop = Traffic(), asyncio.new_event_loop()

    async def carry(source: asyncio.StreamReader, target: asyncio.StreamWriter, way: str) -> None:
        with suppress(ConnectionError):
            while part := await source.read(PART):
                setattr(traffic, way, getattr(traffic, way) + len(part))
                traffic.requests += part.count(REQUEST) if way == "to_server" else 0
                target.write(part)
                await target.drain()
        target.close()

    async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection("127.0.0.1", server_port)
        await asyncio.gather(carry(reader, to_server, "to_server"), carry(from_server, writer, "to_browser"))

    relay = loop.run_until_complete(asyncio.start_server(connect, "127.0.0.1", 0))
    traffic.port = relay.sockets[0].getsockname()[1]
    thread = Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield traffic
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
