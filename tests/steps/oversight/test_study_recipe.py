"""The recipe of a study: held against it, its defaults at every door, its versions, and printed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import InputError, RecipeEndError, RecipeError, StageError
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
from fcpair.steps.people.people import save_terms
from fcpair.steps.release import partition
from fcpair.study import Study
from steps.oversight.recipes import small_recipe
from steps.small import VALIDATORS, At, assert_refused, check, dump, label_of, open_work, record, with_grid

DISCARD = Adjudicate("majority", "discard")


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    """A recipe by which the small study could have been made."""
    return small_recipe(tmp_path, adjudicate=Adjudicate("majority"), validate=Validate(seed=1))


def refused(study: Study, recipe: Recipe, **given: Any) -> list[str]:
    """The lines of the refusal; the study is as it was."""
    before = dump(study)
    with pytest.raises(RecipeError) as caught:
        list(study.walk(recipe, **given))
    assert dump(study) == before
    return str(caught.value).splitlines()


def rows(lines: list[str]) -> list[list[str]]:
    """The cells of the table in a refusal, less its head."""
    return [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in lines if line.startswith("  ")][1:]


def test_everything_that_differs_is_listed_with_both_values(at: At, recipe: Recipe) -> None:
    study = at("checking")
    assert list(study.walk(recipe)) == []
    assert list(study.walk(Recipe())) == []  # a section that is not there says nothing
    assert rows(refused(study, replace(recipe, setup=Setup(hs_name="claim")))) == [
        ["study", "title", "-", "Small"],  # what is left out of a section has its default
        ["study", "hs_name", "claim", "hate speech"],
    ]
    other = replace(
        recipe,
        setup=Setup(title="Tiny", cn_name="reply", scheme="one_of(no,yes+)"),
        select=Select(hs=45, seed=13),
        pair=Pair(candidates=4),
        assign=Assign(annotators=9, overlap={2: 0.5}, seed=1),
        adjudicate=Adjudicate("majority", "discard"),
        validate=Validate(blind=True, seed=1),
    )
    lines = refused(study, other)
    assert lines[0].endswith("differs from the recipe; nothing was done")
    differences = {(stage, key): tuple(values) for stage, key, *values in rows(lines)}
    hs = differences.pop(("select", "hs_list"))
    assert (hs[0], Path(hs[1]).name) == ("-", "hs.csv")
    assert differences == {
        ("study", "title"): ("Tiny", "Small"),
        ("study", "cn_name"): ("reply", "counter-narrative"),
        ("study", "scheme"): (
            "0 no, 1 yes (positive)",
            "0 not_appropriate, 1 not_sure (not definite), 2 appropriate (positive)",
        ),
        ("select", "hs"): ("45", "-"),
        ("select", "seed"): ("13", "0"),
        ("pair", "candidates"): ("4", "-"),
        ("assign", "annotators"): ("9", "3"),
        ("assign", "overlap"): ("2: 0.5", "2: 0.25, 3: 0.25"),
        ("adjudicate", "ties"): ("discard", "wait"),
        ("validate", "blind"): ("true", "false"),
    }


def test_what_a_recipe_says_of_later_stages_is_no_difference(at: At, recipe: Recipe) -> None:
    other = replace(recipe, pair=Pair(candidates=4))
    study = at("paired")
    assert any("`fcpair pair --redo`" in line for line in refused(study, other))
    later = replace(recipe, assign=Assign(annotators=2, seed=5), adjudicate=Adjudicate(), validate=Validate(pairs=3))
    assert [run.stage for run in study.walk(later)] == ["assign"]
    assert not any("--redo" in line for line in refused(at("labelled"), other))  # somebody has answered


@pytest.mark.torch
def test_only_what_comes_of_a_stage_may_not_differ(at: At, recipe: Recipe) -> None:
    """Not how it does its work, nor what it was done with before it was undone."""
    study = at("dealt")
    study.grid().select(Select(hs=3, seed=4), redo=True)
    undone = replace(recipe, select=Select(hs=3, seed=4), pair=Pair(candidates=4), assign=Assign(annotators=3, seed=9))
    assert next(study.walk(replace(undone, retrieve=Retrieve(k=2)))).stage == "retrieve"
    by_hand = replace(undone, pair=None, assign=None)
    with pytest.raises(RecipeEndError, match=r"no section \[pair\]"):
        list(study.walk(replace(by_hand, retrieve=Retrieve(k=2, memory_mb=64, dask="local:3"))))
    lines = refused(study, replace(by_hand, retrieve=Retrieve(k=2, backend="onnx", memory_mb=64)))
    assert rows(lines) == [["retrieve", "backend", "onnx", "torch"]]


def test_a_corpus_is_known_by_its_content_or_its_name(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study, path = at("dealt"), tmp_path / "corpus.csv"
    named = replace(recipe, assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1))
    assert list(study.walk(named)) == []  # three were dealt to
    assert list(study.walk(replace(recipe, import_=Import(path, "csv", only_language="en")))) == []
    conan = refused(study, replace(recipe, import_=Import(path, "conan", only_language="en")))
    assert rows(conan) == [["import", "reader", "conan", "csv"]]
    (tmp_path / "elsewhere").mkdir()
    moved = path.rename(tmp_path / "elsewhere" / "texts.csv")
    same = replace(recipe, import_=Import(moved, only_language="en"))
    assert list(study.walk(same)) == []
    moved.write_text(moved.read_text("utf-8").replace("tea", "coffee"), "utf-8")
    ((stage, key, *values),) = rows(refused(study, same))
    assert (stage, key, values[0]) == ("import", "path", str(moved))
    assert list(at("dealt").walk(recipe)) == []  # whose file is gone
    ((stage, key, *_),) = rows(refused(study, replace(recipe, import_=Import(Path("b.csv"), only_language="en"))))
    assert (stage, key) == ("import", "path")


def test_guidelines_that_the_study_never_had_are_a_difference(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("checking")
    study.add_people(["lea"], Role.LEAD)
    study.edit_guidelines("Be kind.", by="lea")
    study.edit_guidelines("Be kind, and quick.", by="lea")
    file = tmp_path / "guidelines.md"
    file.write_text("Be kind.", "utf-8")
    with_file = replace(recipe, setup=Setup(title="Small", guidelines=file))
    assert list(study.walk(with_file)) == []
    file.write_text("Be stern.", "utf-8")
    lines = refused(study, with_file)
    assert [row[:2] for row in rows(lines)] == [["study", "guidelines"]]
    assert any("lead's page" in line for line in lines)


def test_a_policy_of_the_recipe_is_not_passed_over_in_silence(at: At, recipe: Recipe) -> None:
    study = at("decided")
    other = replace(recipe, adjudicate=DISCARD)
    message = "`fcpair adjudicate --policy majority --ties discard` applies the recipe's policy."
    assert message in refused(study, other)
    study.grid().adjudicate(DISCARD)
    assert next(study.walk(replace(other, validate=Validate(validators=2)))).stage == "validate"


LOOSER: list[tuple[dict[str, Any], list[str]]] = [
    ({"opt_out": "hs_topic", "total_limit": 90}, ["annotate", "daily_limit", "no limit", "40"]),
    ({"opt_out": "hs_topic", "total_limit": 90, "daily_limit": 41}, ["annotate", "daily_limit", "41", "40"]),
    ({"opt_out": "hs_topic", "daily_limit": 40}, ["annotate", "total_limit", "no limit", "90"]),
    ({"total_limit": 90, "daily_limit": 40}, ["annotate", "opt_out", "-", "hs_topic"]),
    ({"total_limit": 90, "daily_limit": 40, "opt_out": "cn_type"}, ["annotate", "opt_out", "cn_type", "hs_topic"]),
]


def test_no_recipe_loosens_a_limit_in_silence_but_may_tighten_it_and_change_its_texts(at: At) -> None:
    study, grid = with_grid(at("dealt"))
    for given, row in LOOSER:
        save_terms(grid, Annotate(daily_limit=40, total_limit=90, opt_out="hs_topic"))
        lines = refused(study, Recipe(annotate=Annotate(**given)))
        assert rows(lines) == [row]
        assert "`--loosen` applies the recipe's looser limits." in lines
        list(study.walk(Recipe(annotate=Annotate(**given)), loosen=True))
        assert grid.effective_options(Annotate) == Annotate(**given)
    study = at("dealt")
    save_terms(study.grid(), Annotate(daily_limit=40))
    tighter = Annotate(daily_limit=30, total_limit=90, opt_out="hs_topic", contact="Ada")
    assert [run.stage for run in study.walk(Recipe(annotate=tighter))] == ["annotate"]
    assert study.grid().effective_options(Annotate) == tighter


def test_where_a_person_has_answered_nobody_is_simulated(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("dealt")
    who, pair = open_work(study)[0]
    record(study, tmp_path, [(who, pair, "skip")])
    match = r"people have answered in this study \(1 so far\), and simulated answers are not mixed with theirs"
    assert_refused(study, lambda: study.grid().simulate(Simulate()), StageError, match)
    assert rows(refused(study, Recipe(simulate=Simulate()))) == [
        ["simulate", "-", "simulated people answer", "people have answered: 1"]
    ]
    assert rows(refused(at("checked"), replace(recipe, simulate=Simulate()))) == [  # where nothing is open either
        ["simulate", "-", "simulated people answer", "people have answered: 61"]
    ]


def test_a_person_who_answers_meanwhile_ends_the_simulation(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("dealt")
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    steps = study.walk(replace(recipe, adjudicate=DISCARD, simulate=Simulate(skips=0, seed=1)))
    assert [next(steps).stage for _ in range(3)] == ["simulate", "adjudicate", "validate"]
    who, pair = open_work(study, checks=True)[0]
    check(study, tmp_path, [(who, pair, "agree")])
    with pytest.raises(StageError, match=r"people have answered in this study \(1 so far\)"):
        next(steps)


def test_an_overlap_that_was_planned_is_not_lost_by_a_recipe_without_one(at: At, recipe: Recipe) -> None:
    study, grid = with_grid(at("paired"))
    grid.save.overlap(grid.plan(annotators=3, width=1.6))
    silent = replace(recipe, assign=Assign(annotators=3, seed=1))
    lines = refused(study, silent)
    ((stage, key, in_recipe, _),) = (row[:4] for row in rows(lines))
    assert (stage, key, in_recipe) == ("plan", "overlap", "-")
    assert "`fcpair plan --save` has written the overlap; give it under `[assign]`, or another that you want." in lines
    next(study.walk(replace(recipe, assign=Assign(annotators=3, overlap={2: 0.5}, seed=1))))
    assert grid.recipe_options(Assign).overlap == {2: 0.5}


@pytest.fixture
def full(tmp_path: Path) -> Recipe:
    """A recipe that says something of each later stage, too."""
    return small_recipe(
        tmp_path,
        annotate=Annotate(daily_limit=40),
        simulate=Simulate(seed=4),
        agreement=Agree(level=0.9),
        adjudicate=DISCARD,
        validate=Validate(validators=2, pairs=9, seed=13),
        partition=Partition("majority"),
    )


def label_all(study: Study, folder: Path) -> None:
    record(study, folder, [(who, pair, label_of(pair, who)) for who, pair in open_work(study)])


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
def test_what_it_says_of_stages_to_come_holds_from_the_first_walk_on(at: At, full: Recipe) -> None:
    study, grid = with_grid(walked(at("dealt"), full))
    assert grid.effective_options(Partition) == Partition("majority")
    assert grid.effective_options(Agree) == Agree(level=0.9)
    assert grid.effective_options(Annotate) == Annotate(daily_limit=40)
    assert grid.policy is None
    assert not grid.desk.has_saved_options(Partition)
    assert grid.recipe_options(Validate) == Validate(validators=2, pairs=9, seed=13)
    # more of a round takes nothing that is about its first deal
    assert grid.recipe_options(Validate, more=True) == Validate(seed=13)
    assert grid.recipe_options(Assign, more=True) == Assign(seed=1)
    # what is given leaves out of the recipe what cannot be beside it
    assert grid.recipe_options(Adjudicate, policy="manual") == Adjudicate("manual")
    assert grid.recipe_options(Adjudicate, policy="median") == Adjudicate("median", "discard")
    assert grid.recipe_options(Select, hs=3) == Select(hs=3)
    with pytest.raises(InputError, match="hs is 0"):
        grid.recipe_options(Select, hs=0)
    study.add_people(["vera", "walt", "wim"], Role.VALIDATOR)
    assert grid.recipe_options(Validate).validators is None  # asked for only while nobody is there
    study.edit_guidelines("Be kind.", by="ana")
    assert "# The guidelines are version 2, which the study keeps" in study.recipe_text()
    grid = walked(at("dealt"), replace(full, retrieve=Retrieve(k=3))).grid()
    listed = Retrieve(cn_list=Path("cn.csv"))  # beside which `k` is idle
    assert grid.recipe_options(Retrieve, cn_list="cn.csv") == listed


def test_another_recipe_is_a_new_version_but_what_its_walk_does_is_none(at: At, full: Recipe, tmp_path: Path) -> None:
    study = walked(at("dealt"), full)
    assert version(study) == 1
    before = dump(study)
    walked(study, full)
    assert dump(study) == before
    label_all(study, tmp_path)
    assert [run.stage for run in study.walk(replace(full, simulate=None))] == ["adjudicate", "validate"]
    assert version(study) == 1
    walked(study, Recipe(partition=Partition("unanimous")))
    assert version(study) == 2
    assert study.recipe().partition == Partition("unanimous")
    assert study.recipe().validate == full.validate  # of which the other one says nothing


@pytest.mark.server
def test_a_departure_is_a_new_version_that_is_printed_and_can_be_walked(at: At, full: Recipe, tmp_path: Path) -> None:
    study = walked(at("dealt"), full)
    label_all(study, tmp_path)
    study.grid().adjudicate(Adjudicate("majority"))
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    study.grid().assign_validation(Validate(pairs=5, blind=True, seed=3))
    assert version(study) == 3
    with pytest.raises(RecipeError, match="`fcpair recipe` prints the recipe that matches the study"):
        walked(study, full)
    again = printed(study, tmp_path)
    assert again.adjudicate == Adjudicate("majority")
    assert again.validate == Validate(validators=2, pairs=5, blind=True, seed=3)
    assert again.partition == Partition("majority")
    before = dump(study)
    walked(study, again)
    assert dump(study) == before


def test_other_people_than_the_recipe_names_are_a_departure(at: At, full: Recipe, tmp_path: Path) -> None:
    study = walked(at("dealt"), full)
    label_all(study, tmp_path)
    study.grid().adjudicate()
    study.add_people(["vera", "walt", "wim"], Role.VALIDATOR)
    study.grid().assign_validation()
    assert study.recipe().validate == Validate(validators=3, pairs=9, seed=13)


def test_of_a_study_without_a_recipe_its_settings_are_printed(at: At, tmp_path: Path) -> None:
    study, grid = with_grid(at("checking"))
    assert grid.effective_options(Validate).seed == 1
    assert grid.recipe_options(Validate) == Validate()
    assert grid.recipe_options(Assign, seed=3) == Assign(seed=3)
    assert study.recipe_text().startswith("# No recipe has been run in this study")
    again = printed(study, tmp_path)
    assert again.assign == Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1)
    assert again.retrieve is None
    assert list(study.walk(again)) == []


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


def test_a_recipe_that_says_nothing_of_tier_rules_leaves_them(at: At) -> None:
    study = at("checked")
    grid = study.grid()
    grid.adjudicate(DISCARD)
    partition.note_partition(grid, Partition("majority"))
    assert [run.stage for run in study.walk(Recipe())] == ["agreement"]
    assert grid.effective_options(Partition) == Partition("majority")
