"""Adjudications: what was decided of each pair, by whom or by which rule. Rows are only ever added."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, case, exists, func, select

from fcpair.records import BY_HAND, UNDECIDED, Round, Rule
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database import hash_chain, latest_rows, sql_lists
from fcpair.store.database.backends.protocol import driver
from fcpair.store.database.frames import frame, integer_arrays, records
from fcpair.store.database.prepared import PreparedStatement
from fcpair.store.database.store import Tx, now
from fcpair.store.database.tables import adjudication, answer, assignment, cell, judgement, person

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

from fcpair.store.answers.judgements import newest_judgement

DECISION = ("id", "cell_id", "rule", "code", "person_id", "note")
_DECIDED: dict[str, ColumnElement[Any]] = {name: adjudication.c[name] for name in ("id", "rule", "person_id", "note")}
_DECIDED |= {"cell_id": adjudication.c.cell_id, "code": answer.c.code}


def add_adjudications(tx: Tx, decisions: pd.DataFrame) -> None:
    """Add decisions: `cell_id`, `rule`, `code` (missing: discarded), and where there is one `person_id`, `note`."""
    rows = decisions.assign(at=now(), flagged=False, seen_judgement=newest_judgement(tx))
    if "note" not in rows.columns:
        rows["note"] = ""
    rows["answer_id"] = rows["code"].astype("Int64").map(rounds.label_ids(tx)).astype("Int64")
    hash_chain.add(tx, hash_chain.DECISIONS, records(rows.drop(columns="code")))


def add_rule_decisions(tx: Tx, decisions: Iterable[tuple[int, Rule, int | None]]) -> None:
    """Add what rules decided or took back: each pair's number, the rule, and the code (None: discarded)."""
    same = {"person_id": None, "note": "", "at": now(), "flagged": False, "seen_judgement": newest_judgement(tx)}
    answers = rounds.label_ids(tx)
    rows = (
        {"cell_id": cell_id, "rule": rule.value, "answer_id": None if code is None else answers[code], **same}
        for cell_id, rule, code in decisions
    )
    hash_chain.add(tx, hash_chain.DECISIONS, rows)


@contextmanager
def tentative(tx: Tx, *, is_kept: bool) -> Iterator[None]:
    """Keep what is written meanwhile, or undo it, in the same time."""
    execute = driver(tx).execute
    execute("SAVEPOINT before_decision")
    yield
    execute("SAVEPOINT after_decision")
    execute(f"ROLLBACK TO SAVEPOINT {'after' if is_kept else 'before'}_decision")
    execute("RELEASE SAVEPOINT before_decision")


def add_requests(tx: Tx, cell_ids: Iterable[int], note: str) -> None:
    """Add that a person's decision is requested on each of these pairs, with a note that says by whom."""
    same: dict[str, Any] = {"rule": Rule.REQUESTED.value, "answer_id": None, "person_id": None, "note": note}
    same |= {"flagged": False, "at": now(), "seen_judgement": newest_judgement(tx)}
    hash_chain.add(tx, hash_chain.DECISIONS, ({"cell_id": cell_id, **same} for cell_id in cell_ids))


def current_adjudications(tx: Tx, *columns: str) -> pd.DataFrame:
    """The standing decision of each pair, by pair.

    Columns as named, all where none is: `id`, `cell_id`, `rule`, `code` (missing: discarded), `person_id`, `note`.
    """
    return frame(tx, _current_query(tx, *(_DECIDED[name] for name in columns or DECISION)))


def decided_codes(tx: Tx) -> dict[str, NDArray[np.int64]]:
    """The cell (`cell_id`) of each newest decision, by cell, its `code` (-1: none), and whether it `stands` (1)."""
    code = func.coalesce(answer.c.code, -1).label("code")
    stands = case((adjudication.c.rule.in_([rule.value for rule in UNDECIDED]), 0), else_=1).label("stands")
    return integer_arrays(tx, _current_query(tx, _DECIDED["cell_id"], code, stands))


def requested_pairs(tx: Tx) -> NDArray[np.int64]:
    """The cells of the grid on which a person's decision was requested and has not been made."""
    query = select(adjudication.c.cell_id).where(
        cell_range(tx).holds(adjudication.c.cell_id),
        adjudication.c.rule == Rule.REQUESTED.value,
        latest_rows.DECISION,
    )
    return integer_arrays(tx, query)["cell_id"]


def _current_query(tx: Tx, *columns: ColumnElement[Any]) -> Select[Any]:
    query = select(*columns).select_from(adjudication)
    query = query.outerjoin(answer, answer.c.id == adjudication.c.answer_id)
    query = query.where(cell_range(tx).holds(adjudication.c.cell_id), latest_rows.DECISION)
    return query.order_by(adjudication.c.cell_id)


def n_by_rule(tx: Tx) -> dict[tuple[str, bool], int]:
    """On how many pairs the newest decision is by which rule, and whether it discards the pair."""
    key = adjudication.c.rule, adjudication.c.answer_id.is_(None)
    query = (
        select(*key, func.count())
        .where(cell_range(tx).holds(adjudication.c.cell_id), latest_rows.DECISION)
        .group_by(*key)
    )
    return {(row[0], bool(row[1])): row[2] for row in tx.execute(query.order_by(*key))}


