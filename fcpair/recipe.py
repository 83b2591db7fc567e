"""The study recipe: a TOML file with every parameter and seed of a study, stage by stage."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from fcpair.errors import InputError, RecipeError, suggest_name, translate_read_errors
from fcpair.evaluate.catalogue import check_evaluation, parse_system
from fcpair.evaluate.ranking import POOLS
from fcpair.files.tables import toml
from fcpair.param_values import as_params, is_required, plain_type
from fcpair.params import (
    MAIN,
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
    defaults_of,
)
from fcpair.plans import GridPlan, Grids, PrintedForm, Quota, RoundPlan
from fcpair.round_options import Definitions, Models
from fcpair.stages.answers.model_spec import parse_model_spec
from fcpair.stages.assignment.plan import check_plans
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions import Form, parse_form
from fcpair.stages.questions.labels import read_choices, read_labels
from fcpair.stages.stats.rating_bins import check_bins

_STUDY_WIDE = ("setup", "annotate", "simulate", "grids")  # what is about every grid, or about others than `main`


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
    grids: tuple[GridPlan, ...] = ()

    @property
    def has_main(self) -> bool:
        """Whether the study has the grid `main`: unless the recipe plans grids, and has no stage of `main`."""
        return not self.grids or any(
            getattr(self, item.name) is not None for item in fields(self) if item.name not in _STUDY_WIDE
        )


_KEYS = {"setup": "study", "import_": "import", "grids": "grid", "rounds": "round"}
"""What a recipe calls a field where that is not its name."""
_SECTIONS = {_KEYS.get(name, name): plain_type(hint) for name, hint in get_type_hints(Recipe).items()}
_NO_RESAMPLES = "intervals of agreement no longer resample, so they need none: leave the key out"
_REMOVED_KEYS = {("agreement", "resamples"): _NO_RESAMPLES, ("agreement", "seed"): _NO_RESAMPLES}
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
        with translate_read_errors(path, RecipeError, expected="TOML"):
            content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such recipe") from None
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read: {error.strerror}") from None
    names = {_KEYS.get(item.name, item.name): item.name for item in fields(Recipe)}
    _check_known(str(path), content, list(names), "section")
    recipe = Recipe(**{names[name]: _convert_section(path, name, values) for name, values in content.items()})
    try:
        label = f"label: {(recipe.setup or Setup()).scheme}"
        check_plans(recipe.grids, {MAIN: label} if recipe.has_main else {})
        check_bins(parse_form(label), recipe.agreement.bins if recipe.agreement else ())
    except InputError as error:
        raise RecipeError(f"{path}: {error}") from None
    return recipe


def _check_known(location: str, table: Mapping[str, Any], known_names: list[str], what: str) -> None:
    for name in table:
        if name not in known_names:
            raise RecipeError(f"{location}: unknown {what} `{name}`; {suggest_name(name, known_names)}")


def _convert_section(path: Path, name: str, values: Any) -> Any:
    cls, place = _SECTIONS[name], f"{path}: [{name}]"
    if cls == tuple[GridPlan, ...]:
        return _convert_tables(f"{path}: [[{name}]]", values, cls, path.parent)
    for key in values if isinstance(values, dict) else ():
        if gone := _REMOVED_KEYS.get((name, key)):
            raise RecipeError(f"{place}: `{key}` is gone; {gone}")
    return _convert_table(place, values, cls, path.parent)


def _convert_table(place: str, values: Any, cls: Any, folder: Path) -> Any:
    """Convert a table to an instance of `cls`."""
    if not isinstance(values, dict):
        raise RecipeError(f"{place} must be a table")
    items = {_KEYS.get(item.name, item.name): item for item in fields(cls)}
    _check_known(place, values, list(items), "key")
    if missing := [key for key, item in items.items() if is_required(item) and key not in values]:
        raise RecipeError(f"{place}: `{missing[0]}` is missing")
    hints = get_type_hints(cls, include_extras=True)
    named = {items[key].name: (f"{place} {key}", value) for key, value in values.items()}
    read = {name: _convert_value(at, value, hints[name], folder) for name, (at, value) in named.items()}
    try:
        options = cls(**read)
        return _resolve_files(place, options, folder.absolute()) if isinstance(options, Evaluate) else options
    except RecipeError:
        raise
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def _convert_tables(place: str, tables: Any, kind: Any, folder: Path) -> tuple[Any, ...]:
    """Convert the tables of a list; messages call each by its name, or by its number where it has none."""
    (cls, _) = get_args(kind)
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RecipeError(f"{place} must be a list of tables, each with its heading in double brackets")
    numbered = enumerate(tables, 1)
    return tuple(
        _convert_table(f"{place} {table.get('name', number)}", _with_named_form(table), cls, folder)
        for number, table in numbered
    )


def _with_named_form(round_table: dict[str, Any]) -> dict[str, Any]:
    """A round with its one question under the round's own name, where its form is no table."""
    form = round_table.get("form")
    return {**round_table, "form": {round_table.get("name", ""): form}} if isinstance(form, str) else round_table


