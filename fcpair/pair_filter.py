"""Description of a search for pairs of a grid: what they must have, and what can be chosen in the grid."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from enum import StrEnum
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from fcpair.errors import EXPECTED, InputError, suggest_name
from fcpair.sentences import mark, say

NO_TIER = "none"
LAYER = "map."  # before the name of a layer of the map, where it is a column of pairs
NO_METADATA = mark("there is no metadata `%(name)s`; %(hint)s")


class FilterState(StrEnum):
    """A state of a pair, which can be in several of them at once."""

    UNASSIGNED = "unassigned"  # nobody was ever given it
    OPEN = "open"  # somebody has still to label it
    LABELLED = "labelled"  # it has a label; a skip is none
    WAITING = "waiting"  # its labels decide nothing, and nobody has
    DECIDED = "decided"
    DISCARDED = "discarded"
    VALID = "valid"
    NOT_VALID = "not_valid"


CONFLICT_REASONS = {  # why a pair waits for a person
    "differ": mark("labels differ or decide nothing"),
    "again": mark("labels changed since it was decided"),
    "requested": mark("sent by a lead"),
}
CONFLICT_ORDERS = {"age": mark("longest wait"), "doubt": mark("most doubt"), "number": mark("by number")}


@dataclass(frozen=True)
class PairFilter:
    """Conditions that a pair must all meet; those that are empty or None ask nothing.

    With a `person`, `answer`, `skipped` and `noted` are about their answers alone.

    Args:
        words: each must occur in the text of the row or of the column, whatever its capitals.
        person: who was given the pair, in any round.
        answer: a label that it has.
        other: somebody else who was given it.
        other_answer: a label that it has from them; without an `other`, a further label that it has.
        state: where it stands, a name of `FilterState`.
        tier: the tier that it is in, as `Grid.tier` has it, with those above it; or `none`.
        skipped: whether somebody skipped it.
        noted: whether there is a note, with an answer or the decision.
        metadata: values, whatever their capitals, that the texts came with, by name: `hs.target` is the `target` of the
            HS (of a planned grid `row.target`).

    Raises:
        InputError: a state that is none, with the nearest; a value of the wrong type.
    """

    words: str = ""
    person: str = ""
    answer: str = ""
    state: str = ""
    tier: str = ""
    skipped: bool | None = None
    noted: bool | None = None
    other: str = ""
    other_answer: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        for item in fields(self):
            name, kind, value = item.name, str(item.type), getattr(self, item.name)
            if kind.startswith("Mapping"):
                for text in (*value, *value.values()) if isinstance(value, Mapping) else [value]:
                    if not isinstance(text, str):
                        raise InputError(f"`{name}` of a search has {text!r}; expected a text for each name")
            elif not isinstance(value, str) if kind == "str" else value not in (True, False, None):
                expected = "text" if kind == "str" else "True, False or None"
                raise InputError(f"`{name}` of a search is {value!r}; expected {expected}")
        check_name(mark("there is no state `%(name)s`; %(hint)s"), self.state, FilterState)

    @property
    def chosen(self) -> dict[str, Any]:
        """The conditions that ask something, by name."""
        values = {item.name: getattr(self, item.name) for item in fields(self)}
        return {name: value for name, value in values.items() if value not in ("", None, {})}


METADATA = re.compile(r"(hs|cn|row|column)\..+", re.DOTALL)
_NO_VALUE = {
    "skipped": mark("there is no value of `skipped` `%(name)s`; %(hint)s"),
    "noted": mark("there is no value of `noted` `%(name)s`; %(hint)s"),
}
_YES_OR_NO = {"yes": True, "no": False}


def filter_of(query: Mapping[str, str]) -> PairFilter:
    """The conditions in the query of an address of pairs, which may have other names besides; raises InputError for
    what is none.
    """
    names = {item.name for item in fields(PairFilter)} - {"metadata"}
    conditions: dict[str, Any] = {name: value for name, value in query.items() if name in names}
    for name, message in _NO_VALUE.items():
        check_name(message, query.get(name, ""), _YES_OR_NO)
        conditions[name] = _YES_OR_NO.get(query.get(name, ""))
    return PairFilter(**conditions, metadata={name: value for name, value in query.items() if METADATA.fullmatch(name)})


def parse_query(text: str) -> PairFilter:
    """The conditions of a query alone, `state=open&hs.target=cats`, as the address of the lead's *Grid* has it behind
    its `?`; raises InputError for what is none, with the names of all.
    """
    query = dict(parse_qsl(text.removeprefix("?"), keep_blank_values=True))
    names = [item.name for item in fields(PairFilter) if item.name != "metadata"]
    for name in query:
        if not METADATA.fullmatch(name):
            check_name(mark("there is no condition `%(name)s`; %(hint)s"), name, [*names, "hs.NAME", "cn.NAME"])
    if not (found := filter_of(query)).chosen:
        raise InputError(f"`{text}` is no query; expected conditions such as `state=open&hs.topic=cats`")
    return found


class Area(NamedTuple):
    """Rows and columns of a map, as it shows them, counted from 1; the last ones are meant, too."""

    first_row: int
    last_row: int
    first_column: int
    last_column: int


@dataclass(frozen=True)
class MapPart:
    """A part of the map of a grid for the answers to a `question`: the cells in one class of each of these layers.

    `classes` has the place of the class by the name of the layer. `area` is meant in the orders `rows` and `columns`.
    """

    question: str = ""
    classes: Mapping[str, int] = field(default_factory=dict, hash=False)
    area: Area | None = None
    rows: str = ""
    columns: str = ""

    @property
    def is_whole(self) -> bool:
        """Return whether every cell is meant."""
        return not self.classes and self.area is None


def check_name(message: str, name: str, known: Iterable[str]) -> None:
    """Raise InputError with the message and a hint, such as the nearest name, unless one is known, or is empty."""
    if name and name not in (names := [str(value) for value in known]):
        hint = suggest_name(name, names, EXPECTED) if names else say("there are none yet")
        raise InputError.say(message, name=name, hint=hint)


class MetadataChoice(NamedTuple):
    """Something that texts of one side came with, such as `hs.target`, and its values; none if there are many."""

    name: str
    values: tuple[str, ...]


@dataclass(frozen=True)
class FilterChoices:
    """Names to choose from in a grid as it is now; a filter without any does not apply.

    `has_answers` says whether anybody has answered, which skips and notes need.
    """

    people: tuple[str, ...]
    answers: tuple[str, ...]
    states: tuple[str, ...]
    tiers: tuple[str, ...]
    has_answers: bool
    metadata: tuple[MetadataChoice, ...] = ()