def n_with_one_label(tx: Tx) -> int:
    """Count the pairs whose newest decision is unanimous because they have a single label."""
    labelled = select(latest_rows.BY_CELL.label("cell_id")).join(judgement, latest_rows.NEWEST)
    labelled = labelled.where(rounds.in_round(rounds.primary(tx)), ~judgement.c.skipped)
    single = labelled.group_by(latest_rows.BY_CELL).having(func.count() == 1).subquery()
    query = select(func.count()).select_from(single).join(adjudication, adjudication.c.cell_id == single.c.cell_id)
    is_unanimous = adjudication.c.rule == Rule.UNANIMOUS.value
    return int(tx.execute(query.where(is_unanimous, latest_rows.DECISION)).scalar_one())


def pairs_without_validator(tx: Tx) -> list[int]:
    """The pairs with an adjudicated label that no validator was ever given, by id."""
    is_given = exists().where(assignment.c.cell_id == adjudication.c.cell_id, rounds.in_round(rounds.validation(tx)))
    query = select(adjudication.c.cell_id).where(
        cell_range(tx).holds(adjudication.c.cell_id),
        latest_rows.DECISION,
        adjudication.c.answer_id.is_not(None),
        ~is_given,
    )
    return list(tx.execute(query.order_by(adjudication.c.cell_id)).scalars())


def decision_history(tx: Tx, cell_id: int) -> pd.DataFrame:
    """Every decision about a pair, oldest first: `rule`, `person`, `code` (missing: discarded), `note`, `at`."""
    query = (
        select(
            adjudication.c.rule,
            person.c.name.label("person"),
            rounds.code_of(adjudication).label("code"),
            adjudication.c.note,
            adjudication.c.at,
        )
        .outerjoin(person, person.c.id == adjudication.c.person_id)
        .where(adjudication.c.cell_id == cell_id)
        .order_by(adjudication.c.id)
    )
    return frame(tx, query)


_assigned_people, _deciding_people = (
    select(table.c.cell_id, table.c.person_id).where(
        table.c.cell_id.in_(sql_lists.param_subquery("pairs")),
        table.c.person_id.in_(sql_lists.param_subquery("people")),
    )
    for table in (assignment, adjudication)
)
_INVOLVED = PreparedStatement(select(_assigned_people.where(rounds.ROUND_PARAM).union(_deciding_people).subquery()))


def involved_people(tx: Tx, cell_ids: list[int], person_ids: list[int], of: Iterable[Round]) -> NDArray[np.int64]:
    """Find which of these people were given which of these pairs in one of these rounds, or decided them.

    Their numbers, `(n, 2)`: pair and person.
    """
    import numpy as np

    params = {"pairs": cell_ids, "people": person_ids, "rounds": [one for round_ in of for one in round_.ids]}
    rows = _INVOLVED.all(tx, **{name: sql_lists.as_param(listed) for name, listed in params.items()})
    return np.array(rows, np.int64).reshape(-1, 2)


def pairs_decided_by_hand(tx: Tx) -> list[int]:
    """The pairs of the grid whose standing decision a person made."""
    is_by_hand = adjudication.c.rule.in_([rule.value for rule in BY_HAND])
    query = select(adjudication.c.cell_id).where(
        cell_range(tx).holds(adjudication.c.cell_id), latest_rows.DECISION, is_by_hand
    )
    return list(tx.execute(query).scalars())


def n_by_person(tx: Tx, excluded: list[int]) -> dict[int, int]:
    """On how many pairs of the grid, without those `besides`, a decision by each person stands, by their id.

    It may have come by file.
    """
    own = adjudication.c.rule.in_((Rule.PERSON.value, Rule.IMPORTED.value)) & adjudication.c.person_id.is_not(None)
    query = select(adjudication.c.person_id, func.count()).where(own, latest_rows.DECISION)
    query = query.where(
        cell_range(tx).holds(adjudication.c.cell_id), adjudication.c.cell_id.not_in(sql_lists.as_subquery(excluded))
    )
    return {row[0]: row[1] for row in tx.execute(query.group_by(adjudication.c.person_id))}


def people_who_decided(tx: Tx) -> pd.DataFrame:
    """People who have ever decided or reopened a pair, each with the pair: `cell_id`, `person_id`."""
    columns = adjudication.c.cell_id, adjudication.c.person_id
    by_person = adjudication.c.person_id.is_not(None) & cell_range(tx).holds(adjudication.c.cell_id)
    return frame(tx, select(*columns).where(by_person).distinct())


def standing_decisions(tx: Tx) -> pd.DataFrame:
    """The standing decision of each pair with its place: `hs_id`, `cn_id`, `rule`, `code` (missing: discarded)."""
    query = (
        select(cell.c.row_id.label("hs_id"), cell.c.column_id.label("cn_id"), adjudication.c.rule, answer.c.code)
        .select_from(adjudication)
        .outerjoin(answer, answer.c.id == adjudication.c.answer_id)
        .join(cell, cell.c.id == adjudication.c.cell_id)
        .where(cell_range(tx).holds(adjudication.c.cell_id), latest_rows.DECISION)
        .order_by(adjudication.c.cell_id)
    )
    return frame(tx, query)
