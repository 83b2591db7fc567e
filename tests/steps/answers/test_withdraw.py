"""A file that was imported by mistake is taken back as a whole; nothing is deleted, and the cells wait again."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from servers import execute

from fcpair.errors import FcpairError, StageError, UnknownIdError
from fcpair.params import Assign, Simulate
from fcpair.records import Role
from fcpair.store.people import people
from fcpair.study import Study
from steps.online import at_desk, give
from steps.small import (
    ANNOTATORS,
    assert_refused,
    check,
    label_of,
    labels_of,
    open_work,
    record,
    verdict_of,
)

At = Callable[[str], Study]


def judgements(study: Study) -> list[tuple[object, ...]]:
    return execute(study.place, "SELECT * FROM judgement ORDER BY id")


def rounds(study: Study, round_: str = "label") -> dict[str, int]:
    counts: dict[str, int] = study.status()["rounds"][round_]
    return counts


def all_wrong(study: Study, folder: Path) -> int:
    """Import a file in which every label is wrong; returns its run."""
    run: int = record(study, folder, [(who, pair, "not_sure") for who, pair in open_work(study)]).id
    return run


def test_its_answers_stay_on_record_and_its_cells_wait_again(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    before = open_work(study)
    run = all_wrong(study, tmp_path)
    there = judgements(study)
    done = study.grid().withdraw(run, "labels")
    assert (done.stage, done.params) == ("label withdraw", {"run": run})
    assert done.counts == {"answers": 42, "skips": 0, "superseded_since": 0, "reassigned": 0, "vacant": 0}
    assert judgements(study)[:42] == there
    assert len(judgements(study)) == 84
    assert open_work(study) == before
    assert labels_of(study) == {}
    state = study.status()
    assert (state["judgements"], rounds(study)["done"], rounds(study)["skipped"]) == ({}, 0, 0)


def test_the_right_file_needs_no_supersede(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    work = open_work(study)
    study.grid().withdraw(all_wrong(study, tmp_path), "labels")
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in work])
    assert labels_of(study) == {(pair, who): label_of(pair, who) for who, pair in work}
    assert open_work(study) == []


def test_the_wrong_file_may_even_be_the_right_one_after_all(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    work = open_work(study)
    study.grid().withdraw(all_wrong(study, tmp_path), "labels")
    run = record(study, tmp_path, [(who, pair, "not_sure") for who, pair in work])
    assert run.counts["answers"] == 42


def test_an_answer_that_was_superseded_since_leaves_the_newer_one(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    who, pair = open_work(study)[0]
    run = all_wrong(study, tmp_path)
    record(study, tmp_path, [(who, pair, "appropriate")], supersede=True)
    assert study.grid().withdraw(run, "labels").counts["superseded_since"] == 1
    assert labels_of(study) == {(pair, who): "appropriate"}
    assert len(open_work(study)) == 41


def test_an_answer_given_online_since_stays(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    run = all_wrong(study, tmp_path)
    desk, ana = at_desk(study, "ana")
    first = desk.answers(ana)[0]
    give(desk, ana, "appropriate", first.assignment_id)
    study.grid().withdraw(run, "labels")
    assert labels_of(study) == {(first.cell_id, "ana"): "appropriate"}


def test_who_had_the_pair_finds_it_at_the_desk_again(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    desk, ana = at_desk(study, "ana")
    shown = [task.cell_id for task in desk.tasks(ana, 50)]
    study.grid().withdraw(all_wrong(study, tmp_path), "labels")
    assert [task.cell_id for task in desk.tasks(ana, 50)] == shown
    assert desk.answers(ana) == []
    give(desk, ana, "appropriate")
    assert labels_of(study) == {(shown[0], "ana"): "appropriate"}


def test_withdrawn_is_neither_a_skip_nor_unseen(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    who, pair = open_work(study)[0]
    run = all_wrong(study, tmp_path)
    grid.withdraw(run, "labels")
    told = [(row["person"], row["answer"], row["withdrawn"]) for row in grid.explain(pair).answers]
    assert (who, "not_sure", False) in told
    assert (who, "withdrawn", True) in told
    assert "skip" not in {answer for _, answer, _ in told}


def test_each_answer_says_which_run_brought_it(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    pair = open_work(study)[0][1]
    run = all_wrong(study, tmp_path)
    withdrawal = grid.withdraw(run, "labels")
    assert {row["run"] for row in grid.explain(pair).answers} == {run, withdrawal.id}


def test_a_second_withdrawal_says_that_it_was_done(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    run = all_wrong(study, tmp_path)
    grid.withdraw(run, "labels")
    match = rf"run {run} \(label import\) has been withdrawn already"
    assert_refused(study, lambda: grid.withdraw(run, "labels"), StageError, match)
    record(study, tmp_path, [(who, pair, "0") for who, pair in open_work(study)])
    assert_refused(study, lambda: grid.withdraw(run, "labels"), StageError, match)


def test_labels_are_needed_again_where_all_were_withdrawn(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.withdraw(all_wrong(study, tmp_path), "labels")
    for call in (grid.agreement, grid.tiers().table):
        with pytest.raises(StageError, match="needs labels first"):
            call()


def test_the_grid_still_cannot_be_made_anew(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.withdraw(all_wrong(study, tmp_path), "labels")
    with pytest.raises(StageError, match="judgements are never discarded"):
        grid.assign(Assign(seed=2), redo=True)


# -- slots


@pytest.mark.server
def test_a_skip_that_is_withdrawn_takes_its_pair_back_from_who_has_not_answered(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    before = open_work(study)
    who, pair = next((who, pair) for who, pair in before if sum(other == pair for _, other in before) == 1)
    run = record(study, tmp_path, [(who, pair, "skip")])
    assert [name for name, other in open_work(study) if other == pair] != [who]
    study.grid().withdraw(run.id, "labels")
    assert open_work(study) == before


def test_a_skip_that_is_withdrawn_leaves_the_pair_with_who_has_answered_it(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    before = open_work(study)
    who, pair = next((who, pair) for who, pair in before if sum(other == pair for _, other in before) == 1)
    run = record(study, tmp_path, [(who, pair, "skip")])
    (heir,) = (name for name, other in open_work(study) if other == pair)
    record(study, tmp_path, [(heir, pair, "appropriate")])
    study.grid().withdraw(run.id, "labels")
    assert labels_of(study, pair) == {(pair, heir): "appropriate"}
    assert (rounds(study)["open"], rounds(study)["vacant"]) == (41, 0)


@pytest.mark.server
def test_two_files_that_hang_together_can_both_be_withdrawn(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    before = open_work(study)
    who, pair = next((who, pair) for who, pair in before if sum(other == pair for _, other in before) == 1)
    skip = record(study, tmp_path, [(who, pair, "skip")])
    (heir,) = (name for name, other in open_work(study) if other == pair)
    answer = record(study, tmp_path, [(heir, pair, "appropriate")])
    grid.withdraw(answer.id, "labels")
    assert (heir, pair) in open_work(study)
    grid.withdraw(skip.id, "labels")
    assert open_work(study) == before
    assert rounds(study)["vacant"] == 0


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


@pytest.mark.slow
def test_what_somebody_has_opted_out_of_does_not_come_back_to_them(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    run = all_wrong(study, tmp_path)
    with study._store.read() as tx:
        ana = next(one.id for one in people.people(tx) if one.name == "ana")
    topics = [topic.value for topic in study.access.topics(ana, "hs_topic")]
    study.access.opt_out(ana, "hs_topic", topics[:1])
    avoided = {pair for pair in range(1, 25) if grid.explain(pair).hs_metadata["hs_topic"] == topics[0]}
    grid.withdraw(run, "labels")
    assert not {pair for who, pair in open_work(study) if who == "ana"} & avoided
    assert open_work(study)


@pytest.mark.server
def test_labels_that_brought_their_own_deal_can_be_withdrawn(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    run = record(study, tmp_path, [("ana", 1, "0"), ("ben", 1, "2"), ("ana", 2, "skip")])
    study.grid().withdraw(run.id, "labels")
    assert labels_of(study) == {}
    record(study, tmp_path, [("ana", 1, "2"), ("cleo", 3, "0")])
    assert labels_of(study) == {(1, "ana"): "appropriate", (3, "cleo"): "not_appropriate"}


# -- other runs


def test_verdicts_are_withdrawn_alike(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    before = open_work(study, checks=True)
    run = check(study, tmp_path, [(who, pair, "disagree") for who, pair in before])
    assert grid.withdraw(run.id, "verdicts").counts["answers"] == 19
    assert open_work(study, checks=True) == before
    assert (grid.tiers().table().pairs["verdict"] == -1).all()
    check(study, tmp_path, [(who, pair, verdict_of(pair)) for who, pair in before])
    assert (grid.tiers().table().pairs["verdict"] >= 0).sum() == 19


def test_a_run_is_withdrawn_in_the_round_in_which_it_answered(at: At, tmp_path: Path) -> None:
    study = at("checking")
    run = check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    said = rf"run {run.id} \(validate import\) brought no labels but verdicts; `fcpair validate withdraw {run.id}`"
    assert_refused(study, lambda: study.grid().withdraw(run.id, "labels"), StageError, said)


def test_labels_are_not_withdrawn_as_verdicts(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    run = all_wrong(study, tmp_path)
    said = rf"run {run} \(label import\) brought no verdicts but labels; `fcpair labels withdraw {run}` takes them back"
    assert_refused(study, lambda: study.grid().withdraw(run, "verdicts"), StageError, said)


@pytest.mark.server
def test_simulated_labels_can_be_withdrawn_and_people_answer_then(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    run = grid.simulate(Simulate(seed=1, skips=0.2))
    grid.withdraw(run.id, "labels")
    assert (study.status()["simulated"], study.status()["judgements"]) == (None, {})
    n = len(open_work(study))
    assert (n, rounds(study)["vacant"]) == (42, 0)
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    assert study.status()["judgements"] == {"imported": 42}


@pytest.mark.parametrize("seed", range(4))
def test_however_slots_were_passed_on_each_is_one_again(at: At, seed: int) -> None:
    study = at("dealt")
    grid = study.grid()
    run = grid.simulate(Simulate(seed=seed, skips=0.6))
    grid.withdraw(run.id, "labels")
    work = open_work(study)
    assert (len(work), rounds(study)["vacant"]) == (42, 0)
    assert len(set(work)) == 42
    assert grid.simulate(Simulate(seed=9, skips=0)).counts["answers"] == 42


def test_people_may_be_simulated_again_once_a_file_was_withdrawn(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.withdraw(all_wrong(study, tmp_path), "labels")
    assert grid.simulate(Simulate(skips=0)).counts["answers"] == 42


@pytest.mark.parametrize(
    ("run", "error", "said"),
    [
        (99, UnknownIdError, "there is no run 99; `fcpair log` lists the runs"),
        (1, StageError, r"run 1 \(init\) brought no answers"),
        (10**30, UnknownIdError, "there is no run 1000"),
        (-1, UnknownIdError, "there is no run -1"),
    ],
)
def test_a_run_that_is_none_or_brought_nothing_is_refused(
    at: At, run: int, error: type[FcpairError], said: str
) -> None:
    study = at("labelled")
    assert_refused(study, lambda: study.grid().withdraw(run, "labels"), error, said)


def test_an_import_that_brought_nothing_new_is_told(at: At, tmp_path: Path) -> None:
    study = at("labelled")
    run = record(study, tmp_path, [(who, pair, label) for (pair, who), label in labels_of(study).items()])
    assert_refused(study, lambda: study.grid().withdraw(run.id, "labels"), StageError, "brought no new answers")


def test_an_import_all_of_which_was_superseded_is_told(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    run = all_wrong(study, tmp_path)
    record(study, tmp_path, [(who, pair, "0") for pair, who in labels_of(study)], supersede=True)
    assert_refused(
        study, lambda: study.grid().withdraw(run, "labels"), StageError, "every answer of run .* superseded since"
    )


@pytest.mark.server
def test_a_published_study_is_not_withdrawn_in_part(tmp_path: Path, data: Path) -> None:
    study = Study.create(tmp_path / "p.db")
    grid = study.grid()
    run = grid.import_published(data / "fc-conan" / "diamond_partition_df.csv")
    assert_refused(study, lambda: grid.withdraw(run.id, "labels"), StageError, "imported a published study")


def test_the_file_that_labels_are_exported_to_does_not_hold_them(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    grid = study.grid()
    who, pair = open_work(study)[0]
    run = all_wrong(study, tmp_path)
    record(study, tmp_path, [(who, pair, "skip")], supersede=True)
    grid.withdraw(run, "labels")
    assert grid.labels()[["pair", "annotator", "label"]].to_numpy().tolist() == [[pair, who, "skip"]]


def test_a_withdrawal_answers_nothing(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    study.grid().withdraw(all_wrong(study, tmp_path), "labels")
    taken_back = "SELECT DISTINCT skipped, answer_id FROM judgement WHERE withdraws IS NOT NULL"
    assert execute(study.place, taken_back) == [(1, None)]
    with pytest.raises((sqlite3.IntegrityError, psycopg.IntegrityError), match="withdrawal_or_answer"):
        execute(
            study.place,
            "INSERT INTO judgement (id, assignment_id, skipped, answer_id, origin, note, at, withdraws) "
            "VALUES (999, 1, false, 2, 'imported', '', '', 1)",
        )
