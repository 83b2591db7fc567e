"""Open dealing: slots go to whoever asks next and may have them, for as long as a lease runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fcpair.errors import StageError
from fcpair.param_values import as_params, takes_params
from fcpair.params import Assign
from fcpair.records import Role, Round, RunRecord, Task, Visitor
from fcpair.stages.assignment.extra_labels import missing
from fcpair.stages.assignment.lease_choice import choose, half
from fcpair.steps.base.context import OnGrid, begin_building, keep, lease_min, need_corpus, note_run
from fcpair.steps.people import reassignment
from fcpair.steps.people.people import active
from fcpair.store import Store, Tx
from fcpair.store.answers import judgements, task_queries
from fcpair.store.assignment import assignments, open_slots, rounds, vacant_slots
from fcpair.store.assignment.open_slots import Free, Hold
from fcpair.store.assignment.vacant_slots import Heir, Slot
from fcpair.store.corpus import cells, grids
from fcpair.store.people import people

HELD = 10
"""How many pairs one person holds at most; what a browser keeps ahead beyond that, nobody else could be given."""

AT_ONCE = 5
"""How many pairs somebody is given who asks for fewer: not every answer shall need another one."""

WINDOW = 64
"""Of how many slots, the first that are free, those are taken whose rows and columns a person has met least."""


@takes_params
def open_up(grid: OnGrid, options: Assign, *, redo: bool = False) -> RunRecord:
    """Let every label of the grid be given by whoever asks for it, in an order by seed.

    Nobody needs to be there yet; where a number of annotators is given, they are added.
    """
    with grid.store.write() as tx:
        begin_building(tx, "assign", redo=redo)
        there = people.people(tx, Role.ANNOTATOR, active=True)
        crew = active(tx, Role.ANNOTATOR, options.annotators) if there or options.annotators is not None else []
        n_slots = _free_more(tx, options, begun=False)
        counts = {"annotators": len(crew), "free": n_slots, "pairs_by_labels": _by_labels(tx)}
        run = note_run(tx, options.stage, as_params(options), counts)
        keep(tx, replace(options, annotators=len(crew) or None), run)
        return run


@takes_params
def open_more(grid: OnGrid, options: Assign) -> RunRecord:
    """Let whoever asks give what nobody was dealt, what nobody is left to give, and more labels by the overlap.

    Raises StageError where nothing has been dealt yet, or there is nothing to add.
    """
    with grid.store.write() as tx:
        need_corpus(tx, Assign.stage)
        label = rounds.counting(tx)
        if not (assignments.by_status(tx, label) or open_slots.n_free(tx, label)):
            raise StageError("nothing has been dealt yet; `fcpair assign --open` deals the pairs")
        vacant = vacant_slots.vacant(tx, label)
        open_slots.give_back(tx, label, vacant)
        n_free = len(vacant) + _free_more(tx, options, begun=True)
        if not n_free and lease_min(tx, label) is not None:
            raise StageError("there is nothing to add: every pair has as many slots as were asked for")
        overlap = {str(n): share for n, share in options.overlap.items()}
        asked = {"more": True, "open": True, "lease_minutes": options.lease_minutes, "overlap": overlap}
        counts = {"free": n_free, "pairs_by_labels": _by_labels(tx)}
        run = note_run(tx, Assign.stage, {**asked, "seed": options.seed}, counts)
        named = {"open", "lease_minutes"} if options.open else set()
        keep(tx, options, run, only=named | ({"overlap"} if options.overlap else set()))
        return run


def close(grid: OnGrid) -> RunRecord:
    """End open dealing: slots that nobody has are taken away, and what people hold is theirs for good.

    What they skip or leave goes to others from now on, as where shards were dealt. Raises StageError where dealing is
    not open.
    """
    with grid.store.write() as tx:
        label = rounds.counting(tx)
        if lease_min(tx, label) is None:
            raise StageError("dealing is not open here, so there is nothing to close")
        open_slots.keep(tx, label)
        run = note_run(tx, Assign.stage, {"close": True}, {"taken_away": open_slots.clear(tx, label)})
        keep(tx, Assign(), run, only={"open"})
        return run


def _free_more(tx: Tx, options: Assign, *, begun: bool) -> int:
    """Let slots be free that no pair has yet and that the options ask for; returns how many."""
    pairs, label = cells.cells(tx), rounds.counting(tx)
    cell_id, hs, cn = (pairs[name].to_numpy(np.int64) for name in ("cell_id", "hs_id", "cn_id"))
    asked, settled = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.bool_)
    if begun:
        first = [one.cell_id for _, one in open_slots.slots(tx, label) if one.id is None]
        has = np.concatenate([assignments.dealt(tx, label)["cell_id"].to_numpy(np.int64), np.array(first, np.int64)])
        asked = np.bincount(np.searchsorted(cell_id, has), minlength=len(pairs))
        settled = np.isin(cell_id, judgements.by_hand(tx))
    n_more = missing(hs, cn, asked, settled, options.overlap or None, options.seed)
    order = np.random.default_rng([options.seed, len(pairs)]).permutation(np.repeat(cell_id, n_more))
    open_slots.add(tx, label, order.tolist())
    return len(order)


def _by_labels(tx: Tx) -> dict[str, int]:
    return {str(n): count for n, count in assignments.labels_per_pair(tx).items()}


def wanted(n: int, room: int | None) -> int:
    """How many pairs somebody is to hold who asks for `n`; `room` is how many more they may read, None without a
    limit.
    """
    held = min(max(n, AT_ONCE), HELD)
    return held if room is None else min(held, room)


def lacks(tx: Tx, visitor: Visitor, held: int) -> bool:
    """Whether somebody who is to hold so many pairs is to be given more, where anything is free or about to be."""
    there = [one for one, _ in _open_rounds(tx, visitor)]
    if not there or sum(task_queries.n_open(tx, visitor.id, one) for one in there) >= half(held):
        return False
    return any(open_slots.is_any(tx, one) for one in there) or open_slots.is_overdue(tx)


def _open_rounds(tx: Tx, visitor: Visitor) -> Iterator[tuple[Round, int]]:
    """The rounds of a visitor's role that are dealt openly, with their leases in minutes.

    While one is had, the transaction is about its grid.
    """
    for one in rounds.of_role(tx, visitor.role):
        with grids.about(tx, one.grid_id):
            if (lease := lease_min(tx, one)) is not None:
                yield one, lease


def is_free(tx: Tx, visitor: Visitor) -> bool | None:
    """Whether there is something for somebody who asks; None where nothing is dealt openly."""
    there = [next(_offers(tx, _heir(tx, visitor), one, "no"), []) for one, _ in _open_rounds(tx, visitor)]
    return any(there) if there else None


def _heir(tx: Tx, visitor: Visitor) -> Heir:
    return Heir(visitor.id, 0, people.opt_outs(tx, visitor.id).get(visitor.id, ()))


def _offers(tx: Tx, heir: Heir, of: Round, hold: Hold) -> Iterator[list[Free]]:
    """The free slots of a round that somebody may have, some at a time, of each cell one; see `open_slots.look`."""
    after = -1
    while found := open_slots.look(tx, of, heir.id, after, WINDOW, hold):
        after = found[-1].position
        each = list({one.cell_id: one for one in reversed(found)}.values())[::-1]
        barred = reassignment.barred(tx, np.array([one.cell_id for one in each]), [heir], of, asks=True)[:, 0]
        if may := [one for one, no in zip(each, barred.tolist(), strict=True) if not no]:
            yield may


class Ask(NamedTuple):
    """Somebody asks for work, and is to hold so many pairs."""

    visitor: Visitor
    held: int


def take(store: Store, asks: Sequence[Ask], look: Callable[[Tx, int], list[Task]]) -> list[list[Task]]:
    """Give people who ask what is free, until each holds so many pairs; first what has lapsed is taken back from
    others. Returns what `look` finds then for each, by their place among those who ask, in the same transaction.

    All are given theirs in one transaction. What somebody else is being given at the same moment is waited for only by
    those for whom there is nothing else: each in a transaction of their own, so that none of them wait for one another.
    """
    with store.read() as tx:
        overdue = open_slots.is_overdue(tx)
    if overdue:
        with store.write(grows=False) as tx:
            lapse(tx)
    found = _taken(store, asks, range(len(asks)), "others", look)
    for at, tasks in enumerate(found):
        if not tasks:
            found[at : at + 1] = _taken(store, asks, [at], "all", look)
    return found


def _taken(
    store: Store, asks: Sequence[Ask], places: Sequence[int], hold: Hold, look: Callable[[Tx, int], list[Task]]
) -> list[list[Task]]:
    """What those in these places are given in one transaction."""
    found = []
    with store.write(alone=False, grows=False) as tx:
        task_queries.hold(tx, [asks[at].visitor.id for at in places])
        for at in places:
            _take(tx, *asks[at], hold)
            found.append(look(tx, at))
    return found


def renew(tx: Tx, person_id: int, round_id: int) -> None:
    """Let somebody who answers hold for longer what else they hold in a round of this grid, by its id."""
    of = rounds.counting(tx)
    if round_id in of.ids and (lease := lease_min(tx, of)) is not None:
        open_slots.renew(tx, person_id, round_id, open_slots.until(lease))


def lapse(tx: Tx) -> None:
    """Take back what is held for longer than its lease, so that it is free."""
    open_slots.lapse(tx)
    for _ in grids.each(tx):
        reassignment.refill(tx, seed=0)


def _take(tx: Tx, visitor: Visitor, held: int, hold: Hold) -> None:
    n_open = 0
    for round_, lease in _open_rounds(tx, visitor):
        n_open += task_queries.n_open(tx, visitor.id, round_)
        n_open += _give(tx, _heir(tx, visitor), round_, held - n_open, lease, hold)


def _give(tx: Tx, heir: Heir, of: Round, n: int, lease: int, hold: Hold) -> int:
    """Give somebody up to `n` free slots of a round, and renew their lease on the others; returns how many."""
    ends, given = open_slots.until(lease), 0
    offers = _offers(tx, heir, of, hold)
    while given < n and (may := next(offers, [])):
        chosen = choose([(one.row_id, one.column_id) for one in may], *open_slots.met(tx, of, heir.id), n - given)
        last = assignments.last_positions(tx, of, [heir.id]).get(heir.id, 0)
        open_slots.give(tx, [may[at] for at in chosen], of, heir.id, until=ends, behind=last)
        given += len(chosen)
    open_slots.renew(tx, heir.id, of.id, ends)
    return given


def deal_out(tx: Tx, round_: Round, seed: int) -> None:
    """Give all that is free to those who are there, as if they had asked: for simulated people, who come at once."""
    there = open_slots.slots(tx, round_)
    heirs = vacant_slots.heirs(tx, round_.role)
    cell_id = np.array([one.cell_id for _, one in there], np.int64)
    _hand(tx, round_, there, heirs, reassignment.takers(tx, cell_id, heirs, round_, seed))


def take_named(tx: Tx, round_: Round, cell_id: NDArray[np.int64], person_id: NDArray[np.int64]) -> None:
    """Give people the slots of these cells, as far as any is free and they may have it: a file says that they answered.

    `cell_id` and `person_id` are `(n,)`, and name nobody twice on a cell.
    """
    heirs = [one for one in vacant_slots.heirs(tx, round_.role) if one.id in set(person_id.tolist())]
    at = {one.id: column for column, one in enumerate(heirs)}
    who = np.array([at.get(one, -1) for one in person_id.tolist()], np.int64)
    may = who >= 0
    may[may] = ~reassignment.barred(tx, cell_id[may], heirs, round_)[np.arange(int(may.sum())), who[may]]
    left: dict[int, list[tuple[int, Slot]]] = {}
    for one in reversed(open_slots.slots(tx, round_)):
        left.setdefault(one[1].cell_id, []).append(one)
    asked = [(cell, taker) for cell, taker in zip(cell_id[may].tolist(), who[may].tolist(), strict=True)]
    given = [(left[cell].pop(), taker) for cell, taker in asked if left.get(cell)]
    _hand(tx, round_, [one for one, _ in given], heirs, np.array([taker for _, taker in given], np.int64))


def _hand(
    tx: Tx, round_: Round, there: Sequence[tuple[int, Slot]], heirs: Sequence[Heir], who: NDArray[np.int64]
) -> None:
    """Give free slots, each with its number, to these of the heirs for good; -1 to nobody."""
    taken = [(number, one, heirs[at].id) for (number, one), at in zip(there, who.tolist(), strict=True) if at >= 0]
    open_slots.remove(tx, [number for number, _, _ in taken])
    vacant_slots.fill(tx, reassignment.at_the_end(tx, [(one, person_id) for _, one, person_id in taken], round_))
