"""Scripts joined with the modules that they import: a browser fetches one file, and not one after the other.

Each module becomes a function that is called once and gives what the module exports, so that names of one module never
meet those of another. Two scripts of one page must not import the same module: each would have it for itself.
"""

from __future__ import annotations

import re
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{([\w\s,$]*)\} from )?"\./([\w-]+\.js)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async function|function|class|const) (\w+))", re.MULTILINE)
_OTHER = re.compile(r"^(?:import|export)\b.*|\bimport\(.*", re.MULTILINE)


def join_script(path: Path) -> str:
    """The text of a script, with all modules that it imports before it.

    Raises:
        ValueError: a module is written in a way that cannot be joined, or modules import each other.
    """
    modules = [name for name in _modules_of(path, ()) if name != path.name]
    parts = [_as_function(path.with_name(name)) for name in modules]
    return "".join([*parts, _body(path)])


def _modules_of(path: Path, importers: tuple[str, ...]) -> list[str]:
    """The names of a script and of the modules that it needs, each after those that it imports itself."""
    if path.name in importers:
        raise ValueError(f"these modules import each other: {', '.join((*importers, path.name))}")
    imported = [match[2] for match in _IMPORT.finditer(path.read_text("utf-8"))]
    before = [name for one in imported for name in _modules_of(path.with_name(one), (*importers, path.name))]
    return list(dict.fromkeys([*before, path.name]))


def _as_function(path: Path) -> str:
    body = _body(path)
    exported = [match[1] for match in _EXPORT.finditer(body)]
    body = _EXPORT.sub("", body)
    return f"const {_variable(path.name)} = (() => {{\n{body}\nreturn {{ {', '.join(exported)} }};\n}})();\n"


def _body(path: Path) -> str:
    """A module that takes what it imports from the functions before it."""
    body = _IMPORT.sub(_take_imported, path.read_text("utf-8"))
    if other := _OTHER.search(_EXPORT.sub("", body)):
        raise ValueError(f"{path.name} has a line that cannot be joined: {other[0]}")
    return body


def _take_imported(match: re.Match[str]) -> str:
    return f"const {{ {match[1].strip()} }} = {_variable(match[2])};\n" if match[1] else ""


def _variable(name: str) -> str:
    return "$" + name.removesuffix(".js").replace("-", "_")
