"""Safeguards for every request: bounded bodies, security headers, and an answer even where fcpair fails.

Whoever is not logged in has nothing to send but a token: nothing above that is read before it is known who sends it.
"""

from __future__ import annotations

import asyncio
import json
import logging
import traceback
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import cast
from urllib.parse import quote

from fastapi import Request
from starlette.concurrency import run_in_threadpool
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from fcpair.errors import FcpairError, StudyError
from fcpair.params import MOST_GUIDELINES
from fcpair.records import Role, Visitor
from fcpair.sentences import say
from fcpair.web.form import BODY, FORM, MOST_DIGITS

STATIC = "/static/"
UPLOAD_TABLE, UPLOAD_RUN = ("POST", "/lead/start/table"), ("POST", "/lead/evaluation/run")
UPLOAD_ANSWERS, UPLOAD_RELEASE = ("POST", "/lead/uploads/file"), ("POST", "/lead/releases/file")
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
FAILED = say("fcpair itself failed; what was saved before is safe. The log of the server says where")
STRANGER = 8 * 1024
MAX_BODY = 256 * 1024
GUIDELINES = ("/lead/guidelines", "/lead/start/guidelines")
# As a form, a character that is not ASCII takes three times its bytes, and a line's end (one byte) takes six.
MAX_GUIDELINES = 6 * MOST_GUIDELINES + 64 * 1024
MOST_FIELDS = 1_000
PATIENCE_S = 20.0  # that a body may take, however slow, ...
LEAST_PER_S = 4 * 1024  # ... and longer by a second for so many bytes that have come
LINGER_S = 0.5
MOST_UNFINISHED = 32 * 1024 * 1024  # over all connections, of bodies larger than a stranger's
NOT_NOW = say(
    "the study cannot be read or written just now; try again, and if that does not help, tell those who run it"
)
_log = logging.getLogger("fcpair.web")


