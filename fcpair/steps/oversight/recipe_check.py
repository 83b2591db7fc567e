"""Holding a recipe against what the study is, before anything is done by it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fcpair.errors import RecipeError
from fcpair.param_values import as_params
from fcpair.params import (
    MAIN,
    Adjudicate,
    Annotate,
    Assign,
    Import,
    Plan,
    Setup,
    defaults_of,
    format_of,
    result_params,
)
from fcpair.plans import GridPlan, RoundPlan
from fcpair.recipe import Recipe
from fcpair.records import Round
from fcpair.round_options import DESIGNED
from fcpair.stages.questions import Closed, OneOf
from fcpair.stages.questions.labels import read_labels
from fcpair.steps.base import text_digests
from fcpair.steps.base.context import PLAN, StudyContext, as_settings, is_file, is_planned, scheme_of
from fcpair.steps.base.departures import PEOPLE_PARAMS, is_same
from fcpair.steps.corpus.grids import side_setting
from fcpair.steps.people.terms import LIMITS, loosened_limits
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import keys, on_grid, side_names
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.store.people import people

NO_VALUE = "-"


class Difference(NamedTuple):
    """One parameter as the recipe has it, and as the study has it."""

    stage: str
    key: str
    recipe: str
    study: str


def check_recipe(study: StudyContext, recipe: Recipe, *, loosen: bool = False) -> None:
    """Raise RecipeError with a table of everything in which the study is not what the recipe says.

    What a section says of a stage that has not been done is no difference, nor is a section that is not there. The
    options of agreement, partition and evaluation may change, and limits may become tighter; looser only to `loosen`.
    """
    with study._store.read() as tx:
        n_built = build_progress.n_built(tx)
        stages = (recipe.import_, recipe.select, recipe.retrieve, recipe.pair, recipe.assign)
        built = [options for options in stages if options is not None and n_built[options.stage]]
        limits = []  # that the recipe would loosen, and the opt-out that it would end
        for key, limit, own in loosened_limits(tx, recipe.annotate) if recipe.annotate and not loosen else ():
            limit_text = _format_value(limit) if limit is not None or key not in LIMITS else "no limit"
            limits.append(Difference(Annotate.stage, key, limit_text, _format_value(own)))
        differences = [
            *_setup_differences(tx, recipe.setup),
            *(one for options in built for one in _stage_differences(tx, options)),
            *_planned_overlap(tx, recipe.assign),
            *limits,
            *_later_differences(tx, recipe),
            *_grid_differences(tx, recipe),
        ]
        if recipe.simulate and (n := judgements.n_by_people(tx)):
            differences.append(
                Difference("simulate", NO_VALUE, "simulated people answer", f"people have answered: {n:,}")
            )
        has_judgements = judgements.n_judgements(tx) > 0
    if differences:
        rows = [Difference._fields, *differences]
        widths = [max(len(row[index]) for row in rows) for index in range(len(Difference._fields) - 1)]
        lines = [
            f"{study._store.place} differs from the recipe; nothing was done",
            *["  " + "  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows],
        ]
        raise RecipeError("\n".join([*lines, *_remedies(recipe, differences, has_judgements=has_judgements)]))


def _setup_differences(tx: Tx, setup: Setup | None) -> Iterator[Difference]:
    if setup is None:
        return
    facts, main = runs.study_facts(tx), not is_planned(tx)
    for key in ("title", "hs_name", "cn_name") if main else ("title",):
        if getattr(setup, key) != facts[key]:
            yield Difference("study", key, _format_value(getattr(setup, key)), _format_value(facts[key]))
    if setup.folding != (own_folding := text_digests.folding(tx)):
        yield Difference("study", "folding", setup.folding, own_folding)
    try:
        body = setup.guidelines.read_text("utf-8") if setup.guidelines else None
    except (OSError, UnicodeDecodeError):
        body = None  # a file that is gone says nothing
    if body is not None and all(version["body"] != body for version in people.guideline_versions(tx)):
        yield Difference("study", "guidelines", f"the text of {setup.guidelines}", "another text, in every version")
    if main and (recipe_scheme := read_labels(setup.scheme)) != (own_scheme := scheme_of(tx)):
        yield Difference("study", "scheme", _format_choices(recipe_scheme), _format_choices(own_scheme))


def _planned_overlap(tx: Tx, assign: Assign | None) -> Iterator[Difference]:
    """Where `plan --save` has written an overlap for pairs that are still to be assigned, and the recipe has none."""
    if assign is None or assign.overlap or build_progress.n_built(tx)["assign"] or not runs.runs(tx, Plan.stage):
        return
    if saved_overlap := settings.of_stage(tx, settings.RECIPE + Assign.stage).get("overlap"):
        yield Difference(Plan.stage, "overlap", NO_VALUE, _format_value(saved_overlap))


def _grid_differences(tx: Tx, recipe: Recipe) -> Iterator[Difference]:
    """Where grids that the study has are not as the recipe plans them; one that it lacks is added."""
    grid_ids = {one.name: one.id for one in keys(tx)}
    if recipe.has_main and (MAIN not in grid_ids or is_planned(tx)):
        yield Difference("grid", MAIN, "made of a corpus", "planned" if MAIN in grid_ids else "no such grid")
    for plan in recipe.grids:
        if plan.name in grid_ids:
            with on_grid(tx, grid_ids[plan.name]):
                yield from _plan_differences(tx, plan)


def _plan_differences(tx: Tx, plan: GridPlan) -> Iterator[Difference]:
    place, saved_plan = f"grid {plan.name}", settings.of_stage(tx, PLAN)
    if not saved_plan:
        yield Difference(place, NO_VALUE, "planned", "made of a corpus")
        return
    for key, saved_name in zip(("row_name", "column_name"), side_names(tx), strict=True):
        if (planned_name := getattr(plan, key)) != saved_name:
            yield Difference(place, key, planned_name, saved_name)
    for key in ("rows", "columns"):
        side, saved_side = getattr(plan, key), {"sources": [], **saved_plan[key]}
        if not is_same(saved_side, side_setting(side)):
            yield Difference(place, key, _format_side(as_params(side)), _format_side(saved_side))
    rounds_by_name = {round_.name: round_ for round_ in rounds.answer_rounds(tx)}
    if (planned_names := [round_.name for round_ in plan.rounds]) != list(rounds_by_name):
        yield Difference(place, "rounds", ", ".join(planned_names), ", ".join(rounds_by_name))
        return
    for round_ in plan.rounds:
        yield from _round_differences(place, round_, rounds_by_name[round_.name], counts=round_ is plan.counting)
    if (plans_validation := bool(plan.validate)) != (has_validation := bool(rounds.validation(tx).ids)):
        yield Difference(place, "validate", _format_value(plans_validation), _format_value(has_validation))
    yield from _later_differences(tx, plan)


def _round_differences(place: str, plan: RoundPlan, round_: Round, *, counts: bool) -> Iterator[Difference]:
    designed = {name: as_params(plan)[name] for name in DESIGNED}
    planned_options = {"role": plan.answered_by, "form": plan.form, "counts": counts, **designed}
    saved_options = {"role": round_.role.value, "form": round_.form, "counts": round_.counts}
    saved_options |= round_.options.as_json()
    for key, planned_value in planned_options.items():
        if planned_value != saved_options[key]:
            shown_texts = _format_value(planned_value), _format_value(saved_options[key])
            if key == "prompt" and plan.prompt_file:
                shown_texts = f"the text of {plan.prompt_file}", "another text"
            yield Difference(f"{place}, round {plan.name}", key, *shown_texts)


def _format_side(side: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {_format_value(value)}" for key, value in side.items() if value)


def _later_differences(tx: Tx, sections: Recipe | GridPlan) -> Iterator[Difference]:
    """Those of the stages that a recipe has for `main`, and a plan for its grid."""
    for options in (sections.calibration, sections.adjudicate, sections.validate):
        yield from _stage_differences(tx, options)


def _stage_differences(tx: Tx, options: Any) -> Iterator[Difference]:
    """Where the options are not those with which their stage was done, if it was."""
    if options is None or not (saved_settings := settings.of_stage(tx, options.stage)):
        return
    values, shown_values, defaults = as_settings(options), as_params(options), defaults_of(options)
    for key in result_params(options):
        value, shown, saved = values[key], shown_values[key], saved_settings.get(key, defaults[key])
        if isinstance(options, Import) and key == "reader":
            value, shown, saved = (one or format_of(options.path) for one in (value, shown, saved))
        if is_same(saved, value) or (key in PEOPLE_PARAMS and value is None):
            continue
        if is_file(getattr(options, key)) and isinstance(value, list) and len(value) == len(saved or ()):
            files = zip(value, shown, saved, strict=True)
            value, shown, saved = next(file for file in files if not is_same(file[2], file[0]))
        is_in_place = isinstance(value, dict) and isinstance(saved, dict) and value.get("path", "") == saved.get("path")
        study_text = "that file with different content" if is_in_place else _format_value(saved)
        yield Difference(options.stage, key, _format_value(shown), study_text)


def _format_value(value: Any) -> str:
    if value is None or value in ("", [], {}):
        return NO_VALUE
    if isinstance(value, dict) and "path" in value:
        return str(value["path"])
    if isinstance(value, dict):
        return ", ".join(f"{key}: {_format_value(item)}" for key, item in value.items())
    if isinstance(value, list):
        return ", ".join(map(_format_value, value))
    return {True: "true", False: "false"}[value] if isinstance(value, bool) else str(value)


def _format_choices(question: Closed) -> str:
    if not isinstance(question, OneOf) or question.distance != "nominal":
        return str(question)
    return ", ".join(
        f"{one.code} {one.name}{' (not definite)' * (not one.definite)}{' (positive)' * one.positive}"
        for one in question
    )


def _remedies(recipe: Recipe, differences: list[Difference], *, has_judgements: bool) -> Iterator[str]:
    """Yield the remedies for each kind of difference, a line each."""
    yield "Make the recipe match the study, or make another study from it: `fcpair run RECIPE --study OTHER`."
    yield "`fcpair recipe` prints the recipe that matches the study."
    stages = {difference.stage for difference in differences}
    first = next((name for name in build_progress.BUILDING if name in stages), "")
    if first and not has_judgements:
        yield f"`fcpair {first} --redo` repeats that stage and everything built on it."
    if recipe.adjudicate and Adjudicate.stage in stages:
        policy = recipe.adjudicate
        yield f"`fcpair adjudicate --policy {policy.policy} --ties {policy.ties}` applies the recipe's policy."
    if any(difference.key == "guidelines" for difference in differences):
        yield "The lead's page changes the guidelines of a study."
    if Plan.stage in stages:
        yield "`fcpair plan --save` has written the overlap; give it under `[assign]`, or another that you want."
    if "annotate" in stages:
        yield "`--loosen` applies the recipe's looser limits."
