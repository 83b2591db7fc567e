"""Work for annotation tools and back: what they export stands with person and text, and what is wrong is refused."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.study import Study
from steps.answers.tool_exports import NOTE, Said, Task, export, json_lines, people_table, tasks_of
from steps.small import HS, assert_refused, label_of, labels_of, open_work

At = Callable[[str], Study]
WITH_SKIPS = ("label-studio", "prodigy")
tools = pytest.mark.parametrize("tool", TOOLS)


def as_labelled(task: Task) -> Said:
    return Said({"label": [label_of(task.number, task.person)]}, NOTE if task.number % 3 else "")


class Trip:
    """A project of the small study for a tool, and ways to bring it back."""

    def __init__(self, study: Study, folder: Path, tool: str) -> None:
        self.study, self.grid, self.tool, self.folder = study, study.grid(), tool, folder
        self.project = folder / "project"
        self.grid.write_project(self.project, tool)
        self.tasks = tasks_of(tool, self.project)
        self.people = people_table(tool, self.project)
        self.said: list[str] = []

    def export(self, answers: Iterable[tuple[Task, Said]], name: str = "export") -> Path:
        return export(self.tool, self.folder / name, answers)

    def bring(self, path: Path, **chosen: Any) -> Any:
        options: dict[str, Any] = {"people": self.people, "announce": self.said.append, **chosen}
        return self.grid.import_export(path, self.tool, **options)

    def refuses(self, path: Path, match: str, **options: Any) -> None:
        assert_refused(self.study, lambda: self.bring(path, **options), InputError, match)


@pytest.fixture
def trip(at: At, tmp_path: Path) -> Callable[[str], Trip]:
    return lambda tool: Trip(at("dealt"), tmp_path, tool)


@tools
def test_every_open_pair_is_written_once_for_its_person(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    assert sorted((task.person, task.number) for task in there.tasks) == sorted(open_work(there.study))


@pytest.mark.server
@tools
def test_all_that_people_say_comes_back(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    run = there.bring(there.export((task, as_labelled(task)) for task in there.tasks))
    assert run.counts["answers"] == len(there.tasks) == 42
    sentence = f"In the round `label`, 42 answers were given in 1 export of `{tool}`."
    assert sentence in there.study.methods().sections[0].text
    assert labels_of(there.study) == {
        (task.number, task.person): as_labelled(task).words["label"][0] for task in there.tasks
    }
    rows = there.grid.labels()
    notes = {(row.pair, row.annotator): row.note for row in rows.itertuples()}
    assert notes == {(task.number, task.person): as_labelled(task).note for task in there.tasks}


@tools
def test_the_same_export_again_adds_nothing(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    path = there.export((task, as_labelled(task)) for task in there.tasks)
    there.bring(path)
    again = there.bring(path)
    assert (again.counts["answers"], again.counts["skips"], again.counts["already_there"]) == (0, 0, 42)


@pytest.mark.parametrize("tool", WITH_SKIPS)
def test_skips_are_skips(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    skipped, answered, *_ = there.tasks
    run = there.bring(there.export([(skipped, Said({}, skips=True)), (answered, as_labelled(answered))]))
    assert (run.counts["answers"], run.counts["skips"]) == (1, 1)
    assert labels_of(there.study)[skipped.number, skipped.person] == "skip"


@pytest.mark.server
@pytest.mark.parametrize("tool", WITH_SKIPS)
def test_of_several_answers_the_latest_counts_and_the_others_are_kept(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    words = ("appropriate", "not_sure", "not_appropriate")
    answers = [(task, Said({"label": [word]}, second=9 - at)) for at, word in enumerate(words)]
    path = there.export(answers)
    run = there.bring(path)
    assert (run.counts["answers"], run.counts["earlier"]) == (1, 2)
    assert labels_of(there.study) == {(task.number, task.person): "appropriate"}
    history = there.study.grid().explain(task.number).answers
    assert [one["answer"] for one in history] == ["not_appropriate", "not_sure", "appropriate"]
    again = there.bring(path)
    assert (again.counts["answers"], again.counts["already_there"]) == (0, 1)
    assert len(there.study.grid().explain(task.number).answers) == 3


@pytest.mark.parametrize("tool", WITH_SKIPS)
def test_an_import_can_be_withdrawn_and_made_again(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    answers = [(task, Said({"label": [word]}, second=at)) for at, word in enumerate(("not_sure", "appropriate"))]
    path = there.export(answers)
    run = there.bring(path)
    there.grid.withdraw(run.id, "labels")
    assert labels_of(there.study) == {}
    assert there.bring(path).counts["answers"] == 1
    assert labels_of(there.study) == {(task.number, task.person): "appropriate"}
    assert Study.doctor(there.study.place).is_sound


@pytest.mark.parametrize("tool", WITH_SKIPS)
def test_a_later_export_with_another_answer_needs_to_supersede(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    first, second = Said({"label": ["not_sure"]}, second=1), Said({"label": ["appropriate"]}, second=2)
    there.bring(there.export([(task, first)]))
    both = there.export([(task, first), (task, second)], "later")
    there.refuses(both, "has already answered pair")
    run = there.bring(both, supersede=True)
    assert run.counts == {"answers": 1, "skips": 0, "already_there": 0} | run.counts
    assert "earlier" not in run.counts
    assert len(there.study.grid().explain(task.number).answers) == 2


@tools
def test_what_an_export_lacks_is_said_before_it_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    there.refuses(there.export([(there.tasks[0], Said({"label": ["perhaps"]}))]), "unknown answer `perhaps`")
    lacking = {"label-studio": [], "prodigy": ["how long an answer took"]}.get(tool, ["no skips"])
    assert [any(lack in said for said in there.said) for lack in lacking] == [True] * len(lacking)


@tools
def test_two_labels_for_a_pair_are_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    there.refuses(
        there.export([(there.tasks[0], Said({"label": ["not_sure", "appropriate"]}))]), "2 answers .*expected one"
    )


@tools
def test_errors_name_file_and_line(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    of_ana = [task for task in there.tasks if task.person == "ana"]
    path = there.export([(of_ana[0], as_labelled(of_ana[0])), (of_ana[1], Said({"label": ["perhaps"]}))])
    (name,) = [one.name for one in path.iterdir()]
    place = f"1: pair {of_ana[1].number}" if tool == "label-studio" else "2"
    there.refuses(path, rf"{name}:{place}: unknown answer `perhaps`; expected one of not_appropriate")


@tools
def test_an_export_that_is_cut_off_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    path = there.export((task, as_labelled(task)) for task in there.tasks)
    file = sorted(path.iterdir())[-1]
    file.write_bytes(file.read_bytes()[:-40])
    there.refuses(path, r"cut off\?")


@tools
def test_an_export_of_another_study_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    prefix, number, _ = task.key.rsplit(":", 2)
    other = {"fcpair": f"{prefix}:{number}:0123456789ab"}
    changed = task._replace(key=other["fcpair"], record=task.record | other)
    there.refuses(there.export([(changed, as_labelled(changed))]), "is the export from another study")


@tools
def test_an_answer_of_another_round_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    key = task.key.replace("main:label", "main:pilot")
    moved = task._replace(key=key, record=task.record | {"fcpair": key})
    there.refuses(
        there.export([(moved, as_labelled(task))]), "this is an answer of `main:pilot`; expected `main:label`"
    )


@tools
def test_a_key_that_is_none_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    broken = task._replace(key="17", record=task.record | {"fcpair": "17"})
    there.refuses(there.export([(broken, as_labelled(task))]), "`17` is no key of pairs")


@pytest.mark.parametrize("tool", ["label-studio", "doccano", "prodigy"])
def test_changed_texts_are_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    task = there.tasks[0]
    record = json.loads(json.dumps(task.record).replace("People", "Persons"))
    there.refuses(there.export([(task._replace(record=record), as_labelled(task))]), "has other texts in the export")


@tools
def test_somebody_who_is_not_in_the_table_is_refused(trip: Callable[[str], Trip], tool: str, tmp_path: Path) -> None:
    there = trip(tool)
    (tmp_path / "p.csv").write_text("user,annotator\nnobody,ana\n", "utf-8")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    there.refuses(path, "user `.*` is not in the table of people", people=tmp_path / "p.csv")


@tools
def test_a_person_under_two_names_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    users = [line.split(",")[0] for line in there.people.read_text("utf-8").splitlines()[1:]]
    there.people.write_text("user,annotator\n" + "".join(f"{user},ana\n" for user in users), "utf-8")
    both = [next(task for task in there.tasks if task.person == who) for who in ("ana", "ben")]
    there.refuses(
        there.export([(task, as_labelled(task)) for task in both]), "are both ana; one person answers under one"
    )


@tools
def test_an_answer_on_a_pair_of_somebody_else_is_refused(trip: Callable[[str], Trip], tool: str) -> None:
    there = trip(tool)
    mine = {task.number for task in there.tasks if task.person == "ana"}
    theirs = next(task for task in there.tasks if task.number not in mine)
    ana = next(task.user for task in there.tasks if task.person == "ana")
    there.refuses(
        there.export([(theirs._replace(person="ana", user=ana), as_labelled(theirs))]), "was not assigned to ana"
    )


def test_a_file_in_which_nobody_is_named_is_refused(trip: Callable[[str], Trip]) -> None:
    there = trip("doccano")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    (path / "ana.jsonl").rename(path / "all.jsonl")
    there.refuses(path, r"all.jsonl:1: nobody is named who answered; if one person gave all of these, write `all`")
    there.people.write_text("user,annotator\nall,ana\n", "utf-8")
    assert there.bring(path).counts["answers"] == 1


def test_a_session_without_a_name_is_refused(trip: Callable[[str], Trip]) -> None:
    there = trip("prodigy")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    file = path / "ana-answers.jsonl"
    (row,) = json_lines(file)
    file.write_text(json.dumps(row | {"_annotator_id": "main-label-ana-2026-11-26_05-08-27"}), "utf-8")
    there.refuses(path, "nobody is named who answered")


def test_an_annotation_without_a_user_is_refused(trip: Callable[[str], Trip]) -> None:
    there = trip("label-studio")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    file = path / "project-1.json"
    tasks = json.loads(file.read_text("utf-8"))
    tasks[0]["annotations"][0]["completed_by"] = None
    file.write_text(json.dumps(tasks), "utf-8")
    there.refuses(path, "project-1.json:1: nobody is named who answered")


def test_drafts_are_left_out_and_said(trip: Callable[[str], Trip]) -> None:
    there = trip("label-studio")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    file = path / "project-1.json"
    tasks = json.loads(file.read_text("utf-8"))
    tasks[0]["drafts"] = [{"result": []}, {"result": []}]
    file.write_text(json.dumps(tasks), "utf-8")
    assert there.bring(path).counts["answers"] == 1
    assert any("drafts that nobody has submitted are left out (2)" in said for said in there.said)
    tasks[0]["annotations"] = []
    file.write_text(json.dumps(tasks), "utf-8")
    there.refuses(path, "there is no answer in it, only 2 drafts")


def test_two_answers_without_times_are_refused(trip: Callable[[str], Trip]) -> None:
    there = trip("potato")
    task = there.tasks[0]
    path = there.export([(task, Said({"label": ["not_sure"]})), (task, Said({"label": ["appropriate"]}))])
    there.refuses(
        path, "annotations.jsonl:2: this pair has been answered by ana already, in line 1 of .*nothing says which"
    )


def test_a_repeated_key_of_json_is_refused(trip: Callable[[str], Trip]) -> None:
    there = trip("doccano")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    file = path / "ana.jsonl"
    file.write_text(file.read_text("utf-8").replace('"label":', '"label": ["not_sure"], "label":'), "utf-8")
    there.refuses(path, "duplicate key `label`")


def test_the_texts_of_a_project_are_those_of_the_study(trip: Callable[[str], Trip]) -> None:
    there = trip("label-studio")
    assert {task.record["fcpair_1"] for task in there.tasks} == set(HS[:4])


def test_a_project_is_never_written_over_another(trip: Callable[[str], Trip]) -> None:
    there = trip("potato")
    with pytest.raises(InputError, match="this folder is not empty"):
        there.grid.write_project(there.project, "doccano")


def test_a_table_of_people_is_checked(trip: Callable[[str], Trip]) -> None:
    there = trip("potato")
    path = there.export([(there.tasks[0], as_labelled(there.tasks[0]))])
    there.people.write_text("user,annotator\nx,\ny,ana\ny,ben\n,cleo\n", "utf-8")
    there.refuses(path, "`x` has no `annotator`")
    there.refuses(path, "`y` is `ana` in a line above, and `ben` here")
