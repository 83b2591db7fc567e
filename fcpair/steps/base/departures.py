"""Departing from the recipe: what is done otherwise than the study's recipe says becomes a new version of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fcpair.params import defaults_of, shaping
from fcpair.records import Role
from fcpair.store import Tx
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings

PEOPLE = {"annotators": Role.ANNOTATOR, "validators": Role.VALIDATOR}
"""How many people take part; where the recipe names no number, whoever is there does."""
_RECIPE, _VERSION = "recipe", "version"


def version(tx: Tx) -> int:
    """The version of the recipe that the study keeps; 0 where none has been walked."""
    with grids.about(tx, grids.keys(tx)[0].id):
        return int(settings.of_stage(tx, _RECIPE).get(_VERSION, 0))


def next_version(tx: Tx, run_id: int) -> int:
    """Count a new version of the recipe, made by a run."""
    newer = version(tx) + 1
    with grids.about(tx, grids.keys(tx)[0].id):
        settings.put(tx, _RECIPE, {_VERSION: newer}, run_id)
    return newer


def follow(tx: Tx, options: Any, values: Mapping[str, Any], run_id: int) -> None:
    """Let the recipe say what a stage is done with, where it says otherwise; without a recipe, nothing is to be done.

    Not where it names no number of people, nor for what says only how the work is done.
    """
    stage = options.stage
    said, known = settings.of_stage(tx, settings.RECIPE + stage), settings.with_recipe(tx, stage)
    before = {**defaults_of(options), **known}
    new = {name: values[name] for name in shaping(options) if name in values}
    new = {name: value for name, value in new.items() if not is_same(before[name], value)}
    new = {name: value for name, value in new.items() if name not in PEOPLE or before[name] is not None}
    if not new:
        return
    if said:
        settings.put(tx, settings.RECIPE + stage, new, run_id)
    if version(tx):
        next_version(tx, run_id)


def is_same(kept: Any, value: Any) -> bool:
    """Whether two values are the same; files are, wherever they lie, if they hold the same."""
    if isinstance(kept, list) and isinstance(value, list) and len(kept) == len(value):
        return all(map(is_same, kept, value))
    of_files = isinstance(kept, dict) and isinstance(value, dict) and "sha256" in kept
    return bool(kept["sha256"] == value.get("sha256")) if of_files else bool(kept == value)
