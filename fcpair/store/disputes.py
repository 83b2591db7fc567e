"""Disputes as adjudicators see them: the pairs in dispute, one pair's labels, and the decision that stands on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, bindparam, case, exists, func, null, or_, select, union, union_all

from fcpair.records import BY_HAND, Rule, Status
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import hash_chain, latest_rows
from fcpair.store.database.statements import among, as_param, as_subquery, count, is_true, param_subquery
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, cell, judgement, person, round_, slot


class DisputedPair(NamedTuple):
    """A pair whose labels settle nothing, or that was decided before they changed: that one waits for an `again`."""

    cell_id: int
    due: bool  # all its labels are in
    by: int | None  # has decided it; None: it waits
    again: bool
    hs_id: int
    unsure: bool  # a label decides nothing, such as "not sure"
    flagged: bool  # a person's newest decision said that the guidelines should say more


class StandingDecision(NamedTuple):
    """The decision that stands on a pair; `code` is None where it discards the pair, `by` where no person made it."""

    id: int
    rule: str
    code: int | None
    person_id: int | None
    by: str | None
    note: str
    flagged: bool


def disputed_pairs(
    tx: Tx, definite: Sequence[int], overtaken: Sequence[int], cell_ids: Sequence[int] | None = None
) -> list[DisputedPair]:
    """The pairs with labels, but without one definite answer, that no rule or file has decided, those with a decision
    requested, and those `overtaken`: decided by hand before their labels changed; by HS and number.
    """
    labels_, overtaken_ids = rounds.label_ids(tx), as_subquery(overtaken)
    cell_id: ColumnElement[int] = latest_rows.BY_CELL if cell_ids is None else assignment.c.cell_id
    labelled, is_unsettled = _labelled_pairs(tx, definite, cell_id)
    unsettled = labelled.having(is_unsettled).where(among(assignment.c.cell_id, cell_ids))
    # The pairs with labels on which a person's decision was ever requested.
    is_requested = (adjudication.c.rule == Rule.REQUESTED.value) & among(adjudication.c.cell_id, cell_ids)
    requested = select(adjudication.c.cell_id).where(is_requested, cell_range(tx).holds(adjudication.c.cell_id))
    requested = _labelled(tx, assignment.c.cell_id).where(assignment.c.cell_id.in_(requested)).distinct()
    candidates = union(unsettled, overtaken_ids, requested).subquery()
    is_overtaken = cell.c.id.in_(overtaken_ids)
    decides_nothing = rounds.reads_as(tx, judgement.c.answer_id).not_in([labels_[code] for code in definite])
    is_unsure = _labelled(tx, assignment.c.id).where(assignment.c.cell_id == cell.c.id, decides_nothing).exists()
    own = adjudication.alias("by_a_person")
    by_somebody = select(own.c.flagged).where(own.c.cell_id == cell.c.id, own.c.rule == Rule.PERSON.value)
    newest_flag = by_somebody.order_by(own.c.id.desc()).limit(1).scalar_subquery()
    by_person = adjudication.c.rule == Rule.PERSON.value
    waits_or_not = or_(adjudication.c.id.is_(None), latest_rows.TAKES_BACK, by_person)
    by = case((by_person & ~is_overtaken, adjudication.c.person_id))
    query = select(cell.c.id, ~has_open_label(cell.c.id), by, is_overtaken, cell.c.row_id, is_unsure, newest_flag)
    query = query.join(candidates, candidates.c.cell_id == cell.c.id)
    query = query.outerjoin(adjudication, (adjudication.c.cell_id == cell.c.id) & latest_rows.DECISION)
    query = query.where(or_(is_overtaken, waits_or_not)).order_by(*cell.c["row_id", "id"])
    return [
        DisputedPair(pair, bool(due), person_id, bool(again), row_id, bool(unsure), bool(flagged))
        for pair, due, person_id, again, row_id, unsure, flagged in tx.execute(query)
    ]


def is_requested(tx: Tx, cell_id: int) -> bool:
    """Return whether a person's decision on a pair was requested and has not been made."""
    newest = select(adjudication.c.rule).where(adjudication.c.cell_id == cell_id, latest_rows.DECISION)
    return tx.scalar(newest) == Rule.REQUESTED.value


def _labelled_pairs(
    tx: Tx, definite: Sequence[int], by_cell: ColumnElement[int]
) -> tuple[Select[Any], ColumnElement[bool]]:
    """The pairs with labels, a group each, and whether the labels of one are without one definite answer."""
    labels_ = rounds.label_ids(tx)
    label_id = rounds.reads_as(tx, judgement.c.answer_id)
    definite_answer = case((label_id.in_([labels_[code] for code in definite]), label_id))
    least, greatest = func.min(definite_answer), func.max(definite_answer)  # to count distinct ones takes twice as long
    return _labelled(tx, by_cell.label("cell_id")).group_by(by_cell), or_(least.is_(None), least != greatest)


def _labelled(tx: Tx, column: ColumnElement[int]) -> Select[Any]:
    query = select(column).join(judgement, latest_rows.ANSWER)
    return query.where(rounds.in_round(rounds.primary(tx)), ~judgement.c.skipped)


