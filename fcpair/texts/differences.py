"""Differences of two versions of a text: the lines that changed, word by word, with those around them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

AROUND = 1  # lines before and after a change
MOST_CHARACTERS = 200_000  # of both texts; longer ones would keep somebody waiting
MOST_WORDS = 4_000  # of lines that took each other's place; of more, all are removed and all added
Fate = Literal["kept", "removed", "added"]


@dataclass(frozen=True)
class Part:
    """Words in a row that were all kept, removed or added."""

    fate: Fate
    text: str


def find_differences(before: str, after: str) -> list[tuple[Part, ...]] | None:
    """The places where two texts differ, in order, each as the parts of its lines; None where they are too long.

    What was kept or added, put together, are the lines of `after` there; what was kept or removed those of `before`.
    """
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
