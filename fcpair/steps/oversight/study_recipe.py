"""The recipe that a study keeps: what it was walked by first, and what it has come to since."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from fcpair.param_values import IN_MEMORY, plain_type
from fcpair.params import MAIN, Adjudicate, Assign, Import, Setup, Validate
from fcpair.plans import GridPlan, RoundPlan
from fcpair.records import GridKey, Role
from fcpair.round_options import DESIGNED
from fcpair.steps.base import departures
from fcpair.steps.base.context import (
    PLAN,
    StudyContext,
    as_settings,
    effective_options,
    is_planned,
    note_run,
    scheme_of,
)
from fcpair.steps.base.keywords import OF_PLAN, OF_STUDY, plan_sections
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs, settings
from fcpair.store.people import people

if TYPE_CHECKING:
    from fcpair.recipe import Recipe

STUDY_SECTIONS = ("annotate", "words", "practice", "simulate")  # of a study whose grids are planned
NO_RECIPE_NOTE = "# No recipe has been run in this study; this one is derived from its settings."
IMPORTED_NOTE = "# The pairs and their labels were imported from {}: `fcpair labels import FILE --reader fc-conan`."
FRAME_NOTE = "# The corpus was imported from a data frame; write it to a file, and name that as `path` of [import]."
EXTRA_LABELS_NOTE = "`fcpair assign --more --pairs-file FILE`, which asked for one label more of"
REQUESTS_NOTE = "`fcpair adjudicate --request FILE`, which had a person decide"
PAIRS_NOTE = "# A recipe does not hold {} the pairs {} (run {})."
LONGEST_LIST = 600  # characters of a list of pairs
EDITED_NOTE = "# The guidelines are version {}, which the study keeps; {}."


def save_recipe(study: StudyContext, recipe: Recipe) -> None:
    """Let the study keep what a recipe says, whatever of it has been done; a new version, where it says anything new.

    What the recipe says nothing of stays as it is.
    """
    with study._store.read() as tx:
        if departures.recipe_version(tx) and not list(_new_sections(tx, recipe)):
            return
    with study._store.write() as tx:
        new_sections = list(_new_sections(tx, recipe))
        run = note_run(tx, "recipe", {}, {"version": departures.recipe_version(tx) + 1})
        departures.add_recipe_version(tx, run.id, begins=True)
        for grid_id, stage, values in new_sections:
            with grids.on_grid(tx, grid_id):
                settings.save_settings(tx, settings.RECIPE + stage, values, run.id)


def _new_sections(tx: Tx, recipe: Recipe) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """Yield the sections of a recipe: grid id, stage, and the values that the study does not keep yet."""
    grid_ids = {one.name: one.id for one in grids.keys(tx)}
    first_grid_id, sections = next(iter(grid_ids.values())), list[tuple[int, str, dict[str, Any]]]()
    if recipe.setup and recipe.setup.guidelines:
        sections.append((first_grid_id, Setup.stage, {"guidelines": as_settings(recipe.setup)["guidelines"]}))
    for name in _section_names():
        if options := getattr(recipe, name):
            grid_id = first_grid_id if isinstance(options, OF_STUDY) else grid_ids[MAIN]
            sections.append((grid_id, options.stage, as_settings(options)))
    for plan in recipe.grids:
        sections += [(grid_ids[plan.name], stage, values) for stage, values in plan_sections(plan)]
    for grid_id, stage, values in sections:
        with grids.on_grid(tx, grid_id):
            saved = settings.with_recipe(tx, stage)
        new = {name: it for name, it in values.items() if name not in saved or not departures.is_same(saved[name], it)}
        if new:
            yield grid_id, stage, new


def _section_names() -> list[str]:
    """The sections of a recipe that are stages of the grid `main`, or about the whole study."""
    from fcpair.recipe import Recipe

    return [item.name for item in fields(Recipe) if item.name not in ("setup", "grids")]


def recipe(study: StudyContext) -> Recipe:
    """The recipe that the study has come to: the one that it was walked by, with whatever was done otherwise since.

    Of a study that was made without one, what its settings amount to. Raises SettingError for a setting that cannot be
    used.
    """
    with study._store.read() as tx:
        return _recipe(tx)


def recipe_text(study: StudyContext) -> str:
    """The recipe that the study has come to, as TOML, which can be walked; comments say what it cannot hold."""
    with study._store.read() as tx:
        return recipe_text_of(tx)


def recipe_text_of(
    tx: Tx, pseudonyms: Mapping[str, str] = MappingProxyType({}), line_numbers: Mapping[int, int] = MappingProxyType({})
) -> str:
    """The recipe as `recipe_text` has it, in a transaction that is under way.

    Args:
        tx: the transaction.
        pseudonyms: what will stand for people; groups of them are in the order of these, which tells nothing of theirs.
        line_numbers: the numbers of runs in a log that has not all of them.
    """
    from fcpair.recipe import as_toml

    recipe = _recipe(tx)
    if recipe.assign and pseudonyms:
        groups = (
            sorted((pseudonyms.get(name, name), name) for name in group) for group in recipe.assign.annotator_groups
        )
        in_order = tuple(tuple(name for _, name in group) for group in sorted(groups))
        recipe = replace(recipe, assign=replace(recipe.assign, annotator_groups=in_order))
    return "\n".join([*_remarks(tx, line_numbers), "", as_toml(recipe)])


def _remarks(tx: Tx, line_numbers: Mapping[int, int]) -> Iterator[str]:
    recipe_version = departures.recipe_version(tx)
    yield f"# The recipe of this study, version {recipe_version}." if recipe_version else NO_RECIPE_NOTE
    first_grid = grids.keys(tx)[0]
    with grids.on_grid(tx, first_grid.id):
        if file := _published_labels_file(tx):
            yield IMPORTED_NOTE.format(file)
        if settings.of_stage(tx, Import.stage).get("path") == {"path": str(IN_MEMORY)}:
            yield FRAME_NOTE
        path = effective_options(tx, Setup, {}).guidelines
    yield from _acts_on_pairs(tx, line_numbers)
    guidelines_version, body = people.current_guidelines(tx)
    if body and (path is None or not path.is_file() or path.read_text("utf-8", "replace") != body):
        yield EDITED_NOTE.format(guidelines_version, f"{path} differs" if path else "no file is known to contain them")


def _acts_on_pairs(tx: Tx, line_numbers: Mapping[int, int]) -> Iterator[str]:
    """Remarks on what was done with single pairs, which a recipe cannot say, oldest first."""
    for run in runs.runs(tx):
        for stage, name, note in (
            (Assign.stage, "pairs", EXTRA_LABELS_NOTE),
            (Adjudicate.stage, "request", REQUESTS_NOTE),
        ):
            if run.stage == stage and (pairs := run.params.get(name)):
                listed = pairs if len(pairs) <= LONGEST_LIST else "that `fcpair log --format json` lists"
                yield textwrap.fill(
                    PAIRS_NOTE.format(note, listed, line_numbers.get(run.id, run.id)), 116, subsequent_indent="# "
                )


def _published_labels_file(tx: Tx) -> str | None:
    """The file of published labels that the grid was made of; None where it was not."""
    from fcpair.steps.answers.import_fc_conan import FORMAT

    import_settings = settings.of_stage(tx, Import.stage)
    return str(import_settings["path"]["path"]) if import_settings.get("reader") == FORMAT else None


def _recipe(tx: Tx) -> Recipe:
    from typing import get_type_hints

    from fcpair.recipe import Recipe

    hints, sections = get_type_hints(Recipe), dict[str, Any]()
    with grids.on_grid(tx, grids.keys(tx)[0].id):
        planned = is_planned(tx)
        setup = replace(effective_options(tx, Setup, {}), title=runs.study_facts(tx)["title"])
        if not planned:  # of a planned one, its plan has them
            hs_name, cn_name = grids.side_names(tx)
            setup = replace(setup, hs_name=hs_name, cn_name=cn_name, scheme=str(scheme_of(tx)))
        for name in _section_names():
            cls, is_of_study = plain_type(hints[name]), name in STUDY_SECTIONS
            is_taken_over = cls is Import and _published_labels_file(tx)  # texts that came with their labels
            if (is_of_study or not planned) and settings.with_recipe(tx, cls.stage) and not is_taken_over:
                sections[name] = effective_options(tx, cls, {})
    plans = tuple(_grid_plan(tx, key) for key in grids.for_each_grid(tx) if is_planned(tx))
    return Recipe(setup=setup, **sections, grids=plans)


def _grid_plan(tx: Tx, key: GridKey) -> GridPlan:
    """The plan of a grid, as what the study has of it amounts to."""
    from fcpair.steps.corpus.grids import side_from_setting

    row_name, column_name = grids.side_names(tx)
    sides, answer_rounds = settings.of_stage(tx, PLAN), rounds.answer_rounds(tx)
    options = {
        name: effective_options(tx, cls, {}) for name, cls in OF_PLAN.items() if settings.with_recipe(tx, cls.stage)
    }
    if rounds.validation(tx).ids:
        options.setdefault("validate", Validate())
    round_plans = []
    for round_ in answer_rounds:
        designed: dict[str, Any] = {name: getattr(round_.options, name) for name in DESIGNED}
        if round_.role is not Role.MODEL:
            designed["role"] = round_.role.value
        round_plans.append(RoundPlan(round_.name, round_.form, **designed))
    rows, columns = side_from_setting(sides["rows"]), side_from_setting(sides["columns"])
    plan = GridPlan(key.name, rows, columns, tuple(round_plans), row_name, column_name, **options)
    primary_name = next(round_.name for round_ in answer_rounds if round_.counts)
    if plan.counting.name == primary_name:
        return plan
    return replace(
        plan, rounds=tuple(replace(round_, counts=round_.name == primary_name or None) for round_ in plan.rounds)
    )
