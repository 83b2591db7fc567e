"""Spot checks: so many cells of each batch of an earlier round, as soon as that batch is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fcpair.errors import StageError
from fcpair.records import Round, Status
from fcpair.stages.assignment.rounds import batches, draw_each
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus import cells

if TYPE_CHECKING:
    import pandas as pd


def due(tx: Tx, round_: Round, pairs: pd.DataFrame) -> pd.DataFrame:
    """The cells to be dealt now, of all `pairs` of the grid: drawn from batches that are done and not checked yet.

    A batch is done when nothing of it is open or waits for somebody. Only cells with an answer are drawn.

    Raises:
        StageError: there is no such batch.
    """
    earlier = rounds.named(tx, round_.options.rests_on)
    given = assignments.assignments(tx, earlier)
    waits = set(given["cell_id"][given["status"] == Status.OPEN.value])
    waits |= {one.cell_id for one in vacant_slots.vacant(tx, earlier)}
    pairs = pairs[pairs["cell_id"].isin(given["cell_id"])]
    batch = batches(pairs["hs_id"].to_numpy(np.int64), int(earlier.options.batch or 1), earlier.options.seed)
    not_now = pairs["cell_id"].isin(waits | set(assignments.given_cells(tx, round_))).to_numpy()
    answered = pairs["cell_id"].isin(judgements.answered_cells(tx, earlier)).to_numpy()
    now = ~np.isin(batch, batch[not_now]) & answered
    if not now.any():
        raise StageError(f"no further batch of round `{earlier.name}` is done, so there is nothing to check yet")
    return pairs[now][draw_each(batch[now], int(round_.options.per_batch or 0), round_.options.seed)]


def is_due(tx: Tx, round_: Round) -> bool:
    """Whether a batch is done that is not checked yet."""
    try:
        return not due(tx, round_, cells.cells(tx)).empty
    except StageError:
        return False
