"""A study whose models are shown examples: mild statements are answered in `write`, models reply in `replies`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from fcpair.params import Setup
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.store.answers import examples
from fcpair.store.assignment import rounds
from fcpair.store.corpus import sides
from fcpair.study import Study
from steps.online import at_desk, column_of, give

TEA, CATS, CYCLING, GREEN_TEA = (
    "Tea is for cowards.",
    "Cats are cold.",
    "Cyclists are rude.",
    "Green tea is for cowards.",
)
ROWS = (TEA, GREEN_TEA)
WRITTEN = (TEA, CATS, CYCLING)
PROMPT = "Examples:\n{examples}\nAnswer: {row}"
WRITE = GridPlan(
    "write",
    SidePlan(names=WRITTEN),
    SidePlan(names=("facts", "humour")),
    (RoundPlan("write", "text: text(min_words=2)", role="writer"),),
)
ASK = RoundPlan(
    "propose",
    "text: text()",
    models=("tiny=service:tiny",),
    prompt=PROMPT,
    examples="write",
    n_examples=2,
    example_model="all-MiniLM-L6-v2",
)


def asking(**changed: Any) -> GridPlan:
    """The grid `replies`, whose round is as usual but for what is changed."""
    return GridPlan("replies", SidePlan(names=ROWS), SidePlan(names=("tiny",)), (replace(ASK, **changed),))


def study_of(folder: Path, **changed: Any) -> Study:
    """Both grids with their cells; wren has answered each statement twice, by facts and by humour."""
    study = Study.create(folder / "study.db", Setup(title="t"), grids=[WRITE, asking(**changed)])
    study.add_people(["wren"], Role.WRITER)
    study.grid("write").pair()
    study.grid("write").assign_round()
    write_on_all(study)
    study.grid("replies").pair()
    return study


def write_on_all(study: Study) -> None:
    """Have wren write on every cell that she has open."""
    desk, visitor = at_desk(study, "wren")
    for task in desk.tasks(visitor, 50):
        text = f"{task.row.body} {column_of(task)}: not so."
        give(desk, visitor, text, task.assignment_id)


def put_examples(study: Study) -> None:
    """Give each row two examples without any model: the first other statements, in their order."""
    with study.grid("write")._store.read() as tx:
        written = examples.current_texts(tx, rounds.by_name(tx, "write"))
    with study.grid("replies")._store.write() as tx:
        for_rows = {row: [one for one in written if one.hs != body][:2] for row, body in sides.bodies(tx, "row")}
        found = [
            ((row, one.hs_id, one.cn_id), rank, 0.9 - rank / 10)
            for row, some in for_rows.items()
            for rank, one in enumerate(some, 1)
        ]
        examples.replace_examples(tx, rounds.by_name(tx, "propose"), found)
