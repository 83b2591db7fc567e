"""Assignments: who has been given which pair, in which round, and what became of it; and work on known pairs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Subquery, bindparam, case, delete, func, literal_column, or_, select, update

from fcpair.lazy import NDArray, np, pd
from fcpair.records import Round, Status
from fcpair.store.assignment import rounds
from fcpair.store.corpus.cells import BODIES, TEXT_IDS, join_texts
from fcpair.store.corpus.grids import cell_range, current_grid_id
from fcpair.store.database import latest_rows, statements
from fcpair.store.database.statements import PreparedStatement, among, as_param, as_subquery, frame
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import answer, assignment, cell, judgement, person, round_, slot

OPTED_OUT = "opted_out"  # withdrawn from who opted out of its topic, so that it can come back; counted as withdrawn
TAKEN_BACK = (Status.WITHDRAWN.value, OPTED_OUT)
RELEASED = (Status.SKIPPED.value, *TAKEN_BACK)
IS_TAKEN_BACK = or_(*(assignment.c.status == status for status in TAKEN_BACK))
ACTIVE = (Status.DONE.value, Status.OPEN.value)  # what somebody has done and will do
_PAIR_AND_PERSON = assignment.c["cell_id", "person_id"]


def add_assignments(tx: Tx, assignments: pd.DataFrame, of: Round) -> None:
    """Give out pairs: `cell_id`, `person_id`, `position`, `status`; `replaces` of a slot; `blind` of a verdict."""
    round_id = np.asarray(of.ids)[assignments["blind"].astype(int) if "blind" in assignments.columns else 0]
    statements.insert_rows(
        tx, assignment, statements.records(assignments.drop(columns="blind", errors="ignore").assign(round_id=round_id))
    )


def assignments(tx: Tx, of: Round) -> pd.DataFrame:
    """All assignments of a round: `id`, `cell_id`, `person_id`, `position`, `status`, `blind`, `hs_id`, `cn_id`."""
    columns = assignment.c["id", "cell_id", "person_id", "position", "status"]
    query = select(*columns, round_.c.blind, *TEXT_IDS).select_from(latest_rows.joined(assignment, cell, round_))
    return frame(tx, query.where(rounds.in_round(of)).order_by(assignment.c.id)).astype({"blind": bool})


def open_work(tx: Tx, of: Round) -> pd.DataFrame:
    """Open work of people, shard by shard in its order: `id`, `annotator` (pseudonym), `position`, `cell_id`, `blind`,
    `hs_id`, `cn_id`, `hs`, `cn`.
    """
    name, place = person.c.name.label("annotator"), assignment.c["position", "cell_id"]
    columns = (assignment.c.id, name, *place, round_.c.blind, *TEXT_IDS, *BODIES)
    query = select(*columns).select_from(latest_rows.joined(assignment, person, round_))
    query = join_texts(query, assignment.c.cell_id).where(rounds.in_round(of), assignment.c.status == Status.OPEN.value)
    return frame(tx, query.order_by(person.c.id, assignment.c.position)).astype({"blind": bool})


def ever_assigned(
    tx: Tx, of: Round, person_ids: Sequence[int], cell_ids: Sequence[int] | None = None, *, answered: bool = False
) -> NDArray[np.int64]:
    """Cells, or those of these, that these people were ever assigned in a round, or `answered`, with the person."""
    is_meant = among(assignment.c.person_id, person_ids) & among(assignment.c.cell_id, cell_ids)
    if answered:
        is_meant &= assignment.c.status.in_((Status.DONE.value, Status.SKIPPED.value))
    rows = tx.execute(select(*_PAIR_AND_PERSON).where(rounds.in_round(of), is_meant))
    return np.array([tuple(row) for row in rows], np.int64).reshape(-1, 2)


def assigned_cells(tx: Tx, of: Round) -> list[int]:
    """The cells that anybody was ever given in a round, in order."""
    query = select(assignment.c.cell_id).where(rounds.in_round(of)).distinct().order_by(assignment.c.cell_id)
    return list(tx.scalars(query))


def first_assigned(tx: Tx, of: Round) -> pd.DataFrame:
    """First assignments of a round, before any was reassigned: `cell_id`, `person_id`."""
    return frame(tx, select(*_PAIR_AND_PERSON).where(rounds.in_round(of), assignment.c.replaces.is_(None)))


def further_work(tx: Tx, of: Round, cell_ids: Sequence[int]) -> tuple[dict[int, int], dict[int, int]]:
    """How much of these cells is open in a round, to somebody or to whoever asks, and how many labels a standing rule
    asked for because somebody was not sure; by cell, where there is any.
    """
    inside = assignment.c.cell_id.in_(as_subquery(cell_ids))
    count_ = func.count().label("n")
    query = select(assignment.c.cell_id, count_).where(rounds.in_round(of), inside).group_by(assignment.c.cell_id)
    free = select(slot.c.cell_id, count_).where(slot.c.round_id.in_(of.ids), slot.c.cell_id.in_(as_subquery(cell_ids)))
    n_open = Counter({row.cell_id: row.n for row in tx.execute(query.where(assignment.c.status == Status.OPEN.value))})
    n_open.update({row.cell_id: row.n for row in tx.execute(free.group_by(slot.c.cell_id))})
    asked = tx.execute(query.where(assignment.c.because == "not_sure"))
    return n_open, {row.cell_id: row.n for row in asked}


def released_ids(tx: Tx, ids: list[int]) -> list[int]:
    """Those of these assignments that were skipped or withdrawn."""
    query = select(assignment.c.id).where(assignment.c.id.in_(as_subquery(ids)), assignment.c.status.in_(RELEASED))
    return list(tx.scalars(query.order_by(assignment.c.id)))


def set_status(tx: Tx, ids: list[int], status: Status) -> None:
    """Note what became of assignments."""
    tx.execute(update(assignment).where(assignment.c.id.in_(as_subquery(ids))).values(status=status.value))


def reopen_checks(tx: Tx, ids: list[int], *, blind: bool) -> None:
    """Open assignments of validators again, who see the label this time or do not."""
    change = update(assignment).where(assignment.c.id.in_(as_subquery(ids)))
    tx.execute(change.values(status=Status.OPEN.value, round_id=rounds.validation(tx).ids[blind]))


def blind_kinds(tx: Tx, person_id: int | None = None) -> set[bool]:
    """Return whether what was assigned to validators, or one of them, is blind: one of both, both, or neither."""
    query = select(round_.c.blind).join(assignment, assignment.c.round_id == round_.c.id).distinct()
    query = query.where(round_.c.checks.is_not(None), round_.c.grid_id == current_grid_id(tx))
    return set(tx.scalars(query if person_id is None else query.where(assignment.c.person_id == person_id)))


def withdraw_open(tx: Tx, person_id: int, n: int | None = None) -> int:
    """Take back a person's open work, or the `n` pairs that they would come to last; returns how much it was."""
    open_: ColumnElement[bool] = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    if n is not None:
        last = select(assignment.c.id).where(open_).order_by(assignment.c.position.desc(), assignment.c.id.desc())
        open_ = assignment.c.id.in_(as_subquery(list(tx.scalars(last.limit(n)))))
    return tx.execute(update(assignment).where(open_).values(status=Status.WITHDRAWN.value, until=None)).rowcount