def _resolve_files(place: str, options: Evaluate, folder: Path) -> Evaluate:
    """The same with the files that systems and pool name taken to be in the recipe's folder, wherever one is."""
    if not options.systems:
        raise RecipeError(f'{place}: `systems` is missing; name at least one, as in ["tfidf"]')
    check_evaluation(options)
    systems = tuple(str(parse_system(system).resolve_in(folder)) for system in options.systems)
    pool = options.pool if options.pool in POOLS else str(folder / _expand_variables(f"{place} pool", options.pool))
    return replace(options, systems=systems, pool=pool)


def _convert_value(place: str, value: Any, hint: Any, folder: Path) -> Any:
    type_ = plain_type(hint)
    if any(isinstance(text, str) and NO_TEXT.search(text) for text in (value if isinstance(value, list) else [value])):
        raise RecipeError(f"{place} holds a NUL character, which no text does")
    if convert := _converter(type_):
        return convert(place, value, type_, folder)
    if type_ is float and type(value) is int:
        return float(value)
    if type(value) is not type_:
        raise RecipeError(f"{place} is `{value}`; expected {type_.__name__}")
    return value


def _converter(kind: Any) -> Callable[[str, Any, Any, Path], Any] | None:
    if is_dataclass(kind):
        return _convert_table
    if get_origin(kind) is tuple and is_dataclass(get_args(kind)[0]):
        return _convert_tables
    return _CONVERTERS.get(kind) or _CONVERTERS.get(get_origin(kind))


def _path(place: str, value: Any, _kind: Any, folder: Path) -> Path:
    if not isinstance(value, str):
        raise RecipeError(f"{place} is `{value}`; expected Path")
    return folder / _expand_variables(place, value)


def _paths(place: str, value: Any, kind: Any, folder: Path) -> tuple[Path, ...]:
    return tuple(folder / name for name in _names(place, value, kind, folder))


def _choice(place: str, value: Any, kind: Any, _folder: Path) -> Any:
    if value not in get_args(kind):
        raise RecipeError(f"{place} is `{value}`; expected one of {', '.join(get_args(kind))}")
    return value


def _labels(place: str, value: Any, _kind: Any, _folder: Path) -> str:
    written = isinstance(value, str)
    if not written and not (isinstance(value, list) and all(isinstance(choice, dict) for choice in value)):
        raise RecipeError(f"{place} must be a list of tables, or a question such as one_of(no,unsure?,yes+)")
    try:
        return str(read_labels(value) if written else read_choices(value))
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def _form(place: str, value: Any, _kind: Any, _folder: Path) -> str:
    if not isinstance(value, dict):
        raise RecipeError(f"{place} must be a question such as one_of(no,yes+), or a table of questions by name")
    try:
        return str(Form.from_table(value))
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def _models(place: str, value: Any, kind: Any, folder: Path) -> tuple[str, ...]:
    names = _names(place, value, kind, folder)
    try:
        return tuple(str(parse_model_spec(name).resolve_in(folder.absolute())) for name in names)
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def _groups(place: str, value: Any, _kind: Any, _folder: Path) -> tuple[tuple[str, ...], ...]:
    if not isinstance(value, list) or not all(isinstance(group, list) for group in value):
        raise RecipeError(f"{place} must be a list of lists of names")
    return tuple(tuple(str(name) for name in group) for group in value)


def _names(place: str, value: Any, _kind: Any, _folder: Path) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RecipeError(f"{place} must be a list of names")
    return tuple(_expand_variables(place, name) for name in value)


def _grids(place: str, value: Any, _kind: Any, _folder: Path) -> str | tuple[str, ...]:
    if isinstance(value, str):
        return value
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise RecipeError(f"{place} must be the name of a grid, or a list of names")
    return tuple(value)


