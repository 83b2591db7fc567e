"""Autodoc of the public interface: use cases that are bound lazily are loaded, and parameters have their help."""

from __future__ import annotations

import ast
import contextlib
import inspect
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import ModuleType
from typing import Any, get_type_hints

from sphinx.application import Sphinx
from sphinx.ext.autodoc.preserve_defaults import DefaultValue

from fcpair import grid, known_pairs, params, plans, round_options, study, words

PROPERTIES = {"attribute", "data", "property"}


def bind_use_cases(_app: Sphinx) -> None:
    """Put the use cases themselves in the place of what stands for them in the classes, and load their types."""
    for module in (grid, study):
        for name in module.__all__:
            getattr(module, name)
    for module in (params, plans, known_pairs, round_options, words):
        for cls in vars(module).values():
            if isinstance(cls, type) and is_dataclass(cls) and "__init__" in vars(cls):
                cls.__init__.__annotations__ = get_type_hints(cls)  # of heirs, which other modules may hold
    parts = (grid.CalibrationRound, grid.Desk, grid.Examples, grid.Settings, grid.Sheets, grid.Survey, grid.Tiers)
    for cls in (study.Study, grid.Grid, *parts):
        for name in list(vars(cls)):
            getattr(cls, name)
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "fcpair":
            import_for_types(module)


def import_for_types(module: ModuleType) -> None:
    """Import what a module imports for type checkers alone, so that its signatures can be read."""
    for statement in type_checking_imports(module):
        code = compile(ast.Module([statement], []), module.__file__ or "", "exec")
        imported: dict[str, Any] = {"__name__": module.__name__, "__package__": module.__package__}
        with contextlib.suppress(ImportError):  # stubs, which are no modules
            exec(code, imported)
        for alias in statement.names:
            name = alias.asname or alias.name
            if name in imported and name not in vars(module):
                setattr(module, name, imported[name])


def type_checking_imports(module: ModuleType) -> Iterator[ast.Import | ast.ImportFrom]:
    """The imports below `if TYPE_CHECKING` of a module."""
    for statement in ast.parse(inspect.getsource(module) or "pass").body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from (one for one in statement.body if isinstance(one, ast.Import | ast.ImportFrom))


def show_own_defaults(_app: Sphinx, subject: Any, _bound_method: bool) -> None:
    """Show the default of a keyword argument, and not that a setting of the grid's own takes its place."""
    signature = getattr(subject, "__signature__", None)
    for parameter in signature.parameters.values() if signature else ():
        if isinstance(parameter.default, DefaultValue) and parameter.default.name.startswith("own("):
            parameter.default.name = parameter.default.name.removeprefix("own(").removesuffix(")")


def add_field_help(_app: Sphinx, kind: str, _name: str, subject: Any, _options: Any, lines: list[str]) -> None:
    """Put the help of each parameter below the docstring of its class."""
    if kind == "class" and is_dataclass(subject):
        helps = [f":param {item.name}: {item.metadata['help']}" for item in fields(subject) if "help" in item.metadata]
        lines += ["", *helps, ""] * bool(helps)


def restore_properties(_app: Sphinx, kind: str, _name: str, subject: Any, _options: Any, lines: list[str]) -> None:
    """Undo what napoleon makes of the docstring of a property, whose words before a colon it takes for a type."""
    docstring = inspect.getdoc(subject) or ""
    if kind in PROPERTIES and lines and "Raises:" not in docstring:
        lines[:] = [*docstring.split("\n"), ""]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.connect("builder-inited", bind_use_cases)
    app.connect("autodoc-before-process-signature", show_own_defaults)
    app.connect("autodoc-process-docstring", add_field_help)
    app.connect("autodoc-process-docstring", restore_properties, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
