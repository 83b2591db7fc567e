"""Dealing more once people are at work: further labels for some pairs, and a fair share for those who join late."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from fcpair.stages.assignment.assign import overlap_counts, share_out
from fcpair.stages.corpus.split import Bools, Ints, Pairs, even_meetings, split


def missing(hs: Ints, cn: Ints, asked: Ints, settled: Bools, overlap: Mapping[int, float] | None, seed: int) -> Ints:
    """How many labels more each pair is to get, `(n_pairs,)`.

    Args:
        hs: one end of each pair, as any integers, `(n_pairs,)`.
        cn: the other end.
        asked: how many labels each pair has been given out for already.
        settled: whether a pair gets no further labels, because a person has decided it.
        overlap: the shares of all pairs that are to get 2 labels or more, as `overlap_counts` reads them; None leaves
            every pair with what it has, and gives one label to those that have none.
        seed: of which pairs are raised, spread evenly over both ends.

    As few labels are added as suffice: the pairs with most labels are taken for those that are to have most.
    """
    if overlap is None:
        return np.where(settled, 0, np.maximum(1 - asked, 0))
    rng = np.random.default_rng(seed)
    wanted = _without(overlap_counts(len(hs), overlap), asked[settled])
    pairs = _between(hs, cn)
    target = np.zeros_like(asked)
    n_met = 0
    for level in np.unique(asked[~settled])[::-1]:
        rows = np.flatnonzero(~settled & (asked == level))
        numbers, n_each = np.unique(wanted[n_met : n_met + len(rows)], return_counts=True)
        target[rows] = numbers[split(pairs.only(rows), n_each, rng)]
        n_met += len(rows)
    more: Ints = np.maximum(target - asked, 0)
    return more


def _without(counts: Mapping[int, int], settled: Ints) -> Ints:
    """The numbers of labels that the other pairs are to get, descending, once settled pairs stand for what they have.

    Each settled pair takes the largest number that it reaches, or else the smallest that there is.
    """
    left = dict(counts)
    for asked in np.sort(settled)[::-1]:
        open_ = [n_labels for n_labels, count in left.items() if count]
        left[max((n_labels for n_labels in open_ if n_labels <= asked), default=open_[0])] -= 1
    return np.repeat(list(left), list(left.values()))[::-1]


def _between(hs: Ints, cn: Ints) -> Pairs:
    hs_names, hs_at = np.unique(hs, return_inverse=True)
    cn_names, cn_at = np.unique(cn, return_inverse=True)
    return Pairs(hs_at, len(hs_names) + cn_at, len(hs_names), len(hs_names) + len(cn_names))


def top_up(n_more: Ints, crew: Bools, barred: Bools, shared: Ints, loads: Ints, seed: int) -> Bools:
    """Who gets the further labels of each pair, `(n_pairs, n_people)`: True where a person is to give one.

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
        who = share_out((barred | new)[rows], loads, seed + turn)
        new[rows[who >= 0], who[who >= 0]] = True
        loads += np.bincount(who[who >= 0], minlength=len(loads))
    rows = np.flatnonzero(new.any(axis=1))
    both = (crew | new)[rows].astype(np.int64)
    before = crew[rows].astype(np.int64)
    met = shared + both.T @ both - before.T @ before
    evened = even_meetings((crew | new)[rows], barred[rows], met, np.random.default_rng(seed))
    new[rows] = evened & ~crew[rows]
    return new


def hand_on(pair: Ints, holder: Ints, position: Ints, may: Bools, loads: Ints, late: Ints) -> Ints:
    """Who of those who came late takes over which open slot, `(n_slots,)`: -1 where the holder keeps it.

    Args:
        pair: the pair of each open slot, by any number, `(n_slots,)`; nobody takes over two slots of one pair.
        holder: who has each open slot, an index of `loads`, `(n_slots,)`.
        position: its place in their shard; what comes last is handed on first.
        may: whether each person may take the slot, `(n_slots, n_people)`.
        loads: what each person has done and has to do, `(n_people,)`.
        late: those who came late, indices of `loads`.

    Each slot goes from whoever has most to whoever of the late has least, until no one of the late is two below
    somebody who has a slot that they may take.
    """
    loads, taken = loads.copy(), np.full(len(holder), -1)
    given: set[tuple[int, int]] = set()
    stacks = {
        (int(one), int(other)): list(rows[np.argsort(position[rows], kind="stable")])
        for one in np.unique(holder[~np.isin(holder, late)])
        for other in late
        if len(rows := np.flatnonzero((holder == one) & may[:, other]))
    }
    while stacks:
        giver, taker = max(stacks, key=lambda ends: (loads[ends[0]] - loads[ends[1]], -ends[0], -ends[1]))
        if loads[giver] - loads[taker] < 2:
            break
        slot = stacks[giver, taker].pop()
        if not stacks[giver, taker]:
            del stacks[giver, taker]
        if taken[slot] < 0 and (int(pair[slot]), taker) not in given:
            given.add((int(pair[slot]), taker))
            taken[slot] = taker
            loads[[giver, taker]] += -1, 1
    return taken
