"""Walking a recipe with planned grids, and holding it against what the study is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.params import Adjudicate, Annotate, Partition, Select, Setup, Simulate
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe
from fcpair.records import Role
from fcpair.study import Study
from steps.plans import RATE, RATED, WRITE, WRITTEN, with_round
from steps.small import write_csv

TITLE = Setup(title="Planned")
PEOPLED = (with_round(WRITTEN, people=4), with_round(RATED, people=3))
DECIDED = replace(PEOPLED[1], adjudicate=Adjudicate(policy="median", ties="discard"), partition=Partition())
SIMULATED = Recipe(setup=TITLE, simulate=Simulate(skips=0.0, seed=4), grids=(PEOPLED[0], DECIDED))


def begun(folder: Path, recipe: Recipe) -> Study:
    return Study.create(folder / "study.db", recipe.setup, grids=recipe.grids)


def stages(study: Study, recipe: Recipe) -> list[tuple[str, str]]:
    """What the walk did: the stage, and the grid where the run names it."""
    return [(run.stage, run.counts.get("grid", "")) for run in study.walk(recipe)]


@pytest.mark.server
def test_the_walk_goes_to_the_end_with_simulated_people(tmp_path: Path) -> None:
    study = begun(tmp_path, SIMULATED)
    assert stages(study, SIMULATED) == [
        *(("pair", "write"), ("assign", "write"), ("simulate", "")),
        *(("pair", "rate"), ("assign", "rate"), ("simulate", "")),
        *(("adjudicate", ""), ("partition", "")),
    ]
    assert stages(study, SIMULATED) == []
    assert study.status()["next"].startswith("everything has been answered")


@pytest.mark.server
def test_it_stops_where_people_answer_and_says_who(tmp_path: Path) -> None:
    recipe = Recipe(setup=TITLE, grids=PEOPLED)
    study = begun(tmp_path, recipe)
    assert stages(study, recipe) == [("pair", "write"), ("assign", "write")]
    assert study.status()["next"] == (
        "open answers in round `write` of grid `write`: 12 (w1 3, w2 3, w3 3, w4 3); `fcpair serve`"
    )
    assert stages(study, recipe) == []


def test_it_waits_for_people_and_goes_on_when_they_are_there(tmp_path: Path) -> None:
    recipe = Recipe(setup=TITLE, grids=(WRITTEN,))
    study = begun(tmp_path, recipe)
    assert stages(study, recipe) == [("pair", "write")]
    assert study.status()["next"] == (
        "round `write` of grid `write` waits for people: `fcpair people add NAME --role writer`, then `fcpair assign "
        "--grid write --round write`"
    )
    study.add_people(["ana", "ben", "cleo"], Role.WRITER)
    assert stages(study, recipe) == [("assign", "write")]


def test_it_says_how_models_are_asked(tmp_path: Path) -> None:
    asked = replace(WRITTEN, rounds=(RoundPlan("propose", "text: text()", models=("tiny=canned:replies.csv",)),))
    study = begun(tmp_path, Recipe(setup=TITLE, grids=(asked,)))
    study.grid("write").pair()
    assert study.status()["next"] == "run `fcpair generate --grid write --round propose`"


def test_a_grid_that_rests_on_no_other_is_walked_meanwhile(tmp_path: Path) -> None:
    other = replace(PEOPLED[0], name="other")
    recipe = Recipe(setup=TITLE, grids=(*PEOPLED, other))
    assert stages(begun(tmp_path, recipe), recipe) == [
        *(("pair", "write"), ("assign", "write"), ("pair", "other"), ("assign", "other"))
    ]


def test_a_further_grid_is_added(tmp_path: Path) -> None:
    study = begun(tmp_path, Recipe(setup=TITLE, grids=PEOPLED[:1]))
    recipe = Recipe(setup=TITLE, grids=PEOPLED)
    assert stages(study, recipe) == [("grid", "rate"), ("pair", "write"), ("assign", "write")]
    assert study.grids == ["write", "rate"]


@pytest.mark.server
def test_a_grid_is_added_beside_main(at: Callable[[str], Study]) -> None:
    study = at("dealt")
    recipe = Recipe(grids=(PEOPLED[0],))
    assert stages(study, recipe) == [("grid", "write"), ("pair", "write"), ("assign", "write")]
    state = study.status()
    assert state["next"].startswith("open labels: ")
    assert [one["name"] for one in state["grids"]] == ["write"]


def test_what_people_are_told_is_the_study_s_own_without_main(tmp_path: Path) -> None:
    recipe = Recipe(setup=TITLE, annotate=Annotate(daily_limit=20), grids=PEOPLED)
    study = begun(tmp_path, recipe)
    assert stages(study, recipe)[0] == ("annotate", "")
    assert study.effective_options(Annotate).daily_limit == 20


# ---- a study that is not what the recipe says


def renamed(plan: GridPlan) -> GridPlan:
    return replace(plan, row_name="text", rows=SidePlan(names=("Another.",)))


CHANGES: list[tuple[GridPlan, str]] = [
    (replace(WRITTEN, row_name="text"), "grid write  row_name  text    row"),
    (
        replace(WRITTEN, columns=SidePlan(names=("facts",))),
        r"grid write  columns  kind: text, names: facts  kind: text",
    ),
    (with_round(WRITTEN, answers=2), "grid write, round write  answers  2       1"),
    (with_round(WRITTEN, once_per_row=False), r"grid write, round write  once_per_row  false   true"),
    (with_round(WRITTEN, role="rater"), "grid write, round write  role  rater   writer"),
    (
        with_round(WRITTEN, form="text: text()"),
        r"round write  form  text: text\(\)  text: text\(min_words=2",
    ),
    (with_round(WRITTEN, seed=5), "grid write, round write  seed  5       0"),
    (replace(WRITTEN, rounds=(WRITE, RATE)), "grid write  rounds  write, rate  write"),
]


@pytest.mark.parametrize(("changed", "said"), CHANGES)
def test_what_differs_is_told_and_nothing_is_done(tmp_path: Path, changed: GridPlan, said: str) -> None:
    study = begun(tmp_path, Recipe(setup=TITLE, grids=(WRITTEN,)))
    with pytest.raises(RecipeError, match=said):
        list(study.walk(Recipe(setup=TITLE, grids=(changed,))))
    assert study.grid_overview()[0]["cells"] == 0


def test_a_file_is_known_by_its_content(tmp_path: Path) -> None:
    first, other = (write_csv(tmp_path / f"{name}.csv", [{"text": name}]) for name in ("first", "other"))
    plan = replace(WRITTEN, rows=SidePlan(file=first, column="text"))
    study = begun(tmp_path, Recipe(setup=TITLE, grids=(plan,)))
    moved = first.rename(tmp_path / "moved.csv")
    same = replace(plan, rows=SidePlan(file=moved, column="text"))
    assert stages(study, Recipe(setup=TITLE, grids=(same,))) == [("pair", "write")]
    with pytest.raises(RecipeError, match=r"grid write  rows .*other\.csv"):
        list(study.walk(Recipe(setup=TITLE, grids=(replace(plan, rows=SidePlan(file=other, column="text")),))))


@pytest.mark.server
def test_a_policy_that_was_applied_holds(tmp_path: Path) -> None:
    study = begun(tmp_path, SIMULATED)
    list(study.walk(SIMULATED))
    other = replace(DECIDED, adjudicate=Adjudicate(policy="majority"))
    with pytest.raises(RecipeError, match="adjudicate  policy  majority  median"):
        list(study.walk(replace(SIMULATED, grids=(PEOPLED[0], other))))


def test_a_study_without_main_is_none_of_a_corpus(tmp_path: Path) -> None:
    study = begun(tmp_path, Recipe(setup=TITLE, grids=PEOPLED))
    with pytest.raises(RecipeError, match="grid   main  made of a corpus  no such grid"):
        list(study.walk(Recipe(setup=TITLE, select=Select(hs=2))))


def test_main_is_not_planned_afterwards(at: Callable[[str], Study]) -> None:
    with pytest.raises(RecipeError, match="grid main  -    planned  made of a corpus"):
        list(at("imported").walk(Recipe(grids=(replace(WRITTEN, name="main"),))))


def test_a_grid_on_one_that_the_study_lacks_is_refused(tmp_path: Path) -> None:
    study = begun(tmp_path, Recipe(setup=TITLE, grids=(WRITTEN,)))
    with pytest.raises(InputError, match="takes the answers of `other`, which is not an earlier grid"):
        list(study.walk(Recipe(setup=TITLE, grids=(replace(RATED, rows=SidePlan(answers="other")),))))
