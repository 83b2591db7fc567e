"""Texts that a file lists, found among the texts of the study."""

from __future__ import annotations

from pathlib import Path

from fcpair.errors import Finding, reject
from fcpair.files.corpus.corpus import read_side
from fcpair.files.tables.tabular import LINE, place_of
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.corpus import texts


def find_listed_texts(tx: Tx, side: str, path: Path) -> list[int]:
    """The ids of the texts of one side that a file lists, in its order.

    Raises:
        InputError: all findings at once: a text that is not in the study, a duplicated text.
    """
    table = read_side(path, side)
    id_by_digest = texts.text_ids(tx, side)
    lines = table[LINE].tolist()
    digest = digester(tx)
    text_ids = [id_by_digest.get(digest(text)) for text in table[side]]
    place = place_of(table)
    reject(
        path, [*_unknown_text_errors(place, side, lines, text_ids), *_duplicate_errors(place, side, lines, text_ids)]
    )
    return [one for one in text_ids if one is not None]


def _unknown_text_errors(path: str, side: str, lines: list[int], text_ids: list[int | None]) -> list[Finding]:
    missing = (line for line, one in zip(lines, text_ids, strict=True) if one is None)
    return [Finding(path, line, f"this {side.upper()} is not in the study") for line in missing]


def _duplicate_errors(path: str, side: str, lines: list[int], text_ids: list[int | None]) -> list[Finding]:
    first_lines: dict[int, int] = {}
    errors = []
    for line, text_id in zip(lines, text_ids, strict=True):
        if text_id is not None and first_lines.setdefault(text_id, line) != line:
            errors.append(Finding(path, line, f"this {side.upper()} is already in line {first_lines[text_id]}"))
    return errors
