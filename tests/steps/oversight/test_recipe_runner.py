"""Running a recipe: from the first stage that is not done to where people act, as `status` says, and on from there."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest
from conftest import EXAMPLES

from fcpair.errors import InputError, RecipeEndError, RecipeError
from fcpair.params import (
    Adjudicate,
    Agree,
    Annotate,
    Assign,
    Calibration,
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
from fcpair.records import Role, RunRecord, Tier
from fcpair.study import Study
from steps.oversight.recipes import small_recipe
from steps.plans import ALL_ANSWER, RATE, RATED, WRITE, WRITTEN, study_of, with_round
from steps.small import STAGES, At, check, labels_of, open_work, record, set_candidates, standing, with_grid, write_csv

FAR = 50  # more steps than any walk has
DISCARD = Adjudicate("majority", "discard")


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    return small_recipe(
        tmp_path,
        retrieve=Retrieve(k=2),
        assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1),
        agreement=Agree(level=0.9),
        adjudicate=DISCARD,
        validate=Validate(validators=2, seed=1),
        partition=Partition("majority"),
    )


def walked(study: Study, recipe: Recipe) -> list[str]:
    stages = [run.stage for run in islice(study.walk(recipe), FAR)]
    assert len(stages) < FAR, "the walk does not end"
    return stages


def test_it_goes_from_the_first_stage_that_is_not_done_to_the_annotators(at: At, recipe: Recipe) -> None:
    assert walked(at("retrieved"), recipe) == ["pair", "assign"]
    study = at("paired")
    with pytest.raises(RecipeEndError, match=r"no section \[assign\], which comes next"):
        list(study.walk(replace(recipe, assign=None)))
    assert walked(study, recipe) == ["assign"]
    study = at("imported")  # the stages before the grid are not needed where it is
    assert [run.stage for run in islice(study.walk(replace(recipe, retrieve=None)), 1)] == ["select"]
    set_candidates(study, ["Have you met one?"])
    assert next(study.walk(replace(recipe, pair=Pair()))).stage == "pair"


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
    with pytest.raises(RecipeError, match=r"calibration +counts +first +second"):  # what counts of it is settled
        walked(study, replace(recipe, calibration=Calibration(pairs=6, counts="first", seed=1)))
    simulated = replace(calibrating, simulate=Simulate(seed=1))
    expected = ["simulate", "discussion", "simulate", "close calibration", "assign", "simulate", "adjudicate"]
    assert walked(study, simulated)[: len(expected)] == expected
    assert walked(study, simulated) == []
    assert study.grid().agreement().n_pairs == 24


@pytest.mark.server
def test_the_rules_of_the_recipe_become_the_study_s_own(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study, grid = with_grid(at("checked"))
    grid.adjudicate(DISCARD)  # so that nothing is left for people to do
    assert grid.effective_options(Partition) == Partition()
    assert walked(study, recipe) == ["agreement", "partition"]
    assert grid.effective_options(Partition) == Partition("majority")
    assert grid.effective_options(Agree) == Agree(level=0.9)
    assert grid.effective_options(Agree, weights="linear") == Agree("linear", level=0.9)
    assert (
        str(grid.tiers().table().rules[-1])
        == "2 labels or more, at least two and more than half equal to the final one; valid"
    )
    assert grid.agreement().options.level == 0.9
    grid.tiers(diamond="unanimous").release(Tier.BRONZE, tmp_path / "b.csv")
    assert grid.effective_options(Partition) == Partition("majority")
    for rules in (Partition("unanimous"), Partition("majority")):
        walked(study, replace(recipe, partition=rules))
        assert grid.effective_options(Partition) == rules


def test_figures_are_noted_anew_that_no_longer_rest_on_all_answers_and_decisions(at: At, tmp_path: Path) -> None:
    """Cleo, who dissents from two others, is no longer sure: the decision by majority and its verdict stand."""
    study, grid = with_grid(at("checked"))
    grid.adjudicate(DISCARD)
    assert walked(study, study.recipe()) == ["agreement", "partition"]
    assert walked(study, study.recipe()) == []
    pairs = [number for number, _ in labels_of(study)]
    pair = next(pair for pair, who in labels_of(study) if who == "cleo" and not pair % 3 and pairs.count(pair) == 3)
    record(study, tmp_path, [("cleo", pair, "not_sure")], supersede=True)
    figure = next(iter(grid.agreement().pooled))
    assert walked(study, study.recipe()) == ["agreement", "partition"]
    assert study.log()[-2].counts[figure.name] == figure.value
    assert walked(study, study.recipe()) == []
    grid.decide(int(grid.tier("gold")["pair"].iloc[0]), None, by="ada")
    assert walked(study, study.recipe()) == ["partition"]


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
def test_simulated_people_walk_it_to_the_end_and_the_policy_that_was_applied_holds(tmp_path: Path) -> None:
    study = begun(tmp_path, SIMULATED)
    assert stages(study, SIMULATED) == [
        *(("pair", "write"), ("assign", "write"), ("simulate", "")),
        *(("pair", "rate"), ("assign", "rate"), ("simulate", "")),
        *(("adjudicate", ""), ("partition", "")),
    ]
    assert stages(study, SIMULATED) == []
    assert study.status()["next"].startswith("everything has been answered")
    other = replace(DECIDED, adjudicate=Adjudicate(policy="majority"))
    with pytest.raises(RecipeError, match="adjudicate  policy  majority  median"):
        list(study.walk(replace(SIMULATED, grids=(PEOPLED[0], other))))


@pytest.mark.server
def test_it_stops_where_people_answer_and_says_who(tmp_path: Path) -> None:
    recipe = Recipe(setup=TITLE, annotate=Annotate(daily_limit=20), grids=PEOPLED)
    study = begun(tmp_path, recipe)
    assert stages(study, recipe) == [("annotate", ""), ("pair", "write"), ("assign", "write")]
    assert study.effective_options(Annotate).daily_limit == 20  # the study's own, as there is no `main`
    assert study.status()["next"] == (
        "open answers in round `write` of grid `write`: 12 (w1 3, w2 3, w3 3, w4 3); `fcpair serve`"
    )
    assert stages(study, recipe) == []
    with pytest.raises(RecipeError, match="grid   main  made of a corpus  no such grid"):
        list(study.walk(Recipe(setup=TITLE, select=Select(hs=2))))


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


def test_a_further_grid_is_added(tmp_path: Path) -> None:
    study = begun(tmp_path, Recipe(setup=TITLE, grids=PEOPLED[:1]))
    recipe = Recipe(setup=TITLE, grids=PEOPLED)
    assert stages(study, recipe) == [("grid", "rate"), ("pair", "write"), ("assign", "write")]
    assert study.grids == ["write", "rate"]


@pytest.mark.server
def test_a_grid_is_added_beside_main(at: At) -> None:
    study = at("dealt")
    recipe = Recipe(grids=(PEOPLED[0],))
    assert stages(study, recipe) == [("grid", "write"), ("pair", "write"), ("assign", "write")]
    state = study.status()
    assert state["next"].startswith("open labels: ")
    assert [grid["name"] for grid in state["grids"]] == ["write"]
    with pytest.raises(RecipeError, match="grid main  -    planned  made of a corpus"):
        list(study.walk(Recipe(grids=(replace(WRITTEN, name="main"),))))


CHANGES: list[tuple[GridPlan, str]] = [
    (replace(WRITTEN, row_name="text"), "grid write  row_name  text    row"),
    (
        replace(WRITTEN, columns=SidePlan(names=("facts",))),
        r"grid write  columns  kind: text, names: facts  kind: text",
    ),
    (with_round(WRITTEN, answers=2), "grid write, round write  answers  2       1"),
    (with_round(WRITTEN, once_per_row=False), r"grid write, round write  once_per_row  false   true"),
    (with_round(WRITTEN, role="rater"), "grid write, round write  role  rater   writer"),
    (with_round(WRITTEN, form="text: text()"), r"round write  form  text: text\(\)  text: text\(min_words=2"),
    (with_round(WRITTEN, seed=5), "grid write, round write  seed  5       0"),
    (replace(WRITTEN, rounds=(WRITE, RATE)), "grid write  rounds  write, rate  write"),
]


def test_what_differs_from_the_plans_is_told_and_nothing_is_done(tmp_path: Path) -> None:
    study = begun(tmp_path, Recipe(setup=TITLE, grids=(WRITTEN,)))
    for changed, message in CHANGES:
        with pytest.raises(RecipeError, match=message):
            list(study.walk(Recipe(setup=TITLE, grids=(changed,))))
    with pytest.raises(InputError, match="takes the answers of `other`, which is not an earlier grid"):
        list(study.walk(Recipe(setup=TITLE, grids=(replace(RATED, rows=SidePlan(answers="other")),))))
    assert study.grid_overview()[0]["cells"] == 0


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


def test_status_and_recipe_agree_at_every_stop_of_main(at: At) -> None:
    recipe = Recipe(
        pair=Pair(),
        assign=Assign(annotators=3, overlap={2: 0.25, 3: 0.25}, seed=1),
        adjudicate=MANUAL,
        validate=Validate(validators=2, seed=1),
        partition=Partition("majority"),
    )
    expected = "pair assign people adjudicate people validate people agreement partition"
    assert walk_with_people(at("retrieved"), recipe, Simulate(skips=0.0, seed=1)) == expected.split()


def test_pairs_decided_after_others_were_assigned_are_named_and_assigned(at: At) -> None:
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
    assert grid.desk.basis_notes == []
    for cell in waiting:
        grid.decide(cell, max(grid.scheme.codes), by="ada")
    n = len(waiting)
    assert n > 1
    state = study.status()
    sentence = f"decided pairs that no validator has: {n:,}; run `fcpair validate assign --more`"
    assert sentence in [state["next"], *state["also"]]
    (note,) = grid.desk.basis_notes
    assert note.startswith(f"{n:,} pairs were decided after the others were assigned to validators: they have no")
    runs = [run for run in study.walk(recipe) if run.stage == "validate"]
    assert [run.counts["pairs"] for run in runs] == [n]
    assert grid.desk.basis_notes == []
    assert sentence not in [study.status()["next"], *study.status()["also"]]


def test_pairs_that_a_recipe_leaves_without_a_verdict_on_purpose_are_not_missed(at: At) -> None:
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
    assert study.grid().desk.basis_notes == []


REVIEW = RoundPlan("review", "fit: one_of(no,yes+)", role="rater", answers=2)
REVIEWED = GridPlan(
    "review",
    SidePlan(names=tuple(f"Template {at}" for at in range(12))),
    SidePlan(names=("Is it fit?",)),
    (REVIEW,),
    adjudicate=Adjudicate("manual"),
    validate=Validate(),
)


def at_hand(study: Study) -> list[str]:
    """What can be done now, each up to its number or command."""
    state = study.status()
    return [step.split(":")[0] for step in (state["next"], *state["also"])]


def test_the_steps_of_a_study_come_one_after_the_other_or_side_by_side(at: At, tmp_path: Path) -> None:
    for stage in STAGES[: STAGES.index("dealt") + 1]:
        assert at(stage).status()["also"] == []  # where nothing is dealt, one thing can be done
    study = at("dealt")
    record(
        study, tmp_path, [(who, pair, "2" if who == "ana" else "0") for who, pair in open_work(study) if who != "cleo"]
    )
    n = len(study.grid().waiting_pairs())
    assert n
    state = study.status()
    assert state["next"].startswith("open labels: 14;")
    assert state["also"] == [f"pairs that wait for a decision: {n}; run `fcpair adjudicate`, or `fcpair serve`"]
    state = at("labelled").status()
    person, policy = (state["pairs"][name] for name in ("wait_for_person", "wait_for_policy"))
    assert person
    assert policy
    assert state["next"].startswith(f"pairs that a policy can decide: {policy}; run `fcpair adjudicate`")
    assert state["also"][0].startswith(f"pairs that wait for a decision: {person}; run `fcpair adjudicate`")
    assert at_hand(at("decided")) == ["pairs that wait for a decision", "run `fcpair validate assign`"]
    study = at("checking")
    state = study.status()
    n_waiting, n_open = len(study.grid().waiting_pairs()), state["rounds"]["validate"]["open"]
    assert state["next"].startswith(f"pairs that wait for a decision: {n_waiting}; run `fcpair adjudicate`")
    (verdicts,) = state["also"]
    assert verdicts.startswith(f"open verdicts: {n_open}; `fcpair serve`")
    check(study, tmp_path, [(who, pair, "agree") for who, pair in open_work(study, checks=True)])
    for pair in study.grid().waiting_pairs():
        study.grid().decide(pair, None, by="ada")
    state = study.status()
    assert (state["next"].split("`")[1], state["also"]) == ("fcpair partition", [])


def test_a_second_look_does_not_hide_open_verdicts(at: At, tmp_path: Path) -> None:
    study = at("checking")
    for pair in study.grid().waiting_pairs():
        study.grid().decide(pair, 2, by="ada")
    assert at_hand(study) == ["decided pairs that no validator has", "open verdicts"]
    labels = study.grid().labels()
    pair = int(labels["pair"].iloc[0])
    study.grid().decide(pair, 2, by="ada")
    changed = [(who, pair, "1") for who in labels["annotator"][labels["pair"] == pair]]
    record(study, tmp_path, changed, supersede=True)
    assert at_hand(study)[0] == "pairs decided before their labels changed"
    assert at_hand(study)[-1] == "open verdicts"


def test_a_planned_grid_says_both_too_and_a_second_look(tmp_path: Path) -> None:
    study = study_of(tmp_path, REVIEWED, rater=4)
    grid = study.grid("review")
    grid.pair()
    grid.assign_round()
    grid.simulate(replace(ALL_ANSWER, accuracy=0.6))
    grid.adjudicate(Adjudicate("manual"))
    waiting = "cells of grid `review` that wait for a decision"
    assert at_hand(study) == [waiting, "run `fcpair validate assign --grid review`"]
    study.add_people(["vera"], Role.VALIDATOR)
    grid.assign_validation(Validate())
    assert at_hand(study) == [waiting, "open verdicts in grid `review`"]
    first, *others = grid.waiting_pairs()
    for cell in (first, *others):
        grid.decide(cell, 1, by="ada")
    yes = next(row for row in grid.answers().to_dict("records") if row["cell"] == first and row["fit"] == "yes")
    changed = write_csv(tmp_path / "changed.csv", [{"cell": first, "by": yes["by"], "fit": "no"}])
    grid.import_answers(changed, supersede=True)
    assert at_hand(study)[0] == "cells of grid `review` decided before their answers changed"


def test_of_two_rounds_both_are_said_unless_one_rests_on_the_other(tmp_path: Path) -> None:
    again = replace(REVIEW, name="again", role="writer", counts=False)
    later = RoundPlan("later", "fit: one_of(no,yes+)", role="writer", after="review", counts=False)
    for other, names in ((again, ("review", "again")), (later, ("review",))):
        (tmp_path / other.name).mkdir()
        plan = replace(REVIEWED, rounds=(REVIEW, other), adjudicate=None, validate=None)
        study = study_of(tmp_path / other.name, plan, rater=2, writer=2)
        study.grid("review").pair()
        assert at_hand(study) == [f"run `fcpair assign --grid review --round {name}`" for name in names]
        for name in names:
            study.grid("review").assign_round(name)
        assert at_hand(study) == [f"open answers in round `{name}` of grid `review`" for name in names]


def test_a_decision_by_hand_before_does_not_stand_for_the_policy(at: At, recipe: Recipe) -> None:
    study = at("labelled")
    grid = study.grid()
    grid.decide(grid.waiting_pairs()[0], 2, by="ada")
    assert walked(study, recipe) == ["adjudicate", "validate"]
    assert len(standing(study)) == 24


def test_it_ends_when_no_pair_can_be_decided(at: At, recipe: Recipe, tmp_path: Path) -> None:
    study = at("dealt")
    record(study, tmp_path, [(who, pair, "not_sure") for who, pair in open_work(study)])
    assert walked(study, replace(recipe, adjudicate=Adjudicate("manual"))) == ["adjudicate"]
