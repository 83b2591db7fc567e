"""What was decided, as a table: out of a study, and how such a table is read again."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import StageError
from fcpair.files.answers.answer_files import CELL, PAIR, Keyed
from fcpair.files.tables.tabular import read_table
from fcpair.records import Rule
from fcpair.stages.questions import IRRECONCILABLE
from fcpair.steps.base.context import is_planned, need_labels, scheme_of
from fcpair.steps.base.grid_rows import ROW, ROW_NUMBER, rows_table
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import number_of
from fcpair.store.people import people

if TYPE_CHECKING:
    import pandas as pd

DECISION, LABEL, LABELS = "decision", "label", "labels"
SAID = (DECISION, "rule", "adjudicator", "answers", "agree", "note")
"""The columns of a decision: what it is, by which rule, by whom, how many answers the cell has, how many of them are
the same, and a note."""


def decisions_table(tx: Tx, name: str) -> pd.DataFrame:
    """The decisions that stand in the grid that a transaction is about, by cell.

    Columns: `pair`, `hs`, `cn`, or of a planned grid `cell`, `row`, `column` and whatever is known of the row; then
    those of `SAID`. What was discarded is `irreconcilable`; `adjudicator` is empty where nobody is named; skips are no
    answers.

    Raises:
        StageError: the answers of the grid are no labels, or nothing has been decided.
    """
    need_labels(tx, "export decisions")
    standing = judgements.current_adjudications(tx)
    standing = standing[standing["rule"] != Rule.REOPENED.value].reset_index(drop=True)
    if standing.empty:
        raise StageError("nothing has been decided yet; run `fcpair adjudicate`")
    of = CELL if is_planned(tx) else PAIR
    where = cells.by_id(tx, standing["cell_id"]).set_index("cell_id").loc[standing["cell_id"]]
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    table = standing[[]].assign(**{of.number: number_of(standing["cell_id"])})
    for column, side in zip(of.sides, ("hs_id", "cn_id"), strict=True):
        table[column] = where[side].map(bodies).to_numpy()
    about = _known_of_rows(tx, name).loc[where["hs_id"]].reset_index(drop=True) if of is CELL else standing[[]]
    return table.join(about).join(_said(tx, standing))


def _known_of_rows(tx: Tx, name: str) -> pd.DataFrame:
    """What is known of each row, by the id of its text; without what is called as a column of a decision is."""
    taken = {CELL.number, *CELL.sides, LABELS, *SAID, ROW, ROW_NUMBER}
    rows = rows_table(tx, name)
    rows.index = sides.texts(tx, "row", drawn=True)
    return rows[[column for column in rows.columns if column not in taken]]


def _said(tx: Tx, standing: pd.DataFrame) -> pd.DataFrame:
    """The columns of `SAID` of each decision."""
    question, names = scheme_of(tx), {one.id: one.name for one in people.people(tx)}
    given = judgements.all_answers(tx, rounds.counting(tx))
    given = given[~given["skipped"].astype(bool)]
    final = standing.set_index("cell_id")["code"]
    same = given["code"] == given["cell_id"].map(final)
    columns = (
        standing["code"].map(question.name, na_action="ignore").fillna(IRRECONCILABLE),
        standing["rule"],
        standing["person_id"].map(names).fillna(""),
        *(_n_each(part, standing) for part in (given, given[same])),
        standing["note"].fillna(""),
    )
    return standing[[]].assign(**dict(zip(SAID, columns, strict=True)))


def _n_each(given: pd.DataFrame, standing: pd.DataFrame) -> pd.Series[int]:
    return standing["cell_id"].map(given["cell_id"].value_counts()).fillna(0).astype("int64")


def layout_of(tx: Tx, path: str | Path) -> tuple[Keyed, str]:
    """How a file of decisions names its cells, and which of its columns has what was decided.

    That is `label`, as in a sheet, or `decision`, as `decisions_table` has it: what is known of a row may be called
    `label`, too.
    """
    header = read_table(path, known=[PAIR.number, CELL.number, *CELL.sides, DECISION]).columns
    by_cell = is_planned(tx) and PAIR.number not in header and {CELL.number, *CELL.sides} & {*header}
    return (CELL if by_cell else PAIR), DECISION if DECISION in header else LABEL
