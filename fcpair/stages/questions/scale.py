"""A question whose answer is a number on a scale of equal steps, held exactly."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, ClassVar, Self

from fcpair.errors import InputError
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.stages.questions.base import NO_CODE, Choice, Closed, Distance, choices_with_keys
from fcpair.stages.questions.closed import raise_first
from fcpair.stages.questions.named_values import Item, plain_names, take_options
from fcpair.values import with_point

LARGEST, DECIMALS, MOST_VALUES = 1_000_000, 4, 1_001
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Scale(Closed):
    """A number from `low` to `high` in equal steps: `scale(1,5,0.5)`; its code is how many steps it is above `low`.

    With `positive=3.5` the numbers from there on are positive (`positive_from`). All are definite.

    Raises:
        InputError: a number with more than four decimals or above a million, steps that do not end at `high`, more than
            1,001 values, a `positive_from` that is none of them.
    """

    kind: ClassVar[str] = "scale"
    low: Decimal
    high: Decimal
    step: Decimal
    positive_from: Decimal | None = None
    choices: tuple[Choice, ...] = field(init=False, compare=False, repr=False)
    distance: Distance = field(init=False, default="interval", repr=False)

    def __post_init__(self) -> None:
        low, high, step = (_parse_decimal(format_number(number)) for number in (self.low, self.high, self.step))
        if step <= 0 or high <= low:
            raise InputError("expected the lowest number, the highest one, and a step above 0")
        n_steps, rest = divmod(high - low, step)
        raise_first(
            (
                (bool(rest), f"steps of {format_number(step)} from {format_number(low)} miss {format_number(high)}"),
                (n_steps >= MOST_VALUES, f"a scale has at most {MOST_VALUES:,} values"),
            )
        )
        numbers, start = (low + step * code for code in range(int(n_steps) + 1)), self.positive_from
        choices = (
            Choice(at, format_number(n), positive=start is not None and n >= start) for at, n in enumerate(numbers)
        )
        object.__setattr__(self, "choices", tuple(choices))
        if start is not None:
            self._code(start)

    @classmethod
    def from_items(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        rest, options = take_options(items, ("positive",))
        numbers = list(plain_names(rest))
        if len(numbers) != 3:
            raise InputError("expected the lowest number, the highest one and the step, such as `scale(1,5,0.5)`")
        low, high, step = map(_parse_decimal, numbers)
        return cls(low, high, step, _parse_decimal(options["positive"]) if options else None)

    def items(self) -> Iterator[Item]:
        """The lowest number, the highest one, the step, and where the positive ones begin."""
        yield from (Item(format_number(number)) for number in (self.low, self.high, self.step))
        if self.positive_from is not None:
            yield Item("positive", format_number(self.positive_from))

    @property
    def numbers(self) -> tuple[float, ...]:
        """The numbers of the scale, ascending."""
        return tuple(float(self.low + self.step * code) for code in self.codes)

    def read(self, cell: str) -> int:
        """The code of a number, with a decimal point or comma; raises InputError for one that is not on the scale."""
        return self._code(_parse_decimal(cell))

    def cell_reader(self, extra_word: str, *, final: bool = False) -> Callable[[str], int]:
        """Reader of a number, never a code, or of `extra_word`."""

        def read_cell(cell: str) -> int:
            if fold_name(cell) == fold_name(extra_word):
                return NO_CODE
            try:
                return self.read(cell)
            except InputError as error:
                raise InputError(f"{error}, or `{extra_word}`") from None

        return read_cell

    def load(self, stored: object) -> int:
        """The code of a number on the scale."""
        if not isinstance(stored, int | float):
            raise InputError(f"`{stored}` is not an answer here; expected a number")
        return self._code(_parse_decimal(str(stored)))

    def store(self, answer: int) -> int | float:
        """The number, whole where it is."""
        return _as_number(self.low + self.step * answer)

    def as_json(self) -> dict[str, Any]:
        """`kind`, `low`, `high`, `step`, `choices` (the names of all numbers, ascending), and of each its `keys`."""
        low, high, step = map(_as_number, (self.low, self.high, self.step))
        return {
            "kind": self.kind,
            "low": low,
            "high": high,
            "step": step,
            **choices_with_keys([one.name for one in self]),
        }

    def _code(self, number: Decimal) -> int:
        """The code of a number; raises InputError, with the two nearest numbers, for one that is not on the scale."""
        if not self.low <= number <= self.high:
            raise InputError(f"`{format_number(number)}` is outside of the scale; expected {self.range}")
        code = int((number - self.low) // self.step)
        if number != self.low + self.step * code:
            near = f"the nearest are {self[code].name} and {self[code + 1].name}"
            raise InputError(
                f"`{format_number(number)}` is between the steps of the scale; {near}, expected {self.range}"
            )
        return code

    @property
    def range(self) -> str:
        """The numbers in words: `1 to 5 by 0.5`."""
        return f"{format_number(self.low)} to {format_number(self.high)} by {format_number(self.step)}"


def format_number(number: Decimal) -> str:
    """The number without zeros at its end: `4.5`, `4`."""
    return format(number.normalize() + 0, "f")


def _as_number(number: Decimal) -> int | float:
    return int(number) if number == int(number) else float(number)


def _parse_decimal(written_number: str) -> Decimal:
    """The number that is written, with a point or what may stand for it (`with_point`)."""
    text = with_point(written_number)
    number = Decimal(text) if _NUMBER.fullmatch(text) else None
    if number is None or abs(number) > LARGEST or number != round(number, DECIMALS):
        limits = f"at most {DECIMALS} decimals, up to {LARGEST:,}"
        raise InputError(f"`{written_number}` is not a number on a scale; expected one such as 4 or 4.5 ({limits})")
    return number
