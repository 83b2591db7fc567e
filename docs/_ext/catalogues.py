"""Tables of what the code has in catalogues: measures of rankings and of texts, systems, errors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from dataclasses import MISSING, fields
from typing import Any

from generated import GeneratedDirective
from markdown_tables import cell, table
from sphinx.application import Sphinx

from fcpair import errors
from fcpair.evaluate.catalogue import SYSTEMS
from fcpair.evaluate.measures import MEASURES, CutMeasure
from fcpair.texts.measures.measuring import MEASURES as TEXT_MEASURES
from fcpair.texts.measures.tokens import NgramMeasure

CATALOGUES: dict[str, dict[str, Any]] = {"measures": MEASURES, "systems": SYSTEMS, "measures of texts": TEXT_MEASURES}
NAME_ENDS = {"of": ":...", "n": "-N", "k": "@k"}
ADDRESS = re.compile(r"https://[^\s;,]*[^\s;,.)]")


class Catalogue(GeneratedDirective):
    """A table of the classes of the catalogue that the argument names."""

    def make(self, argument: str) -> str:
        """Of each class the word, the options with their defaults, and its docstring."""
        rows = ((name_of(kind), options_of(kind), docstring(kind)) for kind in CATALOGUES[argument].values())
        return table(("name", "options and defaults", "meaning"), rows)


def name_of(kind: Any) -> str:
    """The word by which a measure or a system is named, with what stands behind it."""
    ends = [end for name, end in NAME_ENDS.items() if name in in_the_name(kind)]
    return f"`{kind.word}{''.join(ends)}`"


def in_the_name(kind: Any) -> set[str]:
    """The fields that are part of the name, and not options in its brackets."""
    cut = {"k"} if issubclass(kind, CutMeasure) else {"n"} if issubclass(kind, NgramMeasure) else set()
    return cut | {item.name for item in fields(kind) if item.name == "of"}


def options_of(kind: Any) -> str:
    """The options of a measure or a system, as its name has them in brackets."""
    return ", ".join(
        f"`{item.name}`" if item.default is MISSING else f"`{item.name}={shown(item.default)}`"
        for item in fields(kind)
        if item.init and item.name not in in_the_name(kind)
    )


def shown(default: Any) -> str:
    """A default as a name has it."""
    return str(default).lower() if isinstance(default, bool) else str(default)


def docstring(kind: type) -> str:
    """A docstring as a cell; its paragraphs are sentences after each other."""
    text = cell(inspect.getdoc(kind) or "")
    return ADDRESS.sub(lambda address: "<" + address[0].replace("\\", "") + ">", text)


class Errors(GeneratedDirective):
    """A table of all errors that a user can cause."""

    def make(self, argument: str) -> str:
        """Of each class its name, what it also is, and when it is raised."""
        return table(("class", "is also", "when"), error_rows())


def error_rows() -> Iterator[tuple[str, str, str]]:
    """Of each error its name, its bases, and its docstring; in the order of the module."""
    for kind in vars(errors).values():
        if isinstance(kind, type) and issubclass(kind, errors.FcpairError):
            bases = ", ".join(f"`{base.__name__}`" for base in kind.__bases__ if base is not errors.FcpairError)
            yield f"{{class}}`~fcpair.errors.{kind.__name__}`", bases, docstring(kind)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register with Sphinx."""
    app.add_directive("catalogue", Catalogue)
    app.add_directive("errors", Errors)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
