"""Notation of a question: `one_of(no,unsure?,yes+)`, a word and items in brackets.

An item is a name or `name=value`, which the signs `?` and `+` may follow. A name or a value that consists of ASCII
letters, digits, `_`, `-` and `.` is written as it is. Any other is written as a JSON string: in double quotes, with a
backslash before each quote and each backslash in it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from fcpair.errors import InputError

PLAIN = "[A-Za-z0-9_.-]+"
QUOTED = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(r"\s*([a-z_]+)\s*\((.*)\)\s*", re.DOTALL)
_NAME = f"({QUOTED}|{PLAIN})"
_ITEM = re.compile(rf"\s*{_NAME}\s*(?:=\s*{_NAME}\s*)?([?+]*)\s*(?:,|\Z)", re.DOTALL)
_EXPECTED = 'expected names separated by commas, in "..." unless they have only ASCII letters, digits, _, - and .'


class Item(NamedTuple):
    """One item between the brackets; `value` is None where there is no `=`."""

    name: str
    value: str | None = None
    signs: str = ""

    def __str__(self) -> str:
        return quote_name(self.name) + ("" if self.value is None else f"={quote_name(self.value)}") + self.signs


def quote_name(name: str) -> str:
    """The name as it is written, in quotes where it needs them."""
    return name if re.fullmatch(PLAIN, name) else json.dumps(name, ensure_ascii=False)


def format_call(word: str, items: Iterable[Item]) -> str:
    """The printed form, which `read_call` reads back."""
    return f"{word}({','.join(map(str, items))})"


def read_call(text: str) -> tuple[str, list[Item]]:
    """The word and the items of a printed form.

    Raises:
        InputError: no word with brackets, or something in the brackets that is no item.
    """
    if not (call := _CALL.fullmatch(text)):
        raise InputError("expected a word and brackets, such as `one_of(no,yes+)` or `text()`")
    items = match_series(_ITEM, call[2], _EXPECTED) if call[2].strip() else ()
    return call[1], [Item(unquote(one[1]), one[2] and unquote(one[2]), one[3]) for one in items]


def match_series(pattern: re.Pattern[str], text: str, expected: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern that follow one another from the beginning of a text to its end.

    Raises:
        InputError: something is in the text that the pattern does not match.
    """
    at = 0
    while at < len(text):
        if not (match := pattern.match(text, at)):
            raise InputError(f"`{text[at:].strip()}` cannot be read; {expected}")
        yield match
        at = match.end()


def plain_names(items: Iterable[Item]) -> Iterator[str]:
    """The names of items that have nothing but a name; raises InputError for one that has more."""
    for item in items:
        if item.value is not None or item.signs:
            raise InputError(f"`{item}` cannot be read; expected a name alone")
        yield item.name


def take_options(items: Iterable[Item], allowed: Sequence[str]) -> tuple[list[Item], dict[str, str]]:
    """The items that are not options, and the options, which are those of the form `name=value`.

    Raises:
        InputError: an option that is not known, or is given twice.
    """
    rest, options = [], {}
    for item in items:
        if item.value is None:
            rest.append(item)
        elif item.name not in allowed or item.name in options or item.signs:
            problem = "is given twice" if item.name in options else "is not an option here"
            raise InputError(
                f"`{item}` {problem}; expected {' and '.join(f'{name}=' for name in allowed)} at most once"
            )
        else:
            options[item.name] = item.value
    return rest, options


def parse_whole_number(name: str, value: str) -> int:
    """The number that `name=value` says; raises InputError for anything but digits."""
    if not re.fullmatch("[0-9]{1,19}", value):
        raise InputError(f"`{name}={value}` cannot be read; expected a whole number, 0 or more")
    return int(value)


def unquote(text: str) -> str:
    """Read what `quote_name` wrote, or a text without quotes; raises InputError for quotes that cannot be read."""
    if not text.startswith('"'):
        return text
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        expected = 'expected "...", with a backslash before each quote and each backslash in it'
        raise InputError(f"{text} cannot be read; {expected}") from None
