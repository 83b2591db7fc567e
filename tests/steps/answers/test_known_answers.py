"""Answers to known pairs on sheets, in exports, in recipes and planned grids, and as doctor sees them."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from fcpair.errors import StageError
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.known_pairs import Controls, Qualification
from fcpair.params import Assign, Calibration, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import as_toml, load_recipe
from fcpair.records import Known, Role
from fcpair.steps.oversight.doctor import examine
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database.tables import assignment
from fcpair.study import Study
from steps.answers.tool_exports import Said, export, people_table, tasks_of
from steps.people.known import FOR_CONTROLS, FOR_QUALIFICATION, controls, known_table, qualification
from steps.small import ANNOTATORS, write_csv

At = Callable[[str], Study]


def dealt(study: Study, folder: Path, *, qualifies: bool = False) -> Study:
    """The small study, assigned with control pairs."""
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().save.controls(controls(study, folder))
    if qualifies:
        study.grid().save.qualification(qualification(study, folder, known_pairs=2))
    study.grid().assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    return study


def fill_in(path: Path) -> int:
    """Answer all of a sheet; returns how many pairs it has."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [{**row, "label": "appropriate"} for row in csv.DictReader(file)]
    assert [int(row["position"]) for row in rows] == list(range(1, len(rows) + 1))
    write_csv(path, rows)
    return len(rows)


@pytest.mark.server
def test_sheets_have_control_pairs_among_the_others_and_are_imported(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path)
    grid = study.grid()
    n_rows = grid.sheets.write_labels(tmp_path / "sheets")
    path = tmp_path / "sheets" / "ana.csv"
    assert fill_in(path) == n_rows["ana"]
    run = grid.import_labels(path)
    (score,) = (one for one in grid.desk.known_scores() if one["name"] == "ana")
    assert score["answered"] == score["assigned"] > 0
    assert run.counts["controls"] == score["answered"]
    assert run.counts["answers"] == len(grid.labels()) == n_rows["ana"] - score["answered"]
    assert grid.import_labels(path).counts["already_there"] == n_rows["ana"]


@pytest.mark.parametrize("tool", TOOLS)
def test_a_project_has_control_pairs_under_the_same_key_as_others(at: At, tmp_path: Path, tool: str) -> None:
    study = dealt(at("paired"), tmp_path)
    grid = study.grid()
    grid.write_project(tmp_path / "project", tool)
    tasks = tasks_of(tool, tmp_path / "project")
    assert {task.key.rsplit(":", 2)[0] for task in tasks} == {"main:label"}
    path = export(tool, tmp_path / "export", ((task, Said({"label": ["appropriate"]})) for task in tasks))
    run = grid.import_export(path, tool, people=people_table(tool, tmp_path / "project"))
    scores = grid.desk.known_scores()
    assert run.counts["controls"] == sum(one["answered"] for one in scores) > 0
    assert run.counts["answers"] == len(grid.labels()) == len(tasks) - run.counts["controls"]
    assert {one["answered"] for one in scores} == {one["assigned"] for one in scores}


def test_only_who_has_qualified_gets_a_sheet(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, qualifies=True)
    with pytest.raises(StageError, match="nobody has qualified yet"):
        study.grid().sheets.write_labels(tmp_path / "sheets")


def test_exports_have_known_answers_only_where_that_is_asked_for(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, qualifies=True)
    grid = study.grid()
    grid.simulate(Simulate(skips=0.0))
    for plain, marked in ((grid.labels(), grid.labels(known=True)), (grid.answers(), grid.answers(known=True))):
        assert "known" not in plain.columns
        by_use = marked["known"].value_counts().to_dict()
        assert by_use.pop("") == len(plain)
        assert by_use == {
            use: sum(one["answered"] for one in grid.desk.known_scores() if one["use"] == use)
            for use in map(str, Known)
        }


def test_a_run_of_simulated_answers_is_withdrawn_with_its_known_ones(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, qualifies=True)
    run = study.grid().simulate(Simulate(skips=0.0))
    study.grid().withdraw(run.id, "labels")
    assert study.grid().labels().empty
    assert {one["answered"] for one in study.grid().desk.known_scores()} == {0}


