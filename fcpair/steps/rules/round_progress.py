"""Progress of a round, and whether what rests on it may begin: one rule for every stage that waits for another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fcpair.errors import StageError
from fcpair.params import grid_names
from fcpair.records import Round, Status
from fcpair.sentences import say_number
from fcpair.steps.base.context import find_grid, lease_minutes
from fcpair.store import Tx
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.corpus import grids


class RoundProgress(NamedTuple):
    """Progress of a round: who answers it, whether it was assigned, and how much is open, vacant and so on."""

    round: Round
    dealt: bool
    counts: dict[str, int]

    @property
    def done(self) -> bool:
        """Whether it was dealt, and nothing of it is open."""
        return self.dealt and not self.counts["open"]


def check_done(tx: Tx, grid: str, round_: Round) -> None:
    """Raise StageError unless a round of the grid that the transaction is about was dealt, and all its work is done."""
    progress = round_progress(tx, round_)
    if not progress.dealt:
        raise StageError.say(
            "round `%(name)s` of grid `%(grid)s` comes first, and has not been assigned", name=round_.name, grid=grid
        )
    if n := progress.counts["open"]:
        raise StageError(
            say_number(
                "%(n)s answer is still open in round `%(name)s` of grid `%(grid)s`, which comes first",
                "%(n)s answers are still open in round `%(name)s` of grid `%(grid)s`, which comes first",
                n,
                name=round_.name,
                grid=grid,
            )
        )


def wait_for_grids(tx: Tx, names: str | Sequence[str]) -> bool:
    """Whether what rests on earlier grids, or on one, waits for the round that counts in one of them."""
    for name in grid_names(names):
        with grids.on_grid(tx, find_grid(tx, name).id):
            if not round_progress(tx, rounds.primary(tx)).done:
                return True
    return False


def round_progress(tx: Tx, round_: Round, grid_counts: assignments.Counts | None = None) -> RoundProgress:
    """Measure the progress of a round; `grid_counts` are those of `assignments` in the grid, where they are known."""
    by_status: dict[str, int] = (
        assignments.n_by_status(tx, round_) if grid_counts is None else assignments.sum_of_round(grid_counts, round_)
    )
    n_vacant = len(open_slots.find_vacant(tx, round_)) if round_.reassigns_skipped else 0
    counts = {one.value: by_status.get(one.value, 0) for one in Status} | {"vacant": n_vacant}
    n_free = open_slots.n_free(tx, round_)
    counts[Status.OPEN.value] += n_free
    if n_free or lease_minutes(tx, round_) is not None:
        counts["free"] = n_free
    return RoundProgress(round_, bool(by_status or n_free), counts)
