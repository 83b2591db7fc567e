"""The study recipe: a TOML file with every parameter and seed of a study, stage by stage.

TOML writes files, variables, questions and tables differently from Python; `param_values` checks kinds and bounds, as
of all parameters. Messages begin with the place of a value.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from fcpair import params
from fcpair.errors import (
    Finding,
    InputError,
    RecipeError,
    combine_findings,
    nearest_name,
    suggest_name,
    translate_read_errors,
)
from fcpair.evaluate.catalogue import check_cutoff, check_evaluation, parse_system
from fcpair.files.tables.text_files import format_section
from fcpair.known_pairs import Controls, KnownItems, Practice, Qualification
from fcpair.param_values import as_params, field_readers, invalid_value, is_required, plain_type
from fcpair.plans import STAGES_OF_GRID, GridPlan, PrintedForm
from fcpair.records import TIERS
from fcpair.round_options import Models
from fcpair.sentences import say
from fcpair.stages.answers.model_spec import parse_model_spec
from fcpair.stages.assignment.plan import check_plans
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.stages.questions import Form, parse_form
from fcpair.stages.questions.labels import GridNames, check_own_tiers, check_words, read_choices, read_labels
from fcpair.stages.stats.agreement import check_bins
from fcpair.tier_plans import check_tier_name
from fcpair.words import TABLES, Nouns, OptionWordings, Wordings, Words

# About every grid, or about others than `main`.
_STUDY_WIDE = ("setup", "annotate", "words", "practice", "simulate", "grids")


@dataclass(frozen=True)
class Recipe:
    """A whole study; None stands for a section that the recipe does not have.

    The section `simulate` has simulated people fill the open rounds; without it people do.
    """

    setup: params.Setup | None = None
    import_: params.Import | None = None
    select: params.Select | None = None
    retrieve: params.Retrieve | None = None
    pair: params.Pair | None = None
    qualification: Qualification | None = None
    controls: Controls | None = None
    calibration: params.Calibration | None = None
    assign: params.Assign | None = None
    further: params.Further | None = None
    annotate: params.Annotate | None = None
    words: Words | None = None
    practice: Practice | None = None
    simulate: params.Simulate | None = None
    agreement: params.Agree | None = None
    adjudicate: params.Adjudicate | None = None
    validate: params.Validate | None = None
    partition: params.Partition | None = None
    evaluate: params.Evaluate | None = None
    extend: tuple[params.Extend, ...] = ()
    grids: tuple[GridPlan, ...] = ()

    @property
    def has_main(self) -> bool:
        """Return whether the study has the grid `main`: unless the recipe plans grids, and has no stage of `main`."""
        return not self.grids or any(
            getattr(self, item.name) not in (None, ()) for item in fields(self) if item.name not in _STUDY_WIDE
        )


_LISTS = ("extend", "grids")
"""The fields that are lists of tables."""

_KEYS = {"setup": "study", "import_": "import", "grids": "grid", "rounds": "round"}
"""The key in a recipe of a field that has another name."""
_SECTIONS = {_KEYS.get(name, name): (name, plain_type(hint)) for name, hint in get_type_hints(Recipe).items()}
"""By what a recipe calls it, the field of each section, and what it is."""


def load_recipe(path: str | Path) -> Recipe:
    """Read a recipe file.

    Paths in it are relative to its folder; `$NAME` and `${NAME}` stand for environment variables. Raises RecipeError
    for no such file, not TOML, an unknown section or key (with the nearest known one), a value of the wrong kind, an
    environment variable that is not set. Several errors are listed in the order of the file, and are the error's
    `findings`.
    """
    path = Path(path)
    try:
        with translate_read_errors(path, RecipeError, expected="TOML"):
            content = tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise RecipeError(f"{path}: there is no such recipe") from None
    except OSError as error:
        raise RecipeError(f"{path}: cannot be read: {error.strerror}") from None

    def read_section(name: str, values: Any) -> Any:
        if name not in _SECTIONS:
            raise RecipeError(f"unknown section `{name}`; {suggest_name(name, _SECTIONS)}")
        _, kind = _SECTIONS[name]
        if is_dataclass(kind):
            return _convert_table(f"[{name}]", values, kind, path.parent)
        return _convert_tables(f"[[{name}]]", values, kind, path.parent)

    try:
        sections = _read_all(content, read_section)
        # They are checked against each other once each is right by itself.
        recipe = Recipe(**{_SECTIONS[name][0]: options for name, options in sections.items()})
        label = f"label: {(recipe.setup or params.Setup()).scheme}"
        checks = {
            check_plans: (recipe.grids, {params.MAIN: label} if recipe.has_main else {}),
            check_bins: (parse_form(label), recipe.agreement.bins if recipe.agreement else ()),
            check_words: (recipe.words or Words(), list(_grid_names(recipe))),
            _check_tiers: (recipe,),
        }
        _read_all(checks, lambda check, values: check(*values))
        return recipe
    except ExceptionGroup as group:
        errors = group.exceptions
    if len(errors) == 1:
        raise RecipeError(f"{path}: {errors[0]}")
    raise combine_findings(path, (Finding(str(path), None, str(error)) for error in errors), RecipeError)


def _read_all(values: Mapping[Any, Any], read: Callable[[Any, Any], Any]) -> dict[Any, Any]:
    """The results of `read`, called with each key and its value; raises all their errors as one flat group."""
    results, errors = dict[Any, Any](), list[Exception]()
    for key, value in values.items():
        try:
            results[key] = read(key, value)
        except* InputError as group:
            errors += group.exceptions
    if errors:
        raise ExceptionGroup("a recipe that cannot be used", errors)
    return results


def _check_tiers(recipe: Recipe) -> None:
    """Raise InputError for own tiers of `main` that can hold no pair, and for a tier to evaluate on that is none."""
    tiers = recipe.partition.own_tiers if recipe.partition else {}
    (_, question), *_ = parse_form(f"label: {(recipe.setup or params.Setup()).scheme}").questions
    with prefix_errors("[partition]"):
        check_own_tiers(
            tiers,
            question,
            n_people=recipe.assign.annotators if recipe.assign else None,
            is_validated=bool(recipe.validate or not recipe.assign),
        )
    for tier in recipe.evaluate.tiers if recipe.evaluate else ():
        with prefix_errors("[evaluate]"):
            check_tier_name(tier, (*TIERS, *tiers))


def _grid_names(recipe: Recipe) -> Iterator[GridNames]:
    if recipe.has_main:
        setup = recipe.setup or params.Setup()
        yield GridNames(
            params.MAIN, (setup.hs_name, setup.cn_name, "hs", "cn"), (parse_form(f"label: {setup.scheme}"),)
        )
    for plan in recipe.grids:
        forms = tuple(parse_form(round_.form) for round_ in plan.rounds)
        names = (plan.row_name, plan.column_name, *plan.rows.names, *plan.columns.names)
        yield GridNames(plan.name, names, forms)


def _convert_table(place: str, values: Any, cls: Any, folder: Path) -> Any:
    if not isinstance(values, dict):
        raise RecipeError(f"{place} must be a table")
    items = {_KEYS.get(item.name, item.name): item for item in fields(cls)}
    # The keys that it must have and has not, not even misspelled.
    present = {key if key in items else nearest_name(key, items) for key in values}
    missing = [key for key, item in items.items() if is_required(item) and key not in present]
    hints, checks = get_type_hints(cls, include_extras=True), dict(field_readers(cls))

    def read_item(key: str, value: Any) -> Any:
        if key not in items:
            raise RecipeError(f"{place}: unknown key `{key}`; {suggest_name(key, items)}")
        if value is MISSING:
            raise RecipeError(f"{place}: `{key}` is missing")
        name = items[key].name
        kind, value_place = plain_type(hints[name]), f"{place} {key}"
        check_texts(value_place, value)
        if is_dataclass(kind):
            converted = _convert_table(value_place, value, kind, folder)
        elif get_origin(kind) is tuple and is_dataclass(get_args(kind)[0]):
            converted = _convert_tables(value_place, value, kind, folder)
        else:
            convert = _CONVERTERS.get(kind) or _CONVERTERS.get(get_origin(kind))
            converted = convert(value_place, value, folder) if convert else value
        with prefix_errors(place):
            return checks[name](name, converted)

    read = _read_all({**dict.fromkeys(missing, MISSING), **values}, read_item)
    with prefix_errors(place):
        options = cls(**{items[key].name: value for key, value in read.items()})
    return _resolve_files(place, options, folder.absolute()) if isinstance(options, params.Evaluate) else options


def _convert_tables(place: str, tables: Any, kind: Any, folder: Path) -> tuple[Any, ...]:
    """Convert the tables of a list; messages call each by its name, or by its number where it has none."""
    (cls, _) = get_args(kind)
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise RecipeError(f"{place} must be a list of tables, each with its heading in double brackets")

    def read_table(number: int, table: dict[str, Any]) -> Any:
        form, name = table.get("form"), table.get("name", number)
        if isinstance(form, str):  # the one question of a round, which has the round's own name
            table = {**table, "form": {name if isinstance(name, str) else "unnamed": form}}
        return _convert_table(f"{place} {name}", table, cls, folder)

    return tuple(_read_all(dict(enumerate(tables, 1)), read_table).values())


def _resolve_files(place: str, options: params.Evaluate, folder: Path) -> params.Evaluate:
    """The same with the files that systems and pool name taken to be in the recipe's folder, wherever one is."""
    if not options.systems:
        raise RecipeError(f'{place}: `systems` is missing; name at least one, as in ["tfidf"]')
    with prefix_errors(place):
        check_evaluation(options)
        if options.cutoff != params.Evaluate().cutoff:
            check_cutoff(options)
    systems = tuple(str(parse_system(system).resolve_in(folder)) for system in options.systems)
    pool = (
        options.pool if options.pool in params.POOLS else str(folder / expand_variables(f"{place} pool", options.pool))
    )
    return replace(options, systems=systems, pool=pool)


