"""Questions whose answer is a text: written anew, edited from a given one, or curated (kept, or rejected)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

from fcpair.errors import InputError, suggest_name
from fcpair.param_values import check_rules
from fcpair.sentences import Id, mark, say_number
from fcpair.stages.corpus.text_identity import NO_TEXT, fold_name, identity
from fcpair.stages.questions.base import SKIP, Question, choices_with_keys
from fcpair.stages.questions.closed import all_distinct, name_problems, place_reader
from fcpair.stages.questions.named_values import Item, parse_whole_number, plain_names, take_options
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
    r"""The number of words of a text (`words_of`), the same as that of a page: `(text.match(/\S+/g) || []).length`."""
    return len(words_of(text))


@dataclass(frozen=True)
class Text(Question[str]):
    """A text that is written: `text(min_words=6,max_words=60)`; with `min_words=0` it may be left empty. An answer is
    the text verbatim; two are the same where they have the same `identity`.
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
            raise InputError.say("`%(answer)s` says that there is no answer; expected a text", answer=SKIP)
        if NO_TEXT.search(cell):
            raise InputError.say("the text holds a NUL character or half a surrogate pair")
        n, most = n_words(cell), self.max_words
        if self.min_words and is_blank(cell):
            raise InputError.say("the text is empty")
        if n < self.min_words:
            raise InputError(
                say_number(
                    "the text has %(n)s word; expected at least %(least)s",
                    "the text has %(n)s words; expected at least %(least)s",
                    Id(n),
                    least=Id(self.min_words),
                )
            )
        if most is not None and n > most:
            raise InputError(
                say_number(
                    "the text has %(n)s word; expected at most %(most)s",
                    "the text has %(n)s words; expected at most %(most)s",
                    Id(n),
                    most=Id(most),
                )
            )
        return cell

    def load(self, stored: object) -> str:
        """The text, checked as `read` does."""
        if not isinstance(stored, str):
            raise InputError.say("`%(answer)s` is not an answer here; expected a text", answer=str(stored))
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

    def as_json(self) -> dict[str, Any]:
        """`kind`, `min_words` and `max_words` (None: no limit)."""
        return {"kind": self.kind, "min_words": self.min_words, "max_words": self.max_words}


@dataclass(frozen=True)
class Edit(Text):
    """A text that is edited from a given one: `edit(min_words=6)`. It may be left as it was."""

    kind: ClassVar[str] = "edit"

    def reason(self, answer: str) -> str | None:
        """The reason why the text is rejected; None where it is kept, as always here."""
        return None

    def act(self, answer: str, given_text: str) -> Act:
        """Act of an answer on the given text: accepted, edited or rejected."""
        if self.reason(answer) is not None:
            return REJECTED
        return ACCEPTED if identity(answer) == identity(given_text) else EDITED


ACTS = ("Accept", "Edit", "Reject")  # as a page offers them
REJECT = "reject"
_PREFIX = f"{REJECT}: "
_REJECTS = re.compile(rf"\s*{REJECT}\s*:(.*)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Curate(Edit):
    """A given text that is kept or rejected: `curate(off_topic,wrong_facts,rude,min_words=3,max_words=50)`.

    An answer is the kept text verbatim, or `reject: REASON` with one of the reasons, to which limits of words do not
    apply. Raises InputError for no reason, a duplicated name, one with a meaning of its own, limits that cannot be.
    """

    kind: ClassVar[str] = "curate"
    no_parts_reason: ClassVar[str] = mark("two people keep different texts, which neither agree nor disagree")
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        check_rules(
            (not self.reasons, "at least one reason to reject a text is needed, such as `curate(off_topic,rude)`"),
            (not all_distinct(self.reasons), "a reason is duplicated"),
            *name_problems(self.reasons),
        )

    @classmethod
    def from_items(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        rest, options = take_options(items, ("min_words", "max_words"))
        limits = {name: parse_whole_number(name, value) for name, value in options.items()}
        return cls(**limits, reasons=tuple(plain_names(rest)))

    def items(self) -> Iterator[Item]:
        """The reasons, and the limits that are not the default."""
        yield from map(Item, self.reasons)
        yield from super().items()

    def read(self, cell: str) -> str:
        """The text as it stands there, or what `reject: REASON` says; raises InputError also for no such reason."""
        if (rejection := _REJECTS.fullmatch(cell)) is None and fold_name(cell) != REJECT:
            return super().read(cell)
        if not (reason := rejection[1].strip() if rejection else ""):
            raise InputError(
                f"a rejection needs its reason; expected `{_PREFIX}REASON` with one of {', '.join(self.reasons)}"
            )
        try:
            return _PREFIX + self.reasons[place_reader(self.reasons)(reason)]
        except InputError:
            raise InputError(f"`{reason}` is not a reason here; {suggest_name(reason, self.reasons)}") from None

    def load(self, stored: object) -> str:
        """The text, checked as `read` does, or the rejection that `{"reject": REASON}` is."""
        if isinstance(stored, dict) and set(stored) == {REJECT}:
            if stored[REJECT] not in self.reasons:
                raise InputError(f"`{stored[REJECT]}` is not a reason here; expected one of {', '.join(self.reasons)}")
            return _PREFIX + str(stored[REJECT])
        if isinstance(stored, str) and _REJECTS.fullmatch(stored):
            raise InputError(f'a text may not begin with `{REJECT}:`; expected another, or {{"{REJECT}": REASON}}')
        if not isinstance(stored, str):
            raise InputError(f'`{stored}` is not an answer here; expected a text, or {{"{REJECT}": REASON}}')
        return super().read(stored)

    def recall(self, stored: object) -> str:
        """The rejection, or the text, of whatever length."""
        return self.load(stored) if isinstance(stored, dict) else super().recall(stored)

    def reason(self, answer: str) -> str | None:
        """The reason why the text is rejected; None where it is kept."""
        return answer.removeprefix(_PREFIX) if answer.startswith(_PREFIX) else None

    def store(self, answer: str) -> Any:
        """The text, verbatim, or `{"reject": REASON}`."""
        reason = self.reason(answer)
        return answer if reason is None else {REJECT: reason}

    def key(self, answer: str) -> Any:
        """The text in NFC, stripped, or `{"reject": REASON}`."""
        return super().key(answer) if self.reason(answer) is None else self.store(answer)

    def body(self, answer: str) -> str | None:
        """The kept text; None where it is rejected or empty."""
        return super().body(answer) if self.reason(answer) is None else None

    def as_json(self) -> dict[str, Any]:
        """`kind`, `min_words`, `max_words` (None: no limit), `reasons`, of each its `keys`, and `acts` with theirs."""
        reasons = choices_with_keys(self.reasons)
        own = {"reasons": reasons["choices"], "keys": reasons["keys"], "acts": choices_with_keys(ACTS)}
        return {**super().as_json(), **own}
