"""A recipe is held against what the study is: whatever differs is listed, and nothing is done."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fcpair.errors import RecipeEndError, RecipeError, StageError
from fcpair.params import (
    Adjudicate,
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
from fcpair.recipe import Recipe
from fcpair.records import Role
from fcpair.steps.people import terms
from fcpair.steps.release import partition
from fcpair.study import Study
from steps.small import SELECTED, VALIDATORS, assert_refused, check, dump, open_work, record, write_corpus, write_csv

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
        adjudicate=Adjudicate("majority"),
        validate=Validate(seed=1),
    )


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


def test_a_recipe_by_which_the_study_was_made_is_no_other(at: At, recipe: Recipe) -> None:
    assert list(at("checking").walk(recipe)) == []


def test_everything_that_differs_is_listed_with_both_values(at: At, recipe: Recipe) -> None:
    other = replace(
        recipe,
        setup=Setup(title="Tiny", cn_name="reply", scheme="one_of(no,yes+)"),
        select=Select(hs=45, seed=13),
        pair=Pair(candidates=4),
        assign=Assign(annotators=9, overlap={2: 0.5}, seed=1),
        adjudicate=Adjudicate("majority", "discard"),
        validate=Validate(blind=True, seed=1),
    )
    lines = refused(at("checking"), other)
    assert lines[0].endswith("differs from the recipe; nothing was done")
    found = {(stage, key): tuple(values) for stage, key, *values in rows(lines)}
    hs = found.pop(("select", "hs_list"))
    assert (hs[0], Path(hs[1]).name) == ("-", "hs.csv")
    assert found == {
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


def test_what_a_recipe_leaves_out_of_a_section_has_its_default(at: At, recipe: Recipe) -> None:
    assert rows(refused(at("checking"), replace(recipe, setup=Setup(hs_name="claim")))) == [
        ["study", "title", "-", "Small"],
        ["study", "hs_name", "claim", "hate speech"],
    ]


def test_a_section_that_is_not_there_says_nothing(at: At) -> None:
    assert list(at("checking").walk(Recipe())) == []


def test_what_a_recipe_says_of_later_stages_is_no_difference(at: At, recipe: Recipe) -> None:
    other = replace(recipe, assign=Assign(annotators=2, seed=5), adjudicate=Adjudicate(), validate=Validate(pairs=3))
    assert [run.stage for run in at("paired").walk(other)] == ["assign"]


@pytest.mark.torch
def test_what_a_stage_was_done_with_before_it_was_undone_is_no_difference(at: At, recipe: Recipe) -> None:
    study = at("dealt")
    study.grid().select(Select(hs=3, seed=4), redo=True)
    other = replace(recipe, select=Select(hs=3, seed=4), pair=Pair(candidates=4), assign=Assign(annotators=3, seed=9))
    assert next(study.walk(replace(other, retrieve=Retrieve(k=2)))).stage == "retrieve"


@pytest.mark.torch
def test_how_a_stage_does_its_work_may_differ_and_what_comes_of_it_may_not(at: At, recipe: Recipe) -> None:
    study = at("imported")
    study.grid().select(Select(hs=3, seed=4), redo=True)
    study.grid().retrieve(Retrieve(k=2))
    by_hand = replace(recipe, select=Select(hs=3, seed=4), pair=None, assign=None)
    otherwise = replace(by_hand, retrieve=Retrieve(k=2, memory_mb=64, dask="local:3"))
    with pytest.raises(RecipeEndError, match=r"no section \[pair\]"):
        list(study.walk(otherwise))
    lines = refused(study, replace(by_hand, retrieve=Retrieve(k=2, backend="onnx", memory_mb=64)))
    assert rows(lines) == [["retrieve", "backend", "onnx", "torch"]]


def test_what_was_set_by_hand_counts_alike(at: At, recipe: Recipe) -> None:
    study = at("imported")
    study.grid().select(Select(hs=2, seed=1))
    assert rows(refused(study, replace(recipe, select=Select(hs=3, seed=1)))) == [["select", "hs", "3", "2"]]


def test_a_number_of_annotators_is_held_against_those_who_were_dealt_to(at: At, recipe: Recipe) -> None:
    named = replace(recipe, assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1))
    assert list(at("dealt").walk(named)) == []


def test_a_corpus_is_known_by_its_content_wherever_it_lies(at: At, recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    moved = (tmp_path / "corpus.csv").rename(tmp_path / "elsewhere" / "texts.csv")
    same = replace(recipe, import_=Import(moved, only_language="en"))
    assert list(at("dealt").walk(same)) == []
    moved.write_text(moved.read_text("utf-8").replace("tea", "coffee"), "utf-8")
    ((stage, key, *values),) = rows(refused(at("dealt"), same))
    assert (stage, key, values[0]) == ("import", "path", str(moved))


def test_a_kind_of_file_that_its_suffix_says_need_not_be_named(at: At, recipe: Recipe, tmp_path: Path) -> None:
    path = tmp_path / "corpus.csv"
    assert list(at("dealt").walk(replace(recipe, import_=Import(path, "csv", only_language="en")))) == []
    conan = refused(at("dealt"), replace(recipe, import_=Import(path, "conan", only_language="en")))
    assert rows(conan) == [["import", "reader", "conan", "csv"]]


def test_a_corpus_that_is_gone_is_known_by_its_name(at: At, recipe: Recipe, tmp_path: Path) -> None:
    (tmp_path / "corpus.csv").unlink()
    assert list(at("dealt").walk(recipe)) == []
    ((stage, key, *_),) = rows(refused(at("dealt"), replace(recipe, import_=Import(Path("b.csv"), only_language="en"))))
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


def test_it_is_said_how_a_stage_is_made_anew_only_while_nobody_has_answered(at: At, recipe: Recipe) -> None:
    other = replace(recipe, pair=Pair(candidates=4))
    assert any("`fcpair pair --redo`" in line for line in refused(at("paired"), other))
    assert not any("--redo" in line for line in refused(at("labelled"), other))


def test_a_policy_of_the_recipe_is_not_passed_over_in_silence(at: At, recipe: Recipe) -> None:
    study = at("decided")
    other = replace(recipe, adjudicate=Adjudicate("majority", "discard"))
    said = "`fcpair adjudicate --policy majority --ties discard` applies the recipe's policy."
    assert said in refused(study, other)
    study.grid().adjudicate(Adjudicate("majority", "discard"))
    assert next(study.walk(replace(other, validate=Validate(validators=2)))).stage == "validate"


# -- what may change


def test_tier_rules_may_change_with_the_recipe(at: At) -> None:
    study = at("checked")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority", "discard"))
    for rules in (Partition("majority"), Partition("unanimous")):
        list(study.walk(Recipe(partition=rules)))
        assert grid.effective_options(Partition) == rules


def test_a_recipe_that_says_nothing_of_tier_rules_leaves_them(at: At) -> None:
    study = at("checked")
    grid = study.grid()
    grid.adjudicate(Adjudicate("majority", "discard"))
    partition.note_partition(study.grid(), Partition("majority"))
    assert [run.stage for run in study.walk(Recipe())] == ["agreement"]
    assert grid.effective_options(Partition) == Partition("majority")


@pytest.mark.parametrize(
    ("given", "row"),
    [
        ({"opt_out": "hs_topic", "total_limit": 90}, ["annotate", "daily_limit", "no limit", "40"]),
        ({"opt_out": "hs_topic", "total_limit": 90, "daily_limit": 41}, ["annotate", "daily_limit", "41", "40"]),
        ({"opt_out": "hs_topic", "daily_limit": 40}, ["annotate", "total_limit", "no limit", "90"]),
        ({"total_limit": 90, "daily_limit": 40}, ["annotate", "opt_out", "-", "hs_topic"]),
        ({"total_limit": 90, "daily_limit": 40, "opt_out": "cn_type"}, ["annotate", "opt_out", "cn_type", "hs_topic"]),
    ],
)
def test_no_recipe_loosens_a_limit_in_silence(at: At, given: dict[str, Any], row: list[str]) -> None:
    study = at("dealt")
    terms.save_terms(study.grid(), Annotate(daily_limit=40, total_limit=90, opt_out="hs_topic"))
    lines = refused(study, Recipe(annotate=Annotate(**given)))
    assert rows(lines) == [row]
    assert "`--loosen` applies the recipe's looser limits." in lines
    list(study.walk(Recipe(annotate=Annotate(**given)), loosen=True))
    assert study.grid().effective_options(Annotate) == Annotate(**given)


def test_a_recipe_may_tighten_limits_and_change_its_texts(at: At) -> None:
    study = at("dealt")
    terms.save_terms(study.grid(), Annotate(daily_limit=40))
    tighter = Annotate(daily_limit=30, total_limit=90, opt_out="hs_topic", contact="Ada")
    assert [run.stage for run in study.walk(Recipe(annotate=tighter))] == ["annotate"]
    assert study.grid().effective_options(Annotate) == tighter


# -- simulated people among people


def test_a_study_in_which_a_person_has_answered_refuses_simulated_people(at: At, tmp_path: Path) -> None:
    study = at("dealt")
    who, pair = open_work(study)[0]
    record(study, tmp_path, [(who, pair, "skip")])
    match = r"people have answered in this study \(1 so far\), and simulated answers are not mixed with theirs"
    assert_refused(study, lambda: study.grid().simulate(Simulate()), StageError, match)
    assert rows(refused(study, Recipe(simulate=Simulate()))) == [
        ["simulate", "-", "simulated people answer", "people have answered: 1"]
    ]


def test_a_recipe_that_simulates_is_refused_where_nothing_is_open_either(at: At, recipe: Recipe) -> None:
    lines = refused(at("checked"), replace(recipe, simulate=Simulate()))
    assert rows(lines) == [["simulate", "-", "simulated people answer", "people have answered: 61"]]


def test_a_person_who_answers_while_a_recipe_is_walked_ends_the_simulation(
    at: At, recipe: Recipe, tmp_path: Path
) -> None:
    study = at("dealt")
    study.add_people(list(VALIDATORS), Role.VALIDATOR)
    steps = study.walk(
        replace(recipe, adjudicate=Adjudicate("majority", "discard"), simulate=Simulate(skips=0, seed=1))
    )
    assert [next(steps).stage for _ in range(3)] == ["simulate", "adjudicate", "validate"]
    who, pair = open_work(study, checks=True)[0]
    check(study, tmp_path, [(who, pair, "agree")])
    with pytest.raises(StageError, match=r"people have answered in this study \(1 so far\)"):
        next(steps)


def test_an_overlap_that_was_planned_is_not_lost_by_a_recipe_without_one(at: At, recipe: Recipe) -> None:
    study = at("paired")
    grid = study.grid()
    grid.save.overlap(grid.plan(annotators=3, width=1.6))
    silent = replace(recipe, assign=Assign(annotators=3, seed=1))
    lines = refused(study, silent)
    ((stage, key, in_recipe, _),) = (row[:4] for row in rows(lines))
    assert (stage, key, in_recipe) == ("plan", "overlap", "-")
    assert "`fcpair plan --save` has written the overlap; give it under `[assign]`, or another that you want." in lines
    next(study.walk(replace(recipe, assign=Assign(annotators=3, overlap={2: 0.5}, seed=1))))
    assert grid.recipe_options(Assign).overlap == {2: 0.5}