def _quota(place: str, value: Any, _kind: Any, _folder: Path) -> dict[str, int]:
    if not isinstance(value, dict) or not all(type(n) is int for n in value.values()):
        raise RecipeError(f"{place} must be a table such as {{women = 20, migrants = 20}}")
    return dict(value)


def _definitions(place: str, value: Any, _kind: Any, _folder: Path) -> dict[str, str]:
    if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
        raise RecipeError(f'{place} must be a table such as {{humour = "a joke that hurts nobody"}}')
    return dict(value)


def _shares(place: str, value: Any, _kind: Any, _folder: Path) -> dict[int, float]:
    try:
        return {int(n_labels): float(share) for n_labels, share in value.items()}
    except (AttributeError, TypeError, ValueError):
        raise RecipeError(f"{place} must be a table such as {{2 = 0.126, 3 = 0.05}}") from None


_CONVERTERS: dict[Any, Callable[[str, Any, Any, Path], Any]] = {
    Path: _path,
    tuple[Path, ...]: _paths,
    tuple[str, ...]: _names,
    PrintedForm: _form,
    Models: _models,
    Quota: _quota,
    Definitions: _definitions,
    Grids: _grids,
    Literal: _choice,
    Annotated: _labels,
    tuple: _groups,
    Mapping: _shares,
}


def _expand_variables(place: str, value: str) -> str:
    """A value with environment variables in place of their names, and `$` for each `$$`."""
    parts = [os.path.expandvars(part) for part in value.split("$$")]
    if any("$" in part for part in parts):
        raise RecipeError(f"{place} is `{value}`, but that environment variable is not set; write $$ for a $")
    return "$".join(parts)


def as_toml(recipe: Recipe) -> str:
    """A recipe as TOML, which `load_recipe` reads back to an equal one.

    Sections have all their parameters but those that are not set; grids, sides and rounds what differs from a default.
    Paths are as they are in the recipe: give it absolute ones if it is to be walked from elsewhere.
    """
    sections = [
        _section_toml(_KEYS.get(item.name, item.name), getattr(recipe, item.name))
        for item in fields(recipe)
        if item.name != "grids" and getattr(recipe, item.name) is not None
    ]
    return "\n".join([*sections, *map(_grid_toml, recipe.grids)])


_EXPANDED = (Path, tuple[Path, ...], tuple[str, ...], Models)
"""Types of parameters in whose values `$NAME` stands for an environment variable."""


def _section_toml(heading: str, options: Any) -> str:
    return toml.format_section(f"[{heading}]", {item.name: _toml_value(options, item.name) for item in fields(options)})


def _grid_toml(plan: GridPlan) -> str:
    changed = {name: value for name, value in _changed_values(plan).items() if name != "rounds"}
    stages = {
        name: changed.pop(name) for name in ("agreement", "adjudicate", "validate", "partition") if name in changed
    }
    rounds = [toml.format_section("[[grid.round]]", _round_values(round_)) for round_ in plan.rounds]
    stage_sections = [_section_toml(f"grid.{name}", getattr(plan, name)) for name in stages]
    return "\n".join([toml.format_section("[[grid]]", changed), *rounds, *stage_sections])


def _round_values(plan: RoundPlan) -> dict[str, Any]:
    return _changed_values(plan) | {"form": parse_form(plan.form).table, "prompt_file": None}


def _changed_values(options: Any) -> dict[str, Any]:
    """The parameters that must be there, that are seeds, or whose value is not the default."""
    defaults = defaults_of(options)
    values = as_params(options)
    return {
        item.name: _toml_value(options, item.name)
        for item in fields(options)
        if is_required(item) or item.name == "seed" or values[item.name] != defaults[item.name]
    }


def _toml_value(options: Any, name: str) -> Any:
    """The value of a parameter as a recipe has it; `$` is doubled where `$NAME` would stand for a variable."""
    value, hint = getattr(options, name), plain_type(get_type_hints(type(options), include_extras=True)[name])
    if is_dataclass(value):
        return _changed_values(value)
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return [_changed_values(one) for one in value]
    is_pool = isinstance(options, Evaluate) and name == "pool"
    return _escape_dollars(value) if is_pool or hint in _EXPANDED else value


def _escape_dollars(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_escape_dollars(one) for one in value]
    return None if value is None else str(value).replace("$", "$$")