def undecided_pairs(tx: Tx, definite: Sequence[int]) -> tuple[int, list[int]]:
    """Count the pairs with labels on which no decision stands; and find those that wait for a person: without one
    definite answer, or on which a person's decision was requested. Set by set, as that takes half the time.
    """
    labelled, is_unsettled = _labelled_pairs(tx, definite, latest_rows.BY_CELL)
    pairs = labelled.add_columns(case((is_unsettled, 1), else_=0).label("waits")).cte("labelled")
    standing = select(adjudication.c.cell_id).where(latest_rows.STANDING)
    undecided = select(pairs).where(pairs.c.cell_id.not_in(standing)).cte("undecided")
    n_undecided = select(null().label("cell_id"), func.count().label("n")).select_from(undecided)
    requested = select(adjudication.c.cell_id).where(adjudication.c.rule == Rule.REQUESTED.value, latest_rows.DECISION)
    is_waiting = or_(undecided.c.waits == 1, undecided.c.cell_id.in_(requested))
    rows = tx.execute(union_all(n_undecided, select(undecided.c.cell_id, latest_rows.NOTHING).where(is_waiting))).all()
    return sum(row.n for row in rows), sorted(row.cell_id for row in rows if row.cell_id is not None)


def pairs_touched_since(tx: Tx, judgement_id: int, adjudication_id: int) -> list[int]:
    """The pairs of the grid that were answered, in any round, or decided after these, by id."""
    answered = select(assignment.c.cell_id).join(judgement, judgement.c.assignment_id == assignment.c.id)
    decided = select(adjudication.c.cell_id).where(adjudication.c.id > adjudication_id)
    touched = union(answered.where(judgement.c.id > judgement_id), decided).subquery()
    return list(tx.scalars(select(touched.c.cell_id).where(cell_range(tx).holds(touched.c.cell_id))))


def has_open_label(cell_id: Any) -> ColumnElement[bool]:
    """Return whether somebody has still to label a pair, or may ask for it; until then nobody decides or checks it."""
    labelling, counting = assignment.alias("given"), select(round_.c.id).where(round_.c.counts)
    is_open = (labelling.c.cell_id == cell_id) & (labelling.c.status == Status.OPEN.value)
    is_assigned = exists().where(is_open, labelling.c.round_id.in_(counting))
    return is_assigned | exists().where(slot.c.cell_id == cell_id, slot.c.round_id.in_(counting))


# Statements that every decision asks, some of them twice, are made once.
_OWN = assignment.c.person_id == bindparam("person")


_PAIRS = select(assignment.c.cell_id).distinct()
_ASKED = assignment.c.cell_id.in_(param_subquery("asked"))
_ASSIGNED = _PAIRS.where(rounds.COUNTING, assignment.c.status == Status.OPEN.value, _ASKED)
_FREE = select(slot.c.cell_id).where(slot.c.round_id.in_(select(round_.c.id).where(round_.c.counts)))
_STILL_LABELLED = union(_ASSIGNED, _FREE.where(slot.c.cell_id.in_(param_subquery("asked"))))
_LABELLED = _PAIRS.where(rounds.COUNTING, exists().where(latest_rows.ANSWER, ~judgement.c.skipped), _ASKED)
_ANSWERED = _PAIRS.where(~rounds.CHECKING, _OWN, assignment.c.judgement_id.is_not(None))
_CHECKED = _PAIRS.where(rounds.CHECKING, _OWN)
_LABELS = (
    select(assignment.c.cell_id, rounds.code_of(judgement).label("code"), judgement.c.note)
    .join(judgement, latest_rows.ANSWER)
    .where(rounds.COUNTING, assignment.c.cell_id.in_(param_subquery("pairs")))
    .order_by(assignment.c.cell_id, assignment.c.person_id)
)


def pairs_to_label(tx: Tx, cell_ids: Sequence[int]) -> set[int]:
    """Those of these pairs that somebody has still to label."""
    return set(tx.scalars(_STILL_LABELLED, {"asked": as_param(cell_ids)}))


def is_labelling(tx: Tx) -> bool:
    """Return whether anybody has still to label any pair of the grid."""
    is_open = (assignment.c.person_id == person.c.id) & (assignment.c.status == Status.OPEN.value)
    return is_true(tx, exists(select(person.c.id).where(exists().where(rounds.in_round(rounds.primary(tx)), is_open))))


def n_verdicts_not_due(tx: Tx) -> int:
    """Count the open verdicts that wait because somebody has still to label their pair."""
    open_ = rounds.in_round(rounds.validation(tx)) & (assignment.c.status == Status.OPEN.value)
    return count(tx, assignment, open_, has_open_label(assignment.c.cell_id))


def pairs_with_label(tx: Tx, cell_ids: Sequence[int]) -> set[int]:
    """Those of these pairs that have a label."""
    return set(tx.scalars(_LABELLED, {"asked": as_param(cell_ids)}))


def pairs_answered_by(tx: Tx, person_id: int, cell_ids: Sequence[int] | None = None) -> set[int]:
    """The pairs, or those of these, that a person answered or skipped in any round that does not check them."""
    return _own_pairs(tx, _ANSWERED, person_id, cell_ids)


