"""Equitable splitting of pairs: every HS and every CN shares its pairs out over the colours as evenly as can be.

The colours (annotators, groups of annotators, numbers of labels) are halved again and again. A half asks for a part of
the pairs in which every HS and every CN has its share, rounded down or up: these are the bounds of a network flow, so
there is a solution. It is found by drawing at random and mending the draw with a maximum flow.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fcpair.arrays import Bools, Ints

MOST_ROUNDS = 1000
IDLE_ROUNDS = 40
PROPOSALS_PER_NODE = 8
ROUNDING = 1e-6
MOST_TRADES = 20_000
IDLE_TRADES = 60
OFFERS = 256


@dataclass(frozen=True)
class Pairs:
    """Pairs as edges between numbered nodes: HS are `0 .. n_hs - 1`, CNs `n_hs .. n_nodes - 1`; no pair twice."""

    hs: Ints
    cn: Ints
    n_hs: int
    n_nodes: int

    def __len__(self) -> int:
        return len(self.hs)

    def subset(self, rows: Ints | Bools) -> Pairs:
        """The pairs at `rows`, between the same nodes."""
        return Pairs(self.hs[rows], self.cn[rows], self.n_hs, self.n_nodes)

    def degrees(self, chosen: Ints | Bools | None = None) -> Ints:
        """Number of pairs that each node has, `(n_nodes,)`; only of those with `chosen` 1, if it is given."""
        weights = None if chosen is None else np.tile(chosen, 2)
        return np.bincount(np.concatenate([self.hs, self.cn]), weights, self.n_nodes).astype(np.int64)


def split_pairs(pairs: Pairs, weights: Ints, rng: np.random.Generator, prior_counts: Ints | None = None) -> Ints:
    """Give each pair a colour, an index of `weights`, in proportion to these, at every HS, at every CN and over all.

    `prior_counts`, `(n_colours, n_nodes)`, says how much each colour has at each node beforehand; the split evens out
    the sums as far as it can. With equal weights each of n colours gets d/n, rounded down or up, of the d pairs of
    every HS, of every CN, and of all pairs: D. de Werra (1971), Balanced schedules, INFOR 9(3), 230-237, DOI
    10.1080/03155986.1971.11731493. Weights whose sum is the number of pairs: each colour has exactly its weight.
    """
    prior = np.zeros((len(weights), 1), np.int64) if prior_counts is None else prior_counts
    colour = np.zeros(len(pairs), np.int64)
    parts = [(np.arange(len(pairs)), rng.permutation(np.flatnonzero(weights)))]
    while parts:
        rows, colours = parts.pop()
        if len(colours) == 1:
            colour[rows] = colours[0]
        elif len(rows):
            first, second = np.array_split(colours, 2)
            weight, total = int(weights[first].sum()), int(weights[colours].sum())
            prior_first, prior_total = prior[first].sum(axis=0), prior[colours].sum(axis=0)
            part = pairs.subset(rows)
            taken = _take_share(part, weight * (part.degrees() + prior_total) - total * prior_first, total, rng)
            parts += [(rows[taken], first), (rows[~taken], second)]
    return colour


def _take_share(pairs: Pairs, share: Ints, total: int, rng: np.random.Generator) -> Bools:
    """Choose a part of the pairs in which each node has `share / total` pairs, rounded down or up."""
    degree = pairs.degrees()
    low, high = np.clip(share // total, 0, degree), np.clip(-(-share // total), 0, degree)
    size = min(max(int(share.sum()) // (2 * total), 0), len(pairs))  # each pair counts at its HS and at its CN
    # drawn at random in each HS, as many pairs as is its share: right for the HS, roughly right for the CNs
    n_pairs = degree[: pairs.n_hs]
    n_taken = np.diff(np.cumsum(share[: pairs.n_hs]) // total, prepend=0)
    order = np.lexsort((rng.random(len(pairs)), pairs.hs))
    place = np.arange(len(pairs)) - np.repeat(np.cumsum(n_pairs) - n_pairs, n_pairs)
    taken = np.empty(len(pairs), np.bool_)
    taken[order] = place < np.repeat(n_taken, n_pairs)
    taken, is_met = _mend_share(pairs, taken, size, low, high)
    slack = 1
    while not is_met:  # only where `already` is very uneven
        low, high = np.maximum(low - slack, 0), np.minimum(high + slack, degree)
        taken, is_met = _mend_share(pairs, taken, size, low, high)
        slack *= 2
    return taken


def _mend_share(pairs: Pairs, taken: Bools, size: int, low: Ints, high: Ints) -> tuple[Bools, bool]:
    """Bring the size of `taken` to `size` and its degrees to `low .. high`, or near; say whether all are met.

    The flow runs from a start to each HS, along the taken pairs to the CNs, on to an end, and back to the start.
    """
    start, end = pairs.n_nodes, pairs.n_nodes + 1
    hs, cn = np.arange(pairs.n_hs), np.arange(pairs.n_hs, pairs.n_nodes)
    tails = np.concatenate([pairs.hs, np.full(len(hs), start), cn, [end]])
    heads = np.concatenate([pairs.cn, hs, np.full(len(cn), end), [start]])
    lows = np.concatenate([np.zeros(len(pairs), np.int64), low, [size]])
    highs = np.concatenate([np.ones(len(pairs), np.int64), high, [size]])
    flow = np.concatenate([taken, np.clip(pairs.degrees(taken), low, high), [size]])
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    source, sink = end + 1, end + 2
    excess = np.bincount(heads, flow, source) - np.bincount(tails, flow, source)
    over, under = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    sources, sinks = np.full(len(over), source), np.full(len(under), sink)
    room = np.concatenate([highs - flow, flow - lows, excess[over], -excess[under]]).astype(np.int32)
    rows, columns = (np.concatenate([tails, heads, sources, under]), np.concatenate([heads, tails, over, sinks]))
    result = maximum_flow(csr_array((room, (rows, columns)), shape=(sink + 1, sink + 1)), source, sink)
    change = np.asarray(result.flow[tails, heads]).ravel().astype(np.int64)
    return (flow + change)[: len(pairs)] == 1, bool(result.flow_value == excess[over].sum())


def even_out(pairs: Pairs, colour: Ints, members: Bools, rng: np.random.Generator) -> Ints:
    """Swap the groups of pairs until each annotator's labels spread over HS and CNs as evenly as swaps can bring it.

    `members`, `(n_colours, n_annotators)`, says who is in the group of each colour. Groups of the same size are swapped
    if that lowers the sum of squared deviations of the counts `(n_nodes, n_annotators)` from each annotator's share.
    Returns the new colours; ends when many rounds of random proposals bring nothing.
    """
    colour, group_size = colour.copy(), members.sum(axis=1)
    counts = np.column_stack([pairs.degrees(has) for has in members[colour].T])
    surplus = counts - np.outer(counts.sum(axis=1), counts.sum(axis=0)) / max(counts.sum(), 1)
    n_idle = 0
    for number in range(MOST_ROUNDS):
        proposed = rng.permutation(len(pairs))[: PROPOSALS_PER_NODE * pairs.n_nodes]
        kept_end = pairs.hs if number % 2 else pairs.cn  # a swap within one HS leaves the counts at HS alone
        proposed = proposed[np.lexsort((kept_end[proposed], group_size[colour[proposed]]))]
        pair_a, pair_b = proposed[:-1:2], proposed[1::2]
        same = group_size[colour[pair_a]] == group_size[colour[pair_b]]
        pair_a, pair_b, crew = pair_a[same], pair_b[same], members[colour].astype(np.int64)
        # of the proposed swaps those that lower the sum of squares and are the best at each node that they change
        change, gain = crew[pair_b] - crew[pair_a], np.zeros(len(pair_a))
        touched = np.tile(pairs.n_nodes + np.arange(len(pair_a)), (4, 1))  # a node of its own where nothing changes
        for side, ends in enumerate((pairs.hs, pairs.cn)):
            moves = ends[pair_a] != ends[pair_b]
            gap = surplus[ends[pair_a]] - surplus[ends[pair_b]]
            gain -= np.where(moves, 2 * ((gap + change) * change).sum(axis=1), 0)
            touched[2 * side : 2 * side + 2, moves] = ends[pair_a[moves]], ends[pair_b[moves]]
        rank = np.argsort(np.argsort(-gain))
        first = np.full(pairs.n_nodes + len(pair_a), len(pair_a))
        np.minimum.at(first, touched.ravel(), np.tile(rank, 4))  # spelt out: numpy 2.4.6 broadcasts wrongly here
        best = (gain > ROUNDING) & (first[touched] == rank).all(axis=0)
        pair_a, pair_b, change = pair_a[best], pair_b[best], change[best]
        if (n_idle := 0 if len(pair_a) else n_idle + 1) == IDLE_ROUNDS:
            break
        for ends in (pairs.hs, pairs.cn):
            np.add.at(surplus, ends[pair_a], change)
            np.add.at(surplus, ends[pair_b], -change)
        colour[pair_a], colour[pair_b] = colour[pair_b], colour[pair_a]
    return colour


def even_meetings(crew: Bools, locked: Bools, shared: Ints, rng: np.random.Generator) -> Bools:
    """Trade members between crews, `(n_pairs, n_annotators)`, until every two annotators share pairs as evenly as can
    be.

    `locked` says who must stay in a crew or out of it; `shared`, `(n_annotators, n_annotators)`, how many pairs each
    two share, these among them. A trade moves a member of one pair to another and one back, and lowers the sum of
    squares of `shared`. Returns the new crews; ends when many rounds of random offers bring nothing.
    """
    crew, shared = crew.copy(), shared.copy()
    may_leave = np.flatnonzero((crew & ~locked).any(axis=1))
    n_idle = 0
    for _ in range(MOST_TRADES if len(may_leave) > 1 else 0):
        pair_a, pair_b = rng.choice(may_leave, (2, OFFERS))
        outgoing = _draw_column(crew[pair_a] & ~locked[pair_a] & ~crew[pair_b] & ~locked[pair_b], rng)
        incoming = _draw_column(crew[pair_b] & ~locked[pair_b] & ~crew[pair_a] & ~locked[pair_a], rng)
        change = crew[pair_b].astype(np.int64) - crew[pair_a]
        np.put_along_axis(change, np.column_stack([outgoing, incoming]), 0, axis=1)
        gain = -((shared[outgoing] - shared[incoming] + change) * change).sum(axis=1)
        gain[(outgoing < 0) | (incoming < 0)] = 0
        best = int(gain.argmax())
        if (n_idle := 0 if gain[best] > 0 else n_idle + 1) == IDLE_TRADES:
            break
        if gain[best] > 0:
            giver, taker = outgoing[best], incoming[best]
            for at, sign in ((giver, 1), (taker, -1)):
                shared[at] += sign * change[best]
                shared[:, at] += sign * change[best]
            crew[pair_a[best], [giver, taker]] = False, True
            crew[pair_b[best], [giver, taker]] = True, False
    return crew


def _draw_column(choices: Bools, rng: np.random.Generator) -> Ints:
    """A column of each row that is True, drawn at random; -1 where there is none."""
    drawn = np.where(choices, rng.random(choices.shape), -1.0)
    return np.where(choices.any(axis=1), drawn.argmax(axis=1), -1)
