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
from fcpair.steps.base.context import GridContext, StudyContext, find_grid, has_saved_options, matches_saved_options
from fcpair.steps.corpus import grids, import_, pair, retrieve, select
from fcpair.steps.oversight import recipe_check, status
from fcpair.steps.oversight import study_recipe as kept
from fcpair.steps.release import evaluate, partition
from fcpair.steps.rules import example_review, round_progress, rule_decisions
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import cells
from fcpair.store.corpus.grids import keys

Step = tuple[str, Callable[[GridContext, Any], RunRecord], Any]


def run_recipe(
    study: StudyContext, recipe: Recipe, *, progress: Progress | None = None, loosen: bool = False
) -> Iterator[RunRecord]:
    """Run the stages of `recipe` from the first that is not done, and yield what each did: grid by grid, `main` first.

    A grid that the study does not have is added, and the study keeps what the recipe says (`study_recipe.save_recipe`),
    unless its first stage fails. Each grid is run until people have to answer, unless the recipe has simulated people
    do it, until cells wait for an adjudicator, a service is to be asked (`generate` does that), or to the end of the
    road. Only to `loosen` does a recipe take back a limit or an opt-out that the study has.

    Raises:
        RecipeError: the study is not what the recipe says; nothing was done.
        RecipeEndError: the recipe has no section for the stage that comes next; what was done stands.
    """
    recipe_check.check_recipe(study, recipe, loosen=loosen)
    with study._store.read() as tx:
        existing_grids = {one.name: one for one in keys(tx)}
    for plan in recipe.grids:
        if plan.name not in existing_grids:
            yield grids.add_grid(study, plan)
    try:
        for n_done, run in enumerate(_run_all_grids(study, recipe, progress)):
            if not n_done:
                kept.save_recipe(study, recipe)  # now that something has come of it
            yield run
    except RecipeEndError:
        kept.save_recipe(study, recipe)
        raise
    kept.save_recipe(study, recipe)


def _run_all_grids(study: StudyContext, recipe: Recipe, progress: Progress | None) -> Iterator[RunRecord]:
    """The stages of all grids, which are there."""
    advise = partial(_missing_section_advice, recipe)
    if recipe.annotate and not _is_saved(study, recipe.annotate) and not recipe.has_main:
        yield assign.save_annotate_options(study, recipe.annotate)
    if recipe.has_main:
        with study._store.read() as tx:
            main = GridContext(study._store, find_grid(tx, MAIN))
        yield from _run_grid(main, partial(_next_main_step, main, recipe, progress), advise)
    for plan in recipe.grids:
        with study._store.read() as tx:
            grid = GridContext(study._store, find_grid(tx, plan.name))
        yield from _run_grid(grid, partial(_next_planned_step, grid, plan, recipe, progress), advise)


def _run_grid(
    grid: GridContext, next_step: Callable[[], Step | None], advise: Callable[[str], str]
) -> Iterator[RunRecord]:
    while step := next_step():
        section, perform, options = step
        if options is None:
            raise RecipeEndError(f"the recipe has no section [{section}], which comes next; {advise(section)}")
        yield perform(grid, options)


def _missing_section_advice(recipe: Recipe, section: str) -> str:
    """Advice where a recipe has no section for a stage; one that makes no pairs is for a study that has labels."""
    building_sections = (recipe.import_, recipe.select, recipe.retrieve, recipe.pair, recipe.assign)
    if section != Import.stage or any(building_sections):
        return "add it, or run the stage by hand"
    return (
        "add it, or run the stage by hand. A recipe that makes no pairs is for a study that has some: "
        "`fcpair labels import FILE --format fc-conan` brings those of a published partition, with their labels"
    )


def _next_main_step(grid: GridContext, recipe: Recipe, progress: Progress | None) -> Step | None:
    """The next stage: its section, how it is run, its options; None when people come next or nothing does."""
    state = status.status(grid)
    built, labels, verdicts = state["stages"], state["rounds"]["label"], state["rounds"]["validate"]
    steps: tuple[tuple[Any, Step | None], ...] = (
        (not built["pair"] and not built["import"], ("import", import_.import_corpus, recipe.import_)),
        (not built["pair"] and not built["select"], ("select", select.select, recipe.select)),
        (
            not built["pair"] and not built["retrieve"],
            ("retrieve", partial(retrieve.bring_in_candidates, progress=progress), recipe.retrieve),
        ),
        (not built["pair"], ("pair", pair.make_grid, recipe.pair)),
        (not built["assign"], ("assign", assign.assign, recipe.assign)),
        (
            recipe.annotate and not _is_saved(grid, recipe.annotate),
            ("annotate", assign.save_annotate_options, recipe.annotate),
        ),
        (labels["open"] and recipe.simulate, ("simulate", simulate.simulate, recipe.simulate)),
        (labels["open"], None),
        (not _has_adjudicated(grid), ("adjudicate", adjudicate.adjudicate, recipe.adjudicate)),
        (state["adjudications"]["waiting"] or state["adjudications"]["second_look"], None),
        (not sum(verdicts.values()), ("validate", validate.assign_validation, recipe.validate)),
        (verdicts["open"] and recipe.simulate, ("simulate", simulate.simulate, recipe.simulate)),
        (verdicts["open"], None),
        (
            not _is_saved(grid, recipe.agreement or Agree),
            ("agreement", agreement.note_agreement, recipe.agreement or Agree()),
        ),
        (
            not _is_saved(grid, recipe.partition or Partition),
            ("partition", partition.note_partition, recipe.partition or Partition()),
        ),
        (
            recipe.evaluate and not _is_saved(grid, recipe.evaluate),
            ("evaluate", partial(evaluate.note_evaluation, progress=progress), recipe.evaluate),
        ),
    )
    return next((step for is_due, step in steps if is_due), None)