@pytest.mark.server
def test_doctor_finds_a_known_pair_in_the_shard_of_who_has_it(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path)
    with study._store.write() as tx:
        (control_round,) = rounds.of_known_pairs(tx)
        main = rounds.primary(tx)
        row = tx.execute(select(assignment).where(rounds.in_round(main))).first()
        assert row is not None
        tx.execute(
            insert(assignment).values(
                cell_id=row.cell_id, person_id=row.person_id, round_id=control_round.id, position=99, status="open"
            )
        )
    found = [fault for check in examine(study.place).checks for fault in check.found]
    assert any("a known pair of somebody who has it in their shard" in one for one in found)


def test_a_recipe_sets_known_pairs_before_it_assigns(at: At, tmp_path: Path) -> None:
    study = at("paired")
    known_table(study, tmp_path / "controls.csv", FOR_CONTROLS)
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[controls]\nfile = "controls.csv"\nrate = 0.1\n[assign]\nannotators = 3\noverlap = {2 = 0.25, 3 = 0.25}\n'
        "seed = 1\n"
    )
    stages = [run.stage for run in study.walk(load_recipe(recipe))]
    assert stages[:2] == ["controls", "assign"]
    assert study.grid().desk.known_scores()
    (tmp_path / "again.toml").write_text(as_toml(study.recipe()))
    assert load_recipe(tmp_path / "again.toml").controls == load_recipe(recipe).controls


def test_a_recipe_that_names_a_table_by_a_relative_path_sets_it_once(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = at("paired")
    known_table(study, tmp_path / "controls.csv", FOR_CONTROLS)
    monkeypatch.chdir(tmp_path)
    Path("recipe.toml").write_text('[controls]\nfile = "controls.csv"\n[assign]\nannotators = 3\n')
    stages = [run.stage for run in islice(study.walk(load_recipe(Path("recipe.toml"))), 3)]
    assert stages == ["controls", "assign"]


def test_a_recipe_sets_known_pairs_then_calibrates_then_assigns_what_nobody_discussed(at: At, tmp_path: Path) -> None:
    study = at("paired")
    known_table(study, tmp_path / "known.csv", FOR_QUALIFICATION)
    known_table(study, tmp_path / "controls.csv", FOR_CONTROLS)
    (tmp_path / "recipe.toml").write_text(
        '[qualification]\nfile = "known.csv"\nknown_pairs = 2\n[controls]\nfile = "controls.csv"\nrate = 0.1\n'
        "[calibration]\npairs = 6\n[assign]\nannotators = 3\n"
    )
    recipe = load_recipe(tmp_path / "recipe.toml")
    stages = []
    for _ in range(3):
        stages += [run.stage for run in study.walk(recipe)]
        study.grid().simulate(Simulate(accuracy=0.6, seed=len(stages)))
    assert stages == ["qualification", "controls", "calibration", "discussion", "close calibration", "assign"]
    with study._store.read() as tx:
        batch = set(assignments.assignments(tx, rounds.calibration_rounds(tx)[0])["cell_id"])
        known = [set(assignments.assignments(tx, one)["cell_id"]) for one in rounds.of_known_pairs(tx)]
    assert all(known)
    assert not batch & set.union(*known)


def test_known_pairs_can_be_set_while_people_calibrate_themselves(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.grid().calibration.start(Calibration(pairs=4), annotators=3)
    assert study.grid().save.controls(controls(study, tmp_path)).counts["pairs"] == len(FOR_CONTROLS)


@pytest.mark.server
def test_the_round_that_counts_of_a_planned_grid_has_known_pairs_too(at: At, tmp_path: Path) -> None:
    study = at("empty")
    names = {side: tuple(f"{side} {n}" for n in range(6)) for side in ("row", "column")}
    table = write_csv(
        tmp_path / "known.csv",
        [
            {"row": row, "column": column, "answer": "yes", "explanation": "It is so."}
            for row in names["row"][:3]
            for column in names["column"]
        ],
    )
    plan = GridPlan(
        "rate",
        SidePlan(names=names["row"]),
        SidePlan(names=names["column"]),
        (RoundPlan("rate", "answer: one_of(no,yes+)", role="rater", people=3),),
    )
    study.add_grid(plan)
    grid = study.grid("rate")
    grid.pair()
    grid.save.qualification(Qualification(table, known_pairs=3))
    grid.assign_round()
    grid.simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0))
    assert [(one["right"], one["standing"]) for one in grid.desk.known_scores()] == [(3, "passed")] * 3
    with pytest.raises(StageError, match="have been assigned already"):
        grid.save.controls(Controls(table))
