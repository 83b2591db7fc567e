"""Running a recipe: every stage that is not done yet, until people have to act or everything is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from typing import Any

from fcpair.errors import RecipeEndError
from fcpair.models.encode import Progress
from fcpair.params import MAIN, Adjudicate, Agree, Import, Partition
from fcpair.plans import GridPlan
from fcpair.recipe import Recipe
from fcpair.records import RunRecord
from fcpair.report.methods import grid_of
from fcpair.steps import building, grids
from fcpair.steps.adjudication import adjudicate, agreement
from fcpair.steps.answers import examples, import_fc_conan, practice, simulate
from fcpair.steps.assignment import assign, calibration, further, validate
from fcpair.steps.assignment import rounds as dealing
from fcpair.steps.base.calibration_state import load_calibration
from fcpair.steps.base.context import GridContext, StudyContext, effective_options, find_grid, has_saved_options
from fcpair.steps.base.keywords import matches_saved_options
from fcpair.steps.extension import extend, load_extensions
from fcpair.steps.oversight import study_recipe
from fcpair.steps.oversight.next_steps import CALIBRATING, Act, NextStep, next_steps
from fcpair.steps.people import known_pairs
from fcpair.steps.people.people import save_terms
from fcpair.steps.release import evaluate, partition
from fcpair.steps.rules import wording
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import keys
from fcpair.store.oversight import runs
from fcpair.store.oversight.build_progress import BUILDING

Stage = tuple[str, Callable[[GridContext, Any], RunRecord], Any]


def run_recipe(
    study: StudyContext, recipe: Recipe, *, progress: Progress | None = None, loosen: bool = False
) -> Iterator[RunRecord]:
    """Run the stages of `recipe` from the first that is not done, and yield what each did: grid by grid, `main` first.

    A grid that the study does not have is added, and the study keeps what the recipe says, unless its first stage
    fails. Each grid is run until people have to answer or decide (unless they are simulated), or a service is to be
    asked. Only to `loosen` does a recipe take back a limit or an opt-out that the study has.

    Raises:
        RecipeError: the study is not what the recipe says; nothing was done.
        RecipeEndError: the recipe has no section for the stage that comes next; what was done stands.
    """
    study_recipe.check_recipe(study, recipe, loosen=loosen)
    with study._store.read() as tx:
        existing_grids = {key.name: key for key in keys(tx)}
    for plan in recipe.grids:
        if plan.name not in existing_grids:
            yield grids.add_grid(study, plan)
    try:
        for n_done, run in enumerate(_run_all_grids(study, recipe, progress)):
            if not n_done:
                study_recipe.save_recipe(study, recipe)  # now that something has come of it
            yield run
    except RecipeEndError:
        study_recipe.save_recipe(study, recipe)
        raise
    study_recipe.save_recipe(study, recipe)


def _run_all_grids(study: StudyContext, recipe: Recipe, progress: Progress | None) -> Iterator[RunRecord]:
    if not recipe.has_main:
        with study._store.read() as tx:
            changed_options = list(_changed_study_options(tx, recipe))
            first_grid = GridContext(study._store, keys(tx)[0])
        for _, save, options in changed_options:
            yield save(first_grid, options)
    for plan in [*([None] if recipe.has_main else []), *recipe.grids]:
        with study._store.read() as tx:
            grid = GridContext(study._store, find_grid(tx, plan.name if plan else MAIN))
        is_begun = False
        while stages := _next_stages(grid, plan, recipe, progress) or _extension(grid, plan, recipe, is_begun):
            is_begun = True
            for section, perform, options in stages:
                if options is None:
                    advice = "add it, or run the stage by hand"
                    if section == Import.stage and not any(
                        (recipe.select, recipe.retrieve, recipe.pair, recipe.assign)
                    ):
                        advice += (
                            ". A recipe that makes no pairs is for a study that has some: `fcpair labels import FILE "
                            "--reader fc-conan` imports those of a published partition, with their labels"
                        )
                    raise RecipeEndError(f"the recipe has no section [{section}], which comes next; {advice}")
                yield perform(grid, options)


def _extension(grid: GridContext, plan: GridPlan | None, recipe: Recipe, is_begun: bool) -> Sequence[Stage]:
    """The next extension of `main`, where all else is done; not in a run that has begun with something else, so that
    what is there can be released first.
    """
    with grid._store.read() as tx:
        n_done = len(load_extensions(tx)) if not (plan or is_begun) else len(recipe.extend)
        is_due = n_done < len(recipe.extend) and not any(step.blocks for step in next_steps(tx))
    return [("extend", extend, recipe.extend[n_done])] if is_due else []


def _next_stages(
    grid: GridContext, plan: GridPlan | None, recipe: Recipe, progress: Progress | None
) -> Sequence[Stage]:
    """The next stages of a grid, none of which changes what else is next; none where people come next, or nothing."""
    with grid._store.read() as tx:
        steps = next_steps(tx)
        is_built = all(step.act not in BUILDING for step in steps)
        if is_built and not plan and (changed_options := [*_changed_study_options(tx, recipe)]):
            return changed_options
        if is_built and not plan and recipe.further and not matches_saved_options(tx, recipe.further):
            return [("further", further.save_further, recipe.further)]
        sections, grid_name = plan or recipe, plan.name if plan else MAIN
        known_stages: tuple[Stage, ...] = (
            ("qualification", known_pairs.save_qualification, sections.qualification),
            ("controls", known_pairs.save_controls, sections.controls),
        )
        for step in steps:
            # known pairs are set before the round that counts is assigned or calibrated
            is_before_work = step.act in (Act.ASSIGN, Act.START_CALIBRATION)
            if is_before_work and (not step.progress or step.progress.round.counts):
                stages = [stage for stage in known_stages if stage[2] and not matches_saved_options(tx, stage[2])]
                if stages:
                    return stages
            if stage := _stage_of(tx, step, plan, recipe, progress):
                return [stage]
            if step.blocks:  # batches that are done are checked while their round is open
                open_round = step.progress.round.name if step.progress else None
                checks = (_stage_of(tx, later, plan, recipe, progress) for later in steps if later.checks == open_round)
                return [*islice(filter(None, checks), 1)]
        agree, rules = (  # what the recipe of `main` omits is as it was set
            options or (None if plan else effective_options(tx, cls, {}))
            for options, cls in ((sections.agreement, Agree), (sections.partition, Partition))
        )
        every_stage: tuple[Stage, ...] = (
            ("agreement", agreement.note_agreement, agree),
            ("partition", partition.note_partition, rules),
            ("evaluate", partial(evaluate.note_evaluation, progress=progress), None if plan else recipe.evaluate),
        )
        return [
            stage
            for stage in every_stage
            if stage[2] and (not matches_saved_options(tx, stage[2]) or _is_outdated(tx, stage[0], grid_name))
        ]


def _changed_study_options(tx: Tx, recipe: Recipe) -> Iterator[Stage]:
    """Yield what a recipe says of the pages of people who answer, where the study has it otherwise."""
    if recipe.annotate and not matches_saved_options(tx, recipe.annotate):
        # `check_recipe` has refused looser limits that nobody meant.
        yield "annotate", partial(save_terms, loosen=True), recipe.annotate
    if recipe.words and not matches_saved_options(tx, recipe.words):
        yield "words", wording.save_words, recipe.words
    if recipe.practice and not practice.is_saved(tx, recipe.practice):
        yield "practice", practice.save_practice, recipe.practice


def _stage_of(tx: Tx, step: NextStep, plan: GridPlan | None, recipe: Recipe, progress: Progress | None) -> Stage | None:
    """The stage by which a recipe takes a step; None where people take it, or the plan has no section for it."""
    sections = plan or recipe
    if step.act in (Act.ANSWER, Act.VALIDATE):
        can_simulate = recipe.simulate and any(simulate.has_open_work(tx, round_) for round_ in rounds.of_grid(tx))
        return ("simulate", simulate.simulate, recipe.simulate) if can_simulate else None
    # People calibrate themselves before a round is assigned, by a recipe that the study may not keep yet.
    options, is_first = sections.calibration, False
    if step.act is Act.ASSIGN and options and not load_calibration(tx):
        is_first = step.round == (options.round or rounds.primary(tx).name)
    if step.act in CALIBRATING or is_first:
        return _calibration_stage(tx, step, plan, recipe)
    # What people decide one by one sets no policy.
    if (
        step.act in (Act.DECIDE, Act.APPLY_POLICY, Act.LOOK_AGAIN)
        and (not plan or plan.adjudicate)
        and not (has_saved_options(tx, Adjudicate) or import_fc_conan.is_published_partition(tx))
    ):
        return "adjudicate", adjudicate.adjudicate, sections.adjudicate
    if step.act is Act.ASSIGN_VALIDATION and (not plan or plan.validate):
        return "validate", validate.assign_validation, sections.validate
    if step.act is Act.ASSIGN_MORE_VALIDATION and sections.validate:
        of_more = replace(sections.validate, validators=None, pairs=None)  # which say how the others were assigned
        return "validate", partial(validate.assign_validation, more=True), of_more
    building_stages: dict[Act, Stage] = {
        Act.IMPORT: ("import", building.import_corpus, recipe.import_),
        Act.SELECT: ("select", building.select, recipe.select),
        Act.RETRIEVE: ("retrieve", partial(building.bring_in_candidates, progress=progress), recipe.retrieve),
        Act.PAIR: ("pair", building.make_grid, recipe.pair),
        Act.ASSIGN: ("assign", partial(assign.assign, progress=progress), recipe.assign),
    }
    return _planned_stage(tx, step, plan, progress) if plan else building_stages.get(step.act)


def _calibration_stage(tx: Tx, step: NextStep, plan: GridPlan | None, recipe: Recipe) -> Stage | None:
    """The stage of a calibration that a recipe takes; None where it has none, or its people are yet to come."""
    options, perform = (plan or recipe).calibration, calibration.start_calibration
    if options is None:
        return None
    if step.act is Act.DISCUSS:
        return "calibration", lambda grid, _: calibration.open_discussion(grid), options
    if step.act is Act.CLOSE_CALIBRATION:
        return "calibration", lambda grid, _: calibration.close_calibration(grid), options
    if plan:
        has_people = step.progress is not None and dealing.has_people(tx, step.progress.round)
        return ("calibration", perform, options) if has_people else None
    annotators = recipe.assign.annotators if recipe.assign else None
    return "calibration", partial(perform, annotators=annotators), options


def _planned_stage(tx: Tx, step: NextStep, plan: GridPlan, progress: Progress | None) -> Stage | None:
    """The stage that a planned grid has of its own: it is filled, its rounds are assigned, or models answer them."""
    if step.act is Act.PAIR:
        return "pair", grids.fill_grid, plan
    if not step.progress:
        return None
    round_ = step.progress.round
    if step.act is Act.ASSIGN and dealing.has_people(tx, round_):
        return "grid.round", dealing.assign_round, round_.name
    if step.act is Act.FIND_EXAMPLES:
        return "grid.round", partial(examples.find_examples, progress=progress), round_.name
    if step.act is Act.ASK_MODELS:
        from fcpair.steps.answers import generate  # with the client of every model, of which most recipes name none

        if not generate.queries_a_service(round_):  # which takes texts away and may cost money: somebody says so first
            return "grid.round", partial(generate.generate, progress=progress), round_.name
    return None


def _is_outdated(tx: Tx, stage: str, grid: str) -> bool:
    """Return whether figures of the grid were noted, and there are answers or decisions that they do not rest on."""
    # A run that set options, or wrote a tier, noted none.
    noted = [run for run in runs.runs(tx, stage) if grid_of(run) == grid and run.counts and "tier" not in run.params]
    if not noted:
        return False
    is_agreement = stage == "agreement"  # which rests on answers alone, and not on those of a round that checks
    meant = [round_ for round_ in rounds.of_grid(tx) if not (is_agreement and round_.checks is not None)]
    return runs.is_answered_since(tx, noted[-1], meant) or (not is_agreement and runs.is_decided_since(tx, noted[-1]))
