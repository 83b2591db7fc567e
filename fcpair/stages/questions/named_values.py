"""Values whose printed name can be read back: `bm25(k1=1.5,b=0.75)`, `sbert:all-MiniLM-L6-v2`, `NDCG@10`.

A name is `word`, `word:of`, `word(option=value,...)` or both; a value that holds one of `,()="` stands in double
quotes, with a backslash before a quote or a backslash. Behind the colon `=` may stand without them, as in the names of
runs that an evaluation wrote.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar, get_args, get_origin, get_type_hints

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import is_required
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions.notation import QUOTED, unquote

Self = TypeVar("Self", bound="NamedValue")
_HEAD = re.compile(
    rf'\s*([A-Za-z0-9]+(?:-[A-Za-z0-9]+)*)\s*(?::\s*({QUOTED}|[^,()"]+?))?\s*(?:\((.*)\))?\s*', re.DOTALL
)
_PIECE = re.compile(rf'{QUOTED}|[^(),"]+|.', re.DOTALL)
_WORD = re.compile("[a-z+]+")  # a file that is called so would be read as one of the words that an option knows
_NEEDS_QUOTES = re.compile(r'[,()="\\]|^\s|\s$|^$')


@dataclass(frozen=True)
class NamedValue:
    """A frozen value that prints as its name.

    A field `of` stands behind the colon, those in `outside_brackets` where the class itself puts them, all others in
    brackets.
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
        resolved: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, Path):
                resolved[item.name] = folder / value
            elif isinstance(value, NamedValue):
                resolved[item.name] = value.resolve_in(folder)
        return replace(self, **resolved)

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


def _unquote(place: str, text: str) -> str:
    try:
        return unquote(text.strip())
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def parse_named(text: str, classes: Mapping[str, type[NamedValue]], what: str) -> Any:
    """Read a name that one of the classes in `classes`, by their words, prints.

    Raises:
        InputError: no such word or option (with the nearest known one), an option that is missing, twice or of the
            wrong kind, brackets that do not match.
    """
    place = f"{what} `{text}`"
    head = _HEAD.fullmatch(text)
    if not head:
        raise InputError(f"{place} cannot be read; expected a name such as {', '.join(classes)}")
    word, of, inside = head.groups()
    if word not in classes:
        raise InputError(f"{place}: there is no `{word}`; {suggest_name(word, classes)}")
    return _build_value(place, classes[word], of, _parse_options(place, inside or ""), classes)


def _parse_options(place: str, inside: str) -> dict[str, str]:
    options: dict[str, str] = {}
    for part in _split_options(place, inside):
        name, equals, value = part.partition("=")
        name = name.strip()
        if not equals or not name:
            raise InputError(f"{place}: `{part.strip()}` cannot be read; expected option=value")
        if name in options:
            raise InputError(f"{place}: `{name}` is given twice")
        options[name] = value
    return options


def _split_options(place: str, inside: str) -> Iterator[str]:
    """The parts between commas that stand outside of quotes and of inner brackets."""
    part, depth = "", 0
    for piece in _PIECE.findall(inside):
        depth += {"(": 1, ")": -1, '"': -len(inside)}.get(piece, 0)  # a quote by itself is not closed
        if depth < 0:
            break
        if piece == "," and not depth:
            yield part
            part = ""
        else:
            part += piece
    if depth:
        raise InputError(f"{place}: the brackets or quotes do not match")
    if inside.strip():
        yield part


def _build_value(
    place: str,
    cls: type[NamedValue],
    of: str | None,
    option_texts: dict[str, str],
    classes: Mapping[str, type[NamedValue]],
) -> NamedValue:
    hints = get_type_hints(cls)
    options = [item.name for item in _option_fields(cls)]
    if of is not None and "of" not in hints:
        raise InputError(f"{place}: `{cls.word}` takes nothing after a colon")
    for name in option_texts:
        if name not in options:
            hint = suggest_name(name, options) if options else f"`{cls.word}` has none"
            raise InputError(f"{place}: there is no option `{name}`; {hint}")
    if of is not None:
        option_texts["of"] = of
    values = {name: _parse_value(place, name, value, hints[name], classes) for name, value in option_texts.items()}
    missing = [item.name for item in fields(cls) if item.name not in values and is_required(item)]
    if missing:
        shown = f"{cls.word}:NAME" if missing[0] == "of" else f"{cls.word}({missing[0]}=...)"
        raise InputError(f"{place}: something is missing; expected {shown}")
    try:
        return cls(**values)
    except InputError as error:
        raise InputError(f"{place}: {error}") from None


def _parse_value(place: str, name: str, text: str, hint: Any, classes: Mapping[str, type[NamedValue]]) -> Any:
    kinds = [hint] if get_origin(hint) is Literal or not get_args(hint) else list(get_args(hint))
    if any(isinstance(kind, type) and issubclass(kind, NamedValue) for kind in kinds):
        return parse_named(text.strip(), classes, "system")
    value = _unquote(place, text)
    for kind in kinds:
        if get_origin(kind) is Literal and value in get_args(kind):
            return value
        if (convert := _CONVERTERS.get(kind)) is not None:
            return _convert(place, name, value, kind, convert)
    raise InputError(f"{place}: `{name}` is `{value}`; expected one of {', '.join(get_args(kinds[0]))}")


def _convert(place: str, name: str, text: str, kind: Any, convert: Callable[[str], Any]) -> Any:
    try:
        return convert(text)
    except (ValueError, KeyError):
        expected = {int: "a whole number", float: "a number", bool: "true or false"}.get(kind, "a text")
        raise InputError(f"{place}: `{name}` is `{text}`; expected {expected}") from None


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
