"""A question on a given text: whether it is kept, as it is or edited, or rejected, and then for which reason."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from fcpair.errors import InputError, suggest_name
from fcpair.sentences import mark
from fcpair.stages.corpus.text_identity import fold_name
from fcpair.stages.questions.base import choices_with_keys
from fcpair.stages.questions.closed import all_distinct, name_problems, place_reader, raise_first
from fcpair.stages.questions.named_values import Item, parse_whole_number, plain_names, take_options
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
    no_parts_reason: ClassVar[str] = mark("two people keep different texts, which neither agree nor disagree")
    reasons: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        raise_first(
            (
                (not self.reasons, "at least one reason to reject a text is needed, such as `curate(off_topic,rude)`"),
                (not all_distinct(self.reasons), "a reason is duplicated"),
                *name_problems(self.reasons),
            )
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
        rejection = _REJECTS.fullmatch(cell)
        if rejection is None and fold_name(cell) != REJECT:
            return super().read(cell)
        reason = rejection[1].strip() if rejection else ""
        if not reason:
            raise InputError(
                f"a rejection needs its reason; expected `{_PREFIX}REASON` with one of {self._reason_list()}"
            )
        try:
            return _PREFIX + self.reasons[place_reader(self.reasons)(reason)]
        except InputError:
            raise InputError(f"`{reason}` is not a reason here; {suggest_name(reason, self.reasons)}") from None

    def load(self, stored: object) -> str:
        """The text, checked as `read` does, or the rejection that `{"reject": REASON}` is."""
        if isinstance(stored, dict) and set(stored) == {REJECT}:
            if stored[REJECT] not in self.reasons:
                raise InputError(f"`{stored[REJECT]}` is not a reason here; expected one of {self._reason_list()}")
            return _PREFIX + str(stored[REJECT])
        if isinstance(stored, str) and _REJECTS.fullmatch(stored):
            raise InputError(f'a text may not begin with `{REJECT}:`; expected another, or {{"{REJECT}": REASON}}')
        if not isinstance(stored, str):
            raise InputError(f'`{stored}` is not an answer here; expected a text, or {{"{REJECT}": REASON}}')
        return super().read(stored)

    def recall(self, stored: object) -> str:
        """The rejection, or the text, of whatever length."""
        return self.load(stored) if isinstance(stored, dict) else super().recall(stored)

    def _reason_list(self) -> str:
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
        reasons = choices_with_keys(self.reasons)
        return {
            **super().as_json(),
            "reasons": reasons["choices"],
            "keys": reasons["keys"],
            "acts": choices_with_keys(ACTS),
        }
