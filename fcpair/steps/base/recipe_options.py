"""The options that the study's recipe has for a stage: what it is done with where nobody says otherwise."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

from fcpair.errors import ConflictError, InputError
from fcpair.known_pairs import Controls, Practice, Qualification
from fcpair.param_values import check_effects, digest_params, with_kept
from fcpair.params import Adjudicate, Agree, Annotate, Calibration, Partition, Simulate, Validate
from fcpair.plans import GridPlan
from fcpair.steps.base import departures
from fcpair.steps.base.context import (
    StudyContext,
    as_settings,
    build_options,
    effective_options,
    parameters_from_settings,
    settings_error,
)
from fcpair.store import Tx
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.store.people import people
from fcpair.words import Words

Options = TypeVar("Options")

OF_STUDY = (Annotate, Practice, Simulate, Words)  # kept with the first grid, as they are about all

# Where none are given, what the stage was done with holds on.
HELD = (Adjudicate, Agree, Annotate, Partition, Practice, Words)

OF_PLAN: dict[str, type[Any]] = {
    "qualification": Qualification,
    "controls": Controls,
    "calibration": Calibration,
    "agreement": Agree,
    "adjudicate": Adjudicate,
    "validate": Validate,
    "partition": Partition,
}


def by_recipe(study: StudyContext, cls: type[Options], *, more: bool = False, **overrides: Any) -> Options:
    """The parameters with which a stage is to be done: `overrides`, else what the recipe says, else defaults.

    What the recipe says and cannot be beside what is given is left out, as is the number of people where some are
    there already, and with `more` all that is about the first deal alone. Raises InputError where what is given cannot
    be, SettingError for a setting of the recipe that cannot be used.
    """
    with study._store.read() as tx:
        stage: str = cls.stage  # type: ignore[attr-defined]
        with grids.on_grid(tx, grids.keys(tx)[0].id if cls in OF_STUDY else grids.current_grid_id(tx)):
            # once a recipe was run, what it omits is what the stage was done with
            has_run, section = bool(departures.recipe_version(tx)), settings.RECIPE + stage
            values = settings.with_recipe(tx, stage) if has_run else settings.of_stage(tx, section)
        recipe_values = parameters_from_settings(cls, values)
        # how many people take part, of the roles in which somebody does
        ignored_names = {
            name for name, role in departures.PEOPLE_PARAMS.items() if people.people(tx, role, active=True)
        }
        ignored_names |= set(getattr(cls, "of_first_deal", ()) if more else ())
    recipe_options = {name: value for name, value in recipe_values.items() if name not in ignored_names}
    try:
        options = with_kept(cls, recipe_options, overrides)
    except InputError as error:
        if not overrides:
            raise settings_error(cls, recipe_options, error) from None
        options = _combine_options(cls, recipe_options, overrides)
    check_effects(options, overrides)
    return options


def by_keywords(study: StudyContext, cls: type[Options], overrides: Mapping[str, Any], *, more: bool) -> Options:
    """The parameters of a stage of which some are given: those, and for the others what holds where none are given.

    Raises InputError where what is given cannot be.
    """
    if cls not in HELD:
        return by_recipe(study, cls, more=more, **overrides)
    with study._store.read() as tx:
        held = parameters_from_settings(cls, settings.with_recipe(tx, cls.stage))  # type: ignore[attr-defined]
    try:
        return with_kept(cls, held, overrides)
    except InputError:
        return _combine_options(cls, held, overrides)


def _combine_options(cls: type[Options], recipe_options: Mapping[str, Any], overrides: Mapping[str, Any]) -> Options:
    """The options that are given, with as much of what is kept as can be beside them."""
    combined, options, n_before = dict(overrides), cls(**overrides), -1
    while n_before != len(combined):  # again, as one may have no effect before another is there
        n_before = len(combined)
        for name, value in recipe_options.items():
            if name not in combined:
                with suppress(InputError):
                    options = cls(**{**combined, name: value})
                    combined[name] = value
    return options


def check_seen(tx: Tx, cls: type[Any], seen: str | None) -> None:
    """Raise ConflictError unless the options that hold are those that somebody has `seen` (`digest_params`)."""
    if seen is not None and seen != digest_params(effective_options(tx, cls, {})):
        raise ConflictError.say("this was changed after the page was loaded, so nothing was saved")


def update_simulate_section(tx: Tx, options: Simulate, run_id: int) -> None:
    """Let the recipe's section about simulated people, where it has one, say how they answer from now on."""
    with grids.on_first_grid(tx):
        if settings.of_stage(tx, settings.RECIPE + options.stage):
            departures.update_recipe(tx, options, as_settings(options), run_id)


def plan_sections(plan: GridPlan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the settings in a grid's plan for stages that come after its rounds, each with the name of its stage."""
    for name in OF_PLAN:
        if options := getattr(plan, name):
            yield options.stage, as_settings(options)


def matches_saved_options(tx: Tx, options: Any) -> bool:
    """Whether these options are those that were set, with files that hold the same; never while none were."""
    saved = settings.of_stage(tx, options.stage)
    if not saved:
        return False
    completed = as_settings(build_options(type(options), saved, {})) | saved
    return all(departures.is_same(completed[name], value) for name, value in as_settings(options).items())
