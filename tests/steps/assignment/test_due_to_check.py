"""Nobody checks a pair, or is shown its label, while somebody has still to label it: the same at every door."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.files.tables.tabular import read_table
from fcpair.grid import Monitor
from fcpair.params import Adjudicate, Annotate, Assign, Simulate, Validate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import Submission
from steps.online import admit, at_desk, give
from steps.small import assert_refused, check, open_work, record, who_had

At = Callable[[str], Study]
SAID = "is still being labelled; it can be checked when all its labels are in"


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


def reopened(at: At, folder: Path) -> tuple[Study, int]:
    """A pair that vera has to validate, and that a second annotator has to label since."""
    study = at("checking")
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    pair = next(pair for who, pair in open_work(study, checks=True) if who == "vera" and pair in labelling(study))
    return study, pair


def labelling(study: Study) -> set[int]:
    return {pair for _, pair in open_work(study)}


def test_no_pair_with_an_open_label_is_dealt(at: At, tmp_path: Path) -> None:
    study, due, not_due = half_labelled(at, tmp_path)
    run = study.grid().assign_validation(Validate())
    assert checked(study) == due
    assert (run.counts["to_validate"], run.counts["wait_for_labels"]) == (len(due), len(not_due))


def test_more_of_a_round_deals_it_once_its_labels_are_in(at: At, tmp_path: Path) -> None:
    study, _, not_due = half_labelled(at, tmp_path)
    study.grid().assign_validation(Validate())
    waits = f"{len(not_due)} pairs wait until all their labels are in"
    assert_refused(study, lambda: study.grid().assign_validation(Validate(), more=True), StageError, waits)
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study)])
    run = study.grid().assign_validation(Validate(), more=True)
    assert not_due <= checked(study)
    assert "wait_for_labels" not in run.counts


def test_a_slot_that_nobody_is_left_to_fill_holds_nothing_up(at: At, tmp_path: Path) -> None:
    study, due, not_due = half_labelled(at, tmp_path)
    study.retire("cleo")
    for who in ("ana", "ben"):
        study.retire(who)
    assert not open_work(study)
    study.grid().assign_validation(Validate())
    assert checked(study) >= due | not_due


@pytest.mark.server
def test_a_validator_is_not_shown_a_pair_that_is_being_labelled_again(at: At, tmp_path: Path) -> None:
    study, _ = reopened(at, tmp_path)
    desk, vera = at_desk(study, "vera")
    own = {pair for who, pair in open_work(study, checks=True) if who == "vera"}
    shown = {task.cell_id for task in desk.tasks(vera, 50)}
    assert shown == own - labelling(study)
    assert desk.progress(vera).open == len(shown)


def test_it_is_shown_when_all_its_labels_are_in(at: At, tmp_path: Path) -> None:
    study, pair = reopened(at, tmp_path)
    record(study, tmp_path, [(who, one, "2") for who, one in open_work(study)])
    desk, vera = at_desk(study, "vera")
    assert pair in {task.cell_id for task in desk.tasks(vera, 50)}


def test_a_verdict_that_was_under_way_when_the_label_was_asked_for_is_refused(at: At, tmp_path: Path) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    tasks = desk.tasks(vera, 50)
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    task = next(task for task in tasks if task.cell_id in labelling(study))
    for answer in ("agree", "skip"):
        late = Submission(f"late-{answer}", task.assignment_id, answer, decision_id=task.decision_id)
        assert_refused(study, lambda: desk.submit(vera, late), ConflictError, f"pair {task.cell_id} {SAID}")  # noqa: B023


def test_going_back_does_not_show_it_either(at: At, tmp_path: Path) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    answered = desk.tasks(vera, 3)
    for _ in answered:
        give(desk, vera, "agree")
    assert len(desk.answers(vera, n=9)) == 3
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    left = {task.cell_id for task in answered} - labelling(study)
    assert len(left) < 3
    assert {task.cell_id for task in desk.answers(vera, n=9)} == left


@pytest.mark.server
def test_a_repeated_request_is_answered_as_the_first_time_all_the_same(at: At, tmp_path: Path) -> None:
    study = at("checking")
    desk, vera = at_desk(study, "vera")
    task = desk.tasks(vera)[0]
    sent = Submission("request-once", task.assignment_id, "agree", decision_id=task.decision_id)
    reply = desk.submit(vera, sent)
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    assert desk.submit(vera, sent) == reply


def test_a_sheet_leaves_it_out(at: At, tmp_path: Path) -> None:
    study, pair = reopened(at, tmp_path)
    written = study.grid().sheets.write_verdicts(tmp_path / "sheets")
    rows = {int(one) for name in written for one in read_table(tmp_path / "sheets" / f"{name}.csv")["pair"]}
    assert rows == checked(study) - labelling(study)
    assert pair not in rows


def test_there_is_no_sheet_where_all_wait(at: At, tmp_path: Path) -> None:
    study = at("checking")
    grid = study.grid()
    grid.assign(Assign(overlap={3: 1.0}), more=True)
    check(study, tmp_path, [one for one in verdicts(study) if one[1] not in labelling(study)])
    assert_refused(study, lambda: grid.sheets.write_verdicts(tmp_path / "s"), StageError, "no verdict is due")


def verdicts(study: Study) -> list[tuple[str, int, str]]:
    return [(who, pair, "agree") for who, pair in open_work(study, checks=True)]


@pytest.mark.server
def test_a_file_with_a_verdict_on_it_is_refused(at: At, tmp_path: Path) -> None:
    study, pair = reopened(at, tmp_path)
    assert_refused(study, lambda: check(study, tmp_path, [("vera", pair, "agree")]), InputError, f"pair {pair} {SAID}")


@pytest.mark.slow
def test_a_file_of_verdicts_that_are_there_already_is_read_again(at: At, tmp_path: Path) -> None:
    study = at("checked")
    given = _given(study)
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    assert check(study, tmp_path, given).counts["already_there"] == len(given)


def _given(study: Study) -> list[tuple[str, int, str]]:
    """Who gave which verdict on which pair."""
    told = ((pair, study.grid().explain(pair).answers) for pair in range(1, 25))
    verdicts = ((pair, row) for pair, rows in told for row in rows if row["round"] == "validate")
    return [(str(row["person"]), pair, str(row["answer"])) for pair, row in verdicts]


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


def test_status_and_the_lead_s_page_say_how_many_verdicts_wait(at: At, tmp_path: Path) -> None:
    study, _ = reopened(at, tmp_path)
    n = len(checked(study) & labelling(study))
    state = study.status()
    assert state["verdicts_not_due"] == n
    assert f"{n} open verdicts wait until all labels of their pairs are in" in state["notes"]
    assert Monitor(study.grid()).stages()[-1].not_due == n
    assert "verdicts wait" not in " ".join(at("checked").status()["notes"])


@pytest.mark.parametrize(
    "opened",
    [
        lambda study: study.grid().assign(Assign(overlap={3: 1.0}), more=True),
        lambda study: study.grid().withdraw(_import_of(study), "labels"),
    ],
)
def test_whatever_opens_labels_again_no_validator_sees_a_pair_meanwhile(
    at: At, tmp_path: Path, opened: Callable[[Study], object]
) -> None:
    study = at("checking")
    opened(study)
    assert labelling(study)
    for name in ("vera", "walt"):
        desk, one = at_desk(study, name, Annotate())
        assert not {task.cell_id for task in desk.tasks(one, 50)} & labelling(study)


def _import_of(study: Study) -> int:
    return next(run.id for run in study.log() if run.stage == "label import")


def test_a_skip_that_somebody_has_to_make_up_for_holds_the_verdict_up(at: At, tmp_path: Path) -> None:
    study = at("checking")
    pair = next(pair for pair in checked(study) if len(who_had(study)[pair] - {"vera", "walt"}) == 2)
    record(study, tmp_path, [(min(who_had(study)[pair] - {"vera", "walt"}), pair, "skip")], supersede=True)
    assert pair in labelling(study)
    for name in ("vera", "walt"):
        desk, one = at_desk(study, name)
        assert pair not in {task.cell_id for task in desk.tasks(one, 50)}


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
