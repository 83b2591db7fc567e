"""What holds for every request: bounded bodies, security headers, and an answer even where fcpair fails."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Iterator
from urllib.parse import quote

from starlette.types import ASGIApp, Message, Receive, Scope, Send

BODY = "fcpair.body"
MAX_BODY = 256 * 1024
MAX_BODY_OF = {"/lead/guidelines": 2 * 1024 * 1024}
STATIC = "/static/"
CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; worker-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    "frame-ancestors 'none'"
)
HEADERS = {
    "content-security-policy": CSP,
    "x-content-type-options": "nosniff",
    # Not `no-referrer`: with that, browsers send our own forms with `Origin: null`.
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
_RAW_HEADERS = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
TOO_LARGE = "what was sent is too large; at most {:,} bytes are taken here"
FAILED = "fcpair itself failed; what was saved before is safe. The log of the server says where"
_log = logging.getLogger("fcpair.web")


class _TooLargeError(Exception):
    """The body is, or says that it is, longer than is allowed."""


class _GoneError(Exception):
    """The client has gone before the body was whole."""


class Guard:
    """The outermost part of the app."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = _Sender(scope, send)
        most = MAX_BODY_OF.get(scope["path"], MAX_BODY)
        try:
            body = scope[BODY] = await _body(scope, receive, most)
        except _TooLargeError:
            await sent.plainly(413, TOO_LARGE.format(most))
            return
        except _GoneError:
            return  # half a form must not pass for a whole one
        try:
            await self._app(scope, _replay(body, receive), sent)
        except Exception as error:
            logged(scope, error)
            if not sent.begun:
                await sent.plainly(500, FAILED)


class _Sender:
    """Sends with the headers that every response has."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            caching = _caching(self._scope, message["status"]).encode()
            message["headers"] = [*message["headers"], *_RAW_HEADERS, (b"cache-control", caching)]
        await self._send(message)

    async def plainly(self, status: int, sentence: str) -> None:
        """Answer with a sentence."""
        if self._scope["path"].startswith("/api/"):
            kind, body = "application/json", json.dumps({"detail": sentence}).encode()
        else:
            kind, body = "text/plain; charset=utf-8", sentence.encode()
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        headers.append((b"connection", b"close"))  # what is left of a body stays unread
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _caching(scope: Scope, status: int) -> str:
    """Pages hold what is only for their reader. A static file may be kept for as long as its version is asked for."""
    if not scope["path"].startswith(STATIC) or status not in {200, 304}:
        return "no-store"
    return "public, max-age=31536000, immutable" if scope["query_string"].startswith(b"v=") else "no-cache"


async def _body(scope: Scope, receive: Receive, most: int) -> bytes:
    """The whole body, read here, so that its length is known before anything is done with it."""
    headers = dict(scope["headers"])
    said = headers.get(b"content-length", b"0")
    if said.isdigit() and int(said) > most:
        raise _TooLargeError
    if said == b"0" and b"transfer-encoding" not in headers:
        return b""
    parts, size, more = [], 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise _GoneError
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > most:
            raise _TooLargeError
        more = message.get("more_body", False)
    return b"".join(parts)


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever comes."""
    given = False

    async def replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return replayed


def logged(scope: Scope, error: Exception) -> None:
    """Log where a request failed."""
    _log.error("%s %s failed\n%s", scope["method"], quote(scope["path"]), "".join(_where(error)))


def _where(error: BaseException | None) -> Iterator[str]:
    """Where an error and those behind it arose. What they say is left out: it may quote a text, a note or a token."""
    told: set[int] = set()
    while error is not None and id(error) not in told:  # an error can be its own cause
        told.add(id(error))
        yield f"{type(error).__qualname__}, at:\n"
        yield from traceback.format_tb(error.__traceback__)
        error = error.__cause__ or error.__context__
