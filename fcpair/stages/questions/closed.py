"""Questions answered by choosing: one of several choices, a value on a scale, any number of labels. An answer is a
code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self, get_args

from fcpair.errors import InputError
from fcpair.param_values import check_rules
from fcpair.sentences import Id, say
from fcpair.stages.corpus.text_identity import NO_TEXT, fold_name, identity, strip_zero_decimals
from fcpair.stages.questions.base import NO_CODE, SKIP, Choice, Closed, Distance, Part, Question, choices_with_keys
from fcpair.stages.questions.named_values import Item, parse_whole_number, plain_names, take_options
from fcpair.values import with_point

IRRECONCILABLE = "irreconcilable"  # said by who decides instead of an answer
LONGEST_NAME = 100
MOST_CHOICES = 1_000  # a column of each is counted; SQLite has 2,000
_SIGNS = {"": (True, False), "?": (False, False), "+": (True, True)}
DUPLICATE = say("a code or a name is duplicated")


@dataclass(frozen=True)
class OneOf(Closed):
    """One of several choices: `one_of(no,not_sure?,yes+)`; `?` marks one that is not definite, `+` a positive one.

    A choice has the code that it is given (`good=3+`), or its place, from 0. `distance=ordinal` says that the order of
    the codes is that of the answers. Raises InputError for fewer than two choices, a duplicated code or name (whatever
    its case), a name with a meaning of its own, a negative code, a positive choice that is not definite.

    Where labels were changed, a study also keeps `former` names and codes (`maybe=1~`), each with the code that it is
    read as; one that no choice has is that of a label that was split, and cannot be given any more.
    """

    kind: ClassVar[str] = "one_of"
    choices: tuple[Choice, ...]
    distance: Distance = "nominal"
    former: tuple[tuple[str, int], ...] = field(default=(), compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple(sorted(self.choices, key=lambda choice: choice.code)))
        words, codes = [choice.name.strip().lower() for choice in self], self.codes
        check_rules(
            (len(words) < 2, say("at least two choices are needed")),
            (len(words) > MOST_CHOICES, f"{len(words):,} choices are too many; expected {MOST_CHOICES:,} at most"),
            (
                any(choice.positive and not choice.definite for choice in self),
                say("a positive choice must be definite"),
            ),
            (len({*codes}) < len(codes) or len({*words}) < len(words), DUPLICATE),
            *_word_problems(words),
            (any(code < 0 for code in codes), "codes start at 0"),
            (self.distance not in get_args(Distance)[:2], "its distance is nominal or ordinal"),
        )

    def check_new(self) -> None:
        """Raise InputError for names that files could not tell apart or hold, and for codes of over 18 digits."""
        names = [choice.name for choice in self]
        check_rules(
            (not all_distinct(names), DUPLICATE),
            *name_problems(names),
            (any(code >= 10**18 for code in self.codes), "a code has at most 18 digits"),
            (bool(self.former), "`~` marks a former name, which only a study keeps; omit it"),
        )

    @property
    def current(self) -> Self:
        """The question without former names."""
        return replace(self, former=())

    @cached_property
    def _by_code(self) -> dict[int, Choice]:  # with those that were split, which decisions of before may have
        split = {code: Choice(code, name, definite=False) for name, code in self.former if not name.isdecimal()}
        return split | {choice.code: choice for choice in self.choices}

    @classmethod
    def from_items(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        distance: Distance = "nominal"
        choices: list[Choice] = []
        former: list[tuple[str, int]] = []
        for item in items:
            if item.signs == "~":
                former.append((item.name, parse_whole_number(item.name, item.value or "")))
                continue
            if item.name == "distance" and item.value in get_args(Distance):
                distance = item.value  # type: ignore[assignment]
                continue
            if item.signs not in _SIGNS:
                raise InputError(f"`{item}`: expected `?` (not definite) or `+` (positive) after it, or nothing")
            code = len(choices) if item.value is None else parse_whole_number(item.name, item.value)
            choices.append(Choice(code, item.name, *_SIGNS[item.signs]))
        return cls(tuple(choices), distance, tuple(former))

    def items(self) -> Iterator[Item]:
        """The choices, with their codes where these are not their places, the distance unless it is nominal, and what
        names of before are read as.
        """
        signs = {meaning: sign for sign, meaning in _SIGNS.items()}
        for at, choice in enumerate(self):
            code = None if choice.code == at else str(choice.code)
            yield Item(choice.name, code, signs[choice.definite, choice.positive])
        if self.distance != "nominal":
            yield Item("distance", self.distance)
        yield from (Item(name, str(code), "~") for name, code in self.former)

    def read(self, cell: str) -> int:
        """The code of a cell that holds a name or a code, whatever its capitals and however its words are joined."""
        return _choice_reader(self.choices, self.former)(cell)

    def cell_reader(self, extra_word: str, *, final: bool = False) -> Callable[[str], int]:
        """Reader of a name or a code, or of `extra_word`."""
        choices = [choice for choice in self if choice.definite or not final]
        hidden = {*self.codes} - {choice.code for choice in choices}
        former = [item for item in self.former if item[1] not in hidden]
        return _with_former(word_reader(choice_words(choices) | {extra_word: NO_CODE}), choices, former)

    def recall(self, stored: object) -> int:
        """The code of a name, also of a label that was split."""
        split_codes = [code for name, code in self.former if name == stored and code not in self.codes]
        return split_codes[0] if split_codes else self.load(stored)

    def load(self, stored: object) -> int:
        """The code of a name, spelt as it is, or as it was."""
        for choice in self.choices:
            if choice.name == stored:
                return choice.code
        if isinstance(stored, str) and stored in dict(self.former):
            return _with_former(_choice_reader(self.choices), self.choices, self.former)(stored)
        raise InputError.say(
            "`%(answer)s` is not an answer here; expected one of %(answers)s",
            answer=str(stored),
            answers=[choice.name for choice in self],
        )

    def store(self, answer: int) -> str:
        """The name."""
        return self[answer].name

    def as_json(self) -> dict[str, Any]:
        """`kind`, `choices` (their names), of each its `keys`, and `distance`."""
        return {"kind": self.kind, **choices_with_keys([choice.name for choice in self]), "distance": self.distance}


def name_problems(names: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """Yield, for each rule on the names of choices, whether they break it, and the rule."""
    words = [comparable_word(name) for name in names]
    yield from _word_problems(words)
    yield any(NO_TEXT.search(word) for word in words), "a name may not contain a NUL character or half a surrogate pair"


def _word_problems(words: Sequence[str]) -> Iterator[tuple[bool, str]]:
    reserved = say("`%(skip)s` and `%(other)s` are reserved", skip=SKIP, other=IRRECONCILABLE)
    yield bool({SKIP, IRRECONCILABLE} & set(words)), reserved
    yield any(not word or word.isdecimal() for word in words), say("a name must be a word: not empty, and not a number")
    too_long = say("a name may have at most %(number)s characters", number=Id(LONGEST_NAME))
    yield any(len(word) > LONGEST_NAME for word in words), too_long


def all_distinct(names: Iterable[str]) -> bool:
    """Return whether no two names are the same, whatever their capitals."""
    words = [comparable_word(name) for name in names]
    return len(set(words)) == len(words)


def comparable_word(name: str) -> str:
    """Form that a name and a cell must share for the cell to hold the name."""
    return strip_zero_decimals(identity(name)).lower()


def choice_words(choices: Iterable[Choice]) -> dict[str, int]:
    """The words for choices in files: of each its code and its name, in lower case."""
    return {word: choice.code for choice in choices for word in (str(choice.code), choice.name.strip().lower())}


def word_reader(words: Mapping[str, int], noun: str = "label") -> Callable[[str], int]:
    """Reader of a cell as one of the words: `Not sure` is `not_sure`, where no other word is alike, and `2.0` is 2."""
    codes_by_folded: dict[str, set[int]] = {}
    for word, code in words.items():
        codes_by_folded.setdefault(fold_name(comparable_word(word)), set()).add(code)

    def read_cell(cell: str) -> int:
        word = comparable_word(cell)
        exact_code = words.get(strip_zero_decimals(cell).lower(), words.get(word))
        codes = codes_by_folded.get(fold_name(word), set()) if exact_code is None else {exact_code}
        if len(codes) != 1:
            hint = say("expected one of %(names)s", names=[*words])
            raise InputError.say("unknown %(noun)s `%(cell)s`; %(hint)s", noun=say(noun), cell=cell, hint=hint)
        return next(iter(codes))

    return read_cell


@lru_cache
def place_reader(names: tuple[str, ...], *others: str) -> Callable[[str], int]:
    """Reader of a cell as one of the names, which gives its place, or as one of the other words, which gives -1."""
    return word_reader({comparable_word(name): at for at, name in enumerate(names)} | dict.fromkeys(others, -1))


@lru_cache
def _choice_reader(choices: tuple[Choice, ...], former: tuple[tuple[str, int], ...] = ()) -> Callable[[str], int]:
    return _with_former(word_reader(choice_words(choices)), choices, former)


def _with_former(
    reader: Callable[[str], int], choices: Sequence[Choice], former: Sequence[tuple[str, int]]
) -> Callable[[str], int]:
    """The reader, which also takes what a name or code of before labels changed is read as now."""
    if not former:
        return reader
    codes_by_word = {fold_name(comparable_word(name)): code for name, code in former}
    names = {choice.code: choice.name for choice in choices}

    def read_cell(cell: str) -> int:
        try:
            return reader(cell)
        except InputError:
            code = codes_by_word.get(fold_name(comparable_word(cell)))
            if code is None:
                raise
            if code not in names:
                raise InputError.say(
                    "`%(cell)s` was split, and is no answer any more; expected one of %(names)s",
                    cell=cell,
                    names=[*names.values()],
                ) from None
            return code

    return read_cell


LARGEST, DECIMALS, MOST_VALUES = 1_000_000, 4, 1_001
_NUMBER = re.compile(r"[+-]?\d+(?:\.\d+)?")


@dataclass(frozen=True)
class Scale(Closed):
    """A number from `low` to `high` in equal steps: `scale(1,5,0.5)`; its code is how many steps it is above `low`.

    With `positive=3.5` the numbers from there on are positive (`positive_from`). All are definite. Raises InputError
    for a number with more than four decimals or above a million, steps that do not end at `high`, more than 1,001
    values, a `positive_from` that is none of them.
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
        check_rules(
            (bool(rest), f"steps of {format_number(step)} from {format_number(low)} miss {format_number(high)}"),
            (n_steps >= MOST_VALUES, f"a scale has at most {MOST_VALUES:,} values"),
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
        if len(numbers := list(plain_names(rest))) != 3:
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
        choices = choices_with_keys([choice.name for choice in self])
        return {"kind": self.kind, "low": low, "high": high, "step": step, **choices}

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


NONE = "none"
COLUMN = "column"
MOST_LABELS = 60  # the codes of answers are to fit 64 bits
CHOSEN = OneOf((Choice(0, "no"), Choice(1, "yes", positive=True)))


@dataclass(frozen=True)
class AnyOf(Question[int]):
    """Several labels, or none at all: `any_of(facts,humour,warning)`; `min=1,max=2` says how many there may be. With
    `always=column` the name of the cell's column is one of them, and is always among what is answered.

    The code of an answer is a sum: 1 for the first label, 2 for the second, 4 for the third, and so on; 0 is none. What
    is counted is each label, a part of the question, answered by no or yes. Raises InputError for no label or more than
    60, a duplicated name, one with a meaning of its own or with a semicolon, a `min` and `max` that cannot hold.
    """

    kind: ClassVar[str] = "any_of"
    names: tuple[str, ...]
    min: int = 0
    max: int | None = None
    always: bool = False

    def __post_init__(self) -> None:
        n, most = len(self.names), self.most
        check_rules(
            (not 1 <= n <= MOST_LABELS, f"1 to {MOST_LABELS} labels are needed"),
            (not all_distinct(self.names), "a name is duplicated"),
            *name_problems(self.names),
            (NONE in map(comparable_word, self.names), f"`{NONE}` is reserved"),
            (
                any(";" in name for name in self.names),
                "a name may not contain a semicolon, which separates labels in files",
            ),
            (not 0 <= self.min <= most <= n or most == 0, f"min={self.min},max={most} is impossible with {n} labels"),
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

    @property
    def most(self) -> int:
        """Number of labels that there may be at most."""
        return len(self.names) if self.max is None else self.max

    def _code_of(self, chosen: set[int]) -> int:
        if not self.min <= len(chosen) <= self.most:
            n_chosen = f"{len(chosen)} label{'s' * (len(chosen) != 1)}"
            limits = f"{self.min} to {self.most}" if self.min < self.most else self.most
            raise InputError(f"{n_chosen}; expected {limits}")
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
        """`kind`, `choices` (the labels), of each its `keys`, `min`, `max`, `always` (the column's name is chosen)."""
        limits = {"min": self.min, "max": self.most, "always": self.always}
        return {"kind": self.kind, **choices_with_keys(self.names), **limits}


def _unique_places(places: Sequence[int], name: Callable[[int], str]) -> set[int]:
    """The places of labels; raises InputError for one that is given twice."""
    for at in places:
        if places.count(at) > 1:
            raise InputError(f"label `{name(at)}` is given twice")
    return set(places)
