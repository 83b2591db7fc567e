"""Digests by which a study knows a text, folded further where the study says so, and the texts that a file lists."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import cast

from fcpair.errors import Finding, reject
from fcpair.params import Setup
from fcpair.records import RunRecord
from fcpair.stages.corpus.text_identity import Folding, digest, fold_arabic
from fcpair.store import Tx
from fcpair.store.corpus import grids, texts
from fcpair.store.oversight import settings

FOLDING = "folding"
Digest = Callable[[str], str]


def save_folding(tx: Tx, setup: Setup, run: RunRecord) -> None:
    """Note how a new study folds its texts, for good."""
    with grids.on_first_grid(tx):
        settings.save_settings(tx, Setup.stage, {FOLDING: setup.folding}, run.id)


def folding(tx: Tx) -> Folding:
    """Folding that the study applies to texts before it tells them apart; `none` in studies before 0.8."""
    with grids.on_first_grid(tx):
        return cast(Folding, settings.of_stage(tx, Setup.stage).get(FOLDING, "none"))


def digester(tx: Tx) -> Digest:
    """Function that gives the digest by which the study recognises a text."""
    return folded_digest if folding(tx) == "arabic" else digest


def folded_digest(text: str) -> str:
    """The digest of a text that is folded."""
    return digest(fold_arabic(text))


def find_listed_texts(tx: Tx, side: str, path: Path, sheet_name: str | None = None) -> list[int]:
    """The ids of the texts of one side that a file lists, in its order; InputError for unknown and duplicated ones."""
    # Readers of files take long to load, and every look at a study asks how it folds its texts.
    from fcpair.files.corpus.corpus import read_side
    from fcpair.files.tables.tabular import LINE, choose_sheet, place_of

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
    return [id_ for id_ in text_ids if id_ is not None]
