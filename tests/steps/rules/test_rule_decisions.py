"""Decisions by rule follow the labels at every door; those of people wait for a second look when labels change."""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from conftest import one_short
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from servers import copy_study

from fcpair.errors import ConflictError, InputError
from fcpair.grid import Monitor
from fcpair.params import Adjudicate, Validate
from fcpair.records import Role, Rule, Verdict
from fcpair.stages.adjudication.adjudicate import combine_verdicts
from fcpair.steps.base.context import scheme_of
from fcpair.steps.rules import tallies
from fcpair.store import Tx, adjudications, disputes
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.study import Study
from steps.adjudication.test_decisions import given_labels, votes
from steps.online import at_desk, give
from steps.small import (
    ANNOTATORS,
    CODE,
    NAMES,
    VALIDATORS,
    At,
    assert_refused,
    check,
    dump,
    labels_of,
    open_work,
    record,
    standing,
    with_grid,
    write_csv,
)

MAJORITY = Adjudicate("majority")


def owing(study: Study, policy: Adjudicate | None = None) -> int:
    """How many decisions would have to be written for all to be what the policy says."""
    grid = study.grid()
    would = grid.desk.adjudicate_dry_run(policy or grid.policy or MAJORITY)
    return would.counts["new"] + would.counts["reopened"]


def by_file(study: Study, folder: Path) -> None:
    record(study, folder, [("ana", 1, "0"), ("ben", 1, "0"), ("ana", 2, "1"), ("cleo", 3, "2")], supersede=True)


def at_the_desk(study: Study, folder: Path) -> None:
    desk, ana = at_desk(study, "ana")
    for task in desk.answers(ana, n=4):
        give(desk, ana, "not_appropriate" if task.answer == "appropriate" else "skip", task.assignment_id)


def by_withdrawal(study: Study, folder: Path) -> None:
    study.grid().withdraw(record(study, folder, [("ana", 1, "0"), ("ana", 2, "0")], supersede=True).id, "labels")


@pytest.mark.parametrize("policy", [Adjudicate(), MAJORITY, Adjudicate("majority", "discard"), Adjudicate("median")])
def test_whoever_changes_labels_the_decisions_by_rule_follow(at: At, tmp_path: Path, policy: Adjudicate) -> None:
    labels = {1: votes("2", "2"), 2: votes("2", "2", "0"), 3: votes("2", "0", "0"), 4: votes("1"), 5: votes("1", "0")}
    for door in (by_file, at_the_desk, by_withdrawal):
        study = given_labels(at, tmp_path, labels)
        study.grid().adjudicate(policy)
        before = labels_of(study)
        door(study, tmp_path)
        assert labels_of(study) != before
        assert owing(study) == 0
        study.close()


def test_a_label_is_decided_at_once_where_a_policy_holds(at: At, tmp_path: Path) -> None:
    study = given_labels(at, tmp_path, {1: votes("2"), 2: votes("2", "0"), 3: votes("2", "2", "0")})
    grid = study.grid()
    grid.decide(2, 2, by="ada")
    record(study, tmp_path, [("ana", 4, "0")])
    assert standing(study) == {2: ("person", 2)}  # no policy has been set yet
    grid.adjudicate(MAJORITY)
    run = record(study, tmp_path, [("ana", 5, "0"), ("ben", 1, "2")])
    by_rule = {1: ("unanimous", 2), 3: ("majority", 2), 4: ("unanimous", 0), 5: ("unanimous", 0)}
    assert standing(study) == by_rule | {2: ("person", 2)}
    assert run.counts["decided"] == 1
    grid.decide(3, 0, by="ada")
    for pair in (2, 3):  # what is taken back is the rule's again
        grid.take_back(pair, by="ada")
    assert standing(study) == by_rule | {2: ("reopened", None)}
    assert grid.waiting_pairs() == [2]


