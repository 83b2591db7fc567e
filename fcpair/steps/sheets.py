"""Sheets that lie in a folder already: what somebody wrote is never overwritten, and whoever left is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fcpair.errors import InputError
from fcpair.records import Kept, OldSheet, Round, Status
from fcpair.sheets import Blank
from fcpair.store import Store, Tx, people, runs, work
from fcpair.tabular import read_table

if TYPE_CHECKING:
    import pandas as pd

FILLED_IN = {Round.LABEL: ("label",), Round.VALIDATE: ("verdict", "own_label")}
NOTE = "note"


def to_fill_in(tx: Tx, column: str, words: Sequence[str]) -> Blank:
    """What a sheet of this study says about itself: the column to fill in by these words, its texts, the guidelines."""
    facts = runs.study_facts(tx)
    return Blank(column, words, facts["guidelines"], (facts["hs_name"], facts["cn_name"]))


def why_kept(path: Path, round_: Round) -> Kept | None:
    """Why a file is not to be overwritten by a sheet of a round; None for a sheet into which nobody has written."""
    try:
        rows = read_table(path)
    except InputError:
        return Kept.UNREADABLE
    answers = [name for name in FILLED_IN[round_] if name in rows.columns]
    if not answers:
        return Kept.OTHER
    if _is_filled_in(rows[answers]):
        return Kept.ANSWERS
    return Kept.NOTES if NOTE in rows.columns and _is_filled_in(rows[[NOTE]]) else None


def _is_filled_in(columns: pd.DataFrame) -> bool:
    return bool(columns.apply(lambda column: column.str.strip() != "").to_numpy().any())


def old_sheets(store: Store, folder: str | Path, round_: Round) -> list[OldSheet]:
    """The sheets in a folder that are kept as they are, or are of somebody who left, by name."""
    folder = Path(folder)
    with store.read() as tx:
        everybody = {one.name: one for one in people.people(tx)}
        counts = work.counts(tx)
    given = counts[counts["round"] == round_.value]

    def found() -> Iterator[OldSheet]:
        for path in sorted(folder.iterdir()) if folder.is_dir() else ():
            one = everybody.get(path.stem)
            own = given[given["person_id"] == one.id] if one else given[:0]
            if one is None or own.empty:
                continue
            n = dict(zip(own["status"].tolist(), own["n"].tolist(), strict=True))
            open_ = n.get(Status.OPEN.value, 0)
            left = one.retired or (not open_ and Status.WITHDRAWN.value in n)
            yield OldSheet(path, one.name, why_kept(path, round_), open_, left)

    return [sheet for sheet in found() if sheet.kept or sheet.left]
