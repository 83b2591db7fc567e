"""Options of a use case: an object of a params class, keyword arguments by the names of its fields, or the recipe.

Keywords are written out for `help`, editors and mypy; that they are those of the class is tested (`test_keywords.py`).
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import Field, dataclass, fields
from typing import Any, NamedTuple, TypeVar, cast

from fcpair.errors import ConflictError, InputError
from fcpair.known_pairs import Controls, Practice, Qualification
from fcpair.param_values import Checked, check_effects, digest_params, invalid_value, is_required, with_kept
from fcpair.params import Adjudicate, Agree, Annotate, Calibration, Further, Partition, Simulate, Validate
from fcpair.plans import GridPlan
from fcpair.steps.base import context, departures
from fcpair.steps.base.context import StudyContext
from fcpair.store import Tx, people
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings
from fcpair.words import Words

Options = TypeVar("Options")

OF_STUDY = (Annotate, Practice, Simulate, Words)  # kept with the first grid, as they are about all

# Where none are given, what the stage was done with holds on.
HELD = (Adjudicate, Agree, Annotate, Further, Partition, Practice, Words)

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

    Left out is what cannot be beside them, the number of people if some are there, and with `more` what is of the first
    deal. Raises InputError for what is given, SettingError for what the recipe says.
    """
    with study._store.read() as tx:
        stage: str = cls.stage  # type: ignore[attr-defined]
        with grids.on_grid(tx, grids.keys(tx)[0].id if cls in OF_STUDY else grids.current_grid_id(tx)):
            # once a recipe was run, what it omits is what the stage was done with
            has_run, section = bool(departures.recipe_version(tx)), settings.RECIPE + stage
            values = settings.with_recipe(tx, stage) if has_run else settings.of_stage(tx, section)
        recipe_values = context.parameters_from_settings(cls, values)
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
            raise context.settings_error(cls, recipe_options, error) from None
        options = _combine_options(cls, recipe_options, overrides)
    check_effects(options, overrides)
    return options


def by_keywords(study: StudyContext, cls: type[Options], overrides: Mapping[str, Any], *, more: bool) -> Options:
    """The parameters of a stage of which some are given: those, and for the others what holds where none are given."""
    if cls not in HELD:
        return by_recipe(study, cls, more=more, **overrides)
    with study._store.read() as tx:
        held = context.parameters_from_settings(cls, settings.with_recipe(tx, cls.stage))  # type: ignore[attr-defined]
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
    if seen is not None and seen != digest_params(context.effective_options(tx, cls, {})):
        raise ConflictError.say("this was changed after the page was loaded, so nothing was saved")


