"""Changes to given texts: how many were accepted, edited and rejected, how much the edited ones changed, and where."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from fcpair.records import Figure
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions import Curate, Edit
from fcpair.stages.questions.text_question import ACCEPTED, EDITED, REJECTED, Act, words_of

ALL = "all"


class TextChange(NamedTuple):
    """Change to a text: the act, the reason of a rejection, and else how much changed; None where it is not known."""

    act: Act | None
    reason: str | None = None
    words: int | None = None
    characters: int | None = None


def describe_change(question: Edit, answer: str, given_text: str | None) -> TextChange:
    """Describe what an answer does with the text that was given, None if there is none any more."""
    if (reason := question.reason(answer)) is not None:
        return TextChange(REJECTED, reason)
    if given_text is None:
        return TextChange(None)
    distances = words_changed(given_text, answer), characters_changed(given_text, answer)
    return TextChange(question.act(answer, given_text), None, *distances)


@dataclass(frozen=True)
class CurationSummary:
    """Summary of the changes to the texts of a source, or to all: `n` answers, how many accept, edit and reject, how
    often each reason was given, and mean Levenshtein distances over words and characters of the edited texts.
    """

    source: str
    n: int
    accepted: int
    edited: int
    rejected: int
    reasons: dict[str, int]
    words_changed: Figure
    characters_changed: Figure


def summarize_changes(question: Edit, source: str, changes: Sequence[TextChange]) -> CurationSummary:
    """Summarize what was done with the texts of a source; each of `changes` has its act."""
    acts, n_by_reason = Counter(change.act for change in changes), Counter(change.reason for change in changes)
    edited = [change for change in changes if change.act == EDITED]
    n_each = (len(changes), acts[ACCEPTED], acts[EDITED], acts[REJECTED])
    reasons = {name: n_by_reason[name] for name in (question.reasons if isinstance(question, Curate) else ())}
    words = _mean("words changed", [change.words for change in edited])
    characters = _mean("characters changed", [change.characters for change in edited])
    return CurationSummary(source, *n_each, reasons, words, characters)


def _mean(name: str, distances: Sequence[int | None]) -> Figure:
    if not (numbers := [distance for distance in distances if distance is not None]):
        return Figure(name, None, 0, undefined="no text was edited")
    return Figure(name, sum(numbers) / len(numbers), len(numbers))


def levenshtein(source: Sequence[Hashable], target: Sequence[Hashable]) -> int:
    """The least number of items to insert, delete or replace that makes one sequence the other; exact. In the bits of
    two numbers: Myers 1999, https://doi.org/10.1145/316542.316550; for whole sequences Hyyrö 2003.
    """
    n = min(len(source), len(target))  # what both begin and end with alike changes no distance
    first = next((at for at in range(n) if source[at] != target[at]), n)
    n -= first
    last = next((at for at in range(n) if source[-1 - at] != target[-1 - at]), n)
    source, target = source[first : len(source) - last], target[first : len(target) - last]
    if not source or not target:
        return len(source) + len(target)
    masks: dict[Hashable, int] = {}
    for at, item in enumerate(source):
        masks[item] = masks.get(item, 0) | 1 << at
    all_bits, last, distance = (1 << len(source)) - 1, 1 << (len(source) - 1), len(source)
    up, down = all_bits, 0
    for item in target:
        mask = masks.get(item, 0)
        level = (((mask & up) + up) ^ up) | mask
        right, left = down | (all_bits & ~(level | up)), up & level
        distance += bool(right & last) - bool(left & last)
        right, carried = (right << 1) | 1, mask | down
        up, down = ((left << 1) | ~(carried | right)) & all_bits, carried & right & all_bits
    return distance


def words_changed(source: str, target: str) -> int:
    """The Levenshtein distance of two texts over their words, as they are counted everywhere, of NFC."""
    return levenshtein(words_of(identity(source)), words_of(identity(target)))


def characters_changed(source: str, target: str) -> int:
    """The Levenshtein distance of two texts over their characters (code points), of NFC without spaces around."""
    return levenshtein(identity(source), identity(target))


AROUND = 1  # lines before and after a change
MOST_CHARACTERS = 200_000  # of both texts; longer ones would keep somebody waiting
MOST_WORDS = 4_000  # of lines that took each other's place; of more, all are removed and all added


@dataclass(frozen=True)
class Part:
    """Words in a row that were all kept, removed or added."""

    fate: Literal["kept", "removed", "added"]
    text: str


def find_differences(before: str, after: str) -> list[tuple[Part, ...]] | None:
    """The places where two texts differ, in order, each as the parts of its lines; None where they are too long."""
    if len(before) + len(after) > MOST_CHARACTERS:
        return None
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND)
    places = []
    for group in groups:
        joined: list[Part] = []  # without empty parts, those of one fate in a row put together
        for part in (part for _, a, b, c, d in group for part in _compare_words("".join(old[a:b]), "".join(new[c:d]))):
            if joined and part.text and joined[-1].fate == part.fate:
                joined[-1] = Part(part.fate, joined[-1].text + part.text)
            elif part.text:
                joined.append(part)
        places.append(tuple(joined))
    return places


def _compare_words(before: str, after: str) -> Iterator[Part]:
    old, new = re.findall(r"\s+|\S+", before), re.findall(r"\s+|\S+", after)
    if len(old) + len(new) > MOST_WORDS and before != after:
        old, new = [before], [after]
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Part("kept", "".join(old[a:b]))
        else:
            yield Part("removed", "".join(old[a:b]))
            yield Part("added", "".join(new[c:d]))