POLICIES = st.just(Adjudicate("manual")) | st.builds(
    Adjudicate, st.sampled_from(["majority", "median"]), st.sampled_from(["wait", "discard"])
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


SECOND_LOOK = "1 pair was decided before its labels changed and waits for a second look; until then the decision stands"
LOST_VERDICT = "1 pair has a verdict on a label that it no longer has; such a verdict does not count"


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
    study, grid = with_grid(doubted(at, tmp_path))
    assert standing(study)[2] == ("person", 2)
    assert grid.second_looks() == [2]
    assert grid.waiting_pairs() == []
    state = study.status()
    assert state["adjudications"]["second_look"] == 1
    assert state["notes"] == [SECOND_LOOK]
    assert "decided before their labels changed: 1; `fcpair adjudicate`" in state["next"]
    assert [grid.explain(pair).second_look for pair in (1, 2, 3)] == [False, True, False]
    assert grid.tiers().table().n_second_look == 0  # no verdict yet, so it is in no tier
    assert grid.desk.basis_notes == [SECOND_LOOK]
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [("vera", pair, "agree") for pair in (1, 2, 3)])
    assert grid.tiers().table().n_second_look == 1
    assert f'<p class="banner" role="note">{SECOND_LOOK}.</p>' in study.report(tmp_path / "r.html").read_text("utf-8")
    grid.export.hf(tmp_path / "hf")
    assert f"**{SECOND_LOOK}.**" in (tmp_path / "hf" / "README.md").read_text("utf-8")


def test_an_import_says_whose_labels_it_changed_under_a_decision_or_a_verdict(at: At, tmp_path: Path) -> None:
    study = doubted(at, tmp_path)
    again = record(study, tmp_path, [("ana", 2, "not_appropriate"), ("ana", 3, "appropriate")], supersede=True)
    assert (again.counts["answers"], again.notes) == (1, (SECOND_LOOK,))
    assert record(study, tmp_path, [("ana", 3, "appropriate")], supersede=True).notes == ()
    checked = at("checked")
    pair = next(pair for pair, (who, code) in standing(checked).items() if who != "person" and code == 2)
    labels = [(who, pair, "not_appropriate") for _, who in labels_of(checked, pair)]
    assert record(checked, tmp_path, labels, supersede=True).notes == (LOST_VERDICT,)


@pytest.mark.parametrize("code", [0, 2, None])
def test_deciding_again_settles_it_and_who_takes_that_back_leaves_the_first_decision_as_it_was(
    at: At, tmp_path: Path, code: int | None
) -> None:
    """The labels of the pair agree on 0 by now, and no rule shall decide what ada has decided."""
    study, grid = with_grid(doubted(at, tmp_path))
    grid.decide(2, code, by="bo")
    assert grid.second_looks() == []
    assert standing(study)[2] == ("person", code)
    grid.decide(2, 0, by="bo")
    assert grid.take_back(2, by="bo") is True
    assert standing(study)[2] == ("person", 2)
    assert grid.second_looks() == [2]
    rows = grid.explain(2).decisions
    assert [row["person"] for row in rows] == ["ada", "bo", "bo", "bo", "ada"]
    assert rows[0]["at"] == rows[-1]["at"]
    n_today = {person.name: person.n_today for person in Monitor(grid).stages()[1].people}
    assert n_today == {"ada": 2, "bo": 2}  # a decision that stands again was made once
    assert_refused(study, lambda: grid.take_back(2, by="bo"), ConflictError, "only the person who decided, or a lead")
    grid.take_back(2, by="ada")
    assert standing(study)[2] == ("unanimous", 0)


CHANGED = [
    ([("ana", "0"), ("ana", "2")], False),  # changed, and changed back
    ([("ana", "0"), ("ben", "2")], False),  # exchanged: the labels shown are the same
    ([("ana", "1")], True),
    ([("cleo", "2")], True),
    ([("ben", "skip")], True),
    ([("ana", "skip"), ("ben", "skip")], False),  # nothing is left to look at
]


def test_what_counts_is_whether_the_labels_are_others(at: At, tmp_path: Path) -> None:
    """Each pair has its own change, of which a label with an early time is new all the same."""
    n = len(CHANGED) + 1
    study = given_labels(at, tmp_path, {pair: votes("2", "0") for pair in range(1, n + 1)} | {n + 1: votes("2")})
    grid = study.grid()
    for pair in range(1, n + 1):
        grid.decide(pair, 2, by="ada")
    for pair, (changes, _) in enumerate(CHANGED, 1):
        for who, label in changes:
            record(study, tmp_path, [(who, pair, label)], supersede=True)
    row = {"pair": n, "annotator": "cleo", "label": "0", "time": "2020-01-01T00:00:00+00:00"}
    grid.import_labels(write_csv(tmp_path / "early.csv", [row]))
    assert grid.second_looks() == [*(pair for pair, (_, doubtful) in enumerate(CHANGED, 1) if doubtful), n]


