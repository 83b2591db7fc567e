"""What every question has: a printed form, answers that are read and named, and the parts that agreement measures."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeVar

from fcpair.stages.questions.notation import Item, written

if TYPE_CHECKING:
    from fcpair.stages.questions.closed import Closed

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
    """What is asked on a cell: a frozen value, whose `str` is its printed form (`fcpair.stages.questions.notation`).

    An answer is a code (an `int`) where the question can be coded, and a text (`str`) where one is written. `read` and
    `load` are the two ways in: `read` for a cell of a file, which a person wrote as they would, `load` for what a page
    or the API sends and the study keeps, which has one spelling. `load(store(answer))` is the answer.
    """

    kind: ClassVar[str]
    no_parts: ClassVar[str] = ""
    """Why there is nothing to measure agreement on; empty where `parts` has something."""

    @abstractmethod
    def items(self) -> Iterable[Item]:
        """What stands between the brackets of the printed form."""

    def __str__(self) -> str:
        return written(self.kind, self.items())

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
        """What makes two answers the same, as plain JSON: what is stored, unless it is a text."""
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
        """What a page needs to ask it: its `kind`, and what belongs to that kind."""
