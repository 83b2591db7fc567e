"""A question on a given text: whether it is kept, as it is or edited, or rejected, and then for which reason."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Self

from fcpair.errors import InputError, nearest
from fcpair.stages.corpus.text_identity import fold
from fcpair.stages.questions.answer_keys import listed
from fcpair.stages.questions.closed import complain, differ, name_problems, reader_of, word_of
from fcpair.stages.questions.notation import Item, plain_names, take_options, whole_number
from fcpair.stages.questions.text_question import Edit

ACTS = ("Accept", "Edit", "Reject")  # as a page offers them
REJECT = "reject"
_PREFIX = f"{REJECT}: "
_REJECTS = re.compile(rf"\s*{REJECT}\s*:(.*)", re.DOTALL | re.IGNORECASE)


@dataclass(frozen=True)
class Curate(Edit):
    """A given text that is kept or rejected: `curate(off_topic,wrong_facts,rude,min_words=3,max_words=50)`.

    An answer is the kept text verbatim, which may be the given one still, or `reject: REASON` with one of the reasons.
    So no text begins with `reject:`. What is rejected adds no text to the study, and limits of words are not about it.

    Raises:
        InputError: no reason, a duplicated name, one with a meaning of its own, limits that cannot be.
    """

    kind: ClassVar[str] = "curate"
    no_parts: ClassVar[str] = "two people keep two texts, which neither agree nor disagree"
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        complain(
            (
                (not self.reasons, "at least one reason to reject a text is needed, such as `curate(off_topic,rude)`"),
                (not differ(self.reasons), "a reason is duplicated"),
                *name_problems(self.reasons),
            )
        )

    @classmethod
    def of(cls, items: Iterable[Item]) -> Self:
        """The question with these items in its brackets."""
        rest, options = take_options(items, ("min_words", "max_words"))
        limits = {name: whole_number(name, value) for name, value in options.items()}
        return cls(**limits, reasons=tuple(plain_names(rest)))

    def items(self) -> Iterator[Item]:
        """The reasons, and the limits that are not the default."""
        yield from map(Item, self.reasons)
        yield from super().items()

    def read(self, cell: str) -> str:
        """The text as it stands there, or what `reject: REASON` says; raises InputError also for no such reason."""
        said = _REJECTS.fullmatch(cell)
        if said is None and fold(cell) != REJECT:
            return super().read(cell)
        reason = said[1].strip() if said else ""
        if not reason:
            raise InputError(f"a rejection needs its reason; expected `{_PREFIX}REASON` with one of {self._listed()}")
        return _PREFIX + self.reasons[_reader(self.reasons)(reason)]

    def load(self, stored: object) -> str:
        """The text, checked as `read` does, or the rejection that `{"reject": REASON}` is."""
        if isinstance(stored, dict) and set(stored) == {REJECT}:
            if stored[REJECT] not in self.reasons:
                raise InputError(f"`{stored[REJECT]}` is no reason here; expected one of {self._listed()}")
            return _PREFIX + str(stored[REJECT])
        if isinstance(stored, str) and _REJECTS.fullmatch(stored):
            raise InputError(f'a text does not begin with `{REJECT}:`; expected another, or {{"{REJECT}": REASON}}')
        if not isinstance(stored, str):
            raise InputError(f'`{stored}` is no answer here; expected a text, or {{"{REJECT}": REASON}}')
        return super().read(stored)

    def recall(self, stored: object) -> str:
        """The rejection, or the text, of whatever length."""
        return self.load(stored) if isinstance(stored, dict) else super().recall(stored)

    def _listed(self) -> str:
        return ", ".join(self.reasons)

    def reason(self, answer: str) -> str | None:
        """Why the text is rejected; None where it is kept."""
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
        reasons = listed(self.reasons)
        return {**super().as_json(), "reasons": reasons["choices"], "keys": reasons["keys"], "acts": listed(ACTS)}


@lru_cache
def _reader(reasons: tuple[str, ...]) -> Callable[[str], int]:
    """What reads the place of a reason; raises InputError that proposes the nearest for one that is not known."""
    known = reader_of({word_of(name): at for at, name in enumerate(reasons)})

    def read(reason: str) -> int:
        try:
            return known(reason)
        except InputError:
            raise InputError(f"`{reason}` is no reason here; {nearest(reason, reasons)}") from None

    return read