def test_a_file_confirms_what_waits_for_a_second_look_only_when_asked(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(doubted(at, tmp_path))
    same = write_csv(tmp_path / "d.csv", [{"pair": 2, "label": "2"}])
    other = write_csv(tmp_path / "e.csv", [{"pair": 2, "label": "0"}])
    assert grid.import_outcomes(same).counts == {"imported": 0, "already_there": 1}
    assert grid.second_looks() == [2]
    assert_refused(study, lambda: grid.import_outcomes(other), InputError, "has a different decision")
    assert grid.import_outcomes(same, supersede=True).counts["imported"] == 1
    assert grid.second_looks() == []


def test_what_a_file_replaced_stands_again(at: At, tmp_path: Path) -> None:
    def replaced_by_file(study: Study, **named: str) -> Study:
        path = write_csv(tmp_path / "d.csv", [{"pair": 2, "label": "0"} | named])
        study.grid().import_outcomes(path, supersede=True)
        study.add_people(["lea"], Role.LEAD)
        study.grid().take_back(2, by="lea")
        return study

    study = replaced_by_file(doubted(at, tmp_path))  # by nobody who is named
    assert standing(study)[2] == ("person", 2)
    assert study.grid().second_looks() == [2]
    study.close()
    study = given_labels(at, tmp_path, {2: votes("2", "0")})
    study.grid().import_outcomes(write_csv(tmp_path / "first.csv", [{"pair": 2, "label": "2"}]))
    assert standing(replaced_by_file(study, adjudicator="bo"))[2] == ("imported", 2)


@pytest.mark.slow
def test_a_verdict_that_lost_its_label_is_counted_and_its_validator_asked_again(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(given_labels(at, tmp_path, {1: votes("2", "2"), 2: votes("0")}))
    grid.adjudicate(MAJORITY)
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    check(study, tmp_path, [("vera", 1, "agree"), ("vera", 2, "agree")])
    assert study.status()["lost_verdicts"] == 0
    record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "0")], supersede=True)
    state = study.status()
    assert state["lost_verdicts"] == 1
    assert "1; `fcpair validate assign --more`" in state["next"]
    assert state["notes"] == [LOST_VERDICT]
    run = grid.assign_validation(Validate(), more=True)
    assert (run.counts["pairs"], open_work(study, checks=True)) == (1, [("vera", 1)])
    assert (run.counts["load_min"], run.counts["load_max"], run.counts["asked_again"]) == (1, 1, 1)
    assert "open verdicts: 1" in study.status()["next"]
    desk, vera = at_desk(study, "vera")
    (task,) = desk.tasks(vera)
    assert task.shown == "not_appropriate"
    give(desk, vera, "agree")
    assert study.status()["lost_verdicts"] == 0
    assert grid.tiers().table().pairs["verdict"].tolist() == [1, 1]


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
def test_the_upgrade_makes_decisions_right_that_had_gone_stale_and_finds_those_of_people(older: Path) -> None:
    """A dialogue after the majority did not take that back, and does not at the upgrade."""
    with closing(sqlite3.connect(older)) as connection, connection:
        majority = connection.execute(
            "SELECT pair_id, code FROM adjudication WHERE rule = 'majority' ORDER BY id"
        ).fetchall()
        undecided = connection.execute(
            "SELECT pair_id FROM assignment WHERE round = 'label' AND status = 'done' AND pair_id NOT IN "
            "(SELECT pair_id FROM adjudication) GROUP BY pair_id ORDER BY pair_id LIMIT 2"
        ).fetchall()
        connection.executemany(
            "INSERT INTO adjudication (pair_id, rule, code, note, at) VALUES "
            "(?, 'person', 2, '', '2029-01-01T00:00:00.000+00:00')",
            undecided,
        )
        connection.execute(
            "INSERT INTO run (stage, params, counts, version, at) VALUES "
            """('adjudicate', '{"policy": "manual", "ties": "wait"}', '{}', '0.3.0', '2026-01-01')"""
        )
    (pair, code), *_ = majority
    ((doubtful,), _) = undecided
    relabel(older, pair, 2 - code)
    relabel(older, doubtful, 0)
    Study.upgrade(older)
    study = Study(older)
    assert standing(study)[pair] == ("unanimous", 2 - code)
    assert owing(study) == 0
    run = study.log()[-1]
    assert (run.stage, run.params) == ("adjudicate", {"policy": "majority", "ties": "wait"})
    assert run.counts["new"] == 1
    assert study.grid().policy == MAJORITY
    assert sum(rule == "majority" for rule, _ in standing(study).values()) == len(majority) - 1 > 0
    assert study.grid().second_looks() == [doubtful]


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


