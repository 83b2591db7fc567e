"""The cell of the grid that each row of a file is about, by its number or its texts, and whether the two agree."""

from __future__ import annotations

from itertools import takewhile

import numpy as np

from fcpair.errors import StageError
from fcpair.files.answers.answer_files import ImportedAnswers
from fcpair.files.corpus.corpus import CN, HS
from fcpair.lazy import pd
from fcpair.sentences import say
from fcpair.stages.corpus.text_identity import identity
from fcpair.stages.questions import NO_CODE
from fcpair.steps.base.context import load_opaque_ids
from fcpair.steps.base.text_digests import digester
from fcpair.store import Tx
from fcpair.store.assignment.rounds import WRITTEN
from fcpair.store.corpus import cells, grids, texts
from fcpair.store.corpus.grids import to_cell_id, to_public_number
from fcpair.store.oversight import build_progress

NOBODY = -1  # stands for a cell, a person or an assignment that there is not


def locate_cells(tx: Tx, incoming: ImportedAnswers) -> None:
    """Add `cell_id` to each row, and a finding where the pair is not in the grid or has other texts there."""
    if not build_progress.n_built(tx)["pair"]:
        raise StageError(say("the study has no pairs yet; run `fcpair pair`"))
    rows = incoming.rows.assign(pair=incoming.rows["pair"].map(load_opaque_ids(tx).decrypt_cell))
    unit = incoming.of.number
    kinds = dict(zip((HS, CN), grids.side_kinds(tx), strict=True))
    digest = digester(tx)
    sides = rows[[*kinds]].apply(lambda side: side.map(digest).map(_text_ids_by_digest(tx, kinds[str(side.name)])))
    if incoming.by_text:
        cell_id_by_texts = cells.of_rows(tx, sides["hs"].dropna().astype(int)).set_index(["hs_id", "cn_id"])["cell_id"]
        cell_id = cell_id_by_texts.reindex(pd.MultiIndex.from_frame(sides)).to_numpy()
        names = [f"`{_shorten(hs)}` x `{_shorten(cn)}`" for hs, cn in zip(rows["hs"], rows["cn"], strict=True)]
    else:
        ids = to_cell_id(tx, rows["pair"])
        known_cells = cells.by_id(tx, ids).set_index("cell_id")
        cell_id = ids.where(ids.isin(known_cells.index)).to_numpy()
        names = rows["pair"].astype(str).tolist()
        _compare_texts(tx, incoming, sides, ids, known_cells)
    is_outside = pd.isna(cell_id)
    is_unreadable = (rows["pair"] == NO_CODE).to_numpy() & (rows["hs"] == "").to_numpy()
    by_words = incoming.by_text and WRITTEN in kinds.values()
    ambiguity_note = ", or its text occurs in several cells; give the number of the cell" if by_words else ""
    messages = (f"{unit} {name} is not in the grid{ambiguity_note}" for name in names)
    incoming.add_findings(is_outside & ~is_unreadable, messages, cause=f"these {unit}s are not in the grid")
    ids = pd.Series(cell_id).fillna(NOBODY).astype("int64")
    incoming.rows = rows.assign(cell_id=ids, pair=to_public_number(ids).where(ids != NOBODY, rows["pair"]))


def _text_ids_by_digest(tx: Tx, kind: str) -> dict[str, int]:
    """The id of every text of one kind by what a file says of it; of what was written, those of the grid.

    Words that answer several texts are several texts, which their words alone do not tell apart: none of them is there.
    """
    if kind != WRITTEN:
        return texts.text_ids(tx, kind)
    grid_texts = cells.texts_of_grid(tx)
    grid_texts = grid_texts[grid_texts["kind"] == kind]
    digests = grid_texts["body"].map(digester(tx))
    is_unique = ~digests.duplicated(keep=False)
    return dict(zip(digests[is_unique], grid_texts["text_id"][is_unique], strict=True))


def letters(text: str) -> str:
    """Characters of a text that every program keeps: some change how lines end, and what is not printed."""
    return "".join(sign for sign in identity(text) if sign.isprintable() and not sign.isspace())


def _compare_texts(
    tx: Tx, incoming: ImportedAnswers, sides: pd.DataFrame, ids: pd.Series[int], known_cells: pd.DataFrame
) -> None:
    """Add a finding where the text beside a number is not that pair's, which names the cell and what it was.

    A spreadsheet program changed it, or the texts were sorted apart from their numbers, or the sheet is of another
    study, of which no text fits.
    """
    rows, changes = incoming.rows, dict[int, str]()
    n_fitting, n_moved = 0, 0
    for side, column, kind in zip((HS, CN), incoming.of.sides, grids.side_kinds(tx), strict=True):
        expected = ids.map(known_cells[f"{side}_id"])
        has_text = (rows[side] != "") & expected.notna()
        differs = has_text & (sides[side] != expected)
        if differs.any():
            bodies = texts.texts_of(tx, kind).set_index("id")["body"]
            differs &= rows[side].map(letters) != expected.map(bodies.map(letters))
            for at in np.flatnonzero(differs).tolist():
                changes.setdefault(at, describe_change(column, bodies[expected.iloc[at]], rows[side].iloc[at]))
        n_fitting += int((has_text & ~differs).sum())
        n_moved += int((differs & sides[side].notna()).sum())
    if not changes:
        return
    remedy = (
        "was a column sorted without the others?"
        if n_moved > len(changes) / 2
        else "a spreadsheet program changes cells when it saves a CSV; put the texts back, or use workbooks (.xlsx)"
        if n_fitting
        else "is the sheet from another study?"
    )
    clause = f"other texts in this study: {{}}; {remedy}"
    incoming.add_findings(
        np.isin(np.arange(len(rows)), [*changes]),
        (
            f"{incoming.of.number} {number} has {clause.format(changes.get(at, ''))}"
            for at, number in enumerate(rows["pair"])
        ),
        cause=f"these {incoming.of.number}s have {clause.format(f'in the first, {changes[min(changes)]}')}",
    )


def describe_change(column: str, was: str, found: str) -> str:
    """What a cell of a column was and is, in short, from a little before where they differ."""
    same = takewhile(lambda signs: signs[0] == signs[1], zip(was, found, strict=False))
    start = max(sum(1 for _ in same) - 10, 0)
    old, new = (("…" if start else "") + _shorten(text[start:]) for text in (was, found))
    return f"`{column}` was `{old}` and is `{new}`"


def _shorten(text: str, width: int = 40) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
