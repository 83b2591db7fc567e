"""The modules of `steps`, each loaded when one of its use cases is first called or looked at.

`Study` and `Grid` bind the use cases as methods. Each stands for its use case until somebody asks for it, which then
takes its place, with the method's name. Type checkers see the modules themselves.
"""

# mypy: implicit-reexport
# ruff: noqa: F401
from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cached_property, update_wrapper
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fcpair.steps import building, extension, grids, release_folder, survey
    from fcpair.steps.adjudication import adjudicate, adjudication_queue, agreement, case_queues, discussion
    from fcpair.steps.answers import (
        answer_import,
        answer_tables,
        curation,
        examples,
        generate,
        import_fc_conan,
        practice,
        ranking,
        relabel,
        simulate,
        withdraw,
        work_files,
        work_queue,
    )
    from fcpair.steps.assignment import assign, calibration, further, leases, overlap_plan, rounds, validate
    from fcpair.steps.base import context, keywords, text_digests
    from fcpair.steps.oversight import (
        conflict_list,
        dashboard,
        doctor,
        methods,
        pair_search,
        recipe_runner,
        release_log,
        report,
        status,
        study_recipe,
        study_start,
    )
    from fcpair.steps.people import access, eligibility, known_pairs, people, reassignment
    from fcpair.steps.release import block_report, evaluate, export, partition
    from fcpair.steps.rules import rule_decisions, tallies, text_checks, wording

    static, cached = staticmethod, cached_property
else:

    def __getattr__(name: str) -> _Module:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return _Module(name)

    def static(use_case: _UseCase) -> _UseCase:
        """A use case that takes neither a study nor a grid, as a static method."""
        return _UseCase(use_case._module, use_case._name, staticmethod)

    def cached(use_case: _UseCase) -> _UseCase:
        """A class that takes a study or a grid, as a property that is made once."""
        return _UseCase(use_case._module, use_case._name, cached_property)

    def classes(module: str, **names: list[str]) -> tuple[Callable[[str], Any], list[str]]:
        """The `__getattr__` of a `module` by which classes of modules of `steps` are had from it, and their names."""
        module_by_class = {name: home for home, class_names in names.items() for name in class_names}

        def load(name: str) -> Any:
            if name not in module_by_class:
                raise AttributeError(f"module {module!r} has no attribute {name!r}")
            return _UseCase(module_by_class[name], name).load()

        return load, list(module_by_class)


_FOLDER = Path(__file__).parent
# No two modules of this floor have the same name.
_PLACES = {path.stem: ".".join(path.with_suffix("").relative_to(_FOLDER).parts) for path in _FOLDER.rglob("[a-z]*.py")}


class _Module:
    """Stands for a module of `steps`; what it holds are use cases."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> _UseCase:
        return _UseCase(self._name, name)


class _UseCase:
    """Stands for a function or a class of a module of `steps`, and gives way to it in the class that binds it."""

    def __init__(self, module: str, name: str, bind: Callable[[Any], Any] | None = None) -> None:
        self._module, self._name, self._bind = module, name, bind

    def load(self) -> Any:
        """The function or class itself."""
        return getattr(import_module(f"fcpair.steps.{_PLACES[self._module]}"), self._name)

    def __set_name__(self, owner: type, name: str) -> None:
        self._owner, self._method = owner, name

    def __get__(self, instance: object, owner: type) -> Any:
        method = self.load()
        if isinstance(method, FunctionType):
            method = self._as_method(method)
        if self._bind is not None:
            method = self._bind(method)
        if isinstance(method, cached_property):
            method.__set_name__(self._owner, self._method)
        setattr(self._owner, self._method, method)
        return getattr(owner if instance is None else instance, self._method)

    def _as_method(self, use_case: FunctionType) -> FunctionType:
        code, variables = use_case.__code__, use_case.__globals__
        method = FunctionType(code, variables, self._method, use_case.__defaults__, use_case.__closure__)
        update_wrapper(method, use_case)
        method.__kwdefaults__ = use_case.__kwdefaults__
        method.__module__, method.__name__ = self._owner.__module__, self._method
        method.__qualname__ = f"{self._owner.__name__}.{self._method}"
        signature = inspect.signature(use_case)
        # Users know the context of a step as `Study` or `Grid`.
        every = signature.parameters.values()
        parameters = [each.replace(annotation=each.annotation.replace("Context", "")) for each in every]
        if self._bind is None:
            parameters[0] = parameters[0].replace(name="self", annotation=inspect.Parameter.empty)
        method.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return method

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.load()(*args, **kwargs)
