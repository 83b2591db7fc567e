"""Texts that a file lists, found among the texts of the study."""

from __future__ import annotations

from pathlib import Path

from fcpair.errors import Finding, reject
from fcpair.files.corpus.corpus import read_side
from fcpair.files.tables.tabular import LINE, place_of
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.corpus import texts


def listed(tx: Tx, side: str, path: Path) -> list[int]:
    """The ids of the texts of one side that a file lists, in its order.

    Raises:
        InputError: all findings at once: a text that is not in the study, a text that stands twice.
    """
    table = read_side(path, side)
    ids = texts.text_ids(tx, side)
    lines = table[LINE].tolist()
    digest = digester(tx)
    chosen = [ids.get(digest(text)) for text in table[side]]
    place = place_of(table)
    reject(path, [*_unknown(place, side, lines, chosen), *_twice(place, side, lines, chosen)])
    return [one for one in chosen if one is not None]


def _unknown(path: str, side: str, lines: list[int], chosen: list[int | None]) -> list[Finding]:
    missing = (line for line, one in zip(lines, chosen, strict=True) if one is None)
    return [Finding(path, line, f"this {side.upper()} is not in the study") for line in missing]


def _twice(path: str, side: str, lines: list[int], chosen: list[int | None]) -> list[Finding]:
    first: dict[int, int] = {}
    found = []
    for line, one in zip(lines, chosen, strict=True):
        if one is not None and first.setdefault(one, line) != line:
            found.append(Finding(path, line, f"this {side.upper()} stands in line {first[one]} already"))
    return found
