"""Values of other programs as text: JSON read strictly, one rule for what a value looks like, and one of emptiness."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from datetime import datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any, NoReturn

_EXACT_BITS = {2: 11, 4: 24}  # by the bytes of a float; the usual one, of 8, holds each integer of 53 bits
# What Unicode calls default ignorable: it takes no room, unlike the visible ones of its format characters.
_INVISIBLE = (
    r"\s\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    r"\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
_VISIBLE = re.compile(f"[^{_INVISIBLE}]")
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]|NaN|-?Infinity')
_IS_KEY = re.compile(r"[ \t\r\n]*:")


def is_blank(text: str) -> bool:
    """Tell whether a text is empty to whoever looks at it: white space, control and invisible characters alone."""
    return _VISIBLE.search(text) is None


def visible_text(text: str) -> str:
    """The text as it is; empty where it is blank."""
    return "" if is_blank(text) else text


def with_point(cell: str) -> str:
    """A number as Python reads it: a comma, or the separator of Persian and Arabic, may stand for its point."""
    return cell.strip().replace(",", ".").replace("٫", ".")


class JsonFloat(float):
    """A number of JSON that keeps its spelling as text: `1e5`, `1.10`."""

    spelling: str

    def __new__(cls, spelling: str) -> JsonFloat:
        """Read a number as JSON spells it."""
        number = super().__new__(cls, spelling)
        number.spelling = spelling
        return number

    def __str__(self) -> str:
        return self.spelling


def parse_json(text: str | bytes) -> Any:
    """Parse a text that is one JSON value; raises JSONDecodeError as `decode_json` does, and where more follows."""
    text = text if isinstance(text, str) else text.decode("utf-8")
    value, end = decode_json(text, len(text) - len(text.lstrip(" \t\r\n")))
    if text[end:].strip(" \t\r\n"):
        raise json.JSONDecodeError("not JSON: Extra data", text, end)
    return value


def decode_json(text: str, at: int) -> tuple[Any, int]:
    """The JSON value that begins at a place, and where it ends.

    Python's own reader takes the last of two members with the same key, and `NaN` and `Infinity`, and says nothing.
    Raises json.JSONDecodeError for no JSON, a key that an object has twice, a number that is none; with its place.
    """
    try:
        return _DECODER.raw_decode(text, at)
    except json.JSONDecodeError as error:
        raise json.JSONDecodeError(f"not JSON: {error.msg}", text, error.pos) from None
    except _RefusedError as error:
        kind, message = error.args
        raise kind(message, text, _find_refused(text, at)) from None
    except RecursionError:
        raise json.JSONDecodeError("cannot be read: too many brackets in each other", text, at) from None
    except ValueError as error:  # a number of thousands of digits
        raise json.JSONDecodeError(f"cannot be read: {error}", text, at) from None


class DuplicateKeyError(json.JSONDecodeError):
    """An object has a key twice, and so may say two things at once."""


class _RefusedError(ValueError):
    """A key that an object has twice, or a number that is none, before its place is known: its kind, and a message."""


def _refuse_constant(name: str) -> NoReturn:
    message = f"`{name}` is not JSON; write null where there is nothing, and a text in quotation marks"
    raise _RefusedError(json.JSONDecodeError, message)


def _refuse_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(members := dict(pairs)) < len(pairs):
        seen: set[str] = set()
        repeated = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _RefusedError(DuplicateKeyError, f"duplicate key `{repeated}` in an object")
    return members


_KEY_DECODER = json.JSONDecoder()
_DECODER = json.JSONDecoder(object_pairs_hook=_refuse_repeats, parse_constant=_refuse_constant, parse_float=JsonFloat)


def _find_refused(text: str, at: int) -> int:
    """The place of the first constant that is no JSON, or key that its object has twice, of a value."""
    keys_of: list[set[str]] = []
    for match in _TOKEN.finditer(text, at):
        if (token := match.group()) in ("{", "["):
            keys_of.append(set())
        elif token in ("}", "]"):
            keys_of.pop()
        elif token[0] != '"':
            return match.start()
        elif keys_of and _IS_KEY.match(text, match.end()):
            if (key := _KEY_DECODER.decode(token)) in keys_of[-1]:
                return match.start()
            keys_of[-1].add(key)
    return at


def as_text(value: Any) -> str:
    """A value as text, as it looks where it comes from: nothing is empty, lists and objects are JSON.

    A whole float is a whole number, since integers with gaps become floats in many programs; dates are ISO 8601, a time
    of midnight is a date. Raises ValueError for bytes, infinity, and a whole float so large that it may have been
    another integer before.
    """
    if value is None or isinstance(value, str):
        text: str = value or ""
    elif isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, float):
        text = _float_text(value)
    elif isinstance(value, Mapping | list | tuple):
        text = _json_text(value)
    elif isinstance(value, Decimal):
        text = f"{value:f}"
    elif isinstance(value, bytes | bytearray | memoryview):
        raise ValueError("has bytes, which are no text; decode them, or leave the column out")
    elif isinstance(value, datetime) and value.tzinfo is None and value.time() == time.min:
        text = str(value).removesuffix(" 00:00:00")  # pandas' may have nanoseconds
    elif hasattr(value, "dtype") and value.dtype.kind not in "mM":
        is_float = value.ndim == 0 and value.dtype.kind == "f"
        bits = _EXACT_BITS.get(value.dtype.itemsize, 53)
        text = _float_text(float(str(value)), bits) if is_float else as_text(value.tolist())
    else:
        text = str(value)
    return text


def _float_text(number: float, bits: int = 53) -> str:
    if isinstance(number, JsonFloat):
        return number.spelling
    if math.isnan(number):
        return ""
    if math.isinf(number):
        raise ValueError("has an infinite number, which is no text; leave the cell empty where there is nothing")
    if not number.is_integer():
        return repr(float(number))
    if abs(number) > 2**bits:
        raise ValueError(
            f"has a floating-point number beyond 2^{bits}, where integers are rounded and two ids become one; "
            "read it as an integer or a text from the start"
        )
    return str(int(number))


def _json_text(value: Any) -> str:
    if hasattr(value, "dtype"):
        value = value.tolist()
    if isinstance(value, Mapping):
        members = (f"{json.dumps(as_text(key), ensure_ascii=False)}: {_json_text(one)}" for key, one in value.items())
        return f"{{{', '.join(members)}}}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_json_text, value))}]"
    if value is None or isinstance(value, str | int):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, float) and not math.isinf(value):
        return "null" if math.isnan(value) else str(value)
    return as_text(value) if isinstance(value, Decimal | float) else json.dumps(as_text(value), ensure_ascii=False)


def shipped_folder(name: str, source: str) -> Path:
    """A folder of files that the package ships as `name`, or that a checkout has as `source`."""
    package = Path(__file__).parent
    shipped = package / name
    return shipped if shipped.is_dir() else package.parent / source
