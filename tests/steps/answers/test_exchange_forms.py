"""Forms in annotation tools: what each can carry goes out and comes back, and what it cannot is refused."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from servers import Database, copy_study

from fcpair.errors import InputError, StageError
from fcpair.files.exchange.catalogue import TOOLS
from fcpair.study import Study
from steps import forms
from steps.answers.tool_exports import Said, Task, export, people_table, tasks_of

TEXT = "They pay\nfor the road, نه؟ 😀 like =anybody."
ANSWERS: dict[str, Callable[[int], dict[str, list[str]]]] = {
    "label": lambda number: {"label": [("no", "unsure", "yes")[number % 3]]},
    "types": lambda number: {"types": (["facts"], ["question", "facts"], ["none"])[number % 3]},
    "rating": lambda number: {"rating": [("1", "2.5", "5")[number % 3]]},
    "text": lambda number: {"text": [f"{TEXT} {number}"]},
}
ANSWERS["form"] = lambda number: {
    name: words for kind in ("text", "types", "rating") for name, words in ANSWERS[kind](number).items()
}
FORMS = {
    "label": "label: one_of(no,unsure?,yes+)",
    "types": "types: any_of(facts,humour,question)",
    "rating": forms.RATE,
    "text": "text: text(min_words=2)",
    "form": f"text: text(min_words=2); types: any_of(facts,humour,question); {forms.RATE}",
}
CARRIED = [(tool, kind) for tool in TOOLS for kind in FORMS if kind != "form" or tool in ("label-studio", "potato")]


@pytest.fixture(scope="module")
def path(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study with a round for each kind of form, and three that no tool carries; rae answers them all."""
    with database(), closing(Study.create(tmp_path_factory.mktemp("kinds") / "kinds.db")) as study:
        from fcpair.records import Role

        study.add_people(["rae"], Role.RATER)
        forms.add_grid(study, "kinds", ("facts", "humour"))
        for name, form in FORMS.items():
            forms.add_round(study, "kinds", name, "rae", form, counts=name == "label")
        forms.add_round(study, "kinds", "hidden", "rae", FORMS["types"], hides="column")
        forms.add_round(study, "kinds", "gated", "rae", "a: one_of(yes,no); b: text() when a=yes")
        forms.add_round(study, "kinds", "edited", "rae", forms.EDIT, edits="text")
        forms.add_round(study, "kinds", "always", "rae", "types: any_of(facts,humour,always=column)")
        return Path(study.place)


@pytest.fixture
def study(path: Path, tmp_path: Path) -> Study:
    return Study(copy_study(path, tmp_path / "study.db"))


def exported(study: Study, folder: Path, tool: str, kind: str) -> tuple[list[Task], Path, Path]:
    """The items of a round, what is exported when all are answered, and the table of people."""
    study.grid("kinds").write_project(folder / "project", tool, kind)
    tasks, people = tasks_of(tool, folder / "project"), people_table(tool, folder / "project")
    answer = ANSWERS["types" if kind == "hidden" else kind]
    return tasks, export(tool, folder / "export", [(task, Said(answer(at))) for at, task in enumerate(tasks)]), people


@pytest.mark.parametrize(("tool", "kind"), CARRIED)
def test_answers_of_each_kind_come_back(study: Study, tmp_path: Path, tool: str, kind: str) -> None:
    tasks, path, people = exported(study, tmp_path, tool, kind)
    grid = study.grid("kinds")
    assert grid.import_export(path, tool, kind, people=people).counts["answers"] == len(tasks) == 6
    rows = grid.answers(kind).set_index("cell")
    for at, task in enumerate(tasks):
        for name, words in ANSWERS[kind](at).items():
            assert sorted(str(rows.loc[task.number, name]).split("; ")) == sorted(words)
    assert grid.import_export(path, tool, kind, people=people).counts["already_there"] == 6


@pytest.mark.parametrize("tool", TOOLS)
def test_a_column_that_is_hidden_is_in_no_file(study: Study, tmp_path: Path, tool: str) -> None:
    tasks, path, people = exported(study, tmp_path, tool, "hidden")
    assert all(task.number > 1 << 32 for task in tasks)
    assert all(
        "aspect" not in str(task.record) and "humour" not in str({**task.record, "options": 0}) for task in tasks
    )
    assert study.grid("kinds").import_export(path, tool, "hidden", people=people).counts["answers"] == 6


@pytest.mark.parametrize("tool", ["doccano", "prodigy"])
def test_a_form_of_several_questions_is_refused(study: Study, tmp_path: Path, tool: str) -> None:
    with pytest.raises(InputError, match="asks one question about an item, and this round has 3"):
        study.grid("kinds").write_project(tmp_path / "project", tool, "form")
    assert not (tmp_path / "project").exists()


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize(
    ("name", "why"),
    [("always", "always has the label of its column"), ("gated", "is asked only when a=yes|one question")],
)
def test_forms_that_no_tool_carries_are_refused(study: Study, tmp_path: Path, tool: str, name: str, why: str) -> None:
    with pytest.raises(InputError, match=why):
        study.grid("kinds").write_project(tmp_path / "project", tool, name)


@pytest.mark.parametrize("tool", TOOLS)
def test_texts_to_edit_are_refused(study: Study, tmp_path: Path, tool: str) -> None:
    with pytest.raises(StageError, match="is due"):
        study.grid("kinds").write_project(tmp_path / "project", tool, "edited")
    _, path, people = exported(study, tmp_path, tool, "text")
    study.grid("kinds").import_export(path, tool, "text", people=people)
    with pytest.raises(InputError, match="carries one_of, any_of, scale and text, and `text` is `edit"):
        study.grid("kinds").write_project(tmp_path / "other", tool, "edited")


@pytest.mark.parametrize("tool", TOOLS)
def test_none_beside_a_label_is_refused(study: Study, tmp_path: Path, tool: str) -> None:
    tasks, _, people = exported(study, tmp_path, tool, "types")
    path = export(tool, tmp_path / "later", [(tasks[0], Said({"types": ["none", "facts"]}))])
    with pytest.raises(InputError, match="`none` is chosen together with facts"):
        study.grid("kinds").import_export(path, tool, "types", people=people)


@pytest.mark.parametrize("tool", ["label-studio", "potato"])
def test_a_question_without_an_answer_is_named(study: Study, tmp_path: Path, tool: str) -> None:
    tasks, _, people = exported(study, tmp_path, tool, "form")
    path = export(tool, tmp_path / "later", [(tasks[0], Said({"types": ["facts"]}))])
    with pytest.raises(InputError, match="text: an answer is missing; rating: an answer is missing"):
        study.grid("kinds").import_export(path, tool, "form", people=people)


def test_a_number_that_is_not_on_the_scale_is_refused(study: Study, tmp_path: Path) -> None:
    tasks, _, people = exported(study, tmp_path, "doccano", "rating")
    path = export("doccano", tmp_path / "later", [(tasks[0], Said({"rating": ["2.25"]}))])
    with pytest.raises(InputError, match=r"unknown answer `2.25`; expected one of 1, 1.5, 2"):
        study.grid("kinds").import_export(path, "doccano", "rating", people=people)


def test_a_text_that_its_question_refuses_is_refused(study: Study, tmp_path: Path) -> None:
    tasks, _, people = exported(study, tmp_path, "doccano", "text")
    path = export("doccano", tmp_path / "later", [(tasks[0], Said({"text": ["short"]}))])
    with pytest.raises(InputError, match="the text has 1 word; expected at least 2"):
        study.grid("kinds").import_export(path, "doccano", "text", people=people)
