"""A study with three planned grids: replies are written in `write`, and judged by labels in `taste` and in `tone`.

In both of these ana and ben differ on every cell, and a policy leaves it to a person.
"""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

from steps.online import at_desk, give

from fcpair.params import Adjudicate, Setup, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study

STATEMENTS = ("Tea is for cowards.", "Cats are cold.")
REPLY = "Most of them pay for the road like anybody else."
LABELS = {"ana": "yes", "ben": "no"}


def build(folder: Path) -> Path:
    """Make the study, with everything answered, and nothing decided or validated."""
    with closing(Study.create(folder / "grids.db", Setup(title="Grids"), grids=plans())) as study:
        study.add_people(["wren"], Role.WRITER)
        study.add_people(list(LABELS), Role.ANNOTATOR)
        study.grid("write").pair()
        study.grid("write").assign_round()
        _answer_all(study, "wren", {"text": REPLY, "also": ["facts"]})
        for name in ("taste", "tone"):
            study.grid(name).pair()
            study.grid(name).assign_round()
        for name, label in LABELS.items():
            _answer_all(study, name, label)
        for name in ("taste", "tone"):
            study.grid(name).adjudicate(Adjudicate("manual"))
        return Path(study.place)


def plans() -> list[GridPlan]:
    statements = SidePlan(names=STATEMENTS)
    text = RoundPlan("write", "text: text(min_words=4); also: any_of(facts,humour)", role="writer")
    judge = RoundPlan("judge", "label: one_of(no,yes+)", answers=2)
    return [
        GridPlan("write", statements, SidePlan(names=("a joke", "a fact")), (text,), "statement", "kind of reply"),
        GridPlan("taste", statements, SidePlan(names=("sweet", "sour")), (judge,), "statement", "flavour"),
        GridPlan(
            "tone", statements, SidePlan(names=("warm", "cold")), (judge,), "statement", "manner", validate=Validate()
        ),
    ]


def _answer_all(study: Study, name: str, answer: object) -> None:
    desk, visitor = at_desk(study, name)
    while tasks := desk.tasks(visitor, 50):
        for task in tasks:
            give(desk, visitor, answer, task.assignment_id)
