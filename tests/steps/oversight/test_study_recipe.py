"""The recipe that a study keeps: its defaults at every door, its versions, and how it is printed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fcpair.errors import InputError, RecipeError
from fcpair.params import (
    Adjudicate,
    Agree,
    Annotate,
    Assign,
    Import,
    Pair,
    Partition,
    Retrieve,
    Select,
    Setup,
    Simulate,
    Validate,
)
from fcpair.plans import GridPlan, RoundPlan, SidePlan
from fcpair.recipe import Recipe, load_recipe
from fcpair.records import Role
from fcpair.steps.base import departures
from fcpair.study import Study
from steps.small import SELECTED, VALIDATORS, dump, label_of, open_work, record, write_corpus, write_csv

At = Callable[[str], Study]


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A recipe by which the small study could have been made."""
    return Recipe(
        Setup(title="Small"),
        import_=Import(write_corpus(tmp_path / "corpus.csv"), only_language="en"),
        select=Select(hs_list=write_csv(tmp_path / "hs.csv", [{"hs": hs} for hs in SELECTED])),
        pair=Pair(),
        assign=Assign(overlap={2: 0.25, 3: 0.25}, seed=1),
        annotate=Annotate(daily_limit=40),
        simulate=Simulate(seed=4),
        agreement=Agree(level=0.9),
        adjudicate=Adjudicate("majority", "discard"),
        validate=Validate(validators=2, pairs=9, seed=13),
        partition=Partition("majority"),
    )


def walked(study: Study, recipe: Recipe) -> Study:
    """Have the study keep a recipe, and go as far as people have to answer."""
    list(study.walk(replace(recipe, simulate=None)))
    return study


def version(study: Study) -> int:
    with study._store.read() as tx:
        return departures.recipe_version(tx)


def printed(study: Study, folder: Path) -> Recipe:
    (path := folder / "printed.toml").write_text(study.recipe_text(), "utf-8")
    return load_recipe(path)


@pytest.mark.server
def test_what_it_says_of_stages_to_come_holds_from_the_first_walk_on(at: At, recipe: Recipe) -> None:
    grid = walked(at("dealt"), recipe).grid()
    assert grid.effective_options(Partition) == Partition("majority")
    assert grid.effective_options(Agree) == Agree(level=0.9)
    assert grid.effective_options(Annotate) == Annotate(daily_limit=40)
    assert grid.policy is None
    assert not grid.desk.has_saved_options(Partition)
    assert grid.recipe_options(Validate) == Validate(validators=2, pairs=9, seed=13)


def test_without_a_recipe_the_defaults_are_those_of_the_classes(at: At) -> None:
    grid = at("checking").grid()
    assert grid.effective_options(Validate).seed == 1
    assert grid.recipe_options(Validate) == Validate()
    assert grid.recipe_options(Assign, seed=3) == Assign(seed=3)


def test_a_limit_of_a_recipe_holds_before_the_walk_gets_there(at: At, recipe: Recipe) -> None:
    study = at("paired")
    next(study.walk(replace(recipe, simulate=None, assign=replace(recipe.assign or Assign(), annotators=3))))
    assert not study.grid().desk.has_saved_options(Annotate)
    with pytest.raises(RecipeError, match="daily_limit"):
        list(study.walk(replace(recipe, annotate=Annotate())))


def test_the_number_of_people_is_asked_for_only_while_nobody_is_there(at: At, recipe: Recipe) -> None:
    study = walked(at("dealt"), recipe)
    study.add_people(["vera", "walt", "wim"], Role.VALIDATOR)
    assert study.grid().recipe_options(Validate).validators is None


def test_more_of_a_round_takes_nothing_that_is_about_its_first_deal(at: At, recipe: Recipe) -> None:
    grid = walked(at("dealt"), recipe).grid()
    assert grid.recipe_options(Validate, more=True) == Validate(seed=13)
    assert grid.recipe_options(Assign, more=True) == Assign(seed=1)