_LAST = PreparedStatement(
    select(assignment.c.person_id, func.max(assignment.c.position).label("last"))
    .where(rounds.ROUND_PARAM, assignment.c.person_id.in_(statements.param_subquery("people")))
    .group_by(assignment.c.person_id)
)


def last_positions(tx: Tx, of: Round, person_ids: list[int]) -> dict[int, int]:
    """The last position of the shards of these people, as far as they have one."""
    return {row.person_id: row.last for row in _LAST.all(tx, rounds=as_param(of.ids), people=as_param(person_ids))}


Counts = dict[str, dict[int, dict[str, int]]]  # numbers of assignments in a grid: by round, person and status


def counts_of_all_grids(tx: Tx, *conditions: ColumnElement[bool]) -> dict[int, Counts]:
    """Count the assignments, by grid, or in rounds that meet conditions; those of known pairs are left out."""
    counts: dict[int, Counts] = {}
    rows = tx.execute(_COUNTED.where(*conditions, round_.c.id.not_in(rounds.known_ids(tx))))
    for grid_id, name, person_id, status, n in rows:
        counts.setdefault(grid_id, {}).setdefault(name, {}).setdefault(person_id, {})[status] = int(n)
    return counts


def counts_of_grid(tx: Tx) -> Counts:
    """Count the assignments in the grid."""
    grid_id = current_grid_id(tx)
    return counts_of_all_grids(tx, round_.c.grid_id == grid_id).get(grid_id, {})


def sum_of_round(counts: Counts, of: Round) -> Counter[str]:
    """The sum of what everybody has in a round, by status."""
    return sum(map(Counter, counts.get(of.name, {}).values()), Counter())


def sums_of_people(counts_by_grid: Mapping[int, Counts]) -> dict[int, Counter[str]]:
    """The sum of what each person has in all rounds of all grids, by status."""
    sums: dict[int, Counter[str]] = defaultdict(Counter)
    for by_person in chain.from_iterable(counts.values() for counts in counts_by_grid.values()):
        for person_id, by_status in by_person.items():
            sums[person_id].update(by_status)
    return sums


