"""A file that was imported by mistake is taken back as a whole; nothing is deleted, and the cells wait again."""

from __future__ import annotations

import sqlite3
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
import pytest
from servers import execute

from fcpair.errors import ConflictError, InputError, StageError, UnknownIdError
from fcpair.params import Assign, Simulate
from fcpair.records import Role
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import (
    ANNOTATORS,
    At,
    assert_refused,
    check,
    label_of,
    labels_of,
    open_work,
    record,
    verdict_of,
    with_grid,
)


def judgements(study: Study) -> list[tuple[object, ...]]:
    return execute(study.place, "SELECT * FROM judgement ORDER BY id")


def counts_of(study: Study) -> dict[str, int]:
    counts: dict[str, int] = study.status()["rounds"]["label"]
    return counts


def all_wrong(study: Study, folder: Path) -> int:
    """Import a file in which every label is wrong; returns its run."""
    run: int = record(study, folder, [(who, pair, "not_sure") for who, pair in open_work(study)]).id
    return run


def test_its_answers_stay_on_record_and_its_cells_wait_again(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid, work = study.grid(), open_work(study)
    who, pair = work[0]
    desk, ana = at_desk(study, "ana")
    shown = [task.cell_id for task in desk.tasks(ana, 50)]
    run = all_wrong(study, tmp_path)
    given = judgements(study)
    done = grid.withdraw(run, "labels")
    assert (done.stage, done.params) == ("label withdraw", {"run": run})
    assert done.counts == {"answers": 42, "skips": 0, "superseded_since": 0, "reassigned": 0, "vacant": 0}
    assert judgements(study)[:42] == given
    assert len(judgements(study)) == 84
    assert open_work(study) == work
    assert labels_of(study) == {}
    state = study.status()
    assert (state["judgements"], counts_of(study)["done"], counts_of(study)["skipped"]) == ({}, 0, 0)
    history = grid.explain(pair).answers  # withdrawn is neither a skip nor unseen
    told = [(row["person"], row["answer"], row["withdrawn"]) for row in history]
    assert (who, "not_sure", False) in told
    assert (who, "withdrawn", True) in told
    assert "skip" not in {answer for _, answer, _ in told}
    assert {row["run"] for row in history} == {run, done.id}
    assert [task.cell_id for task in desk.tasks(ana, 50)] == shown
    assert desk.answers(ana) == []
    for call in (grid.agreement, grid.tiers().table):
        with pytest.raises(StageError, match="needs labels first"):
            call()
    with pytest.raises(StageError, match="judgements are never discarded"):
        grid.assign(Assign(seed=2), redo=True)
    taken_back = "SELECT DISTINCT skipped, answer_id FROM judgement WHERE withdraws IS NOT NULL"
    assert execute(study.place, taken_back) == [(1, None)]
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match="withdrawal_or_answer"):
        execute(
            study.place,
            "INSERT INTO judgement (id, assignment_id, skipped, answer_id, origin, note, at, withdraws) "
            "VALUES (999, 1, false, 2, 'imported', '', '', 1)",
        )
    again = record(study, tmp_path, [(who, pair, "not_sure") for who, pair in work])  # it was the right one after all
    assert again.counts["answers"] == 42
    grid.withdraw(again.id, "labels")
    simulated = grid.simulate(Simulate(skips=0))
    assert simulated.counts["answers"] == 42
    grid.withdraw(simulated.id, "labels")
    give(desk, ana, "appropriate")
    assert labels_of(study) == {(shown[0], "ana"): "appropriate"}


def test_what_was_answered_since_in_a_file_or_online_stays(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("dealt"))
    who, pair = open_work(study)[0]
    run = all_wrong(study, tmp_path)
    record(study, tmp_path, [(who, pair, "skip")], supersede=True)
    desk, ben = at_desk(study, "ben")
    first = desk.answers(ben)[0]
    give(desk, ben, "appropriate", first.assignment_id)
    assert grid.withdraw(run, "labels").counts["superseded_since"] == 2
    assert labels_of(study) == {(pair, who): "skip", (first.cell_id, "ben"): "appropriate"}
    assert len(open_work(study)) == 41  # the skip has passed its pair on
    exported = grid.labels()[["pair", "annotator", "label"]].to_numpy().tolist()
    assert sorted(exported) == sorted([[pair, who, "skip"], [first.cell_id, "ben", "appropriate"]])


