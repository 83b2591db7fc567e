"""Log that the study's lead watches: every act of every person, and how often a slow figure of them was made."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import Row, bindparam, exists, func, select, update
from sqlalchemy import text as sql

from fcpair.records import Rule
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.corpus.cells import BODIES, join_texts
from fcpair.store.database import backends, latest_rows
from fcpair.store.database.statements import PreparedStatement
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import adjudication, assignment, cell, judgement, person, run, shown_figure

ChangeMarks = tuple[int, int, int]


class Decision(NamedTuple):
    """One decision that somebody made or took back."""

    person_id: int
    cell_id: int
    hs_id: int
    rule: str
    at: str


def change_marks(tx: Tx) -> ChangeMarks:
    """The newest judgement, adjudication and run (0: none); while they stay the same, so does what rests on them."""
    ids = (latest_rows.select_newest_id(table).scalar_subquery() for table in (judgement, adjudication, run))
    judgement_id, adjudication_id, run_id = tx.execute(select(*ids)).one()
    return judgement_id, adjudication_id, run_id


def newest_act_times(tx: Tx) -> dict[int, str]:
    """Time of each person's newest answer on the pages, or decision, by their id."""
    own_answers = select(func.max(assignment.c.answered_at)).where(assignment.c.person_id == person.c.id)
    own_decisions = select(func.max(adjudication.c.at)).where(adjudication.c.person_id == person.c.id)
    own_decisions = own_decisions.where(adjudication.c.rule.in_((Rule.PERSON.value, Rule.REOPENED.value)))
    newest = (log.correlate(person).scalar_subquery() for log in (own_answers, own_decisions))
    return {row[0]: max(filter(None, row[1:])) for row in tx.execute(select(person.c.id, *newest)) if any(row[1:])}


def decisions_by_people(tx: Tx) -> list[Decision]:
    """Every decision that somebody made or took back, oldest first; one that stands again was made once."""
    columns = (*adjudication.c["person_id", "cell_id"], cell.c.row_id, *adjudication.c["rule", "at"])
    query = select(*columns).join(cell, cell.c.id == adjudication.c.cell_id)
    query = query.where(adjudication.c.person_id.is_not(None)).group_by(*columns)
    return [Decision(*row) for row in tx.execute(query.order_by(func.min(adjudication.c.id)))]


def flagged_decisions(tx: Tx) -> Sequence[Row[Any]]:
    """Every decision of the grid that was flagged because the guidelines should say more, newest first: `cell_id`,
    `rule`, `code` (None: discarded), `by` (None: no person), `note`, `at`, `stands` (it is the newest), `hs`, `cn`.
    """
    twin = adjudication.alias("twin")
    same = (twin.c[name] == adjudication.c[name] for name in ("cell_id", "person_id", "at", "flagged"))
    stands_again = exists().where(*same, twin.c.id > adjudication.c.id)
    code, by = rounds.code_of(adjudication).label("code"), person.c.name.label("by")
    stands, decision = latest_rows.DECISION.label("stands"), adjudication.c["cell_id", "rule", "note", "at"]
    query = join_texts(select(*decision, code, by, stands, *BODIES), adjudication.c.cell_id)
    query = query.outerjoin(person, person.c.id == adjudication.c.person_id)
    query = query.where(adjudication.c.flagged, ~stands_again, grids.cell_range(tx).holds(adjudication.c.cell_id))
    return tx.execute(query.order_by(adjudication.c.id.desc())).all()


_IS_FIGURE = (shown_figure.c.grid_id == bindparam("grid")) & (shown_figure.c.name == bindparam("figure"))
_N = PreparedStatement(select(shown_figure.c.n).where(_IS_FIGURE))
_FIRST = PreparedStatement(
    sql("INSERT INTO shown (grid_id, name, n) VALUES (:grid, :figure, 1) ON CONFLICT DO NOTHING")
)
_NEXT = PreparedStatement(
    update(shown_figure).where(_IS_FIGURE, shown_figure.c.n == bindparam("before")).values(n=shown_figure.c.n + 1)
)


def is_counted(tx: Tx) -> bool:
    """Return whether it is counted how often figures were made: a file has one server."""
    return backends.backend_of(tx).MANY_WRITE


def n_made(tx: Tx, figure: str) -> int:
    """Number of times that a figure of the grid was made; 0 where it never was, or never took long."""
    row = _N.first(tx, grid=grids.current_grid_id(tx), figure=figure)
    return row.n if row else 0


def record_made(tx: Tx, figure: str, before: int) -> bool:
    """Note that a figure was made once more; False, and nothing is noted, where somebody else has done so meanwhile."""
    statement, params = (_NEXT, {"before": before}) if before else (_FIRST, {})
    return bool(statement.execute(tx, grid=grids.current_grid_id(tx), figure=figure, **params).rowcount)
