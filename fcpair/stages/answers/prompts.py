"""Prompts with named places: `{row}`, `{column}`, `{definition}`, `{examples}` and `{row.NAME}` for the row's metadata.

`{{` and `}}` stand for braces.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fcpair.errors import Finding, reject, suggest_name

ROW, COLUMN, DEFINITION, EXAMPLES = "row", "column", "definition", "examples"
PLACES = (ROW, COLUMN, DEFINITION, EXAMPLES)
ROW_PREFIX = "row."
_PIECE = re.compile(r"\{\{|\}\}|\{([^{}\n]*)\}|[{}]")


def parse_places(prompt: str, prompt_name: str = "the prompt") -> set[str]:
    """The names of the places of a prompt.

    Raises:
        InputError: all that is wrong with it: a place that is not known, with its line and the nearest known one; a
            brace by itself; no `{row}`.
    """
    places: set[str] = set()
    findings: list[Finding] = []
    for piece in _PIECE.finditer(prompt):
        if piece[0] in ("{{", "}}"):
            continue
        name, line = piece[1], prompt.count("\n", 0, piece.start()) + 1
        if name is None:
            findings.append(Finding(prompt_name, line, f"a single brace; write `{piece[0] * 2}` for one"))
        elif name not in PLACES and not (name.startswith(ROW_PREFIX) and len(name) > len(ROW_PREFIX)):
            hint = f"{suggest_name(name, PLACES)} (`{{row.NAME}}` is a column of the row's file)"
            findings.append(Finding(prompt_name, line, f"there is no placeholder `{{{name}}}`; {hint}"))
        else:
            places.add(name)
    if ROW not in places:
        needs = "a prompt without `{row}`, the placeholder for the text of the row"
        findings.append(Finding(prompt_name, None, needs))
    reject(prompt_name, findings)
    return places


def row_columns(prompt: str) -> set[str]:
    """The names of the metadata of a row for which a prompt has a place."""
    names = {piece[1] for piece in _PIECE.finditer(prompt) if piece[1] is not None}
    return {name.removeprefix(ROW_PREFIX) for name in names if name.startswith(ROW_PREFIX)}


def fill_prompt(prompt: str, places: Mapping[str, str], row_metadata: Mapping[str, str]) -> str:
    """The prompt with its places filled; metadata that a row lacks leave theirs empty, and what is no place stays."""

    def fill_place(piece: re.Match[str]) -> str:
        if piece[1] is None:
            return piece[0][0]
        if piece[1].startswith(ROW_PREFIX):
            return row_metadata.get(piece[1].removeprefix(ROW_PREFIX), "")
        return places.get(piece[1], piece[0])

    return _PIECE.sub(fill_place, prompt)
