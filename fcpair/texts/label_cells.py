"""Cells of a table that hold several labels, as they are written."""

from __future__ import annotations

import re

from fcpair.errors import InputError
from fcpair.stages.corpus.text_identity import NO_TEXT
from fcpair.values import parse_json

_SEPARATOR = re.compile(r"\s*[,;،؛]\s*|\s*[\r\n]+\s*")
_SHOWN = 60  # characters of a cell that cannot be read


def split_cell(cell: str) -> list[str]:
    """Split a cell into its parts as they are written: those of a JSON list, or those between comma, semicolon (Latin
    or Persian) and line break. Parts may be empty, and an empty cell has none.

    Raises:
        InputError: it begins as a list does, and is not a JSON list of texts.
    """
    cell = cell.strip()
    if not cell:
        return []
    if not cell.startswith("["):
        return _SEPARATOR.split(cell)
    try:
        listed = parse_json(cell)
    except (ValueError, RecursionError):
        raise InputError(f"`{cell[:_SHOWN]}` is not a JSON list") from None
    if not all(isinstance(one, str) and not NO_TEXT.search(one) for one in listed):
        raise InputError(f"`{cell[:_SHOWN]}` is not a list of texts")
    return [one.strip() for one in listed]
