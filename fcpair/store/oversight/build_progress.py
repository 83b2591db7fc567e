"""Progress in building the study, and taking it back to an earlier stage."""

from __future__ import annotations

from sqlalchemy import delete, exists

from fcpair.store.answers import examples
from fcpair.store.assignment import open_slots, rounds
from fcpair.store.corpus import cells, sides, texts
from fcpair.store.corpus.grids import cell_range
from fcpair.store.database.statements import count, is_true
from fcpair.store.database.store import Tx
from fcpair.store.database.tables import assignment, cell, slot, source_pair, text
from fcpair.store.oversight import settings

BUILDING = ("import", "select", "retrieve", "pair", "assign")


def n_built(tx: Tx) -> dict[str, int]:
    """Count what each building stage made: corpus rows, selected HS, candidates, pairs, assignments and free slots."""
    counting = rounds.primary(tx)
    return {
        "import": count(tx, source_pair) + texts.n_unpaired(tx),
        "select": sides.n_texts(tx, "row"),
        "retrieve": sides.n_texts(tx, "column"),
        "pair": cells.n_cells(tx),
        "assign": count(tx, assignment, rounds.in_round(counting)) + open_slots.n_free(tx, counting),
    }


def has_corpus(tx: Tx) -> bool:
    """Return whether the study has texts of a corpus."""
    return is_true(tx, exists().where(text.c.kind.in_(sides.CORPUS)))


def is_assigned(tx: Tx) -> bool:
    """Return whether pairs of the grid are assigned, or there are slots for whoever asks."""
    return any(is_true(tx, exists().where(cell_range(tx).holds(table.c.cell_id))) for table in (assignment, slot))


def clear_from(tx: Tx, stage: str) -> None:
    """Forget what `stage` and all later building stages made; only for a study without judgements."""
    later, inside = BUILDING[BUILDING.index(stage) :], cell_range(tx).holds
    tx.execute(delete(slot).where(inside(slot.c.cell_id)))
    kept_ids = [] if "pair" in later else [round_.id for round_ in rounds.calibration_rounds(tx)]  # which come before
    tx.execute(delete(assignment).where(inside(assignment.c.cell_id), assignment.c.round_id.not_in(kept_ids)))
    if "pair" in later:
        examples.clear(tx)
        tx.execute(delete(cell).where(inside(cell.c.id)))
        cells.seal(tx)  # so that it can be written again
        settings.remove_stage(tx, cells.BLOCKS)
    if "retrieve" in later:
        sides.clear_neighbours(tx)
        sides.clear(tx, "column")
    if "select" in later:
        sides.clear(tx, "row")
    if "import" in later:
        tx.execute(delete(source_pair))
        tx.execute(delete(text).where(text.c.kind.in_(sides.CORPUS)))
