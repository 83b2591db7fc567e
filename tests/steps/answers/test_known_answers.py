"""Known pairs at every door: among the others, before anybody qualifies, and to practise on."""

from __future__ import annotations

import csv
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import insert, select

from fcpair.errors import FcpairError, InputError, RefusedError, StageError
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.known_pairs import MOST_ITEMS, Controls, KnownItem, Practice, Qualification
from fcpair.params import Assign, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, as_toml, load_recipe
from fcpair.records import Known, Role, Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.steps.base.context import load_opaque_ids
from fcpair.steps.oversight.doctor import examine
from fcpair.steps.oversight.recipe_runner import _changed_study_options
from fcpair.steps.people.known_pairs import KnownScore
from fcpair.steps.rules import permissions
from fcpair.store.assignment import assignments, rounds
from fcpair.store.database.tables import assignment
from fcpair.study import Study
from steps.answers.tool_exports import Said, export, people_table, tasks_of
from steps.online import admit, at_desk, give
from steps.people.known import FOR_CONTROLS, FOR_QUALIFICATION, controls, known_table, qualification, right_answer
from steps.small import ANNOTATORS, At, assert_refused, labels_of, record, with_grid, write_csv


def dealt(study: Study, folder: Path, known_pairs: int = 0) -> Study:
    """The small study, assigned with control pairs, and with a qualification on so many pairs."""
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().save.controls(controls(study, folder))
    if known_pairs:
        study.grid().save.qualification(qualification(study, folder, known_pairs=known_pairs))
    study.grid().assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    return study


def scores_of(study: Study, use: Known | None = None) -> list[dict[str, Any]]:
    scores = study.grid().desk.known_scores()
    return [score for score in scores if use in (None, score["use"])]


def score_of(study: Study, name: str) -> dict[str, Any]:
    (score,) = (score for score in scores_of(study, Known.QUALIFICATION) if score["name"] == name)
    return score


