"""Nobody checks a pair, or is shown its label, while somebody has still to label it: the same at every door."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.files.tables.tabular import read_table
from fcpair.grid import Monitor
from fcpair.params import Adjudicate, Assign, Simulate, Validate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import Submission
from steps.online import admit, at_desk
from steps.small import ANNOTATORS, assert_refused, check, open_work, record, who_had

At = Callable[[str], Study]
NOT_DUE = "is still being labelled; it can be checked when all its labels are in"


def half_labelled(at: At, folder: Path) -> tuple[Study, set[int], set[int]]:
    """All but the third annotator's pairs are labelled and decided by majority: the due pairs, and those not due."""
    study = at("dealt")
    record(study, folder, [(who, pair, "2") for who, pair in open_work(study) if who != "cleo"])
    study.grid().adjudicate(Adjudicate("majority"))
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    open_ = {pair for _, pair in open_work(study)}
    others = {pair for pair, had in who_had(study).items() if had - {"cleo"}}
    assert open_ & others, "there are pairs with a label by rule that cleo has still to label"
    return study, others - open_, open_ & others


def checked(study: Study) -> set[int]:
    return {pair for _, pair in open_work(study, checks=True)}


def labelling(study: Study) -> set[int]:
    return {pair for _, pair in open_work(study)}


def test_a_pair_with_an_open_label_is_assigned_once_its_labels_are_in(at: At, tmp_path: Path) -> None:
    study, due, not_due = half_labelled(at, tmp_path)
    run = study.grid().assign_validation(Validate())
    assert checked(study) == due
    assert (run.counts["to_validate"], run.counts["wait_for_labels"]) == (len(due), len(not_due))
    waits = f"{len(not_due)} pairs wait until all their labels are in"
    assert_refused(study, lambda: study.grid().assign_validation(Validate(), more=True), StageError, waits)
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study)])
    run = study.grid().assign_validation(Validate(), more=True)
    assert not_due <= checked(study)
    assert "wait_for_labels" not in run.counts


def test_a_slot_that_nobody_is_left_to_fill_holds_nothing_up(at: At, tmp_path: Path) -> None:
    study, due, not_due = half_labelled(at, tmp_path)
    for who in ANNOTATORS:
        study.retire(who)
    assert not open_work(study)
    study.grid().assign_validation(Validate())
    assert checked(study) >= due | not_due


@pytest.mark.server
def test_a_pair_that_is_labelled_again_is_not_checked_on_screen_on_a_sheet_or_by_a_file(at: At, tmp_path: Path) -> None:
    """The same at every door, until its labels are in; and the lead is told how many verdicts wait."""
    study = at("checking")
    grid = study.grid()
    assert "verdicts wait" not in " ".join(study.status()["notes"])
    grid.assign(Assign(overlap={3: 1.0}), more=True)
    own = {pair for who, pair in open_work(study, checks=True) if who == "vera"}
    pair = min(own & labelling(study))
    desk, vera = at_desk(study, "vera")
    shown = {task.cell_id for task in desk.tasks(vera, 50)}
    assert shown == own - labelling(study)
    assert desk.progress(vera).open == len(shown)

    n = len(checked(study) & labelling(study))
    state = study.status()
    assert state["verdicts_not_due"] == Monitor(grid).stages()[-1].not_due == n
    assert f"{n} open verdicts wait until all labels of their pairs are in" in state["notes"]

    written = grid.sheets.write_verdicts(tmp_path / "sheets")
    rows = {int(row) for name in written for row in read_table(tmp_path / "sheets" / f"{name}.csv")["pair"]}
    assert rows == checked(study) - labelling(study)
    verdict = [("vera", pair, "agree")]
    assert_refused(study, lambda: check(study, tmp_path, verdict), InputError, f"pair {pair} {NOT_DUE}")
    check(study, tmp_path, [(who, at_, "agree") for who, at_ in open_work(study, checks=True) if at_ in rows])
    assert_refused(study, lambda: grid.sheets.write_verdicts(tmp_path / "s"), StageError, "no verdict is due")

    record(study, tmp_path, [(who, again, "2") for who, again in open_work(study)])
    assert pair in {task.cell_id for task in desk.tasks(vera, 50)}


