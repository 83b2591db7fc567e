"""The study recipe: a TOML file with every parameter and seed of a study, stage by stage."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from fcpair.errors import InputError, RecipeError, nearest
from fcpair.evaluate.catalogue import check_evaluation, parse_system
from fcpair.evaluate.ranking import POOLS
from fcpair.params import (
    Adjudicate,
    Agree,
    Annotate,
    Assign,
    Evaluate,
    Import,
    Pair,
    Partition,
    Retrieve,
    Select,
    Setup,
    Simulate,
    Validate,
    is_required,
    plain_type,
)
from fcpair.stages.question.labels import read_choices, read_labels


@dataclass(frozen=True)
class Recipe:
    """A whole study; None stands for a section that the recipe does not have.

    The section `simulate` has simulated people fill the open rounds; without it people do.
    """

    setup: Setup | None = None
    import_: Import | None = None
    select: Select | None = None
    retrieve: Retrieve | None = None
    pair: Pair | None = None
    assign: Assign | None = None
    annotate: Annotate | None = None
    simulate: Simulate | None = None
    agreement: Agree | None = None
    adjudicate: Adjudicate | None = None
    validate: Validate | None = None
    partition: Partition | None = None
    evaluate: Evaluate | None = None


_NAMES = {"setup": "study", "import_": "import"}
_SECTIONS: dict[str, tuple[str, type]] = {
    _NAMES.get(name, name): (name, plain_type(hint)) for name, hint in get_type_hints(Recipe).items()
}
_NO_RESAMPLES = "intervals of agreement no longer resample, so they need none: leave the key out"
_GONE = {("agreement", "resamples"): _NO_RESAMPLES, ("agreement", "seed"): _NO_RESAMPLES}
"""Keys of earlier versions, with what to do about them."""


def load_recipe(path: str | Path) -> Recipe:
    """Read a recipe file.

    Paths in it are relative to its folder; `$NAME` and `${NAME}` stand for environment variables.

    Raises:
        RecipeError: no such file, not TOML, an unknown section or key (with the nearest known one), a value of the
            wrong kind, an environment variable that is not set.
    """
    path = Path(path)
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such recipe") from None
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise RecipeError(f"{path}: not TOML: {error}") from None
    _only_known(str(path), content, list(_SECTIONS), "section")
    given = {_SECTIONS[name][0]: _section(path, name, values) for name, values in content.items()}
    return Recipe(**given)


def _only_known(place: str, given: Mapping[str, Any], known: list[str], what: str) -> None:
    for name in given:
        if name not in known:
            raise RecipeError(f"{place}: unknown {what} `{name}`; {nearest(name, known)}")


def _section(path: Path, name: str, values: Any) -> Any:
    cls = _SECTIONS[name][1]
    place = f"{path}: [{name}]"
    if not isinstance(values, dict):
        raise RecipeError(f"{place} must be a table")
    for key in values:
        if gone := _GONE.get((name, key)):
            raise RecipeError(f"{place}: `{key}` is gone; {gone}")
    _only_known(place, values, [item.name for item in fields(cls)], "key")
    hints = get_type_hints(cls, include_extras=True)
    read = {key: _value(f"{place} {key}", value, hints[key], path.parent) for key, value in values.items()}
    missing = [item.name for item in fields(cls) if is_required(item) and item.name not in read]
    if missing:
        raise RecipeError(f"{place}: `{missing[0]}` is missing")
    try:
        made = cls(**read)
        return _in_folder(place, made, path.parent.absolute()) if isinstance(made, Evaluate) else made
    except RecipeError:
        raise
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def _in_folder(place: str, options: Evaluate, folder: Path) -> Evaluate:
    """The same with the files that systems and pool name taken to be in the recipe's folder, wherever one is."""
    if not options.systems:
        raise RecipeError(f'{place}: `systems` is missing; name at least one, as in ["tfidf"]')
    check_evaluation(options)
    systems = tuple(str(parse_system(system).within(folder)) for system in options.systems)
    pool = options.pool if options.pool in POOLS else str(folder / _expand(f"{place} pool", options.pool))
    return replace(options, systems=systems, pool=pool)


def _value(place: str, value: Any, hint: Any, folder: Path) -> Any:
    kind = plain_type(hint)
    if kind is Path and isinstance(value, str):
        return folder / _expand(place, value)
    if kind is float and type(value) is int:
        return float(value)
    if kind == tuple[str, ...]:
        return _names(place, value)
    if kind == tuple[Path, ...]:
        return tuple(folder / name for name in _names(place, value))
    if convert := _CONVERT.get(get_origin(kind) or kind):
        return convert(place, value, kind)
    if type(value) is not kind:
        raise RecipeError(f"{place} is `{value}`; expected {kind.__name__}")
    return value


def _choice(place: str, value: Any, kind: Any) -> Any:
    if value not in get_args(kind):
        raise RecipeError(f"{place} is `{value}`; expected one of {', '.join(get_args(kind))}")
    return value


def _labels(place: str, value: Any, _kind: Any) -> str:
    written = isinstance(value, str)
    if not written and not (isinstance(value, list) and all(isinstance(choice, dict) for choice in value)):
        raise RecipeError(f"{place} must be a list of tables, or a question such as one_of(no,unsure?,yes+)")
    try:
        return str(read_labels(value) if written else read_choices(value))
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def _groups(place: str, value: Any, _kind: Any) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise RecipeError(f"{place} must be a list of lists of names")
    return tuple(tuple(str(name) for name in group) for group in value)


def _names(place: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RecipeError(f"{place} must be a list of names")
    return tuple(_expand(place, name) for name in value)


def _shares(place: str, value: Any, _kind: Any) -> dict[int, float]:
    try:
        return {int(n_labels): float(share) for n_labels, share in value.items()}
    except (AttributeError, TypeError, ValueError):
        raise RecipeError(f"{place} must be a table such as {{2 = 0.126, 3 = 0.05}}") from None


_CONVERT: dict[Any, Callable[[str, Any, Any], Any]] = {
    Literal: _choice,
    Annotated: _labels,
    tuple: _groups,
    Mapping: _shares,
}


def _expand(place: str, value: str) -> str:
    expanded = os.path.expandvars(value)
    if "$" in expanded:
        raise RecipeError(f"{place} is `{value}`, but that environment variable is not set")
    return expanded
