"""The keys of a section of a recipe, with type, default and meaning, from the class of its parameters."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import Field, fields, is_dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from generated import GeneratedDirective
from markdown_tables import cell, table
from sphinx.application import Sphinx

from fcpair.param_values import field_default, is_required, plain_type
from fcpair.params import Extend
from fcpair.plans import Compare, GridPlan, RoundPlan, SidePlan, Source
from fcpair.recipe import Recipe
from fcpair.round_options import Checks

OTHER_TABLES = {"grid": GridPlan, "grid.round": RoundPlan, "side": SidePlan, "source": Source, "compare": Compare}
OTHER_TABLES |= {"checks": Checks, "extend": Extend}
KEYS = {"setup": "study", "import_": "import", "rounds": "round"}
SECTIONS: dict[str, type] = {
    KEYS.get(name, name): plain_type(hint) for name, hint in get_type_hints(Recipe).items() if name != "grids"
} | OTHER_TABLES
TYPES = {bool: "true or false", int: "whole number", float: "number", str: "text", Path: "path"}
PLURALS = {str: "texts", Path: "paths", int: "whole numbers", Mapping[str, str]: "tables"}


class RecipeKeys(GeneratedDirective):
    """The keys of the section that the argument names."""

    def make(self, argument: str) -> str:
        """A table, a row for each key."""
        return table(("key", "type", "default", "meaning"), rows(SECTIONS[argument]))


def rows(section: type) -> Iterator[tuple[str, str, str, str]]:
    """Of each key its name, type, default and meaning."""
    hints = get_type_hints(section, include_extras=True)
    for item in fields(section):
        name = KEYS.get(item.name, item.name)
        kind, default = type_name(hints[item.name]), default_of(item)
        if kind.startswith("table") and default == "`[]`":
            default = "`{}`"
        yield f"`{name}`", cell(kind), cell(default), cell(item.metadata["help"])


def type_name(hint: Any) -> str:
    """What a recipe may give for a type."""
    if get_origin(hint) is Annotated:
        return f"{type_name(get_args(hint)[0])}: {get_args(hint)[1]}"
    kind = plain_type(hint)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        return " or ".join(f"`{json.dumps(choice)}`" for choice in args)
    if origin is tuple:
        return f"list of {PLURALS.get(args[0]) or f'{type_name(args[0])}s'}"
    if origin is not None and issubclass(origin, Mapping):
        return f"table of {PLURALS.get(args[1], 'numbers' if args[1] in (int, float) else 'texts or tables')}"
    return "table" if is_dataclass(kind) else TYPES[kind]


def default_of(item: Field[Any]) -> str:
    """The default of a key, as a recipe would say it, or what holds where nothing is given."""
    if is_required(item):
        return "must be there"
    default = field_default(item)
    otherwise = item.metadata.get("otherwise", "none")
    if default is None or (not default and isinstance(default, str | tuple) and otherwise != "none"):
        return str(otherwise)
    return f"`{json.dumps(default)}`"


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("recipe-keys", RecipeKeys)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
