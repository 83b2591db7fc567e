"""Assigning a round: so many answers for each cell, nobody what is barred to them, and nobody a row twice if so asked;
then further labels, a fair share for those who join late, leases, control pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.lazy import scipy
from fcpair.param_values import check_rules
from fcpair.params import Further
from fcpair.stages.assignment.assign import (
    AssignedPairs,
    Pairs,
    assign_pairs,
    even_meetings,
    overlap_counts,
    split_pairs,
)
from fcpair.stages.assignment.slots import n_earlier_equal, share_out
from fcpair.stages.questions.base import Closed


def assign_cells(
    row: Ints,
    column: Ints,
    barred: Bools,
    answers: int,
    *,
    once_per_row: bool = False,
    seed: int = 0,
    unit: str = "cells",
) -> AssignedPairs:
    """Assign the cells of a grid, which may have holes, so that each gets `answers` answers by different people.

    `row` and `column`, `(n_cells,)`, name the two ends of each cell by any integers, no cell twice. `barred`,
    `(n_cells, n_people)`, is True where a person may not be given the cell. 0 `answers`: by everybody who may. With
    `once_per_row` nobody has two cells of a row. Errors call what is assigned `unit`. Where nothing is barred, loads
    differ by at most one; else work is handed on until the sum of the squared loads is the least possible (a flow of
    convex cost without a negative cycle: Ahuja, Magnanti and Orlin 1993, Network Flows, chapter 14). Raises InputError
    for no cell, nobody to assign to, or too few people for what is asked.
    """
    n_cells, n_people = barred.shape
    widest = int(np.unique(row, return_counts=True)[1].max(initial=0))
    n_short = int(((~barred).sum(axis=1) < max(answers, 1)).sum())
    check_rules(
        (n_cells == 0, f"there are no {unit} to assign"),
        (n_people == 0, "there is nobody to assign to; `fcpair people add NAME --role ROLE` adds people"),
        (
            answers > n_people,
            f"each cell is to be answered by {answers} people, but there are {n_people}; add people or lower `answers`",
        ),
        (
            once_per_row and widest * answers > n_people,
            f"nobody may have a row twice: a row of {widest} cells, each to be answered by {answers}, needs "
            f"{widest * answers} people, but there are {n_people}; add people, or omit `once_per_row`",
        ),
        (
            n_short > 0,
            f"{n_short:,} of {n_cells:,} {unit} cannot be answered by {max(answers, 1)}, because too many of the "
            f"{n_people} people may not have them, such as those who wrote their texts; add people",
        ),
    )
    if not answers:
        person, cell = np.nonzero(~barred.T)
        return AssignedPairs(cell, person)
    row = np.unique(row, return_inverse=True)[1]
    column = np.unique(column, return_inverse=True)[1]
    crew = np.zeros(barred.shape, np.bool_)
    if once_per_row:
        cell = np.repeat(np.arange(len(row)), answers)  # every answer a pair of its own: of the row, and of a column
        turn = np.tile(np.arange(answers), len(row))
        n_rows, n_columns = int(row.max()) + 1, int(column.max()) + 1
        pairs = Pairs(row[cell], n_rows + column[cell] * answers + turn, n_rows, n_rows + n_columns * answers)
        crew[cell, split_pairs(pairs, np.ones(n_people, np.int64), np.random.default_rng(seed))] = True
    else:
        assigned = assign_pairs(row, column, n_people, {answers: 1.0} if answers > 1 else {}, seed=seed)
        crew[assigned.pair, assigned.annotator] = True
    if (crew & barred).any():
        # A row of its own for each cell: then only the cell is had once.
        crew = _replace_barred(row if once_per_row else np.arange(len(row)), crew, barred, answers)
    person, cell = np.nonzero(crew.T)
    return AssignedPairs(cell, person)


def assign_rows(row: Ints, barred: Bools, answers: int, *, seed: int = 0, unit: str = "rows") -> AssignedPairs:
    """Assign whole rows: each is answered by `answers` people, who have all its cells; otherwise as `assign_cells`.
    `row`, `(n_cells,)`, may name anything else that cells have in common. Who may not have a cell has none of its row.
    """
    rows, at = np.unique(row, return_inverse=True)
    barred_rows = np.zeros((len(rows), barred.shape[1]), np.bool_)
    np.logical_or.at(barred_rows, at, barred)
    alone = np.zeros(len(rows), np.int64)
    assigned = assign_cells(np.arange(len(rows)), alone, barred_rows, answers, seed=seed, unit=unit)
    crew = np.zeros(barred_rows.shape, np.bool_)
    crew[assigned.pair, assigned.annotator] = True
    person, cell = np.nonzero(crew[at].T)
    return AssignedPairs(cell, person)


def draw_columns(row: Ints, column: Ints, per_row: int, seed: int) -> Bools:
    """Draw cells so that each row has `per_row` of its columns, shape `(n_cells,)`.

    Rows come in an order drawn by `seed`, and each takes those of its columns that were taken least so far, of these
    the ones that were least often in a row together. Raises InputError for a row with fewer columns than that.
    """
    rng = np.random.default_rng([seed, per_row])
    rows, row = np.unique(row, return_inverse=True)
    columns, column = np.unique(column, return_inverse=True)
    fewest = int(np.bincount(row).min())
    if per_row > fewest:
        raise InputError(f"{per_row} columns of each row cannot be drawn; a row has {fewest}; lower it")
    n_taken, n_together = np.zeros(len(columns), np.int64), np.zeros((len(columns), len(columns)), np.int64)
    drawn = np.zeros(len(row), np.bool_)
    order = np.argsort(row, kind="stable")
    starts = np.searchsorted(row[order], np.arange(len(rows) + 1))
    for row_index in rng.permutation(len(rows)).tolist():
        cells = order[starts[row_index] : starts[row_index + 1]]
        row_columns = column[cells]
        chance, is_chosen = rng.random(len(row_columns)), np.zeros(len(columns), np.bool_)
        for _ in range(per_row):
            together = n_together[row_columns][:, is_chosen].sum(axis=1)
            first = np.lexsort((chance, together, n_taken[row_columns], is_chosen[row_columns]))[0]
            is_chosen[row_columns[first]] = True
        n_taken[is_chosen] += 1
        n_together[np.ix_(is_chosen, is_chosen)] += 1
        drawn[cells[is_chosen[row_columns]]] = True
    return drawn


def batches(row: Ints, size: int, seed: int) -> Ints:
    """The batch of each cell, from 0, shape `(n_cells,)`: rows go together, `size` of them, drawn by `seed`."""
    rows, at = np.unique(row, return_inverse=True)
    return np.asarray(np.random.default_rng([seed, size]).permutation(len(rows))[at] // size)


def draw_per_batch(batch: Ints, n: int, seed: int) -> Bools:
    """Draw `n` cells of each batch, or all where it has no more, shape `(n_cells,)`."""
    order = np.lexsort((np.random.default_rng([seed, n]).random(len(batch)), batch))
    drawn = np.zeros(len(batch), np.bool_)
    drawn[order[n_earlier_equal(batch[order]) < n]] = True
    return drawn


def order_by_batch(annotator: Ints, batch: Ints, place: Ints) -> Ints:
    """The place of each assignment in its annotator's shard where one batch comes after the other, else as `place`."""
    order = np.lexsort((place, batch, annotator))
    new_place = np.empty(len(place), np.int64)
    new_place[order] = 1 + n_earlier_equal(annotator[order])
    return new_place


