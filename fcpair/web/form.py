"""Requests, read from the body that the guard has read: forms, also of parameters, and strict JSON; JSON sent.

Only what holds no secret is compressed: static files, and texts that the API sends. From the length of what is
compressed together with what an attacker chose, a secret can be guessed (BREACH), and pages guard against forged forms.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import MISSING, Field, replace
from dataclasses import fields as fields_of_class
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, cast, get_args, get_origin, get_type_hints
from urllib.parse import unquote_to_bytes

from fastapi import Form, Request, Response
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute

from fcpair.errors import InputError, at_fault
from fcpair.param_values import AT_LEAST_ONE, Checked, plain_type
from fcpair.sentences import mark, say
from fcpair.values import parse_json, with_point
from fcpair.web.languages import Language

Text = Annotated[str, Form()]
Ticked = Annotated[bool, Form()]
FORM = "application/x-www-form-urlencoded"
BODY = "fcpair.body"
MOST_DIGITS = 16  # as ids that pages show have
LEAST = 1_000  # bytes; less is as many packets either way
FAST = 6  # of 9: for what is compressed at each request
Params = TypeVar("Params", bound=Checked)


def field(request: Request, name: str) -> str:
    """The first field of that name; empty if there is none, or what was sent is no form."""
    return next((_decode(value) for key, value in _pairs(request) if _decode(key) == name), "")


def fields(request: Request) -> dict[str, str]:
    """All fields by their names; of several of one name, the last."""
    return {_decode(key): _decode(value) for key, value in _pairs(request)}


def _pairs(request: Request) -> list[tuple[bytes, bytes]]:
    is_form = request.headers.get("content-type", "").lower().startswith(FORM)
    return [pair.partition(b"=")[::2] for pair in request.scope.get(BODY, b"").split(b"&")] if is_form else []


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
        end = at + 64 * 1024
        if (cut := sent.rfind(b"%", end - 2, end)) > at:  # not through an escape
            end = cut
        slices.append(unquote_to_bytes(sent[at:end].replace(b"+", b" ")))
        at = end
    return b"".join(slices).decode("utf-8", "replace")


class _StrictJsonRequest(Request):
    async def json(self) -> Any:
        return parse_json(await self.body())


class StrictJsonRoute(APIRoute):
    """A route whose body is JSON as `parse_json` reads it: no key twice in an object, no `NaN`."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """The handler of a request, whose body it reads strictly."""
        handle = super().get_route_handler()

        async def read_strictly(request: Request) -> Response:
            return await handle(_StrictJsonRequest(request.scope, request.receive))

        return read_strictly


def takes_gzip(request: Request) -> bool:
    """Return whether a request names gzip among the encodings that it takes, and does not refuse it by `q=0`."""
    for coding in request.headers.get("accept-encoding", "").split(","):
        name, _, quality = coding.partition(";")
        if name.strip().lower() == "gzip":
            return quality.replace(" ", "").lower().rstrip("0").rstrip(".") not in {"q=", "q=0"}
    return False


class RecordResponse(JSONResponse):
    """A response of JSON in which a record stands for its fields."""

    def render(self, content: Any) -> bytes:
        """The content as it is sent."""
        return json.dumps(content, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=vars).encode()


def json_response(request: Request, content: Any) -> Response:
    """The same, compressed where that is a gain and the client takes it; for what holds no secret."""
    response = RecordResponse(content)
    body = bytes(response.body)
    if len(body) < LEAST or not takes_gzip(request):
        return response
    compressed = gzip.compress(body, FAST, mtime=0)
    return Response(compressed, headers={"content-encoding": "gzip"}, media_type="application/json")


class ParamField(NamedTuple):
    """A parameter as a field of a form; `kind` is its type, beside which it may be None if it `takes_none`."""

    item: Field[Any]
    kind: Any
    takes_none: bool

    @property
    def name(self) -> str:
        """The name of the field."""
        return self.item.name

    @property
    def label(self) -> str:
        """Name of the field."""
        return str(self.item.metadata.get("label", self.item.metadata["help"]))

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that it can have, where these are listed."""
        return ("yes", "no") if self.kind is bool else get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def mode(self) -> str:
        """Keyboard that a telephone shows for it."""
        return {int: "numeric", float: "decimal"}.get(self.kind, "text")

    def write(self, value: Any) -> str:
        """The text of the field that stands for a value."""
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, float):
            return f"{100 * value:g}"
        return "\n".join(value) if isinstance(value, tuple) else "" if value is None else str(value)

    def describe(self, value: Any, language: Language) -> str:
        """A value as it is shown outside of its field."""
        if isinstance(value, bool):
            return language.find(self.write(value))
        return language.digits(value) if isinstance(value, int) else self.write(value)

    def read(self, text: str) -> Any:
        """The value that a text stands for; raises InputError where it is none that the field has."""
        value: Any = text == "yes" if self.kind is bool else text
        wrong = ""
        if not text and self.takes_none:
            value = None
        elif not text and self.item.default not in ("", (), MISSING) and "needs" not in self.item.metadata:
            wrong = mark("“%(label)s” is empty; it needs a value")
        elif self.kind is int:
            value = parse_number(text)
            if self.item.metadata.get("bounds", AT_LEAST_ONE) == AT_LEAST_ONE:
                message = mark("“%(label)s”: `%(text)s` is not a number; enter a whole number, 1 or more")
                wrong = "" if value else message
            elif value is None:
                wrong = mark("“%(label)s”: `%(text)s` is not a number; enter a whole number")
        elif self.kind is float and (value := parse_share(text)) is None:
            wrong = mark("“%(label)s”: `%(text)s` is not a share; enter a percentage from 0 to 100")
        elif self.kind == tuple[str, ...]:
            value = tuple(line.strip() for line in text.splitlines() if line.strip())
        if wrong:
            with at_fault(self.name):
                raise InputError.say(wrong, label=say(self.label), text=text)
        return value


def fields_of(cls: Any) -> Mapping[str, ParamField]:
    """The fields of a class of parameters by their names, in its order."""
    hints = get_type_hints(cls)
    return {
        item.name: ParamField(item, plain_type(hints[item.name]), type(None) in get_args(hints[item.name]))
        for item in fields_of_class(cls)
        if "help" in item.metadata
    }


def read_params(own: Params, typed: Mapping[str, str]) -> Params:
    """The parameters with what was typed into a form; the rest is as in `own`. Raises InputError for what cannot be."""
    values = {}
    for name, param in fields_of(type(own)).items():
        text = typed.get(name, "").replace("\r\n", "\n").strip()
        if name in typed and text != param.write(getattr(own, name)).strip():
            values[name] = param.read(text)
    return cast(Params, replace(cast(Any, own), **values))