def plan_sections(plan: GridPlan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the settings in a grid's plan for stages that come after its rounds, each with the name of its stage."""
    for name in OF_PLAN:
        if options := getattr(plan, name):
            yield options.stage, context.as_settings(options)


def matches_saved_options(tx: Tx, options: Any) -> bool:
    """Return whether these options are those that were set, with files that hold the same; never while none were."""
    saved = settings.of_stage(tx, options.stage)
    if not saved:
        return False
    completed = context.as_settings(context.build_options(type(options), saved, {})) | saved
    return all(departures.is_same(completed[name], value) for name, value in context.as_settings(options).items())


UseCase = TypeVar("UseCase", bound=Callable[..., Any])


@dataclass(frozen=True)
class Own:
    """The default of a keyword argument that is a setting of the grid's own, and `default` where it has none."""

    default: Any


class Required:
    """The default of a keyword argument that has none: it is given, or else an object that has it."""

    def __repr__(self) -> str:
        return "<required>"


def own(default: Any) -> Any:
    """The default of a keyword argument, typed as whatever the argument is."""
    return Own(default)


REQUIRED: Any = Required()


class _ParamsArgument(NamedTuple):
    """An argument that takes an object of a params class, and the keyword arguments that stand for its fields."""

    name: str
    position: int
    cls: type[Checked]
    may_be_none: bool
    items: tuple[Field[Any], ...]
    is_own: bool


def takes_params(use_case: UseCase) -> UseCase:
    """Have a use case take keyword arguments for the fields of the params classes that its signature asks for.

    It refuses, with InputError, what is not of such a class, and keyword arguments beside an object of it.
    """
    code = use_case.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    arguments, defaults = list[_ParamsArgument](), dict[str, Any](use_case.__kwdefaults__ or {})
    for name, annotation in use_case.__annotations__.items():
        # Annotations are not evaluated: most name what only type checkers load.
        cls = use_case.__globals__.get(annotation.removesuffix(" | None"))
        if name in names and isinstance(cls, type) and issubclass(cls, Checked):
            items = tuple(item for item in fields(cast(Any, cls)) if item.name in defaults)
            is_own = any(isinstance(defaults[item.name], Own) for item in items)
            may_be_none = annotation.endswith(" | None")
            arguments.append(_ParamsArgument(name, names.index(name), cls, may_be_none, items, is_own))

    @functools.wraps(use_case)
    def call_checked(*args: Any, **kwargs: Any) -> Any:
        bound = {**dict(zip(names, args, strict=False)), **kwargs}
        for argument in arguments:
            value, expected = bound.get(argument.name), f"{argument.cls.__name__}(...)"
            allowed = (argument.cls, type(None)) if argument.may_be_none else argument.cls
            if argument.name in bound and not isinstance(value, allowed):
                listed = ", ".join(item.name for item in argument.items)
                by_name = f", or arguments by name: {listed}" if listed else ""
                raise invalid_value(argument.name, value, f"{expected} of {argument.cls.__module__}{by_name}")
            overrides = {item.name: kwargs.pop(item.name) for item in argument.items if item.name in kwargs}
            needs = [item.name for item in argument.items if is_required(item)]
            if not overrides and (argument.name in bound or not needs):
                continue
            if value is not None:
                raise InputError(f"`{next(iter(overrides))}` and {expected} are both given; give one of them")
            about = bound[names[0]]  # a study or grid, or what has it
            study = about if isinstance(about, StudyContext) else about._grid
            options: Any
            if argument.is_own:
                options = by_keywords(study, argument.cls, overrides, more=bool(bound.get("more")))
            elif missing := [name for name in needs if name not in overrides]:
                known = f"{expected}, or all of {', '.join(needs)}"
                raise InputError(f"`{missing[0]}` is not given; expected {known}")
            else:
                options = argument.cls(**overrides)
            if argument.position < len(args):
                args = (*args[: argument.position], options, *args[argument.position + 1 :])
            else:
                kwargs[argument.name] = options
        return use_case(*args, **kwargs)

    signature = inspect.signature(use_case)
    parameters = [
        parameter.replace(default=parameter.default.default) if isinstance(parameter.default, Own) else parameter
        for parameter in signature.parameters.values()
    ]
    call_checked.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    if helped_items := [item for argument in arguments for item in argument.items]:
        call_checked.__doc__ = _with_help(
            use_case, helped_items, are_own=any(argument.is_own for argument in arguments)
        )
    return cast(UseCase, call_checked)


def explain_params(use_case: UseCase) -> UseCase:
    """Give a docstring the help of the keyword arguments that are fields of the params class an argument may be."""
    classes = (use_case.__globals__.get(hint.partition(" | ")[0]) for hint in use_case.__annotations__.values())
    cls = next(of for of in classes if isinstance(of, type) and issubclass(of, Checked))
    items = [item for item in fields(cast(Any, cls)) if item.name in (use_case.__kwdefaults__ or {})]
    use_case.__doc__ = _with_help(use_case, items)
    return use_case


def _with_help(use_case: UseCase, items: Iterable[Field[Any]], *, are_own: bool = False) -> str:
    """The docstring of a use case with the help of each keyword argument, which stands in the params class alone."""
    own_settings = ["An option that is not given is the grid's own setting, or else its default.", ""] * are_own
    helped = (
        textwrap.fill(f"{item.name}: {item.metadata['help']}", 108, initial_indent="    ", subsequent_indent="        ")
        for item in items
    )
    block = textwrap.indent("\n".join([*own_settings, "Args:", *helped]), "    ")
    text, raises, errors = (use_case.__doc__ or "").partition("\n    Raises:\n")
    return f"{text.rstrip()}\n\n{block}" + (f"\n{raises}{errors}" if raises else "\n    ")