def _counted_as(status: ColumnElement[str]) -> ColumnElement[str]:
    # Not by parameters: PostgreSQL would not see that what is selected is what is grouped by.
    opted_out: ColumnElement[str] = literal_column(f"'{OPTED_OUT}'")
    withdrawn: ColumnElement[str] = literal_column(f"'{Status.WITHDRAWN.value}'")
    return case((status == opted_out, withdrawn), else_=status).label("status")


# They are counted in the order of an index, and only then named by their rounds.
_key = assignment.c["person_id", "round_id", "status"]
_per_person = select(*_key, func.count().label("n")).group_by(*_key).subquery()
_counted = (round_.c.grid_id, rounds.NAME.label("round"), _per_person.c.person_id, _counted_as(_per_person.c.status))
_with_rounds = _per_person.join(round_, round_.c.id == _per_person.c.round_id)
_sums = select(*_counted, func.sum(_per_person.c.n).label("n")).select_from(_with_rounds)
_COUNTED = _sums.group_by(*_counted).order_by(*_counted)


def work_counts(tx: Tx, of: Round) -> Sequence[Any]:
    """Count the assignments of a round that are alike, `n`: by `person_id`, `status`, `blind`, and of the current
    answer `origin`, `run_id` (None: from a page) and `skipped`, all None if there is none.
    """
    key = (*assignment.c["person_id", "status"], round_.c.blind, *judgement.c["origin", "run_id", "skipped"])
    work = latest_rows.joined(assignment, round_).outerjoin(judgement, latest_rows.ANSWER)
    query = select(*key, func.count().label("n")).select_from(work).where(rounds.in_round(of))
    return tx.execute(query.group_by(*key).order_by(*key)).all()


def n_active_cells(tx: Tx, of: Round) -> int:
    """Count the cells of a round that somebody has done or has open."""
    active = select(assignment.c.cell_id).where(rounds.in_round(of), assignment.c.status.in_(ACTIVE))
    return statements.count(tx, active.distinct().subquery())


def n_by_status(tx: Tx, of: Round) -> dict[str, int]:
    """Count the assignments of a round by status; empty where it was not assigned."""
    status = _counted_as(assignment.c.status)
    return dict(tx.execute(select(status, func.count()).where(rounds.in_round(of)).group_by(status)).all())


def n_open_by_person(tx: Tx, of: Round) -> list[tuple[str, int]]:
    """Count the open assignments of each person in a round, by name, in the order in which people came."""
    query = select(person.c.name, func.count()).join(assignment, assignment.c.person_id == person.c.id)
    query = query.where(rounds.in_round(of), assignment.c.status == Status.OPEN.value)
    return list(tx.execute(query.group_by(person.c.id).order_by(person.c.id)))


def labels_per_pair(tx: Tx) -> dict[int, int]:
    """Count the pairs by how many annotators they were or are to be assigned to, not counting work that lapsed."""
    slots = _label_slots(tx)
    n = select(func.count().label("n")).select_from(slots).group_by(slots.c.cell_id).subquery().c.n
    return {row[0]: row[1] for row in tx.execute(select(n, func.count()).group_by(n).order_by(n))}


def overlap_per_text(tx: Tx) -> tuple[list[int], list[int]]:
    """Count the pairs with two annotators or more, as `labels_per_pair` has them, of each HS and CN that has some."""
    slots = _label_slots(tx)
    several = select(slots.c.cell_id).group_by(slots.c.cell_id).having(func.count() > 1).subquery()
    n = select(func.count()).select_from(several.join(cell, cell.c.id == several.c.cell_id))
    of_rows, of_columns = (n.group_by(column).order_by(column) for column in cell.c["row_id", "column_id"])
    return list(tx.scalars(of_rows)), list(tx.scalars(of_columns))


def _label_slots(tx: Tx) -> Subquery:
    label = rounds.primary(tx)
    labelling = select(assignment.c.cell_id).where(rounds.in_round(label), assignment.c.status.not_in(RELEASED))
    return labelling.union_all(select(slot.c.cell_id).where(slot.c.round_id.in_(label.ids))).subquery()


def clear_assignments(tx: Tx, of: Round) -> None:
    """Forget a round that nobody has answered in."""
    tx.execute(delete(slot).where(slot.c.round_id.in_(of.ids)))
    tx.execute(update(assignment).where(rounds.in_round(of)).values(replaces=None))
    tx.execute(delete(assignment).where(rounds.in_round(of)))


class KnownAnswer(NamedTuple):
    """Assignment of a known pair; `code` is that of the current answer, None if there is none or a skip."""

    person_id: int
    cell_id: int
    row_id: int
    column_id: int
    status: str
    code: int | None


