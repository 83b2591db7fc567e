"""A question whose answer is any number of labels."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from fcpair.errors import InputError
from fcpair.stages.questions.base import Choice, Part, Question, choices_with_keys
from fcpair.stages.questions.closed import (
    OneOf,
    all_distinct,
    comparable_word,
    name_problems,
    place_reader,
    raise_first,
)
from fcpair.stages.questions.named_values import Item, parse_whole_number, plain_names, take_options

NONE = "none"
COLUMN = "column"
MOST_LABELS = 60  # the codes of answers are to fit 64 bits
CHOSEN = OneOf((Choice(0, "no"), Choice(1, "yes", positive=True)))


@dataclass(frozen=True)
class AnyOf(Question[int]):
    """Several labels, or none at all: `any_of(facts,humour,warning)`; `min=1,max=2` says how many there may be.

    With `always=column` the name of the cell's column is one of them, and is always among what is answered.

    The code of an answer is a sum: 1 for the first label, 2 for the second, 4 for the third, and so on; 0 is none.
    There are too many sums to tally, so there is no list of `codes`: what is counted is each label, which is a part of
    the question, answered by no or yes.

    Raises:
        InputError: no label or more than 60, a duplicated name, one with a meaning of its own or with a semicolon, a
            `min` and `max` that cannot hold.
    """

    kind: ClassVar[str] = "any_of"
    names: tuple[str, ...]
    min: int = 0
    max: int | None = None
    always: bool = False

    def __post_init__(self) -> None:
        n, most = len(self.names), len(self.names) if self.max is None else self.max
        raise_first(
            (
                (not 1 <= n <= MOST_LABELS, f"1 to {MOST_LABELS} labels are needed"),
                (not all_distinct(self.names), "a name is duplicated"),
                *name_problems(self.names),
                (NONE in map(comparable_word, self.names), f"`{NONE}` is reserved"),
                (
                    any(";" in name for name in self.names),
                    "a name may not contain a semicolon, which separates labels in files",
                ),
                (
                    not 0 <= self.min <= most <= n or most == 0,
                    f"min={self.min},max={most} is impossible with {n} labels",
                ),
            )
        )

    @classmethod
    def from_items(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        rest, options = take_options(items, ("min", "max", "always"))
        is_always = "always" in options
        if (always := options.pop("always", COLUMN)) != COLUMN:
            raise InputError(f"`always={always}` cannot be read; expected `always={COLUMN}`")
        limits = {name: parse_whole_number(name, value) for name, value in options.items()}
        return cls(tuple(plain_names(rest)), **limits, always=is_always)

    def items(self) -> Iterator[Item]:
        """The labels, and how many there may be, where that is said."""
        yield from map(Item, self.names)
        if self.min:
            yield Item("min", str(self.min))
        if self.max is not None:
            yield Item("max", str(self.max))
        if self.always:
            yield Item("always", COLUMN)

    def read(self, cell: str) -> int:
        """The code of a cell with labels separated by semicolons (or commas, if no label contains one), or `none`."""
        separator = "[;]" if any("," in name for name in self.names) else "[;,]"
        places = [place_reader(self.names, NONE)(piece) for piece in map(str.strip, re.split(separator, cell)) if piece]
        chosen = _unique_places(places, lambda at: self.names[at] if at >= 0 else NONE)
        if not chosen or (-1 in chosen and len(chosen) > 1):
            raise InputError(f"`{cell}` is not a list of labels; expected some of {', '.join(self.names)}, or `{NONE}`")
        return self._code_of(chosen - {-1})

    def load(self, stored: object) -> int:
        """The code of a list of labels, in any order."""
        if not isinstance(stored, list) or not all(name in self.names for name in stored):
            raise InputError(f"`{stored}` is not an answer here; expected a list of some of {', '.join(self.names)}")
        return self._code_of(_unique_places([self.names.index(name) for name in stored], self.names.__getitem__))

    def _code_of(self, chosen: set[int]) -> int:
        most = len(self.names) if self.max is None else self.max
        if not self.min <= len(chosen) <= most:
            n_chosen = f"{len(chosen)} label{'s' * (len(chosen) != 1)}"
            raise InputError(f"{n_chosen}; expected {f'{self.min} to {most}' if self.min < most else most}")
        return sum(1 << at for at in chosen)

    def with_label(self, answer: int, name: str) -> int:
        """The code of the same answer with one label more, where it lacks it and the question has it."""
        return self._code_of({at for at, one in enumerate(self.names) if answer >> at & 1 or one == name})

    def store(self, answer: int) -> list[str]:
        """The labels, in the order of the question."""
        return [name for name, chosen in zip(self.names, self.part_codes(answer), strict=True) if chosen]

    def name(self, answer: int) -> str:
        """The labels, separated by semicolons, or `none`."""
        return "; ".join(self.store(answer)) or NONE

    def parts(self) -> tuple[Part, ...]:
        """A question of no or yes for each label."""
        return tuple(Part(name, CHOSEN) for name in self.names)

    def part_codes(self, answer: int) -> tuple[int, ...]:
        """1 for each label that is chosen, 0 for the others."""
        return tuple(answer >> at & 1 for at in range(len(self.names)))

    def as_json(self) -> dict[str, Any]:
        """`kind`, `choices` (the labels), of each its `keys`, `min`, `max`, and whether the column's name is `always`
        among them.
        """
        most = len(self.names) if self.max is None else self.max
        return {"kind": self.kind, **choices_with_keys(self.names), "min": self.min, "max": most, "always": self.always}


def _unique_places(places: Sequence[int], name: Callable[[int], str]) -> set[int]:
    """The places of labels; raises InputError for one that is given twice."""
    for at in places:
        if places.count(at) > 1:
            raise InputError(f"label `{name(at)}` is given twice")
    return set(places)
