"""Spot checks: so many cells of each batch of an earlier round, as soon as that batch is done."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fcpair.errors import StageError
from fcpair.records import Round, Status
from fcpair.stages.assignment.rounds import batches, draw_per_batch
from fcpair.store import Tx
from fcpair.store.answers import judgements
from fcpair.store.assignment import assignments, rounds, vacant_slots
from fcpair.store.corpus import cells

if TYPE_CHECKING:
    import pandas as pd


def cells_due(tx: Tx, round_: Round, pairs: pd.DataFrame) -> pd.DataFrame:
    """The cells to be dealt now, of all `pairs` of the grid: drawn from batches that are done and not checked yet.

    A batch is done when nothing of it is open or waits for somebody. Only cells with an answer are drawn.

    Raises:
        StageError: there is no such batch.
    """
    earlier = rounds.by_name(tx, round_.options.rests_on)
    assigned_rows = assignments.assignments(tx, earlier)
    waiting_cells = set(assigned_rows["cell_id"][assigned_rows["status"] == Status.OPEN.value])
    waiting_cells |= {one.cell_id for one in vacant_slots.find_vacant(tx, earlier)}
    pairs = pairs[pairs["cell_id"].isin(assigned_rows["cell_id"])]
    batch = batches(pairs["hs_id"].to_numpy(np.int64), int(earlier.options.batch or 1), earlier.options.seed)
    is_waiting = pairs["cell_id"].isin(waiting_cells | set(assignments.assigned_cells(tx, round_))).to_numpy()
    is_answered = pairs["cell_id"].isin(judgements.answered_cells(tx, earlier)).to_numpy()
    is_ready = ~np.isin(batch, batch[is_waiting]) & is_answered
    if not is_ready.any():
        raise StageError(f"no further batch of round `{earlier.name}` is done, so there is nothing to check yet")
    return pairs[is_ready][draw_per_batch(batch[is_ready], int(round_.options.per_batch or 0), round_.options.seed)]


def is_due(tx: Tx, round_: Round) -> bool:
    """Whether a batch is done that is not checked yet."""
    try:
        return not cells_due(tx, round_, cells.cells(tx)).empty
    except StageError:
        return False