def _next_planned_step(grid: GridContext, plan: GridPlan, recipe: Recipe, progress: Progress | None) -> Step | None:
    """The next stage of a planned grid, as `_next_main_step` has it."""
    with grid._store.read() as tx:
        if not cells.number_range(tx)[1]:
            return None if round_progress.sides_blocked_by(tx) else ("pair", grids.fill_grid, plan)
        for round_state in map(partial(round_progress.round_progress, tx), rounds.answer_rounds(tx)):
            if step := _next_round_step(tx, round_state, recipe, progress):
                return step
            if not round_state.dealt or round_state.counts["open"]:
                return _next_spot_check(tx, round_state.round)
        check_state = round_progress.round_progress(tx, rounds.validation(tx))
        waiting_pairs = has_saved_options(tx, Adjudicate) and (
            rule_decisions.waiting_cell_ids(tx) or rule_decisions.stale_decisions(tx)
        )
        steps: tuple[tuple[Any, Step | None], ...] = (
            (
                plan.adjudicate and not has_saved_options(tx, Adjudicate),
                ("adjudicate", adjudicate.adjudicate, plan.adjudicate),
            ),
            (waiting_pairs, None),
            (
                plan.validate and not check_state.dealt,
                ("validate", validate.assign_validation, plan.validate),
            ),
            (check_state.counts["open"] and recipe.simulate, ("simulate", simulate.simulate, recipe.simulate)),
            (check_state.counts["open"], None),
            (
                plan.agreement and not matches_saved_options(tx, plan.agreement),
                ("agreement", agreement.note_agreement, plan.agreement),
            ),
            (
                plan.partition and not matches_saved_options(tx, plan.partition),
                ("partition", partition.note_partition, plan.partition),
            ),
        )
        return next((step for is_due, step in steps if is_due), None)


def _next_round_step(
    tx: Tx, round_state: round_progress.RoundProgress, recipe: Recipe, progress: Progress | None
) -> Step | None:
    """Find the next step in a round: to assign it, or to have models or simulated people answer it."""
    if round_state.round.role is Role.MODEL:
        return (
            _next_model_step(tx, round_state, progress) if not round_state.dealt or round_state.counts["open"] else None
        )
    if _is_assignable(tx, round_state):
        return "grid.round", dealing.assign_round, round_state.round.name
    if round_state.counts["open"] and recipe.simulate:
        return "simulate", simulate.simulate, recipe.simulate
    return None


def _next_model_step(tx: Tx, round_state: round_progress.RoundProgress, progress: Progress | None) -> Step | None:
    """Models of a round are asked, or its examples found; None while its examples wait for people.

    None too where a service would be asked: that sends texts away and may cost something, so somebody says so first.
    """
    if round_state.round.options.examples and not example_review.examples_of_round(tx, round_state.round):
        find_examples = partial(examples.find_examples, progress=progress)
        return (
            None
            if round_progress.examples_blocked_by(tx, round_state.round)
            else ("grid.round", find_examples, round_state.round.name)
        )
    if example_review.blocking_message(tx, round_state.round) or generate.queries_a_service(round_state.round):
        return None
    return "grid.round", partial(generate.generate, progress=progress), round_state.round.name


def _is_assignable(tx: Tx, round_state: round_progress.RoundProgress) -> bool:
    """Whether a round can be dealt now, or more of it."""
    if not dealing.has_people(tx, round_state.round):
        return False
    return (
        spot_checks.is_due(tx, round_state.round)
        if round_state.round.options.per_batch
        else not round_state.dealt and not round_progress.is_pilot_unfinished(tx, round_state.round)
    )


def _next_spot_check(tx: Tx, open_round: Round) -> Step | None:
    """The deal of a spot check of batches that are done, while the round that it checks is still open."""
    for round_ in rounds.answer_rounds(tx):
        if (
            round_.options.per_batch
            and round_.options.rests_on == open_round.name
            and _is_assignable(tx, round_progress.round_progress(tx, round_))
        ):
            return "grid.round", dealing.assign_round, round_.name
    return None


def _has_adjudicated(grid: GridContext) -> bool:
    """Whether a policy has decided, or a published partition came with its decisions.

    What people decide one by one sets no policy.
    """
    with grid._store.read() as tx:
        return has_saved_options(tx, Adjudicate) or import_fc_conan.is_published_partition(tx)


def _is_saved(grid: StudyContext, options: Any) -> bool:
    """Whether these options are the study's own; of a class, whether the study has any of that kind."""
    with grid._store.read() as tx:
        return has_saved_options(tx, options) if isinstance(options, type) else matches_saved_options(tx, options)
