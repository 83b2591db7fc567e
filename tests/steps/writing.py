"""Writing rounds for tests: mild statements x types, a pilot that an expert judges, and people who write by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fcpair.params import Annotate, Setup
from fcpair.plans import Checks, GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import Task
from steps.online import admit, give

STATEMENTS = tuple(
    f"People who like {topic} are odd."
    for topic in ("tea", "cats", "cycling", "chess", "rain", "maps", "jam", "trains")
)
TYPES = ("facts", "humour", "question", "warmth")
FORM = (
    "unkind: one_of(yes,no); text: text(min_words=6,max_words=40) when unkind=yes; "
    "also: any_of(facts,humour,question,warmth,always=column) when unkind=yes"
)
REPLIES = (
    "My neighbour likes it, and she is the kindest person that I know.",
    "Have you ever asked one of them why they enjoy it so much?",
    "Half of this town does the same on Sundays, and nobody minds.",
    "I used to think so too, until I tried it with my children.",
    "Everybody has a hobby that looks strange from the other side of the street.",
    "Let us agree that a quiet pleasure hurts no one in the world.",
)
PERSIAN = "من هر روز چای می‌خورم و همسایه‌ام هم همین کار را می‌کند و خوشحال است."


def plan(**changed: Any) -> GridPlan:
    """The grid `write`, of which the round `write` is as usual but for what is changed."""
    usual: dict[str, Any] = {"role": "writer", "once_per_row": True, "columns_per_row": 3, "seed": 3}
    return GridPlan(
        "write", SidePlan(names=STATEMENTS), SidePlan(names=TYPES), (RoundPlan("write", FORM, **{**usual, **changed}),)
    )


def checked(**checks: Any) -> GridPlan:
    """The same with checks, and in English."""
    return plan(language="en", checks=Checks(**checks))


def study_of(folder: Path, *plans: GridPlan, **people: int) -> Study:
    """A study of these grids, and so many people in each role: `writer=4` adds writer1 to writer4."""
    study = Study.create(folder / "writing.db", Setup(title="Writing"), grids=plans)
    for role, n in people.items():
        study.add_people([f"{role}{at}" for at in range(1, n + 1)], Role(role))
    return study


def dealt(folder: Path, *plans: GridPlan, **people: int) -> Study:
    """The same once the first grid has its cells, and its first round is dealt."""
    study = study_of(folder, *plans, **people)
    grid = study.grid(plans[0].name)
    grid.pair()
    grid.assign_round(plans[0].rounds[0].name)
    return study


def answer(text: str) -> dict[str, Any]:
    """What a writer sends."""
    return {"unkind": "yes", "text": text, "also": []}


def write_all(study: Study, name: str, n: int | None = None) -> list[Task]:
    """Have somebody write on all that they have open, or on so many cells, each time something new."""
    desk, visitor = study.work_queue(Annotate()), admit(study, name)
    tasks = desk.tasks(visitor, 50)[:n]
    for at, task in enumerate(tasks):
        text = f"{REPLIES[at % len(REPLIES)]} That is what {name} thinks of number {task.cell_id}."
        give(desk, visitor, answer(text), task.assignment_id)
    return tasks
