"""Safeguards for every request: bounded bodies, security headers, and an answer even where fcpair fails."""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import quote

from fastapi import FastAPI, Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fcpair.records import Visitor
from fcpair.web.form import BODY
from fcpair.web.server.request_bodies import BodyReader, GoneError, RefusedBodyError

STATIC = "/static/"
UPLOAD_TABLE, UPLOAD_RUN = ("POST", "/lead/start/table"), ("POST", "/lead/evaluation/run")
"""The requests whose bodies go to a file as they come, and are never held in memory."""
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
API = "/api/"
API_HEADERS = {
    # What is no page loads nothing and has no window of its own, so the rest would be about nothing.
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    **{name: HEADERS[name] for name in ("x-content-type-options", "x-frame-options", "cross-origin-resource-policy")},
}
_RAW_HEADERS, _RAW_API_HEADERS = (
    [(name.encode(), value.encode()) for name, value in headers.items()] for headers in (HEADERS, API_HEADERS)
)
FAILED = "fcpair itself failed; what was saved before is safe. The log of the server says where"
_log = logging.getLogger("fcpair.web")


class Guard:
    """The outermost part of the app."""

    def __init__(self, app: ASGIApp, who: Callable[[Request], Visitor | None]) -> None:
        self._app = app
        self._bodies = BodyReader(who)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        sent = _Sender(scope, send)
        is_upload = (
            scope["method"],
            scope["path"],
        ) in (UPLOAD_TABLE, UPLOAD_RUN)  # which reads its body itself, once it knows who sends it
        try:
            body = scope[BODY] = b"" if is_upload else await self._bodies.read(scope, receive)
        except RefusedBodyError as refused:
            await sent.send_plain(refused.status, refused.sentence, refused.headers)
            return
        except GoneError:
            return  # half a form must not pass for a whole one
        try:
            await self._app(scope, receive if is_upload else _replay(body, receive), sent)
        except Exception as error:
            log_failure(scope, error)
            if not sent.begun:
                await sent.send_plain(500, FAILED)


class GuardedApp(FastAPI):
    """FastAPI with a guard around everything, even around what answers its own failures; `guard_by` sets it."""

    _guard: ASGIApp

    def guard_by(self, guard: Callable[[ASGIApp], ASGIApp]) -> None:
        """Have every request pass what `guard` makes of the app without one."""
        self._guard = guard(super().__call__)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, or the start and the end of the server."""
        scope["app"] = self
        await self._guard(scope, receive, send)


class _Sender:
    """Sends with the headers that every response has, and those that only pages and files need."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.begun = False

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.begun = True
            caching = _cache_control(self._scope, message["status"]).encode()
            headers = _RAW_API_HEADERS if self._scope["path"].startswith(API) else _RAW_HEADERS
            message["headers"] = [*message["headers"], *headers, (b"cache-control", caching)]
        await self._send(message)

    async def send_plain(self, status: int, sentence: str, more: Mapping[str, str] | None = None) -> None:
        """Answer with a sentence."""
        if self._scope["path"].startswith(API):
            kind, body = "application/json", json.dumps({"detail": sentence}).encode()
        else:
            kind, body = "text/plain; charset=utf-8", sentence.encode()
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        headers.append((b"connection", b"close"))  # what is left of a body stays unread
        headers += [(name.encode(), value.encode()) for name, value in (more or {}).items()]
        await self({"type": "http.response.start", "status": status, "headers": headers})
        await self._send({"type": "http.response.body", "body": body})


def _cache_control(scope: Scope, status: int) -> str:
    """Pages hold what is only for their reader. A static file may be kept for as long as its version is asked for."""
    if not scope["path"].startswith(STATIC) or status not in {200, 304}:
        return "no-store"
    return "public, max-age=31536000, immutable" if scope["query_string"].startswith(b"v=") else "no-cache"


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body as one message, then whatever comes."""
    given = False

    async def receive_replayed() -> Message:
        nonlocal given
        if given:
            return await receive()
        given = True
        return {"type": "http.request", "body": body, "more_body": False}

    return receive_replayed


def log_failure(scope: Scope, error: Exception) -> None:
    """Log where a request failed."""
    _log.error("%s %s failed\n%s", scope["method"], quote(scope["path"]), "".join(_trace_lines(error)))


def _trace_lines(error: BaseException | None) -> Iterator[str]:
    """Where an error and those behind it arose. What they say is left out: it may quote a text, a note or a token."""
    seen_ids: set[int] = set()
    while error is not None and id(error) not in seen_ids:  # an error can be its own cause
        seen_ids.add(id(error))
        yield f"{type(error).__qualname__}, at:\n"
        yield from traceback.format_tb(error.__traceback__)
        error = error.__cause__ or error.__context__
