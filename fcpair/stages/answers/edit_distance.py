"""How far an edited text is from the one that was given: words and characters that were inserted, deleted, replaced."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions.text_question import words_of


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
