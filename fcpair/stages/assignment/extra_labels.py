"""Dealing more once people are at work: further labels for some pairs, and a fair share for those who join late."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fcpair.stages.assignment.assign import overlap_counts, share_out
from fcpair.stages.corpus.split import Bools, Ints, Pairs, even_meetings, split_pairs


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
    target_counts = _target_counts(overlap_counts(len(hs), overlap), n_assigned[is_decided])
    pairs = _number_ends(hs, cn)
    target = np.zeros_like(n_assigned)
    n_met = 0
    for level in np.unique(n_assigned[~is_decided])[::-1]:
        rows = np.flatnonzero(~is_decided & (n_assigned == level))
        numbers, n_each = np.unique(target_counts[n_met : n_met + len(rows)], return_counts=True)
        target[rows] = numbers[split_pairs(pairs.subset(rows), n_each, rng)]
        n_met += len(rows)
    n_missing: Ints = np.maximum(target - n_assigned, 0)
    return n_missing


def _target_counts(counts: Mapping[int, int], settled: Ints) -> Ints:
    """The numbers of labels that the other pairs are to get, descending, once settled pairs stand for what they have.

    Each settled pair takes the largest number that it reaches, or else the smallest that there is.
    """
    remaining = dict(counts)
    for n_had in np.sort(settled)[::-1]:
        available = [n_labels for n_labels, count in remaining.items() if count]
        remaining[max((n_labels for n_labels in available if n_labels <= n_had), default=available[0])] -= 1
    return np.repeat(list(remaining), list(remaining.values()))[::-1]


def _number_ends(hs: Ints, cn: Ints) -> Pairs:
    hs_names, hs_at = np.unique(hs, return_inverse=True)
    cn_names, cn_at = np.unique(cn, return_inverse=True)
    return Pairs(hs_at, len(hs_names) + cn_at, len(hs_names), len(hs_names) + len(cn_names))


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
