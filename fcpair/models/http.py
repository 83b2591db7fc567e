"""One bounded request over HTTP: a deadline for the whole of it, and a cap on the answer after unpacking.

The time limits of an HTTP library hold for each read, so that a server which sends a byte now and then is waited for
as long as it likes. Here the request runs beside, and whoever asked goes on when the time is over.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from httpx2 import Client, Response

ACCEPT_GZIP = {"Accept-Encoding": "gzip"}
_GZIP = 16 + zlib.MAX_WBITS


class TooLongError(Exception):
    """An answer has more bytes than were allowed."""


@dataclass(frozen=True)
class Answer:
    """A whole answer: its status, its headers, and its body, unpacked."""

    status: int
    headers: Mapping[str, str]
    body: bytes


def post(client: Client, url: str, *, timeout_s: float, longest: int, **request: Any) -> Answer:
    """Send a request, and return its whole answer; the client is closed whatever comes of it.

    Args:
        client: of one request.
        url: where to.
        timeout_s: seconds for everything: finding the address, connecting, sending, head and body.
        longest: how many bytes the body may have, unpacked.
        request: what is sent, as `Client.stream` takes it.

    Raises:
        httpx2.TimeoutException: the time is over.
        httpx2.HTTPError, httpx2.InvalidURL: no connection, or an answer that is none.
        TooLongError: the body is longer than `longest`.
    """
    from httpx2 import ReadTimeout

    answers: SimpleQueue[Answer | Exception] = SimpleQueue()
    Thread(target=_send, args=(answers, client, url, longest, request), daemon=True).start()
    try:
        answer = answers.get(timeout=timeout_s)
    except Empty:
        raise ReadTimeout(f"no whole answer within {timeout_s:g} s") from None
    finally:
        client.close()
    if isinstance(answer, Exception):
        raise answer
    return answer


def _send(
    answers: SimpleQueue[Answer | Exception], client: Client, url: str, longest: int, request: Mapping[str, Any]
) -> None:
    try:
        with client.stream("POST", url, **request) as response:
            body = b"".join(_unpack(response, longest))
            answers.put(Answer(response.status_code, response.headers, body))
    except Exception as error:
        answers.put(error)


def _unpack(response: Response, longest: int) -> Iterator[bytes]:
    """The parts of a body; no more is unpacked than is allowed."""
    from httpx2 import DecodingError

    packing = response.headers.get("Content-Encoding", "identity").strip().lower()
    if packing not in ("identity", "", "gzip", "x-gzip"):
        raise DecodingError(f"the answer is compressed with `{packing}`, which was not asked for")
    length = 0
    for part in response.iter_raw() if packing in ("identity", "") else _gunzip(response, longest):
        length += len(part)
        if length > longest:
            raise TooLongError(f"the answer was longer than {longest} bytes")
        yield part


def _gunzip(response: Response, longest: int) -> Iterator[bytes]:
    from httpx2 import DecodingError

    unpacker = zlib.decompressobj(_GZIP)
    try:
        for part in response.iter_raw():
            yield unpacker.decompress(part, longest + 1)
    except zlib.error as error:
        raise DecodingError(str(error)) from None
    if not unpacker.eof:
        raise DecodingError("the compressed answer is truncated")