def test_what_is_given_leaves_out_of_the_recipe_what_cannot_be_beside_it(at: At, recipe: Recipe) -> None:
    grid = walked(at("dealt"), recipe).grid()
    assert grid.recipe_options(Adjudicate, policy="manual") == Adjudicate("manual")
    assert grid.recipe_options(Adjudicate, policy="median") == Adjudicate("median", "discard")
    assert grid.recipe_options(Select, hs=3) == Select(hs=3)
    with pytest.raises(InputError, match="hs is 0"):
        grid.recipe_options(Select, hs=0)


def test_the_same_recipe_walked_again_is_no_new_version(at: At, recipe: Recipe) -> None:
    study = walked(at("dealt"), recipe)
    assert version(study) == 1
    before = dump(study)
    walked(study, recipe)
    assert dump(study) == before


def test_what_the_walk_itself_does_is_no_departure(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = walked(at("dealt"), recipe)
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    assert [run.stage for run in study.walk(replace(recipe, simulate=None))] == ["adjudicate", "validate"]
    assert version(study) == 1


def test_another_recipe_is_a_new_version_and_leaves_what_it_says_nothing_of(at: At, recipe: Recipe) -> None:
    study = walked(at("dealt"), recipe)
    walked(study, Recipe(partition=Partition("unanimous")))
    assert version(study) == 2
    assert study.recipe().partition == Partition("unanimous")
    assert study.recipe().validate == recipe.validate


@pytest.mark.server
def test_a_departure_is_a_new_version_that_is_printed_and_can_be_walked(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = walked(at("dealt"), recipe)
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    study.grid().adjudicate(Adjudicate("majority"))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    study.grid().assign_validation(Validate(pairs=5, blind=True, seed=3))
    assert version(study) == 3
    with pytest.raises(RecipeError, match="`fcpair recipe` prints the recipe that matches the study"):
        walked(study, recipe)
    said = printed(study, tmp_path)
    assert said.adjudicate == Adjudicate("majority")
    assert said.validate == Validate(validators=2, pairs=5, blind=True, seed=3)
    assert said.partition == Partition("majority")
    before = dump(study)
    walked(study, said)
    assert dump(study) == before


def test_other_people_than_the_recipe_names_are_a_departure(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = walked(at("dealt"), recipe)
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])
    study.grid().adjudicate()
    study.add_people(["vera", "walt", "wim"], Role.VALIDATOR)
    study.grid().assign_validation()
    assert study.recipe().validate == Validate(validators=3, pairs=9, seed=13)


def test_of_a_study_without_a_recipe_its_settings_are_printed(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("checking")
    assert study.recipe_text().startswith("# No recipe has been run in this study")
    said = printed(study, tmp_path)
    assert said.assign == Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1)
    assert said.retrieve is None
    assert list(study.walk(said)) == []


@pytest.mark.server
def test_a_planned_grid_keeps_what_its_plan_says_of_later_stages(at: At, tmp_path: Path) -> None:
    study = at("empty")
    plan = GridPlan(
        "tone",
        SidePlan(names=("One $ text", "Another")),
        SidePlan(names=("kind",)),
        (RoundPlan("rate", "rate: scale(1,5,0.5,positive=4)", answers=2, people=2, seed=3),),
        adjudicate=Adjudicate("median"),
        validate=Validate(validators=1, seed=5),
        partition=Partition("majority"),
    )
    study.add_grid(plan)
    grid = study.grid("tone")
    assert grid.effective_options(Partition) == Partition("majority")
    assert grid.recipe_options(Validate) == Validate(validators=1, seed=5)
    assert printed(study, tmp_path).grids == (plan,)


def test_edited_guidelines_are_said_where_the_recipe_cannot_hold_them(at: At, recipe: Recipe) -> None:
    study = walked(at("dealt"), recipe)
    study.edit_guidelines("Be kind.", by="ana")
    assert "# The guidelines are version 2, which the study keeps" in study.recipe_text()


def test_retrieve_is_not_asked_for_where_the_recipe_lists_none(at: At, recipe: Recipe) -> None:
    grid = walked(at("dealt"), replace(recipe, retrieve=Retrieve(k=3))).grid()
    assert grid.recipe_options(Retrieve, cn_list="cn.csv") == Retrieve(
        cn_list=Path("cn.csv")
    )  # beside which `k` is idle
