"""Interface of questions: a printed form, answers that are read and named, parts to agree on, keys of answers."""

from __future__ import annotations

import re
import unicodedata
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, NamedTuple, Self, TypeVar

from fcpair.stages.questions.named_values import Item

Keys = tuple[str, ...]  # the ways to type one choice, of which a page shows the first; none: it has no key
MOST_PLACES = 9
DISCARD = "x"  # of whoever decides: the pair is irreconcilable
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?(?=$|[_ ])")


def keys_of(names: Sequence[str]) -> tuple[Keys, ...]:
    """The keys of each of several choices, in their order; none for what has none, and no two choices have the same.

    A number is typed as it is written, in whatever digits that is. Where it is the only one between two whole numbers,
    the point alone stands for its decimals: `3` `.` is 3.5. Names that all begin with a number (`5_stars`) have that.
    Other names have their place, `1` to `9`, but none beside numbers. One's keys may begin another's (`3` and `3.`).
    """
    ascii_names = ["".join(str(unicodedata.decimal(sign, sign)) for sign in name) for name in names]
    numbers = [match[0] if (match := _NUMBER.match(word)) else "" for word in ascii_names]
    if not all(numbers):
        numbers = [number if number == word else "" for number, word in zip(numbers, ascii_names, strict=True)]
    if not any(numbers):
        return tuple((str(at),) if at <= MOST_PLACES else () for at, _ in enumerate(names, 1))
    counts, keys = Counter(filter(None, numbers)), list[Keys]()
    for number in numbers:
        begun = "".join(number.partition(".")[:2])
        is_alone = begun.endswith(".") and sum(other.startswith(begun) for other in counts) == 1
        keys.append(() if counts[number] != 1 else (begun, number) if is_alone else (number,))
    return tuple(keys)


def choices_with_keys(names: Sequence[str]) -> dict[str, list[Any]]:
    """Names as a page lists them: the `choices`, and of each its `keys`."""
    return {"choices": list(names), "keys": [list(keys) for keys in keys_of(names)]}


Value = TypeVar("Value")
SKIP = "skip"  # said instead of an answer, so that no question has it for one
NO_CODE = -1  # stands for "no code" in integer columns: a skip, a discarded cell, nothing there


class Part(NamedTuple):
    """A closed question on which agreement is measured: the question itself, without a name, or one of its labels."""

    name: str
    question: Closed


class Question(ABC, Generic[Value]):
    """Question asked on a cell: a frozen value, whose `str` is its printed form (see `named_values`).

    An answer is a code (an `int`) where the question can be coded, and a text (`str`) where one is written. `read` and
    `load` are the two ways in: `read` for a cell of a file, which a person wrote as they would, `load` for what a page
    or the API sends and the study keeps, which has one spelling. `load(store(answer))` is the answer.
    """

    kind: ClassVar[str]
    no_parts_reason: ClassVar[str] = ""
    """The reason why there is nothing to measure agreement on; empty if `parts` has something."""

    @abstractmethod
    def items(self) -> Iterable[Item]:
        """Items between the brackets of the printed form."""

    def __str__(self) -> str:
        return f"{self.kind}({','.join(map(str, self.items()))})"

    @property
    def current(self) -> Self:
        """The question as a new study could ask it, without the names that it had before."""
        return self

    def check_new(self) -> None:
        """Raise InputError for what studies of earlier versions have, and a new question may not."""

    @abstractmethod
    def read(self, cell: str) -> Value:
        """The answer that a cell of a file spells; raises InputError with what was found and what was expected."""

    @abstractmethod
    def load(self, stored: object) -> Value:
        """The answer that `store` gave, or that a page or the API sent so; raises InputError as `read` does."""

    def recall(self, stored: object) -> Value:
        """The answer that `store` gave once, which need not be one that could be given now."""
        return self.load(stored)

    @abstractmethod
    def store(self, answer: Value) -> Any:
        """The answer as plain JSON, for people to read: a name, a list of names, a number, or the text verbatim."""

    def key(self, answer: Value) -> Any:
        """Key that makes two answers the same, as plain JSON: what is stored, unless it is a text."""
        return self.store(answer)

    @abstractmethod
    def name(self, answer: Value) -> str:
        """The answer as people read it, which `read` reads back."""

    def parts(self) -> tuple[Part, ...]:
        """The closed questions on which agreement is measured; none where `no_parts_reason` says why."""
        return ()

    def part_codes(self, answer: Value) -> tuple[int, ...]:
        """The code of the answer in each of `parts`."""
        return ()

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """JSON that a page needs to ask the question: its `kind`, and what belongs to that kind."""


Distance = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Choice:
    """One answer of a closed question. `definite` ones can become a cell's final one; retrieval seeks `positive`."""

    code: int
    name: str
    definite: bool = True
    positive: bool = False


class Closed(Question[int]):
    """A question with a fixed list of answers, `choices` in the order of their codes. `distance` says how far apart two
    answers are where agreement is measured: the same or not (`nominal`), by order (`ordinal`), by numbers (`interval`).
    """

    choices: tuple[Choice, ...]
    distance: Distance

    def __iter__(self) -> Iterator[Choice]:
        return iter(self.choices)

    def __getitem__(self, code: int) -> Choice:
        return self._by_code[code]

    @cached_property
    def _by_code(self) -> dict[int, Choice]:
        return {choice.code: choice for choice in self.choices}

    @cached_property
    def codes(self) -> tuple[int, ...]:
        """All codes, ascending."""
        return tuple(choice.code for choice in self.choices)

    @cached_property
    def keys(self) -> dict[int, Keys]:
        """The keys of each answer, by its code: the same for whoever labels, decides or checks."""
        return dict(zip(self.codes, keys_of([choice.name for choice in self]), strict=True))

    @cached_property
    def definite(self) -> tuple[int, ...]:
        """The codes that can become a final answer."""
        return tuple(choice.code for choice in self.choices if choice.definite)

    @cached_property
    def positive(self) -> tuple[int, ...]:
        """The codes of the positive answers."""
        return tuple(choice.code for choice in self.choices if choice.positive)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The number of each answer, in the order of the codes, from which the interval distance is taken."""
        return tuple(map(float, self.codes))

    @abstractmethod
    def cell_reader(self, extra_word: str, *, final: bool = False) -> Callable[[str], int]:
        """Reader of a cell of a file, as by `read`, or as `extra_word`: -1. With `final`, only of definite answers."""

    def name(self, answer: int) -> str:
        """The name of the choice, or the number."""
        return self[answer].name

    def parts(self) -> tuple[Part, ...]:
        """The question itself."""
        return (Part("", self),)

    def part_codes(self, answer: int) -> tuple[int, ...]:
        """The code."""
        return (answer,)
