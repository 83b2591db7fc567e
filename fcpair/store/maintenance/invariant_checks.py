"""Whether the promises hold, as far as a study at rest can show: the rules on people, work, codes and the grid."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sqlalchemy import Table, exists, func, select

from fcpair.records import Origin, Role, Rule, Status
from fcpair.store.assignment import rounds
from fcpair.store.assignment.assignments import IS_TAKEN_BACK, OPTED_OUT, RELEASED
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import cell_range, pair_namer
from fcpair.store.database import latest_rows
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, answer, assignment, cell, judgement, person, round_, side, slot
from fcpair.store.maintenance.integrity_checks import CheckOutcome


def _n_rows(tx: Tx, table: Table) -> int:
    return int(tx.execute(select(func.count()).select_from(table)).scalar_one())


def checkers(tx: Tx) -> CheckOutcome:
    """Validators of a pair neither labelled nor decided it, and whoever decided it did not label it, in any round."""
    label = assignment.alias("label")
    labelled = (
        exists()
        .where(label.c.id == judgement.c.assignment_id, judgement.c.withdraws.is_(None))
        .where(label.c.round_id.in_(select(round_.c.id).where(round_.c.checks.is_(None))))
    )
    decided = adjudication.c.rule.in_((Rule.PERSON.value, Rule.IMPORTED.value))
    checks = (
        select(person.c.name, assignment.c.cell_id)
        .join(person, person.c.id == assignment.c.person_id)
        .where(rounds.CHECKING, ~IS_TAKEN_BACK)
    )
    decides = select(person.c.name, adjudication.c.cell_id).join(person, person.c.id == adjudication.c.person_id)
    of_check = (assignment.c.cell_id, assignment.c.person_id)
    of_decision = (adjudication.c.cell_id, adjudication.c.person_id)
    is_same_person = (of_decision[0] == of_check[0]) & (of_decision[1] == of_check[1])
    queries = (
        (
            "validates",
            "labelled",
            checks.where(labelled.where(label.c.cell_id == of_check[0], label.c.person_id == of_check[1])),
        ),
        ("validates", "decided", checks.where(exists().where(is_same_person, decided))),
        (
            "decided",
            "labelled",
            decides.where(
                decided, labelled.where(label.c.cell_id == of_decision[0], label.c.person_id == of_decision[1])
            ).distinct(),
        ),
    )
    name_pair = pair_namer(tx)
    faults = [
        f"`{name}` {does} {name_pair(cell_id)}, and {did} it too"
        for does, did, query in queries
        for name, cell_id in tx.execute(query)
    ]
    n_checks = select(func.count()).select_from(checks.subquery())
    n_decisions = select(func.count()).select_from(decides.where(decided).subquery())
    return CheckOutcome(sum(int(tx.execute(query).scalar_one()) for query in (n_checks, n_decisions)), faults)


def slots(tx: Tx) -> CheckOutcome:
    """Done assignments have an answer, skipped ones a skip, those open to label none, and nobody has what is free."""
    answered, skipped = (func.coalesce(value, False) for value in (~judgement.c.skipped, judgement.c.skipped))
    status = assignment.c.status
    label = rounds.COUNTING
    query = (
        select(person.c.name, assignment.c.cell_id, status)
        .select_from(assignment)
        .join(person, person.c.id == assignment.c.person_id)
        .outerjoin(judgement, latest_rows.ANSWER)
        .where(
            ((status == Status.DONE.value) & ~answered)
            | ((status == Status.SKIPPED.value) & ~skipped)
            | ((status == Status.OPEN.value) & label & answered)
            | status.not_in([*(value.value for value in Status), OPTED_OUT])
        )
        .order_by(assignment.c.id)
    )
    rows, name_pair = tx.execute(query), pair_namer(tx)
    later = assignment.alias("later")
    is_taken = exists().where(assignment.c.id == slot.c.replaces, status.not_in(RELEASED))
    has_successor = exists().where(later.c.replaces == slot.c.replaces)
    twice_held = tx.execute(select(slot.c.cell_id).where(is_taken | has_successor).order_by(slot.c.id)).scalars()
    faults = [
        f"{name_pair(value)} of `{name}` is {status}, but its answers say otherwise" for name, value, status in rows
    ]
    faults += [f"a slot of {name_pair(value)} is free for anybody, but somebody has it" for value in twice_held]
    return CheckOutcome(_n_rows(tx, assignment) + _n_rows(tx, slot), faults)


def codes(tx: Tx, possible: Sequence[int]) -> CheckOutcome:
    """Every answer is one of its round or a skip, which has none; every decision is one of the `possible`, or none."""
    assigned_round, answer_round = round_.alias("asked"), round_.alias("given")
    fits = exists().where(assigned_round.c.id == assignment.c.round_id, answer.c.id == judgement.c.answer_id)
    fits = fits.where(answer_round.c.id == answer.c.round_id, answer_round.c.grid_id == assigned_round.c.grid_id)
    fits = fits.where(answer_round.c.counts == assigned_round.c.counts)  # who answered blind may be asked in sight
    wrong = (
        (judgement.c.skipped != judgement.c.answer_id.is_(None))
        | (judgement.c.withdraws.is_not(None) & ~judgement.c.skipped)
        | (judgement.c.answer_id.is_not(None) & ~fits)
        | judgement.c.origin.not_in([member.value for member in Origin])
    )
    answers = select(judgement.c.id).join(assignment, assignment.c.id == judgement.c.assignment_id).where(wrong)
    unknown = adjudication.c.answer_id.not_in(possible) | adjudication.c.rule.not_in([member.value for member in Rule])
    decisions = select(adjudication.c.id).where(unknown)
    roles = select(person.c.name).where(person.c.role.not_in([member.value for member in Role]))
    faults = [
        *(f"answer {number} is not a possible one" for number in tx.execute(answers).scalars()),
        *(f"decision {number} is not a possible one" for number in tx.execute(decisions).scalars()),
        *(f"`{name}` has an unknown role" for name in tx.execute(roles).scalars()),
    ]
    return CheckOutcome(_n_rows(tx, judgement) + _n_rows(tx, adjudication), faults)


def consents(tx: Tx) -> CheckOutcome:
    """Nobody answered online who had not consented."""
    online = judgement.c.origin == Origin.ONLINE.value
    answers = (
        select(person.c.name, func.count().label("n"))
        .join(assignment, assignment.c.person_id == person.c.id)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .where(online, person.c.consented_at.is_(None))
        .group_by(person.c.name)
        .order_by(person.c.name)
    )
    n = int(tx.execute(select(func.count()).select_from(judgement).where(online)).scalar_one())
    return CheckOutcome(
        n, [f"`{name}` answered online ({times:,}) and never consented" for name, times in tx.execute(answers)]
    )


def whole_grid(tx: Tx, *, keep_known: bool) -> CheckOutcome:
    """The grid is the product of its sides less the pairs of the corpus, each under its number and so only once."""
    n_columns = len(sides.text_ids(tx, "column", drawn=True))
    rows, columns = cells.ranked_texts(tx, "row"), cells.ranked_texts(tx, "column")
    before = cell.c.id - cell_range(tx).first - 1
    misplaced = (
        select(cell.c.id)
        .outerjoin(rows, rows.c.at == before // max(n_columns, 1) + 1)
        .outerjoin(columns, columns.c.at == before % max(n_columns, 1) + 1)
        .where(cell_range(tx).holds(cell.c.id))
        .where(rows.c.text_id.is_distinct_from(cell.c.row_id) | columns.c.text_id.is_distinct_from(cell.c.column_id))
    )
    n = cells.n_cells(tx)
    name_pair = pair_namer(tx)
    faults = [f"{name_pair(one)} is not the one of its place in the grid" for one in tx.execute(misplaced).scalars()]
    n_known = 0 if keep_known else len(cells.corpus_pairs(tx))
    expected = len(sides.text_ids(tx, "row", drawn=True)) * n_columns - n_known
    if n and n != expected:
        faults.append(f"the grid has {n:,} pairs, where it should have {expected:,}")
    return CheckOutcome(n, faults)


def drawn_grid(tx: Tx, n_drawn: int, sha256: str, *, keep_known: bool) -> CheckOutcome:
    """The cells of a grid are those that were drawn, each at its place and so only once, and none is of the corpus."""
    grid_cells, name_pair = cells.cells(tx), pair_namer(tx)
    places, cell_id = cells.places_of(tx, grid_cells), grid_cells["cell_id"].to_numpy()
    corpus_places = cells.places_of(tx, cells.corpus_pairs(tx))[: 0 if keep_known else None]
    misplaced = (places < 0) | (np.diff(places, prepend=-1) <= 0)
    if cells.is_numbered_by_place(tx):
        misplaced |= cells.ids_at(tx, places) != cell_id
    of_corpus = np.isin(places, corpus_places)
    faults = [
        *(f"{name_pair(one)} is not the one of its place in the grid" for one in cell_id[misplaced].tolist()),
        *(f"{name_pair(one)} is in the corpus" for one in cell_id[of_corpus & ~misplaced].tolist()),
    ]
    if len(grid_cells) != n_drawn:
        faults.append(f"the grid has {len(grid_cells):,} pairs, where {n_drawn:,} were drawn")
    elif not faults and cells.digest(tx) != sha256:
        faults.append("the pairs of the grid are not those that were drawn")
    return CheckOutcome(len(grid_cells), faults)


def published_grid(tx: Tx) -> CheckOutcome:
    """Each pair of a grid that came from a file is one of the two sides, and there once."""
    rows, columns = (select(side.c.text_id).where(sides.on_side(tx, axis)) for axis in ("row", "column"))
    inside = cell_range(tx).holds(cell.c.id)
    outside = cell.c.row_id.not_in(rows) | cell.c.column_id.not_in(columns)
    second_ids = select(func.max(cell.c.id)).where(inside).group_by(cell.c.row_id, cell.c.column_id)
    lost = select(cell.c.id).where(inside, outside)
    name_pair = pair_namer(tx)
    faults = [
        *(f"{name_pair(one)} does not belong to the sides of the grid" for one in tx.execute(lost).scalars()),
        *(f"{name_pair(one)} is duplicated" for one in tx.execute(second_ids.having(func.count() > 1)).scalars()),
    ]
    return CheckOutcome(cells.n_cells(tx), faults)