@pytest.mark.server
def test_sheets_have_control_pairs_among_the_others_and_are_imported(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(dealt(at("paired"), tmp_path))
    n_rows = grid.sheets.write_labels(tmp_path / "sheets")["ana"]
    path = tmp_path / "sheets" / "ana.csv"
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [{**row, "label": "appropriate"} for row in csv.DictReader(file)]
    assert [int(row["position"]) for row in rows] == list(range(1, n_rows + 1))
    run = grid.import_labels(write_csv(path, rows))
    (score,) = (score for score in scores_of(study) if score["name"] == "ana")
    assert score["answered"] == score["assigned"] > 0
    assert run.counts["controls"] == score["answered"]
    assert run.counts["answers"] == len(grid.labels()) == n_rows - score["answered"]
    assert grid.import_labels(path).counts["already_there"] == n_rows


@pytest.mark.parametrize("tool", TOOLS)
def test_a_project_has_control_pairs_under_the_same_key_as_others(at: At, tmp_path: Path, tool: str) -> None:
    study, grid = with_grid(dealt(at("paired"), tmp_path))
    grid.write_project(tmp_path / "project", tool)
    tasks = tasks_of(tool, tmp_path / "project")
    assert {task.key.rsplit(":", 2)[0] for task in tasks} == {"main:label"}
    path = export(tool, tmp_path / "export", ((task, Said({"label": ["appropriate"]})) for task in tasks))
    run = grid.import_export(path, tool, people=people_table(tool, tmp_path / "project"))
    scores = scores_of(study)
    assert run.counts["controls"] == sum(score["answered"] for score in scores) > 0
    assert run.counts["answers"] == len(grid.labels()) == len(tasks) - run.counts["controls"]
    assert {score["answered"] for score in scores} == {score["assigned"] for score in scores}


def test_known_answers_are_listed_where_that_is_asked_for_and_withdrawn_with_their_run(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(dealt(at("paired"), tmp_path, known_pairs=2))
    with pytest.raises(StageError, match="nobody has qualified yet"):
        grid.sheets.write_labels(tmp_path / "sheets")
    run = grid.simulate(Simulate(skips=0.0))
    for plain, marked in ((grid.labels(), grid.labels(known=True)), (grid.answers(), grid.answers(known=True))):
        assert "known" not in plain.columns
        by_use = marked["known"].value_counts().to_dict()
        assert by_use.pop("") == len(plain)
        assert by_use == {str(use): sum(score["answered"] for score in scores_of(study, use)) for use in Known}
    grid.withdraw(run.id, "labels")
    assert grid.labels().empty
    assert {score["answered"] for score in scores_of(study)} == {0}


@pytest.mark.server
def test_doctor_finds_a_known_pair_in_the_shard_of_who_has_it(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path)
    with study._store.write() as tx:
        (control_round,) = rounds.of_known_pairs(tx)
        row = tx.execute(select(assignment).where(rounds.in_round(rounds.primary(tx)))).first()
        assert row is not None
        own = {"cell_id": row.cell_id, "person_id": row.person_id, "position": 99, "status": "open"}
        tx.execute(insert(assignment).values(round_id=control_round.id, **own))
    faults = [fault for check in examine(study.place).checks for fault in check.found]
    assert any("a known pair of somebody who has it in their shard" in fault for fault in faults)


@pytest.mark.server
def test_the_round_that_counts_of_a_planned_grid_has_known_pairs_too(at: At, tmp_path: Path) -> None:
    study = at("empty")
    names = {side: tuple(f"{side} {n}" for n in range(6)) for side in ("row", "column")}
    known = [
        {"row": row, "column": column, "answer": "yes", "explanation": "It is so."}
        for row in names["row"][:3]
        for column in names["column"]
    ]
    table = write_csv(tmp_path / "known.csv", known)
    rate = RoundPlan("rate", "answer: one_of(no,yes+)", role="rater", people=3)
    study.add_grid(GridPlan("rate", SidePlan(names=names["row"]), SidePlan(names=names["column"]), (rate,)))
    grid = study.grid("rate")
    grid.pair()
    grid.save.qualification(Qualification(table, known_pairs=3))
    grid.assign_round()
    grid.simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0))
    assert [(score["right"], score["standing"]) for score in grid.desk.known_scores()] == [(3, "passed")] * 3
    with pytest.raises(StageError, match="have been assigned already"):
        grid.save.controls(Controls(table))


