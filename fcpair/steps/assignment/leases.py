"""Open assignment: slots go to whoever asks next and may have them, for as long as a lease runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from fcpair.arrays import Ints
from fcpair.errors import ConflictError, StageError
from fcpair.param_values import as_params
from fcpair.params import Assign
from fcpair.records import Role, Round, RunRecord, Visitor
from fcpair.stages.assignment.rounds import choose_slots, n_labels_missing
from fcpair.steps.assignment.chosen_cells import Choose, Chosen, save_first_options
from fcpair.steps.assignment.rounds import carry_answers, counted_cells
from fcpair.steps.base.context import GridContext, begin_building, lease_minutes, need_corpus, note_run, save_options
from fcpair.steps.people import eligibility, reassignment
from fcpair.steps.people.known_pairs import has_known_pairs
from fcpair.steps.people.people import ensure_active
from fcpair.store import Store, Tx, adjudications, people
from fcpair.store.answers import task_queries
from fcpair.store.assignment import assignments, open_slots, rounds
from fcpair.store.assignment.open_slots import Candidate, FreeSlot, Hold, Slot
from fcpair.store.corpus import cells, grids
from fcpair.store.database.store import now
from fcpair.work_records import ExtraLabels, Task

MAX_HELD = 10  # pairs of one person; what a browser keeps ahead beyond that, nobody else could be given
MIN_HELD = 5  # pairs for somebody who asks for fewer: not every answer shall need another one
WINDOW = 64  # free slots of which those are taken whose rows and columns a person has met least


def open_assignment(grid: GridContext, options: Assign, *, redo: bool) -> RunRecord:
    """Let every label of the grid be given by whoever asks for it, in an order by seed; nobody need be there yet."""
    with grid._store.write() as tx:
        begin_building(tx, "assign", redo=redo)
        if has_known_pairs(tx):
            raise StageError(
                "with open assignment, nobody has a shard, and known pairs are for shards; omit one of them"
            )
        annotators = people.people(tx, Role.ANNOTATOR, active=True)
        if annotators or options.annotators is not None:
            annotators = ensure_active(tx, Role.ANNOTATOR, options.annotators)
        n_slots = _add_free_slots(tx, options, has_begun=False)
        counts = {"annotators": len(annotators), "free": n_slots, "pairs_by_labels": _n_pairs_by_labels(tx)}
        run = note_run(tx, options.stage, as_params(options), counts)
        save_options(tx, replace(options, annotators=len(annotators) or None), run)
        return carry_answers(tx, rounds.primary(tx), run)


def open_more_slots(grid: GridContext, options: Assign, choose: Choose | None, expected: int | None) -> RunRecord:
    """Let whoever asks give what nobody has or is left to give, more by the overlap, or what is wanted of some."""
    with grid._store.write() as tx:
        need_corpus(tx, Assign.stage)
        round_ = rounds.primary(tx)
        chosen = None if choose is None else choose(tx)
        has_begun = assignments.n_by_status(tx, round_) or open_slots.n_free(tx, round_)
        if not has_begun and not (chosen and chosen.in_order):
            raise StageError.say("nothing has been assigned yet; run `fcpair assign --open`")
        if chosen is not None:
            return open_chosen_slots(tx, options, chosen, expected)
        slots = open_slots.find_vacant(tx, round_)
        open_slots.add(tx, round_, [(slot.cell_id, slot.id) for slot in slots])
        n_added = _add_free_slots(tx, options, has_begun=True)
        check_expected(n_added, expected)
        n_free = len(slots) + n_added
        if not n_free and lease_minutes(tx, round_) is not None:
            raise StageError.say("there is nothing to add: every pair has as many slots as requested")
        overlap = {str(n): share for n, share in options.overlap.items()}
        params = {"more": True, "open": True, "lease_minutes": options.lease_minutes, "overlap": overlap}
        counts = {"free": n_free, "pairs_by_labels": _n_pairs_by_labels(tx)}
        run = note_run(tx, Assign.stage, {**params, "seed": options.seed}, counts)
        changed_options = {"open", "lease_minutes"} if options.open else set()
        save_options(tx, options, run, only=changed_options | ({"overlap"} if options.overlap else set()))
        return run


def check_expected(n_new: int, expected: int | None) -> None:
    """Raise ConflictError unless as many labels are added as somebody expects."""
    if expected is not None and n_new != expected:
        raise ConflictError.say(
            "%(number)s labels would be added now, not %(most)s, because something was assigned or decided after the "
            "page was loaded; nothing was done",
            number=n_new,
            most=expected,
        )


def open_chosen_slots(tx: Tx, options: Assign, chosen: Chosen, expected: int | None = None) -> RunRecord:
    """Let whoever asks give the labels that are wanted of chosen cells, but of those that a person has decided."""
    undecided = ~np.isin(chosen.cell_id, adjudications.pairs_decided_by_hand(tx))
    order = np.repeat(chosen.cell_id[undecided], chosen.n[undecided])
    check_expected(len(order), expected)
    if not len(order):
        raise StageError.say("there is nothing to add: a person has decided all of these pairs")
    if not chosen.in_order:
        order = np.random.default_rng([options.seed, len(chosen.cell_id)]).permutation(order)
    open_slots.add(tx, rounds.primary(tx), ((cell_id, None) for cell_id in order.tolist()))
    params = {"more": True, "open": True, **chosen.params, "seed": options.seed}
    counts = {"free": len(order), "decided": int((~undecided).sum()), "pairs_by_labels": _n_pairs_by_labels(tx)}
    run = note_run(tx, Assign.stage, params, counts)
    save_first_options(tx, options, chosen, run)
    return run


def close_open_assignment(grid: GridContext) -> RunRecord:
    """End open assignment: free slots go, what people hold is theirs; StageError where assignment is not open."""
    with grid._store.write() as tx:
        round_ = rounds.primary(tx)
        if lease_minutes(tx, round_) is None:
            raise StageError("this grid has no open assignment, so there is nothing to close")
        open_slots.end_leases(tx, round_)
        run = note_run(tx, Assign.stage, {"close": True}, {"taken_away": open_slots.clear(tx, round_)})
        save_options(tx, Assign(), run, only={"open"})
        return run


def plan_more_slots(tx: Tx, options: Assign, choose: Choose | None) -> ExtraLabels:
    """Work out which labels `open_more_slots` would add, and do nothing."""
    need_corpus(tx, Assign.stage)
    if choose is not None:
        chosen, decided = choose(tx), {*adjudications.pairs_decided_by_hand(tx)}
        wanted = zip(chosen.cell_id.tolist(), chosen.n.tolist(), strict=True)
        by_pair = {grids.to_public_number(cell_id): n for cell_id, n in wanted if cell_id not in decided}
        return ExtraLabels(by_pair, {}, n_decided=len(chosen.cell_id) - len(by_pair), is_open=True)
    slots = zip(*(column.tolist() for column in _missing_slots(tx, options, has_begun=True)), strict=True)
    return ExtraLabels({grids.to_public_number(cell_id): n for cell_id, n in slots if n}, {}, is_open=True)


def _add_free_slots(tx: Tx, options: Assign, *, has_begun: bool) -> int:
    cell_id, n_more = _missing_slots(tx, options, has_begun=has_begun)
    order = np.random.default_rng([options.seed, len(cell_id)]).permutation(np.repeat(cell_id, n_more))
    open_slots.add(tx, rounds.primary(tx), ((cell_id, None) for cell_id in order.tolist()))
    return len(order)


def _missing_slots(tx: Tx, options: Assign, *, has_begun: bool) -> tuple[Ints, Ints]:
    """The pairs, and how many slots that the options ask for each of them lacks."""
    pairs, round_ = cells.cells(tx), rounds.primary(tx)
    if not has_begun:
        pairs = pairs[~pairs["cell_id"].isin(counted_cells(tx, round_))]
    cell_id, hs, cn = (pairs[name].to_numpy(np.int64) for name in ("cell_id", "hs_id", "cn_id"))
    n_asked, is_decided = np.zeros(len(pairs), np.int64), np.zeros(len(pairs), np.bool_)
    if has_begun:
        free_cell_ids = [one.cell_id for _, one in open_slots.free_slots(tx, round_) if one.id is None]
        assigned_cell_ids = np.concatenate(
            [assignments.first_assigned(tx, round_)["cell_id"].to_numpy(np.int64), np.array(free_cell_ids, np.int64)]
        )
        n_asked = np.bincount(np.searchsorted(cell_id, assigned_cell_ids), minlength=len(pairs))
        is_decided = np.isin(cell_id, adjudications.pairs_decided_by_hand(tx))
    return cell_id, n_labels_missing(hs, cn, n_asked, is_decided, options.overlap or None, options.seed)


def _n_pairs_by_labels(tx: Tx) -> dict[str, int]:
    return {str(n): count for n, count in assignments.labels_per_pair(tx).items()}


def n_to_hold(n: int, n_remaining: int | None) -> int:
    """Number of pairs to be held by somebody who asks for `n`, and may read `n_remaining` (None: no limit)."""
    n_held = min(max(n, MIN_HELD), MAX_HELD)
    return n_held if n_remaining is None else min(n_held, n_remaining)


def needs_more(tx: Tx, visitor: Visitor, n_target: int) -> bool:
    """Return whether to give more to somebody who is to hold so many pairs, if anything is free or about to be."""
    open_rounds = [round_ for round_, _ in _open_rounds(tx, visitor)]
    n_open = sum(task_queries.n_open(tx, visitor.id, round_) for round_ in open_rounds)
    if not open_rounds or n_open >= (n_target + 1) // 2:  # more are not given at each answer, but some at once
        return False
    return any(open_slots.has_free(tx, round_) for round_ in open_rounds) or open_slots.has_overdue(tx)


def _open_rounds(tx: Tx, visitor: Visitor) -> Iterator[tuple[Round, int]]:
    """Openly assigned rounds of a role, with leases in minutes; the transaction is about the grid of each."""
    for round_ in rounds.of_role(tx, visitor.role):
        with grids.on_grid(tx, round_.grid_id):
            if (lease := lease_minutes(tx, round_)) is not None:
                yield round_, lease


def is_work_available(tx: Tx, visitor: Visitor) -> bool | None:
    """Return whether there is something for somebody who asks; None if nothing is assigned openly."""
    offers = [next(_offers(tx, visitor, round_, "no"), []) for round_, _ in _open_rounds(tx, visitor)]
    return any(offers) if offers else None


def _offers(tx: Tx, visitor: Visitor, round_: Round, hold: Hold) -> Iterator[list[FreeSlot]]:
    """The free slots of a round that somebody may have, some at a time, one for each cell (`open_slots.next_free`)."""
    candidate, last_position = Candidate(visitor.id, 0, people.opt_outs(tx, visitor.id).get(visitor.id, ())), -1
    while slots := open_slots.next_free(tx, round_, visitor.id, last_position, WINDOW, hold):
        last_position = slots[-1].position
        distinct_slots = list({slot.cell_id: slot for slot in reversed(slots)}.values())[::-1]
        ineligible = eligibility.ineligibility_matrix(
            tx, np.array([slot.cell_id for slot in distinct_slots]), [candidate], round_, on_request=True
        )[:, 0]
        if allowed := [slot for slot, no in zip(distinct_slots, ineligible.tolist(), strict=True) if not no]:
            yield allowed


def assign_free_slots(
    store: Store, requests: Sequence[tuple[Visitor, int]], find_tasks: Callable[[Tx, int], list[Task]]
) -> list[list[Task]]:
    """Give people who ask what is free until each holds as many pairs as they ask for, first what lapsed with others.

    Returns what `find_tasks` finds then for each, in the same transaction. Only those for whom there is nothing else
    wait for what somebody else is being given, each in a transaction of their own, so that none of them wait for one
    another.
    """
    with store.read() as tx:
        is_overdue = open_slots.has_overdue(tx)
    if is_overdue:
        with store.write() as tx:
            reclaim_lapsed(tx)

    def assign_together(indices: Sequence[int], hold: Hold) -> list[list[Task]]:
        task_lists = []
        with store.write(alone=False) as tx:
            task_queries.hold_people(tx, [requests[index][0].id for index in indices])
            for index in indices:
                (visitor, n_target), n_open = requests[index], 0
                for round_, lease in _open_rounds(tx, visitor):
                    n_open += task_queries.n_open(tx, visitor.id, round_)
                    offers, lease_end = _offers(tx, visitor, round_, hold), now(lease)
                    while n_open < n_target and (allowed := next(offers, [])):
                        sides = [(slot.row_id, slot.column_id) for slot in allowed]
                        chosen = choose_slots(sides, *open_slots.texts_met(tx, round_, visitor.id), n_target - n_open)
                        last_position = assignments.last_positions(tx, round_, [visitor.id]).get(visitor.id, 0)
                        slots = [allowed[at] for at in chosen]
                        open_slots.assign_slots(tx, slots, round_, visitor.id, until=lease_end, behind=last_position)
                        n_open += len(chosen)
                    open_slots.renew_leases(tx, visitor.id, round_.id, lease_end)
                task_lists.append(find_tasks(tx, index))
        return task_lists

    task_lists = assign_together(range(len(requests)), "others")
    return [tasks or assign_together([index], "all")[0] for index, tasks in enumerate(task_lists)]


def reclaim_lapsed(tx: Tx) -> None:
    """Take back what is held for longer than its lease, so that it is free."""
    open_slots.withdraw_overdue(tx)
    for _ in grids.for_each_grid(tx):
        reassignment.reassign(tx, seed=0)


def renew_leases(tx: Tx, person_id: int, round_id: int) -> None:
    """Let somebody who answers hold for longer what else they hold in a round of this grid, by its id."""
    round_ = rounds.primary(tx)
    if round_id in round_.ids and (lease := lease_minutes(tx, round_)) is not None:
        open_slots.renew_leases(tx, person_id, round_id, now(lease))


def assign_all_free(tx: Tx, round_: Round, seed: int) -> None:
    """Give all that is free to those who are there, as if they had asked: for simulated people, who come at once."""
    slots, candidates = open_slots.free_slots(tx, round_), open_slots.candidates(tx, round_.role)
    cell_id = np.array([slot.cell_id for _, slot in slots], np.int64)
    takers = reassignment.choose_takers(tx, cell_id, candidates, round_, seed).tolist()
    taken = [(*item, candidates[at].id) for item, at in zip(slots, takers, strict=True) if at >= 0]
    _hand_over_slots(tx, round_, taken)


def take_slots_of_cells(tx: Tx, round_: Round, cell_id: Ints, person_id: Ints) -> None:
    """Give people, who answered in a file, the slots of these cells, as far as any is free and they may have it."""
    candidates = [item for item in open_slots.candidates(tx, round_.role) if item.id in set(person_id.tolist())]
    index_by_person = {item.id: column for column, item in enumerate(candidates)}
    candidate_index = np.array([index_by_person.get(item, -1) for item in person_id.tolist()], np.int64)
    allowed = candidate_index >= 0
    allowed[allowed] = ~eligibility.ineligibility_matrix(tx, cell_id[allowed], candidates, round_)[
        np.arange(int(allowed.sum())), candidate_index[allowed]
    ]
    free_by_cell: dict[int, list[tuple[int, Slot]]] = {}
    for item in reversed(open_slots.free_slots(tx, round_)):
        free_by_cell.setdefault(item[1].cell_id, []).append(item)
    requests = zip(cell_id[allowed].tolist(), person_id[allowed].tolist(), strict=True)
    taken = [(*free_by_cell[cell].pop(), taker) for cell, taker in requests if free_by_cell.get(cell)]
    _hand_over_slots(tx, round_, taken)


def _hand_over_slots(tx: Tx, round_: Round, taken: Sequence[tuple[int, Slot, int]]) -> None:
    open_slots.remove(tx, [number for number, _, _ in taken])
    new_rows = reassignment.assignment_rows_at_end(tx, [(slot, person_id) for _, slot, person_id in taken], round_)
    open_slots.fill_slots(tx, new_rows)
