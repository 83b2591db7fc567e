"""The recipe that a study keeps, what it has come to since, and whether another recipe says what the study is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any, NamedTuple, get_type_hints

from fcpair import params
from fcpair.errors import RecipeError
from fcpair.param_values import IN_MEMORY, as_params, plain_type
from fcpair.plans import GridPlan, RoundPlan
from fcpair.recipe import Recipe, as_toml
from fcpair.records import GridKey, Role
from fcpair.round_options import DESIGNED
from fcpair.stages.questions import Closed, OneOf
from fcpair.stages.questions.labels import read_labels
from fcpair.steps.answers.import_fc_conan import FORMAT
from fcpair.steps.base import context, departures, text_digests
from fcpair.steps.base.answer_values import current_form
from fcpair.steps.base.context import StudyContext
from fcpair.steps.base.keywords import OF_PLAN, OF_STUDY, plan_sections
from fcpair.steps.extension import load_extensions
from fcpair.steps.grids import side_from_setting, side_setting
from fcpair.steps.people.people import LIMITS, loosened_limits
from fcpair.steps.rules import tallies
from fcpair.store import Tx, people
from fcpair.store.answers import judgements
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import build_progress, runs, settings

# The sections of a recipe that are stages of the grid `main`, or about the whole study.
SECTIONS = tuple(item.name for item in fields(Recipe) if item.name not in ("setup", "extend", "grids"))
STUDY_SECTIONS = ("annotate", "words", "practice", "simulate")  # of a study whose grids are planned
NO_RECIPE_NOTE = "# No recipe has been run in this study; this one is derived from its settings."
IMPORTED_NOTE = "# The pairs and their labels were imported from {}: `fcpair labels import FILE --reader fc-conan`."
FRAME_NOTE = "# The corpus was imported from a data frame; write it to a file, and name that as `path` of [import]."
EXTRA_LABELS_NOTE = "`fcpair assign --more --pairs-file FILE`, which asked for one label more of"
REQUESTS_NOTE = "`fcpair adjudicate --request FILE`, which had a person decide"
LONGEST_LIST = 600  # characters of a list of pairs


def save_recipe(study: StudyContext, recipe: Recipe) -> None:
    """Let the study keep what a recipe says, whatever of it has been done; a new version, if it says anything new."""
    with study._store.read() as tx:
        if departures.recipe_version(tx) and not list(_new_sections(tx, recipe)):
            return
    with study._store.write() as tx:
        new_sections = list(_new_sections(tx, recipe))
        run = context.note_run(tx, "recipe", {}, {"version": departures.recipe_version(tx) + 1})
        departures.add_recipe_version(tx, run.id, begins=True)
        for grid_id, stage, values in new_sections:
            with grids.on_grid(tx, grid_id):
                settings.save_settings(tx, settings.RECIPE + stage, values, run.id)


def _new_sections(tx: Tx, recipe: Recipe) -> Iterator[tuple[int, str, dict[str, Any]]]:
    grid_ids = {key.name: key.id for key in grids.keys(tx)}
    first_grid_id, sections = next(iter(grid_ids.values())), list[tuple[int, str, dict[str, Any]]]()
    if recipe.setup and recipe.setup.guidelines:
        guidelines = context.as_settings(recipe.setup)["guidelines"]
        sections.append((first_grid_id, params.Setup.stage, {"guidelines": guidelines}))
    for name in SECTIONS:
        if options := getattr(recipe, name):
            grid_id = first_grid_id if isinstance(options, OF_STUDY) else grid_ids[params.MAIN]
            sections.append((grid_id, options.stage, context.as_settings(options)))
    for plan in recipe.grids:
        sections += [(grid_ids[plan.name], stage, values) for stage, values in plan_sections(plan)]
    for grid_id, stage, values in sections:
        with grids.on_grid(tx, grid_id):
            saved = settings.with_recipe(tx, stage)
        new = {name: it for name, it in values.items() if name not in saved or not departures.is_same(saved[name], it)}
        if new:
            yield grid_id, stage, new


def recipe(study: StudyContext) -> Recipe:
    """The recipe that the study has come to, or what its settings amount to; SettingError for an unusable one."""
    with study._store.read() as tx:
        return _recipe(tx)


def recipe_text(study: StudyContext) -> str:
    """The recipe that the study has come to, as TOML, which can be walked; comments say what it cannot hold."""
    with study._store.read() as tx:
        return recipe_text_of(tx)


def recipe_text_of(
    tx: Tx, pseudonyms: Mapping[str, str] = MappingProxyType({}), line_numbers: Mapping[int, int] = MappingProxyType({})
) -> str:
    """The recipe as `recipe_text` has it, with `pseudonyms`, in whose order groups are, and other numbers for runs."""
    recipe = _recipe(tx)
    if recipe.assign and pseudonyms:
        groups = (
            sorted((pseudonyms.get(name, name), name) for name in group) for group in recipe.assign.annotator_groups
        )
        in_order = tuple(tuple(name for _, name in group) for group in sorted(groups))
        recipe = replace(recipe, assign=replace(recipe.assign, annotator_groups=in_order))
    return "\n".join([*_remarks(tx, line_numbers), "", as_toml(recipe)])


def _remarks(tx: Tx, line_numbers: Mapping[int, int]) -> Iterator[str]:
    version = departures.recipe_version(tx)
    yield f"# The recipe of this study, version {version}." if version else NO_RECIPE_NOTE
    with grids.on_first_grid(tx):
        if file := _published_labels_file(tx):
            yield IMPORTED_NOTE.format(file)
        if settings.of_stage(tx, params.Import.stage).get("path") == {"path": str(IN_MEMORY)}:
            yield FRAME_NOTE
        path = context.effective_options(tx, params.Setup, {}).guidelines
    for run in runs.runs(tx):  # what was done with single pairs, which a recipe cannot say, oldest first
        for stage, name, note in (
            (params.Assign.stage, "pairs", EXTRA_LABELS_NOTE),
            (params.Adjudicate.stage, "request", REQUESTS_NOTE),
        ):
            if run.stage == stage and (pairs := run.params.get(name)):
                listed = pairs if len(pairs) <= LONGEST_LIST else "that `fcpair log --format json` lists"
                number = line_numbers.get(run.id, run.id)
                remark = f"# A recipe does not hold {note} the pairs {listed} (run {number})."
                yield textwrap.fill(remark, 116, subsequent_indent="# ")
    for key in grids.for_each_grid(tx):  # the scheme is that of now
        for change in tallies.relabelling_notes(tx):
            yield textwrap.fill(f"# Grid {key.name}: {change}.", 116, subsequent_indent="# ")
    guidelines_version, body = people.current_guidelines(tx)
    if body and (path is None or not path.is_file() or path.read_text("utf-8", "replace") != body):
        why = f"{path} differs" if path else "no file is known to contain them"
        yield f"# The guidelines are version {guidelines_version}, which the study keeps; {why}."


def _published_labels_file(tx: Tx) -> str | None:
    """The file of published labels that the grid was made of; None where it was not."""
    import_settings = settings.of_stage(tx, params.Import.stage)
    return str(import_settings["path"]["path"]) if import_settings.get("reader") == FORMAT else None


def _recipe(tx: Tx) -> Recipe:
    hints, sections = get_type_hints(Recipe), dict[str, Any]()
    with grids.on_first_grid(tx):
        planned = context.is_planned(tx)
        setup = replace(context.effective_options(tx, params.Setup, {}), title=runs.study_facts(tx)["title"])
        if not planned:  # of a planned one, its plan has them
            hs_name, cn_name = grids.side_names(tx)
            setup = replace(setup, hs_name=hs_name, cn_name=cn_name, scheme=str(context.scheme_of(tx).current))
        for name in SECTIONS:
            cls, is_of_study = plain_type(hints[name]), name in STUDY_SECTIONS
            is_taken_over = cls is params.Import and _published_labels_file(tx)  # texts that came with their labels
            if (is_of_study or not planned) and settings.with_recipe(tx, cls.stage) and not is_taken_over:
                sections[name] = context.effective_options(tx, cls, {})
        extensions = tuple(context.build_options(params.Extend, of, {}) for of in load_extensions(tx))
    plans = tuple(_grid_plan(tx, key) for key in grids.for_each_grid(tx) if context.is_planned(tx))
    return Recipe(setup=setup, **sections, extend=extensions, grids=plans)


def _grid_plan(tx: Tx, key: GridKey) -> GridPlan:
    """The plan of a grid, as what the study has of it amounts to."""
    row_name, column_name = grids.side_names(tx)
    sides, answer_rounds = settings.of_stage(tx, context.PLAN), rounds.answer_rounds(tx)
    options = {
        name: context.effective_options(tx, cls, {})
        for name, cls in OF_PLAN.items()
        if settings.with_recipe(tx, cls.stage)
    }
    if rounds.validation(tx).ids:
        options.setdefault("validate", params.Validate())
    round_plans = []
    for round_ in answer_rounds:
        designed: dict[str, Any] = {name: getattr(round_.options, name) for name in DESIGNED}
        if round_.role is not Role.MODEL:
            designed["role"] = round_.role.value
        round_plans.append(RoundPlan(round_.name, current_form(round_), **designed))
    rows, columns = side_from_setting(sides["rows"]), side_from_setting(sides["columns"])
    plan = GridPlan(key.name, rows, columns, tuple(round_plans), row_name, column_name, **options)
    primary_name = next(round_.name for round_ in answer_rounds if round_.counts)
    if plan.counting.name == primary_name:
        return plan
    return replace(
        plan, rounds=tuple(replace(round_, counts=round_.name == primary_name or None) for round_ in plan.rounds)
    )


NO_VALUE = "-"


class Difference(NamedTuple):
    """One parameter as the recipe has it, and as the study has it."""

    stage: str
    key: str
    recipe: str
    study: str


def check_recipe(study: StudyContext, recipe: Recipe, *, loosen: bool = False) -> None:
    """Raise RecipeError with a table of everything in which the study is not what the recipe says.

    Stages not done, options of agreement, partition and evaluation, and tighter limits (looser with `loosen`) do not
    count.
    """
    with study._store.read() as tx:
        n_built = build_progress.n_built(tx)
        stages = (recipe.import_, recipe.select, recipe.retrieve, recipe.pair, recipe.assign)
        built = [options for options in stages if options is not None and n_built[options.stage]]
        # The overlap that `plan --save` wrote for pairs to be assigned; limits to be loosened, and an opt-out to end.
        limits = list[Difference]()
        overlap = settings.of_stage(tx, settings.RECIPE + params.Assign.stage).get("overlap")
        is_undecided = recipe.assign and not recipe.assign.overlap and not n_built["assign"]
        if overlap and is_undecided and runs.runs(tx, params.Plan.stage):
            limits.append(Difference(params.Plan.stage, "overlap", NO_VALUE, _format_value(overlap)))
        for key, limit, own in loosened_limits(tx, recipe.annotate) if recipe.annotate and not loosen else ():
            limit_text = "no limit" if limit is None and key in LIMITS else _format_value(limit)
            limits.append(Difference(params.Annotate.stage, key, limit_text, _format_value(own)))
        differences = [
            *_setup_differences(tx, recipe.setup),
            *_stage_differences(tx, *built),
            *limits,
            *_stage_differences(tx, recipe.calibration, recipe.adjudicate, recipe.validate),
        ]
        for at, saved in enumerate(load_extensions(tx)):  # what the recipe says beyond these is yet to come
            planned = context.as_settings(recipe.extend[at]) if at < len(recipe.extend) else {}
            for key, value in saved.items():
                if not departures.is_same(value, planned.get(key)):
                    texts = (_format_value(of.get(key)) for of in (planned, saved))
                    differences.append(Difference(f"extend {at + 1}", key, *texts))
        grid_ids = {key.name: key.id for key in grids.keys(tx)}
        if recipe.has_main and (params.MAIN not in grid_ids or context.is_planned(tx)):
            is_other = "planned" if params.MAIN in grid_ids else "no such grid"
            differences.append(Difference("grid", params.MAIN, "made of a corpus", is_other))
        for plan in recipe.grids:
            if plan.name in grid_ids:
                with grids.on_grid(tx, grid_ids[plan.name]):
                    differences += _plan_differences(tx, plan)
        if recipe.simulate and (n := judgements.n_by_people(tx)):
            answered = f"people have answered: {n:,}"
            differences.append(Difference("simulate", NO_VALUE, "simulated people answer", answered))
        has_judgements = judgements.n_judgements(tx) > 0
    if differences:
        rows = [Difference._fields, *differences]
        widths = [max(len(row[index]) for row in rows) for index in range(len(Difference._fields) - 1)]
        lines = [
            f"{study._store.place} differs from the recipe; nothing was done",
            *["  " + "  ".join([*map(str.ljust, row, widths), row[-1]]) for row in rows],
        ]
        raise RecipeError("\n".join([*lines, *_remedies(recipe, differences, has_judgements=has_judgements)]))


def _setup_differences(tx: Tx, setup: params.Setup | None) -> Iterator[Difference]:
    if setup is None:
        return
    facts, main = runs.study_facts(tx), not context.is_planned(tx)
    own = {key: facts[key] for key in (("title", "hs_name", "cn_name") if main else ("title",))}
    for key, value in (own | {"folding": text_digests.folding(tx)}).items():
        if getattr(setup, key) != value:
            yield Difference("study", key, _format_value(getattr(setup, key)), _format_value(value))
    try:
        body = setup.guidelines.read_text("utf-8") if setup.guidelines else None
    except (OSError, UnicodeDecodeError):
        body = None  # a file that is gone says nothing
    if body is not None and all(version["body"] != body for version in people.guideline_versions(tx)):
        yield Difference("study", "guidelines", f"the text of {setup.guidelines}", "another text, in every version")
    if main and (recipe_scheme := read_labels(setup.scheme)) != (own_scheme := context.scheme_of(tx)):
        yield Difference("study", "scheme", _format_choices(recipe_scheme), _format_choices(own_scheme))


def _plan_differences(tx: Tx, plan: GridPlan) -> Iterator[Difference]:
    place, saved_plan = f"grid {plan.name}", settings.of_stage(tx, context.PLAN)
    if not saved_plan:
        yield Difference(place, NO_VALUE, "planned", "made of a corpus")
        return
    for key, saved_name in zip(("row_name", "column_name"), grids.side_names(tx), strict=True):
        if (planned_name := getattr(plan, key)) != saved_name:
            yield Difference(place, key, planned_name, saved_name)
    for key in ("rows", "columns"):
        side, saved_side = getattr(plan, key), {"sources": [], **saved_plan[key]}
        if not departures.is_same(saved_side, side_setting(side)):
            shown_sides = ({name: value for name, value in of.items() if value} for of in (as_params(side), saved_side))
            yield Difference(place, key, *map(_format_value, shown_sides))
    rounds_by_name = {round_.name: round_ for round_ in rounds.answer_rounds(tx)}
    if (planned_names := [item.name for item in plan.rounds]) != list(rounds_by_name):
        yield Difference(place, "rounds", ", ".join(planned_names), ", ".join(rounds_by_name))
        return
    for item in plan.rounds:
        round_, planned_params = rounds_by_name[item.name], as_params(item)
        planned_options = {"role": item.answered_by, "form": item.form, "counts": item is plan.counting}
        planned_options |= {name: planned_params[name] for name in DESIGNED}
        saved_options = {"role": round_.role.value, "form": current_form(round_), "counts": round_.counts}
        saved_options |= round_.options.as_json()
        for key, planned_value in planned_options.items():
            if planned_value != saved_options[key]:
                shown_texts = _format_value(planned_value), _format_value(saved_options[key])
                if key == "prompt" and item.prompt_file:
                    shown_texts = f"the text of {item.prompt_file}", "another text"
                yield Difference(f"{place}, round {item.name}", key, *shown_texts)
    if (plans_validation := bool(plan.validate)) != (has_validation := bool(rounds.validation(tx).ids)):
        yield Difference(place, "validate", _format_value(plans_validation), _format_value(has_validation))
    yield from _stage_differences(tx, plan.calibration, plan.adjudicate, plan.validate)


def _stage_differences(tx: Tx, *every_options: Any) -> Iterator[Difference]:
    for options in every_options:
        if options is None or not (saved_settings := settings.of_stage(tx, options.stage)):  # the stage was not done
            continue
        values, shown_values, defaults = context.as_settings(options), as_params(options), params.defaults_of(options)
        for key in params.result_params(options):
            value, shown, saved = values[key], shown_values[key], saved_settings.get(key, defaults[key])
            if isinstance(options, params.Import) and key == "reader":
                value, shown, saved = (reader or params.format_of(options.path) for reader in (value, shown, saved))
            if departures.is_same(saved, value) or (key in departures.PEOPLE_PARAMS and value is None):
                continue
            if context.is_file(getattr(options, key)) and isinstance(value, list) and len(value) == len(saved or ()):
                files = zip(value, shown, saved, strict=True)
                value, shown, saved = next(file for file in files if not departures.is_same(file[2], file[0]))
            are_files = isinstance(value, dict) and isinstance(saved, dict)
            is_in_place = are_files and value.get("path", "") == saved.get("path")
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
        f"{choice.code} {choice.name}{' (not definite)' * (not choice.definite)}{' (positive)' * choice.positive}"
        for choice in question
    )


def _remedies(recipe: Recipe, differences: list[Difference], *, has_judgements: bool) -> list[str]:
    stages, policy = {difference.stage for difference in differences}, recipe.adjudicate or params.Adjudicate()
    first = next((name for name in build_progress.BUILDING if name in stages), "")
    remedies = (
        (True, "Make the recipe match the study, or make another study from it: `fcpair run RECIPE --study OTHER`."),
        (True, "`fcpair recipe` prints the recipe that matches the study."),
        (first and not has_judgements, f"`fcpair {first} --redo` repeats that stage and everything built on it."),
        (
            recipe.adjudicate and params.Adjudicate.stage in stages,
            f"`fcpair adjudicate --policy {policy.policy} --ties {policy.ties}` applies the recipe's policy.",
        ),
        (
            any(difference.key == "guidelines" for difference in differences),
            "The lead's page changes the guidelines of a study.",
        ),
        (
            params.Plan.stage in stages,
            "`fcpair plan --save` has written the overlap; give it under `[assign]`, or another that you want.",
        ),
        ("annotate" in stages, "`--loosen` applies the recipe's looser limits."),
    )
    return [remedy for is_meant, remedy in remedies if is_meant]