_KNOWN_ANSWERS = (
    select(assignment.c.person_id, *cell.c["id", "row_id", "column_id"], assignment.c.status, rounds.reading("code"))
    .join(cell, cell.c.id == assignment.c.cell_id)
    .outerjoin(judgement, judgement.c.id == assignment.c.judgement_id)
    .outerjoin(answer, answer.c.id == judgement.c.answer_id)
    .where(rounds.ROUND_PARAM, ~IS_TAKEN_BACK)
    .order_by(assignment.c.id)
)
_ALL_KNOWN = PreparedStatement(_KNOWN_ANSWERS)
_KNOWN_OF_PERSON = PreparedStatement(_KNOWN_ANSWERS.where(assignment.c.person_id == bindparam("person")))


def known_answers(tx: Tx, of: Round, person_id: int | None = None) -> list[KnownAnswer]:
    """Answers that people have, or one person has, in a round of known pairs, withdrawn ones left out."""
    params = {"rounds": as_param(of.ids)}
    rows = _ALL_KNOWN.all(tx, **params) if person_id is None else _KNOWN_OF_PERSON.all(tx, person=person_id, **params)
    return [KnownAnswer(*row) for row in rows]


def known_cell_ids(tx: Tx, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """The id of the cell of each pair of texts that the grid has."""
    has_row, wanted = cell.c.row_id.in_(as_subquery(sorted({row_id for row_id, _ in pairs}))), set(pairs)
    rows = tx.execute(select(*cell.c["id", "row_id", "column_id"]).where(cell_range(tx).holds(cell.c.id), has_row))
    return {(row.row_id, row.column_id): row.id for row in rows if (row.row_id, row.column_id) in wanted}


def open_places(tx: Tx, of: Round, person_id: int) -> Sequence[Any]:
    """Open places of a person in a round, in its order: `id`, `position` and `row_id`, the text of its row."""
    query = select(assignment.c.id, assignment.c.position, cell.c.row_id).join(cell, cell.c.id == assignment.c.cell_id)
    own = (assignment.c.person_id == person_id) & (assignment.c.status == Status.OPEN.value)
    return tx.execute(query.where(rounds.in_round(of), own).order_by(*assignment.c["position", "id"])).all()


def set_positions(tx: Tx, positions: Mapping[int, int]) -> None:
    """Put assignments in other places of their shards."""
    if positions:
        change = update(assignment).where(assignment.c.id == bindparam("one")).values(position=bindparam("new"))
        tx.execute(change, [{"one": one, "new": new} for one, new in positions.items()])


def n_active_by_person(tx: Tx, of: Round) -> dict[int, int]:
    """Count what each person has done and has open in a round."""
    active = select(assignment.c.person_id, func.count()).where(rounds.in_round(of), assignment.c.status.in_(ACTIVE))
    return dict(tx.execute(active.group_by(assignment.c.person_id)).all())


def merge_doubled(tx: Tx, known: Round, main: Round) -> None:
    """Make known pairs that people have open part of their shard, if it has them too: nothing tells which are known."""
    own = assignment.alias("own")
    is_same = (own.c.cell_id == assignment.c.cell_id) & (own.c.person_id == assignment.c.person_id)
    is_open = (own.c.status == Status.OPEN.value) & (assignment.c.status == Status.OPEN.value)
    doubled = select(assignment.c.id, own.c.id.label("own_id"), own.c.round_id, own.c.replaces).join(own, is_same)
    for row in tx.execute(doubled.where(rounds.in_round(known), own.c.round_id.in_(main.ids), is_open)).all():
        tx.execute(delete(assignment).where(assignment.c.id == row.own_id))
        values = {"round_id": row.round_id, "replaces": row.replaces}
        tx.execute(update(assignment).where(assignment.c.id == row.id).values(values))


def known_faults(tx: Tx, known: Round, main: Round, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, str]]:
    """Cells that somebody has both as a known pair and in their shard (both), or that are no known pairs (unknown)."""
    given = select(*_PAIR_AND_PERSON, *cell.c["row_id", "column_id"]).join(cell, cell.c.id == assignment.c.cell_id)
    rows = list(tx.execute(given.where(rounds.in_round(known), ~IS_TAKEN_BACK)))
    own = select(*_PAIR_AND_PERSON).where(rounds.in_round(main), ~IS_TAKEN_BACK)
    ids = as_subquery(sorted({row.cell_id for row in rows}))
    doubled, known_pairs = set(tx.execute(own.where(assignment.c.cell_id.in_(ids)))), set(pairs)
    return [
        *((row.cell_id, "both") for row in rows if tuple(row[:2]) in doubled),
        *((row.cell_id, "unknown") for row in rows if tuple(row[2:]) not in known_pairs),
    ]
