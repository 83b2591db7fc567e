"""Parameters as fields of a form: made of their class, as the options of commands are, and read back into it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, fields, replace
from typing import Any, Literal, TypeVar, cast, get_args, get_origin, get_type_hints

from fcpair.errors import InputError
from fcpair.param_values import AT_LEAST_ONE, Checked, plain_type
from fcpair.sentences import mark, say
from fcpair.web.form import parse_number, parse_share
from fcpair.web.languages import Language

NO_VALUE = mark("“%(label)s” is empty; it needs a value")
NO_NUMBER = mark("“%(label)s”: `%(text)s` is not a number; enter a whole number")
NO_COUNT = mark("“%(label)s”: `%(text)s` is not a number; enter a whole number, 1 or more")
NO_SHARE = mark("“%(label)s”: `%(text)s` is not a share; enter a percentage from 0 to 100")
Params = TypeVar("Params", bound=Checked)


class FieldError(InputError):
    """What was typed into a `field` of a form is no value that it takes."""

    def __init__(self, template: str, field: ParamField, text: str) -> None:
        self.parameter = field.name
        super().__init__(say(template, label=say(field.label), text=text))


@dataclass(frozen=True)
class ParamField:
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
        """What the field is called."""
        return str(self.item.metadata.get("label", self.item.metadata["help"]))

    @property
    def choices(self) -> tuple[str, ...]:
        """The texts that it can have, where these are listed."""
        return ("yes", "no") if self.kind is bool else get_args(self.kind) if get_origin(self.kind) is Literal else ()

    @property
    def mode(self) -> str:
        """Which keys a telephone shows for it."""
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
        if not text and self.takes_none:
            return None
        if not text and self.item.default not in ("", (), MISSING) and "needs" not in self.item.metadata:
            raise FieldError(NO_VALUE, self, text)
        if self.kind is int:
            number, is_count = parse_number(text), self.item.metadata.get("bounds", AT_LEAST_ONE) == AT_LEAST_ONE
            if number is None or (is_count and not number):
                raise FieldError(NO_COUNT if is_count else NO_NUMBER, self, text)
            return number
        if self.kind is float:
            if (share := parse_share(text)) is None:
                raise FieldError(NO_SHARE, self, text)
            return share
        if self.kind == tuple[str, ...]:
            return tuple(line.strip() for line in text.splitlines() if line.strip())
        return text == "yes" if self.kind is bool else text


def fields_of(cls: Any) -> Mapping[str, ParamField]:
    """The fields of a class of parameters by their names, in its order."""
    hints = get_type_hints(cls)
    return {
        item.name: ParamField(item, plain_type(hints[item.name]), type(None) in get_args(hints[item.name]))
        for item in fields(cls)
        if "help" in item.metadata
    }


def read_params(own: Params, typed: Mapping[str, str]) -> Params:
    """The parameters with what was typed into a form; what it does not have, or left as it is, is as in `own`.

    Raises InputError for what cannot be.
    """
    values, options = {}, cast(Any, own)
    for name, one in fields_of(type(own)).items():
        text = typed.get(name, "").replace("\r\n", "\n").strip()
        if name in typed and text != one.write(getattr(own, name)).strip():
            values[name] = one.read(text)
    return cast(Params, replace(options, **values))
