"""Decisions by rule follow the labels at every door; those of people wait for a second look when labels change."""

from __future__ import annotations

import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from servers import copy_study

from fcpair.errors import ConflictError, InputError
from fcpair.grid import AdjudicationQueue, Monitor
from fcpair.params import Adjudicate, Assign, Policy, Simulate, Ties, Validate
from fcpair.records import Role, Tier
from fcpair.stages.adjudication.adjudicate import labels_changed
from fcpair.study import Study
from fcpair.work_records import DecisionRequest
from steps.adjudication.test_decisions import given_labels, votes
from steps.online import admit, at_desk, give
from steps.small import (
    ANNOTATORS,
    CODE,
    NAMES,
    assert_refused,
    check,
    dump,
    labels_of,
    open_work,
    record,
    standing,
    write_csv,
)

At = Callable[[str], Study]
MAJORITY = Adjudicate("majority")


def owing(study: Study, policy: Adjudicate | None = None) -> int:
    """How many decisions would have to be written for all to be what the policy says."""
    grid = study.grid()
    would = grid.desk.adjudicate_dry_run(policy or grid.policy or MAJORITY)
    return would.counts["new"] + would.counts["reopened"]


# -- every door


def by_file(study: Study, folder: Path) -> None:
    record(study, folder, [("ana", 1, "0"), ("ben", 1, "0"), ("ana", 2, "1"), ("cleo", 3, "2")], supersede=True)


def at_the_desk(study: Study, folder: Path) -> None:
    desk, ana = at_desk(study, "ana")
    for task in desk.answers(ana, n=4):
        give(desk, ana, "not_appropriate" if task.answer == "appropriate" else "skip", task.assignment_id)


def by_withdrawal(study: Study, folder: Path) -> None:
    study.grid().withdraw(record(study, folder, [("ana", 1, "0"), ("ana", 2, "0")], supersede=True).id, "labels")


@pytest.mark.parametrize("door", [by_file, at_the_desk, by_withdrawal])
@pytest.mark.parametrize("policy", [Adjudicate(), MAJORITY, Adjudicate("majority", "discard"), Adjudicate("median")])
def test_whoever_changes_labels_the_decisions_by_rule_follow(
    at: At, tmp_path: Path, door: Callable[[Study, Path], None], policy: Adjudicate
) -> None:
    labels = {1: votes("2", "2"), 2: votes("2", "2", "0"), 3: votes("2", "0", "0"), 4: votes("1"), 5: votes("1", "0")}
    study = given_labels(at, tmp_path, labels)
    study.grid().adjudicate(policy)
    before = labels_of(study)
    door(study, tmp_path)
    assert labels_of(study) != before
    assert owing(study) == 0


@pytest.mark.parametrize("policy", [Adjudicate(), MAJORITY, Adjudicate("majority", "discard"), Adjudicate("median")])
def test_decisions_by_rule_follow_simulated_labels(at: At, policy: Adjudicate) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.simulate(Simulate(accuracy=0.6))
    grid.adjudicate(policy)
    before = standing(study)
    grid.assign(Assign(overlap={3: 1.0}), more=True)
    grid.simulate(Simulate(accuracy=0.6))
    assert standing(study) != before
    assert owing(study) == 0


def test_a_label_written_with_a_policy_that_holds_is_decided_at_once(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2")})
    study.grid().adjudicate(MAJORITY)
    run = record(study, tmp_path, [("ana", 2, "0"), ("ben", 1, "2")])
    assert standing(study) == {1: ("unanimous", 2), 2: ("unanimous", 0)}
    assert run.counts["decided"] == 1


def test_before_a_policy_has_been_set_nothing_is_decided(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("2", "0")})
    study.grid().decide(2, 2, by="ada")
    record(study, tmp_path, [("ana", 3, "0")])
    assert standing(study) == {2: ("person", 2)}