def test_a_recipe_sets_known_pairs_once_before_it_assigns(
    at: At, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = at("paired")
    known_table(study, tmp_path / "controls.csv", FOR_CONTROLS)
    monkeypatch.chdir(tmp_path)
    recipe = Path("recipe.toml")  # by a relative path, which names the same table
    recipe.write_text(
        '[controls]\nfile = "controls.csv"\nrate = 0.1\n[assign]\nannotators = 3\noverlap = {2 = 0.25, 3 = 0.25}\n'
        "seed = 1\n"
    )
    stages = [run.stage for run in islice(study.walk(load_recipe(recipe)), 3)]
    assert stages == ["controls", "assign"]
    assert scores_of(study)
    Path("again.toml").write_text(as_toml(study.recipe()))
    again, first = load_recipe(Path("again.toml")).controls, load_recipe(tmp_path / "recipe.toml").controls
    assert again == first


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
        known = [set(assignments.assignments(tx, round_)["cell_id"]) for round_ in rounds.of_known_pairs(tx)]
    assert all(known)
    assert not batch & set.union(*known)


class Work(NamedTuple):
    """An assignment of ana's, as clients know it, and its pair."""

    assignment_id: int
    pair: int


def works_of_ana(study: Study, use: Known | None) -> list[Work]:
    """The first pairs of her shard, or of its control pairs, at most four."""
    person = next(person.id for person in study.people if person.name == "ana")
    with study._store.read() as tx:
        (round_,) = rounds.of_known_pairs(tx, use=use) if use else [rounds.primary(tx)]
        rows = assignments.assignments(tx, round_)
        own, ids = rows[rows["person_id"] == person].head(4), load_opaque_ids(tx)
        return [Work(ids.encrypt_assignment(row["id"]), row["cell_id"]) for row in own.to_dict("records")]


def qualify(desk: WorkQueue, visitor: Visitor, *, right: bool) -> None:
    for task in desk.tasks(visitor, 50):
        give(desk, visitor, right_answer(task.cell_id) if right else "not_sure", task.assignment_id)


def online(study: Study, folder: Path, work: Work) -> None:
    give(*at_desk(study, "ana"), "appropriate", work.assignment_id)


def labels_in_a_file(study: Study, folder: Path, work: Work) -> None:
    record(study, folder, [("ana", work.pair, "2")])


def answers_in_a_file(study: Study, folder: Path, work: Work) -> None:
    rows = [{"cell": work.pair, "by": "ana", "label": "appropriate"}]
    study.grid().import_answers(write_csv(folder / "answers.csv", rows))


def answers_from_a_tool(study: Study, folder: Path, work: Work) -> None:
    """As if the project had been written when nobody had to qualify."""
    place = folder / f"project-{len(list(folder.iterdir()))}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(permissions, "unqualified", lambda *_: set())
        study.grid().write_project(place, "doccano")
    (task,) = (task for task in tasks_of("doccano", place) if (task.person, task.number) == ("ana", work.pair))
    path = export("doccano", place / "export", [(task, Said({"label": ["appropriate"]}))])
    study.grid().import_export(path, "doccano", people=people_table("doccano", place))


DOORS: dict[Callable[[Study, Path, Work], None], tuple[type[FcpairError], str]] = {
    answers_from_a_tool: (InputError, ":1: ana has not qualified"),
    online: (RefusedError, "you have not qualified yet, so your answer was not stored"),
    labels_in_a_file: (InputError, "some-labels.csv:2: ana has not qualified"),
    answers_in_a_file: (InputError, "answers.csv:2: ana has not qualified"),
}


@pytest.mark.server
@pytest.mark.parametrize("use", [None, Known.CONTROLS])
def test_every_door_refuses_who_has_still_to_qualify_until_they_are_let_on(
    at: At, tmp_path: Path, use: Known | None
) -> None:
    study = dealt(at("paired"), tmp_path, known_pairs=2)
    desk, ana = at_desk(study, "ana")
    works = works_of_ana(study, use)
    for _ in ("has not begun", "is below the pass mark"):
        for door, (error, message) in DOORS.items():
            with pytest.raises(error, match=message):
                door(study, tmp_path, works[0])
        assert labels_of(study) == {}
        qualify(desk, ana, right=False)
    study.grid().desk.let_on("ana")
    for door, work in zip(DOORS, cycle(works)):
        door(study, tmp_path, work)
    answered = sum(score["answered"] for score in scores_of(study, Known.CONTROLS))
    assert (len(labels_of(study)), answered) == ((0, len(works)) if use else (4, 0))


def test_who_has_passed_answers_until_their_qualification_is_open_again(at: At, tmp_path: Path) -> None:
    """A qualification that was answered by simulation is withdrawn while somebody is at their desk."""
    study = dealt(at("paired"), tmp_path, known_pairs=2)
    run = study.grid().simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0))
    desk, ana = at_desk(study, "ana")
    work = works_of_ana(study, None)[0]
    give(desk, ana, "appropriate", work.assignment_id)
    study.grid().withdraw(run.id, "labels")
    with pytest.raises(RefusedError, match="you have not qualified yet"):
        give(desk, ana, "not_appropriate", work.assignment_id)


