"""Sharing slots out among people who may take them, so that what each has open comes out even."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator

from fcpair.arrays import Bools, Ints
from fcpair.lazy import scipy


def fill_slots(pair: Ints, barred: Bools, loads: Ints, seed: int) -> Ints:
    """Share slots out as `share_out` does; of those of one `pair`, `(n_slots,)`, given in turns, nobody gets two."""
    _, row, n_each = np.unique(pair, return_inverse=True, return_counts=True)
    nth = n_earlier_equal(row)
    person, has = np.full(len(pair), -1, np.int64), np.zeros((len(n_each), len(loads)), np.bool_)
    for turn in range(int(n_each.max(initial=0))):
        at = np.flatnonzero(nth == turn)
        person[at] = share_out(barred[at] | has[row[at]], loads, seed)
        filled = at[person[at] >= 0]
        has[row[filled], person[filled]] = True
        loads = loads + np.bincount(person[filled], minlength=len(loads))
    return person


def fill_rows(row: Ints, pair: Ints, barred: Bools, loads: Ints, seed: int) -> Ints:
    """Share slots out as `fill_slots` does, and all those of a `row` to the same person; of a pair, to several."""
    groups, group = np.unique(np.column_stack([row, n_earlier_equal(pair)]), axis=0, return_inverse=True)
    together = np.zeros((len(groups), barred.shape[1]), np.bool_)
    np.logical_or.at(together, group, barred)
    return fill_slots(groups[:, 0], together, loads, seed)[group]


def n_earlier_equal(value: Ints) -> Ints:
    """Count for each place how many before it have the same value."""
    _, at, n_each = np.unique(value, return_inverse=True, return_counts=True)
    turn = np.empty(len(value), np.int64)
    turn[np.argsort(at, kind="stable")] = np.arange(len(value)) - np.repeat(np.cumsum(n_each) - n_each, n_each)
    return turn


def share_out(barred: Bools, loads: Ints, seed: int) -> Ints:
    """Share slots out among people who may take them; who gets which is drawn by `seed`.

    `barred`, `(n_slots, n_people)`, is True where a person may not take the slot; `loads`, `(n_people,)`, is the work
    that each has open. Returns a person for each slot, -1 where everyone is barred. The sum of the squared loads is the
    least possible: no chain of moves can lower it (Harvey, Ladner, Lovász and Tamir 2006, Semi-matchings for bipartite
    graphs and load balancing, J. Algorithms 59(1), 53-78, DOI 10.1016/j.jalgor.2005.01.003).
    """
    rng = np.random.default_rng(seed)
    n_slots, n_people = barred.shape
    person = np.full(n_slots, -1, np.int64)
    if len(slots := rng.permutation(np.flatnonzero(~barred.all(axis=1)))) == 0:
        return person
    patterns, pattern = np.unique(barred[slots], axis=0, return_inverse=True)
    quota = _level_loads(~patterns, np.bincount(pattern), loads, rng)
    people = np.tile(np.arange(n_people), len(patterns))
    person[slots[np.argsort(pattern, kind="stable")]] = np.repeat(people, quota.ravel())
    return person


def _level_loads(is_allowed: Bools, n_slots: Ints, loads: Ints, rng: Generator) -> Ints:
    """Number of slots of each pattern that each person gets, `(n_patterns, n_people)`."""
    quota = np.zeros(is_allowed.shape, np.int64)
    for row in np.argsort(is_allowed.sum(axis=1), kind="stable"):
        quota[row, is_allowed[row]] = fill_loads((loads + quota.sum(axis=0))[is_allowed[row]], int(n_slots[row]), rng)
    if len(is_allowed) == 1:
        return quota  # which is level already
    while True:
        total = loads + quota.sum(axis=0)
        can_hand = (quota > 0).astype(np.int64).T @ is_allowed.astype(np.int64)
        steps, before = scipy.sparse.csgraph.shortest_path(can_hand > 0, unweighted=True, return_predecessors=True)
        gap = np.where(np.isfinite(steps), total[:, None] - total, 0)
        giver, taker = np.unravel_index(gap.argmax(), gap.shape)
        if gap[giver, taker] < 2:
            return quota
        moves = []
        while taker != giver:
            hander = before[giver, taker]
            row = np.where(is_allowed[:, taker], quota[:, hander], 0).argmax()
            moves.append((row, hander, taker))
            taker = hander
        n_moved = min(int(gap.max()) // 2, *(int(quota[row, hander]) for row, hander, _ in moves))
        for row, hander, receiver in moves:
            quota[row, hander] -= n_moved
            quota[row, receiver] += n_moved


def fill_loads(loads: Ints, n_slots: int, rng: Generator) -> Ints:
    """Number of the `n_slots` slots that each person gets so that the lowest loads rise to one level, within one."""
    order = np.lexsort((rng.random(len(loads)), loads))
    ordered = loads[order]
    below = np.cumsum(ordered)
    n_filled = int((np.arange(1, len(loads) + 1) * ordered - below <= n_slots).sum())
    level, n_higher = divmod(n_slots + int(below[n_filled - 1]), n_filled)
    quota = np.zeros_like(loads)
    quota[order[:n_filled]] = level + (np.arange(n_filled) < n_higher) - ordered[:n_filled]
    return quota