def test_gold_never_holds_a_label_that_both_annotators_deny(at: At, tmp_path: Path) -> None:
    """What was released once: `appropriate`, where both labels had become `not_appropriate`."""
    study = given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("2", "2")})
    grid = study.grid()
    grid.adjudicate(MAJORITY)
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "agree")])
    assert grid.tier(Tier.GOLD)["pair"].tolist() == [1, 2]
    desk, ana = at_desk(study, "ana")
    first = desk.answers(ana, n=2)[-1]
    give(desk, ana, "not_appropriate", first.assignment_id)
    record(study, tmp_path, [("ben", first.cell_id, "0")], supersede=True)
    gold = grid.tier(Tier.GOLD)
    assert gold["pair"].tolist() == [3 - first.cell_id]
    assert standing(study)[first.cell_id] == ("unanimous", 0)


def test_a_decision_that_is_taken_back_is_the_rule_s_again(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "2", "0"), 2: votes("2", "0")})
    grid = study.grid()
    grid.adjudicate(MAJORITY)
    grid.decide(1, 0, by="ada")
    grid.decide(2, 0, by="ada")
    for pair in (1, 2):
        grid.take_back(pair, by="ada")
    assert standing(study) == {1: ("majority", 2), 2: ("reopened", None)}
    assert grid.waiting_pairs() == [2]


POLICIES = st.just(Adjudicate("manual")) | st.builds(
    Adjudicate,
    st.sampled_from(["majority", "median"]),
    st.sampled_from(["wait", "discard"]),
)
CHANGES = st.lists(
    st.tuples(st.integers(1, 8), st.sampled_from(ANNOTATORS), st.sampled_from(["0", "1", "2", "skip"])),
    max_size=14,
    unique_by=lambda change: change[:2],
)
DECISIONS = st.dictionaries(st.integers(1, 8), st.sampled_from([0, 2, None]), max_size=3)