def test_verdicts_are_withdrawn_alike_and_as_verdicts_alone(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checking"))
    work = open_work(study, checks=True)
    run = check(study, tmp_path, [(who, pair, "disagree") for who, pair in work])
    message = rf"run {run.id} \(validate import\) brought no labels but verdicts; `fcpair validate withdraw {run.id}`"
    assert_refused(study, lambda: grid.withdraw(run.id, "labels"), StageError, message)
    assert grid.withdraw(run.id, "verdicts").counts["answers"] == 19
    assert open_work(study, checks=True) == work
    assert (grid.tiers().table().pairs["verdict"] == -1).all()
    check(study, tmp_path, [(who, pair, verdict_of(pair)) for who, pair in work])
    assert (grid.tiers().table().pairs["verdict"] >= 0).sum() == 19
    again = check(study, tmp_path, [(who, pair, verdict_of(pair)) for who, pair in work])
    assert_refused(study, lambda: grid.withdraw(again.id), StageError, "brought no new answers")


@pytest.mark.server
def test_a_published_study_is_not_withdrawn_in_part(tmp_path: Path, data: Path) -> None:
    study, grid = with_grid(Study.create(tmp_path / "p.db"))
    run = grid.import_published(data / "fc-conan" / "diamond_partition_df.csv")
    assert_refused(study, lambda: grid.withdraw(run.id, "labels"), StageError, "imported a published study")


@pytest.mark.server
@pytest.mark.parametrize("heir_answers", [False, True])
def test_a_skip_that_is_withdrawn_takes_its_pair_back_from_who_has_not_answered(
    at: At, tmp_path: Path, heir_answers: bool
) -> None:
    study = at("dealt")
    grid, work = study.grid(), open_work(study)
    who, pair = next((who, pair) for who, pair in work if sum(other == pair for _, other in work) == 1)
    skip = record(study, tmp_path, [(who, pair, "skip")])
    (heir,) = (name for name, other in open_work(study) if other == pair)
    assert heir != who
    if heir_answers:
        answer = record(study, tmp_path, [(heir, pair, "appropriate")])
        grid.withdraw(answer.id, "labels")
        assert (heir, pair) in open_work(study)
    grid.withdraw(skip.id, "labels")
    assert open_work(study) == work
    assert counts_of(study)["vacant"] == 0


@pytest.mark.parametrize("leave", ["retire", "change_role"])
def test_what_somebody_who_left_would_have_again_goes_to_others(at: At, tmp_path: Path, leave: str) -> None:
    study = at("dealt")
    run = all_wrong(study, tmp_path)
    study.add_people(["dora"], Role.ANNOTATOR)
    if leave == "retire":
        study.retire("ana")
    else:
        study.change_role("ana", Role.VALIDATOR)
    done = study.grid().withdraw(run, "labels")
    assert (done.counts["reassigned"], done.counts["vacant"]) == (14, 0)
    assert len(open_work(study)) == 42
    assert "ana" not in {who for who, _ in open_work(study)}


@pytest.mark.server
def test_labels_that_brought_their_own_deal_can_be_withdrawn(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    run = record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "2"), ("ana", 2, "skip")])
    study.grid().withdraw(run.id, "labels")
    assert labels_of(study) == {}
    record(study, tmp_path, [("ana", 1, "2"), ("cleo", 3, "0")])
    assert labels_of(study) == {(1, "ana"): "appropriate", (3, "cleo"): "not_appropriate"}


@pytest.mark.server
@pytest.mark.parametrize("seed", range(4))
def test_simulated_labels_can_be_withdrawn_however_slots_were_passed_on(at: At, tmp_path: Path, seed: int) -> None:
    study = at("dealt")
    grid, work = study.grid(), open_work(study)
    run = grid.simulate(Simulate(seed=seed, skips=0.6))
    grid.withdraw(run.id, "labels")
    assert (study.status()["simulated"], study.status()["judgements"]) == (None, {})
    assert open_work(study) == work
    assert (len(work), counts_of(study)["vacant"]) == (42, 0)
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in work])
    assert study.status()["judgements"] == {"imported": 42}


