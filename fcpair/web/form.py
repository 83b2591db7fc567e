"""What is sent, read from the body that the guard has read: forms as browsers send them, and strict JSON."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterator
from typing import Annotated, Any
from urllib.parse import unquote_to_bytes

from fastapi import Form, Request, Response
from fastapi.routing import APIRoute

from fcpair.values import parse_json, with_point

Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]
FORM = "application/x-www-form-urlencoded"
BODY = "fcpair.body"
MOST_DIGITS = 15
_SLICE = 64 * 1024


def field(request: Request, name: str) -> str:
    """The first field of that name; empty where there is none, or what was sent is no form."""
    return next((_decode(value) for key, value in _pairs(request) if _decode(key) == name), "")


def fields(request: Request) -> dict[str, str]:
    """All fields by their names; of several of one name, the last."""
    return {_decode(key): _decode(value) for key, value in _pairs(request)}


def _pairs(request: Request) -> Iterator[tuple[bytes, bytes]]:
    if request.headers.get("content-type", "").lower().startswith(FORM):
        for pair in request.scope.get(BODY, b"").split(b"&"):
            key, _, value = pair.partition(b"=")
            yield key, value


def parse_number(text: str) -> int | None:
    """The number that a form or an address has in digits; None for what is none, or has too many."""
    return int(text) if text.isdecimal() and len(text) <= MOST_DIGITS else None


def parse_share(text: str) -> float | None:
    """The share that a form has in percent; None for what is none."""
    try:
        percent = float(with_point(text.strip().removesuffix("%")))
    except ValueError:
        return None
    return round(percent / 100, 6) if 0 <= percent <= 100 else None


def _decode(sent: bytes) -> str:
    """The text that was sent. It is taken in slices: of 2 MiB of Persian at once, Python makes two million pieces."""
    slices, at = [], 0
    while at < len(sent):
        end = at + _SLICE
        if (cut := sent.rfind(b"%", end - 2, end)) > at:  # not through an escape
            end = cut
        slices.append(unquote_to_bytes(sent[at:end].replace(b"+", b" ")))
        at = end
    return b"".join(slices).decode("utf-8", "replace")


class StrictJsonRoute(APIRoute):
    """A route whose body is JSON as `parse_json` reads it: no key twice in an object, no `NaN`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of a request, whose body it reads strictly."""
        handle = super().get_route_handler()

        async def read_strictly(request: Request) -> Response:
            return await handle(_StrictJsonRequest(request.scope, request.receive))

        return read_strictly


class _StrictJsonRequest(Request):
    async def json(self) -> Any:
        return parse_json(await self.body())
