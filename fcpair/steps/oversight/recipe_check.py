"""Holding a recipe against what the study is, before anything is done by it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

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
    Simulate,
    defaults_of,
    format_of,
    result_params,
)
from fcpair.plans import GridPlan, RoundPlan, SidePlan, Source
from fcpair.recipe import Recipe
from fcpair.records import Round
from fcpair.round_options import DESIGNED
from fcpair.stages.questions import Closed, OneOf
from fcpair.stages.questions.labels import read_labels
from fcpair.steps.base import text_digests
from fcpair.steps.base.context import PLAN, StudyContext, is_file, is_planned, scheme_of
from fcpair.steps.base.departures import PEOPLE_PARAMS
from fcpair.steps.corpus.grids import SOURCE_FILES
from fcpair.steps.people.reading_limits import LIMITS, loosened_limits
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus.grids import keys, on_grid, side_names
from fcpair.store.oversight import build_progress, runs, settings
from fcpair.store.people import guidelines

HEAD = ("stage", "key", "recipe", "study")
NO_VALUE = "-"


@dataclass(frozen=True)
class Difference:
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
        differences = [
            *_setup_differences(tx, recipe.setup),
            *_building_differences(tx, recipe),
            *_planned_overlap(tx, recipe.assign),
            *(() if loosen else _limit_differences(tx, recipe.annotate)),
            *_simulate_differences(tx, recipe.simulate),
            *_stage_differences(tx, recipe.calibration),
            *_stage_differences(tx, recipe.adjudicate),
            *_stage_differences(tx, recipe.validate),
            *_grid_differences(tx, recipe),
        ]
        has_judgements = judgements.n_judgements(tx) > 0
    if differences:
        lines = [f"{study._store.place} differs from the recipe; nothing was done", *_format_table(differences)]
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
    if setup.guidelines is not None and not _is_a_version(tx, setup.guidelines):
        yield Difference("study", "guidelines", f"the text of {setup.guidelines}", "another text, in every version")
    if main and (recipe_scheme := read_labels(setup.scheme)) != (own_scheme := scheme_of(tx)):
        yield Difference("study", "scheme", _format_choices(recipe_scheme), _format_choices(own_scheme))


def _planned_overlap(tx: Tx, assign: Assign | None) -> Iterator[Difference]:
    """Where `plan --save` has written an overlap for pairs that are still to be assigned, and the recipe has none."""
    if assign is None or assign.overlap or build_progress.n_built(tx)["assign"] or not runs.runs(tx, Plan.stage):
        return
    if saved_overlap := settings.of_stage(tx, settings.RECIPE + Assign.stage).get("overlap"):
        yield Difference(Plan.stage, "overlap", NO_VALUE, _format_value(saved_overlap))


def _is_a_version(tx: Tx, path: Path) -> bool:
    """Whether the study ever had the guidelines of a file; one that is gone says nothing."""
    try:
        body = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return True
    return any(version["body"] == body for version in guidelines.versions(tx))


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
    row_name, column_name = side_names(tx)
    for key, saved_name in {"row_name": row_name, "column_name": column_name}.items():
        if (planned_name := getattr(plan, key)) != saved_name:
            yield Difference(place, key, planned_name, saved_name)
    for key in ("rows", "columns"):
        if not _is_same_side(side := getattr(plan, key), saved_plan[key]):
            yield Difference(place, key, _format_side(as_params(side)), _format_side(saved_plan[key]))
    rounds_by_name = {round_.name: round_ for round_ in rounds.answer_rounds(tx)}
    if (planned_names := [round_.name for round_ in plan.rounds]) != list(rounds_by_name):
        yield Difference(place, "rounds", ", ".join(planned_names), ", ".join(rounds_by_name))
        return
    for round_ in plan.rounds:
        yield from _round_differences(place, round_, rounds_by_name[round_.name], counts=round_ is plan.counting)
    if (plans_validation := bool(plan.validate)) != (has_validation := bool(rounds.validation(tx).ids)):
        yield Difference(place, "validate", _format_value(plans_validation), _format_value(has_validation))
    yield from _stage_differences(tx, plan.calibration)
    yield from _stage_differences(tx, plan.adjudicate)
    yield from _stage_differences(tx, plan.validate)


def _is_same_side(side: SidePlan, saved_side: Mapping[str, Any]) -> bool:
    if any(saved_side[name] != value for name, value in as_params(side).items() if name not in ("file", "sources")):
        return False
    saved_sources = saved_side.get("sources", [])
    if len(saved_sources) != len(side.sources) or not all(map(_is_same_source, side.sources, saved_sources)):
        return False
    return (
        _is_same_file(side.file, saved_side["file"])
        if side.file and saved_side["file"]
        else not (side.file or saved_side["file"])
    )


def _is_same_source(source: Source, saved_source: Mapping[str, Any]) -> bool:
    files = {name: path for name in SOURCE_FILES if (path := getattr(source, name))}
    values = {name: value for name, value in as_params(source).items() if name not in files}
    is_same = all(_is_same_file(path, saved_source[name]) for name, path in files.items() if saved_source[name])
    return (
        is_same
        and all(saved_source[name] for name in files)
        and all(saved_source[name] == value for name, value in values.items())
    )


def _round_differences(place: str, plan: RoundPlan, round_: Round, *, counts: bool) -> Iterator[Difference]:
    designed = {name: as_params(plan)[name] for name in DESIGNED}
    planned_options = {"role": plan.answered_by, "form": plan.form, "counts": counts, **designed}
    saved_options = {
        "role": round_.role.value,
        "form": round_.form,
        "counts": round_.counts,
        **round_.options.as_json(),
    }
    for key, planned_value in planned_options.items():
        if planned_value != saved_options[key]:
            shown_texts = (
                (f"the text of {plan.prompt_file}", "another text") if key == "prompt" and plan.prompt_file else None
            )
            yield Difference(
                f"{place}, round {plan.name}",
                key,
                *(shown_texts or (_format_value(planned_value), _format_value(saved_options[key]))),
            )


def _format_side(side: Mapping[str, Any]) -> str:
    return ", ".join(f"{key}: {_format_value(value)}" for key, value in side.items() if value)


def _building_differences(tx: Tx, recipe: Recipe) -> Iterator[Difference]:
    n_built = build_progress.n_built(tx)
    for options in (recipe.import_, recipe.select, recipe.retrieve, recipe.pair, recipe.assign):
        if options is not None and n_built[options.stage]:
            yield from _stage_differences(tx, options)


def _stage_differences(tx: Tx, options: Any) -> Iterator[Difference]:
    """Where the options are not those with which their stage was done, if it was."""
    if options is None or not (saved_settings := settings.of_stage(tx, options.stage)):
        return
    values, defaults = as_params(options), defaults_of(options)
    for key in result_params(options):
        recipe_value = values[key]
        saved_value = saved_settings.get(key, defaults[key])
        option = getattr(options, key)
        if isinstance(options, Import) and key == "format":
            recipe_value, saved_value = (value or format_of(options.path) for value in (recipe_value, saved_value))
        if key in PEOPLE_PARAMS and recipe_value is None:
            continue
        if is_file(option) and saved_value:
            if different_files := _different_files(option, saved_value):
                yield Difference(options.stage, key, *different_files)
        elif recipe_value != saved_value:
            yield Difference(options.stage, key, _format_value(recipe_value), _format_value(saved_value))


def _different_files(option: Path | tuple[Path, ...], saved_option: Any) -> tuple[str, str] | None:
    """The files of a parameter, and those that the study was made with, where they are not the same; else None."""
    files, saved_files = ([option], [saved_option]) if isinstance(option, Path) else (list(option), saved_option)
    if len(files) != len(saved_files):
        return _format_value(list(map(str, files))), _format_value(saved_files)
    different_files = [
        (path, saved_file)
        for path, saved_file in zip(files, saved_files, strict=True)
        if not _is_same_file(path, saved_file)
    ]
    return _file_texts(*different_files[0]) if different_files else None


def _is_same_file(path: Path, saved_file: Mapping[str, str]) -> bool:
    """Whether a file holds what was read once. Where it is gone, or nobody noted what it held, its name must do."""
    if "sha256" in saved_file and path.is_file():
        return hashlib.sha256(path.read_bytes()).hexdigest() == saved_file["sha256"]
    return path.name == Path(saved_file["path"]).name


def _file_texts(path: Path, saved_file: Mapping[str, str]) -> tuple[str, str]:
    """The two files by their places; where that is the same place, by what was in it."""
    if str(path.absolute()) != saved_file["path"]:
        return str(path), saved_file["path"]
    return str(path), "that file with different content"


def _limit_differences(tx: Tx, options: Annotate | None) -> Iterator[Difference]:
    """The limits that the recipe would loosen, and the opt-out that it would end."""
    for key, recipe_limit, own_limit in loosened_limits(tx, options) if options else ():
        no_limit = "no limit" if key in LIMITS else NO_VALUE
        yield Difference(
            Annotate.stage,
            key,
            no_limit if recipe_limit is None else _format_value(recipe_limit),
            _format_value(own_limit),
        )


def _simulate_differences(tx: Tx, options: Simulate | None) -> Iterator[Difference]:
    if options is not None and (n := judgements.n_by_people(tx)):
        yield Difference("simulate", NO_VALUE, "simulated people answer", f"people have answered: {n:,}")


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


def _format_table(differences: list[Difference]) -> list[str]:
    rows = [
        HEAD,
        *((difference.stage, difference.key, difference.recipe, difference.study) for difference in differences),
    ]
    widths = [max(len(row[index]) for row in rows) for index in range(len(HEAD) - 1)]
    return ["  " + "  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows]


def _remedies(recipe: Recipe, differences: list[Difference], *, has_judgements: bool) -> Iterator[str]:
    """Yield the remedies for each kind of difference, a line each."""
    yield "Make the recipe match the study, or make another study from it: `fcpair run RECIPE --study OTHER`."
    yield "`fcpair recipe` prints the recipe that matches the study."
    stages = {difference.stage for difference in differences}
    building_stages = [name for name in build_progress.BUILDING if name in stages]
    if building_stages and not has_judgements:
        yield f"`fcpair {building_stages[0]} --redo` repeats that stage and everything built on it."
    if recipe.adjudicate and Adjudicate.stage in stages:
        policy = recipe.adjudicate
        yield f"`fcpair adjudicate --policy {policy.policy} --ties {policy.ties}` applies the recipe's policy."
    if any(difference.key == "guidelines" for difference in differences):
        yield "The lead's page changes the guidelines of a study."
    if Plan.stage in stages:
        yield "`fcpair plan --save` has written the overlap; give it under `[assign]`, or another that you want."
    if "annotate" in stages:
        yield "`--loosen` applies the recipe's looser limits."
