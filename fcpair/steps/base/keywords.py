"""Keyword arguments of use cases: the fields of a params class by their own names, beside an object of the class.

A use case writes them out, so that `help`, editors and mypy see them, and reads the object alone: `takes_params` makes
it. That names, types, defaults and order are those of the class is tested (`tests/steps/base/test_keywords.py`).
"""

from __future__ import annotations

import functools
import inspect
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import Field, dataclass, fields
from typing import Any, TypeVar, cast

from fcpair.errors import InputError
from fcpair.param_values import Checked, invalid_value, is_required
from fcpair.steps.base.context import StudyContext
from fcpair.steps.base.recipe_options import by_keywords

UseCase = TypeVar("UseCase", bound=Callable[..., Any])
DOC_WIDTH = 116


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


@dataclass(frozen=True)
class _ParamsArgument:
    """An argument that takes an object of a params class, and the keyword arguments that stand for its fields."""

    name: str
    position: int
    cls: type[Checked]
    may_be_none: bool
    items: tuple[Field[Any], ...]
    is_own: bool

    @property
    def needs(self) -> list[str]:
        """The fields that have no default."""
        return [item.name for item in self.items if is_required(item)]

    def check(self, value: Any) -> None:
        """Raise InputError for what is not of the class."""
        if not (isinstance(value, self.cls) or (value is None and self.may_be_none)):
            by_name = f", or arguments by name: {', '.join(item.name for item in self.items)}" if self.items else ""
            raise invalid_value(self.name, value, f"{self.cls.__name__}(...) of {self.cls.__module__}{by_name}")

    def make(self, study: StudyContext, overrides: Mapping[str, Any], *, more: bool) -> Any:
        """The object that has the keyword arguments that are given."""
        if self.is_own:
            return by_keywords(study, self.cls, overrides, more=more)
        if missing := [name for name in self.needs if name not in overrides]:
            known = f"{self.cls.__name__}(...), or all of {', '.join(self.needs)}"
            raise InputError(f"`{missing[0]}` is not given; expected {known}")
        return self.cls(**overrides)


def takes_params(use_case: UseCase) -> UseCase:
    """Have a use case take keyword arguments for the fields of the params classes that its signature asks for.

    It refuses, with InputError, what is not of such a class, and keyword arguments beside an object of it.
    """
    code = use_case.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    arguments = tuple(_params_arguments(use_case, names))

    @functools.wraps(use_case)
    def call_checked(*args: Any, **kwargs: Any) -> Any:
        bound = {**dict(zip(names, args, strict=False)), **kwargs}
        for argument in arguments:
            if argument.name in bound:
                argument.check(bound[argument.name])
            overrides = {item.name: kwargs.pop(item.name) for item in argument.items if item.name in kwargs}
            if not overrides and (argument.name in bound or not argument.needs):
                continue
            if bound.get(argument.name) is not None:
                raise InputError(
                    f"`{next(iter(overrides))}` and {argument.cls.__name__}(...) are both given; give one of them"
                )
            about = bound[names[0]]  # a study or grid, or what has it
            study = about if isinstance(about, StudyContext) else about._grid
            options = argument.make(study, overrides, more=bool(bound.get("more")))
            if argument.position < len(args):
                args = (*args[: argument.position], options, *args[argument.position + 1 :])
            else:
                kwargs[argument.name] = options
        return use_case(*args, **kwargs)

    signature = inspect.signature(use_case)
    parameters = [
        one.replace(default=one.default.default) if isinstance(one.default, Own) else one
        for one in signature.parameters.values()
    ]
    call_checked.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    call_checked.__doc__ = _doc_with_arguments(use_case.__doc__ or "", arguments)
    return cast(UseCase, call_checked)


def _params_arguments(use_case: Callable[..., Any], names: tuple[str, ...]) -> Iterator[_ParamsArgument]:
    defaults: dict[str, Any] = use_case.__kwdefaults__ or {}
    for name, annotation in use_case.__annotations__.items():
        # Annotations are not evaluated: most name what only type checkers load.
        cls = use_case.__globals__.get(annotation.removesuffix(" | None"))
        if name in names and isinstance(cls, type) and issubclass(cls, Checked):
            items = tuple(item for item in fields(cast(Any, cls)) if item.name in defaults)
            is_own = any(isinstance(defaults[item.name], Own) for item in items)
            yield _ParamsArgument(name, names.index(name), cls, annotation.endswith(" | None"), items, is_own)


def _doc_with_arguments(doc: str, arguments: tuple[_ParamsArgument, ...]) -> str:
    """The docstring with the help of each keyword argument, which stands in the params class alone."""
    items = [item for argument in arguments for item in argument.items]
    if not items:
        return doc
    own_settings = ["An option that is not given is the grid's own setting, or else its default.", ""]
    helped = (
        textwrap.fill(
            f"{item.name}: {item.metadata['help']}", DOC_WIDTH - 8, initial_indent="    ", subsequent_indent="        "
        )
        for item in items
    )
    lines = [*own_settings * any(one.is_own for one in arguments), "Args:", *helped]
    block = textwrap.indent("\n".join(lines), "    ")
    text, raises, errors = doc.partition("\n    Raises:\n")
    return f"{text.rstrip()}\n\n{block}\n{raises}{errors}" if raises else f"{text.rstrip()}\n\n{block}\n    "
