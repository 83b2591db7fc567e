"""The status says all that can be done now: what comes first as `next`, and the rest as `also`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fcpair.params import Adjudicate, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Grid, Study
from steps.plans import ALL_ANSWER, study_of
from steps.small import STAGES, At, check, open_work, record, write_csv

REVIEW = RoundPlan("review", "fit: one_of(no,yes+)", role="rater", answers=2)
REVIEWED = GridPlan(
    "review",
    SidePlan(names=tuple(f"Template {at}" for at in range(12))),
    SidePlan(names=("Is it fit?",)),
    (REVIEW,),
    adjudicate=Adjudicate("manual"),
    validate=Validate(),
)


def at_hand(study: Study) -> list[str]:
    """What can be done now, each up to its number or command."""
    state = study.status()
    return [step.split(":")[0] for step in (state["next"], *state["also"])]


def test_the_steps_of_a_study_come_one_after_the_other_or_side_by_side(at: At, tmp_path: Path) -> None:
    for stage in STAGES[: STAGES.index("dealt") + 1]:
        assert at(stage).status()["also"] == []  # where nothing is dealt, one thing can be done
    study = at("dealt")
    record(
        study, tmp_path, [(who, pair, "2" if who == "ana" else "0") for who, pair in open_work(study) if who != "cleo"]
    )
    n = len(study.grid().waiting_pairs())
    assert n
    state = study.status()
    assert state["next"].startswith("open labels: 14;")
    assert state["also"] == [f"pairs that wait for a decision: {n}; run `fcpair adjudicate`, or `fcpair serve`"]
    state = at("labelled").status()
    person, policy = (state["pairs"][name] for name in ("wait_for_person", "wait_for_policy"))
    assert person
    assert policy
    assert state["next"].startswith(f"pairs that wait for a decision: {person}; run `fcpair adjudicate`")
    assert state["also"] == [f"pairs that a policy can decide: {policy}; run `fcpair adjudicate`"]
    assert at_hand(at("decided")) == ["pairs that wait for a decision", "run `fcpair validate assign`"]
    study = at("checking")
    state = study.status()
    n_waiting, n_open = len(study.grid().waiting_pairs()), state["rounds"]["validate"]["open"]
    assert state["next"].startswith(f"pairs that wait for a decision: {n_waiting}; run `fcpair adjudicate`")
    (verdicts,) = state["also"]
    assert verdicts.startswith(f"open verdicts: {n_open}; `fcpair serve`")
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    for pair in study.grid().waiting_pairs():
        study.grid().decide(pair, None, by="ada")
    state = study.status()
    assert (state["next"].split("`")[1], state["also"]) == ("fcpair partition", [])


def test_a_second_look_does_not_hide_open_verdicts(at: At, tmp_path: Path) -> None:
    study = at("checking")
    for pair in study.grid().waiting_pairs():
        study.grid().decide(pair, 2, by="ada")
    assert at_hand(study) == ["decided pairs that no validator has", "open verdicts"]
    labels = study.grid().labels()
    pair = int(labels["pair"].iloc[0])
    study.grid().decide(pair, 2, by="ada")
    changed = [(who, pair, "1") for who in labels["annotator"][labels["pair"] == pair]]
    record(study, tmp_path, changed, supersede=True)
    assert at_hand(study)[0] == "pairs decided before their labels changed"
    assert at_hand(study)[-1] == "open verdicts"


def reviewed(study: Study) -> Grid:
    """The grid `review` once raters who err have answered it all, and a person is to decide."""
    grid = study.grid("review")
    grid.pair()
    grid.assign_round()
    assert at_hand(study) == ["open answers in round `review` of grid `review`"]
    grid.simulate(replace(ALL_ANSWER, accuracy=0.6))
    grid.adjudicate(Adjudicate("manual"))
    assert 0 < len(grid.waiting_pairs()) < 12
    return grid


def test_a_planned_grid_says_both_too(tmp_path: Path) -> None:
    study = study_of(tmp_path, REVIEWED, rater=4)
    grid = reviewed(study)
    waiting = "cells of grid `review` that wait for a decision"
    assert at_hand(study) == [waiting, "run `fcpair validate assign --grid review`"]
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    assert at_hand(study) == [waiting, "open verdicts in grid `review`"]


def test_a_second_look_in_a_planned_grid_is_said(tmp_path: Path) -> None:
    study = study_of(tmp_path, replace(REVIEWED, validate=None), rater=4)
    grid = reviewed(study)
    first, *others = grid.waiting_pairs()
    for cell in (first, *others):
        grid.decide(cell, 1, by="ada")
    assert "decided before" not in study.status()["next"]
    given = grid.answers().to_dict("records")
    yes = next(row for row in given if row["cell"] == first and row["fit"] == "yes")
    changed = [{"cell": first, "by": yes["by"], "fit": "no"}]
    grid.import_answers(write_csv(tmp_path / "changed.csv", changed), supersede=True)
    assert at_hand(study) == ["cells of grid `review` decided before their answers changed"]


def test_of_two_rounds_both_are_said_unless_one_rests_on_the_other(tmp_path: Path) -> None:
    again = replace(REVIEW, name="again", role="writer", counts=False)
    later = RoundPlan("later", "fit: one_of(no,yes+)", role="writer", after="review", counts=False)
    for other, names in ((again, ("review", "again")), (later, ("review",))):
        (tmp_path / other.name).mkdir()
        plan = replace(REVIEWED, rounds=(REVIEW, other), adjudicate=None, validate=None)
        study = study_of(tmp_path / other.name, plan, rater=2, writer=2)
        study.grid("review").pair()
        assert at_hand(study) == [f"run `fcpair assign --grid review --round {name}`" for name in names]
        for name in names:
            study.grid("review").assign_round(name)
        assert at_hand(study) == [f"open answers in round `{name}` of grid `review`" for name in names]
