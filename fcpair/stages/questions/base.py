"""Interface of questions: a printed form, answers that are read and named, and the parts that agreement measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

from fcpair.stages.questions.answer_keys import Keys, keys_of
from fcpair.stages.questions.notation import Item, format_call

Value = TypeVar("Value")
SKIP = "skip"  # said instead of an answer, so that no question has it for one
NO_CODE = -1  # stands for "no code" in integer columns: a skip, a discarded cell, nothing there


class Part(NamedTuple):
    """A closed question on which agreement is measured: the question itself, or one label of several.

    `name` says which it is; it is empty where the question has one part only.
    """

    name: str
    question: Closed


class Question(ABC, Generic[Value]):
    """Question asked on a cell: a frozen value, whose `str` is its printed form (`fcpair.stages.questions.notation`).

    An answer is a code (an `int`) where the question can be coded, and a text (`str`) where one is written. `read` and
    `load` are the two ways in: `read` for a cell of a file, which a person wrote as they would, `load` for what a page
    or the API sends and the study keeps, which has one spelling. `load(store(answer))` is the answer.
    """

    kind: ClassVar[str]
    no_parts_reason: ClassVar[str] = ""
    """Why there is nothing to measure agreement on; empty where `parts` has something."""

    @abstractmethod
    def items(self) -> Iterable[Item]:
        """Items between the brackets of the printed form."""

    def __str__(self) -> str:
        return format_call(self.kind, self.items())

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

    def is_definite(self, answer: Value) -> bool:
        """Whether the answer can be a cell's final one; only a `Closed` question has answers that cannot."""
        return True

    def is_positive(self, answer: Value) -> bool:
        """Whether the answer makes the cell count as positive; only a `Closed` question has answers that do."""
        return False

    @abstractmethod
    def parts(self) -> tuple[Part, ...]:
        """The closed questions on which agreement is measured."""

    @abstractmethod
    def part_codes(self, answer: Value) -> tuple[int, ...]:
        """The code of the answer in each of `parts`."""

    @abstractmethod
    def as_json(self) -> dict[str, Any]:
        """JSON that a page needs to ask the question: its `kind`, and what belongs to that kind."""


Distance = Literal["nominal", "ordinal", "interval"]


@dataclass(frozen=True)
class Choice:
    """One answer of a closed question.

    `definite` answers can become a cell's final one; `positive` ones are what retrieval is to find.
    """

    code: int
    name: str
    definite: bool = True
    positive: bool = False


class Closed(Question[int]):
    """A question with a fixed list of answers. `choices` are in the order of their codes.

    `distance` says how far apart two answers are where agreement is measured: the same or not (`nominal`), by their
    order (`ordinal`), or by their numbers (`interval`).
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
        """Reader of a cell of a file, as by `read`, or as the word `extra_word`, which is no answer: -1.

        With `final`, an answer that is not definite is no word.
        """

    def name(self, answer: int) -> str:
        """The name of the choice, or the number."""
        return self[answer].name

    def is_definite(self, answer: int) -> bool:
        """Whether the code is one of `definite`."""
        return self[answer].definite

    def is_positive(self, answer: int) -> bool:
        """Whether the code is one of `positive`."""
        return self[answer].positive

    def parts(self) -> tuple[Part, ...]:
        """The question itself."""
        return (Part("", self),)

    def part_codes(self, answer: int) -> tuple[int, ...]:
        """The code."""
        return (answer,)
