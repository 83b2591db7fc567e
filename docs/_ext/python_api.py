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

from fcpair import grid, params, plans, practice, round_options, study, words
from fcpair.deprecation import OldName

PROPERTIES = {"attribute", "data", "property"}


def bind_use_cases(_app: Sphinx) -> None:
    """Put the use cases themselves in the place of what stands for them in the classes, and load their types."""
    for module in (grid, study):
        for name in module.__all__:
            getattr(module, name)
    for module in (params, plans, practice, round_options, words):
        for cls in vars(module).values():
            if isinstance(cls, type) and is_dataclass(cls) and "__init__" in vars(cls):
                cls.__init__.__annotations__ = get_type_hints(cls)  # of heirs, which other modules may hold
    for cls in (study.Study, grid.Grid):
        for name, attribute in list(vars(cls).items()):
            if not isinstance(attribute, OldName):
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


def skip_old_names(_app: Sphinx, _kind: str, _name: str, attribute: Any, _skip: bool, _options: Any) -> bool | None:
    """Leave out the names of the version before."""
    is_old = isinstance(attribute, OldName) or (inspect.getdoc(attribute) or "").startswith("The old name of")
    return True if is_old else None


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
    app.connect("autodoc-skip-member", skip_old_names)
    app.connect("autodoc-process-docstring", add_field_help)
    app.connect("autodoc-process-docstring", restore_properties, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
