"""Adjudications: what was decided of each pair, by whom or by which rule; and where each pair stands.

Rows are only ever added. Statements about where pairs stand are made once: every answer online asks for its pair's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from sqlalchemy import ColumnElement, Select, bindparam, case, exists, func, literal_column, or_, select, union

from fcpair.lazy import NDArray, np, pd
from fcpair.records import PairState, Role, Round, Rule
from fcpair.store.answers.judgements import newest_judgement
from fcpair.store.assignment import rounds
from fcpair.store.corpus.cells import BODIES, CN, HS, join_texts
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import hash_chain, latest_rows, statements
from fcpair.store.database.statements import among, as_param, as_subquery, frame, param_subquery
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import Number, adjudication, answer, assignment, cell, judgement, person
from fcpair.store.disputes import has_open_label

DECISION = ("id", "cell_id", "rule", "code", "person_id", "note")
_COLUMNS: dict[str, ColumnElement[Any]] = {name: adjudication.c[name] for name in DECISION if name != "code"}
_COLUMNS |= {
    "at": adjudication.c.at,
    "code": rounds.reading("code"),
    "hs_id": cell.c.row_id.label("hs_id"),
    "cn_id": cell.c.column_id.label("cn_id"),
}
_IS_BY_PERSON = adjudication.c.rule == Rule.PERSON.value


def add_adjudications(tx: Tx, decisions: pd.DataFrame) -> None:
    """Add the decisions of a frame, with the columns that `add_decisions` takes."""
    add_decisions(tx, statements.records(decisions))


def add_decisions(tx: Tx, decisions: Iterable[Mapping[str, Any]]) -> int:
    """Add decisions, and what takes one back: `cell_id`, `rule`, `code` (None, or not there: no label), and where there
    are any `person_id`, `note`, `flagged`, `decided_at`. Returns the number of the newest decision.
    """
    same: dict[str, Any] = {"person_id": None, "note": "", "flagged": False, "at": now(), "decided_at": None}
    same["seen_judgement"] = newest_judgement(tx)
    answer_ids: dict[Any, int | None] = {None: None, **rounds.label_ids(tx)}
    rows = ({**same, **decision, "answer_id": answer_ids[decision.get("code")]} for decision in decisions)
    names = ("cell_id", "rule", "answer_id", *same)
    return hash_chain.add(tx, hash_chain.DECISIONS, ({name: row[name] for name in names} for row in rows))


def current_adjudications(tx: Tx, *columns: str, standing: bool = False) -> pd.DataFrame:
    """The newest decision on each pair, by pair; only those that are `standing`, which are not taken back, if asked.
    Columns as named, or those of DECISION, `hs_id` and `cn_id`; a `code` is missing where the pair is discarded.
    """
    is_meant = latest_rows.STANDING if standing else latest_rows.DECISION
    query = _current_query(tx, *(_COLUMNS[name] for name in columns or DECISION), is_meant=is_meant)
    if {"hs_id", "cn_id"} & set(columns):
        query = query.join(cell, cell.c.id == adjudication.c.cell_id)
    return frame(tx, query)


def decided_codes(tx: Tx, cell_ids: Iterable[int] | None = None) -> dict[str, NDArray[np.int64]]:
    """The cell (`cell_id`) of each newest decision, or of those on some cells, by cell; its `code` (-1: none), and as 1
    or 0 whether it `stands`, and whether it asks for a person's (`requested`).
    """
    code = func.coalesce(rounds.reading("code"), -1).label("code")
    stands = case((latest_rows.TAKES_BACK, 0), else_=1).label("stands")
    requested = case((adjudication.c.rule == Rule.REQUESTED.value, 1), else_=0).label("requested")
    query = _current_query(tx, adjudication.c.cell_id, code, stands, requested)
    return statements.integer_arrays(tx, query.where(among(adjudication.c.cell_id, cell_ids)))


def _current_query(
    tx: Tx, *columns: ColumnElement[Any], is_meant: ColumnElement[bool] = latest_rows.DECISION
) -> Select[Any]:
    query = select(*columns).select_from(adjudication)
    query = query.outerjoin(answer, answer.c.id == adjudication.c.answer_id)
    return query.where(cell_range(tx).holds(adjudication.c.cell_id), is_meant).order_by(adjudication.c.cell_id)


def n_by_rule(tx: Tx) -> dict[tuple[str, bool], int]:
    """On how many pairs the newest decision is by which rule, and whether it discards the pair."""
    key = adjudication.c.rule, adjudication.c.answer_id.is_(None)
    query = select(*key, func.count()).where(cell_range(tx).holds(adjudication.c.cell_id), latest_rows.DECISION)
    return {(row[0], bool(row[1])): row[2] for row in tx.execute(query.group_by(*key).order_by(*key))}


def n_with_one_label(tx: Tx) -> int:
    """Count the pairs whose newest decision is unanimous because they have a single label."""
    labelled = select(latest_rows.BY_CELL.label("cell_id")).join(judgement, latest_rows.NEWEST)
    labelled = labelled.where(rounds.in_round(rounds.primary(tx)), ~judgement.c.skipped)
    single = labelled.group_by(latest_rows.BY_CELL).having(func.count() == 1).subquery()
    decided = single.join(adjudication, adjudication.c.cell_id == single.c.cell_id)
    return statements.count(tx, decided, adjudication.c.rule == Rule.UNANIMOUS.value, latest_rows.DECISION)


def pairs_without_validator(tx: Tx) -> list[int]:
    """The pairs with an adjudicated label that no validator was ever given, by id."""
    is_given = exists().where(assignment.c.cell_id == adjudication.c.cell_id, rounds.in_round(rounds.validation(tx)))
    query = _current_query(tx, adjudication.c.cell_id).where(adjudication.c.answer_id.is_not(None), ~is_given)
    return list(tx.scalars(query))


def decision_history(tx: Tx, cell_id: int) -> pd.DataFrame:
    """Every decision about a pair, oldest first: `rule`, `person`, `code` (missing: discarded), `note`, `at`,
    `decided_at`.
    """
    code = rounds.code_of(adjudication).label("code")
    columns = adjudication.c["note", "at", "decided_at"]
    query = select(adjudication.c.rule, person.c.name.label("person"), code, *columns)
    query = query.outerjoin(person, person.c.id == adjudication.c.person_id)
    return frame(tx, query.where(adjudication.c.cell_id == cell_id).order_by(adjudication.c.id))


_involved = (
    select(table.c.cell_id, table.c.person_id).where(
        table.c.cell_id.in_(param_subquery("pairs")), table.c.person_id.in_(param_subquery("people")), *is_meant
    )
    for table, is_meant in ((assignment, (rounds.ROUND_PARAM,)), (adjudication, ()))
)
_INVOLVED = statements.PreparedStatement(select(union(*_involved).subquery()))


def involved_people(tx: Tx, cell_ids: list[int], person_ids: list[int], of: Iterable[Round]) -> NDArray[np.int64]:
    """Find who of these people was given which of these pairs in these rounds, or decided them: `(n, 2)` numbers."""
    params = {"pairs": cell_ids, "people": person_ids, "rounds": [id_ for round_ in of for id_ in round_.ids]}
    rows = _INVOLVED.all(tx, **{name: as_param(listed) for name, listed in params.items()})
    return np.array(rows, np.int64).reshape(-1, 2)


def pairs_decided_by_hand(tx: Tx) -> list[int]:
    """The pairs of the grid whose standing decision a person made."""
    return list(tx.scalars(_current_query(tx, adjudication.c.cell_id).where(latest_rows.IS_BY_HAND)))


def n_by_person(tx: Tx, excluded: list[int]) -> dict[int, int]:
    """On how many pairs of the grid, without those `excluded`, a decision by each person, or their file, stands."""
    query = _current_query(tx, adjudication.c.person_id, func.count()).order_by(None)
    is_meant = adjudication.c.cell_id.not_in(as_subquery(excluded)) & adjudication.c.person_id.is_not(None)
    grouped = query.where(latest_rows.IS_BY_HAND, is_meant).group_by(adjudication.c.person_id)
    return {row[0]: row[1] for row in tx.execute(grouped)}


def people_who_decided(tx: Tx) -> pd.DataFrame:
    """People who have ever decided or reopened a pair, each with the pair: `cell_id`, `person_id`."""
    by_person = adjudication.c.person_id.is_not(None) & cell_range(tx).holds(adjudication.c.cell_id)
    return frame(tx, select(*adjudication.c["cell_id", "person_id"]).where(by_person).distinct())


def pair_states(tx: Tx, codes: Sequence[int], cell_ids: Sequence[int] | None = None) -> Iterator[PairState]:
    """The labels of each pair that anybody has answered, in the order of `codes`, and the newest decision, by pair."""
    code_by_id, params = rounds.codes_by_id(tx), {**cell_range(tx)._asdict(), "asked": as_param(cell_ids or ())}
    ids_by_code = (tuple(id_ for id_, its_code in code_by_id.items() if its_code == code) for code in codes)
    query = _states_query(tuple(ids_by_code), some=cell_ids is not None)
    for row in tx.execute(query, params, execution_options=statements.STREAMED):
        yield PairState(row[0], tuple(row[3:]), row[1], row[2])


@cache
def _states_query(answer_ids: tuple[tuple[int, ...], ...], *, some: bool) -> Select[Any]:
    counts = [
        func.count(case((or_(*(judgement.c.answer_id == one for one in ids)), 1))).label(f"n{ids[0]}")
        for ids in answer_ids
    ]
    labels = (
        select(latest_rows.BY_CELL.label("cell_id"), *counts)
        .join(judgement, latest_rows.NEWEST)
        .where(rounds.COUNTING, latest_rows.BY_CELL.between(bindparam("first"), bindparam("last")))
        .group_by(latest_rows.BY_CELL)
    )
    if some:
        labels = labels.where(assignment.c.cell_id.in_(param_subquery("asked")))
    cell_id, *n_labels = (per_cell := labels.subquery()).c
    query = select(cell_id, adjudication.c.rule, rounds.code_of(adjudication), *n_labels).select_from(per_cell)
    return query.outerjoin(adjudication, (adjudication.c.cell_id == cell_id) & latest_rows.DECISION).order_by(cell_id)


def answers_since_decision(
    tx: Tx, cell_ids: Sequence[int] | None = None
) -> Iterator[tuple[int, int, list[tuple[int, int, int | None]]]]:
    """The pairs that were labelled, again or at all, after the decision by hand that stands on them: their number, the
    newest judgement that it saw, and every answer, oldest first: judgement, assignment, and code (None: a skip).
    """
    relabelled = tx.execute(_RELABELLED.where(among(adjudication.c.cell_id, cell_ids)))
    for (cell_id, seen), rows in groupby(relabelled, key=itemgetter(0, 1)):
        yield cell_id, seen, [(row[2], row[3], row[4]) for row in rows]


_slot = assignment.alias("slot")
_is_same = (_slot.c.cell_id == adjudication.c.cell_id) & (_slot.c.round_id == assignment.c.round_id)
_IS_RELABELLED = exists().where(_slot.c.judgement_id > adjudication.c.seen_judgement, _is_same)
_RELABELLED = (
    select(*adjudication.c["cell_id", "seen_judgement"], judgement.c.id, assignment.c.id, rounds.code_of(judgement))
    .select_from(adjudication)
    # From the decisions, of which few are by hand, to their answers: `+ 0` keeps SQLite from going the other way,
    # over every answer there is (1,000,000 labels: 3.6 s).
    .join(assignment, assignment.c.cell_id == adjudication.c.cell_id + 0)
    .join(judgement, judgement.c.assignment_id == assignment.c.id)
    .where(rounds.COUNTING, latest_rows.DECISION, latest_rows.IS_BY_HAND, _IS_RELABELLED)
    .order_by(adjudication.c.cell_id, judgement.c.id)
)


_CELL_ID = adjudication.c.cell_id + literal_column("0", Number)
"""The pair of a decision, where they are read from the newest on: written so that SQLite does not go by pairs, which it
would have to sort (100,000 decided pairs: 0.9 s)."""
_FEW = 1_000  # pairs: their decisions are looked up, those of more are read from the newest on until there are enough


@dataclass(frozen=True)
class DecisionFilter:
    """Conditions on decisions; what is empty lets all through."""

    texts_by_word: tuple[tuple[list[int], list[int]], ...] = ()  # the rows, and the columns, in which each word occurs
    codes: tuple[int | None, ...] = ()  # of outcomes (None: discarded)
    deciders: tuple[int | None, ...] = ()  # also those that a file names (None: a rule, or a file that names nobody)
    is_flagged: bool = False
    excluded: tuple[int, ...] = ()  # pairs

    def conditions(self, tx: Tx) -> Iterator[ColumnElement[bool]]:
        """The conditions on a decision."""
        if self.texts_by_word:
            has_words = (
                or_(cell.c.row_id.in_(as_subquery(row_ids)), cell.c.column_id.in_(as_subquery(column_ids)))
                for row_ids, column_ids in self.texts_by_word
            )
            matching = select(cell.c.id).where(cell_range(tx).holds(cell.c.id), *has_words)
            is_few = len(first_ids := list(tx.scalars(matching.limit(_FEW + 1)))) <= _FEW
            yield adjudication.c.cell_id.in_(as_subquery(first_ids)) if is_few else _CELL_ID.in_(matching)
        if self.codes:
            label_id = rounds.reads_as(tx, adjudication.c.answer_id)
            answer_ids: dict[Any, int | None] = {None: None, **rounds.label_ids(tx)}
            yield or_(*(label_id == answer_ids[code] for code in self.codes))  # None: IS NULL
        if self.deciders:
            yield or_(*(adjudication.c.person_id == person_id for person_id in self.deciders))
        if self.is_flagged:
            yield adjudication.c.flagged
        if self.excluded:
            yield _CELL_ID.not_in(as_subquery(self.excluded))


def matching_decisions(
    tx: Tx, limit: int, before: int | None, decision_filter: DecisionFilter, made_by: int | None = None
) -> list[dict[str, Any]]:
    """The decisions that stand and that a filter lets through, newest first, or those that a person made here: `id`,
    `cell_id`, `hs`, `hs_language`, `cn`, `cn_language`, `rule`, `code` (None: discarded), `by` (None: no person),
    `note`, `flagged`, `at`.
    """
    languages = (HS.c.language.label("hs_language"), CN.c.language.label("cn_language"))
    code_and_by = (rounds.code_of(adjudication).label("code"), person.c.name.label("by"))
    decision = adjudication.c["id", "cell_id", "rule", "note", "flagged", "at"]
    query = join_texts(select(*decision, *code_and_by, *BODIES, *languages), adjudication.c.cell_id)
    query = query.outerjoin(person, person.c.id == adjudication.c.person_id)
    query = query.where(*decision_filter.conditions(tx), cell_range(tx).holds(_CELL_ID), latest_rows.STANDING)
    query = query.where(or_(_IS_BY_PERSON, ~has_open_label(adjudication.c.cell_id)))
    query = query.order_by(adjudication.c.id.desc()).limit(limit)
    if made_by is not None:
        query = query.where(adjudication.c.person_id == made_by, _IS_BY_PERSON)
    if before is not None:
        query = query.where(adjudication.c.id < before)
    return [dict(row._mapping) for row in tx.execute(query)]


def label_counts(tx: Tx, decision_ids: Sequence[int]) -> dict[int, dict[int, int]]:
    """Count the labels that each of these decisions rests on, by code; by decision, if it rests on any: by hand on the
    labels that there were, by rule on those that there are. Pairs that somebody has still to label are left out.
    """
    newer = judgement.alias("newer")
    is_seen = newer.c.id.between(judgement.c.id + 1, adjudication.c.seen_judgement)
    is_overtaken = exists().where(newer.c.assignment_id == assignment.c.id, is_seen)
    was_seen = (judgement.c.id <= adjudication.c.seen_judgement) & ~is_overtaken
    key = (adjudication.c.id, rounds.code_of(judgement).label("code"))
    labels = adjudication.join(assignment, assignment.c.cell_id == adjudication.c.cell_id)
    labels = labels.join(judgement, judgement.c.assignment_id == assignment.c.id)
    query = select(*key, func.count()).select_from(labels).where(adjudication.c.id.in_(as_subquery(decision_ids)))
    query = query.where(or_(latest_rows.IS_BY_HAND & was_seen, ~latest_rows.IS_BY_HAND & latest_rows.NEWEST))
    query = query.where(rounds.COUNTING, ~judgement.c.skipped, ~has_open_label(adjudication.c.cell_id))
    by_decision = groupby(tx.execute(query.group_by(*key).order_by(*key)), key=itemgetter(0))
    return {decision_id: {label: n for _, label, n in rows} for decision_id, rows in by_decision}


def deciders(tx: Tx) -> dict[str, int]:
    """The adjudicators, and who else has ever decided in the grid, also by a file that names them: ids by name."""
    has_decided = exists().where(adjudication.c.person_id == person.c.id, cell_range(tx).holds(adjudication.c.cell_id))
    query = select(person.c.name, person.c.id).where(or_(person.c.role == Role.ADJUDICATOR.value, has_decided))
    return {row.name: row.id for row in tx.execute(query.order_by(person.c.name))}
