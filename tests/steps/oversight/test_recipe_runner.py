"""Walking a recipe: from the first stage that is not done, to where people have to act, and on from there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from fcpair.errors import RecipeEndError, RecipeError
from fcpair.params import (
    Adjudicate,
    Agree,
    Assign,
    Calibration,
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
from fcpair.records import Tier
from fcpair.study import Study
from steps.small import SELECTED, check, label_of, open_work, record, set_candidates, standing, write_corpus, write_csv

At = Callable[[str], Study]
FAR = 50  # more steps than any walk has


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return Recipe(
        Setup(title="Small"),
        import_=Import(write_corpus(tmp_path / "corpus.csv"), only_language="en"),
        select=Select(hs_list=write_csv(tmp_path / "hs.csv", [{"hs": hs} for hs in SELECTED])),
        retrieve=Retrieve(k=2),
        pair=Pair(),
        assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1),
        agreement=Agree(level=0.9),
        adjudicate=Adjudicate("majority", "discard"),
        validate=Validate(validators=2, seed=1),
        partition=Partition("majority"),
    )


@pytest.fixture
def finished(at: At) -> Study:
    """A study in which nothing is left for people to do."""
    study = at("checked")
    study.grid().adjudicate(Adjudicate("majority", "discard"))
    return study


def walked(study: Study, recipe: Recipe) -> list[str]:
    stages = [run.stage for run in islice(study.walk(recipe), FAR)]
    assert len(stages) < FAR, "the walk does not end"
    return stages


def test_it_goes_from_the_first_stage_that_is_not_done_to_the_annotators(at: At, recipe: Recipe) -> None:
    assert walked(at("retrieved"), recipe) == ["pair", "assign"]
    assert walked(at("paired"), recipe) == ["assign"]


@pytest.mark.slow
def test_it_stops_while_labels_are_open_and_goes_on_when_they_are_in(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("dealt")
    work = open_work(study)
    assert walked(study, recipe) == []
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in work[:-1]])
    assert walked(study, recipe) == []
    record(study, tmp_path, [(who, pair, label_of(pair, who)) for who, pair in work[-1:]])
    assert walked(study, recipe) == ["adjudicate", "validate"]
    assert walked(study, recipe) == []
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    assert walked(study, recipe) == ["agreement", "partition"]
    assert walked(study, recipe) == []


@pytest.mark.slow
def test_simulated_people_walk_it_to_the_end_and_not_further(at: At, recipe: Recipe) -> None:
    study = at("retrieved")
    simulated = replace(recipe, simulate=Simulate(seed=1))
    expected = ["pair", "assign", "simulate", "adjudicate", "validate", "simulate", "agreement", "partition"]
    assert walked(study, simulated) == expected
    assert walked(study, simulated) == []


def test_it_goes_through_a_calibration_before_the_pairs_are_assigned(at: At, recipe: Recipe) -> None:
    study = at("paired")
    calibrating = replace(recipe, calibration=Calibration(pairs=6, counts="second", seed=1))
    assert walked(study, calibrating) == ["calibration"]
    assert walked(study, calibrating) == []
    simulated = replace(calibrating, simulate=Simulate(seed=1))
    expected = ["simulate", "discussion", "simulate", "close calibration", "assign", "simulate", "adjudicate"]
    assert walked(study, simulated)[: len(expected)] == expected
    assert walked(study, simulated) == []
    assert study.grid().agreement().n_pairs == 24


def test_what_counts_of_a_calibration_is_not_changed_by_a_recipe_afterwards(at: At, recipe: Recipe) -> None:
    study = at("paired")
    walked(study, replace(recipe, calibration=Calibration(pairs=6, seed=1)))
    with pytest.raises(RecipeError, match=r"calibration +counts +first +neither"):
        walked(study, replace(recipe, calibration=Calibration(pairs=6, counts="first", seed=1)))


def test_a_section_that_comes_next_and_is_not_there_is_named(at: At, recipe: Recipe) -> None:
    study = at("paired")
    with pytest.raises(RecipeEndError, match=r"no section \[assign\], which comes next"):
        list(study.walk(replace(recipe, assign=None)))
    assert walked(study, recipe) == ["assign"]


def test_the_rules_of_the_recipe_become_the_study_s_own(finished: Study, recipe: Recipe) -> None:
    grid = finished.grid()
    assert walked(finished, recipe) == ["agreement", "partition"]
    assert grid.effective_options(Partition) == Partition("majority")
    assert grid.effective_options(Agree) == Agree(level=0.9)
    assert (
        str(grid.tiers().table().rules[-1])
        == "2 labels or more, at least two and more than half equal to the final one; valid"
    )
    assert grid.agreement().options.level == 0.9


def test_what_is_given_comes_before_the_recipe(finished: Study, recipe: Recipe) -> None:
    walked(finished, recipe)
    assert finished.grid().effective_options(Agree, weights="linear") == Agree("linear", level=0.9)


def test_without_a_recipe_the_defaults_hold(at: At) -> None:
    assert at("checked").grid().effective_options(Partition) == Partition()


@pytest.mark.server
def test_a_release_does_not_change_the_study_s_own_rules(finished: Study, recipe: Recipe, tmp_path: Path) -> None:
    grid = finished.grid()
    walked(finished, recipe)
    grid.tiers(diamond="unanimous").release(Tier.BRONZE, tmp_path / "b.csv")
    assert grid.effective_options(Partition) == Partition("majority")


def test_a_recipe_that_goes_back_to_earlier_rules_is_heeded(finished: Study, recipe: Recipe) -> None:
    for rules in (Partition("majority"), Partition("unanimous"), Partition("majority")):
        walked(finished, replace(recipe, partition=rules))
        assert finished.grid().effective_options(Partition) == rules


def test_it_stops_where_conflicts_wait_for_a_person(at: At, recipe: Recipe) -> None:
    study = at("labelled")
    grid = study.grid()
    manual = replace(recipe, adjudicate=Adjudicate("manual"))
    assert walked(study, manual) == ["adjudicate"]
    waiting = grid.waiting_pairs()
    assert waiting
    assert walked(study, manual) == []
    for pair in waiting:
        grid.decide(pair, 2, by="ada")
    assert walked(study, manual) == ["validate"]
    assert {pair for _, pair in open_work(study, checks=True)} == set(range(1, 25))


def test_it_ends_when_no_pair_can_be_decided(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("dealt")
    record(study, tmp_path, [(who, pair, "not_sure") for who, pair in open_work(study)])
    assert walked(study, replace(recipe, adjudicate=Adjudicate("manual"))) == ["adjudicate"]


def test_a_decision_by_hand_before_does_not_stand_for_the_policy(at: At, recipe: Recipe) -> None:
    study = at("labelled")
    grid = study.grid()
    grid.decide(grid.waiting_pairs()[0], 2, by="ada")
    assert walked(study, recipe) == ["adjudicate", "validate"]
    assert len(standing(study)) == 24


def test_the_stages_before_the_grid_are_not_needed_where_it_is(at: At, recipe: Recipe) -> None:
    study = at("imported")
    assert [run.stage for run in islice(study.walk(replace(recipe, retrieve=None)), 1)] == ["select"]
    set_candidates(study, ["Have you met one?"])
    assert next(study.walk(replace(recipe, pair=Pair()))).stage == "pair"
