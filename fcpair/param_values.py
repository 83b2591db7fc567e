"""Values of parameters: which ones a field takes, by its annotation and its bounds, and how they are kept.

Annotations are read when the first instance of a class is made, so that loading the classes costs nothing.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from numbers import Integral, Real
from os import PathLike, fsencode
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from fcpair.errors import InputError, NoEffectError
from fcpair.sentences import Id, join, mark, say

LARGEST = 2**63 - 1  # what a database can hold
SHOWN_CHARACTERS = 60  # characters of a value in a message
ONE_OF_NAMES = mark("one of %(names)s")
Reader = Callable[[str, Any], Any]


class InMemory(type(Path())):  # type: ignore[misc]
    """A table in memory that is given in the place of a file: a frame, or a list of texts or of rows, in `rows`."""

    rows: Any

    def read_text(self, *_: Any, **__: Any) -> str:
        """Raise InputError: what reads a text, such as guidelines or a prompt, has no use for a table."""
        raise invalid_value("the file of a text", self.rows, say("the name of a file"))


IN_MEMORY = InMemory("<frame>")  # as which runs and settings note it
Stored = TypeVar("Stored")


@dataclass(frozen=True)
class Bounds:
    """Bounds of a number: `least` or more; with `below`, strictly between the two; with `most`, no more than that."""

    least: int
    below: int | None = None
    most: int | None = None

    def __contains__(self, number: float) -> bool:
        if self.most is not None:
            return self.least <= number <= self.most
        return number >= self.least if self.below is None else self.least < number < self.below

    def __str__(self) -> str:
        if self.most is not None:
            span = mark("a probability from %(least)s to %(most)s"), mark("a whole number from %(least)s to %(most)s")
            return say(span[self.most != 1], least=self.least, most=self.most)
        if self.below is None:
            return say("a whole number, %(least)s or more", least=self.least)
        return say("a number between %(least)s and %(below)s", least=self.least, below=self.below)


AT_LEAST_ONE = Bounds(1)
PROBABILITY = Bounds(0, most=1)
N_PEOPLE = Bounds(1, most=10_000)  # who take part in a study


def param(default: Any, help: str, otherwise: str = "none", **more: Any) -> Any:
    """A parameter; `otherwise` says what happens where none is given and the default is empty.

    `more` may have `bounds`; as `metavar` what help shows in place of the type; `also`, further names of its option;
    and `shapes=False` for one that says how the work is done and changes nothing in what comes of it. `needs` names the
    parameters without any of which this one has no effect, and `idle_with` those beside any of which it has none;
    either may name a value, as in `reader=conan`. On a form of the lead it has a `label`, else its help, and `rows`
    where its text is long.
    """
    return field(default=default, metadata={"help": help, "otherwise": otherwise, **more})


def table(help: str) -> Any:
    """A parameter that is a table of values by names, and empty where none is given."""
    return field(default_factory=dict, metadata={"help": help})


class Checked:
    """A frozen dataclass whose fields hold what their annotations and bounds allow, whoever makes it.

    Lists are kept as tuples, names of files as paths, and whole numbers where a float is expected as floats. Raises
    InputError, which names the field and what is allowed, for any other value.
    """

    def __post_init__(self) -> None:
        cls: type = type(self)
        for name, read in field_readers(cls):
            value = getattr(self, name)
            if (checked_value := read(name, value)) is not value:
                object.__setattr__(self, name, checked_value)
        # A recipe has a seed for every stage, whether or not something is drawn there.
        check_effects(self, [name for name in _dependent_fields(cls) if name != "seed" and _is_set(self, name)])


def check_effects(options: Any, names: Iterable[str]) -> None:
    """Raise NoEffectError for one of these parameters that has no effect beside the others.

    A parameter that is not among `names` is not given, so that its value is no fault.
    """
    cls: type = type(options)
    for name in names:
        item = _dependent_fields(cls).get(name)
        needs, idle_with = (item.metadata.get(rule, ()) if item else () for rule in ("needs", "idle_with"))
        lacks = [] if any(_is_met(options, need) for need in needs) else [_as_shown(cls, need) for need in needs]
        beside = [_as_shown(cls, need) for need in idle_with if _is_met(options, need)]
        if lacks or beside:
            raise NoEffectError(without_effect(_as_shown(cls, name), lacks, beside), name)


def without_effect(name: str, lacks: Sequence[str], beside: Sequence[str]) -> str:
    """The message about an option that has no effect, because it lacks all of some others, or is beside others."""
    between = mark(" and ")
    if beside:
        return say("%(name)s has no effect beside %(others)s; omit it", name=name, others=join(beside, between))
    others = join(lacks, mark(" or "))
    if len(lacks) > 1:
        return say("%(name)s has no effect without %(others)s; add one of them, or omit it", name=name, others=others)
    return say("%(name)s has no effect without %(others)s; add that, or omit it", name=name, others=others)


def _is_set(options: Any, name: str) -> bool:
    cls: type = type(options)
    return bool(getattr(options, name) != field_default(_fields_by_name(cls)[name]))


def _is_met(options: Any, condition: str) -> bool:
    name, _, value = condition.partition("=")
    return str(getattr(options, name)) == value if value else _is_set(options, name)


def _as_shown(cls: type, condition: str) -> str:
    """A parameter, or one of its values, as recipe and command line call it."""
    name, _, value = condition.partition("=")
    flag = flag_of(_fields_by_name(cls)[name])
    return f"`{name} = {value}` ({flag} {value})" if value else f"`{name}` ({flag})"


def flag_of(item: Field[Any]) -> str:
    """The option of a parameter on the command line; in the singular where it may be repeated."""
    flag = f"--{item.name.replace('_', '-')}"
    return flag.removesuffix("s") if isinstance(field_default(item), tuple | dict) else flag


@functools.cache
def _fields_by_name(cls: type) -> dict[str, Field[Any]]:
    return {item.name: item for item in fields(cls)}


@functools.cache
def _dependent_fields(cls: type) -> dict[str, Field[Any]]:
    return {name: item for name, item in _fields_by_name(cls).items() if item.metadata.keys() & {"needs", "idle_with"}}


@functools.cache
def field_readers(cls: type) -> tuple[tuple[str, Reader], ...]:
    """Of each field of a class its name, and what checks its value and returns it as it is kept."""
    hints = get_type_hints(cls)
    return tuple(
        (item.name, functools.partial(_read_field, hints[item.name], item.metadata.get("bounds")))
        for item in fields(cls)
    )


Params = TypeVar("Params", bound=Checked)


def choose_params(params: Params | None, keywords: Params, defaults: Params) -> Params:
    """The object that is given, else the one made of keyword arguments; raises InputError where both are given."""
    if params is None:
        return keywords
    if keywords not in (params, defaults):
        raise InputError(f"keyword arguments are given in addition to {type(params).__name__}(...); give one of them")
    return params


def check_rules(*rules: tuple[Any, str]) -> None:
    """Raise InputError with the message of the first rule that is broken; each is what breaks it, and the message."""
    if message := next((message for is_broken, message in rules if is_broken), None):
        raise InputError(message)


def invalid_value(name: str, value: Any, expected: str) -> InputError:
    """The error for a value that a field does not take."""
    return InputError.say(
        "%(name)s is %(value)s; expected %(expected)s", name=name, value=short_repr(value), expected=expected
    )


def short_repr(value: Any) -> str:
    """A value as a message shows it, whatever it is."""
    try:
        text = repr(value)
    except Exception:  # of a number with too many digits, or of anybody's class
        text = f"some {type(value).__name__}"
    text = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}..."


def _read_field(hint: Any, bounds: Bounds | None, name: str, value: Any) -> Any:
    try:
        checked_value = _read(hint, name, value)
    except InputError:
        if bounds is None or (isinstance(value, Integral) and int(value) in bounds):  # it breaks another rule then
            raise
        raise invalid_value(name, value, str(bounds)) from None
    if bounds is not None and checked_value is not None and checked_value not in bounds:
        raise invalid_value(name, value, str(bounds))
    return checked_value


def _read(hint: Any, name: str, value: Any) -> Any:
    """A value as a field of this type keeps it; raises InputError where it is none."""
    origin, args = get_origin(hint), get_args(hint)
    if origin in {Union, types.UnionType}:  # with None, or a text in place of several
        *_, kind = (argument for argument in args if argument is not type(None))
        others = [other for other in (str, type(None)) if other in args and isinstance(value, other)]
        return _read(next(iter(others), kind), name, value)
    if origin is Literal:
        if not isinstance(value, str) or value not in args:
            raise invalid_value(name, value, say(ONE_OF_NAMES, names=[kind or say("an empty text") for kind in args]))
        return str(value)
    if origin is tuple:
        items = [value] if _is_frame(value) else value  # it is one table, and not the names of its columns
        if not isinstance(items, Iterable) or isinstance(items, str | bytes | Mapping | Set):
            raise invalid_value(name, value, say("a list"))
        return tuple(_read(args[0], name, item) for item in items)
    if origin is not None and issubclass(origin, Mapping):
        return _read_table(args[0], args[1], name, value)
    is_own = hint is bool or is_dataclass(hint)
    if is_own:
        if not isinstance(value, hint):
            expected = say("True or False") if hint is bool else f"{hint.__name__}(...) of {hint.__module__}"
            raise invalid_value(name, value, expected)
        return value
    return _PLAIN_READERS[hint](name, value)


def _read_table(key_hint: Any, hint: Any, name: str, value: Any) -> dict[Any, Any]:
    if not isinstance(value, Mapping):
        if value in ((), []):
            return {}
        raise invalid_value(name, value, say("a table of values by names"))
    read = {}
    for key, item in value.items():
        # A number may be written in digits, as in the settings of a study.
        is_written = key_hint is int and isinstance(key, str) and key.isdecimal() and len(key) < len(str(LARGEST))
        plain_key = int(key) if is_written else _read(key_hint, f"a key of {name}", key)
        read[plain_key] = _read(hint, f"{name} of {short_repr(key)}", item)
    if len(read) < len(value):
        raise invalid_value(name, value, say("each key once"))
    return read


def whole_number(name: str, value: Any) -> int:
    """A number that counts or names something, such as a pair; a float that is whole, as frames have them, is one.

    It may be larger than any that there is. Raises InputError for anything else.
    """
    is_whole = value.is_integer() if isinstance(value, float) else isinstance(value, Integral)
    if not is_whole or isinstance(value, bool):
        raise invalid_value(name, value, say("a whole number"))
    return int(value)


def _read_int(name: str, value: Any) -> int:
    if isinstance(value, float):
        raise invalid_value(name, value, say("a whole number"))
    if not -LARGEST <= (number := whole_number(name, value)) <= LARGEST:
        raise invalid_value(name, value, say("a whole number, %(most)s at most", most=Id(LARGEST)))
    return number


def _read_float(name: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise invalid_value(name, value, say("a number"))
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise invalid_value(name, value, say("a number that is finite"))
    return number


def _read_text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise invalid_value(name, value, say("a text"))
    if "\0" in value or (not value.isascii() and any("\ud800" <= letter <= "\udfff" for letter in value)):
        raise invalid_value(name, value, say("a text without a NUL character or half a surrogate pair"))
    return str(value)


def read_path(name: str, value: Any) -> Path:
    """The file of this name; or `InMemory`, of a frame or a list. Raises InputError for anything else."""
    if _is_frame(value) or (isinstance(value, list) and all(isinstance(item, str | Mapping) for item in value)):
        in_memory = InMemory(IN_MEMORY)
        in_memory.rows = value
        return in_memory
    path = value.__fspath__() if isinstance(value, PathLike) else value
    if not isinstance(path, str):
        raise invalid_value(name, value, say("the name of a file"))
    with suppress(UnicodeEncodeError):
        if fsencode(path) and "\0" not in path:
            return value if isinstance(value, Path) else Path(path)
    raise invalid_value(name, value, say("the name of a file, neither empty nor with NUL in it"))


def _is_frame(value: Any) -> bool:
    # pandas takes long to load, and is there if somebody has a frame; another thread may be loading it just now.
    frame = getattr(sys.modules.get("pandas"), "DataFrame", None)
    return frame is not None and isinstance(value, frame)


_PLAIN_READERS: dict[Any, Reader] = {
    Any: lambda _name, value: value,  # which the class checks itself
    type(None): lambda _name, value: value,
    int: _read_int,
    float: _read_float,
    str: _read_text,
    Path: read_path,
}


def is_required(item: Field[Any]) -> bool:
    """Return whether a field has no default."""
    return item.default is MISSING and item.default_factory is MISSING


def field_default(item: Field[Any]) -> Any:
    """The default of a field that has one."""
    return item.default if item.default_factory is MISSING else item.default_factory()


def plain_type(hint: Any) -> Any:
    """The type of a parameter without its `| None`."""
    if get_origin(hint) in {Union, types.UnionType}:
        return next(part for part in get_args(hint) if part is not type(None))
    return hint


def with_kept(cls: type[Stored], kept: Mapping[str, Any], overrides: Mapping[str, Any]) -> Stored:
    """The options of what is kept, with `overrides` in its place; what is kept and has no effect beside it is left out.

    Earlier versions kept such parameters, too. Raises InputError where the options cannot be.
    """
    try:
        return cls(**{**kept, **overrides})
    except NoEffectError as error:
        if error.parameter in overrides or error.parameter not in kept:
            raise
        return with_kept(cls, {name: value for name, value in kept.items() if name != error.parameter}, overrides)


def from_params(cls: type[Stored], stored: Mapping[str, Any]) -> Stored:
    """Make an instance of what `as_params` gives; a field that is not stored has its default.

    Raises InputError for a value that the class does not take, where it checks them.
    """
    kinds = _field_types(cast(type, cls))
    return cls(**{name: _from_plain(kind, stored[name]) for name, kind in kinds.items() if name in stored})


@functools.cache
def _field_types(cls: type) -> dict[str, Any]:
    hints = get_type_hints(cls)
    return {item.name: plain_type(hints[item.name]) for item in fields(cls)}


def _from_plain(kind: Any, value: Any) -> Any:
    if isinstance(value, list):
        return tuple(_from_plain(next(iter(get_args(kind)), None), item) for item in value)
    return from_params(cast(type, kind), value) if is_dataclass(kind) and isinstance(value, Mapping) else value


def as_params(options: Any) -> dict[str, Any]:
    """The parameters as a run keeps them: plain values only."""
    return {item.name: as_plain(getattr(options, item.name)) for item in fields(options)}


def digest_params(options: Any) -> str:
    """Digest of the parameters, by which a form says on which ones it rests."""
    return hashlib.sha256(json.dumps(as_params(options), sort_keys=True).encode()).hexdigest()[:16]


def as_plain(value: Any) -> Any:
    """A value of a parameter as a run keeps it."""
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): item for key, item in value.items()}
    if is_dataclass(value):
        return as_params(value)
    return [as_plain(item) for item in value] if isinstance(value, tuple) else value
