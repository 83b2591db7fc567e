"""Leading: policies, who validates what, withdrawing an import, a calibration, notes, guidelines and releases."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from steps.small import ANNOTATORS, label_of, labels_of, open_work, record, standing

from doors.door import House, at_each_door, done
from fcpair.params import Adjudicate, Simulate
from fcpair.records import Role

MakeHouse = Callable[..., House]
VOTES = {1: "22", 2: "220", 3: "20", 4: "1", 5: "10"}  # the labels of each pair, by ana, ben and cleo
UNANIMOUS = {1: ("unanimous", 2), 5: ("unanimous", 0)}
REOPENED = ("reopened", None)
NOT_ASSIGNED = (
    "this pair is not assigned to you, or no longer is; somebody else has it now, and your answer was not needed"
)
UNSEEN = (
    "this verdict does not say which label you saw, probably because it was given on a page of an older fcpair; please "
    "look at the pair again"
)
NO_VERDICT = "`appropriate` is not an answer here; expected one of disagree, agree or skip"
UNKNOWN_VERDICT = "unknown verdict `appropriate`; expected one of 0, disagree, 1, agree, skip, valid, not valid"
WOULD_DISCARD = (
    "the validation round has been assigned; `--redo` would discard 5 assignments, and `fcpair validate assign --more` "
    "adds pairs"
)
ASSIGNED = (
    "the validation round has been assigned and has 19 verdicts, which are never discarded; `fcpair validate assign "
    "--more` assigns pairs that have no verdict yet"
)
ALL_CHECKED = "every pair that can be validated now has its verdict or has been assigned"
SAME_TEXT = "these are already the current guidelines"
BELOW = "Your text is below; the version in force is the first under Versions"
EMPTY = "gold is empty: no pair is in it yet, so nothing was written; `fcpair partition` shows every tier"
NO_LABELS = "`partition` needs labels first; run `fcpair labels import` or `fcpair simulate`"


def voted(house: House) -> None:
    """Have the annotators give VOTES, in a study of which nothing has been assigned."""
    house.study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    votes = [(who, pair, label) for pair, by in VOTES.items() for who, label in zip(ANNOTATORS, by, strict=False)]
    record(house.study, house.folder, votes)


@at_each_door("adjudicate", stage="paired")
def test_a_policy_decides_what_it_can_and_another_reopens_what_it_would_not_decide(door: Any) -> None:
    voted(door.house)
    grid = door.study.grid()
    assert grid.policy is None
    majority = {**UNANIMOUS, 2: ("majority", 2)}
    discarded = {**majority, 3: ("no_majority", None), 4: ("no_majority", None)}
    reopened = {**UNANIMOUS, 2: REOPENED, 3: REOPENED, 4: REOPENED}
    for policy, ties, expected, waiting in (
        ("manual", "wait", UNANIMOUS, [2, 3, 4]),
        ("majority", "wait", majority, [3, 4]),
        ("majority", "discard", discarded, []),
        ("manual", "wait", reopened, [2, 3, 4]),
        ("majority", "wait", {**reopened, 2: ("majority", 2)}, [3, 4]),
    ):
        done(door.adjudicate(policy, ties))
        assert (standing(door.study), grid.waiting_pairs()) == (expected, waiting)
        assert grid.policy is not None
        assert (grid.policy.policy, grid.policy.ties) == (policy, ties)
    grid.decide(2, 0, by="judy")
    grid.decide(3, None, by="judy")
    done(door.adjudicate("majority", "discard"))
    assert (standing(door.study)[2], standing(door.study)[3]) == (("person", 0), ("person", None))
    before = standing(door.study)
    done(door.adjudicate("majority", "discard"))
    assert door.study.log()[-1].counts["new"] == 0
    assert standing(door.study) == before


@at_each_door("assign_validation", stage="labelled")
def test_nobody_validates_what_they_labelled_or_decided(door: Any) -> None:
    study, grid = door.study, door.study.grid()
    decided = grid.waiting_pairs()[:2]
    for pair in decided:
        grid.decide(pair, 2, by="judy")
    grid.adjudicate(Adjudicate("majority", "discard"))
    for name in ("judy", "cleo"):
        study.change_role(name, Role.VALIDATOR)
    labelled = {pair for pair, who in labels_of(study) if who == "cleo"}
    done(door.assign_validation())
    work = open_work(study, checks=True)
    assert {who for who, _ in work} == {"vera", "judy", "cleo"}
    assert not {pair for who, pair in work if who == "cleo"} & labelled
    assert not {pair for who, pair in work if who == "judy"} & set(decided)
    labelled_pairs = [pair for pair, (_, code) in standing(study).items() if code is not None]
    assert sorted(pair for _, pair in work) == sorted(labelled_pairs)


@at_each_door("check", stage="checking")
def test_a_verdict_is_about_the_label_that_was_decided(door: Any) -> None:
    pair, other = [pair for who, pair in open_work(door.study, checks=True) if who == "vera"][:2]
    done(door.check("vera", pair, "agree"))
    done(door.check("vera", other, "disagree"))
    pairs = door.study.grid().tiers().table().pairs.set_index("cell_id")["verdict"]
    assert (pairs[pair], pairs[other], sum(pairs >= 0)) == (1, 0, 2)
    if door.name == "command":
        differently = "vera has already answered pair {pair} differently; --supersede takes this as the newer answer"
        door.house.refuse("check", "vera", pair, "disagree", message={"command": differently.format(pair=pair)})
        done(door.check("vera", pair, "disagree", supersede=True))
        assert door.study.grid().tiers().table().pairs.set_index("cell_id")["verdict"][pair] == 0
    skipped = next(number for who, number in open_work(door.study, checks=True) if who == "vera")
    done(door.check("vera", skipped, "skip"))
    assert ("walt", skipped) in open_work(door.study, checks=True)
    assert ("vera", skipped) not in open_work(door.study, checks=True)


@pytest.mark.server
def test_a_verdict_on_what_one_was_not_asked_or_on_another_label_is_refused(house: MakeHouse) -> None:
    here = house("checking")
    study = here.study
    mine, second, *_ = [pair for who, pair in open_work(study, checks=True) if who == "vera"]
    theirs = next(pair for who, pair in open_work(study, checks=True) if who == "walt")
    messages = {"all": NOT_ASSIGNED, "command": f"pair {theirs} was not assigned to vera"}
    here.refuse("check", "vera", theirs, "agree", message=messages)
    shown = done(here.door("python").next("vera"))[0]
    here.refuse("check", "vera", mine, "agree", decision_id=1, message={"all": UNSEEN, "command": ""})
    here.refuse("check", "vera", mine, "appropriate", message={"all": NO_VERDICT, "command": UNKNOWN_VERDICT})
    study.grid().decide(mine, 0 if shown["shown"] == "appropriate" else 2, by="judy")
    messages = {"all": "the label of this pair has changed since you saw it; please look at it again", "command": ""}
    here.refuse("check", "vera", mine, "agree", decision_id=shown["decision_id"], message=messages)
    served = [here.door(name) for name in ("python", "api", "page")]
    n_open = {done(door.progress("vera"))["open"] for door in served}
    study.grid().decide(mine, None, by="judy")  # a pair without a label waits for its validator, and is not counted
    assert {done(door.next("vera"))[0]["cell_id"] for door in served} == {second}
    assert {done(door.progress("vera"))["open"] + 1 for door in served} == n_open


def test_only_decided_pairs_are_validated_and_each_once(house: MakeHouse) -> None:
    here = house("decided")
    too_many = "20 pairs cannot be validated; 19 have an adjudicated label"
    here.refuse("assign_validation", pairs=20, message={"python": too_many, "command": too_many})
    done(here.door("python").assign_validation(pairs=5, blind=True))
    not_blind = "the round has open verdicts that are blind, so none that are not blind can be added"
    here.refuse("assign_validation", pairs=5, more=True, message=not_blind)
    here.refuse("assign_validation", pairs=5, message=WOULD_DISCARD)
    full = house("checked")
    full.refuse("assign_validation", more=True, message=ALL_CHECKED)
    full.refuse("assign_validation", message=ASSIGNED)
    waiting = full.study.grid().waiting_pairs()
    for pair in waiting:
        full.study.grid().decide(pair, 2, by="judy")
    done(full.door("python").assign_validation(more=True))
    assert sorted(pair for _, pair in open_work(full.study, checks=True)) == waiting


@at_each_door("withdraw", stage="dealt")
def test_a_wrong_file_is_withdrawn_as_a_whole_and_the_right_one_can_come(door: Any, tmp_path: Path) -> None:
    study, before = door.study, open_work(door.study)
    run = record(study, tmp_path, [(who, pair, "not_sure") for who, pair in before])
    done(door.withdraw(run.id))
    assert study.log()[-1].counts == {"answers": 42, "skips": 0, "superseded_since": 0, "reassigned": 0, "vacant": 0}
    assert (open_work(study), labels_of(study)) == (before, {})
    who, pair = before[0]
    told = [(row["person"], row["answer"], row["withdrawn"]) for row in study.grid().explain(pair).answers]
    assert {(who, "not_sure", False), (who, "withdrawn", True)} <= set(told)
    twice = f"run {run.id} (label import) has been withdrawn already"
    door.house.refuse("withdraw", run.id, message=twice)
    run = record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in before])
    assert labels_of(study) == {(pair, who): label_of(pair, who) for who, pair in before}
    record(study, tmp_path, [(who, pair, "skip") for pair, who in labels_of(study)], supersede=True)
    superseded = f"every answer of run {run.id} (label import) has been superseded since, so none is left to withdraw"
    door.house.refuse("withdraw", run.id, message=superseded)
    for number in (-1, 10**30):
        nowhere = f"there is no run {number}; `fcpair log` lists the runs"
        door.house.refuse("withdraw", number, message={"python": nowhere})
    door.house.refuse("withdraw", 99, message="there is no run 99; `fcpair log` lists the runs")
    door.house.refuse("withdraw", 1, message="run 1 (init) brought no answers; `fcpair log` lists the runs")


@at_each_door("start_calibration", "open_discussion", "close_calibration", stage="paired")
def test_a_calibration_is_answered_discussed_answered_again_and_closed(door: Any) -> None:
    study, grid = door.study, door.study.grid()
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    for act in ("open_discussion", "close_calibration"):
        door.house.refuse(act, message="there is no calibration; `fcpair calibrate start` begins one")
    door.house.refuse("start_calibration", 25, message="25 pairs cannot be drawn; there are 24; lower `pairs`")
    done(door.start_calibration(6))
    twice = "people are calibrating themselves for round `label` of grid `main` already"
    door.house.refuse("start_calibration", 6, message=twice)
    nothing = "nobody has answered round `calibrate` yet, so there is nothing to discuss"
    door.house.refuse("open_discussion", message=nothing)
    grid.simulate(Simulate(accuracy=0.5, skips=0, seed=1))
    done(door.open_discussion())
    n = study.log()[-1].counts["differing"]
    waits = f"ana {n}, ben {n}, cleo {n}"
    is_open = f"answers in round `calibrate again` are open: {waits}; `--early` goes on without them"
    door.house.refuse("close_calibration", message=is_open)
    grid.simulate(Simulate(accuracy=0.5, skips=0, seed=1))
    done(door.close_calibration())
    assert [run.stage for run in study.log() if "calibration" in run.stage or run.stage == "discussion"] == [
        "calibration",
        "discussion",
        "close calibration",
    ]
    assert labels_of(study) == {}


@at_each_door("note", stage="dealt")
def test_a_note_is_kept_in_the_log(door: Any) -> None:
    done(door.note("Two annotators talked <on Tuesday>.", 5))
    assert door.study.log()[-1].options == {"text": "Two annotators talked <on Tuesday>.", "pair": 5, "flag": None}
    door.house.refuse("note", "", message="the note is empty; write what happened")
    door.house.refuse("note", "x" * 2001, message="the note has 2,001 characters; expected at most 2,000")
    no_pair = "there is no pair 999; the pairs of the grid are numbered from 1 to 24"
    door.house.refuse("note", "Somebody talked.", 999, message=no_pair)


@at_each_door("edit_guidelines", stage="dealt")
def test_a_new_version_of_the_guidelines_holds_and_the_earlier_stay(door: Any) -> None:
    done(door.edit_guidelines("Be kind."))
    assert door.study.guidelines == (2, "Be kind.")
    assert [one["version"] for one in door.study.guideline_versions()] == [1, 2]
    assert door.study.guideline_versions()[-1]["by"] == "lea"
    door.house.refuse(
        "edit_guidelines", "Be kind.", message={"python": SAME_TEXT, "page": f"not saved: {SAME_TEXT}. {BELOW}"}
    )


@at_each_door("set_diamond", stage="checked")
def test_a_rule_of_diamond_holds_for_everything_until_another_is_chosen(door: Any) -> None:
    sizes = [len(door.study.grid().tier("diamond"))]
    done(door.set_diamond("majority"))
    sizes.append(len(door.study.grid().tier("diamond")))
    assert sizes[0] < sizes[1] == len(door.study.grid().tiers(diamond="majority").frame("diamond"))


def test_what_cannot_be_released_or_explained_is_refused(house: MakeHouse) -> None:
    here = house("decided")
    here.refuse("release", "platinum", message="there is no tier `platinum`; expected diamond, gold, silver, bronze")
    here.refuse("release", "gold", message=EMPTY)
    assert not list(here.folder.glob("*.csv"))
    for number in (0, 25, 10**22):
        no_pair = f"there is no pair {number}; the pairs of the grid are numbered from 1 to 24"
        here.refuse("explain", number, message=no_pair)
    early = house("paired")
    early.refuse("release", "gold", message=NO_LABELS)