def as_toml(recipe: Recipe) -> str:
    """A recipe as TOML, which `load_recipe` reads back to an equal one.

    Sections have all their parameters but those that are not set; grids, sides and rounds what differs from a default.
    Paths are as they are in the recipe: give it absolute ones if it is to be walked from elsewhere.
    """
    sections = [
        _section_toml(_KEYS.get(item.name, item.name), getattr(recipe, item.name))
        for item in fields(recipe)
        if item.name not in _LISTS and getattr(recipe, item.name) is not None
    ]
    sections += [format_section("[[extend]]", _changed_values(options)) for options in recipe.extend]
    for plan in recipe.grids:
        changed = {name: value for name, value in _changed_values(plan).items() if name != "rounds"}
        stages = {name: changed.pop(name) for name in STAGES_OF_GRID if name in changed}
        sections.append(format_section("[[grid]]", changed))
        for round_ in plan.rounds:
            values = _changed_values(round_) | {"form": parse_form(round_.form).table, "prompt_file": None}
            sections.append(format_section("[[grid.round]]", values))
        sections += [_section_toml(f"grid.{name}", getattr(plan, name)) for name in stages]
    return "\n".join(sections)


_EXPANDED = (Path, tuple[Path, ...], tuple[str, ...], Models)
"""Types of parameters in whose values `$NAME` stands for an environment variable."""


