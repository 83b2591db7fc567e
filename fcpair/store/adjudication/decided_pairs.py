"""Decided pairs: the decisions that stand, those that a filter lets through, and the labels that they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, exists, func, literal_column, or_, select

from fcpair.records import BY_HAND, Role, Rule
from fcpair.store.adjudication.disputes import has_open_label
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import latest_rows, sql_lists
from fcpair.store.database.column_types import Number
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, cell, judgement, person, text

_BY_PERSON = adjudication.c.rule == Rule.PERSON.value
_CELL_ID = adjudication.c.cell_id + literal_column("0", Number)
"""The pair of a decision, where decisions are read from the newest on: written so that SQLite does not go by pairs,
which it would have to sort (100,000 decided pairs: 0.9 s).
"""
_FEW = 1_000  # pairs: their decisions are looked up, those of more are read from the newest on until there are enough
_BY_HAND = adjudication.c.rule.in_([rule.value for rule in BY_HAND])


class MatchingTexts(NamedTuple):
    """The ids of the texts of each side in which a word occurs."""

    row_ids: list[int]
    column_ids: list[int]


@dataclass(frozen=True)
class DecisionFilter:
    """Conditions on decisions; what is empty lets all through.

    Each word must occur in the row or in the column. `codes` are of outcomes (None: discarded); `deciders` are people,
    also those that a file names (None: a rule, or a file that names nobody). None is on the pairs `excluded`.
    """

    texts_by_word: tuple[MatchingTexts, ...] = ()
    codes: tuple[int | None, ...] = ()
    deciders: tuple[int | None, ...] = ()
    is_flagged: bool = False
    excluded: tuple[int, ...] = ()

    def conditions(self, tx: Tx) -> Iterator[ColumnElement[bool]]:
        """The conditions on a decision."""
        if self.texts_by_word:
            has_words = (
                or_(
                    cell.c.row_id.in_(sql_lists.as_subquery(texts.row_ids)),
                    cell.c.column_id.in_(sql_lists.as_subquery(texts.column_ids)),
                )
                for texts in self.texts_by_word
            )
            matching = select(cell.c.id).where(cell_range(tx).holds(cell.c.id), *has_words)
            first_ids = list(tx.execute(matching.limit(_FEW + 1)).scalars())
            if len(first_ids) > _FEW:
                yield _CELL_ID.in_(matching)
            else:
                yield adjudication.c.cell_id.in_(sql_lists.as_subquery(first_ids))
        if self.codes:
            label_ids = rounds.label_ids(tx)
            answer_ids = [None if code is None else label_ids[code] for code in self.codes]
            yield or_(*(adjudication.c.answer_id == answer_id for answer_id in answer_ids))  # None: IS NULL
        if self.deciders:
            yield or_(*(adjudication.c.person_id == person_id for person_id in self.deciders))
        if self.is_flagged:
            yield adjudication.c.flagged
        if self.excluded:
            yield _CELL_ID.not_in(sql_lists.as_subquery(list(self.excluded)))


def standing_decisions(
    tx: Tx, limit: int, before: int | None, decision_filter: DecisionFilter, made_by: int | None = None
) -> list[dict[str, Any]]:
    """The decisions that stand and that a filter lets through, newest first; those alone that a person made here.

    What a rule or a file has decided about a pair that somebody has still to label is left out, because it tells of
    the labels that are in.

    Keys: `id`, `cell_id`, `hs`, `hs_language`, `cn`, `cn_language`, `rule`, `code` (None: discarded), `by` (None: no
    person), `note`, `flagged`, `at`.
    """
    hs, cn = text.alias("hs_text"), text.alias("cn_text")
    query = (
        select(
            *(adjudication.c[name] for name in ("id", "rule", "note", "flagged", "at")),
            rounds.code_of(adjudication).label("code"),
            adjudication.c.cell_id,
            person.c.name.label("by"),
            hs.c.body.label("hs"),
            hs.c.language.label("hs_language"),
            cn.c.body.label("cn"),
            cn.c.language.label("cn_language"),
        )
        .join(cell, cell.c.id == adjudication.c.cell_id)
        .join(hs, hs.c.id == cell.c.row_id)
        .join(cn, cn.c.id == cell.c.column_id)
        .outerjoin(person, person.c.id == adjudication.c.person_id)
        .where(*decision_filter.conditions(tx), cell_range(tx).holds(_CELL_ID), latest_rows.STANDING)
        .where(or_(_BY_PERSON, ~has_open_label(adjudication.c.cell_id)))
        .order_by(adjudication.c.id.desc())
        .limit(limit)
    )
    if made_by is not None:
        query = query.where(adjudication.c.person_id == made_by, _BY_PERSON)
    if before is not None:
        query = query.where(adjudication.c.id < before)
    return [dict(row._mapping) for row in tx.execute(query)]


def label_counts(tx: Tx, decision_ids: Sequence[int]) -> dict[int, dict[int, int]]:
    """Count the labels that each of these decisions rests on, by code; by decision, if it rests on any.

    A decision by hand rests on the labels that there were; one by rule follows those that there are. Nothing is told of
    a pair that somebody has still to label.
    """
    newer = judgement.alias("newer")
    is_overtaken = exists().where(
        newer.c.assignment_id == assignment.c.id,
        newer.c.id > judgement.c.id,
        newer.c.id <= adjudication.c.seen_judgement,
    )
    was_seen = (judgement.c.id <= adjudication.c.seen_judgement) & ~is_overtaken
    code = rounds.code_of(judgement).label("code")
    query = (
        select(adjudication.c.id, code, func.count())
        .select_from(adjudication)
        .join(assignment, assignment.c.cell_id == adjudication.c.cell_id)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .where(adjudication.c.id.in_(sql_lists.as_subquery(list(decision_ids))), rounds.COUNTING)
        .where(or_(_BY_HAND & was_seen, ~_BY_HAND & latest_rows.NEWEST))
        .where(~judgement.c.skipped, ~has_open_label(adjudication.c.cell_id))
        .group_by(adjudication.c.id, code)
        .order_by(adjudication.c.id, code)
    )
    counts: dict[int, dict[int, int]] = {}
    for decision_id, label, n in tx.execute(query):
        counts.setdefault(decision_id, {})[label] = n
    return counts


def deciders(tx: Tx) -> dict[str, int]:
    """The adjudicators, and who else has ever decided in the grid, also by a file that names them: ids by name."""
    has_decided = exists().where(adjudication.c.person_id == person.c.id, cell_range(tx).holds(adjudication.c.cell_id))
    query = select(person.c.name, person.c.id).where(or_(person.c.role == Role.ADJUDICATOR.value, has_decided))
    return {row.name: row.id for row in tx.execute(query.order_by(person.c.name))}
