"""How far a round is, and whether what rests on it may begin: one rule for every stage that waits for another."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from fcpair.errors import StageError
from fcpair.params import named_grids
from fcpair.records import Round, Status
from fcpair.steps.base.context import PLAN, find_grid, lease_min
from fcpair.store import Tx
from fcpair.store.assignment import assignments, open_slots, rounds, vacant_slots
from fcpair.store.corpus import grids
from fcpair.store.oversight import settings


class Standing(NamedTuple):
    """How far a round is: who answers it, whether it was dealt, and how much is open, vacant and so on."""

    round: Round
    dealt: bool
    counts: dict[str, int]


def check_done(tx: Tx, grid: str, wanted: Round) -> None:
    """Raise StageError unless a round of the grid that the transaction is about was dealt, and all its work is done."""
    if said := undone(tx, grid, wanted):
        raise StageError(said)


def undone(tx: Tx, grid: str, wanted: Round) -> str | None:
    """What is still to be done in a round on which something rests; None where it is done."""
    there = standing(tx, wanted)
    if not there.dealt:
        return f"round `{wanted.name}` of grid `{grid}` comes first, and has not been dealt"
    if n := there.counts["open"]:
        which = "1 answer is" if n == 1 else f"{n:,} answers are"
        return f"{which} still open in round `{wanted.name}` of grid `{grid}`, which comes first"
    return None


def waits_for(tx: Tx) -> str | None:
    """Why the sides of a planned grid cannot be filled yet; None where they can."""
    for side in settings.of_stage(tx, PLAN).values():
        for earlier in named_grids(side["answers"]):
            with grids.about(tx, find_grid(tx, earlier).id):
                if said := undone(tx, earlier, rounds.counting(tx)):
                    return said
    return None


def examples_wait_for(tx: Tx, of: Round) -> str | None:
    """Why the examples of a round cannot be found yet; None where they can, or where it has none."""
    if not of.options.examples:
        return None
    with grids.about(tx, find_grid(tx, of.options.examples).id):
        return undone(tx, of.options.examples, rounds.counting(tx))


def standing(tx: Tx, wanted: Round, given: list[assignments.Count] | None = None) -> Standing:
    """How far a round is; `given` are the assignments of the grid, as `assignments.counted` has them, where known."""
    by_status = assignments.by_status(tx, wanted) if given is None else _by_status(given, wanted)
    n_vacant = len(vacant_slots.vacant(tx, wanted)) if wanted.passes_on else 0
    counts = {one.value: by_status.get(one.value, 0) for one in Status} | {"vacant": n_vacant}
    n_free = open_slots.n_free(tx, wanted)
    counts[Status.OPEN.value] += n_free
    if n_free or lease_min(tx, wanted) is not None:
        counts["free"] = n_free
    return Standing(wanted, bool(by_status or n_free), counts)


def _by_status(given: list[assignments.Count], wanted: Round) -> dict[str, int]:
    found = Counter[str]()
    for one in given:
        if one.round == wanted.name:
            found[one.status] += one.n
    return found


def pilot_waits(tx: Tx, of: Round) -> bool:
    """Whether the pilot that a round asks for is still to be judged."""
    if not of.options.passed:
        return False
    with grids.about(tx, find_grid(tx, of.options.passed).id):
        return undone(tx, of.options.passed, rounds.counting(tx)) is not None
