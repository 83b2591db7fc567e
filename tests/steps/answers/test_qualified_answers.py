"""Who has still to qualify answers nothing of their shard, at any door; a skip in a qualification is no answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from fcpair.errors import FcpairError, InputError, RefusedError, StageError
from fcpair.params import Assign, Simulate
from fcpair.recipe import load_recipe
from fcpair.records import Known, Role, Visitor
from fcpair.steps.answers.work_queue import WorkQueue
from fcpair.steps.base.context import load_opaque_ids
from fcpair.steps.people.known_pairs import KnownScore
from fcpair.steps.rules import permissions
from fcpair.store.assignment import assignments, rounds
from fcpair.study import Study
from steps.answers.tool_exports import Said, export, people_table, tasks_of
from steps.online import admit, at_desk, give
from steps.people.known import FOR_QUALIFICATION, controls, known_table, qualification, right_answer
from steps.small import ANNOTATORS, assert_refused, labels_of, record, write_csv

At = Callable[[str], Study]


def dealt(study: Study, folder: Path, pairs: int = 2) -> Study:
    """The small study, assigned with a qualification and with control pairs."""
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().save.qualification(qualification(study, folder, known_pairs=pairs))
    study.grid().save.controls(controls(study, folder))
    study.grid().assign(Assign(overlap={2: 0.25, 3: 0.25}, seed=1))
    return study


class Work(NamedTuple):
    """An assignment of ana's, as clients know it, and its pair."""

    assignment_id: int
    pair: int


def work_of_ana(study: Study, use: Known | None) -> Work:
    """The first pair of her shard, or of its control pairs."""
    person = next(one.id for one in study.people if one.name == "ana")
    with study._store.read() as tx:
        (round_,) = rounds.of_known_pairs(tx, use=use) if use else [rounds.primary(tx)]
        rows = assignments.assignments(tx, round_)
        row = rows[rows["person_id"] == person].iloc[0]
        return Work(load_opaque_ids(tx).encrypt_assignment(int(row["id"])), int(row["cell_id"]))


def qualify(desk: WorkQueue, visitor: Visitor, *, right: bool) -> None:
    """Answer all of a qualification."""
    for task in desk.tasks(visitor, 50):
        give(desk, visitor, right_answer(task.cell_id) if right else "not_sure", task.assignment_id)


def score_of(study: Study, name: str) -> dict[str, Any]:
    (score,) = (
        one for one in study.grid().desk.known_scores() if one["name"] == name and one["use"] == "qualification"
    )
    return score


# -- doors


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
    (task,) = (one for one in tasks_of("doccano", place) if (one.person, one.number) == ("ana", work.pair))
    path = export("doccano", place / "export", [(task, Said({"label": ["appropriate"]}))])
    study.grid().import_export(path, "doccano", people=people_table("doccano", place))


DOORS: dict[Callable[[Study, Path, Work], None], tuple[type[FcpairError], str]] = {
    online: (RefusedError, "you have not qualified yet, so your answer was not stored"),
    labels_in_a_file: (InputError, "some-labels.csv:2: ana has not qualified"),
    answers_in_a_file: (InputError, "answers.csv:2: ana has not qualified"),
    answers_from_a_tool: (InputError, ":1: ana has not qualified"),
}


@pytest.mark.server
@pytest.mark.parametrize("use", [None, Known.CONTROLS])
@pytest.mark.parametrize("door", DOORS)
def test_every_door_refuses_who_has_still_to_qualify_until_they_are_let_on(
    at: At, tmp_path: Path, door: Callable[[Study, Path, Work], None], use: Known | None
) -> None:
    study = dealt(at("paired"), tmp_path)
    desk, ana = at_desk(study, "ana")
    work = work_of_ana(study, use)
    for _ in ("has not begun", "is below the pass mark"):
        with pytest.raises(DOORS[door][0], match=DOORS[door][1]):
            door(study, tmp_path, work)
        assert labels_of(study) == {}
        qualify(desk, ana, right=False)
    study.grid().desk.let_on("ana")
    door(study, tmp_path, work)
    assert len(labels_of(study)) == (use is None)
    assert sum(one["answered"] for one in study.grid().desk.known_scores() if one["use"] == "controls") == (
        use is not None
    )


def test_who_has_passed_answers_until_their_qualification_is_open_again(at: At, tmp_path: Path) -> None:
    """A qualification that was answered by simulation is withdrawn while somebody is at their desk."""
    study = dealt(at("paired"), tmp_path)
    run = study.grid().simulate(Simulate(accuracy=1.0, not_sure=0.0, skips=0.0))
    desk, ana = at_desk(study, "ana")
    work = work_of_ana(study, None)
    give(desk, ana, "appropriate", work.assignment_id)
    study.grid().withdraw(run.id, "labels")
    with pytest.raises(RefusedError, match="you have not qualified yet"):
        give(desk, ana, "not_appropriate", work.assignment_id)


def test_a_file_brings_no_labels_where_a_qualification_is_set_that_nobody_has_yet(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(list(ANNOTATORS), Role.ANNOTATOR)
    study.grid().save.qualification(qualification(study, tmp_path))
    assert_refused(study, lambda: record(study, tmp_path, [("ben", 1, "2")]), InputError, ":2: ben has not qualified")


# -- simulated people


@pytest.mark.server
def test_simulated_people_below_the_pass_mark_wait_to_be_let_on(at: At, tmp_path: Path) -> None:
    study = dealt(at("paired"), tmp_path, pairs=4)
    grid = study.grid()
    grid.simulate(Simulate(accuracy=0.6, seed=3))
    standings = {name: score_of(study, name)["standing"] for name in ANNOTATORS}
    assert set(standings.values()) == {"passed", "waits"}
    passed = {name for name, standing in standings.items() if standing == "passed"}
    assert {who for _, who in labels_of(study)} == passed
    answered = {one["name"] for one in grid.desk.known_scores() if one["use"] == "controls" and one["answered"]}
    assert answered == passed
    assert_refused(study, lambda: grid.simulate(Simulate()), StageError, "people below the pass mark")
    for name in {*ANNOTATORS} - passed:
        grid.desk.let_on(name)
    grid.simulate(Simulate(accuracy=0.6, seed=4))
    assert {who for _, who in labels_of(study)} == {*ANNOTATORS}


def test_a_recipe_with_simulated_people_ends_where_somebody_waits(at: At, tmp_path: Path) -> None:
    study = at("paired")
    known_table(study, tmp_path / "known.csv", FOR_QUALIFICATION)
    (tmp_path / "recipe.toml").write_text(
        '[qualification]\nfile = "known.csv"\nknown_pairs = 4\n[assign]\nannotators = 3\n[simulate]\naccuracy = 0.3\n'
    )
    recipe = load_recipe(tmp_path / "recipe.toml")
    assert [run.stage for run in study.walk(recipe)] == ["qualification", "assign", "simulate"]
    assert list(study.walk(recipe)) == []
    standings = {one["name"]: one["standing"] for one in study.grid().desk.known_scores()}
    assert set(standings.values()) == {"passed", "waits"}
    assert {who for _, who in labels_of(study)} == {
        name for name, standing in standings.items() if standing == "passed"
    }


# -- skips


def test_skips_neither_help_nor_cost_the_pass(at: At, tmp_path: Path) -> None:
    """Of two pairs ana skips one, gets another behind the second, and answers both right: 2 of 2, and not 2 of 3."""
    study = dealt(at("paired"), tmp_path)
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
    study = dealt(at("paired"), tmp_path, pairs=2)
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
