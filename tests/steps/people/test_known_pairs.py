"""Known pairs: people qualify on them, and some are in their shards; nothing that counts depends on them."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy import Engine, event

from fcpair.errors import ConflictError, InputError, StageError
from fcpair.known_pairs import Controls, Qualification
from fcpair.params import Adjudicate, Annotate, Assign, Simulate
from fcpair.records import Known, Role
from fcpair.stages.questions import SKIP
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database import statements as stored_statements
from fcpair.store.database.backends.protocol import driver
from fcpair.study import Study
from steps.online import admit, at_desk, give
from steps.people.known import controls, known_table, qualification, right_answer
from steps.small import ANNOTATORS, At, assert_refused, with_grid, write_csv

DEAL = Assign(overlap={2: 0.25, 3: 0.25}, seed=1)


def dealt(study: Study, folder: Path, *uses: Known, pairs: int | None = None) -> Study:
    """The small study, assigned with known pairs for these uses."""
    if not study.people:
        study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    if Known.QUALIFICATION in uses:
        study.grid().save.qualification(qualification(study, folder, known_pairs=pairs))
    if Known.CONTROLS in uses:
        study.grid().save.controls(controls(study, folder))
    study.grid().assign(DEAL)
    return study


def cells_by_person(study: Study, use: Known | None = None) -> dict[str, list[int]]:
    """The pairs that each person has, in their shard or for a use."""
    names = {one.id: one.name for one in study.people}
    cells: dict[str, list[int]] = {}
    with study._store.read() as tx:
        of = rounds.of_known_pairs(tx) if use else [rounds.primary(tx)]
        of = [one for one in of if use is None or one.options.known == use]
        for round_ in of:
            rows = assignments.assignments(tx, round_)
            for person_id, cell in zip(rows["person_id"].tolist(), rows["cell_id"].tolist(), strict=True):
                cells.setdefault(names[person_id], []).append(cell)
    return cells


@pytest.mark.server
def test_known_pairs_leave_every_shard_as_it_is(at: At, tmp_path: Path) -> None:
    plain = dealt(at("paired"), tmp_path)
    shards = cells_by_person(plain)
    study = dealt(at("paired"), tmp_path, *Known)
    assert cells_by_person(study) == shards
    for use in Known:
        for name, cells in cells_by_person(study, use).items():
            assert cells
            assert not set(cells) & set(shards[name])


def test_everybody_has_as_many_qualification_pairs_and_the_stated_share_of_control_pairs(
    at: At, tmp_path: Path
) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().save.controls(Controls(known_table(study, tmp_path / "few.csv", [2, 4]), rate=0.4))
    assert_refused(study, lambda: study.grid().assign(DEAL), InputError, "asks for 9 control pairs in the shard of")
    dealt(study, tmp_path, *Known)
    shards, controlled = cells_by_person(study), cells_by_person(study, Known.CONTROLS)
    assert {name: len(controlled[name]) for name in shards} == {
        name: round(len(cells) / 9) for name, cells in shards.items()
    }
    assert len({len(cells) for cells in cells_by_person(study, Known.QUALIFICATION).values()}) == 1
    options = qualification(study, tmp_path)
    assert_refused(study, lambda: study.grid().save.qualification(options), StageError, "have been assigned already")
    study = dealt(at("paired"), tmp_path, Known.QUALIFICATION, pairs=3)
    assert {len(cells) for cells in cells_by_person(study, Known.QUALIFICATION).values()} == {3}


@pytest.mark.server
def test_the_qualification_comes_first_and_the_shard_waits_for_it(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, *Known, pairs=4)
    desk, ana = at_desk(study, "ana")
    assert [one.qualifies for one in desk.rounds(ana)] == [True, False]
    assert "; `fcpair serve`, where people qualify first (`fcpair people qualified` lists" in study.status()["next"]
    tasks = desk.tasks(ana, 50)
    assert len(tasks) == 4
    assert {one.round for one in tasks} == {desk.rounds(ana)[0].round}
    assert desk.progress(ana).open == 4
    for task in tasks:
        give(desk, ana, right_answer(task.cell_id), task.assignment_id)
    shown = desk.tasks(ana, 50)
    n_known = len(cells_by_person(study, Known.CONTROLS)["ana"])
    assert len(shown) == len(cells_by_person(study)["ana"]) + n_known
    assert {one.round for one in shown} == {"label"}


def test_whoever_is_below_the_pass_mark_waits_until_the_lead_lets_them_on(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, Known.QUALIFICATION, pairs=4)
    desk, ana = at_desk(study, "ana")
    first, *others = desk.tasks(ana, 50)
    give(desk, ana, "not_sure", first.assignment_id)
    give(desk, ana, right_answer(first.cell_id), first.assignment_id)  # a change of mind, until it is over
    for task in others:
        give(desk, ana, "not_sure", task.assignment_id)
    assert desk.answers(ana, n=50) == []
    with pytest.raises(ConflictError, match="qualification is over"):
        give(desk, ana, right_answer(others[0].cell_id), others[0].assignment_id)
    assert desk.tasks(ana, 50) == []
    assert desk.progress(ana).open == 0
    (row,) = (score for score in study.grid().desk.known_scores() if score["name"] == "ana")
    assert (row["right"], row["answered"], row["assigned"], row["standing"]) == (1, 4, 4, "waits")
    assert (round(row["low"], 4), round(row["high"], 4)) == (0.0456, 0.6994)  # Wilson's of 1 of 4
    study.grid().desk.let_on("ana")
    assert len(desk.tasks(ana, 50)) == len(cells_by_person(study)["ana"])
    with pytest.raises(StageError, match="not waiting to be let on"):
        study.grid().desk.let_on("ana")


@contextmanager
def statements(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """All statements meanwhile, also those that go to the driver alone."""
    executed: list[str] = []

    def through_driver(tx: Any) -> Any:
        def execute(sql: str, *values: Any) -> Any:
            executed.append(sql)
            return driver(tx).execute(sql, *values)

        return SimpleNamespace(execute=execute)

    def through_engine(_conn: object, _cursor: object, sql: str, *_: object) -> None:
        executed.append(sql)

    with monkeypatch.context() as patch:
        patch.setattr(stored_statements, "driver", through_driver)
        event.listen(Engine, "before_cursor_execute", through_engine)
        yield executed
        event.remove(Engine, "before_cursor_execute", through_engine)


@pytest.mark.server
@pytest.mark.parametrize("policy", [False, True])
def test_a_reply_takes_the_same_statements_on_a_control_pair(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: bool
) -> None:
    """First answers, changed ones, skips and answers in their place, whether or not a decision changes, with a desk
    that has had no answer before.
    """
    study = dealt(at("paired"), tmp_path, Known.CONTROLS)
    desk, ana = at_desk(study, "ana")
    give(desk, admit(study, "ben"), "appropriate")
    if policy:
        study.grid().adjudicate(Adjudicate("majority"))
    known = set(cells_by_person(study, Known.CONTROLS)["ana"])
    tasks = desk.tasks(ana, 50)
    taken: dict[tuple[bool, bool], set[tuple[str, ...]]] = {}
    for answer in ("appropriate", "not_appropriate", "not_appropriate", SKIP, "appropriate"):
        for is_control in (True, False):
            fresh = study.work_queue(Annotate())
            for task in (one for one in tasks if (one.cell_id in known) == is_control):
                with statements(monkeypatch) as executed:
                    give(fresh, ana, answer, task.assignment_id)
                taken.setdefault((is_control, answer == SKIP), set()).add(
                    tuple(sql.replace("TO SAVEPOINT before", "TO SAVEPOINT after") for sql in executed)
                )
    assert taken[True, False] == taken[False, False]
    assert taken[True, True] <= taken[False, True]  # some pairs of everybody's find nobody who may take them over
    assert all(any("judgement" in sql for sql in one) for one in taken[True, False] | taken[True, True])


@pytest.mark.server
def test_nothing_that_somebody_sees_tells_a_control_pair(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, Known.CONTROLS)
    desk, ana = at_desk(study, "ana")
    known = set(cells_by_person(study, Known.CONTROLS)["ana"])
    tasks = desk.tasks(ana, 50)
    by_kind = {kind: [one for one in tasks if (one.cell_id in known) == kind] for kind in (True, False)}
    blank = {"assignment_id": 0, "cell_id": 0, "row": None, "column": None}
    forms = {kind: {replace(one, **blank) for one in of} for kind, of in by_kind.items()}  # type: ignore[arg-type]
    assert len(by_kind[True]) == len(known) > 0
    assert forms[True] == forms[False]
    assert len(forms[True]) == 1
    assert all(2**52 < one.assignment_id < 2**53 for one in tasks)
    for n_before, task in enumerate(tasks):
        progress = desk.progress(ana)
        assert (progress.open, progress.done) == (len(tasks) - n_before, n_before)
        reply = give(desk, ana, "appropriate", task.assignment_id)
        assert reply["assignment_id"] == task.assignment_id
    again = desk.answers(ana, n=50)
    assert [one.assignment_id for one in again] == [one.assignment_id for one in tasks][::-1]
    assert {one.round for one in again} == {"label"}
    give(desk, ana, "not_sure", again[0].assignment_id)


@pytest.mark.slow
def test_control_pairs_come_anywhere_in_a_shard(at: At, tmp_path: Path) -> None:
    places = Counter[int]()
    for seed in range(40):
        study = at("paired")
        study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
        study.grid().save.controls(replace(controls(study, tmp_path), seed=seed))
        study.grid().assign(DEAL)
        desk, ana = at_desk(study, "ana")
        known = set(cells_by_person(study, Known.CONTROLS)["ana"])
        places.update(at for at, task in enumerate(desk.tasks(ana, 50)) if task.cell_id in known)
        study.close()
    assert sorted(places) == list(range(max(places) + 1))


@pytest.mark.server
@pytest.mark.parametrize(("known", "skips"), [((Known.CONTROLS,), 0.1), (tuple(Known), 0.0)])
def test_tiers_and_agreement_are_the_same_with_and_without_known_pairs(
    at: At, tmp_path: Path, known: tuple[Known, ...], skips: float
) -> None:
    outcomes = []
    for uses in ((), known):
        study, grid = with_grid(dealt(at("paired"), tmp_path, *uses))
        grid.simulate(Simulate(seed=3, skips=skips))
        grid.adjudicate(Adjudicate("majority"))
        status = study.status()
        counts = {name: status[name] for name in ("overlap", "rounds", "judgements", "pairs", "people")}
        tiers = [grid.tier(name).to_csv() for name in ("bronze", "silver")]
        outcomes.append((grid.labels().drop(columns="time").to_csv(), repr(grid.agreement()), tiers, counts))
        study.close()
    assert outcomes[0] == outcomes[1]


def test_whoever_joins_late_qualifies_too(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, *Known, pairs=3)
    study.add_people(["dora"], Role.ANNOTATOR)
    assert len(cells_by_person(study, Known.QUALIFICATION)["dora"]) == 3
    study.grid().assign(Assign(), more=True)
    assert cells_by_person(study)["dora"]
    desk, dora = at_desk(study, "dora")
    assert len(desk.tasks(dora, 50)) == 3


@pytest.mark.server
def test_nobody_sees_a_pair_twice_or_a_control_pair_move_when_somebody_leaves(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, *Known, pairs=2)
    desk, ana = at_desk(study, "ana")
    for task in desk.tasks(ana, 50):
        give(desk, ana, right_answer(task.cell_id), task.assignment_id)
    controls_of_ana = set(cells_by_person(study, Known.CONTROLS)["ana"])
    first = next(one for one in desk.tasks(ana, 50) if one.cell_id in controls_of_ana)
    give(desk, ana, right_answer(first.cell_id), first.assignment_id)
    before = [one.assignment_id for one in desk.tasks(ana, 50)]
    study.retire("cleo")
    study.retire("ben")
    tasks = desk.tasks(ana, 50)
    assert [one.assignment_id for one in tasks[: len(before)]] == before  # a control pair that became a shard's stays
    assert not {one.cell_id for one in tasks} & set(cells_by_person(study, Known.CONTROLS)["ana"]) - {first.cell_id}
    shown = [one.cell_id for one in tasks]
    assert len(shown) == len(set(shown))
    seen = {one.cell_id for one in desk.answers(ana, n=50)} | set(cells_by_person(study, Known.QUALIFICATION)["ana"])
    assert not seen & set(shown)


@pytest.mark.server
def test_tables_that_cannot_be_are_refused_and_leave_the_study_as_it_was(at: At, tmp_path: Path) -> None:
    study = at("paired")
    save = study.grid().save
    table = known_table(study, tmp_path / "good.csv", [1, 2])
    with table.open(encoding="utf-8", newline="") as file:
        row, other = csv.DictReader(file)
    for rows, match in (
        ([row, {**other, "column": "Nobody said this."}], ":3: this pair is not in the grid"),
        ([row, {**row, "answer": "not_sure"}], ":3: this pair has a known answer in line 2"),
        ([{**row, "answer": "fine"}], "`answer` is 'fine'"),
        ([{**row, "explanation": ""}], "`explanation` is empty"),
    ):
        wrong = write_csv(tmp_path / "known.csv", rows)
        assert_refused(study, lambda: save.qualification(Qualification(wrong)), InputError, match)  # noqa: B023
    for call, match in (
        (lambda: Qualification(table, pass_mark=1.2), "1.2, which nobody reaches"),
        (lambda: Controls(table, rate=0.0), "rate is 0"),
        (lambda: save.qualification(Qualification(table, known_pairs=3)), "has 2 pairs; lower it"),
    ):
        assert_refused(study, call, InputError, match)
    save.controls(Controls(table))
    with pytest.raises(InputError, match=r"this pair is among those of \[controls\]"):
        save.qualification(Qualification(table))
