"""Walking a recipe: every stage that is not done yet, until people have to act or everything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from fcpair.errors import RecipeEndError
from fcpair.models.encode import Progress
from fcpair.params import MAIN, Adjudicate, Agree, Import, Partition
from fcpair.plans import GridPlan
from fcpair.recipe import Recipe
from fcpair.records import Role, Round, RunRecord
from fcpair.steps.adjudication import adjudicate, agreement
from fcpair.steps.answers import examples, generate, import_fc_conan, simulate
from fcpair.steps.assignment import assign, spot_checks, validate
from fcpair.steps.assignment import rounds as dealing
from fcpair.steps.base.context import OnGrid, OnStudy, find_grid, has_own, is_own
from fcpair.steps.corpus import grids, import_, pair, retrieve, select
from fcpair.steps.oversight import recipe_check, status
from fcpair.steps.oversight import study_recipe as kept
from fcpair.steps.release import evaluate, partition
from fcpair.steps.rules import example_review, round_progress, rule_decisions
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import keys

Step = tuple[str, Callable[[OnGrid, Any], RunRecord], Any]


def walk(
    study: OnStudy, recipe: Recipe, *, progress: Progress | None = None, loosen: bool = False
) -> Iterator[RunRecord]:
    """Run the stages of `recipe` from the first that is not done, and yield what each did: grid by grid, `main` first.

    A grid that the study does not have is added, and the study keeps what the recipe says (`study_recipe.keep`), unless
    its first stage fails. Each grid is walked until people have to answer, unless the recipe has simulated people do
    it, until cells wait for an adjudicator, a service is to be asked (`generate` does that), or to the end of the road.
    Only to `loosen` does a recipe take back a limit or an opt-out that the study has.

    Raises:
        RecipeError: the study is not what the recipe says; nothing was done.
        RecipeEndError: the recipe has no section for the stage that comes next; what was done stands.
    """
    recipe_check.check(study, recipe, loosen=loosen)
    with study.store.read() as tx:
        there = {one.name: one for one in keys(tx)}
    for plan in recipe.grids:
        if plan.name not in there:
            yield grids.add_grid(study, plan)
    try:
        for n_done, run in enumerate(_stages(study, recipe, progress)):
            if not n_done:
                kept.keep(study, recipe)  # now that something has come of it
            yield run
    except RecipeEndError:
        kept.keep(study, recipe)
        raise
    kept.keep(study, recipe)


def _stages(study: OnStudy, recipe: Recipe, progress: Progress | None) -> Iterator[RunRecord]:
    """The stages of all grids, which are there."""
    instead = partial(_instead, recipe)
    if recipe.annotate and not _is_own(study, recipe.annotate) and not recipe.has_main:
        yield assign.note_annotate(study, recipe.annotate)
    if recipe.has_main:
        with study.store.read() as tx:
            main = OnGrid(study.store, find_grid(tx, MAIN))
        yield from _walk(main, partial(_due, main, recipe, progress), instead)
    for plan in recipe.grids:
        with study.store.read() as tx:
            grid = OnGrid(study.store, find_grid(tx, plan.name))
        yield from _walk(grid, partial(_planned, grid, plan, recipe, progress), instead)


def _walk(grid: OnGrid, due: Callable[[], Step | None], instead: Callable[[str], str]) -> Iterator[RunRecord]:
    while step := due():
        section, run, options = step
        if options is None:
            raise RecipeEndError(f"the recipe has no section [{section}], which comes next; {instead(section)}")
        yield run(grid, options)


def _instead(recipe: Recipe, section: str) -> str:
    """What to do where a recipe has no section for a stage; one that makes no pairs is for a study that has labels."""
    made = (recipe.import_, recipe.select, recipe.retrieve, recipe.pair, recipe.assign)
    if section != Import.stage or any(made):
        return "add it, or run the stage by hand"
    return (
        "add it, or run the stage by hand. A recipe that makes no pairs is for a study that has some: "
        "`fcpair labels import FILE --format fc-conan` brings those of a published partition, with their labels"
    )


def _due(grid: OnGrid, recipe: Recipe, progress: Progress | None) -> Step | None:
    """The next stage: its section, how it is run, its options; None when people come next or nothing does."""
    state = status.status(grid)
    built, labels, verdicts = state["stages"], state["rounds"]["label"], state["rounds"]["validate"]
    steps: tuple[tuple[Any, Step | None], ...] = (
        (not built["pair"] and not built["import"], ("import", import_.import_corpus, recipe.import_)),
        (not built["pair"] and not built["select"], ("select", select.select, recipe.select)),
        (
            not built["pair"] and not built["retrieve"],
            ("retrieve", partial(retrieve.bring_in, progress=progress), recipe.retrieve),
        ),
        (not built["pair"], ("pair", pair.make_grid, recipe.pair)),
        (not built["assign"], ("assign", assign.assign, recipe.assign)),
        (
            recipe.annotate and not _is_own(grid, recipe.annotate),
            ("annotate", assign.note_annotate, recipe.annotate),
        ),
        (labels["open"] and recipe.simulate, ("simulate", simulate.simulate, recipe.simulate)),
        (labels["open"], None),
        (not _has_adjudicated(grid), ("adjudicate", adjudicate.adjudicate, recipe.adjudicate)),
        (state["adjudications"]["waiting"] or state["adjudications"]["second_look"], None),
        (not sum(verdicts.values()), ("validate", validate.assign_validation, recipe.validate)),
        (verdicts["open"] and recipe.simulate, ("simulate", simulate.simulate, recipe.simulate)),
        (verdicts["open"], None),
        (
            not _is_own(grid, recipe.agreement or Agree),
            ("agreement", agreement.note_agreement, recipe.agreement or Agree()),
        ),
        (
            not _is_own(grid, recipe.partition or Partition),
            ("partition", partition.note_partition, recipe.partition or Partition()),
        ),
        (
            recipe.evaluate and not _is_own(grid, recipe.evaluate),
            ("evaluate", partial(evaluate.note_evaluation, progress=progress), recipe.evaluate),
        ),
    )
    return next((step for due, step in steps if due), None)


def _planned(grid: OnGrid, plan: GridPlan, recipe: Recipe, progress: Progress | None) -> Step | None:
    """The next stage of a planned grid, as `_due` has it."""
    with grid.store.read() as tx:
        if not cells.number_range(tx)[1]:
            return None if round_progress.waits_for(tx) else ("pair", grids.fill, plan)
        for one in map(partial(round_progress.standing, tx), rounds.asked(tx)):
            if step := _round_due(tx, one, recipe, progress):
                return step
            if not one.dealt or one.counts["open"]:
                return _spot_due(tx, one.round)
        check = round_progress.standing(tx, rounds.checking(tx))
        waiting = has_own(tx, Adjudicate) and (rule_decisions.waiting(tx) or rule_decisions.overtaken(tx))
        steps: tuple[tuple[Any, Step | None], ...] = (
            (plan.adjudicate and not has_own(tx, Adjudicate), ("adjudicate", adjudicate.adjudicate, plan.adjudicate)),
            (waiting, None),
            (
                plan.validate and not check.dealt,
                ("validate", validate.assign_validation, plan.validate),
            ),
            (check.counts["open"] and recipe.simulate, ("simulate", simulate.simulate, recipe.simulate)),
            (check.counts["open"], None),
            (
                plan.agreement and not is_own(tx, plan.agreement),
                ("agreement", agreement.note_agreement, plan.agreement),
            ),
            (
                plan.partition and not is_own(tx, plan.partition),
                ("partition", partition.note_partition, plan.partition),
            ),
        )
        return next((step for due, step in steps if due), None)


def _round_due(tx: Tx, one: round_progress.Standing, recipe: Recipe, progress: Progress | None) -> Step | None:
    """What is to be done in a round now: it is dealt, or answered by models or simulated people."""
    if one.round.role is Role.MODEL:
        return _models_due(tx, one, progress) if not one.dealt or one.counts["open"] else None
    if _deal_due(tx, one):
        return "grid.round", dealing.assign_round, one.round.name
    if one.counts["open"] and recipe.simulate:
        return "simulate", simulate.simulate, recipe.simulate
    return None


def _models_due(tx: Tx, one: round_progress.Standing, progress: Progress | None) -> Step | None:
    """Models of a round are asked, or its examples found; None while its examples wait for people.

    None too where a service would be asked: that sends texts away and may cost something, so somebody says so first.
    """
    if one.round.options.examples and not example_review.of_round(tx, one.round):
        find = partial(examples.find_examples, progress=progress)
        return None if round_progress.examples_wait_for(tx, one.round) else ("grid.round", find, one.round.name)
    if example_review.missing(tx, one.round) or generate.asks_a_service(one.round):
        return None
    return "grid.round", partial(generate.generate, progress=progress), one.round.name


def _deal_due(tx: Tx, one: round_progress.Standing) -> bool:
    """Whether a round can be dealt now, or more of it."""
    if not dealing.has_people(tx, one.round):
        return False
    return (
        spot_checks.is_due(tx, one.round)
        if one.round.options.per_batch
        else not one.dealt and not round_progress.pilot_waits(tx, one.round)
    )


def _spot_due(tx: Tx, open_: Round) -> Step | None:
    """The deal of a spot check of batches that are done, while the round that it checks is still open."""
    for one in rounds.asked(tx):
        if (
            one.options.per_batch
            and one.options.rests_on == open_.name
            and _deal_due(tx, round_progress.standing(tx, one))
        ):
            return "grid.round", dealing.assign_round, one.name
    return None


def _has_adjudicated(grid: OnGrid) -> bool:
    """Whether a policy has decided, or a published partition came with its decisions.

    What people decide one by one sets no policy.
    """
    with grid.store.read() as tx:
        return has_own(tx, Adjudicate) or import_fc_conan.is_taken_over(tx)


def _is_own(grid: OnStudy, options: Any) -> bool:
    """Whether these options are the study's own; of a class, whether the study has any of that kind."""
    with grid.store.read() as tx:
        return has_own(tx, options) if isinstance(options, type) else is_own(tx, options)