def _replace_barred(row: Ints, crew: Bools, barred: Bools, answers: int) -> Bools:
    """Take what is barred from the people of `crew`, `(n_cells, n_people)`, give it to others, and level the loads."""
    crew = crew & ~barred
    total = len(crew) * answers
    missing = answers - crew.sum(axis=1)
    for most in (-(-total // crew.shape[1]), total):  # first to those who have less than all others
        crew = _shift_work(row, crew, barred, missing, np.maximum(most - crew.sum(axis=0), 0))
        missing = answers - crew.sum(axis=1)
    if missing.any():
        n_rows = len(np.unique(row[missing > 0]))
        raise InputError(
            f"{int(missing.sum()):,} answers in {n_rows:,} rows cannot be assigned so that nobody has a row twice: "
            "too many people may not have these cells, such as those who wrote their texts; add people, or omit "
            "`once_per_row`"
        )
    level = int(crew.sum(axis=0).max())
    while (loads := crew.sum(axis=0)).min() < level:
        level = int(loads[loads <= level].max()) - 1
        surplus, room = np.maximum(loads - level, 0), np.maximum(level - loads, 0)
        crew = _shift_work(row, crew, barred, missing, room, surplus)
    return crew


def _shift_work(row: Ints, crew: Bools, barred: Bools, missing: Ints, room: Ints, surplus: Ints | None = None) -> Bools:
    """Give cells the answers that they miss, and take work from people with a surplus, by as many as have room. A unit
    goes to a person in its row, and on to whom that one may hand a cell, or stays where they have none in the row.
    """
    n_cells, n_people = crew.shape
    n_rows = int(row.max()) + 1
    in_row = np.zeros((n_rows, n_people), np.bool_)
    np.logical_or.at(in_row, row, crew)
    cell_at, seat_at = np.arange(n_cells), n_cells + np.arange(n_rows * n_people).reshape(n_rows, n_people)
    person_at = n_cells + n_rows * n_people + np.arange(n_people)
    start, end = person_at[-1] + 1, person_at[-1] + 2
    has, may = np.nonzero(crew), np.nonzero(~crew & ~barred)
    taken, free = np.nonzero(in_row), np.nonzero(~in_row)
    arcs = (
        (seat_at[row[has[0]], has[1]], cell_at[has[0]], 1),
        (cell_at[may[0]], seat_at[row[may[0]], may[1]], 1),
        (person_at[taken[1]], seat_at[taken], 1),
        (seat_at[free], person_at[free[1]], 1),
        (np.full(n_cells, start), cell_at, missing),
        (np.full(n_people, start), person_at, 0 if surplus is None else surplus),
        (person_at, np.full(n_people, end), room),
    )
    tails, heads = (np.concatenate([arc[end_] for arc in arcs]) for end_ in (0, 1))
    capacity = np.concatenate([np.broadcast_to(arc[2], len(arc[0])) for arc in arcs]).astype(np.int32)
    network = scipy.sparse.csr_array((capacity, (tails, heads)), shape=(end + 1, end + 1))
    flow = scipy.sparse.csgraph.maximum_flow(network, start, end).flow.tocoo()
    moved = flow.data > 0
    tail, head = flow.row[moved], flow.col[moved]
    is_given, is_lost = tail < n_cells, (head < n_cells) & (tail < start)
    crew = crew.copy()
    crew[tail[is_given], (head[is_given] - n_cells) % n_people] = True
    crew[head[is_lost], (tail[is_lost] - n_cells) % n_people] = False
    return crew


def n_labels_missing(
    hs: Ints, cn: Ints, n_assigned: Ints, is_decided: Bools, overlap: Mapping[int, float] | None, seed: int
) -> Ints:
    """Number of further labels that each pair is to get, `(n_pairs,)`, as few as suffice.

    `n_assigned` labels of each are given out already; one that `is_decided` gets no more. `overlap` has the shares of
    all pairs that are to get 2 labels or more, as `overlap_counts` reads them: those with most labels are taken for
    those that are to have most. None gives one label to those that have none.
    """
    if overlap is None:
        return np.where(is_decided, 0, np.maximum(1 - n_assigned, 0))
    rng = np.random.default_rng(seed)
    # each settled pair takes the largest number that it reaches, or else the smallest that there is
    remaining = dict(overlap_counts(len(hs), overlap))
    for n_had in np.sort(n_assigned[is_decided])[::-1]:
        available = [n_labels for n_labels, count in remaining.items() if count]
        remaining[max((n_labels for n_labels in available if n_labels <= n_had), default=available[0])] -= 1
    target_counts = np.repeat(list(remaining), list(remaining.values()))[::-1]
    pairs, target = Pairs.between(hs, cn), np.zeros_like(n_assigned)
    n_met = 0
    for level in np.unique(n_assigned[~is_decided])[::-1]:
        rows = np.flatnonzero(~is_decided & (n_assigned == level))
        numbers, n_each = np.unique(target_counts[n_met : n_met + len(rows)], return_counts=True)
        target[rows] = numbers[split_pairs(pairs.subset(rows), n_each, rng)]
        n_met += len(rows)
    return np.asarray(np.maximum(target - n_assigned, 0))


def spread_labels(hs: Ints, cn: Ints, n_pairs: Mapping[int, int], seed: int) -> Ints:
    """Number of labels of each pair, `(n,)`: as many get each number as `n_pairs` says, n in all, spread over `hs` and
    `cn`, `(n,)`, as evenly as can be.
    """
    n_labels, n_each = (np.array(list(values), np.int64) for values in (n_pairs.keys(), n_pairs.values()))
    return n_labels[split_pairs(Pairs.between(hs, cn), n_each, np.random.default_rng(seed))]


TIES, NOT_SURE = "ties", "not_sure"  # the reasons why standing rules ask for further labels


def further_labels(counts: Ints, question: Closed, n_asked: Ints, rules: Further) -> tuple[Ints, Ints]:
    """Number of further labels that standing rules ask for each pair, and how many of these because somebody is not
    sure (the others, because labels tie); both `(n_pairs,)`.

    `counts`, `(n_pairs, n_choices)`, has the labels of each choice, all of which are in; `n_asked`, `(n_pairs,)`, how
    many were asked for before because somebody was not sure, which is done once.
    """
    is_definite = np.isin(question.codes, question.definite)
    n_labels, most = counts.sum(axis=1), counts[:, is_definite].max(axis=1, initial=0)
    is_tied = ((counts[:, is_definite] == most[:, None]).sum(axis=1) > 1) & (most > 0)
    is_unsure = (counts[:, ~is_definite].sum(axis=1) > 0) & (n_asked == 0)
    room = np.maximum(rules.most - n_labels, 0)
    unsure = np.minimum(np.where(is_unsure, rules.if_not_sure, 0), room)
    return np.maximum(unsure, np.minimum(np.where(is_tied, rules.if_tied, 0), room)), unsure


def add_labels(n_more: Ints, crew: Bools, barred: Bools, shared: Ints, loads: Ints, seed: int) -> Bools:
    """Assign the further labels of each pair, `(n_pairs, n_people)`: True where a person is to give one.

    Each pair is to get `n_more`, `(n_pairs,)`, or as many as people are free; `crew`, `(n_pairs, n_people)`, has it
    already, and who is `barred` may not get it. Loads come out as level as the bars allow, from `loads`, `(n_people,)`;
    trades even out what two people have in common, from `shared`, `(n_people, n_people)`.
    """
    new, loads = np.zeros_like(crew), loads.copy()
    for size in np.unique(n_more[n_more > 0])[::-1].tolist():  # single labels fit what the others leave uneven
        rows = np.flatnonzero(n_more == size)
        for turn in range(size):
            person = share_out((barred | new)[rows], loads, seed + turn)
            new[rows[person >= 0], person[person >= 0]] = True
            loads += np.bincount(person[person >= 0], minlength=len(loads))
    rows = np.flatnonzero(new.any(axis=1))
    after, before = ((crew_of_all[rows].astype(np.int64)) for crew_of_all in (crew | new, crew))
    meetings = shared + after.T @ after - before.T @ before
    new[rows] = even_meetings((crew | new)[rows], barred[rows], meetings, np.random.default_rng(seed)) & ~crew[rows]
    return new


def hand_over_slots(pair: Ints, holder: Ints, position: Ints, is_allowed: Bools, loads: Ints, latecomers: Ints) -> Ints:
    """Choose the latecomer who takes over each open slot, `(n_slots,)`: -1 where the holder keeps it.

    `pair`, `holder` (an index of `loads`) and `position` in their shard are of each slot; what comes last is handed on
    first, and nobody takes over two slots of one pair. `is_allowed` is `(n_slots, n_people)`. Each slot goes from
    whoever has most to whoever of the late has least, until they differ by less than two.
    """
    loads, new_holder = loads.copy(), np.full(len(holder), -1)
    handed_over: set[tuple[int, int]] = set()
    stacks = {
        (int(person), int(other)): list(rows[np.argsort(position[rows], kind="stable")])
        for person in np.unique(holder[~np.isin(holder, latecomers)])
        for other in latecomers
        if len(rows := np.flatnonzero((holder == person) & is_allowed[:, other]))
    }
    while stacks:
        giver, taker = max(stacks, key=lambda ends: (loads[ends[0]] - loads[ends[1]], -ends[0], -ends[1]))
        if loads[giver] - loads[taker] < 2:
            break
        slot = stacks[giver, taker].pop()
        if not stacks[giver, taker]:
            del stacks[giver, taker]
        if new_holder[slot] < 0 and (int(pair[slot]), taker) not in handed_over:
            handed_over.add((int(pair[slot]), taker))
            new_holder[slot] = taker
            loads[[giver, taker]] += -1, 1
    return new_holder


def choose_slots(
    slots: Sequence[tuple[int, int]], rows: Mapping[int, int], columns: Mapping[int, int], n: int
) -> list[int]:
    """The places of at most `n` slots to give, in order: each time that whose row was met least, then whose column was,
    then the first. `slots` has the row and column of each; `rows` and `columns` say how often the person has met which.
    """
    met_rows, met_columns, remaining = Counter(rows), Counter(columns), dict(enumerate(slots))
    chosen: list[int] = []
    while remaining and len(chosen) < n:
        at = min(remaining, key=lambda place: (met_rows[remaining[place][0]], met_columns[remaining[place][1]], place))
        row, column = remaining.pop(at)
        met_rows[row] += 1
        met_columns[column] += 1
        chosen.append(at)
    return chosen


def n_controls(n_pairs: int, rate: float) -> int:
    """Number of control pairs beside `n_pairs` others, so that they are a share `rate` of all that is shown."""
    return round(n_pairs * rate / (1 - rate))


def merge_controls(
    rows: Sequence[int], control_rows: Sequence[int], rng: np.random.Generator, *, by_row: bool
) -> list[int]:
    """The order of a shard with its control pairs: indices of `rows`, and behind these of `control_rows`. Each place is
    as likely for a control pair; with `by_row`, each is among those of its row, or between two rows.
    """
    order, placed = list(range(len(rows))), list(rows)
    for index, row in enumerate(control_rows, len(rows)):
        gaps = range(len(placed) + 1)
        if by_row:
            beside = [gap for gap in gaps if row in placed[max(gap - 1, 0) : gap + 1]]
            gaps_between_rows = [gap for gap in gaps if gap in (0, len(placed)) or placed[gap - 1] != placed[gap]]
            gap = int(rng.choice(beside or gaps_between_rows))
        else:
            gap = int(rng.integers(len(gaps)))
        order.insert(gap, index)
        placed.insert(gap, row)
    return order