def _section_toml(heading: str, options: Any) -> str:
    values = {item.name: _toml_value(options, item.name) for item in fields(options)}
    tables = {name: values.pop(name) for name in getattr(options, "verbatim", ())}
    sections = {f"[{heading}]": values, **{f"[{heading}.{name}]": table for name, table in tables.items() if table}}
    return "\n".join(format_section(place, items) for place, items in sections.items())


def _changed_values(options: Any) -> dict[str, Any]:
    """The parameters that must be there, that are seeds, or whose value is not the default."""
    defaults, values = params.defaults_of(options), as_params(options)
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
        return [_changed_values(item) for item in value]
    is_pool = isinstance(options, params.Evaluate) and name == "pool"
    return _escape_dollars(value) if is_pool or hint in _EXPANDED else value


def _escape_dollars(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_escape_dollars(item) for item in value]
    return None if value is None else str(value).replace("$", "$$")


@contextmanager
def prefix_errors(place: str) -> Iterator[None]:
    """Have an InputError begin with its place in the recipe, and be a RecipeError."""
    try:
        yield
    except InputError as error:
        raise RecipeError(f"{place}: {error}") from None


def check_texts(place: str, value: Any) -> None:
    """Raise RecipeError for a text, or a list with one, that has a NUL character."""
    if any(isinstance(text, str) and NO_TEXT.search(text) for text in (value if isinstance(value, list) else [value])):
        raise RecipeError(f"{place} contains a NUL character; remove it")


