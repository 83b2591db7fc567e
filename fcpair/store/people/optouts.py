"""Topics that a person does not want to read: parts of the values of a metadata column."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from fcpair.records import TOPIC_SPLIT


@dataclass(frozen=True)
class OptOut:
    """The topics of a column that somebody leaves out; `split` are the characters at which its values are split.

    How values are split is kept with what was opted out of, so that no later setting takes back what it spares.
    """

    column: str
    split: str
    topics: tuple[str, ...]

    @cached_property
    def _keys(self) -> set[str]:
        return {topic_key(topic) for topic in self.topics}

    def covers(self, value: str | None) -> bool:
        """Whether a value of the column has a part that is left out."""
        return not self._keys.isdisjoint(split_topics(value or "", self.split))

    def unlisted_part(self, offered: Collection[str]) -> OptOut:
        """Part that remains when somebody has chosen anew among the listed topics: all that is not on the list."""
        alone = (replace(self, topics=(topic,)) for topic in self.topics)
        return replace(self, topics=tuple(one.topics[0] for one in alone if not any(map(one.covers, offered))))


def topic_key(topic: str) -> str:
    """Key by which topics are compared: NFC, stripped, case folded."""
    return unicodedata.normalize("NFC", topic).strip().casefold()


def split_topics(value: str, split: str) -> dict[str, str]:
    """The topics in a value, as they are written, each by its key."""
    for character in split[1:]:
        value = value.replace(character, split[0])
    written = (part.strip() for part in (value.split(split[0]) if split else [value]))
    return {topic_key(part): part for part in written if part}


def parse(stored: dict[str, Any] | None) -> tuple[OptOut, ...]:
    """Parse what is stored of one person: topics by column and split.

    Up to schema 0002 it was whole values by column. Somebody who left out `a,b` then leaves out `a` and `b` now:
    more than they asked for rather than less, and the page shows them both.
    """
    opt_outs = []
    for column, by_split in (stored or {}).items():
        splits = by_split if isinstance(by_split, dict) else {TOPIC_SPLIT: by_split}
        for split, values in splits.items():
            parts = {key: part for value in values for key, part in split_topics(value, split).items()}
            opt_outs.append(OptOut(column, split, tuple(parts.values())))
    return tuple(opt_outs)


def to_stored(opted_out: Iterable[OptOut]) -> dict[str, dict[str, list[str]]]:
    """The same as it is kept; what leaves nothing out is dropped."""
    stored: dict[str, dict[str, list[str]]] = {}
    for opt_out in opted_out:
        if opt_out.topics:
            topics = stored.setdefault(opt_out.column, {}).setdefault(opt_out.split, [])
            topics += [topic for topic in opt_out.topics if topic not in topics]
    return stored


def topics_by_column(opted_out: Iterable[OptOut]) -> dict[str, list[str]]:
    """The topics by column, in alphabetical order, as they are shown to the lead."""
    topic_sets: dict[str, set[str]] = {}
    for opt_out in opted_out:
        topic_sets.setdefault(opt_out.column, set()).update(opt_out.topics)
    return {column: sorted(topics) for column, topics in topic_sets.items()}
