"""Planned grids for tests: statements x types to be written, replies x criteria to be rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from fcpair.grid import Grid
from fcpair.params import Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.store.assignment import assignments, rounds
from fcpair.store.corpus import sides
from fcpair.study import Study

STATEMENTS = tuple(f"People who like {topic} are odd." for topic in ("tea", "cats", "cycling", "chess"))
TYPES = ("facts", "humour", "question")
CRITERIA = ("fluent", "kind")
WRITE = RoundPlan("write", "text: text(min_words=2); also: any_of(warm,short)", role="writer", once_per_row=True)
RATE = RoundPlan("rate", "rate: scale(1,5,0.5,positive=4)", role="rater", answers=2, screen="row")
ALL_ANSWER = Simulate(skips=0.0, seed=4)
WRITTEN = GridPlan("write", SidePlan(names=STATEMENTS), SidePlan(names=TYPES), (WRITE,))
RATED = GridPlan("rate", SidePlan(answers="write"), SidePlan(names=CRITERIA), (RATE,))


def study_of(folder: Path, *plans: GridPlan, **people: int) -> Study:
    """A study of planned grids with so many people in each role: `writer=4` adds writer1 to writer4."""
    study = Study.create(folder / "study.db", Setup(title="Planned"), grids=plans)
    for role, n in people.items():
        study.add_people([f"{role}{at}" for at in range(1, n + 1)], Role(role))
    return study


def assigned(study: Study, name: str = "write") -> Grid:
    """A grid once it has its cells, and its only round is assigned."""
    grid = study.grid(name)
    grid.pair()
    grid.assign_round()
    return grid


def written(folder: Path, *plans: GridPlan, first: GridPlan = WRITTEN, **people: int) -> Study:
    """The same once its `first` grid, called write, has been written by simulated people."""
    study = study_of(folder, first, *plans, **{"writer": 4, **people})
    assigned(study).simulate(ALL_ANSWER)
    return study


def with_round(plan: GridPlan, **changed: Any) -> GridPlan:
    """The same plan with its last round changed."""
    return replace(plan, rounds=(*plan.rounds[:-1], replace(plan.rounds[-1], **changed)))


def dealt(study: Study, grid: str, name: str) -> pd.DataFrame:
    """What was dealt in a round: `id`, `cell_id`, `status`, `position`, `person` (a name), `row`, `column` (texts)."""
    names = {one.id: one.name for one in study.people}
    with study.grid(grid)._store.read() as tx:
        given = assignments.assignments(tx, rounds.by_name(tx, name))
        bodies = texts_of(study, [*given["hs_id"], *given["cn_id"]])
    given["person"] = given["person_id"].map(names)
    return given.assign(row=given["hs_id"].map(bodies), column=given["cn_id"].map(bodies))


def texts_of(study: Study, ids: Sequence[int]) -> dict[int, str]:
    """The texts with these ids."""
    from sqlalchemy import select

    from fcpair.store.database.tables import text

    with study._store.read() as tx:
        return {row[0]: row[1] for row in tx.execute(select(text.c.id, text.c.body)) if row[0] in set(ids)}


def wrote(study: Study) -> dict[str, set[str]]:
    """Who wrote which texts, by name."""
    from sqlalchemy import select

    from fcpair.store.database.tables import answer, assignment, judgement, person, text

    query = (
        select(person.c.name, text.c.body)
        .join(assignment, assignment.c.person_id == person.c.id)
        .join(judgement, judgement.c.assignment_id == assignment.c.id)
        .join(answer, answer.c.id == judgement.c.answer_id)
        .join(text, text.c.id == answer.c.text_id)
    )
    found: dict[str, set[str]] = {}
    with study._store.read() as tx:
        for name, body in tx.execute(query):
            found.setdefault(name, set()).add(body)
    return found


def side(study: Study, grid: str, axis: sides.Axis) -> list[str]:
    with study.grid(grid)._store.read() as tx:
        ids = sides.text_ids(tx, axis)
    return [texts_of(study, ids)[one] for one in ids]
