"""Questions with a fixed list of answers: one of several choices, or a value on a scale. An answer is its code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self, get_args

from fcpair.errors import InputError
from fcpair.stages.corpus.text_identity import NO_TEXT, fold, identity, whole
from fcpair.stages.questions.answer_keys import listed
from fcpair.stages.questions.base import NO_CODE, SKIP, Choice, Closed, Distance
from fcpair.stages.questions.notation import Item, whole_number

IRRECONCILABLE = "irreconcilable"  # said by who decides instead of an answer
LONGEST_NAME = 100
_SIGNS = {"": (True, False), "?": (False, False), "+": (True, True)}


@dataclass(frozen=True)
class OneOf(Closed):
    """One of several choices: `one_of(not_appropriate,not_sure?,appropriate+)`.

    `?` marks a choice that is not definite, `+` a positive one. A choice has the code that it is given (`good=3+`), or
    its place, from 0. `distance=ordinal` says that the order of the codes is that of the answers.

    Raises:
        InputError: fewer than two choices, a duplicated code or name (case does not tell names apart), a name with a
            meaning of its own, a negative code, a positive choice that is not definite.
    """

    kind: ClassVar[str] = "one_of"
    choices: tuple[Choice, ...]
    distance: Distance = "nominal"

    def __post_init__(self) -> None:
        object.__setattr__(self, "choices", tuple(sorted(self.choices, key=lambda choice: choice.code)))
        words, codes = [choice.name.strip().lower() for choice in self], self.codes
        complain(
            (
                (len(words) < 2, "at least two choices are needed"),
                (any(choice.positive and not choice.definite for choice in self), "a positive choice must be definite"),
                (len({*codes}) < len(codes) or len({*words}) < len(words), "a code or a name is duplicated"),
                *_word_problems(words),
                (any(code < 0 for code in codes), "codes count from 0"),
                (self.distance not in get_args(Distance)[:2], "its distance is nominal or ordinal"),
            )
        )

    def check_new(self) -> None:
        """Raise InputError for names that files could not tell apart or hold, and for codes of over 18 digits."""
        names = [choice.name for choice in self]
        complain(
            (
                (not differ(names), "a code or a name is duplicated"),
                *name_problems(names),
                (any(code >= 10**18 for code in self.codes), "a code has at most 18 digits"),
            )
        )

    @classmethod
    def of(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        distance: Distance = "nominal"
        chosen: list[Choice] = []
        for item in items:
            if item.name == "distance" and item.value in get_args(Distance):
                distance = item.value  # type: ignore[assignment]
            else:
                chosen.append(_choice(len(chosen), item))
        return cls(tuple(chosen), distance)

    def items(self) -> Iterator[Item]:
        """The choices, with their codes where these are not their places, and the distance unless it is nominal."""
        signs = {meaning: sign for sign, meaning in _SIGNS.items()}
        for at, one in enumerate(self):
            yield Item(one.name, None if one.code == at else str(one.code), signs[one.definite, one.positive])
        if self.distance != "nominal":
            yield Item("distance", self.distance)

    def read(self, cell: str) -> int:
        """The code of a cell that holds a name or a code, whatever its capitals and however its words are joined."""
        return _reader(self.choices)(cell)

    def reader(self, besides: str, *, final: bool = False) -> Callable[[str], int]:
        """What reads a name or a code, or `besides`."""
        return reader_of(words_of(one for one in self if one.definite or not final) | {besides: NO_CODE})

    def load(self, stored: object) -> int:
        """The code of a name, spelt as it is."""
        for choice in self.choices:
            if choice.name == stored:
                return choice.code
        raise InputError(f"`{stored}` is no answer here; expected one of {', '.join(one.name for one in self)}")

    def store(self, answer: int) -> str:
        """The name."""
        return self[answer].name

    def as_json(self) -> dict[str, Any]:
        """`kind`, `choices` (their names), of each its `keys`, and `distance`."""
        return {"kind": self.kind, **listed([one.name for one in self]), "distance": self.distance}


def _choice(at: int, item: Item) -> Choice:
    if item.signs not in _SIGNS:
        raise InputError(f"`{item}`: expected `?` (not definite) or `+` (positive) behind it, or nothing")
    code = at if item.value is None else whole_number(item.name, item.value)
    return Choice(code, item.name, *_SIGNS[item.signs])


def complain(problems: Iterable[tuple[bool, str]]) -> None:
    """Raise InputError for the first of the problems that is there."""
    for is_there, message in problems:
        if is_there:
            raise InputError(message)


def name_problems(names: Iterable[str]) -> Iterator[tuple[bool, str]]:
    """What can be wrong with the names of choices, and whether it is."""
    words = [word_of(name) for name in names]
    yield from _word_problems(words)
    yield any(NO_TEXT.search(word) for word in words), "a name has no NUL character and no half of a surrogate pair"


def _word_problems(words: Sequence[str]) -> Iterator[tuple[bool, str]]:
    yield bool({SKIP, IRRECONCILABLE} & set(words)), f"`{SKIP}` and `{IRRECONCILABLE}` have a meaning of their own"
    yield any(not word or word.isdecimal() for word in words), "a name is a word, not empty and no number"
    yield any(len(word) > LONGEST_NAME for word in words), f"a name has at most {LONGEST_NAME} characters"


def differ(names: Iterable[str]) -> bool:
    """Whether no two names are the same, whatever their capitals."""
    words = [word_of(name) for name in names]
    return len(set(words)) == len(words)


def word_of(name: str) -> str:
    """What a name and a cell must share for the cell to hold it."""
    return whole(identity(name)).lower()


def words_of(choices: Iterable[Choice]) -> dict[str, int]:
    """The words for choices in files: of each its code and its name, in lower case."""
    return {word: choice.code for choice in choices for word in (str(choice.code), choice.name.strip().lower())}


def reader_of(words: Mapping[str, int]) -> Callable[[str], int]:
    """What reads a cell as one of the words: `Not sure` is `not_sure`, where no other word is alike, and `2.0` is 2."""
    alike: dict[str, set[int]] = {}
    for word, code in words.items():
        alike.setdefault(fold(word_of(word)), set()).add(code)

    def read(cell: str) -> int:
        word = word_of(cell)
        known = words.get(whole(cell).lower(), words.get(word))
        codes = alike.get(fold(word), set()) if known is None else {known}
        if len(codes) != 1:
            raise InputError(f"unknown label `{cell}`; expected one of {', '.join(words)}")
        return next(iter(codes))

    return read


@lru_cache
def _reader(choices: tuple[Choice, ...]) -> Callable[[str], int]:
    return reader_of(words_of(choices))
