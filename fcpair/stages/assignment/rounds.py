"""Dealing a round: so many answers for each cell, nobody what is barred to them, and nobody a row twice if so asked."""

from __future__ import annotations

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.stages.assignment.assign import AssignedPairs, assign_pairs
from fcpair.stages.corpus.split import Pairs, split_pairs

NOBODY_TO_ASSIGN = "there is nobody to assign to; `fcpair people add NAME --role ROLE` adds people"


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
    """Deal the cells of a grid, which may have holes, so that each gets `answers` answers by different people.

    `row` and `column`, `(n_cells,)`, name the two ends of each cell by any integers, no cell twice. `barred`,
    `(n_cells, n_people)`, is True where a person may not be given the cell. 0 `answers`: by everybody who may. With
    `once_per_row` nobody has two cells of a row. Errors call what is dealt `unit`.

    Where nothing is barred, loads differ by at most one, and everybody meets each column as evenly as the numbers
    allow. What is barred is given to others, and then work is handed on until the sum of the squared loads is the least
    possible: no chain of hand-overs within the rules leads from anybody to somebody with two cells less, which suffices
    (a flow of convex cost without a negative cycle: Ahuja, Magnanti and Orlin 1993, Network Flows, chapter 14). Who
    gets what is drawn by `seed`.

    Raises:
        InputError: no cell, nobody to deal to, or too few people for what is asked, with the number there must be.
    """
    n_people = barred.shape[1]
    _check_feasible(row, barred, answers, once_per_row=once_per_row, unit=unit)
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
    """Deal whole rows: each is answered by `answers` people, who have all its cells; otherwise as `assign_cells`.

    `row`, `(n_cells,)`, may name anything else that cells have in common, which errors call `unit`. Loads differ by at
    most one row where nothing is barred. Who may not have a cell has none of its row.
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
    """Which cells are drawn where each row is to have `per_row` of its columns, shape `(n_cells,)`.

    `row` and `column`, `(n_cells,)`, name the two ends of each cell by any integers. Rows come in an order drawn by
    `seed`, and each takes those of its columns that were taken least so far, and of these the ones that were least
    often in a row together. Where each row has every column, the numbers of two columns differ by at most one, and
    those of two pairs of columns by as little as rows taken one by one allow.

    Raises:
        InputError: a row with fewer columns than that.
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
            key = np.lexsort(
                (
                    chance,
                    n_together[row_columns][:, is_chosen].sum(axis=1),
                    n_taken[row_columns],
                    is_chosen[row_columns],
                )
            )
            is_chosen[row_columns[key[0]]] = True
        n_taken[is_chosen] += 1
        n_together[np.ix_(is_chosen, is_chosen)] += 1
        drawn[cells[is_chosen[row_columns]]] = True
    return drawn


def batches(row: Ints, size: int, seed: int) -> Ints:
    """The batch of each cell, from 0, shape `(n_cells,)`: rows go together, `size` of them, drawn by `seed`."""
    rows, at = np.unique(row, return_inverse=True)
    turn = np.random.default_rng([seed, size]).permutation(len(rows))
    return np.asarray(turn[at] // size)


def draw_per_batch(batch: Ints, n: int, seed: int) -> Bools:
    """Which cells are drawn where each batch is to give `n` of its own, or all where it has no more; `(n_cells,)`."""
    order = np.lexsort((np.random.default_rng([seed, n]).random(len(batch)), batch))
    starts = np.searchsorted(batch[order], batch[order])
    drawn = np.zeros(len(batch), np.bool_)
    drawn[order[np.arange(len(batch)) - starts < n]] = True
    return drawn


def order_by_batch(annotator: Ints, batch: Ints, place: Ints) -> Ints:
    """The place of each assignment in its annotator's shard where one batch comes after the other, else as `place`."""
    order = np.lexsort((place, batch, annotator))
    _, starts = np.unique(annotator[order], return_index=True)
    new_place = np.empty(len(place), np.int64)
    new_place[order] = 1 + np.arange(len(place)) - np.repeat(starts, np.diff([*starts, len(place)]))
    return new_place


def _check_feasible(row: Ints, barred: Bools, answers: int, *, once_per_row: bool, unit: str) -> None:
    n_cells, n_people = barred.shape
    if n_cells == 0:
        raise InputError(f"there are no {unit} to assign")
    if n_people == 0:
        raise InputError(NOBODY_TO_ASSIGN)
    if answers > n_people:
        raise InputError(
            f"each cell is to be answered by {answers} people, but there are {n_people}; add people or lower `answers`"
        )
    widest = int(np.unique(row, return_counts=True)[1].max())
    if once_per_row and widest * answers > n_people:
        raise InputError(
            f"nobody may have a row twice: a row of {widest} cells, each to be answered by {answers}, needs "
            f"{widest * answers} people, but there are {n_people}; add people, or omit `once_per_row`"
        )
    n_short = int(((~barred).sum(axis=1) < max(answers, 1)).sum())
    if n_short:
        raise InputError(
            f"{n_short:,} of {n_cells:,} {unit} cannot be answered by {max(answers, 1)}, because too many of the "
            f"{n_people} people may not have them, such as those who wrote their texts; add people"
        )


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
    """Give cells the answers that they miss, and take work from people with a surplus, by as many as have room.

    A flow of units of work: from cells that miss an answer and people with a surplus, to people with room. A unit goes
    from a cell to a person in its row, and on to whom that person may hand a cell that they have, or to the person
    itself where they have none in the row.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

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
    network = csr_array((capacity, (tails, heads)), shape=(end + 1, end + 1))
    flow = maximum_flow(network, start, end).flow.tocoo()
    moved = flow.data > 0
    tail, head = flow.row[moved], flow.col[moved]
    is_given, is_lost = tail < n_cells, (head < n_cells) & (tail < start)
    crew = crew.copy()
    crew[tail[is_given], (head[is_given] - n_cells) % n_people] = True
    crew[head[is_lost], (tail[is_lost] - n_cells) % n_people] = False
    return crew