def expand_variables(place: str, value: str) -> str:
    """A value with environment variables in place of their names, and `$` for each `$$`."""
    parts = [os.path.expandvars(part) for part in value.split("$$")]
    if any("$" in part for part in parts):
        raise RecipeError(f"{place} is `{value}`, but that environment variable is not set; write $$ for a $")
    return "$".join(parts)


def _path(place: str, value: Any, folder: Path) -> Path:
    if not isinstance(value, str):
        raise invalid_value(place, value, say("the name of a file"))
    return folder / expand_variables(place, value)


def _names(place: str, value: Any, _folder: Path) -> Any:
    if not isinstance(value, list):
        return value
    return [expand_variables(place, item) if isinstance(item, str) else item for item in value]


def _models(place: str, value: Any, folder: Path) -> Any:
    if not isinstance((names := _names(place, value, folder)), list):
        return names
    with prefix_errors(place):
        return [
            str(parse_model_spec(item).resolve_in(folder.absolute())) if isinstance(item, str) else item
            for item in names
        ]


def _labels(place: str, value: Any, _folder: Path) -> str:
    written = isinstance(value, str)
    if not written and not (isinstance(value, list) and all(isinstance(choice, dict) for choice in value)):
        raise RecipeError(f"{place} must be a list of tables, or a question such as one_of(no,unsure?,yes+)")
    with prefix_errors(place):
        return str(read_labels(value) if written else read_choices(value))


def _form(place: str, value: Any, _folder: Path) -> str:
    if not isinstance(value, dict):
        raise RecipeError(f"{place} must be a question such as one_of(no,yes+), or a table of questions by name")
    with prefix_errors(place):
        return str(Form.from_table(value))


def _words(place: str, value: Any, _folder: Path) -> Any:
    """A table of [words]; raises all that is wrong with it as one group."""
    if problems := list(TABLES[place.rpartition(" ")[2]](value)) if isinstance(value, dict) else []:
        raise ExceptionGroup("words that cannot be used", [RecipeError(f"{place}: {problem}") for problem in problems])
    return value


def _shares(place: str, value: Any, _folder: Path) -> Any:
    with prefix_errors(place):
        return params.read_shares(value.items()) if isinstance(value, dict) else value


_CONVERTERS: dict[Any, Callable[[str, Any, Path], Any]] = {
    Path: _path,
    tuple[Path, ...]: lambda place, value, folder: (
        [_path(place, item, folder) for item in value] if isinstance(value, list) else value
    ),
    tuple[str, ...]: _names,
    PrintedForm: _form,
    params.Labels: _labels,
    Models: _models,
    **dict.fromkeys((Nouns, Wordings, OptionWordings), _words),
    KnownItems: lambda _place, value, _folder: [value] if isinstance(value, dict) else value,
    Mapping: _shares,
}