def test_who_decided_a_pair_cannot_come_to_label_it(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    record(study, tmp_path, [("ana", 1, "2"), ("ben", 1, "0")])
    study.grid().decide(1, 2, by="ada")
    study.change_role("ada", Role.VALIDATOR)
    study.change_role("ada", Role.ANNOTATOR)
    with pytest.raises(InputError, match="ada validates or decided pair 1, so cannot label it"):
        record(study, tmp_path, [("ada", 1, "2")])


N_PAIRS = 24


def waiting_pairs(tx: Tx) -> list[int]:
    return disputes.undecided_pairs(tx, scheme_of(tx).definite)[1]


def pair_by_pair(tx: Tx) -> tuple[tallies.PairCounts, Counter[str], set[int]]:
    standing = adjudications.current_adjudications(tx, "cell_id", "rule", "code").set_index("cell_id")
    labels = set(standing["code"].dropna().index)
    labelled = set(judgements.current_labels(tx, "cell_id")["cell_id"])
    verdicts = judgements.current_verdicts(tx, "cell_id", "code")
    pairs, verdict = combine_verdicts(verdicts["cell_id"].to_numpy(np.int64), verdicts["code"].to_numpy(np.int64))
    checked, waiting = dict(zip(pairs.tolist(), verdict.tolist(), strict=True)), set(waiting_pairs(tx))
    lost = set(judgements.current_labels(tx, "cell_id", of=rounds.validation(tx))["cell_id"]) - set(checked)
    where: Counter[str] = Counter()
    for cell_id in range(1, N_PAIRS + 1):
        if cell_id not in standing.index or standing["rule"][cell_id] == Rule.REOPENED:
            waits = "wait_for_person" if cell_id in waiting else "wait_for_policy"
            where[waits if cell_id in labelled else "no_label"] += 1
        elif cell_id not in labels:
            where["discarded"] += 1
        else:
            said = checked.get(cell_id)
            where["no_verdict" if said is None else "valid" if said == Verdict.AGREE else "not_valid"] += 1
    names = ("no_label", "wait_for_person", "wait_for_policy", "discarded", "no_verdict", "valid", "not_valid")
    return tallies.PairCounts(*(where[name] for name in names)), Counter(standing["rule"]), lost


def assert_counted(study: Study) -> tallies.Tally:
    with study._store.read() as tx:
        pairs, rules, lost = pair_by_pair(tx)
        counted, waiting = tallies.tally(tx), tuple(waiting_pairs(tx))
        assert judgements.lost_verdicts(tx) == sorted(lost)
    assert counted == tallies.Tally(pairs, dict(sorted(rules.items())), len(lost), waiting)
    return counted


@pytest.mark.server
@pytest.mark.parametrize("blind", [False, True])
@pytest.mark.parametrize("seed", one_short(*range(3)))
def test_whatever_is_changed_afterwards(at: Callable[[str], Study], tmp_path: Path, seed: int, *, blind: bool) -> None:
    rng, study = random.Random(seed), at("labelled")
    grid = study.grid()
    had = list(grid.labels()[["annotator", "pair"]].itertuples(index=False, name=None))
    grid.adjudicate(Adjudicate("majority", "discard" if seed else "wait"))
    study.add_people(["bo"], Role.ADJUDICATOR)
    assert_counted(study)
    study.add_people([*VALIDATORS, "xena"], Role.VALIDATOR)
    for more in (False, True):
        grid.assign_validation(Validate(blind=blind, seed=seed), more=more)
        has_label = {pair for pair, (_, code) in standing(study).items() if code is not None}
        open_ = [(who, pair) for who, pair in open_work(study, checks=True) if pair in has_label]
        if blind:
            rows = [{"pair": pair, "validator": who, "own_label": rng.choice(NAMES)} for who, pair in open_]
            grid.import_verdicts(write_csv(tmp_path / "own.csv", rows))
        else:
            check(study, tmp_path, [(who, pair, rng.choice(("agree", "disagree", "skip"))) for who, pair in open_])
        assert_counted(study)
        changed = rng.sample(had, len(had) // 2)
        record(study, tmp_path, [(who, pair, rng.choice((*NAMES, "skip"))) for who, pair in changed], supersede=True)
        assert_counted(study)
    grid.adjudicate(Adjudicate("manual"))
    counted = assert_counted(study)
    assert counted.n_lost
    assert counted.pairs.wait_for_person


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
