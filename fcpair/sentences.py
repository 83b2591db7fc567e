"""Sentences that keep their values: written once, in English, where they arise; a page says them in its language.

`say("pair %(number)s has no label", number=Id(12))` is a text like any other, and knows its template, which is the
message that catalogues translate, and its values, which `Language.say` writes by their types:

- a whole number with its thousands set off; an `Id` without;
- a `Written` figure, such as `1,234.50` or `87.5 %`, with the signs and digits of the language;
- an `Answer` by the name that people read; another sentence, or `say(word)`, translated; a text as it is;
- a list or tuple of these, with commas between.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Self

RIGHT_TO_LEFT = ("R", "AL")  # Unicode's bidirectional classes: Hebrew and its kin, Arabic and its kin


class Id(int):
    """A number that counts nothing, such as that of a pair or a run."""


class Written(str):
    """A figure as it is written in English, such as `1,234.50` or `87.5 %`."""


class Answer(str):
    """The name of an answer or a question, as recipes have it."""


class Sentence(str):
    """A sentence in English that knows its `template` and its `values`; `many` is the template for numbers but 1.

    It stays one when it is copied or pickled, and is a mere text once it is joined to another: see `join`.
    """

    template: str
    values: Mapping[str, Any]
    many: str

    def __new__(cls, template: str, values: Mapping[str, Any] | None = None, many: str = "") -> Self:
        """The sentence; raises KeyError where a value is missing."""
        values = values or {}
        chosen = many if many and values["n"] != 1 else template
        self = super().__new__(cls, chosen % {name: _in_english(value) for name, value in values.items()})
        self.template, self.values, self.many = template, values, many
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, self.values, self.many

    def __str__(self) -> str:
        return self


class Joined(Sentence):
    """Several sentences in a row, the `joint` between them; `parts` are sentences or texts."""

    parts: tuple[str, ...]

    def __new__(cls, joint: str, parts: Iterable[str]) -> Self:
        """The sentences; `joint` may be a message of its own, as `; ` is."""
        parts = tuple(parts)
        self = str.__new__(cls, joint.join(parts))
        self.template, self.values, self.many, self.parts = joint, {}, "", parts
        return self

    def __getnewargs__(self) -> tuple[Any, ...]:
        return self.template, self.parts


def say(template: str, /, **values: Any) -> Sentence:
    """A sentence with its values: `%(name)s` in the template stands for a value, `%%` for a percent sign."""
    return Sentence(template, values)


def say_number(one: str, many: str, /, n: int, **values: Any) -> Sentence:
    """The same of a sentence with the number `n`, which is a value of it, and has two forms in English."""
    return Sentence(one, {"n": n, **values}, many)


def join(sentences: Iterable[str], joint: str = " ") -> Joined:
    """Sentences in a row, each of which a page still can translate."""
    return Joined(joint, sentences)


def mark(message: str) -> str:
    """The message itself, a word or a sentence without values: it is in the catalogues, and translated where shown."""
    return message


def mark_plural(one: str, many: str) -> tuple[str, str]:
    """The same of a message with a number."""
    return one, many


def isolate(text: str, direction: str) -> str:
    """The text between Unicode's isolates if it has letters against a direction, which else move what is beside it."""
    against = ("L",) if direction == "rtl" else RIGHT_TO_LEFT
    if "\u2068" in text or all(unicodedata.bidirectional(sign) not in against for sign in text):
        return text  # also a sentence, whose own names are isolated
    return f"\u2068{text}\u2069"


def _in_english(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_in_english, value))
    return f"{value:,}" if type(value) is int else str(value)
