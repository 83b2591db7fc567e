"""Progress of a round, and whether what rests on it may begin: one rule for every stage that waits for another."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from fcpair.errors import StageError
from fcpair.params import grid_names
from fcpair.records import Round, Status
from fcpair.steps.base.context import PLAN, find_grid, lease_minutes
from fcpair.store import Tx
from fcpair.store.assignment import assignments, open_slots, rounds, vacant_slots
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings


class RoundProgress(NamedTuple):
    """Progress of a round: who answers it, whether it was assigned, and how much is open, vacant and so on."""

    round: Round
    dealt: bool
    counts: dict[str, int]


def check_done(tx: Tx, grid: str, round_: Round) -> None:
    """Raise StageError unless a round of the grid that the transaction is about was dealt, and all its work is done."""
    if message := unfinished_message(tx, grid, round_):
        raise StageError(message)


def unfinished_message(tx: Tx, grid: str, round_: Round) -> str | None:
    """Say what is still to be done in a round on which something rests; None where it is done."""
    progress = round_progress(tx, round_)
    if not progress.dealt:
        return f"round `{round_.name}` of grid `{grid}` comes first, and has not been dealt"
    if n := progress.counts["open"]:
        subject = "1 answer is" if n == 1 else f"{n:,} answers are"
        return f"{subject} still open in round `{round_.name}` of grid `{grid}`, which comes first"
    return None


def sides_blocked_by(tx: Tx) -> str | None:
    """Why the sides of a planned grid cannot be filled yet; None where they can."""
    for side in settings.of_stage(tx, PLAN).values():
        for earlier in grid_names(side["answers"]):
            with grids.on_grid(tx, find_grid(tx, earlier).id):
                if message := unfinished_message(tx, earlier, rounds.primary(tx)):
                    return message
    return None


def examples_blocked_by(tx: Tx, round_: Round) -> str | None:
    """Why the examples of a round cannot be found yet; None where they can, or where it has none."""
    if not round_.options.examples:
        return None
    with grids.on_grid(tx, find_grid(tx, round_.options.examples).id):
        return unfinished_message(tx, round_.options.examples, rounds.primary(tx))


def round_progress(
    tx: Tx, round_: Round, grid_counts: list[assignments.AssignmentCount] | None = None
) -> RoundProgress:
    """Measure the progress of a round; `grid_counts` are those of `assignments` in the grid, where they are known."""
    by_status = assignments.n_by_status(tx, round_) if grid_counts is None else _n_by_status(grid_counts, round_)
    n_vacant = len(vacant_slots.find_vacant(tx, round_)) if round_.reassigns_skipped else 0
    counts = {one.value: by_status.get(one.value, 0) for one in Status} | {"vacant": n_vacant}
    n_free = open_slots.n_free(tx, round_)
    counts[Status.OPEN.value] += n_free
    if n_free or lease_minutes(tx, round_) is not None:
        counts["free"] = n_free
    return RoundProgress(round_, bool(by_status or n_free), counts)


def _n_by_status(grid_counts: list[assignments.AssignmentCount], round_: Round) -> dict[str, int]:
    n_by_status = Counter[str]()
    for count in grid_counts:
        if count.round == round_.name:
            n_by_status[count.status] += count.n
    return n_by_status


def is_pilot_unfinished(tx: Tx, round_: Round) -> bool:
    """Whether the pilot that a round asks for is still to be judged."""
    if not round_.options.passed:
        return False
    with grids.on_grid(tx, find_grid(tx, round_.options.passed).id):
        return unfinished_message(tx, round_.options.passed, rounds.primary(tx)) is not None
