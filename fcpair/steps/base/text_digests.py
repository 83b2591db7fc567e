"""Digests by which a study knows a text, folded further where the study says so, and the ids by which files know it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from fcpair.errors import Finding, InputError, reject
from fcpair.params import Ids, Setup
from fcpair.records import RunRecord
from fcpair.stages.corpus.text_identity import Folding, digest, fold_arabic
from fcpair.store import Tx
from fcpair.store.corpus import grids, sides, texts
from fcpair.store.oversight import settings

if TYPE_CHECKING:
    from fcpair.files.release.trec_runs import TextIds

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


def load_text_ids(tx: Tx) -> dict[str, TextIds]:
    """The ids by which files may name the texts of each side, `hs` and `cn`: in the column `hs_id` or `cn_id` of any
    row, where a cell may list several.
    """
    # Readers of files take long to load, and every look at a study asks how it folds its texts.
    from fcpair.files.release.trec_runs import TextIds

    ids_by_side, merged = {}, sides.spellings(tx)
    for name, kind, (axis, _) in zip(sides.CORPUS, grids.side_kinds(tx), sides.AXES, strict=True):
        numbers, own_ids = {*texts.text_ids(tx, kind).values()}, dict[str, set[int]]()
        for text_id, meta in texts.metadata(tx, kind):
            for word in str(meta.get(f"{name}_id", "")).split():
                own_ids.setdefault(word, set()).add(merged.get(text_id, text_id))
        on_side = {merged.get(text_id, text_id) for text_id in sides.text_ids(tx, axis) or numbers}
        ids_by_side[name] = TextIds(own_ids, frozenset(numbers), on_side, merged)
    return ids_by_side


def find_listed_texts(
    tx: Tx, side: str, path: Path, sheet_name: str | None = None, ids: Ids | None = None
) -> list[int]:
    """The ids of the texts of one side that a file lists, by their words or their `ids`, in its order; InputError for
    unknown and duplicated ones.
    """
    from fcpair.files.corpus.corpus import read_side
    from fcpair.files.release.trec_runs import unknown_id
    from fcpair.files.tables.tabular import LINE, choose_sheet, place_of

    with choose_sheet(sheet_name):
        table = read_side(path, side, may_be_ids=True)
    lines, place, unknown, again = table[LINE].tolist(), place_of(table), list[Finding](), list[Finding]()
    if side in table.columns:
        if ids is not None:
            raise InputError(f"{path}: the file lists texts, so `ids` (--ids) has no effect; omit it")
        merged, digest, message = sides.spellings(tx), digester(tx), f"this {side.upper()} is not in the study"
        named: Mapping[str, Collection[int]]
        named = {of: {merged.get(text_id, text_id)} for of, text_id in texts.text_ids(tx, side).items()}
        words = [digest(text) for text in table[side]]
        unknown = [Finding(place, line, message) for line, word in zip(lines, words, strict=True) if word not in named]
    else:
        of_side, words = load_text_ids(tx)[side], [word.strip() for word in table[f"{side}_id"]]
        named, numbering = of_side.numbered_by(ids), of_side.numbering(ids)
        for line, word in zip(lines, words, strict=True):
            unknown += unknown_id(place, line, word, side, named, numbering)
    text_ids = [min(named.get(word, ()), default=None) for word in words]
    first_lines = dict[int, int]()
    for line, text_id in zip(lines, text_ids, strict=True):
        if text_id is not None and first_lines.setdefault(text_id, line) != line:
            again.append(Finding(place, line, f"this {side.upper()} is already in line {first_lines[text_id]}"))
    reject(path, [*unknown, *again])
    return [id_ for id_ in text_ids if id_ is not None]
