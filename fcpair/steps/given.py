"""What was answered in a round, as a table with a column for each question."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fcpair.records import Round
from fcpair.stages.question import Form
from fcpair.steps.answers import form_of
from fcpair.steps.ground import OnGrid
from fcpair.store import Tx, cells, decisions, rounds
from fcpair.store.grids import number_of

if TYPE_CHECKING:
    import pandas as pd

ABOUT = ("seconds", "time", "note", "origin")


def export_answers(grid: OnGrid, name: str | None = None) -> pd.DataFrame:
    """Everybody's current answer in a round, by cell and person; without a name, in the round that counts.

    Columns: `cell` (its number in the grid), `row` and `column` (their texts), `by`, `skipped` (bool), one for each
    question (as people read the answer; empty for a skip), `seconds`, `time`, `note`, `origin`.

    Raises:
        UnknownIdError: no such round.
    """
    with grid.store.read() as tx:
        return _table(tx, rounds.counting(tx) if name is None else rounds.named(tx, name))


def _table(tx: Tx, of: Round) -> pd.DataFrame:
    forms = [form_of(rounds.form(tx, one)) for one in of.ids]
    given = decisions.values(tx, of)
    bodies = cells.texts_of_grid(tx).set_index("text_id")["body"]
    placed = given.join(cells.by_id(tx, given["cell_id"]).set_index("cell_id"), on="cell_id")
    names = {value: _named(forms, value) for value in given["value"].dropna().unique()}
    nothing = {question: "" for form in forms for question, _ in form.questions}
    table = placed.assign(
        cell=number_of(given["cell_id"]),
        row=placed["hs_id"].map(bodies),
        column=placed["cn_id"].map(bodies),
        by=given["annotator"],
        time=given["at"],
    )
    for question in nothing:
        table[question] = [names.get(value, nothing).get(question, "") for value in given["value"]]
    return table[["cell", "row", "column", "by", "skipped", *nothing, *ABOUT]]


def _named(forms: Sequence[Form], value: str) -> dict[str, str]:
    """An answer as people read it, question by question; a round that checks has another form where it is blind."""
    asked = set(json.loads(value))
    form = next(one for one in forms if {name for name, _ in one.questions} == asked)
    return form.names(form.load(value))
