"""What was done with given texts: how many were accepted, edited and rejected, and how much the edited ones changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from fcpair.records import Figure
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions import Curate, Edit
from fcpair.stages.questions.text_question import ACCEPTED, EDITED, REJECTED, Act, words_of

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


def levenshtein(one: Sequence[Hashable], other: Sequence[Hashable]) -> int:
    """The least number of items to insert, delete or replace that makes one sequence the other; exact.

    Each item of `other` moves a whole column of the table of distances on, whose steps of -1 and +1 are the bits of two
    numbers (Myers 1999, https://doi.org/10.1145/316542.316550; for whole sequences Hyyrö 2003).
    """
    one, other = _middles(one, other)
    if not one or not other:
        return len(one) + len(other)
    places: dict[Hashable, int] = {}
    for at, item in enumerate(one):
        places[item] = places.get(item, 0) | 1 << at
    all_, last, distance = (1 << len(one)) - 1, 1 << (len(one) - 1), len(one)
    up, down = all_, 0
    for item in other:
        here = places.get(item, 0)
        level = (((here & up) + up) ^ up) | here
        right, left = down | (all_ & ~(level | up)), up & level
        distance += bool(right & last) - bool(left & last)
        right, held = (right << 1) | 1, here | down
        up, down = ((left << 1) | ~(held | right)) & all_, held & right & all_
    return distance


def _middles(one: Sequence[Hashable], other: Sequence[Hashable]) -> tuple[Sequence[Hashable], Sequence[Hashable]]:
    """Both without the items that they begin and end with alike, which change no distance."""
    n = min(len(one), len(other))
    first = next((at for at in range(n) if one[at] != other[at]), n)
    n -= first
    last = next((at for at in range(n) if one[-1 - at] != other[-1 - at]), n)
    return one[first : len(one) - last], other[first : len(other) - last]


def words_changed(one: str, other: str) -> int:
    """The Levenshtein distance of two texts over their words, as they are counted everywhere, of NFC."""
    return levenshtein(words_of(identity(one)), words_of(identity(other)))


def characters_changed(one: str, other: str) -> int:
    """The Levenshtein distance of two texts over their characters (code points), of NFC without spaces around."""
    return levenshtein(identity(one), identity(other))
