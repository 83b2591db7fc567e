"""What models answered to items that are the rows of a grid."""

from __future__ import annotations

import json
from collections.abc import Sequence

import numpy as np

from fcpair.bias.answers import Answers
from fcpair.bias.answers_to_items import COLUMNS, LETTERS, STATEMENT, answers_to_items
from fcpair.errors import InputError, StageError, nearest
from fcpair.records import Round
from fcpair.stages.answers.option_probabilities import shares_of
from fcpair.steps.answers.answer_tables import answers_table, replies_table
from fcpair.steps.base.context import OnGrid
from fcpair.steps.base.grid_rows import ROW, rows_table
from fcpair.store import Tx
from fcpair.store.assignment import rounds

_UNKNOWN = (np.nan,) * len(LETTERS)


def item_answers(grid: OnGrid, name: str | None = None) -> dict[str, Answers]:
    """What was answered to the items of a grid in a round, the one that counts if none is named, by who answered.

    Where the round asks for probabilities these are there as well. A skip is an answer that cannot be read, but for a
    reply whose likeliest options tie: its probabilities count.

    Raises:
        StageError: the rows are no items, or nothing was answered.
        UnknownIdError: no such round.
    """
    with grid.store.read() as tx:
        of = rounds.counting(tx) if name is None else rounds.named(tx, name)
        return items_answered(tx, grid.grid.name, of)


def items_answered(tx: Tx, name: str, of: Round) -> dict[str, Answers]:
    """What was answered to the items of the grid that a transaction is about, as `item_answers` has it."""
    import pandas as pd

    rows = rows_table(tx, name)
    known = [str(column) for column in rows.columns]
    if missing := [column for column in COLUMNS if column not in known]:
        raise StageError(
            f"the rows of grid `{name}` are no items of templates: they have no `{missing[0]}`; "
            f"{nearest(missing[0], known, 'they have')}"
        )
    table = answers_table(tx, of)
    if table.empty:
        raise StageError(f"round `{of.name}` of grid `{name}` has no answers yet")
    question = next(iter(table.columns[list(table.columns).index("skipped") + 1 :]))
    replied = replies_table(tx, of).groupby(["cell", "by"])["reply"].last()
    keys = pd.MultiIndex.from_frame(table[["cell", "by"]])
    table = table.assign(reply=replied.reindex(keys).fillna("").to_numpy())
    columns = [*COLUMNS, *({STATEMENT} & set(known))]
    items = rows.set_index(ROW).loc[table["row"], columns].reset_index(drop=True)
    found = {}
    for by, own in table.reset_index(drop=True).groupby("by", sort=False):
        shares = _shares(own["reply"].tolist(), own["skipped"].tolist()) if of.options.probabilities else None
        said = own[question].where(~own["skipped"], own["reply"]).tolist()
        here = items.loc[own.index].reset_index(drop=True)
        found[str(by)] = answers_to_items(here, said, shares, name, own["cell"].tolist())
    return found


def _shares(replies: list[str], skipped: list[bool]) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """The probabilities of the options in each reply, `(n, 3)`; NaN where they cannot be read.

    Of a skip only those whose likeliest options tie.
    """
    told = [_tied(one) if skip else _read(one) for one, skip in zip(replies, skipped, strict=True)]
    return np.array(told, np.float64).reshape(len(replies), len(LETTERS))


def _read(reply: str) -> Sequence[float]:
    try:
        told = json.loads(reply)
        return [float(told[letter]) for letter in LETTERS]
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError):
        return _UNKNOWN


def _tied(reply: str) -> Sequence[float]:
    try:
        shares, _ = shares_of(reply, LETTERS)
    except InputError:
        return _UNKNOWN
    return shares if shares.count(max(shares)) > 1 else _UNKNOWN