class RefusedBodyError(Exception):
    """The body is not taken: the status and the sentence to answer with, and headers beside them."""

    def __init__(self, status: HTTPStatus, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers or {}


class GoneError(Exception):
    """The client has gone before the body was whole."""


@dataclass(eq=False)
class _PendingBody:
    """A body that is not whole yet."""

    limit: asyncio.Timeout
    body: bytearray = field(default_factory=bytearray)
    dropped: bool = False


class BodyReader:
    """Reads the bodies of requests; `who` looks up who sends one, in a thread, and only where that matters."""

    def __init__(self, who: Callable[[Request], Visitor | None]) -> None:
        self._who = who
        self._unfinished: dict[_PendingBody, int] = {}  # the larger ones, in the order in which they became so

    async def read(self, scope: Scope, receive: Receive) -> bytes:
        """The whole body; raises RefusedBodyError for what may not be sent, GoneError for what never ends."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"0")
        if length == b"0" and b"transfer-encoding" not in headers:
            return b""
        n_bytes = int(length[:MOST_DIGITS]) if length.isdigit() else 0
        most = STRANGER if n_bytes <= STRANGER else await self._limit_for(scope, n_bytes)
        reading = _PendingBody(asyncio.timeout(PATIENCE_S))
        try:
            async with reading.limit:
                body, until, more = reading.body, reading.limit.when() or 0.0, True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise GoneError
                    body += message.get("body", b"")
                    if len(body) > most:
                        most = await self._limit_for(scope, len(body))
                    if more := message.get("more_body", False):
                        self._make_room(reading)
                    if not reading.dropped:
                        reading.limit.reschedule(until + len(body) / LEAST_PER_S)
        except TimeoutError:
            if reading.dropped:
                sentence = "too much is being sent to this server at once; try again in a few seconds"
                raise RefusedBodyError(HTTPStatus.SERVICE_UNAVAILABLE, sentence, {"retry-after": "5"}) from None
            sentence = "the request came in too slowly; try again with a better connection"
            raise RefusedBodyError(HTTPStatus.REQUEST_TIMEOUT, sentence) from None
        finally:
            self._unfinished.pop(reading, None)
        is_form = headers.get(b"content-type", b"").lower().startswith(FORM.encode())
        if is_form and body.count(b"&") >= MOST_FIELDS:
            sentence = f"the form has too many fields; at most {MOST_FIELDS:,} are accepted"
            raise RefusedBodyError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
        return bytes(body)

    async def _limit_for(self, scope: Scope, n_bytes: int) -> int:
        """Limit in bytes for a body that is known to be larger than a stranger may send."""
        # Most strangers have no session or token to look up, and are worth no thread.
        has_credentials = any(name in {b"authorization", b"cookie"} for name, _ in scope["headers"])
        visitor = None
        try:
            visitor = await run_in_threadpool(self._who, Request(scope)) if has_credentials else None
        except StudyError as error:
            _log.error("%s %s: %s", scope["method"], quote(scope["path"]), error)
            raise RefusedBodyError(HTTPStatus.SERVICE_UNAVAILABLE, NOT_NOW) from error
        except FcpairError:
            pass
        if visitor is None:
            # The desk keeps an answer that meets 401, until its person has come in again; it gives up one at 413.
            is_api = scope["path"].startswith(API)
            status = HTTPStatus.UNAUTHORIZED if is_api else HTTPStatus.REQUEST_ENTITY_TOO_LARGE
            sentence = (
                f"you are not logged in, and without a login at most {STRANGER:,} bytes are accepted; open your invite "
                "link, or send your token as `Authorization: Bearer`, and send this again"
            )
            raise RefusedBodyError(status, sentence, {"www-authenticate": "Bearer"} if is_api else {})
        of_guidelines = scope["path"] in GUIDELINES and visitor.role is Role.LEAD
        most = MAX_GUIDELINES if of_guidelines else MAX_BODY
        if n_bytes > most:
            sentence = f"the request is too large; at most {most:,} bytes are accepted here"
            if of_guidelines:
                sentence = f"the request is too large; guidelines may have at most {MOST_GUIDELINES:,} bytes (as UTF-8)"
            raise RefusedBodyError(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, sentence)
        return most

    def _make_room(self, reading: _PendingBody) -> None:
        """Count what has come; when all of it together is too much, the body that began first has to go."""
        if len(reading.body) <= STRANGER or reading.dropped:
            return
        self._unfinished[reading] = len(reading.body)
        while sum(self._unfinished.values()) > MOST_UNFINISHED:
            oldest = next(iter(self._unfinished))
            del self._unfinished[oldest]
            oldest.dropped = True
            oldest.body.clear()
            oldest.limit.reschedule(0)


class Guard:
    """The outermost part of the app."""

    def __init__(self, app: ASGIApp, who: Callable[[Request], Visitor | None]) -> None:
        self._app, self._bodies = app, BodyReader(who)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        is_api, is_static, has_begun = scope["path"].startswith(API), scope["path"].startswith(STATIC), False

        async def send_with_headers(message: Message) -> None:
            """Send with the headers that every response has, and those that only pages and files need."""
            nonlocal has_begun
            if message["type"] == "http.response.start":
                has_begun = True
                # Pages hold what is only for their reader; a static file may be kept while its version is asked for.
                caching = b"no-store"
                if is_static and message["status"] in {200, 304}:
                    is_versioned = scope["query_string"].startswith(b"v=")
                    caching = b"public, max-age=31536000, immutable" if is_versioned else b"no-cache"
                headers = _RAW_API_HEADERS if is_api else _RAW_HEADERS
                message["headers"] = [*message["headers"], *headers, (b"cache-control", caching)]
            await send(message)

        async def send_sentence(status: int, sentence: str, more: Mapping[str, str]) -> None:
            kind, body = "text/plain; charset=utf-8", sentence.encode()
            if is_api:
                kind, body = "application/json", json.dumps({"detail": sentence}).encode()
            headers = {"content-type": kind, "content-length": str(len(body)), "connection": "close", **more}
            raw = [(name.encode(), value.encode()) for name, value in headers.items()]
            await send_with_headers({"type": "http.response.start", "status": status, "headers": raw})
            await send({"type": "http.response.body", "body": body, "more_body": True})
            # What comes of a body is read for a moment, then the connection is closed: who is still sending, such as a
            # proxy, would find it closed before the answer, and say 502.
            with suppress(TimeoutError):
                async with asyncio.timeout(LINGER_S):
                    while (await receive()).get("more_body"):
                        pass
            await send({"type": "http.response.body"})

        # An upload reads its body itself, once it knows who sends it.
        is_upload = (scope["method"], scope["path"]) in (UPLOAD_TABLE, UPLOAD_RUN, UPLOAD_ANSWERS, UPLOAD_RELEASE)
        try:
            body = scope[BODY] = b"" if is_upload else await self._bodies.read(scope, receive)
        except RefusedBodyError as refused:
            await send_sentence(refused.status, refused.sentence, refused.headers)
            return
        except GoneError:
            return  # half a form must not pass for a whole one
        unread = [body]

        async def replay() -> Message:
            return {"type": "http.request", "body": unread.pop(), "more_body": False} if unread else await receive()

        try:
            await self._app(scope, receive if is_upload else replay, send_with_headers)
        except Exception as error:
            log_failure(scope, error)
            if not has_begun:
                await send_sentence(500, FAILED, {})


def log_failure(scope: Scope, error: Exception) -> None:
    """Log where a request failed, and the errors behind it, not what they say: that may quote a text or a token."""
    lines, seen_ids, cause = list[str](), set[int](), cast(BaseException | None, error)
    while cause is not None and id(cause) not in seen_ids:  # an error can be its own cause
        seen_ids.add(id(cause))
        lines += [f"{type(cause).__qualname__}, at:\n", *traceback.format_tb(cause.__traceback__)]
        cause = cause.__cause__ or cause.__context__
    _log.error("%s %s failed\n%s", scope["method"], quote(scope["path"]), "".join(lines))
