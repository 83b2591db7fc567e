"""What `status` says is next is what a recipe runs next, or waits for: stage by stage, from the first to the last."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import EXAMPLES

from fcpair.params import Adjudicate, Assign, Pair, Partition, Simulate, Validate
from fcpair.recipe import Recipe, load_recipe
from fcpair.records import Role, RunRecord
from fcpair.study import Study

FIGURES = {"agreement", "partition"}  # noted when all is answered; `status` names such commands together
WORDS = {"words"}  # saved as soon as a recipe has others than the study; `status` says nothing of them
EVERYTHING = 40  # more stages and stops than any of these recipes has
MANUAL = Adjudicate("manual")


def command_of(run: RunRecord) -> str:
    """The beginning of the command that does what a recipe has just run, with the grid and the round that runs name."""
    facts = {**run.params, **run.counts}
    options = [f" --{name} {facts[name]}" for name in ("grid", "round") if name in facts]
    return f"`fcpair {'validate assign' if run.stage == 'validate' else run.stage}{''.join(options)}"


def act_as_people(study: Study, sentence: str, habits: Simulate) -> None:
    """Do what a sentence of `status` asks of people: decide what waits for a decision, or answer what is open."""
    named = re.search("grid `(.+?)`", sentence)
    grid = study.grid(named[1] if named else None)
    if "wait for a decision" in sentence:
        for cell in grid.waiting_pairs():
            grid.decide(cell, max(grid.scheme.codes), by="ada")
    else:
        grid.simulate(habits)


def asks_people(sentence: str) -> bool:
    """Whether a sentence of `status` is about what people do, one by one."""
    return "`fcpair serve`" in sentence or "wait for a decision" in sentence


def is_left_at_the_end(sentence: str) -> bool:
    """Whether a sentence of `status` holds when a recipe is done; what nobody is left to answer stops none."""
    return (
        sentence.startswith(("everything has been answered", "run `fcpair partition`")) or "nobody is left" in sentence
    )


def walk_with_people(study: Study, recipe: Recipe, habits: Simulate) -> list[str]:
    """Run a recipe one stage at a time, with people who act where it stops; returns its stages and stops, in order.

    Each time, what `status` says first, but for what people do meanwhile, is what the recipe then runs; and what it
    says is next is people's where the recipe stops.
    """
    study.add_people(["ada"], Role.ADJUDICATOR)
    walked: list[str] = []
    while len(walked) < EVERYTHING:
        state = study.status()
        sentences = [state["next"], *state["also"]]
        run = next(study.walk(recipe), None)
        walked.append(run.stage if run else "people")
        if run and run.stage in WORDS:
            walked.pop()
        elif run and run.stage not in FIGURES:
            at = next((at for at, sentence in enumerate(sentences) if command_of(run) in sentence), None)
            assert at is not None, f"{run.stage} was run, but status says: {sentences}"
            assert all(map(asks_people, sentences[:at])), f"{run.stage} was run first, but status says: {sentences}"
        elif run is None and asks_people(state["next"]):
            act_as_people(study, state["next"], habits)
        else:
            assert all(map(is_left_at_the_end, sentences)), f"{run} was run, but status says: {sentences}"
            if run is None:
                return walked[:-1]
    raise AssertionError(f"the recipe does not end: {walked}")


@pytest.mark.parametrize(
    ("name", "adjudicate", "expected"),
    [
        ("write", None, "pair assign people pair assign people adjudicate validate people partition"),
        ("write", MANUAL, "pair assign people pair assign people adjudicate people validate people partition"),
        ("curate", None, "pair generate assign people"),
        ("localise", None, "pair assign people pair assign people"),
        (
            "writing",
            None,
            "pair assign pair people pair assign people assign people assign pair assign people people agreement",
        ),
    ],
)
def test_status_and_recipe_agree_at_every_stop_of_planned_grids(
    tmp_path: Path, name: str, adjudicate: Adjudicate | None, expected: str
) -> None:
    example = load_recipe(EXAMPLES / f"{name}.toml")
    plans = tuple(
        replace(plan, adjudicate=plan.adjudicate and (adjudicate or plan.adjudicate)) for plan in example.grids
    )
    recipe = replace(example, simulate=None, grids=plans)
    study = Study.create(tmp_path / "study.db", recipe.setup, grids=plans)
    assert example.simulate
    assert walk_with_people(study, recipe, example.simulate) == expected.split()


def test_status_and_recipe_agree_at_every_stop_of_main(at: Callable[[str], Study]) -> None:
    recipe = Recipe(
        pair=Pair(),
        assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1),
        adjudicate=MANUAL,
        validate=Validate(validators=2, seed=1),
        partition=Partition("majority"),
    )
    expected = "pair assign people adjudicate people validate people agreement partition"
    assert walk_with_people(at("retrieved"), recipe, Simulate(skips=0.0, seed=1)) == expected.split()


def test_pairs_decided_after_others_were_assigned_to_validators_are_named_and_assigned(
    at: Callable[[str], Study],
) -> None:
    study, validate = at("retrieved"), Validate(validators=2, seed=1)
    recipe = Recipe(
        pair=Pair(),
        assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1),
        simulate=Simulate(skips=0.0, seed=1),
        adjudicate=MANUAL,
        validate=validate,
    )
    study.add_people(["ada"], Role.ADJUDICATOR)
    assert [run.stage for run in study.walk(recipe)] == ["pair", "assign", "simulate", "adjudicate"]
    grid = study.grid()
    grid.assign_validation(validate)
    waiting = grid.waiting_pairs()
    assert grid.desk.second_look_notes == []
    for cell in waiting:
        grid.decide(cell, max(grid.scheme.codes), by="ada")
    n = len(waiting)
    assert n > 1
    state = study.status()
    sentence = f"decided pairs that no validator has: {n:,}; run `fcpair validate assign --more`"
    assert sentence in [state["next"], *state["also"]]
    (note,) = grid.desk.second_look_notes
    assert note.startswith(f"{n:,} pairs were decided after the others were assigned to validators: they have no")
    runs = [run for run in study.walk(recipe) if run.stage == "validate"]
    assert [run.counts["pairs"] for run in runs] == [n]
    assert grid.desk.second_look_notes == []
    assert sentence not in [study.status()["next"], *study.status()["also"]]


def test_pairs_that_a_recipe_leaves_without_a_verdict_on_purpose_are_not_missed(at: Callable[[str], Study]) -> None:
    study, validate = at("retrieved"), Validate(validators=2, pairs=4, seed=1)
    recipe = Recipe(
        pair=Pair(),
        assign=Assign(annotators=3, overlap={2: 0.25}, seed=1),
        simulate=Simulate(skips=0.0, seed=1),
        adjudicate=Adjudicate("majority", "discard"),
        validate=validate,
        partition=Partition(),
    )
    stages = [run.stage for run in study.walk(recipe)]
    assert stages.count("validate") == 1
    assert study.status()["pairs"]["no_verdict"] > 0
    assert study.grid().desk.second_look_notes == []
