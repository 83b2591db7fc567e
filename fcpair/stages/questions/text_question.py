"""Questions whose answer is a text: written anew, or edited from a given one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from fcpair.errors import InputError
from fcpair.sentences import Id, mark, say, say_number
from fcpair.stages.corpus.text_identity import NO_TEXT, fold_name, identity
from fcpair.stages.questions.base import SKIP, Part, Question
from fcpair.stages.questions.named_values import Item, parse_whole_number, take_options
from fcpair.values import is_blank

Act = Literal["accepted", "edited", "rejected"]
ACCEPTED: Act = "accepted"
EDITED: Act = "edited"
REJECTED: Act = "rejected"
_WORD = re.compile("[^\t-\r \xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]+")


def words_of(text: str) -> list[str]:
    """The words of a text, in their order: its runs of characters that are not white space, in JavaScript's sense."""
    return _WORD.findall(text)


def n_words(text: str) -> int:
    r"""The number of words of a text (`words_of`).

    A page counts the same with `(text.match(/\S+/g) || []).length`. NFC and stripping do not change the number, and a
    zero-width non-joiner, which Persian has inside words, does not divide one.
    """
    return len(words_of(text))


@dataclass(frozen=True)
class Text(Question[str]):
    """A text that is written: `text(min_words=6,max_words=60)`.

    An answer is the text verbatim. Two are the same answer where they are the same text (`identity`).
    With `min_words=0` the text may be left empty; without `max_words` it may have any length.
    """

    kind: ClassVar[str] = "text"
    no_parts_reason: ClassVar[str] = mark("two people write different texts, which neither agree nor disagree")
    min_words: int = 1
    max_words: int | None = None

    def __post_init__(self) -> None:
        if self.min_words < 0 or (self.max_words is not None and self.max_words < max(self.min_words, 1)):
            limits = f"min_words={self.min_words},max_words={self.max_words}"
            raise InputError(f"`{limits}`: expected numbers from 0, max_words above 0 and not below min_words")

    @classmethod
    def from_items(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        rest, options = take_options(items, ("min_words", "max_words"))
        if rest:
            raise InputError(f"`{rest[0]}` cannot be read; expected min_words= and max_words= or nothing")
        return cls(**{name: parse_whole_number(name, value) for name, value in options.items()})

    def items(self) -> Iterator[Item]:
        """The limits that are not the default."""
        if self.min_words != 1:
            yield Item("min_words", str(self.min_words))
        if self.max_words is not None:
            yield Item("max_words", str(self.max_words))

    def read(self, cell: str) -> str:
        """The text as it stands there; raises InputError for too few or too many words, and for `skip`."""
        if fold_name(cell) == SKIP:
            raise InputError(say("`%(answer)s` says that there is no answer; expected a text", answer=SKIP))
        if NO_TEXT.search(cell):
            raise InputError(say("the text holds a NUL character or half a surrogate pair"))
        n, most = n_words(cell), self.max_words
        if self.min_words and is_blank(cell):
            raise InputError(say("the text is empty"))
        if n < self.min_words:
            sentence = say_number(
                "the text has %(n)s word; expected at least %(least)s",
                "the text has %(n)s words; expected at least %(least)s",
                Id(n),
                least=Id(self.min_words),
            )
            raise InputError(sentence)
        if most is not None and n > most:
            sentence = say_number(
                "the text has %(n)s word; expected at most %(most)s",
                "the text has %(n)s words; expected at most %(most)s",
                Id(n),
                most=Id(most),
            )
            raise InputError(sentence)
        return cell

    def load(self, stored: object) -> str:
        """The text, checked as `read` does."""
        if not isinstance(stored, str):
            raise InputError(say("`%(answer)s` is not an answer here; expected a text", answer=str(stored)))
        return self.read(stored)

    @property
    def without_limits(self) -> Self:
        """The same question, answered in any number of words."""
        return replace(self, min_words=0, max_words=None)

    def recall(self, stored: object) -> str:
        """The text, of whatever length: what a model wrote is marked, and not refused."""
        return str(stored)

    def store(self, answer: str) -> Any:
        """The text, verbatim."""
        return answer

    def key(self, answer: str) -> Any:
        """The text in NFC, stripped."""
        return identity(answer)

    def name(self, answer: str) -> str:
        """The text, verbatim."""
        return answer

    def body(self, answer: str) -> str | None:
        """The text that the answer adds to the study, verbatim; None where it is empty."""
        return None if is_blank(answer) else answer

    def parts(self) -> tuple[Part, ...]:
        """None; `no_parts_reason` says why."""
        return ()

    def part_codes(self, answer: str) -> tuple[int, ...]:
        """None."""
        return ()

    def as_json(self) -> dict[str, Any]:
        """`kind`, `min_words` and `max_words` (None: no limit)."""
        return {"kind": self.kind, "min_words": self.min_words, "max_words": self.max_words}


@dataclass(frozen=True)
class Edit(Text):
    """A text that is edited from a given one: `edit(min_words=6)`. It may be left as it was."""

    kind: ClassVar[str] = "edit"

    def is_unchanged(self, answer: str, given_text: str) -> bool:
        """Whether the text is the given one still."""
        return identity(answer) == identity(given_text)

    def reason(self, answer: str) -> str | None:
        """Why the text is rejected; None where it is kept, as always here."""
        return None

    def act(self, answer: str, given_text: str) -> Act:
        """Act of an answer on the given text: accepted, edited or rejected."""
        if self.reason(answer) is not None:
            return REJECTED
        return ACCEPTED if self.is_unchanged(answer, given_text) else EDITED
