"""The status says all that can be done now: what comes first as `next`, and the rest as `also`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from fcpair.params import Adjudicate, Validate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.records import Role
from fcpair.study import Study
from steps.plans import ALL_ANSWER, study_of
from steps.small import STAGES, check, open_work, record, write_csv

At = Callable[[str], Study]
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


def labelled_by(study: Study) -> list[tuple[str, int]]:
    rows = study.grid().labels()
    return list(zip(rows["annotator"].tolist(), rows["pair"].tolist(), strict=True))


def test_decisions_and_verdicts_that_are_open_are_both_said(at: At) -> None:
    study = at("checking")
    state = study.status()
    n_waiting, n_open = len(study.grid().waiting_pairs()), state["rounds"]["validate"]["open"]
    assert state["next"].startswith(f"pairs that wait for a decision: {n_waiting}; run `fcpair adjudicate`")
    (verdicts,) = state["also"]
    assert verdicts.startswith(f"open verdicts: {n_open}; `fcpair serve`")


def test_what_a_policy_can_decide_is_counted_apart_from_what_waits_for_a_person(at: At) -> None:
    state = at("labelled").status()
    person, policy = (state["pairs"][name] for name in ("wait_for_person", "wait_for_policy"))
    assert person
    assert policy
    assert state["next"].startswith(f"pairs that wait for a decision: {person}; run `fcpair adjudicate`")
    assert state["also"] == [f"pairs that a policy can decide: {policy}; run `fcpair adjudicate`"]


def test_validating_may_begin_while_some_pairs_wait_for_a_person(at: At) -> None:
    assert at_hand(at("decided")) == ["pairs that wait for a decision", "run `fcpair validate assign`"]


def test_labels_come_first_and_what_can_be_decided_meanwhile_is_said(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    own = open_work(study)
    record(study, tmp_path, [(who, pair, "2" if who == "ana" else "0") for who, pair in own if who != "cleo"])
    n = len(study.grid().waiting_pairs())
    assert n
    state = study.status()
    assert state["next"].startswith("open labels: 14;")
    assert state["also"] == [f"pairs that wait for a decision: {n}; run `fcpair adjudicate`, or `fcpair serve`"]


def test_where_nothing_is_dealt_one_thing_can_be_done(at: At) -> None:
    for stage in STAGES[: STAGES.index("dealt") + 1]:
        assert at(stage).status()["also"] == []


def test_a_second_look_does_not_hide_open_verdicts(at: At, tmp_path: Path) -> None:
    study = at("checking")
    for pair in study.grid().waiting_pairs():
        study.grid().decide(pair, 2, by="ada")
    assert at_hand(study) == ["decided pairs that no validator has", "open verdicts"]
    pair = int(study.grid().labels()["pair"].iloc[0])
    study.grid().decide(pair, 2, by="ada")
    changed = [(who, pair, "1") for who, pair_ in labelled_by(study) if pair_ == pair]
    record(study, tmp_path, changed, supersede=True)
    assert at_hand(study)[0] == "pairs decided before their labels changed"
    assert at_hand(study)[-1] == "open verdicts"


def test_nothing_is_left_when_all_is_checked(at: At, tmp_path: Path) -> None:
    study = at("checking")
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    for pair in study.grid().waiting_pairs():
        study.grid().decide(pair, None, by="ada")
    state = study.status()
    assert (state["next"].split("`")[1], state["also"]) == ("fcpair partition", [])


def test_a_planned_grid_says_both_too(tmp_path: Path) -> None:
    study = study_of(tmp_path, REVIEWED, rater=4)
    grid = study.grid("review")
    grid.pair()
    grid.assign_round()
    assert at_hand(study) == ["open answers in round `review` of grid `review`"]
    grid.simulate(replace(ALL_ANSWER, accuracy=0.6))
    grid.adjudicate(Adjudicate("manual"))
    n = len(grid.waiting_pairs())
    assert 0 < n < 12
    assert at_hand(study) == [
        "cells of grid `review` that wait for a decision",
        "run `fcpair validate assign --grid review`",
    ]
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    assert at_hand(study) == [
        "cells of grid `review` that wait for a decision",
        "open verdicts in grid `review`",
    ]


def test_a_second_look_in_a_planned_grid_is_said(tmp_path: Path) -> None:
    study = study_of(tmp_path, replace(REVIEWED, validate=None), rater=4)
    grid = study.grid("review")
    grid.pair()
    grid.assign_round()
    grid.simulate(replace(ALL_ANSWER, accuracy=0.6))
    grid.adjudicate(Adjudicate("manual"))
    waiting = grid.waiting_pairs()
    for cell in waiting:
        grid.decide(cell, 1, by="ada")
    assert "decided before" not in study.status()["next"]
    given = grid.answers().to_dict("records")
    yes = next(row for row in given if row["cell"] == waiting[0] and row["fit"] == "yes")
    changed = [{"cell": waiting[0], "by": yes["by"], "fit": "no"}]
    grid.import_answers(write_csv(tmp_path / "changed.csv", changed), supersede=True)
    assert at_hand(study) == ["cells of grid `review` decided before their answers changed"]


def test_two_rounds_that_rest_on_nothing_are_open_at_once(tmp_path: Path) -> None:
    rounds = (REVIEW, replace(REVIEW, name="again", role="writer", counts=False))
    study = study_of(tmp_path, replace(REVIEWED, rounds=rounds, adjudicate=None, validate=None), rater=2, writer=2)
    study.grid("review").pair()
    assert at_hand(study) == [f"run `fcpair assign --grid review --round {name}`" for name in ("review", "again")]
    study.grid("review").assign_round("review")
    study.grid("review").assign_round("again")
    assert at_hand(study) == [f"open answers in round `{name}` of grid `review`" for name in ("review", "again")]


def test_a_round_that_rests_on_an_open_one_is_not_said_yet(tmp_path: Path) -> None:
    later = RoundPlan("later", "fit: one_of(no,yes+)", role="writer", after="review", counts=False)
    study = study_of(tmp_path, replace(REVIEWED, rounds=(REVIEW, later), adjudicate=None, validate=None), rater=2)
    study.grid("review").pair()
    study.grid("review").assign_round("review")
    assert at_hand(study) == ["open answers in round `review` of grid `review`"]
