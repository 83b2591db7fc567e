"""What was done with given texts: how many were accepted, edited and rejected, and how much the edited ones changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from fcpair.records import Figure
from fcpair.stages.answers.edit_distance import characters_changed, words_changed
from fcpair.stages.questions import Curate, Edit
from fcpair.stages.questions.text_question import ACCEPTED, EDITED, REJECTED, Act

ALL = "all"


class Change(NamedTuple):
    """What was done with a text: the act, the reason of a rejection, and else how many words and characters changed.

    The act is None where the text was kept and is not known any more; then nor are the numbers.
    """

    act: Act | None
    reason: str | None = None
    words: int | None = None
    characters: int | None = None


def change(question: Edit, answer: str, given: str | None) -> Change:
    """What an answer does with the text that was given, None where there is none any more."""
    reason = question.reason(answer)
    if reason is not None:
        return Change(REJECTED, reason)
    if given is None:
        return Change(None)
    return Change(
        question.act(answer, given), words=words_changed(given, answer), characters=characters_changed(given, answer)
    )


@dataclass(frozen=True)
class Curated:
    """What was done with the texts of a source, or with all: `n` answers, of which so many accept, edit and reject.

    `reasons` says how often each reason of the question was given. The figures are means over the edited texts, which
    are their `n`, of the Levenshtein distances over words and over characters; undefined where none was edited.
    """

    source: str
    n: int
    accepted: int
    edited: int
    rejected: int
    reasons: dict[str, int]
    words_changed: Figure
    characters_changed: Figure

    def as_dict(self) -> dict[str, Any]:
        """The same as plain Python values, ready for JSON."""
        return asdict(self)


def summarize(question: Edit, source: str, changes: Sequence[Change]) -> Curated:
    """What was done with the texts of a source; each of `changes` has its act."""
    acts, given = Counter(one.act for one in changes), Counter(one.reason for one in changes)
    edited = [one for one in changes if one.act == EDITED]
    return Curated(
        source,
        len(changes),
        acts[ACCEPTED],
        acts[EDITED],
        acts[REJECTED],
        {name: given[name] for name in (question.reasons if isinstance(question, Curate) else ())},
        _mean("words changed", [one.words for one in edited]),
        _mean("characters changed", [one.characters for one in edited]),
    )


def _mean(name: str, changed: Sequence[int | None]) -> Figure:
    numbers = [one for one in changed if one is not None]
    if not numbers:
        return Figure(name, None, 0, undefined="no text was edited")
    return Figure(name, sum(numbers) / len(numbers), len(numbers))
