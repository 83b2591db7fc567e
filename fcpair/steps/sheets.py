"""Sheets that lie in a folder already: what holds answers is never overwritten, and whoever left is named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from fcpair.errors import InputError
from fcpair.records import OldSheet, Round, Status
from fcpair.sheets import Blank
from fcpair.store import Store, Tx, people, runs, work
from fcpair.tabular import read_table

FILLED_IN = {Round.LABEL: ("label",), Round.VALIDATE: ("verdict", "own_label")}
NOTE = "note"


def to_fill_in(tx: Tx, column: str, words: Sequence[str]) -> Blank:
    """What a sheet of this study says about itself: the column to fill in by these words, its texts, the guidelines."""
    facts = runs.study_facts(tx)
    return Blank(column, words, facts["guidelines"], (facts["hs_name"], facts["cn_name"]))


def holds_answers(path: Path, round_: Round) -> bool:
    """Whether anybody has written into a sheet; a file that cannot be read as one of the round counts as such."""
    try:
        rows = read_table(path)
    except InputError:
        return True
    answers = [name for name in FILLED_IN[round_] if name in rows.columns]
    if not answers:
        return True
    written = [name for name in (*answers, NOTE) if name in rows.columns]
    return bool(rows[written].apply(lambda column: column.str.strip() != "").to_numpy().any())


def old_sheets(store: Store, folder: str | Path, round_: Round) -> list[OldSheet]:
    """The sheets in a folder that hold answers, or are of somebody who left, by name."""
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
            yield OldSheet(path, one.name, holds_answers(path, round_), open_, left)

    return [sheet for sheet in found() if sheet.answered or sheet.left]
