"""Dealing more while people are at work, which is fair; and nobody checks a pair that somebody has still to label."""

from __future__ import annotations

from collections import Counter
from functools import partial
from pathlib import Path

import pytest
from servers import execute

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.files.tables.tabular import read_table
from fcpair.grid import Monitor
from fcpair.params import Adjudicate, Assign, Validate
from fcpair.records import Role
from fcpair.study import Study
from fcpair.work_records import Submission
from steps.online import at_desk
from steps.small import ANNOTATORS, At, assert_refused, check, labels_of, open_work, record, who_had, with_grid


def rows(study: Study) -> set[tuple[int, int, int, int, str]]:
    """Every assignment as it stands: its number, pair, person, position, status."""
    return {*execute(study.place, "SELECT id, cell_id, person_id, position, status FROM assignment")}


def n_labels(study: Study) -> Counter[int]:
    """How many pairs have been given to how many people who answered or will."""
    given = Counter(pair for _, pair in open_work(study))
    given.update(pair for (pair, _), label in labels_of(study).items() if label != "skip")
    return Counter(given.values())


def test_the_overlap_is_raised_and_everything_that_was_there_stays(at: At, tmp_path: Path) -> None:
    """12 of 24 pairs have one label, 6 two and 6 three: with half of them at three, six pairs get one label more."""
    study, grid = with_grid(at("dealt"))
    record(study, tmp_path, [(who, pair, "2") for who, pair in open_work(study)[::2]])
    before, labels = rows(study), labels_of(study)
    run = grid.assign(Assign(overlap={3: 0.5}), more=True)
    assert before <= rows(study)
    assert labels_of(study) == labels
    assert n_labels(study) == {1: 12, 3: 12}
    assert run.counts == {
        "annotators": 3,
        "new": 6,
        "moved": 0,
        "reassigned": 0,
        "not_possible": 0,
        "pairs_by_labels": {"1": 12, "3": 12},
    }
    assert study.log()[-1].params == {"more": True, "overlap": {"3": 0.5}, "order": "random", "seed": 0}
    for again in (Assign(overlap={3: 0.5}), Assign(), Assign(overlap={2: 0.25, 3: 0.25}, seed=7)):
        assert_refused(study, partial(grid.assign, again, more=True), StageError, "nothing to assign")


def test_what_is_added_comes_after_what_people_have_and_nobody_gets_a_pair_twice(at: At) -> None:
    study = at("dealt")
    before = {row[0]: row for row in rows(study)}
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    assert Counter(len(had) for had in who_had(study).values()) == {3: 24}
    assert Counter(who for who, _ in open_work(study)) == {"ana": 24, "ben": 24, "cleo": 24}
    new = [row for row in rows(study) if row[0] not in before]
    for person in {row[2] for row in before.values()}:
        last = max(row[3] for row in before.values() if row[2] == person)
        places = sorted(row[3] - last for row in new if row[2] == person)
        assert places == list(range(1, len(places) + 1))
    study.retire("cleo")
    with pytest.raises(StageError, match="nobody may give the 24 labels"):
        study.grid().assign(Assign(), more=True)


def test_a_late_joiner_gets_an_even_share_of_what_is_open(at: At, tmp_path: Path) -> None:
    """42 labels, 14 each. With twelve given, four by each, 30 are open: dora gets 30 / 4, seven or eight."""
    study, grid = with_grid(at("dealt"))
    first = {who: [pair for name, pair in open_work(study) if name == who][:4] for who in ("ana", "ben", "cleo")}
    record(study, tmp_path, [(who, pair, "2") for who, pairs in first.items() for pair in pairs])
    study.add_people(["dora"], Role.ANNOTATOR)
    had, slots = who_had(study), n_labels(study)
    run = grid.assign(Assign(), more=True)
    open_ = Counter(who for who, _ in open_work(study))
    assert sorted(open_.values()) == [7, 7, 8, 8]
    assert (run.counts["new"], run.counts["moved"]) == (0, open_["dora"])
    assert all("dora" not in had[pair] for who, pair in open_work(study) if who == "dora")
    assert n_labels(study) == slots
    assert_refused(study, lambda: grid.assign(Assign(), more=True), StageError, "nothing to assign")


@pytest.mark.server
def test_pairs_that_a_file_left_out_are_dealt(at: At, tmp_path: Path) -> None:
    """Labels of ana and ben for ten pairs came from a file; the 14 others are dealt evenly to the three."""
    study, grid = with_grid(at("paired"))
    study.add_people(["ana", "ben", "cleo"], Role.ANNOTATOR)
    record(study, tmp_path, [(("ana", "ben")[pair % 2], pair, "2") for pair in range(1, 11)])
    with pytest.raises(StageError, match="assign --more"):
        grid.assign(Assign())
    grid.assign(Assign(), more=True)
    assert sorted(Counter(who for who, _ in open_work(study)).values()) == [4, 5, 5]
    assert n_labels(study) == {1: 24}


def test_a_pair_that_a_person_decided_gets_no_further_label(at: At) -> None:
    study, grid = with_grid(at("decided"))
    single = next(pair for pair, had in who_had(study).items() if len(had) == 1)
    grid.decide(single, 2, by="petra")
    grid.assign(Assign(overlap={3: 1.0}), more=True)
    assert single not in {pair for _, pair in open_work(study)}
    with pytest.raises(StageError, match="the 1 pair that somebody has decided gets no further labels"):
        grid.assign(Assign(overlap={3: 1.0}), more=True)


def test_who_checks_a_pair_is_not_asked_to_label_it(at: At) -> None:
    study = at("checked")
    checked = {pair for pair, had in who_had(study).items() if "vera" in had}
    study.change_role("vera", Role.ANNOTATOR)
    study.grid().assign(Assign(overlap={4: 1.0}), more=True)
    assert checked
    assert not checked & {pair for who, pair in open_work(study) if who == "vera"}


def test_what_cannot_be_is_refused(at: At) -> None:
    study = at("dealt")
    for options, message in (
        (Assign(overlap={4: 0.5}), "4 labels on 12 pairs, but there are 3"),
        (Assign(overlap={2: 0.5}, annotator_groups=(("ana", "ben"),)), "groups are for the first assignment"),
        (Assign(annotators=5), "5 annotators were asked for"),
    ):
        assert_refused(study, partial(study.grid().assign, options, more=True), InputError, message)
    assert_refused(study, lambda: study.grid().assign(pairs=[1]), InputError, "`pairs` are for more labels")
    dora = study.add_people(["dora"], Role.ANNOTATOR)[0]
    study.access.opt_out(dora.id, "hs_topic", ["People who l"])  # that is every HS
    assert_refused(study, lambda: study.grid().assign(Assign(), more=True), StageError, "nothing to assign")
    study = at("paired")
    assert_refused(study, lambda: study.grid().assign(Assign(), more=True), StageError, "nothing has been assigned yet")


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
    study, grid = with_grid(at("checking"))
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


@pytest.mark.slow
def test_a_file_of_verdicts_that_are_there_already_is_read_again(at: At, tmp_path: Path) -> None:
    study = at("checked")
    rows = [(pair, row) for pair in range(1, 25) for row in study.grid().explain(pair).answers]
    given = [(str(row["person"]), pair, str(row["answer"])) for pair, row in rows if row["round"] == "validate"]
    study.grid().assign(Assign(overlap={3: 1.0}), more=True)
    assert check(study, tmp_path, given).counts["already_there"] == len(given)
