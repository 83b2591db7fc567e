"""What an import from a tool says of each person's shard, and which answers it leaves out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import TESTS

from fcpair.errors import InputError, StageError
from fcpair.params import Assign
from fcpair.records import Role
from fcpair.study import Study
from steps.answers.test_exchange import Trip, as_labelled
from steps.answers.tool_exports import Said
from steps.small import labels_of

At = Callable[[str], Study]
POTATO = TESTS / "assets" / "exchange" / "potato" / "annotations.jsonl"
BROKEN_OFF = (
    "{0}: of 14 pairs {1} are answered, 0 skipped and {2} missing; unless {0} is still at work, or was assigned them "
    "after the project was written, the export was cut off"
)


@pytest.fixture
def trip(at: At, tmp_path: Path) -> Callable[[str], Trip]:
    return lambda tool: Trip(at("dealt"), tmp_path, tool)


def test_an_export_that_is_cut_between_lines_says_what_of_whom_is_missing(at: At, tmp_path: Path) -> None:
    study, cut = at("dealt"), tmp_path / "cut.jsonl"
    cut.write_text("".join(POTATO.read_text("utf-8").splitlines(keepends=True)[:20]), "utf-8")
    notes = study.grid().import_export(cut, "potato").notes
    assert notes == (BROKEN_OFF.format("ben", 6, 8), BROKEN_OFF.format("cleo", 0, 14))
    assert study.grid().import_export(POTATO, "potato").notes == ()


def test_in_a_project_of_one_person_nobody_else_is_missing(trip: Callable[[str], Trip]) -> None:
    study = trip("prodigy")
    of_ana = [task for task in study.tasks if task.person == "ana"]
    skipped, *answered = of_ana[:5]
    said = [(skipped, Said({}, skips=True)), *((task, as_labelled(task)) for task in answered)]
    (note,) = study.bring(study.export(said)).notes
    assert note.startswith("ana: of 14 pairs 4 are answered, 1 skipped and 9 missing")


def test_an_answer_from_before_another_of_the_same_person_is_left_out(trip: Callable[[str], Trip]) -> None:
    study = trip("prodigy")
    first, second, *_ = (task for task in study.tasks if task.person == "ana")
    newer = [(first, Said({"label": ["appropriate"]}, second=9))]
    older = [(task, Said({"label": ["not_sure"]}, second=3)) for task in (first, second)]
    study.bring(study.export(newer))
    for supersede in (False, True):
        run = study.bring(study.export(older, f"older {supersede}"), supersede=supersede)
        assert run.counts["answers"] == (0 if supersede else 1)
        assert f"ana has answered differently since; older answers left out: 1 (pairs {first.number})" in run.notes
    assert labels_of(study.study) == {(first.number, "ana"): "appropriate", (second.number, "ana"): "not_sure"}


def test_simulated_answers_are_never_the_newer_ones(trip: Callable[[str], Trip]) -> None:
    study = trip("prodigy")
    task = study.tasks[0]
    study.grid.simulate(seed=1)
    other = "not_sure" if labels_of(study.study)[task.number, task.person] != "not_sure" else "appropriate"
    assert study.bring(study.export([(task, Said({"label": [other]}))]), supersede=True).counts["answers"] == 1
    assert labels_of(study.study)[task.number, task.person] == other


def test_answers_of_somebody_who_was_dismissed_stay_out(at: At) -> None:
    study = at("dealt")
    study.grid().import_export(POTATO, "potato")
    study.dismiss("ana")
    run = study.grid().import_export(POTATO, "potato")
    assert run.counts["answers"] == 0
    assert "ana was dismissed, so the answers of ana are left out (14)" in run.notes
    assert not any(person == "ana" for _, person in labels_of(study))


def bring_with_people(study: Study, folder: Path, user: str, table: str) -> int:
    export, people = folder / "export.jsonl", folder / "people.csv"
    export.write_text(POTATO.read_text("utf-8").replace('"user_id": "ana"', f'"user_id": "{user}"'), "utf-8")
    people.write_text(f"user;annotator\n{table};ana\nben;ben\ncleo;cleo\n", "utf-8-sig")
    return int(study.grid().import_export(export, "potato", people=people).counts["answers"])


@pytest.mark.parametrize(("user", "table"), [("Zoe\u0308", "Zo\u00eb"), ("2", "2.0")])
def test_a_user_is_the_same_however_programs_write_them(at: At, tmp_path: Path, user: str, table: str) -> None:
    assert bring_with_people(at("dealt"), tmp_path, user, table) == 42


def test_a_user_with_other_capitals_is_asked_about(at: At, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="user `ANA` is not in the table of people; did you mean `ana`"):
        bring_with_people(at("dealt"), tmp_path, "ANA", "ana")


def test_work_that_is_free_for_anybody_is_no_shard(at: At, tmp_path: Path) -> None:
    study = at("paired")
    study.add_people(["ana", "ben"], Role.ANNOTATOR)
    study.grid().assign(Assign(open=True))
    with pytest.raises(StageError, match=r"labels are free for anybody in the browser .*so there are no sheets"):
        study.grid().write_project(tmp_path / "project", "potato")


def test_answers_of_somebody_who_left_stand(at: At) -> None:
    study = at("dealt")
    study.retire("ana")
    assert study.grid().import_export(POTATO, "potato").counts["answers"] == 42


def test_where_nothing_is_open_it_is_said_why(at: At, tmp_path: Path) -> None:
    with pytest.raises(StageError, match=r"nothing is open in round `label`, which has not been assigned yet; `fcpair"):
        at("paired").grid().write_project(tmp_path / "project", "potato")
    study = at("dealt")
    study.grid().import_export(POTATO, "potato")
    with pytest.raises(StageError, match=r"nothing is open in round `label`: all of it is answered \(42\)$"):
        study.grid().write_project(tmp_path / "project", "potato")
    for name in ("ana", "ben", "cleo"):
        study.dismiss(name)
    with pytest.raises(StageError, match=r"in round `label`, but 42 answers are vacant; `fcpair people add NAME"):
        study.grid().write_project(tmp_path / "project", "potato")
