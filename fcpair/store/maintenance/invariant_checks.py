"""Whether the promises hold, as far as a study at rest can show: the rules on people, work, codes and the grid.

A rule is a statement that finds the rows which break it, and what each of these means. Statements are of the whole
study, and every database reads them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from sqlalchemy import func, select
from sqlalchemy import text as sql

from fcpair.records import Origin, Role, Rule, Status
from fcpair.store.assignment.assignments import OPTED_OUT, RELEASED, TAKEN_BACK
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import cell_range, pair_namer
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import cell, side
from fcpair.store.maintenance.integrity_checks import CheckOutcome


class Invariant(NamedTuple):
    """What a row means that breaks a rule, by its columns, and the rows that do; the column `pair` is a cell's id."""

    means: str
    rows: str


def check(tx: Tx, about: Iterable[str], invariants: Iterable[Invariant]) -> CheckOutcome:
    """Hold rows against rules; `about` has what is counted of them, as a statement has it after FROM."""
    name_pair, faults = pair_namer(tx), list[str]()
    for means, rows in invariants:
        for row in tx.execute(sql(rows)).mappings():
            pair = {"pair": name_pair(row["pair"])} if "pair" in row else {}
            faults.append(means.format(**{**row, **pair}))
    return CheckOutcome(sum(tx.execute(sql(f"SELECT count(*) FROM {one}")).scalar_one() for one in about), faults)


def _listed(values: Iterable[str | int]) -> str:
    """A list in a statement: of words that are fcpair's own, or of numbers."""
    return f"({', '.join(repr(one.value if isinstance(one, StrEnum) else one) for one in values)})"


_CHECKS = f"""assignment AS a JOIN person AS p ON p.id = a.person_id JOIN round AS r ON r.id = a.round_id
WHERE r.checks IS NOT NULL AND a.status NOT IN {_listed(TAKEN_BACK)}"""
_BY_HAND = _listed((Rule.PERSON, Rule.IMPORTED))
_DECISIONS = f"adjudication AS a JOIN person AS p ON p.id = a.person_id WHERE a.rule IN {_BY_HAND}"
_LABELLED = """EXISTS (SELECT 1 FROM assignment AS l JOIN judgement AS j ON j.assignment_id = l.id
JOIN round AS o ON o.id = l.round_id
WHERE l.cell_id = a.cell_id AND l.person_id = a.person_id AND j.withdraws IS NULL AND o.checks IS NULL)"""
_DECIDED = f"""EXISTS (SELECT 1 FROM adjudication AS d
WHERE d.cell_id = a.cell_id AND d.person_id = a.person_id AND d.rule IN {_BY_HAND})"""
ROLES = (
    Invariant(
        "`{name}` validates {pair}, and labelled it too",
        f"SELECT p.name, a.cell_id AS pair FROM {_CHECKS} AND {_LABELLED}",
    ),
    Invariant(
        "`{name}` validates {pair}, and decided it too",
        f"SELECT p.name, a.cell_id AS pair FROM {_CHECKS} AND {_DECIDED}",
    ),
    Invariant(
        "`{name}` decided {pair}, and labelled it too",
        f"SELECT DISTINCT p.name, a.cell_id AS pair FROM {_DECISIONS} AND {_LABELLED}",
    ),
)
WORK = (
    Invariant(
        "{pair} of `{name}` is {status}, but its answers say otherwise",
        f"""SELECT p.name, a.cell_id AS pair, a.status FROM assignment AS a
        JOIN person AS p ON p.id = a.person_id JOIN round AS r ON r.id = a.round_id
        LEFT JOIN judgement AS j ON j.id = a.judgement_id AND j.withdraws IS NULL
        WHERE a.status = 'done' AND coalesce(j.skipped, true) OR a.status = 'skipped' AND NOT coalesce(j.skipped, false)
        OR a.status = 'open' AND r.counts AND NOT coalesce(j.skipped, true)
        OR a.status NOT IN {_listed((*Status, OPTED_OUT))} ORDER BY a.id""",
    ),
    Invariant(
        "a slot of {pair} is free for anybody, but somebody has it",
        f"""SELECT s.cell_id AS pair FROM slot AS s
        WHERE EXISTS (SELECT 1 FROM assignment AS a WHERE a.id = s.replaces AND a.status NOT IN {_listed(RELEASED)})
        OR EXISTS (SELECT 1 FROM assignment AS a WHERE a.replaces = s.replaces) ORDER BY s.id""",
    ),
)
# Who answered blind may be asked in sight: both rounds are of one grid, and both count or neither.
CODES = (
    Invariant(
        "answer {id} is not a possible one",
        f"""SELECT j.id FROM judgement AS j JOIN assignment AS a ON a.id = j.assignment_id
        LEFT JOIN round AS asked ON asked.id = a.round_id LEFT JOIN answer AS w ON w.id = j.answer_id
        LEFT JOIN round AS given ON given.id = w.round_id AND given.grid_id = asked.grid_id
        AND given.counts = asked.counts
        WHERE j.skipped <> (j.answer_id IS NULL) OR j.withdraws IS NOT NULL AND NOT j.skipped
        OR j.answer_id IS NOT NULL AND given.id IS NULL OR j.origin NOT IN {_listed(Origin)}""",
    ),
    Invariant("`{name}` has an unknown role", f"SELECT name FROM person WHERE role NOT IN {_listed(Role)}"),
)
CONSENT = (
    Invariant(
        "`{name}` answered online ({times:,}) and never consented",
        """SELECT p.name, count(*) AS times FROM person AS p JOIN assignment AS a ON a.person_id = p.id
        JOIN judgement AS j ON j.assignment_id = a.id
        WHERE j.origin = 'online' AND p.consented_at IS NULL GROUP BY p.name ORDER BY p.name""",
    ),
)


def checkers(tx: Tx) -> CheckOutcome:
    """Validators of a pair neither labelled nor decided it, and whoever decided it did not label it, in any round."""
    return check(tx, (_CHECKS, _DECISIONS), ROLES)


def slots(tx: Tx) -> CheckOutcome:
    """Done assignments have an answer, skipped ones a skip, those open to label none, and nobody has what is free."""
    return check(tx, ("assignment", "slot"), WORK)


def codes(tx: Tx, possible: Sequence[int]) -> CheckOutcome:
    """Every answer is one of its round or a skip, which has none; every decision is one of the `possible`, or none."""
    decisions = f"answer_id NOT IN {_listed((-1, *possible))} OR rule NOT IN {_listed(Rule)}"
    decided = Invariant("decision {id} is not a possible one", f"SELECT id FROM adjudication WHERE {decisions}")
    return check(tx, ("judgement", "adjudication"), (CODES[0], decided, CODES[1]))


def consents(tx: Tx) -> CheckOutcome:
    """Nobody answered online who had not consented."""
    return check(tx, ("judgement WHERE origin = 'online'",), CONSENT)


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
