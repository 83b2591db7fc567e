"""Values whose printed name can be read back: `bm25(k1=1.5,b=0.75)`, `NDCG@10`, `one_of(no,unsure?,yes+)`.

A name is `word`, `word:of`, `word(option=value,...)` or both; a value that holds one of `,()="` stands in double
quotes, with a backslash before a quote or a backslash. Behind the colon `=` may stand without them. A question has
items in its brackets: a name or `name=value`, which the signs `?`, `+` and `~` may follow, JSON strings unless they
consist of ASCII letters, digits, `_`, `-` and `.`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import is_required
from fcpair.sentences import say
from fcpair.stages.corpus.text_identity import NO_TEXT

PLAIN = "[A-Za-z0-9_.-]+"
QUOTED = r'"(?:[^"\\]|\\.)*"'
_CALL = re.compile(r"\s*([a-z_]+)\s*\((.*)\)\s*", re.DOTALL)
_NAME = f"({QUOTED}|{PLAIN})"
_ITEM = re.compile(rf"\s*{_NAME}\s*(?:=\s*{_NAME}\s*)?([?+~]*)\s*(?:,|\Z)", re.DOTALL)
_EXPECTED = 'expected names separated by commas, in "..." unless they have only ASCII letters, digits, _, - and .'


class Item(NamedTuple):
    """One item between the brackets; `value` is None if there is no `=`."""

    name: str
    value: str | None = None
    signs: str = ""

    def __str__(self) -> str:
        return quote_name(self.name) + ("" if self.value is None else f"={quote_name(self.value)}") + self.signs


def quote_name(name: str) -> str:
    """The name as it is written, in quotes where it needs them."""
    return name if re.fullmatch(PLAIN, name) else json.dumps(name, ensure_ascii=False)


def read_call(text: str) -> tuple[str, list[Item]]:
    """The word and the items of a printed form; InputError without a word with brackets, or for other contents."""
    if not (call := _CALL.fullmatch(text)):
        raise InputError("expected a word and brackets, such as `one_of(no,yes+)` or `text()`")
    items = match_series(_ITEM, call[2], _EXPECTED) if call[2].strip() else ()
    return call[1], [Item(unquote(item[1]), item[2] and unquote(item[2]), item[3]) for item in items]


def match_series(pattern: re.Pattern[str], text: str, expected: str) -> Iterator[re.Match[str]]:
    """The matches of a pattern that follow one another from the beginning of a text to its end; else InputError."""
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
    """The items that are not options, and the options (`name=value`); InputError for an unknown or repeated one."""
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


Self = TypeVar("Self", bound="NamedValue")
_HEAD = re.compile(
    rf'\s*([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)\s*(?::\s*({QUOTED}|[^,()"]+?))?\s*(?:\((.*)\))?\s*', re.DOTALL
)
_PIECE = re.compile(rf'{QUOTED}|[^(),"]+|.', re.DOTALL)
_WORD = re.compile("[a-z+]+")  # a file that is called so would be read as one of the words that an option knows
_NEEDS_QUOTES = re.compile(r'[,()="\\]|^\s|\s$|^$')


@dataclass(frozen=True)
class NamedValue:
    """A frozen value that prints as its name. A field `of` stands behind the colon, those in `outside_brackets` where
    the class itself puts them, all others in brackets.
    """

    word: ClassVar[str]
    outside_brackets: ClassVar[tuple[str, ...]] = ()

    def __str__(self) -> str:
        return self._format(str, list(_option_fields(self)))

    @property
    def head(self) -> str:
        """Beginning of the name: the word, to which a class may add what it is told apart by."""
        return self.word

    @property
    def short_name(self) -> str:
        """The name with only those options that are not the default, and files without their folders."""
        changed = [item for item in _option_fields(self) if getattr(self, item.name) != item.default]
        return self._format(_short_text, changed)

    def resolve_in(self: Self, folder: Path) -> Self:
        """The same value, with its files taken to be relative to `folder`."""
        values: dict[str, Any] = {item.name: getattr(self, item.name) for item in fields(self)}
        files = {name: folder / value for name, value in values.items() if isinstance(value, Path)}
        inner = {name: value.resolve_in(folder) for name, value in values.items() if isinstance(value, NamedValue)}
        return replace(self, **files, **inner)

    def _format(self, format_: Callable[[Any], str], options: list[Field[Any]]) -> str:
        of = f":{_quote(format_(self.of))}" if hasattr(self, "of") else ""
        inside = ",".join(f"{item.name}={_format_value(getattr(self, item.name), format_)}" for item in options)
        return f"{self.head}{of}" + (f"({inside})" if inside else "")


def _option_fields(value: NamedValue | type[NamedValue]) -> Iterator[Field[Any]]:
    return (item for item in fields(value) if item.name not in ("of", *value.outside_brackets))


def _format_value(value: Any, show: Callable[[Any], str]) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    text = show(value) if isinstance(value, NamedValue) else _quote(show(value))
    return f"./{text}" if isinstance(value, Path) and _WORD.fullmatch(text) else text


def _short_text(value: Any) -> str:
    if isinstance(value, NamedValue):
        return value.short_name
    return value.name if isinstance(value, Path) else str(value)


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False) if _NEEDS_QUOTES.search(text) else text


def parse_named(text: str, classes: Mapping[str, type[NamedValue]], what: str) -> Any:
    """Read a name that one of the classes in `classes`, by their words, prints. Raises InputError for no such word or
    option (with the nearest one), an option that is missing, twice or of the wrong kind, brackets that do not match.
    """
    place = f"{what} `{text}`"
    if not (head := _HEAD.fullmatch(text)):
        raise InputError.say(
            "%(place)s cannot be read; expected a name such as %(names)s", place=place, names=list(classes)
        )
    word, of, inside = head.groups()
    if word not in classes:
        raise InputError.say(
            "%(place)s: there is no `%(word)s`; %(hint)s", place=place, word=word, hint=suggest_name(word, classes)
        )
    cls = classes[word]
    option_texts = _parse_options(place, inside or "")
    hints = get_type_hints(cls)
    options = [item.name for item in _option_fields(cls)]
    if of is not None and "of" not in hints:
        raise InputError.say("%(place)s: `%(word)s` takes nothing after a colon", place=place, word=cls.word)
    for name in option_texts:
        if name not in options:
            hint = suggest_name(name, options) if options else say("`%(name)s` has none", name=cls.word)
            raise InputError.say(
                "%(place)s: there is no option `%(name)s`; %(hint)s", place=place, name=name, hint=hint
            )
    if of is not None:
        option_texts["of"] = of
    values = {name: _parse_value(place, name, value, hints[name], classes) for name, value in option_texts.items()}
    if missing := [item.name for item in fields(cls) if item.name not in values and is_required(item)]:
        shown = f"{cls.word}:NAME" if missing[0] == "of" else f"{cls.word}({missing[0]}=...)"
        raise InputError(f"{place}: something is missing; expected {shown}")
    try:
        return cls(**values)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _parse_options(place: str, inside: str) -> dict[str, str]:
    parts, depth = [""], 0  # between commas that stand outside of quotes and of inner brackets
    for piece in _PIECE.findall(inside):
        depth += {"(": 1, ")": -1, '"': -len(inside)}.get(piece, 0)  # a quote by itself is not closed
        if depth < 0:
            break
        if piece == "," and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    options: dict[str, str] = {}
    for part in parts[:-1] if depth or not inside.strip() else parts:
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"{place}: `{part.strip()}` cannot be read; expected option=value")
        if name in options:
            raise InputError(f"{place}: `{name}` is given twice")
        options[name] = value
    if depth:
        raise InputError(f"{place}: the brackets or quotes do not match")
    return options


def _parse_value(place: str, name: str, text: str, hint: Any, classes: Mapping[str, type[NamedValue]]) -> Any:
    kinds = [hint] if get_origin(hint) is Literal or not get_args(hint) else list(get_args(hint))
    if any(isinstance(kind, type) and issubclass(kind, NamedValue) for kind in kinds):
        return parse_named(text.strip(), classes, "system")
    try:
        value = unquote(text.strip())
    except InputError as error:
        raise InputError(f"{place}: {error}") from None
    for kind in kinds:
        if get_origin(kind) is Literal and value in get_args(kind):
            return value
        if (convert := _CONVERTERS.get(kind)) is not None:
            try:
                return convert(value)
            except (ValueError, KeyError):
                expected = {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a text")
                raise InputError(f"{place}: `{name}` is `{value}`; expected {expected}") from None
    raise InputError(f"{place}: `{name}` is `{value}`; expected one of {', '.join(get_args(kinds[0]))}")


def _non_empty(text: str) -> str:
    if not text or NO_TEXT.search(text):
        raise ValueError(text)
    return text


_CONVERTERS: dict[Any, Callable[[str], Any]] = {
    int: int,
    float: float,
    bool: lambda text: {"true": True, "false": False}[text.lower()],
    str: _non_empty,
    Path: lambda text: Path(_non_empty(text)),
}
