"""How far the study has been built, and taking it back to an earlier stage."""

from __future__ import annotations

from sqlalchemy import delete, func, select

from fcpair.records import Round
from fcpair.store import dialect, texts
from fcpair.store.store import Tx
from fcpair.store.tables import assignment, candidate, neighbour, pair, selected_hs, source_pair, text

BUILDING = ("import", "select", "retrieve", "pair", "assign")
_LABELLING = assignment.c.round == Round.LABEL.value


def built(tx: Tx) -> dict[str, int]:
    """How much each building stage has made: corpus rows, selected HS, candidates, pairs, assignments."""
    made = {
        "import": select(func.count()).select_from(source_pair),
        "select": select(func.count()).select_from(selected_hs),
        "retrieve": select(func.count()).select_from(candidate),
        "pair": select(func.count()).select_from(pair),
        "assign": select(func.count()).select_from(assignment).where(_LABELLING),
    }
    counts = {stage: int(tx.execute(query).scalar_one()) for stage, query in made.items()}
    return {**counts, "import": counts["import"] + texts.n_unpaired(tx)}


def clear_from(tx: Tx, stage: str) -> None:
    """Forget what `stage` and all later building stages made; only for a study without judgements."""
    later = BUILDING[BUILDING.index(stage) :]
    tx.execute(delete(assignment))
    if "pair" in later:
        dialect.unseal_pairs(tx)
        tx.execute(delete(pair))
    if "retrieve" in later:
        tx.execute(delete(neighbour))
        tx.execute(delete(candidate))
    if "select" in later:
        tx.execute(delete(selected_hs))
    if "import" in later:
        tx.execute(delete(source_pair))
        tx.execute(delete(text))