@pytest.mark.server
def test_simulated_people_below_the_pass_mark_wait_to_be_let_on(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(dealt(at("paired"), tmp_path, known_pairs=4))
    grid.simulate(Simulate(accuracy=0.6, seed=3))
    standings = {name: score_of(study, name)["standing"] for name in ANNOTATORS}
    assert set(standings.values()) == {"passed", "waits"}
    passed = {name for name, standing in standings.items() if standing == "passed"}
    assert {who for _, who in labels_of(study)} == passed
    assert {score["name"] for score in scores_of(study, Known.CONTROLS) if score["answered"]} == passed
    assert_refused(study, lambda: grid.simulate(Simulate()), StageError, "people below the pass mark")
    for name in {*ANNOTATORS} - passed:
        grid.desk.let_on(name)
    grid.simulate(Simulate(accuracy=0.6, seed=4))
    assert {who for _, who in labels_of(study)} == {*ANNOTATORS}


def test_skips_neither_help_nor_cost_the_pass(at: At, tmp_path: Path) -> None:
    """Of two pairs ana skips one, gets another behind the second, and answers both right: 2 of 2, and not 2 of 3."""
    study = dealt(at("paired"), tmp_path, known_pairs=2)
    desk, ana = at_desk(study, "ana")
    first, second = desk.tasks(ana, 50)
    give(desk, ana, "skip", first.assignment_id)
    again, third = desk.tasks(ana, 50)
    assert again == second
    assert third.cell_id not in (first.cell_id, second.cell_id)
    qualify(desk, ana, right=True)
    score = score_of(study, "ana")
    assert [score[key] for key in ("assigned", "answered", "skipped", "right")] == [3, 2, 1, 2]
    assert (score["share"], score["standing"]) == (1.0, "passed")


@pytest.mark.server
def test_who_skips_all_there_is_waits_for_the_lead(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, known_pairs=2)
    desk, ana = at_desk(study, "ana")
    seen = set()
    while tasks := desk.tasks(ana):
        seen.add(tasks[0].cell_id)
        give(desk, ana, "skip", tasks[0].assignment_id)
    score = score_of(study, "ana")
    assert score["assigned"] == score["skipped"] == len(seen) > 2
    assert seen <= {*FOR_QUALIFICATION}
    assert (score["share"], score["standing"]) == (None, "waits")
    admit(study, "ben")
    study.add_people(["dora"], Role.ANNOTATOR)  # nobody who is through gets more when somebody comes
    assert score_of(study, "ana") == score


@pytest.mark.parametrize(
    ("answered", "skipped", "right", "reaches"),
    [(8, 3, 8, True), (8, 3, 6, True), (8, 3, 5, False), (1, 10, 1, True), (0, 11, 0, False)],
)
def test_the_pass_mark_is_a_share_of_what_was_answered(answered: int, skipped: int, right: int, reaches: bool) -> None:
    assert KnownScore(answered + skipped, answered, skipped, right).reaches(0.75) is reaches


ITEM = {"row": "Tea is vile.", "column": "Try it.", "answer": "not_sure", "explanation": "It says little."}
HEADER = "row,column,answer,explanation\n"


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study.db")


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text(header + "\n".join(rows), "utf-8")
    return path


def test_a_file_is_read_into_the_study_which_keeps_what_it_held(study: Study, tmp_path: Path) -> None:
    """Columns are found whatever their order, and one text needs no column."""
    file = write(tmp_path / "known.csv", "Tea is vile.,Try it.,not_sure,It says little.")
    assert study.save_practice(file=file).counts == {"items": 1}
    file.unlink()
    assert study.known_items() == [KnownItem(**ITEM)]
    study.save_practice(file=write(file, "why;Tea;appropriate", header="Explanation;ROW;answer\n"))
    assert study.known_items() == [KnownItem("Tea", "", "appropriate", "why")]


def test_known_items_that_cannot_be_used_are_refused(study: Study, tmp_path: Path) -> None:
    file = write(tmp_path / "known.csv", "a,b,apropriate,c", "a,b,not_sure,", ",b,appropriate,d")
    with pytest.raises(InputError) as refused:
        study.save_practice(file=file)
    assert [(finding.line, finding.message) for finding in refused.value.findings] == [
        (2, "`answer` is 'apropriate'; did you mean `appropriate`?"),
        (3, "`explanation` is empty"),
        (4, "`row` is empty"),
    ]
    too_many = f"there are {MOST_ITEMS + 1} known pairs to practise on; at most {MOST_ITEMS}"
    refusals: list[tuple[list[dict[str, str]], str]] = [
        ([{**ITEM, "answer": "perhaps"}], "item 1: `answer` is 'perhaps'; expected one of"),
        ([ITEM, {**ITEM, "why": "so"}], "item 2: there is no `why`; expected"),
        ([{"row": "a"}], "item 1: `answer` is empty; item 1: `explanation` is empty"),
        ([ITEM] * (MOST_ITEMS + 1), too_many),
    ]
    for items, message in refusals:
        with pytest.raises(InputError, match=message):
            study.save_practice(items=items)
    assert study.known_items() == []
    with pytest.raises(InputError, match="either in a file or as tables"):
        Practice(file, (ITEM,))


def test_those_who_label_practise_until_the_known_items_are_none(study: Study) -> None:
    """Not those who write, decide or are asked about themselves."""
    study.save_practice(items=[ITEM])
    assert [role for role in Role if study.practice_round(role)] == [Role.ANNOTATOR, Role.VALIDATOR, Role.RATER]
    study.save_practice(Practice())
    assert study.practice_round(Role.ANNOTATOR) is None


def test_a_study_that_asks_for_no_labels_has_nothing_to_practise(tmp_path: Path) -> None:
    side, write = SidePlan(names=("a",)), RoundPlan("write", "text: text()", role="writer")
    plan = GridPlan("write", side, side, (write,))
    with pytest.raises(StageError, match="no question to practise"):
        Study.create(tmp_path / "study.db", grids=[plan]).save_practice(items=[ITEM])


def stages_run(study: Study, practice: Practice | None) -> list[str]:
    """The stages of a recipe that are run for its known pairs."""
    with study._store.read() as tx:
        changed = list(_changed_study_options(tx, Recipe(practice=practice)))
    return [save(study.grid(), options).stage for _, save, options in changed]


def test_a_recipe_sets_the_known_pairs_and_sets_them_again_when_their_file_has_changed(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text('[study]\ntitle = "Tea"\n\n[practice]\nfile = "known.csv"\n')
    file = write(tmp_path / "known.csv", "Tea is vile.,Try it.,not_sure,It says little.")
    recipe = load_recipe(tmp_path / "recipe.toml")
    study = Study.create(tmp_path / "study.db", recipe.setup)
    assert stages_run(study, recipe.practice) == ["practice"]
    assert stages_run(study, recipe.practice) == []
    write(file, "Tea is fine.,Indeed.,appropriate,It agrees.")
    assert stages_run(study, recipe.practice) == ["practice"]
    assert study.known_items() == [KnownItem("Tea is fine.", "Indeed.", "appropriate", "It agrees.")]


def test_the_printed_recipe_holds_what_was_set_last(study: Study, tmp_path: Path) -> None:
    file = write(tmp_path / "known.csv", "Tea is vile.,Try it.,not_sure,It says little.")
    study.save_practice(file=file)
    item = {**ITEM, "explanation": 'Two lines,\nand a "quote" for $5.'}
    study.save_practice(items=[item])
    (tmp_path / "printed.toml").write_text(study.recipe_text())
    printed = load_recipe(tmp_path / "printed.toml")
    assert printed.practice == study.recipe().practice == Practice(items=(item,))
    assert as_toml(printed) == as_toml(study.recipe())
    study.save_practice(file=file)
    practice = study.recipe().practice
    assert practice is not None
    assert practice.file == file
