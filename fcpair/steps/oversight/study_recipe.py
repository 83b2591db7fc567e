"""The recipe that a study keeps: what it was walked by first, and what it has come to since."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from fcpair.params import MAIN, Import, Setup, Validate
from fcpair.records import GridKey, Role, Round
from fcpair.round_options import RoundDesign
from fcpair.steps.base import departures
from fcpair.steps.base.context import (
    PLAN,
    OnStudy,
    as_settings,
    is_planned,
    note_run,
    own,
    scheme_of,
)
from fcpair.steps.base.recipe_options import OF_PLAN, OF_STUDY, of_plan
from fcpair.store import Tx
from fcpair.store.assignment import rounds
from fcpair.store.corpus import grids
from fcpair.store.oversight import runs, settings
from fcpair.store.people import guidelines

if TYPE_CHECKING:
    from fcpair.plans import GridPlan, RoundPlan
    from fcpair.recipe import Recipe

NOT_WALKED = "# No recipe has been walked in this study; this is what its settings amount to."
TAKEN_OVER = "# The pairs and their labels were taken over from {}: `fcpair labels import FILE --format fc-conan`."
EDITED = "# The guidelines are those of version {}, which the study holds; {}."


class _Said(NamedTuple):
    """What a recipe says of a stage of a grid."""

    grid_id: int
    stage: str
    values: dict[str, Any]


def keep(study: OnStudy, recipe: Recipe) -> None:
    """Let the study keep what a recipe says, whatever of it has been done; a new version, where it says anything new.

    What the recipe says nothing of stays as it is.
    """
    with study.store.read() as tx:
        if departures.version(tx) and not list(_new(tx, recipe)):
            return
    with study.store.write() as tx:
        new = list(_new(tx, recipe))
        run = note_run(tx, "recipe", {}, {"version": departures.version(tx) + 1})
        departures.next_version(tx, run.id)
        for grid_id, stage, values in new:
            with grids.about(tx, grid_id):
                settings.put(tx, settings.RECIPE + stage, values, run.id)


def _new(tx: Tx, recipe: Recipe) -> Iterator[_Said]:
    """What a recipe says that the study does not keep yet."""
    for said in _sections(tx, recipe):
        with grids.about(tx, said.grid_id):
            there = settings.with_recipe(tx, said.stage)
        values = {
            name: value
            for name, value in said.values.items()
            if name not in there or not departures.is_same(there[name], value)
        }
        if values:
            yield said._replace(values=values)


def _sections(tx: Tx, recipe: Recipe) -> Iterator[_Said]:
    by_name = {one.name: one.id for one in grids.keys(tx)}
    first = next(iter(by_name.values()))
    if recipe.setup and recipe.setup.guidelines:
        yield _Said(first, Setup.stage, {"guidelines": as_settings(recipe.setup)["guidelines"]})
    for name in _section_names():
        if options := getattr(recipe, name):
            grid_id = first if isinstance(options, OF_STUDY) else by_name[MAIN]
            yield _Said(grid_id, options.stage, as_settings(options))
    for plan in recipe.grids:
        yield from (_Said(by_name[plan.name], stage, values) for stage, values in of_plan(plan))


def _section_names() -> list[str]:
    """The sections of a recipe that are stages of the grid `main`, or about the whole study."""
    from fcpair.recipe import Recipe

    return [item.name for item in fields(Recipe) if item.name not in ("setup", "grids")]


def recipe(study: OnStudy) -> Recipe:
    """The recipe that the study has come to: the one that it was walked by, with whatever was done otherwise since.

    Of a study that was made without one, what its settings amount to. Raises SettingError for a setting that cannot be
    used.
    """
    with study.store.read() as tx:
        return _recipe(tx)


def recipe_text(study: OnStudy) -> str:
    """The recipe that the study has come to, as TOML, which can be walked; comments say what it cannot hold."""
    from fcpair.recipe import as_toml

    with study.store.read() as tx:
        return "\n".join([*_remarks(tx), "", as_toml(_recipe(tx))])


def _remarks(tx: Tx) -> Iterator[str]:
    number = departures.version(tx)
    yield f"# The recipe of this study, version {number}." if number else NOT_WALKED
    first = grids.keys(tx)[0]
    with grids.about(tx, first.id):
        if file := _taken_over(tx):
            yield TAKEN_OVER.format(file)
        path = own(tx, Setup, {}).guidelines
    at, body = guidelines.current(tx)
    if body and (path is None or not path.is_file() or path.read_text("utf-8", "replace") != body):
        yield EDITED.format(at, f"{path} has others" if path else "no file is known to have them")


def _taken_over(tx: Tx) -> str | None:
    """The file of published labels that the grid was made of; None where it was not."""
    from fcpair.steps.answers.import_fc_conan import FORMAT

    there = settings.of_stage(tx, Import.stage)
    return str(there["path"]["path"]) if there.get("format") == FORMAT else None


def _recipe(tx: Tx) -> Recipe:
    from fcpair.recipe import Recipe

    there = grids.keys(tx)
    with grids.about(tx, there[0].id):
        about_all = {"setup": _setup(tx), **dict(_kept_sections(tx))}
        planned = is_planned(tx)
    if planned:
        about_all = {name: about_all[name] for name in ("setup", "annotate", "simulate") if name in about_all}
    plans = []
    for one in there:
        with grids.about(tx, one.id):
            if is_planned(tx):
                plans.append(_plan(tx, one))
    return Recipe(**about_all, grids=tuple(plans))


def _setup(tx: Tx) -> Setup:
    """The first section of the recipe; of the first grid, its names and its scheme where no plan has them."""
    setup = replace(own(tx, Setup, {}), title=runs.study_facts(tx)["title"])
    if is_planned(tx):
        return setup
    hs_name, cn_name = grids.names(tx)
    return replace(setup, hs_name=hs_name, cn_name=cn_name, scheme=str(scheme_of(tx)))


def _kept_sections(tx: Tx) -> Iterator[tuple[str, Any]]:
    """The sections of the grid that are kept, by their fields of a recipe; not of texts that were taken over."""
    from typing import get_type_hints

    from fcpair.param_values import plain_type
    from fcpair.recipe import Recipe

    hints = get_type_hints(Recipe)
    for name in _section_names():
        cls = plain_type(hints[name])
        if settings.with_recipe(tx, cls.stage) and not (cls is Import and _taken_over(tx)):
            yield name, own(tx, cls, {})


def _plan(tx: Tx, key: GridKey) -> GridPlan:
    """The plan of a grid, as what the study has of it amounts to."""
    from fcpair.plans import GridPlan
    from fcpair.steps.corpus.grids import side_of

    row_name, column_name = grids.names(tx)
    sides, asked = settings.of_stage(tx, PLAN), rounds.asked(tx)
    said = {name: own(tx, cls, {}) for name, cls in OF_PLAN.items() if settings.with_recipe(tx, cls.stage)}
    if rounds.checking(tx).ids:
        said.setdefault("validate", Validate())
    plan = GridPlan(
        key.name,
        side_of(sides["rows"]),
        side_of(sides["columns"]),
        tuple(map(_round, asked)),
        row_name,
        column_name,
        **said,
    )
    counting = next(one.name for one in asked if one.counts)
    if plan.counting.name == counting:
        return plan
    return replace(plan, rounds=tuple(replace(one, counts=one.name == counting or None) for one in plan.rounds))


def _round(one: Round) -> RoundPlan:
    from fcpair.plans import RoundPlan

    options: dict[str, Any] = {item.name: getattr(one.options, item.name) for item in fields(RoundDesign)}
    if one.role is not Role.MODEL:
        options["role"] = one.role.value
    return RoundPlan(one.name, one.form, **options)