@pytest.mark.server
def test_a_verdict_is_refused_and_no_more_shown_once_further_labels_are_asked_for(at: At) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    tasks = desk.tasks(vera, 50)
    sent = [
        Submission(f"request-{task.cell_id}", task.assignment_id, "agree", decision_id=task.decision_id)
        for task in tasks[:3]
    ]
    replies = [desk.submit(vera, submission) for submission in sent]
    assert len(desk.answers(vera, n=9)) == 3
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    left = {task.cell_id for task in tasks[:3]} - labelling(study)
    assert len(left) < 3
    assert {task.cell_id for task in desk.answers(vera, n=9)} == left
    assert [desk.submit(vera, submission) for submission in sent] == replies, "what is sent again is no new verdict"

    task = next(task for task in tasks[3:] if task.cell_id in labelling(study))
    for answer in ("agree", "skip"):
        late = Submission(f"late-{answer}", task.assignment_id, answer, decision_id=task.decision_id)
        assert_refused(study, partial(desk.submit, vera, late), ConflictError, f"pair {task.cell_id} {NOT_DUE}")


@pytest.mark.slow
def test_a_file_of_verdicts_that_are_there_already_is_read_again(at: At, tmp_path: Path) -> None:
    study = at("checked")
    rows = [(pair, row) for pair in range(1, 25) for row in study.grid().explain(pair).answers]
    given = [(str(row["person"]), pair, str(row["answer"])) for pair, row in rows if row["round"] == "validate"]
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    assert check(study, tmp_path, given).counts["already_there"] == len(given)


def test_a_verdict_that_was_lost_is_asked_for_again_only_when_all_labels_are_in(at: At, tmp_path: Path) -> None:
    study = at("checked")
    grid = study.grid()
    pair = next(pair for pair in sorted(who_had(study)) if len(who_had(study)[pair] - {"vera", "walt"}) == 1)
    (who,) = who_had(study)[pair] - {"vera", "walt"}
    record(study, tmp_path, [(who, pair, "0" if pair % 2 else "2")], supersede=True)
    grid.assign(Assign(overlap={3: 1.0}), more=True)
    assert pair in labelling(study)
    assert_refused(study, lambda: grid.assign_validation(Validate(), more=True), StageError, "1 pair waits until all")
    record(study, tmp_path, [(one, at_, "0" if at_ % 2 else "2") for one, at_ in open_work(study) if at_ == pair])
    assert pair not in checked(study)
    grid.assign_validation(Validate(), more=True)
    assert pair in checked(study)


def skip_one(study: Study, folder: Path) -> None:
    """Somebody skips a pair that two have labelled, and somebody else has to make up for it."""
    had = {pair: people - {"vera", "walt"} for pair, people in who_had(study).items() if pair in checked(study)}
    pair = next(pair for pair, people in had.items() if len(people) == 2)
    record(study, folder, [(min(had[pair]), pair, "skip")], supersede=True)
    assert pair in labelling(study)


def withdraw_labels(study: Study, _: Path) -> None:
    study.grid().withdraw(next(run.id for run in study.log() if run.stage == "label import"), "labels")


@pytest.mark.parametrize("opened", [skip_one, withdraw_labels])
def test_whatever_opens_labels_again_no_validator_sees_a_pair_meanwhile(
    at: At, tmp_path: Path, opened: Callable[[Study, Path], None]
) -> None:
    study = at("checking")
    opened(study, tmp_path)
    assert labelling(study)
    for name in ("vera", "walt"):
        desk, validator = at_desk(study, name)
        assert not {task.cell_id for task in desk.tasks(validator, 50)} & labelling(study)


def test_who_has_labelled_or_has_still_to_label_a_pair_does_not_come_to_check_it(at: At, tmp_path: Path) -> None:
    """ana labels half of what she has, gives the rest away, and becomes a validator."""
    study = at("dealt")
    grid = study.grid()
    own = [pair for who, pair in open_work(study) if who == "ana"]
    record(study, tmp_path, [("ana", pair, "2") for pair in own[::2]])
    study.hand_over("ana")
    study.change_role("ana", Role.VALIDATOR)
    study.add_people(["vera"], Role.VALIDATOR)
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study)])
    grid.adjudicate(Adjudicate("majority"))
    grid.assign_validation(Validate())
    assert not {pair for who, pair in open_work(study, checks=True) if who == "ana"} & set(own)


def test_simulated_people_and_the_road_of_a_recipe_are_not_held_up(at: At) -> None:
    study = at("dealt")
    grid = study.grid()
    grid.simulate(Simulate(skips=0.2))
    grid.adjudicate(Adjudicate("majority", "discard"))
    study.add_people(["vera", "walt"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    assert grid.simulate(Simulate()).counts["round"] == "validate"
    assert not checked(study)
    assert admit(study, "vera").role is Role.VALIDATOR
