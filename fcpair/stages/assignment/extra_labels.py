"""Dealing more once people are at work: further labels, a fair share for those who join late, leases, control pairs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np

from fcpair.arrays import Bools, Ints
from fcpair.stages.assignment.assign import overlap_counts, share_out
from fcpair.stages.corpus.split import Pairs, even_meetings, split_pairs


def n_labels_missing(
    hs: Ints, cn: Ints, n_assigned: Ints, is_decided: Bools, overlap: Mapping[int, float] | None, seed: int
) -> Ints:
    """Number of further labels that each pair is to get, `(n_pairs,)`.

    Args:
        hs: one end of each pair, as any integers, `(n_pairs,)`.
        cn: the other end.
        n_assigned: how many labels each pair has been given out for already.
        is_decided: whether a pair gets no further labels, because a person has decided it.
        overlap: the shares of all pairs that are to get 2 labels or more, as `overlap_counts` reads them; None leaves
            every pair with what it has, and gives one label to those that have none.
        seed: of which pairs are raised, spread evenly over both ends.

    As few labels are added as suffice: the pairs with most labels are taken for those that are to have most.
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
    hs_names, hs_at = np.unique(hs, return_inverse=True)
    cn_names, cn_at = np.unique(cn, return_inverse=True)
    pairs = Pairs(hs_at, len(hs_names) + cn_at, len(hs_names), len(hs_names) + len(cn_names))
    target = np.zeros_like(n_assigned)
    n_met = 0
    for level in np.unique(n_assigned[~is_decided])[::-1]:
        rows = np.flatnonzero(~is_decided & (n_assigned == level))
        numbers, n_each = np.unique(target_counts[n_met : n_met + len(rows)], return_counts=True)
        target[rows] = numbers[split_pairs(pairs.subset(rows), n_each, rng)]
        n_met += len(rows)
    n_missing: Ints = np.maximum(target - n_assigned, 0)
    return n_missing


def add_labels(n_more: Ints, crew: Bools, barred: Bools, shared: Ints, loads: Ints, seed: int) -> Bools:
    """Assign the further labels of each pair, `(n_pairs, n_people)`: True where a person is to give one.

    Args:
        n_more: how many labels more each pair is to get, `(n_pairs,)`.
        crew: who has the pair already, `(n_pairs, n_people)`.
        barred: who may not get it, those who have it among them.
        shared: how many pairs of the whole grid each two people have in common, `(n_people, n_people)`.
        loads: what each person has done and has to do, `(n_people,)`.
        seed: of everything drawn.

    Loads come out as level as the bars allow, and by trades that change no load, what every two people share as even as
    it gets. A pair on which fewer people are free than labels are asked for gets as many as there are.
    """
    new, loads = np.zeros_like(crew), loads.copy()
    for turn in range(int(n_more.max(initial=0))):
        rows = np.flatnonzero(n_more > turn)
        person = share_out((barred | new)[rows], loads, seed + turn)
        new[rows[person >= 0], person[person >= 0]] = True
        loads += np.bincount(person[person >= 0], minlength=len(loads))
    rows = np.flatnonzero(new.any(axis=1))
    crew_after = (crew | new)[rows].astype(np.int64)
    crew_before = crew[rows].astype(np.int64)
    meetings = shared + crew_after.T @ crew_after - crew_before.T @ crew_before
    evened = even_meetings((crew | new)[rows], barred[rows], meetings, np.random.default_rng(seed))
    new[rows] = evened & ~crew[rows]
    return new


def hand_over_slots(pair: Ints, holder: Ints, position: Ints, is_allowed: Bools, loads: Ints, latecomers: Ints) -> Ints:
    """Choose the latecomer who takes over each open slot, `(n_slots,)`: -1 where the holder keeps it.

    Args:
        pair: the pair of each open slot, by any number, `(n_slots,)`; nobody takes over two slots of one pair.
        holder: who has each open slot, an index of `loads`, `(n_slots,)`.
        position: its place in their shard; what comes last is handed on first.
        is_allowed: whether each person may take the slot, `(n_slots, n_people)`.
        loads: what each person has done and has to do, `(n_people,)`.
        latecomers: those who came late, indices of `loads`.

    Each slot goes from whoever has most to whoever of the late has least, until no one of the late is two below
    somebody who has a slot that they may take.
    """
    loads, new_holder = loads.copy(), np.full(len(holder), -1)
    handed_over: set[tuple[int, int]] = set()
    stacks = {
        (int(one), int(other)): list(rows[np.argsort(position[rows], kind="stable")])
        for one in np.unique(holder[~np.isin(holder, latecomers)])
        for other in latecomers
        if len(rows := np.flatnonzero((holder == one) & is_allowed[:, other]))
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
    """Which of some slots to give, so that whoever asks meets each row, and then each column, as evenly as they allow.

    Args:
        slots: row and column of each slot, by any integers, in the order in which they are to be given out.
        rows: how often the person has met each row; one that is missing, never.
        columns: the same of each column.
        n: how many to give; fewer are given where there are no more.

    Returns:
        Places in `slots`, in the order in which they are given: each time the slot whose row was met least, among those
        the one whose column was, and of these the first.
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


def refill_threshold(n: int) -> int:
    """Below how many slots in hand somebody who wants `n` is given more: not one at each answer, but some at once."""
    return (n + 1) // 2


def n_controls(n_pairs: int, rate: float) -> int:
    """Number of control pairs beside `n_pairs` others, so that they are a share `rate` of all that is shown."""
    return round(n_pairs * rate / (1 - rate))


def merge_controls(
    rows: Sequence[int], control_rows: Sequence[int], rng: np.random.Generator, *, by_row: bool
) -> list[int]:
    """The order of a shard with its control pairs: indices of `rows`, and behind these of `control_rows`.

    The pairs of the shard keep their order, and each place is as likely for a control pair, first and last included.
    Where one row is shown after the other (`by_row`), a control pair comes among those of its row, or between two rows
    where the shard has none of it.
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
