"""Decisions as a table: export from a study, and the layout by which such a table is read again."""

from __future__ import annotations

from fcpair.errors import StageError
from fcpair.files.answers.answer_files import CELL_COLUMNS, PAIR_COLUMNS, CellColumns
from fcpair.files.tables.tabular import Source, read_table
from fcpair.lazy import pd
from fcpair.sentences import say
from fcpair.stages.questions import IRRECONCILABLE
from fcpair.steps.base.context import is_planned, need_labels, scheme_of
from fcpair.steps.base.grid_rows import ROW, ROW_NUMBER, rows_table
from fcpair.store import Tx
from fcpair.store.adjudication import adjudications
from fcpair.store.answers import judgements
from fcpair.store.corpus import cells, sides
from fcpair.store.corpus.grids import to_public_number
from fcpair.store.people import people

DECISION, LABEL, LABELS = "decision", "label", "labels"
DECISION_COLUMNS = (DECISION, "rule", "adjudicator", "answers", "agree", "note")
"""The columns of a decision: what it is, by which rule, by whom, how many answers the cell has, how many of them are
the same, and a note."""


def decisions_table(tx: Tx, name: str) -> pd.DataFrame:
    """The decisions that stand in the grid that a transaction is about, by cell.

    Columns: `pair`, `hs`, `cn`, or of a planned grid `cell`, `row`, `column` and whatever is known of the row; then
    those of `DECISION_COLUMNS`. What was discarded is `irreconcilable`; `adjudicator` is empty where nobody is named;
    skips are no answers.

    Raises:
        StageError: the answers of the grid are no labels, or nothing has been decided.
    """
    need_labels(tx, "export decisions")
    decisions = adjudications.current_adjudications(tx, standing=True)
    if decisions.empty:
        raise StageError(say("nothing has been decided yet; run `fcpair adjudicate`"))
    layout = CELL_COLUMNS if is_planned(tx) else PAIR_COLUMNS
    located = cells.by_id(tx, decisions["cell_id"]).set_index("cell_id").loc[decisions["cell_id"]]
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    table = decisions[[]].assign(**{layout.number: to_public_number(decisions["cell_id"])})
    for column, side in zip(layout.sides, ("hs_id", "cn_id"), strict=True):
        table[column] = located[side].map(bodies).to_numpy()
    row_metadata = (
        _row_metadata(tx, name).loc[located["hs_id"]].reset_index(drop=True)
        if layout is CELL_COLUMNS
        else decisions[[]]
    )
    question, names = scheme_of(tx), {one.id: one.name for one in people.people(tx)}
    answers = judgements.current_labels(tx, "cell_id", "code")
    decided_codes = decisions.set_index("cell_id")["code"]
    is_same = answers["code"] == answers["cell_id"].map(decided_codes)
    columns = (
        decisions["code"].map(question.name, na_action="ignore").fillna(IRRECONCILABLE),
        decisions["rule"],
        decisions["person_id"].map(names).fillna(""),
        *(
            decisions["cell_id"].map(part["cell_id"].value_counts()).fillna(0).astype("int64")
            for part in (answers, answers[is_same])
        ),
        decisions["note"].fillna(""),
    )
    return table.join(row_metadata).join(decisions[[]].assign(**dict(zip(DECISION_COLUMNS, columns, strict=True))))


def _row_metadata(tx: Tx, name: str) -> pd.DataFrame:
    """Metadata of each row, by the id of its text, without those named like a column of a decision."""
    reserved = {CELL_COLUMNS.number, *CELL_COLUMNS.sides, LABELS, *DECISION_COLUMNS, ROW, ROW_NUMBER}
    rows = rows_table(tx, name)
    rows.index = sides.text_ids(tx, "row", drawn=True)
    return rows[[column for column in rows.columns if column not in reserved]]


def layout_of(tx: Tx, path: Source) -> tuple[CellColumns, str]:
    """Layout of a file of decisions: how it names its cells, and which of its columns has what was decided.

    That is `label`, as in a sheet, or `decision`, as `decisions_table` has it: what is known of a row may be called
    `label`, too.
    """
    header = read_table(
        path, optional=[PAIR_COLUMNS.number, CELL_COLUMNS.number, *CELL_COLUMNS.sides, DECISION]
    ).columns
    by_cell = (
        is_planned(tx) and PAIR_COLUMNS.number not in header and {CELL_COLUMNS.number, *CELL_COLUMNS.sides} & {*header}
    )
    return (CELL_COLUMNS if by_cell else PAIR_COLUMNS), DECISION if DECISION in header else LABEL
