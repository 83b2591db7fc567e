"""Known items for practice: from a file, as tables, in a recipe and in the recipe that the study prints."""

from __future__ import annotations

from pathlib import Path

import pytest

from fcpair.errors import InputError, StageError
from fcpair.known_pairs import MOST_ITEMS, KnownItem, Practice
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, as_toml, load_recipe
from fcpair.records import Role
from fcpair.steps.oversight.recipe_runner import _changed_study_options
from fcpair.study import Study

ITEM = {"row": "Tea is vile.", "column": "Try it.", "answer": "not_sure", "explanation": "It says little."}
HEADER = "row,column,answer,explanation\n"
RECIPE = """
[study]
title = "Tea"

[practice]
file = "known.csv"
"""


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study.create(tmp_path / "study.db")


def write(path: Path, *rows: str, header: str = HEADER) -> Path:
    path.write_text(header + "\n".join(rows), "utf-8")
    return path


def test_a_file_is_read_into_the_study_which_keeps_what_it_held(study: Study, tmp_path: Path) -> None:
    file = write(tmp_path / "known.csv", "Tea is vile.,Try it.,not_sure,It says little.")
    assert study.save_practice(file=file).counts == {"items": 1}
    file.unlink()
    assert study.known_items() == [KnownItem(**ITEM)]


def test_columns_are_found_whatever_their_order_and_one_text_needs_no_column(study: Study, tmp_path: Path) -> None:
    rows = write(tmp_path / "known.csv", "why;Tea;appropriate", header="Explanation;ROW;answer\n")
    study.save_practice(file=rows)
    assert study.known_items() == [KnownItem("Tea", "", "appropriate", "why")]


def test_all_that_is_wrong_with_a_file_is_said_with_its_lines(study: Study, tmp_path: Path) -> None:
    file = write(tmp_path / "known.csv", "a,b,apropriate,c", "a,b,not_sure,", ",b,appropriate,d")
    with pytest.raises(InputError) as refused:
        study.save_practice(file=file)
    assert [(one.line, one.message) for one in refused.value.findings] == [
        (2, "`answer` is 'apropriate'; did you mean `appropriate`?"),
        (3, "`explanation` is empty"),
        (4, "`row` is empty"),
    ]
    assert study.known_items() == []


@pytest.mark.parametrize(
    ("items", "sentence"),
    [
        ([{**ITEM, "answer": "perhaps"}], "item 1: `answer` is 'perhaps'; expected one of"),
        ([ITEM, {**ITEM, "why": "so"}], "item 2: there is no `why`; expected"),
        ([{"row": "a"}], "item 1: `answer` is empty; item 1: `explanation` is empty"),
        ([ITEM] * (MOST_ITEMS + 1), f"there are {MOST_ITEMS + 1} known pairs to practise on; at most {MOST_ITEMS}"),
    ],
)
def test_items_that_cannot_be_used_are_refused(study: Study, items: list[dict[str, str]], sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        study.save_practice(items=items)


def test_a_file_and_items_are_one_too_many(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="either in a file or as tables"):
        Practice(tmp_path / "known.csv", (ITEM,))


def test_an_empty_practice_ends_it(study: Study) -> None:
    study.save_practice(items=[ITEM])
    assert study.practice_round(Role.ANNOTATOR) is not None
    study.save_practice(Practice())
    assert study.practice_round(Role.ANNOTATOR) is None


def test_those_who_write_decide_or_are_asked_about_themselves_do_not_practise(study: Study) -> None:
    study.save_practice(items=[ITEM])
    assert [role for role in Role if study.practice_round(role)] == [Role.ANNOTATOR, Role.VALIDATOR, Role.RATER]


def test_a_study_that_asks_for_no_labels_has_nothing_to_practise(tmp_path: Path) -> None:
    writing = GridPlan(
        "write", SidePlan(names=("a",)), SidePlan(names=("b",)), (RoundPlan("write", "text: text()", role="writer"),)
    )
    study = Study.create(tmp_path / "study.db", grids=[writing])
    with pytest.raises(StageError, match="no question to practise"):
        study.save_practice(items=[ITEM])


def test_a_recipe_sets_the_known_pairs_and_sets_them_again_when_their_file_has_changed(tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE)
    file = write(tmp_path / "known.csv", "Tea is vile.,Try it.,not_sure,It says little.")
    recipe = load_recipe(tmp_path / "recipe.toml")
    study = Study.create(tmp_path / "study.db", recipe.setup)
    stages = _run(study, recipe.practice)
    assert stages == ["practice"]
    assert _run(study, recipe.practice) == []
    write(file, "Tea is fine.,Indeed.,appropriate,It agrees.")
    assert _run(study, recipe.practice) == ["practice"]
    assert study.known_items() == [KnownItem("Tea is fine.", "Indeed.", "appropriate", "It agrees.")]


def _run(study: Study, practice: Practice | None) -> list[str]:
    """The stages of a recipe that are run for its known pairs."""
    with study._store.read() as tx:
        changed = list(_changed_study_options(tx, Recipe(practice=practice)))
    return [save(study.grid(), options).stage for _, save, options in changed]


def test_the_printed_recipe_holds_what_was_given_on_the_page(study: Study, tmp_path: Path) -> None:
    item = {**ITEM, "explanation": 'Two lines,\nand a "quote" for $5.'}
    study.save_practice(items=[item])
    (tmp_path / "printed.toml").write_text(study.recipe_text())
    printed = load_recipe(tmp_path / "printed.toml")
    assert printed.practice == Practice(items=(item,))
    assert as_toml(printed) == as_toml(study.recipe())


def test_what_is_set_otherwise_than_the_recipe_says_becomes_part_of_it(study: Study, tmp_path: Path) -> None:
    file = write(tmp_path / "known.csv", "Tea is vile.,Try it.,not_sure,It says little.")
    study.save_practice(file=file)
    study.save_practice(items=[ITEM])
    assert study.recipe().practice == Practice(items=(ITEM,))
    study.save_practice(file=file)
    practice = study.recipe().practice
    assert practice is not None
    assert practice.file == file
