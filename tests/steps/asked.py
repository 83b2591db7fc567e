"""A small survey whose people said something about themselves."""

from __future__ import annotations

from pathlib import Path

from fcpair.params import Annotate, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.steps.people.people import save_terms
from fcpair.study import Study

STATEMENTS = tuple(f"Mild statement number {at}." for at in range(8))
ASK = RoundPlan("ask", "answer: one_of(yes,no,decline?)", "respondent", answers=0, screen="row")
PLAN = GridPlan("survey", SidePlan(names=STATEMENTS), SidePlan(names=("heard", "believed")), (ASK,))
GENDERS = ("Gender: woman | man | another", "Age")


def surveyed(
    folder: Path, genders: str = "wwwwwmmmmm-", *, compare: tuple[str, ...] = ("Gender",), skips: float = 0.0
) -> Study:
    """A survey that simulated people answered; `genders` has a letter for each, a line for who said nothing."""
    study = Study.create(folder / "survey.db", grids=[PLAN])
    save_terms(study, Annotate(demographics=GENDERS, compare=compare))
    people = study.add_people([f"p{at}" for at in range(len(genders))], Role.RESPONDENT)
    for person, letter in zip(people, genders, strict=True):
        said = {"w": "woman", "m": "man", "a": "another"}.get(letter)
        study.access.consent(person.id, {"Gender": said} if said else {}, "I take part.")
    grid = study.grid()
    grid.pair()
    grid.assign_round("ask")
    grid.simulate(Simulate(skips=skips, not_sure=0.1, seed=2))
    return study
