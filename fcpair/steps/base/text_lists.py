"""Texts that a file lists, found among the texts of the study."""

from __future__ import annotations

from pathlib import Path

from fcpair.errors import Finding, reject
from fcpair.files.corpus.corpus import read_side
from fcpair.files.tables.tabular import LINE, choose_sheet, place_of
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.corpus import texts


def find_listed_texts(tx: Tx, side: str, path: Path, sheet_name: str | None = None) -> list[int]:
    """The ids of the texts of one side that a file lists, in its order; of a workbook, one of its sheets does.

    Raises:
        InputError: all findings at once: a text that is not in the study, a duplicated text.
    """
    with choose_sheet(sheet_name):
        table = read_side(path, side)
    lines = table[LINE].tolist()
    id_by_digest, digest = texts.text_ids(tx, side), digester(tx)
    text_ids = [id_by_digest.get(digest(text)) for text in table[side]]
    place, first_lines, unknown, again = place_of(table), dict[int, int](), list[Finding](), list[Finding]()
    for line, text_id in zip(lines, text_ids, strict=True):
        if text_id is None:
            unknown.append(Finding(place, line, f"this {side.upper()} is not in the study"))
        elif first_lines.setdefault(text_id, line) != line:
            again.append(Finding(place, line, f"this {side.upper()} is already in line {first_lines[text_id]}"))
    reject(path, [*unknown, *again])
    return [one for one in text_ids if one is not None]
