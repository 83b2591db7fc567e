"""A study with a grid for each kind of form, dealt by hand.

Wren writes, ana curates what wren wrote, rae rates, rob says what is in a reply. Each has all cells of their round, in
their order; the rows are mild, and one is Persian.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from fcpair.params import Setup
from fcpair.records import Role, Round, Status
from fcpair.round_options import RoundOptions
from fcpair.stages.corpus.text_identity import digest
from fcpair.steps.base.answer_values import add_round as add_to
from fcpair.steps.base.answer_values import form_of
from fcpair.steps.base.context import find_grid
from fcpair.store import Tx
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import cells, grids, sides, texts
from fcpair.study import Study

PEOPLE = {"wren": Role.WRITER, "ana": Role.ANNOTATOR, "rae": Role.RATER, "rob": Role.RESPONDENT}
PERSIAN = "کسانی که چای را با قند می‌خورند هیچ‌وقت طعم واقعی چای را نمی‌فهمند."
ROWS = ("Cyclists think the whole road was built for them.", PERSIAN, "Night owls are too lazy to get up.")
GATED = (
    "unkind: one_of(yes,no); text: text(min_words=6) when unkind=yes; "
    "types: any_of(facts,humour,question,always=column) when unkind=yes"
)
WRITE = "text: text(min_words=6); types: any_of(facts,humour,question)"
EDIT = "text: edit(min_words=4)"
RATE = "rating: scale(1,5,0.5,positive=4)"
TYPES = "types: any_of(facts,humour,question,min=1,max=2)"


def build(folder: Path) -> Path:
    """Make the study: the grids `write` (rounds `write` and `curate`), `rate` and `types`."""
    with closing(Study.create(folder / "forms.db", Setup(title="Forms"))) as study:
        for name, role in PEOPLE.items():
            study.add_people([name], role)
        add_grid(study, "write", ("facts", "humour"))
        add_round(study, "write", "write", "wren", WRITE, counts=True)
        add_round(study, "write", "curate", "ana", EDIT, edits="write")
        add_grid(study, "rate", ("fluent", "specific", "respectful"))
        add_round(study, "rate", "rate", "rae", RATE, counts=True, screen="row")
        add_grid(study, "types", ("reply",))
        add_round(study, "types", "types", "rob", TYPES, counts=True)
        return Path(study.place)


def add_grid(study: Study, name: str, columns: Sequence[str], rows: Sequence[str] = ROWS) -> None:
    """Add a grid of these rows and columns, and write its cells."""
    with study._store.write() as tx:
        number = grids.add(tx, name, ("answer", "hate speech"), ("name", "aspect"))
        with grids.on_grid(tx, number):
            sides.set_texts(tx, "row", _texts(tx, "answer", rows))
            sides.set_texts(tx, "column", _texts(tx, "name", columns))
            cells.fill(tx)


def add_round(
    study: Study, grid: str, name: str, person: str, form: str, *, counts: bool = False, **options: Any
) -> None:
    """Add a round, answered by one person, who is given all cells, column by column."""
    given = next(one for one in study.people if one.name == person)
    with study._store.write() as tx:
        there = find_grid(tx, grid)
        add_to(tx, there.id, name, given.role, form_of(form), counts=counts, options=RoundOptions(**options))
        with grids.on_grid(tx, there.id):
            deal(tx, rounds.by_name(tx, name), given.id)


def deal(tx: Tx, of: Round, person_id: int) -> None:
    """Give somebody all cells of a round, column by column."""
    there = cells.cells(tx).sort_values(["cn_id", "cell_id"])
    given = pd.DataFrame({"cell_id": there["cell_id"].tolist(), "person_id": person_id})
    assignments.add_assignments(tx, given.assign(position=range(1, len(given) + 1), status=Status.OPEN.value), of)


def _texts(tx: Tx, kind: str, bodies: Sequence[str]) -> list[int]:
    return texts.get_or_add(tx, kind, [(digest(body), body, "", {}) for body in bodies])