def test_a_skip_that_is_withdrawn_leaves_the_pair_with_who_has_answered_it(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    work = open_work(study)
    who, pair = next((who, pair) for who, pair in work if sum(other == pair for _, other in work) == 1)
    run = record(study, tmp_path, [(who, pair, "skip")])
    (heir,) = (name for name, other in open_work(study) if other == pair)
    record(study, tmp_path, [(heir, pair, "appropriate")])
    study.grid().withdraw(run.id, "labels")
    assert labels_of(study, pair) == {(pair, heir): "appropriate"}
    assert (counts_of(study)["open"], counts_of(study)["vacant"]) == (41, 0)


@pytest.mark.slow
def test_what_somebody_has_opted_out_of_does_not_come_back_to_them(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    run = all_wrong(study, tmp_path)
    ana = next(person.id for person in study.people if person.name == "ana")
    topics = [topic.value for topic in study.access.topics(ana, "hs_topic")]
    study.access.opt_out(ana, "hs_topic", topics[:1])
    avoided = {pair for pair in range(1, 25) if grid.explain(pair).hs_metadata["hs_topic"] == topics[0]}
    grid.withdraw(run, "labels")
    assert not {pair for who, pair in open_work(study) if who == "ana"} & avoided
    assert open_work(study)


@pytest.mark.server
def test_one_answer_of_one_person_is_withdrawn_with_a_reason_and_what_rests_on_it_follows(
    at: At, tmp_path: Path
) -> None:
    study, grid = with_grid(at("decided"))
    by_hand, by_rule = (
        grid.waiting_pairs()[0],
        next(pair for (pair, _), _ in labels_of(study).items() if pair not in grid.waiting_pairs()),
    )
    study.add_people(["judy"], Role.ADJUDICATOR)
    grid.decide(by_hand, 2, by="judy")
    given, labels = judgements(study), labels_of(study)
    for pair in (by_hand, by_rule):
        who = next(name for number, name in labels if number == pair)
        done = grid.withdraw(kind="labels", pair=pair, who=who, note="a slip")
        assert (done.stage, done.params) == ("label withdraw", {"pair": pair, "person": who, "note": "a slip"})
        assert done.counts["answers"] == 1
        last = grid.explain(pair).answers[-1]
        assert (last["person"], last["answer"], last["note"], last["withdrawn"]) == (who, "withdrawn", "a slip", True)
        assert (who, pair) in open_work(study)
        labels.pop((pair, who))
    assert judgements(study)[: len(given)] == given
    assert labels_of(study) == labels
    assert grid.second_looks() == []  # the pair is labelled again first
    record(study, tmp_path, [(who, pair, "not_appropriate") for who, pair in open_work(study)])
    assert grid.second_looks() == [by_hand]


def test_an_answer_that_is_not_there_or_was_given_anew_is_not_withdrawn(at: At) -> None:
    study, grid = with_grid(at("labelled"))
    who, pair = next((name, number) for number, name in labels_of(study))
    wrong: list[dict[str, Any]] = [{}, {"run": 3, "pair": pair}, {"pair": pair}, {"who": who}]
    for given in wrong:
        assert_refused(study, partial(grid.withdraw, **given), InputError, "name a run whose answers")
    refused: list[tuple[type[Exception], dict[str, Any]]] = [
        (UnknownIdError, {"pair": 999, "who": who}),
        (UnknownIdError, {"pair": pair, "who": "zoe"}),
        (UnknownIdError, {"pair": pair, "who": who, "round": "rate"}),
        (ConflictError, {"pair": pair, "who": who, "seen": "2026-01-01"}),
        (ConflictError, {"pair": pair, "who": who, "kind": "verdicts"}),
    ]
    for error, own in refused:
        assert_refused(study, partial(grid.withdraw, **own), error, "there is no|nobody called|has no such answer")
    grid.withdraw(pair=pair, who=who)
    assert_refused(
        study,
        lambda: grid.withdraw(pair=pair, who=who),
        ConflictError,
        f"`{who}` has no such answer to pair {pair} now",
    )
