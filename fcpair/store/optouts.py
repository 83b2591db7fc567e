"""Topics that a person does not want to read: parts of the values of a metadata column, and pairs that have them."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from sqlalchemy import ColumnElement, Select, false, func, or_, select, union, update

from fcpair.records import TOPIC_SPLIT, Status
from fcpair.store.assignment.assignments import OPTED_OUT
from fcpair.store.corpus.cells import CN, HS, join_texts
from fcpair.store.database import latest_rows
from fcpair.store.database.statements import as_subquery, count
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, cell, person, round_, text


@dataclass(frozen=True)
class OptOut:
    """The topics of a column that somebody leaves out; `split` are the characters at which its values are split, which
    are kept with it, so that no later setting takes back what it spares.
    """

    column: str
    split: str
    topics: tuple[str, ...]

    def covers(self, value: str | None) -> bool:
        """Return whether a value of the column has a part that is left out."""
        return not split_topics(value or "", self.split).keys().isdisjoint(map(topic_key, self.topics))

    def unlisted_part(self, offered: Collection[str]) -> OptOut:
        """Part that remains when somebody has chosen anew among the listed topics: all that is not on the list."""
        alone = (replace(self, topics=(topic,)) for topic in self.topics)
        return replace(
            self, topics=tuple(opt_out.topics[0] for opt_out in alone if not any(map(opt_out.covers, offered)))
        )


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
    """Parse what is stored of one person: topics by column and split."""
    # Up to schema 0002 it was whole values by column. Somebody who left out `a,b` then leaves out `a` and `b` now: more
    # than they asked for rather than less, and the page shows them both.
    opt_outs = []
    for column, by_split in (stored or {}).items():
        for split, values in (by_split if isinstance(by_split, dict) else {TOPIC_SPLIT: by_split}).items():
            parts = dict(chain.from_iterable(split_topics(value, split).items() for value in values))
            opt_outs.append(OptOut(column, split, tuple(parts.values())))
    return tuple(opt_outs)


def to_stored(opted_out: Iterable[OptOut]) -> dict[str, dict[str, list[str]]]:
    """The same as it is kept; what leaves nothing out is dropped."""
    stored: dict[str, dict[str, list[str]]] = {}
    for opt_out in (opt_out for opt_out in opted_out if opt_out.topics):
        topics = stored.setdefault(opt_out.column, {}).setdefault(opt_out.split, [])
        topics += [topic for topic in opt_out.topics if topic not in topics]
    return stored


def topics_by_column(opted_out: Iterable[OptOut]) -> dict[str, list[str]]:
    """The topics by column, in alphabetical order, as they are shown to the lead."""
    topics_: dict[str, list[str]] = {}
    for opt_out in opted_out:
        topics_[opt_out.column] = sorted({*topics_.get(opt_out.column, ()), *opt_out.topics})
    return topics_


def _column_values(column: str) -> Select[Any]:
    value = text.c.meta[column].as_string()
    return select(value).where(value.is_not(None), value != "").distinct()


def _is_about(tx: Tx, opted_out: Sequence[OptOut], *conditions: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return whether a text of a pair, or the one it answers, meets the conditions and holds what is opted out of."""
    answering, covered = text.alias("answering"), list[ColumnElement[bool]]()
    for opt_out in opted_out:
        if values := list(filter(opt_out.covers, tx.scalars(_column_values(opt_out.column).where(*conditions)))):
            having = select(text.c.id).where(text.c.meta[opt_out.column].as_string().in_(sorted(values)), *conditions)
            text_ids = having.union(select(answering.c.id).where(answering.c.answers_id.in_(having)))
            covered += [cell.c.row_id.in_(text_ids), cell.c.column_id.in_(text_ids)]
    return or_(false(), *covered)


def pairs_about(tx: Tx, opted_out: Sequence[OptOut], cell_ids: Sequence[int] | None = None) -> list[int]:
    """The pairs of the grid, or those of these few, that hold what somebody has opted out of."""
    if cell_ids is None:
        return list(tx.scalars(select(cell.c.id).where(_is_about(tx, opted_out)).order_by(cell.c.id)))
    is_asked_for = cell.c.id.in_(as_subquery(cell_ids))
    rows, columns = select(cell.c.row_id).where(is_asked_for), select(cell.c.column_id).where(is_asked_for)
    side = text.alias("side")
    answered = select(side.c.answers_id).where(side.c.id.in_(rows.union(columns)), side.c.answers_id.is_not(None))
    about = _is_about(tx, opted_out, text.c.id.in_(union(rows, columns, answered)))
    return list(tx.scalars(select(cell.c.id).where(is_asked_for, about).order_by(cell.c.id)))


def _is_open_about(tx: Tx, person_id: int, opted_out: Sequence[OptOut]) -> ColumnElement[bool]:
    about = select(cell.c.id).where(_is_about(tx, opted_out)).scalar_subquery()
    open_ = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    return open_ & assignment.c.cell_id.in_(about)


def n_open_about(tx: Tx, person_id: int, opted_out: Sequence[OptOut]) -> int:
    """Count the open assignments of a person about what they opted out of."""
    return count(tx, assignment, _is_open_about(tx, person_id, opted_out))


def withdraw_about(tx: Tx, person_id: int, opted_out: Sequence[OptOut]) -> int:
    """Take back what a person has open of what they opted out of; returns how much there was."""
    change = update(assignment).where(_is_open_about(tx, person_id, opted_out))
    return tx.execute(change.values(status=OPTED_OUT, until=None)).rowcount


def taken_back(tx: Tx, person_id: int, opted_out_now: Sequence[OptOut]) -> Sequence[Any]:
    """Assignments (`id`, `round_id`, `grid_id`) taken back from a person, in their role, for topics not in
    `opted_out_now`.
    """
    rows = latest_rows.joined(assignment, cell, round_, person)
    query = select(*assignment.c["id", "round_id"], round_.c.grid_id).select_from(rows).order_by(assignment.c.id)
    query = query.where(assignment.c.person_id == person_id, assignment.c.status == OPTED_OUT)
    query = query.where(round_.c.role == person.c.role, ~_is_about(tx, opted_out_now))
    return tx.execute(query).all()


def topics(tx: Tx, column: str, split: str) -> list[str]:
    """The topics that texts of the grid have in a column, each in its first spelling, in alphabetical order."""
    used = select(cell.c.row_id).union(select(cell.c.column_id)).scalar_subquery()
    values = tx.scalars(_column_values(column).where(text.c.id.in_(used)))
    written = chain.from_iterable(split_topics(value, split).items() for value in values)
    # Of several spellings, the first in the alphabet stays.
    return sorted(dict(sorted(written, reverse=True)).values())


def open_by_topic(tx: Tx, person_id: int, column: str, split: str) -> Counter[str]:
    """Count the open pairs of a person with each topic on either side, by its `topic_key`."""
    sides = (side.c.meta[column].as_string().label(name) for side, name in ((HS, "hs"), (CN, "cn")))
    query = join_texts(select(*sides).select_from(assignment), assignment.c.cell_id)
    query = query.where(assignment.c.person_id == person_id, assignment.c.status == Status.OPEN.value)
    values_of_pair = query.subquery().c
    counts: Counter[str] = Counter()
    for *values, n in tx.execute(select(*values_of_pair, func.count()).group_by(*values_of_pair)):
        counts.update({key: n for value in values for key in split_topics(value or "", split)})
    return counts
