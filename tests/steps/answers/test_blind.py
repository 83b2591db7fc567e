"""A pair that was dealt blind stays blind, whatever is dealt later; and what was seen is never asked for blindly."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from servers import execute

from fcpair.errors import InputError, StageError
from fcpair.files.tables.tabular import read_table
from fcpair.params import Validate
from fcpair.records import Role
from fcpair.store.answers import judgements
from fcpair.study import Study
from fcpair.work_records import Submission
from steps.online import at_desk, choices, give
from steps.small import NAMES, At, assert_refused, check, open_work, record, standing, who_had, with_grid, write_csv


def after_a_blind_round(at: At) -> tuple[Study, dict[int, str]]:
    """vera has answered five pairs blind; five more are dealt with their label since. Her answers by pair."""
    study, grid = with_grid(at("decided"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(pairs=5, blind=True))
    desk, vera = at_desk(study, "vera")
    given = {}
    for at_ in range(5):
        task = desk.tasks(vera)[0]
        given[task.cell_id] = NAMES[at_ % 3]
        give(desk, vera, given[task.cell_id])
    grid.assign_validation(Validate(pairs=5), more=True)
    return study, given


def columns_of(study: Study, pair: int) -> tuple[int, int | None]:
    """The code and the own code of the newest verdict on a pair."""
    query = (
        "SELECT blind, answer.code, seen.code FROM judgement JOIN assignment ON assignment.id = assignment_id "
        "JOIN round ON round.id = assignment.round_id JOIN answer ON answer.id = judgement.answer_id "
        "JOIN adjudication AS d ON d.id = adjudication_id JOIN answer AS seen ON seen.id = d.answer_id "
        "WHERE assignment.cell_id = ? AND checks IS NOT NULL ORDER BY judgement.id DESC"
    )
    blind, given, decided = execute(study.place, query, pair)[0]
    return (int(given == decided), given) if blind else (given, None)


def relabel(study: Study, folder: Path, pair: int, label: str) -> None:
    """Have all who labelled a pair say the same of it."""
    people = sorted(who_had(study)[pair] & {"ana", "ben", "cleo"})
    record(study, folder, [(who, pair, label) for who in people], supersede=True)


def test_a_blind_answer_is_shown_and_changed_as_a_label_in_a_later_round(at: At) -> None:
    study, given = after_a_blind_round(at)
    desk, vera = at_desk(study, "vera")
    assert choices(desk, vera) == {True: NAMES, False: ("agree", "disagree")}
    assert choices(*at_desk(study, "ana")) == {False: NAMES}
    back = desk.answers(vera, n=9)
    assert {task.cell_id: (task.shown, task.answer) for task in back} == {
        pair: (None, answer) for pair, answer in given.items()
    }
    assert all(task.shown for task in desk.tasks(vera, 9))
    verdict = Submission("a-verdict", back[0].assignment_id, "agree", decision_id=back[0].decision_id)
    assert_refused(study, lambda: desk.submit(vera, verdict), InputError, "`agree` is not an answer here")
    give(desk, vera, "appropriate", back[0].assignment_id, decision_id=back[0].decision_id)
    decided = standing(study)[back[0].cell_id][1]
    assert columns_of(study, back[0].cell_id) == (int(decided == 2), 2)
    give(desk, vera, "agree")


def test_who_has_seen_a_label_of_a_pair_is_not_asked_blind_about_it(at: At, tmp_path: Path) -> None:
    """All verdicts were given with the label in sight; one is lost, and both validators took part in too much."""
    study, grid = with_grid(at("checked"))
    relabel(study, tmp_path, 1, "0")
    (had,) = who_had(study)[1] & {"vera", "walt"}
    other = next(who for who in ("vera", "walt") if who != had)
    study.retire(other)
    message = "1 of 1 pairs cannot be validated: every validator took part in them"
    assert_refused(study, lambda: grid.assign_validation(Validate(blind=True), more=True), StageError, message)
    grid.assign_validation(Validate(), more=True)
    assert open_work(study, checks=True) == [(had, 1)]
    check(study, tmp_path, [(had, 1, "agree")], supersede=True)
    study.add_people(["wim"], Role.VALIDATOR)
    relabel(study, tmp_path, 7, "0")
    assert grid.assign_validation(Validate(blind=True), more=True).notes == (
        "so far the round was not blind, and the pairs assigned now are blind; earlier assignments stay as they were",
    )


def test_a_slot_that_was_dealt_blind_stays_blind_in_other_hands(at: At) -> None:
    study, grid = with_grid(at("decided"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(pairs=2, blind=True))
    desk, vera = at_desk(study, "vera")
    first, second = desk.tasks(vera, 2)
    give(desk, vera, "skip", first.assignment_id, decision_id=first.decision_id)
    give(desk, vera, "appropriate", second.assignment_id, decision_id=second.decision_id)
    grid.assign_validation(Validate(pairs=3), more=True)
    study.add_people(["walt"], Role.VALIDATOR)
    desk, walt = at_desk(study, "walt")
    (task,) = desk.tasks(walt, 9)
    assert (task.cell_id, task.shown) == (first.cell_id, None)
    give(desk, walt, "not_sure")
    assert columns_of(study, first.cell_id) == (0, 1)
    study.add_people(["wim"], Role.VALIDATOR)
    desk, vera = at_desk(study, "vera")
    shown = desk.tasks(vera)[0]
    give(desk, vera, "skip", shown.assignment_id, decision_id=shown.decision_id)
    heirs = [at_desk(study, name) for name in ("walt", "wim")]
    (passed_on,) = [task for desk, heir in heirs for task in desk.tasks(heir, 9)]
    assert (passed_on.cell_id, passed_on.shown) == (shown.cell_id, shown.shown)


def test_files_go_by_the_way_in_which_each_pair_was_dealt(at: At, tmp_path: Path) -> None:
    """A sheet holds pairs of one kind, those of the present one first."""
    study, given = after_a_blind_round(at)
    grid, old = study.grid(), min(given)
    open_ = [pair for _, pair in open_work(study, checks=True)]
    message = f"pair {old} was assigned blind; give `own_label` in a separate file"
    assert_refused(study, lambda: check(study, tmp_path, [("vera", old, "agree")], supersede=True), InputError, message)
    own = write_csv(tmp_path / "own.csv", [{"pair": open_[1], "validator": "vera", "own_label": "2"}])
    message = f"pair {open_[1]} was assigned with its label shown; give `verdict` in a separate file"
    assert_refused(study, lambda: grid.import_verdicts(own), InputError, message)
    own = write_csv(tmp_path / "own.csv", [{"pair": old, "validator": "vera", "own_label": "2"}])
    grid.import_verdicts(own, supersede=True)
    assert columns_of(study, old) == (int(standing(study)[old][1] == 2), 2)
    execute(study.place, "UPDATE assignment SET status = 'open' WHERE round_id = 3")
    for folder, is_blind in (("one", False), ("two", True)):
        grid.sheets.write_verdicts(tmp_path / folder)
        rows = read_table(tmp_path / folder / "vera.csv")
        assert (len(rows), "label" in rows.columns, "own_label" in rows.columns) == (5, not is_blind, is_blind)
        if not is_blind:
            check(study, tmp_path, [("vera", int(pair), "agree") for pair in rows["pair"]])


def verdicts(study: Study, pair: int) -> list[int]:
    with study._store.read() as tx:
        rows = judgements.current_verdicts(tx)
    return [int(code) for code in rows["code"][rows["cell_id"] == pair]]


def n_current(study: Study) -> int:
    with study._store.read() as tx:
        return sum(judgements.n_by_origin(tx).values())


@pytest.mark.parametrize("later", ["in a file", "online", "not yet"])
def test_of_a_blind_verdict_and_a_later_one_the_later_counts_once_it_is_given(
    at: At, tmp_path: Path, later: str
) -> None:
    """vera agreed blind with the label of a pair, which was then turned and dealt to her in sight."""
    study, grid = with_grid(at("decided"))
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate(blind=True))
    desk, vera = at_desk(study, "vera")
    pair = desk.tasks(vera)[0].cell_id
    code = standing(study)[pair][1]
    assert code is not None
    while tasks := desk.tasks(vera):
        give(desk, vera, NAMES[standing(study)[tasks[0].cell_id][1] or 0])
    grid.decide(pair, 2 - code, by="ada")
    grid.assign_validation(Validate(), more=True)
    assert open_work(study, checks=True) == [("vera", pair)]
    n = n_current(study)
    if later == "in a file":
        check(study, tmp_path, [("vera", pair, "disagree")], supersede=True)
        assert verdicts(study, pair) == [0]
    elif later == "online":
        give(desk, vera, "agree")
    assert n_current(study) == n
    grid.decide(pair, code, by="ada")  # the label comes back
    if later == "not yet":
        assert verdicts(study, pair) == [1]
        return
    assert verdicts(study, pair) == []
    assert [task.cell_id for task in desk.answers(vera, n=50)].count(pair) == 1
    with pytest.raises(StageError, match="cannot be validated"):
        grid.assign_validation(Validate(blind=True), more=True)


@pytest.mark.server
@pytest.mark.files
@pytest.mark.parametrize("setting", ["true", "false"])
def test_an_older_study_is_told_what_was_blind(tmp_path: Path, setting: str) -> None:
    """Of six pairs: answered blind, answered with the label in sight, skipped, and three that are open."""
    schemas = Path(__file__).parents[2] / "assets"
    path = Path(shutil.copy(schemas / "0003.sqlite", tmp_path / "study.db"))
    columns = "(assignment_id, skipped, code, own_code, origin, note, at)"
    with closing(sqlite3.connect(path)) as connection:
        dealt = [row[0] for row in connection.execute("SELECT id FROM assignment WHERE round = 'validate' ORDER BY id")]
        judged = (("done", (0, 1, 2)), ("done", (0, 1, None)), ("skipped", (1, None, None)))
        for number, (status, row) in zip(dealt, judged, strict=False):
            connection.execute(f"INSERT INTO judgement {columns} VALUES (?, ?, ?, ?, 'online', '', '')", [number, *row])
            connection.execute("UPDATE assignment SET status = ? WHERE id = ?", [status, number])
        connection.execute("UPDATE setting SET value = ? WHERE key = 'validate.blind'", [setting])
        connection.commit()
    Study.upgrade(path)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT id, round_id = 3 FROM assignment WHERE round_id > 1 ORDER BY id").fetchall()
    assert [bool(blind) for _, blind in rows[:4]] == [True, False, True, setting == "true"]
