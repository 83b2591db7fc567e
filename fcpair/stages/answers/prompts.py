"""Prompts with named places: `{row}`, `{column}`, `{definition}`, `{examples}` and `{row.NAME}` for the row's metadata.

`{{` and `}}` stand for braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fcpair.errors import Finding, nearest, reject

ROW, COLUMN, DEFINITION, EXAMPLES = "row", "column", "definition", "examples"
PLACES = (ROW, COLUMN, DEFINITION, EXAMPLES)
OF_ROW = "row."
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


def places_in(prompt: str, called: str = "the prompt") -> set[str]:
    """The names of the places of a prompt.

    Raises:
        InputError: all that is wrong with it: a place that is not known, with its line and the nearest known one; a
            brace by itself; no `{row}`.
    """
    found: set[str] = set()
    wrong: list[Finding] = []
    for piece in _PIECE.finditer(prompt):
        if piece[0] in ("{{", "}}"):
            continue
        name, line = piece[1], prompt.count("\n", 0, piece.start()) + 1
        if name is None:
            wrong.append(Finding(called, line, f"a brace by itself; `{piece[0] * 2}` stands for one"))
        elif name not in PLACES and not (name.startswith(OF_ROW) and len(name) > len(OF_ROW)):
            near = f"{nearest(name, PLACES)} (`{{row.NAME}}` is a column of the row's file)"
            wrong.append(Finding(called, line, f"there is no place `{{{name}}}`; {near}"))
        else:
            found.add(name)
    if ROW not in found:
        needs = "a prompt without its place; it needs `{row}`, where the text of the row goes"
        wrong.append(Finding(called, None, needs))
    reject(called, wrong)
    return found


def columns_of_row(prompt: str) -> set[str]:
    """The names of the metadata of a row for which a prompt has a place."""
    names = {piece[1] for piece in _PIECE.finditer(prompt) if piece[1] is not None}
    return {name.removeprefix(OF_ROW) for name in names if name.startswith(OF_ROW)}


def fill(prompt: str, places: Mapping[str, str], about_row: Mapping[str, str]) -> str:
    """The prompt with its places filled; metadata that a row lacks leave theirs empty, and what is no place stays."""

    def put(piece: re.Match[str]) -> str:
        if piece[1] is None:
            return piece[0][0]
        if piece[1].startswith(OF_ROW):
            return about_row.get(piece[1].removeprefix(OF_ROW), "")
        return places.get(piece[1], piece[0])

    return _PIECE.sub(put, prompt)
