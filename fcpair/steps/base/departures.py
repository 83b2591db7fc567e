"""Departing from the recipe: what is done otherwise than the study's recipe says becomes a new version of it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fcpair.param_values import IN_MEMORY
from fcpair.params import Assign, Validate, defaults_of, result_params
from fcpair.records import Role
from fcpair.store import Tx, people
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings

_PEOPLE_STAGES = {"annotators": (Assign.stage, Role.ANNOTATOR), "validators": (Validate.stage, Role.VALIDATOR)}
PEOPLE_PARAMS = {name: role for name, (_, role) in _PEOPLE_STAGES.items()}
"""Parameters that say how many people take part; if the recipe names no number, whoever is there does."""
_RECIPE, _VERSION = "recipe", "version"


def recipe_version(tx: Tx) -> int:
    """The version of the recipe that the study keeps; 0 where none has been walked."""
    with grids.on_first_grid(tx):
        return int(settings.of_stage(tx, _RECIPE).get(_VERSION, 0))


def add_recipe_version(tx: Tx, run_id: int, *, begins: bool = False) -> None:
    """Count a new version of the recipe, made by a run; nothing is counted before the one that `begins`."""
    version = recipe_version(tx)
    if version or begins:
        with grids.on_first_grid(tx):
            settings.save_settings(tx, _RECIPE, {_VERSION: version + 1}, run_id)


def update_recipe(tx: Tx, options: Any, values: Mapping[str, Any], run_id: int) -> None:
    """Let the recipe say what a stage is done with, where it says otherwise, but for people whom it does not number."""
    stage = options.stage
    recipe_values, effective_values = settings.of_stage(tx, settings.RECIPE + stage), settings.with_recipe(tx, stage)
    previous_values = {**defaults_of(options), **effective_values}
    changed_values = {
        name: values[name]
        for name in result_params(options)
        if name in values and not is_same(previous_values[name], values[name])
        if name not in PEOPLE_PARAMS or previous_values[name] is not None
    }
    if not changed_values:
        return
    if recipe_values:
        settings.save_settings(tx, settings.RECIPE + stage, changed_values, run_id)
    add_recipe_version(tx, run_id)


def update_people(tx: Tx, run_id: int) -> None:
    """Let the recipe have the number of people in stages not done yet, in which all take part."""
    n_changed = 0
    for _ in grids.for_each_grid(tx):
        for name, (stage, role) in _PEOPLE_STAGES.items():
            number = settings.of_stage(tx, settings.RECIPE + stage).get(name)
            n_people = len(people.people(tx, role, active=True))
            if number is None or not n_people or number == n_people or settings.of_stage(tx, stage):
                continue
            settings.save_settings(tx, settings.RECIPE + stage, {name: n_people}, run_id)
            n_changed += 1
    if n_changed:
        add_recipe_version(tx, run_id)


def is_same(saved_value: Any, value: Any) -> bool:
    """Return whether two values are the same; files are, wherever they lie, if they hold the same, else by name."""
    if isinstance(saved_value, list) and isinstance(value, list):
        return len(saved_value) == len(value) and all(map(is_same, saved_value, value))
    if not isinstance(saved_value, dict) or not isinstance(value, dict):
        return bool(saved_value == value)
    if is_file(saved_value) and is_file(value):
        if "sha256" in saved_value and "sha256" in value:
            return bool(saved_value["sha256"] == value["sha256"])
        return Path(saved_value["path"]).name == Path(value["path"]).name
    return saved_value.keys() == value.keys() and all(is_same(saved_value[name], value[name]) for name in value)


def is_file(value: Mapping[str, Any]) -> bool:
    """Return whether a table in the settings names a file: its `path`, which is absolute, and mostly its `sha256`."""
    path = value.get("path")
    is_path = isinstance(path, str) and (Path(path).is_absolute() or path == str(IN_MEMORY))
    return is_path and value.keys() <= {"path", "sha256"}