@pytest.mark.slow
@settings(max_examples=8, phases=[Phase.generate])
@given(labels=CHANGES, policy=POLICIES, decided=DECISIONS, later=CHANGES, other=POLICIES)
def test_a_dry_run_foretells_what_the_run_does_and_labels_never_leave_anything_to_do(
    labels: list[tuple[int, str, str]],
    policy: Adjudicate,
    decided: dict[int, int | None],
    later: list[tuple[int, str, str]],
    other: Adjudicate,
    files: dict[str, Path],
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    folder = tmp_path_factory.mktemp("foretold")
    study = Study(copy_study(files["paired"], folder / "study.db"))
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    record(study, folder, [("ana", 9, "2"), *((who, pair, label) for pair, who, label in labels)])
    assert_foretold(study, policy)
    being_labelled = {pair for _, pair in open_work(study)}
    for pair, code in decided.items():
        if pair not in being_labelled and any(given != "skip" for given in labels_of(study, pair).values()):
            study.grid().decide(pair, code, by="ada")
    record(study, folder, [("ana", 10, "0"), *((who, pair, label) for pair, who, label in later)], supersede=True)
    assert owing(study, policy) == 0
    assert_foretold(study, other)


def assert_foretold(study: Study, policy: Adjudicate) -> None:
    grid = study.grid()
    before = dump(study)
    would = grid.desk.adjudicate_dry_run(policy)
    assert dump(study) == before
    earlier = standing(study)
    run = grid.adjudicate(policy)
    assert run.counts == would.counts
    after = standing(study)
    by_rule = Counter(rule for rule, _ in after.values() if rule not in {"person", "imported", "reopened"})
    by_rule["unanimous"] -= (one_label := run.counts.get("one_label", 0))  # which are counted apart
    by_rule = +(by_rule + Counter(one_label=one_label))
    assert run.counts == {**by_rule, **{name: run.counts[name] for name in ("new", "reopened", "waiting")}}
    assert run.counts["waiting"] == len(grid.waiting_pairs())
    changed = {pair for pair in after if after[pair] != earlier.get(pair)}
    assert {pair for pair in changed if after[pair][0] == "reopened"} == set(would.reopened)
    assert len(changed) == run.counts["new"] + run.counts["reopened"]
    again = grid.adjudicate(policy)
    assert (again.counts["new"], again.counts["reopened"]) == (0, 0)
    assert standing(study) == after


# -- a second look


def doubted(at: At, folder: Path) -> Study:
    """Pairs 2 and 3 were decided by ada; then a label of 2 changed."""
    study = given_labels(at, folder, {1: votes("2", "2"), 2: votes("2", "0"), 3: votes("0", "2")})
    grid = study.grid()
    grid.adjudicate(MAJORITY)
    grid.decide(2, 2, by="ada")
    grid.decide(3, 0, by="ada")
    record(study, folder, [("ana", 2, "0")], supersede=True)
    return study


def test_a_person_s_decision_stands_and_waits_for_a_second_look_when_labels_change(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    assert standing(study)[2] == ("person", 2)
    assert grid.second_looks() == [2]
    assert grid.waiting_pairs() == []
    state = study.status()
    assert state["adjudications"]["second_look"] == 1
    assert state["notes"] == [
        "1 pair was decided before its labels changed and waits for a second look; until then the decision stands"
    ]
    assert "decided before their labels changed: 1; `fcpair adjudicate`" in state["next"]
    assert [grid.explain(pair).second_look for pair in (1, 2, 3)] == [False, True, False]


def test_an_import_says_whose_labels_it_changed_under_a_decision_or_a_verdict(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    again = record(study, tmp_path, [("ana", 2, "not_appropriate"), ("ana", 3, "appropriate")], supersede=True)
    note = "1 pair was decided before its labels changed and waits for a second look; until then the decision stands"
    assert (again.counts["answers"], again.notes) == (1, (note,))
    assert record(study, tmp_path, [("ana", 3, "appropriate")], supersede=True).notes == ()
    checked = at("checked")
    pair = next(pair for pair, (who, code) in standing(checked).items() if who != "person" and code == 2)
    labels = [(who, pair, "not_appropriate") for _, who in labels_of(checked, pair)]
    assert record(checked, tmp_path, labels, supersede=True).notes == (
        "1 pair has a verdict on a label that it no longer has; such a verdict does not count",
    )


def test_a_tier_says_how_many_of_its_pairs_wait_for_a_second_look(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    assert grid.tiers().table().n_second_look == 0  # no verdict yet, so it is in no tier
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    assert grid.tiers().table().n_second_look == 1


@pytest.mark.parametrize("code", [0, 2, None])
def test_deciding_again_settles_it_whatever_is_decided(at: At, tmp_path: Path, code: int | None) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    grid.decide(2, code, by="bo")
    assert grid.second_looks() == []
    assert standing(study)[2] == ("person", code)


@pytest.mark.parametrize(
    ("changes", "doubtful"),
    [
        ([("ana", "0"), ("ana", "2")], False),  # changed, and changed back
        ([("ana", "0"), ("ben", "2")], False),  # exchanged: the labels shown are the same
        ([("ana", "1")], True),
        ([("cleo", "2")], True),
        ([("ben", "skip")], True),
        ([("ana", "skip"), ("ben", "skip")], False),  # nothing is left to look at
    ],
)
def test_what_counts_is_whether_the_labels_are_others(
    at: At, tmp_path: Path, changes: list[tuple[str, str]], doubtful: bool
) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "0"), 2: votes("2")})
    grid = study.grid()
    grid.decide(1, 2, by="ada")
    for who, label in changes:
        record(study, tmp_path, [(who, 1, label)], supersede=True)
    assert grid.second_looks() == [1] * doubtful


def test_a_label_with_an_early_time_is_new_all_the_same(at: At, tmp_path: Path) -> None:
    grid = given_labels(at, tmp_path, {1: votes("2", "0")}).grid()
    grid.decide(1, 2, by="ada")
    row = {"pair": 1, "annotator": "cleo", "label": "0", "time": "2020-01-01T00:00:00+00:00"}
    grid.import_labels(write_csv(tmp_path / "early.csv", [row]))
    assert grid.second_looks() == [1]


def test_the_labels_of_a_decision_by_hand() -> None:
    assert not labels_changed([(1, 7, 2), (2, 8, 0)], newest_seen=2)
    assert labels_changed([(1, 7, 2), (2, 8, 0), (3, 7, 0)], newest_seen=2)
    assert not labels_changed([(1, 7, 2), (2, 8, 0), (3, 7, 0), (4, 7, 2)], newest_seen=2)
    assert not labels_changed([(1, 7, 2), (2, 7, None)], newest_seen=1)


def test_the_docket_offers_it_to_everybody_with_what_was_decided(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    study.add_people(["judy"], Role.ADJUDICATOR)
    judy = admit(study, "judy").id
    state = AdjudicationQueue(grid).state(judy)
    assert (state.waiting, state.again) == (1, 1)
    case = AdjudicationQueue(grid).next(judy)
    assert case is not None
    assert (case.cell_id, case.outcome, case.again, case.own) == (2, "appropriate", True, False)
    AdjudicationQueue(grid).decide(
        judy, DecisionRequest("a-request", 2, "appropriate", "", False, case.decision_id, case.answer_id)
    )
    assert grid.second_looks() == []
    assert [row["person"] for row in grid.explain(2).decisions if row["rule"] == "person"] == ["ada", "judy"]
    assert AdjudicationQueue(grid).next(judy) is None


def test_a_file_confirms_what_waits_for_a_second_look_only_when_asked(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    same = write_csv(tmp_path / "d.csv", [{"pair": 2, "label": "2"}])
    other = write_csv(tmp_path / "e.csv", [{"pair": 2, "label": "0"}])
    assert grid.import_outcomes(same).counts == {"imported": 0, "already_there": 1}
    assert grid.second_looks() == [2]
    assert_refused(study, lambda: grid.import_outcomes(other), InputError, "has a different decision")
    assert grid.import_outcomes(same, supersede=True).counts["imported"] == 1
    assert grid.second_looks() == []


@pytest.mark.parametrize("code", [0, 2, None])
def test_who_takes_a_second_look_back_leaves_the_first_decision_as_it_was(
    at: At, tmp_path: Path, code: int | None
) -> None:
    """The labels of the pair agree on 0 by now, and no rule shall decide what ada has decided."""
    study = doubted(at, tmp_path)
    grid = study.grid()
    grid.decide(2, code, by="bo")
    grid.decide(2, 0, by="bo")
    assert grid.take_back(2, by="bo") is True
    assert standing(study)[2] == ("person", 2)
    assert grid.second_looks() == [2]
    rows = grid.explain(2).decisions
    assert [row["person"] for row in rows] == ["ada", "bo", "bo", "bo", "ada"]
    assert rows[0]["at"] == rows[-1]["at"]
    assert_refused(study, lambda: grid.take_back(2, by="bo"), ConflictError, "only the person who decided, or a lead")
    grid.take_back(2, by="ada")
    assert standing(study)[2] == ("unanimous", 0)


@pytest.mark.server
def test_it_is_the_same_on_the_pages(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    study.add_people(["judy"], Role.ADJUDICATOR)
    judy = admit(study, "judy").id
    case = AdjudicationQueue(grid).next(judy)
    assert case is not None
    AdjudicationQueue(grid).decide(
        judy, DecisionRequest("a-request", 2, "not_appropriate", "", True, case.decision_id, case.answer_id)
    )
    AdjudicationQueue(grid).undo(judy, 2, "an-undo")
    assert standing(study)[2] == ("person", 2)
    assert grid.second_looks() == [2]
    assert AdjudicationQueue(grid).state(judy).again == 1
    assert AdjudicationQueue(grid).next(judy) is not None


def test_a_decision_that_stands_again_was_made_once(at: At, tmp_path: Path) -> None:
    """Neither the pace nor the limit of whoever made it counts it twice."""
    grid = doubted(at, tmp_path).grid()
    before = {one.name: one.n_today for one in Monitor(grid).stages()[1].people}
    grid.decide(2, 0, by="bo")
    grid.take_back(2, by="bo")
    after = {one.name: one.n_today for one in Monitor(grid).stages()[1].people}
    assert before == {"ada": 2}
    assert after == {"ada": 2, "bo": 1}


def test_what_a_file_that_names_nobody_replaced_stands_again_and_is_waited_for(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    grid.import_outcomes(write_csv(tmp_path / "d.csv", [{"pair": 2, "label": "0"}]), supersede=True)
    study.add_people(["lea"], Role.LEAD)
    grid.take_back(2, by="lea")
    assert standing(study)[2] == ("person", 2)
    assert grid.second_looks() == [2]


def test_a_decision_of_a_file_stands_again_too(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {2: votes("2", "0")})
    grid = study.grid()
    grid.import_outcomes(write_csv(tmp_path / "d.csv", [{"pair": 2, "label": "2"}]))
    again = [{"pair": 2, "label": "0", "adjudicator": "bo"}]
    grid.import_outcomes(write_csv(tmp_path / "e.csv", again), supersede=True)
    study.add_people(["lea"], Role.LEAD)
    grid.take_back(2, by="lea")
    assert standing(study)[2] == ("imported", 2)


# -- verdicts whose label is another now


@pytest.mark.slow
def test_verdicts_that_lost_their_label_are_counted_and_more_are_proposed(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("0")})
    grid = study.grid()
    grid.adjudicate(MAJORITY)
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    assert study.status()["lost_verdicts"] == 0
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    state = study.status()
    assert state["lost_verdicts"] == 1
    assert "1; `fcpair validate assign --more`" in state["next"]
    assert state["notes"] == ["1 pair has a verdict on a label that it no longer has; such a verdict does not count"]
    grid.assign_validation(Validate(), more=True)
    assert [pair for _, pair in open_work(study, checks=True)] == [1]
    assert "open verdicts: 1" in study.status()["next"]
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    assert study.status()["lost_verdicts"] == 0


def test_of_a_round_of_a_part_only_the_lost_verdicts_are_proposed_and_they_are_dealt_first(
    at: At, tmp_path: Path
) -> None:
    study = given_labels(at, tmp_path, {pair: votes("2", "2") for pair in range(1, 9)})
    grid = study.grid()
    grid.adjudicate(MAJORITY)
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    grid.assign_validation(Validate(pairs=3, blind=True))
    open_ = open_work(study, checks=True)
    rows = [{"pair": pair, "validator": who, "own_label": "2"} for who, pair in open_]
    grid.import_verdicts(write_csv(tmp_path / "own.csv", rows))
    pair = open_[1][1]
    record(study, tmp_path, [("ana", pair, "0"), ("ben", pair, "0")], supersede=True)
    assert "1; `fcpair validate assign --more --pairs 1 --blind`" in study.status()["next"]
    grid.assign_validation(Validate(pairs=1, blind=True), more=True)
    assert [one for _, one in open_work(study, checks=True)] == [pair]


@pytest.mark.slow
def test_reports_and_cards_say_what_is_to_be_looked_at_again(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    grid = study.grid()
    note = "1 pair was decided before its labels changed and waits for a second look; until then the decision stands"
    assert grid.desk.second_look_notes == [note]
    assert f'<p class="banner" role="note">{note}.</p>' in study.report(tmp_path / "r.html").read_text("utf-8")
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    grid.export.hf(tmp_path / "hf")
    assert f"**{note}.**" in (tmp_path / "hf" / "README.md").read_text("utf-8")


def test_the_only_validator_is_asked_again_about_a_label_that_changed(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("0")})
    grid = study.grid()
    grid.adjudicate(MAJORITY)
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "agree")])
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    run = grid.assign_validation(Validate(), more=True)
    assert (run.counts["pairs"], open_work(study, checks=True)) == (1, [("vera", 1)])
    assert (run.counts["load_min"], run.counts["load_max"], run.counts["asked_again"]) == (1, 1, 1)
    desk, vera = at_desk(study, "vera")
    (task,) = desk.tasks(vera)
    assert task.shown == "not_appropriate"
    give(desk, vera, "agree")
    assert grid.tiers().table().pairs["verdict"].tolist() == [1, 1]


# -- studies of an older fcpair, whose decisions did not follow


SCHEMAS = Path(__file__).parents[2] / "assets"


@pytest.fixture(params=["0001", "0002"])
def older(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return Path(shutil.copy(SCHEMAS / f"{request.param}.sqlite", tmp_path / "study.db"))


def relabel(path: Path, pair: int, code: int) -> None:
    """Give every label of a pair anew, as an older fcpair did: without a look at the decision."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO judgement (assignment_id, skipped, code, origin, note, at) SELECT id, 0, ?, 'imported', '', "
            "'2030-01-01T00:00:00.000+00:00' FROM assignment WHERE pair_id = ? AND round = 'label'",
            (code, pair),
        )


@pytest.mark.server
@pytest.mark.files
def test_the_upgrade_makes_decisions_right_that_had_gone_stale(older: Path) -> None:
    with closing(sqlite3.connect(older)) as connection:
        ((pair, code),) = connection.execute(
            "SELECT pair_id, code FROM adjudication WHERE rule = 'majority' ORDER BY id LIMIT 1"
        ).fetchall()
    relabel(older, pair, 2 - code)
    Study.upgrade(older)
    study = Study(older)
    assert standing(study)[pair] == ("unanimous", 2 - code)
    assert owing(study) == 0
    run = study.log()[-1]
    assert (run.stage, run.params) == ("adjudicate", {"policy": "majority", "ties": "wait"})
    assert run.counts["new"] == 1


@pytest.mark.server
@pytest.mark.files
def test_the_upgrade_of_a_study_without_stale_decisions_writes_none(older: Path) -> None:
    with closing(sqlite3.connect(older)) as connection:
        before = connection.execute("SELECT id, pair_id, rule, code FROM adjudication ORDER BY id").fetchall()
    Study.upgrade(older)
    with closing(sqlite3.connect(older)) as connection:
        after = connection.execute(f"SELECT id, cell_id, rule, {CODE} FROM adjudication ORDER BY id").fetchall()
    assert after == before
    assert len(before) > 10


@pytest.mark.server
@pytest.mark.files
def test_a_dialogue_after_the_majority_did_not_take_it_back_and_does_not_at_the_upgrade(older: Path) -> None:
    with closing(sqlite3.connect(older)) as connection, connection:
        connection.execute(
            "INSERT INTO run (stage, params, counts, version, at) VALUES "
            """('adjudicate', '{"policy": "manual", "ties": "wait"}', '{}', '0.3.0', '2026-01-01')"""
        )
        n_majority = connection.execute("SELECT count(*) FROM adjudication WHERE rule = 'majority'").fetchone()[0]
    Study.upgrade(older)
    study = Study(older)
    assert study.grid().policy == MAJORITY
    assert sum(rule == "majority" for rule, _ in standing(study).values()) == n_majority > 0


@pytest.mark.server
@pytest.mark.files
def test_the_upgrade_finds_decisions_by_people_that_labels_have_overtaken(older: Path) -> None:
    with closing(sqlite3.connect(older)) as connection, connection:
        pairs = [
            row[0]
            for row in connection.execute(
                "SELECT pair_id FROM assignment WHERE round = 'label' AND status = 'done' AND pair_id NOT IN "
                "(SELECT pair_id FROM adjudication) GROUP BY pair_id ORDER BY pair_id LIMIT 2"
            )
        ]
        for pair in pairs:
            connection.execute(
                "INSERT INTO adjudication (pair_id, rule, code, note, at) VALUES "
                "(?, 'person', 2, '', '2029-01-01T00:00:00.000+00:00')",
                (pair,),
            )
    relabel(older, pairs[0], 0)
    Study.upgrade(older)
    assert Study(older).grid().second_looks() == pairs[:1]


def test_a_conflict_whose_labels_change_while_it_is_read_is_not_decided_unseen(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "0")})
    grid = study.grid()
    seen = grid.desk.conflict(1, by="ada")
    record(study, tmp_path, [("cleo", 1, "1")])
    assert_refused(
        study,
        lambda: grid.decide(1, 2, by="ada", seen=seen),
        ConflictError,
        "a label of pair 1 has changed since it was shown",
    )
    grid.decide(1, 2, by="ada", seen=grid.desk.conflict(1, by="ada"))


def test_a_decision_made_meanwhile_is_not_overridden_unseen(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2", "0")})
    grid = study.grid()
    seen = grid.desk.conflict(1, by="ada")
    grid.decide(1, 0, by="bo")
    said = "pair 1 has been decided by bo meanwhile"
    assert_refused(study, lambda: grid.decide(1, 2, by="ada", seen=seen), ConflictError, said)


def test_a_policy_is_one_of_three() -> None:
    from typing import get_args

    assert (get_args(Policy), get_args(Ties)) == (("manual", "majority", "median"), ("wait", "discard"))
    assert NAMES[2] == "appropriate"