def pairs_checked_by(tx: Tx, person_id: int, cell_ids: Sequence[int] | None = None) -> set[int]:
    """The pairs, or those of these, that a person was given to validate."""
    return _own_pairs(tx, _CHECKED, person_id, cell_ids)


def _own_pairs(tx: Tx, query: Select[Any], person_id: int, cell_ids: Sequence[int] | None) -> set[int]:
    if cell_ids is None:
        return set(tx.scalars(query, {"person": person_id}))
    return set(tx.scalars(query.where(_ASKED), {"person": person_id, "asked": as_param(cell_ids)}))


def newest_answer(tx: Tx, cell_id: int) -> int:
    """The number of the newest answer in the labelling of a pair; 0 if there is none."""
    query = select(func.max(assignment.c.judgement_id)).where(rounds.COUNTING, assignment.c.cell_id == cell_id)
    return tx.scalar(query) or 0


def label_notes(tx: Tx, cell_ids: Sequence[int]) -> dict[int, list[tuple[int | None, str]]]:
    """Each annotator's current answer on pairs: its code (None: skipped) and note, by annotator; by pair, if any."""
    answers_by_cell: dict[int, list[tuple[int | None, str]]] = {}
    for row in tx.execute(_LABELS, {"pairs": as_param(cell_ids)}):
        answers_by_cell.setdefault(row.cell_id, []).append((row.code, row.note))
    return answers_by_cell


def restore_replaced(tx: Tx, cell_id: int, person_id: int | None, before: int) -> bool:
    """Let the decision by hand, or the request for one, stand again whose place this person's newest one (None: a file
    that names nobody), older than `before`, had taken; returns whether it was by hand. It is added as it was, with its
    time and what it rested on, so that it waits for a second look if it did.
    """
    earlier = (adjudication.c.cell_id == cell_id) & (adjudication.c.id < before)
    for row in tx.execute(select(adjudication).where(earlier).order_by(adjudication.c.id.desc())).mappings():
        is_by_hand = row["rule"] in {rule.value for rule in BY_HAND}
        if is_by_hand and row["person_id"] == person_id:
            continue
        if is_by_hand or row["rule"] == Rule.REQUESTED:
            restored_row = {name: value for name, value in row.items() if name not in ("id", "digest")}
            hash_chain.add(tx, hash_chain.DECISIONS, [restored_row])
        return is_by_hand
    return False


_STANDING = (
    select(
        *adjudication.c["id", "rule", "person_id", "note", "flagged"],
        rounds.code_of(adjudication).label("code"),
        person.c.name.label("by"),
    )
    .outerjoin(person, person.c.id == adjudication.c.person_id)
    .where(adjudication.c.cell_id == bindparam("one"), latest_rows.STANDING)
)


def standing_decision(tx: Tx, cell_id: int) -> StandingDecision | None:
    """The decision that stands on a pair; None when there is none, or the last one was taken back."""
    row = tx.execute(_STANDING, {"one": cell_id}).first()
    return None if row is None else StandingDecision(**row._mapping)


def newest_note_and_flag(tx: Tx, cell_id: int, person_id: int) -> tuple[str, bool]:
    """The note and the flag of a person's newest decision on a pair; none, where they have made none."""
    own = (adjudication.c.cell_id == cell_id) & (adjudication.c.person_id == person_id)
    query = select(adjudication.c.note, adjudication.c.flagged).where(own, adjudication.c.rule == Rule.PERSON.value)
    row = tx.execute(query.order_by(adjudication.c.id.desc()).limit(1)).first()
    return ("", False) if row is None else (row.note, row.flagged)


def n_decided(tx: Tx, person_id: int) -> int:
    """On how many pairs of the grid a person's decision stands."""
    own = (adjudication.c.person_id == person_id) & (adjudication.c.rule == Rule.PERSON.value)
    return count(tx, adjudication, own, latest_rows.STANDING, cell_range(tx).holds(adjudication.c.cell_id))


_BY_PERSON = adjudication.c.rule.in_((Rule.PERSON.value, Rule.REOPENED.value))


def n_pairs_decided(tx: Tx, person_id: int, since: str) -> int:
    """On how many pairs a person has decided, or taken a decision back, since a time."""
    own = (adjudication.c.person_id == person_id) & _BY_PERSON & (adjudication.c.at >= since)
    return tx.execute(select(func.count(adjudication.c.cell_id.distinct())).where(own)).scalar_one()


def decision_times(tx: Tx, person_id: int, n: int) -> list[str]:
    """Times of a person's newest `n` decisions, the oldest of them first."""
    own = (adjudication.c.person_id == person_id) & _BY_PERSON
    return list(tx.scalars(select(adjudication.c.at).where(own).order_by(adjudication.c.id.desc()).limit(n)))[::-1]


def has_decided(tx: Tx, cell_id: int, person_id: int) -> bool:
    """Return whether a person has ever decided on a pair."""
    own = (adjudication.c.cell_id == cell_id) & (adjudication.c.person_id == person_id) & _BY_PERSON
    return is_true(tx, exists().where(own))
