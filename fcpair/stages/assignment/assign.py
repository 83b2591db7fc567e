"""Assigning pairs to people: balanced overlap designs, the order within a shard, and work that must find new hands.

Pairs are split so that every HS and every CN shares its own out over the colours (annotators, groups of annotators,
numbers of labels) as evenly as can be: these are halved again and again. A half asks for a part of the pairs in which
every HS and every CN has its share, rounded down or up: these are the bounds of a network flow, so there is a solution.
It is found by drawing at random and mending the draw with a maximum flow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.random import Generator

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.lazy import scipy
from fcpair.params import check_shares
from fcpair.sentences import Id
from fcpair.stages.assignment.slots import fill_loads, n_earlier_equal

MOST_ROUNDS = 1000
IDLE_ROUNDS = 40
PROPOSALS_PER_NODE = 8
ROUNDING = 1e-6
Progress = Callable[[int, int], None] | None  # is told how many of how many are done
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

    @classmethod
    def between(cls, hs: Ints, cn: Ints) -> Pairs:
        """The pairs whose ends are named by any integers."""
        (hs_names, hs_at), (cn_names, cn_at) = (np.unique(ends, return_inverse=True) for ends in (hs, cn))
        return cls(hs_at, len(hs_names) + cn_at, len(hs_names), len(hs_names) + len(cn_names))

    def __len__(self) -> int:
        return len(self.hs)

    def subset(self, rows: Ints | Bools) -> Pairs:
        """The pairs at `rows`, between the same nodes."""
        return Pairs(self.hs[rows], self.cn[rows], self.n_hs, self.n_nodes)

    def degrees(self, chosen: Ints | Bools | None = None) -> Ints:
        """Number of pairs that each node has, `(n_nodes,)`; only of those with `chosen` 1, if it is given."""
        weights = None if chosen is None else np.tile(chosen, 2)
        return np.bincount(np.concatenate([self.hs, self.cn]), weights, self.n_nodes).astype(np.int64)


def split_pairs(
    pairs: Pairs, weights: Ints, rng: Generator, prior_counts: Ints | None = None, progress: Progress = None
) -> Ints:
    """Give each pair a colour, an index of `weights`, in proportion to these, at every HS, at every CN and over all.

    `prior_counts`, `(n_colours, n_nodes)`, says how much each colour has at each node beforehand; the split evens out
    the sums as far as it can. With equal weights each of n colours gets d/n, rounded down or up, of the d pairs of
    every HS, of every CN, and of all pairs: D. de Werra (1971), Balanced schedules, INFOR 9(3), 230-237, DOI
    10.1080/03155986.1971.11731493. Weights whose sum is the number of pairs: each colour has exactly its weight.
    """
    prior = np.zeros((len(weights), 1), np.int64) if prior_counts is None else prior_counts
    colour, n_split = np.zeros(len(pairs), np.int64), 0
    parts = [(np.arange(len(pairs)), rng.permutation(np.flatnonzero(weights)))]
    while parts:
        rows, colours = parts.pop()
        if len(colours) == 1:
            colour[rows], n_split = colours[0], n_split + len(rows)
            if progress:
                progress(n_split, len(pairs))
        elif len(rows):
            first, second = np.array_split(colours, 2)
            weight, total = int(weights[first].sum()), int(weights[colours].sum())
            prior_first, prior_total = prior[first].sum(axis=0), prior[colours].sum(axis=0)
            part = pairs.subset(rows)
            taken = _take_share(part, weight * (part.degrees() + prior_total) - total * prior_first, total, rng)
            parts += [(rows[taken], first), (rows[~taken], second)]
    return colour


def _take_share(pairs: Pairs, share: Ints, total: int, rng: Generator) -> Bools:
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
    source, sink = end + 1, end + 2
    excess = np.bincount(heads, flow, source) - np.bincount(tails, flow, source)
    over, under = np.flatnonzero(excess > 0), np.flatnonzero(excess < 0)
    sources, sinks = np.full(len(over), source), np.full(len(under), sink)
    room = np.concatenate([highs - flow, flow - lows, excess[over], -excess[under]]).astype(np.int32)
    rows, columns = (np.concatenate([tails, heads, sources, under]), np.concatenate([heads, tails, over, sinks]))
    network = scipy.sparse.csr_array((room, (rows, columns)), shape=(sink + 1, sink + 1))
    result = scipy.sparse.csgraph.maximum_flow(network, source, sink)
    change = np.asarray(result.flow[tails, heads]).ravel().astype(np.int64)
    return (flow + change)[: len(pairs)] == 1, bool(result.flow_value == excess[over].sum())


def even_out(pairs: Pairs, colour: Ints, members: Bools, rng: Generator, progress: Progress = None) -> Ints:
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
        if progress:
            progress(number, MOST_ROUNDS)
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


def even_meetings(crew: Bools, locked: Bools, shared: Ints, rng: Generator) -> Bools:
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


def _draw_column(choices: Bools, rng: Generator) -> Ints:
    """A column of each row that is True, drawn at random; -1 if there is none."""
    drawn = np.where(choices, rng.random(choices.shape), -1.0)
    return np.where(choices.any(axis=1), drawn.argmax(axis=1), -1)


LARGEST_PLAIN = 3  # groups up to this size are assigned without swaps
NO_OVERLAP: Mapping[int, float] = MappingProxyType({})
Group = tuple[int, ...]


@dataclass(frozen=True)
class AssignedPairs:
    """Assignments of pairs to annotators, one row each, sorted by annotator and pair: two equally long index arrays."""

    pair: Ints
    annotator: Ints


def overlap_counts(n_pairs: int, overlap: Mapping[int, float]) -> dict[int, int]:
    """Number of pairs for each number of labels, ascending: `round(share * n_pairs)` for those of `overlap`, 1 for the
    rest. Raises InputError for fewer than 2 labels, a share not from 0 to 1, and shares that ask for too many pairs.
    """
    check_shares(overlap)
    counts = {n_labels: round(overlap[n_labels] * n_pairs) for n_labels in sorted(overlap)}
    if (n_single := n_pairs - sum(counts.values())) < 0:
        demands = " and ".join(f"{count} with {n_labels} labels" for n_labels, count in counts.items())
        raise InputError(
            f"overlap asks for too many pairs: {demands}, of {n_pairs} in all; lower a share until the rounded numbers "
            "fit"
        )
    return {1: n_single, **counts}


def check_overlap(n_annotators: int, counts: Mapping[int, int]) -> None:
    """Raise InputError where pairs are to get more labels than there are annotators."""
    for n_labels, count in counts.items():
        if n_labels > 1 and count and n_labels > n_annotators:
            raise InputError.say(
                "overlap asks for %(least)s labels on %(number)s pairs, but there are %(most)s annotators; add "
                "annotators or drop that share",
                least=Id(n_labels),
                number=Id(count),
                most=Id(n_annotators),
            )


def assign_pairs(
    hs: Ints,
    cn: Ints,
    n_annotators: int,
    overlap: Mapping[int, float] = NO_OVERLAP,
    groups: Sequence[Group] = (),
    *,
    seed: int = 0,
    progress: Progress = None,
) -> AssignedPairs:
    """Assign the pairs of a grid, which may have holes, to annotators `0 .. n_annotators - 1`, in a balanced way.

    `hs` and `cn`, `(n_pairs,)`, name the two ends of each pair by any integers, no pair twice. Loads differ by at most
    one. Without overlap, each annotator gets d/n, rounded down or up, of the d pairs of each HS and each CN; with
    overlap, as near to it as single labels and swaps can bring it. Every two annotators share the same number of
    two-label pairs, within one. `groups` of as many annotators as pairs get labels share those pairs evenly among
    themselves, instead of all groups of that size; those of other sizes stay unused.

    Of `progress`, each part of the work is a third of the pairs. Raises InputError for an empty grid, a duplicated
    pair, too few annotators, and groups that do not fit.
    """

    def third(number: int) -> Progress:
        return progress and (lambda done, total: progress(int(len(hs) * (number + done / total) / 3), len(hs)))

    counts = overlap_counts(len(hs), overlap)
    rng = np.random.default_rng(seed)
    if len(hs) == 0:
        raise InputError("there are no pairs to assign; make the grid first")
    hs_names, hs_at = np.unique(hs, return_inverse=True)
    cn_names, cn_at = np.unique(cn, return_inverse=True)
    if (n_distinct := len(np.unique(hs_at * len(cn_names) + cn_at))) < len(hs):
        raise InputError(f"{len(hs) - n_distinct} of {len(hs)} pairs are duplicated; give each pair once")
    n_hs, n_cn = len(hs_names), len(cn_names)
    pairs = Pairs(rng.permutation(n_hs)[hs_at], n_hs + rng.permutation(n_cn)[cn_at], n_hs, n_hs + n_cn)
    _check_people(n_annotators, counts, groups)
    n_labels = np.array(list(counts))[split_pairs(pairs, np.array(list(counts.values())), rng, progress=third(0))]
    crew = np.zeros((len(hs), n_annotators), np.bool_)
    colour, members = np.zeros(len(pairs), np.int64), np.zeros((0, n_annotators), np.bool_)
    shared = np.zeros((n_annotators, n_annotators), np.int64)
    for size in sorted(set(n_labels.tolist()) - {1}, reverse=True):  # small groups fit what large ones leave uneven
        rows = np.flatnonzero(n_labels == size)
        named = [group for group in groups if len(group) == size]
        if groups:  # the same number of pairs for all of this size, within one
            each, rest = divmod(len(rows), len(named))
            chosen = _n_of_each(each, named)
            chosen.update(named[at] for at in rng.permutation(len(named))[:rest])
        else:
            chosen = _design_groups(size, len(rows), shared, rng)
        sizes = np.array(list(chosen.values()))
        has = np.zeros((len(chosen), n_annotators), np.bool_)
        np.put_along_axis(has, np.array(list(chosen)), True, axis=1)
        colour[rows] = len(members) + split_pairs(pairs.subset(rows), sizes, rng)
        members = np.concatenate([members, has])
        shared += has.T @ (has * sizes[:, None])
    several = n_labels > 1
    crew[several] = members[even_out(pairs.subset(several), colour[several], members, rng, third(1))]
    rows = np.flatnonzero(n_labels == 1)
    loads = crew.sum(axis=0)
    loads += fill_loads(loads, len(rows), rng)
    weights = loads if np.ptp(loads) > 1 else np.ones_like(loads)  # equal weights keep HS and CN within one
    crew[rows, split_pairs(pairs.subset(rows), weights, rng, np.array([*map(pairs.degrees, crew.T)]), third(2))] = True
    annotator, pair = np.nonzero(crew.T)
    return AssignedPairs(pair, annotator)


def _check_people(n_annotators: int, counts: Mapping[int, int], groups: Sequence[Group]) -> None:
    if n_annotators < 1:
        raise InputError.say("there are %(number)s annotators; at least 1 is needed", number=Id(n_annotators))
    for group in groups:
        if len(group) < 2 or len(set(group)) < len(group):
            raise InputError(f"group {group} does not have 2 or more different annotators")
        if unknown := [member for member in group if not 0 <= member < n_annotators]:
            raise InputError(f"group {group} has the unknown annotators {unknown}; there are {n_annotators}")
    if len(set(map(frozenset, groups))) < len(groups):
        raise InputError("a group is given twice; give each group once")
    check_overlap(n_annotators, counts)
    sizes = {1, *(len(group) for group in groups)}
    for size, count in counts.items():
        if count and groups and size not in sizes:
            raise InputError(
                f"overlap asks for {size} labels on {count} pairs, but no group of {size} annotators is "
                "given; name one or drop that share"
            )


def _n_of_each(each: int, groups: Iterable[Group]) -> Counter[Group]:
    return Counter(dict.fromkeys(groups, each)) if each else Counter()


def _design_groups(size: int, n_pairs: int, shared: Ints, rng: Generator) -> Counter[Group]:
    """Number of pairs for each group of `size`, so that loads and what two annotators share come out even.

    `shared`, `(n_annotators, n_annotators)`, says how many pairs larger groups share already, on its diagonal the
    loads. Of groups larger than half of all it is designed who is left out: it is as even for them.
    """
    n_annotators = len(shared)
    n_out = n_annotators - size
    if size <= LARGEST_PLAIN or n_out >= size:
        return _design_duos(n_pairs, shared, rng) if size == 2 else _design_crews(size, n_pairs, shared, rng)
    left_out = _design_duos(n_pairs, -shared, rng) if n_out == 2 else _design_crews(n_out, n_pairs, -shared, rng)
    everybody = set(range(n_annotators))
    return Counter({tuple(sorted(everybody - set(group))): count for group, count in left_out.items()})


def _design_duos(n_pairs: int, shared: Ints, rng: Generator) -> Counter[Group]:
    """Number of pairs for each duo: the same for all, and the rest for duos that form a graph of near-equal degrees.
    Each annotator in turn joins those who need most duos (Havel and Hakimi), then those with whom little is shared.
    """
    n_annotators = len(shared)
    each, rest = divmod(n_pairs, comb(n_annotators, 2))
    chosen = _n_of_each(each, combinations(range(n_annotators), 2))
    degree, n_higher = divmod(2 * rest, n_annotators)
    needs = np.full(n_annotators, degree)
    needs[np.lexsort((rng.random(n_annotators), np.diag(shared)))[:n_higher]] += 1
    while needs.any():
        member = int(needs.argmax())
        others = np.lexsort((rng.random(n_annotators), shared[member], -needs))
        others = others[others != member][: needs[member]]
        chosen.update(tuple(sorted((member, int(other)))) for other in others)
        needs[others] -= 1
        needs[member] = 0
    return chosen


def _design_crews(size: int, n_pairs: int, shared: Ints, rng: Generator) -> Counter[Group]:
    """Number of pairs for each group of `size`: the same for all, and the rest for groups of those with the least load,
    then of those who share least with the members chosen before. Swaps even out what groups of four and more share;
    trios stay, so that a seed assigns them as it always has.
    """
    n_annotators = len(shared)
    each, rest = divmod(n_pairs, comb(n_annotators, size))
    chosen = _n_of_each(each, combinations(range(n_annotators), size))
    crews = np.zeros((rest, n_annotators), np.bool_)
    loads, meetings = np.diag(shared) - np.diag(shared).min(), np.zeros((n_annotators, n_annotators), np.int64)
    for crew in crews:
        members: list[int] = []
        while len(members) < size:
            order = np.lexsort((rng.random(n_annotators), meetings[members].sum(axis=0), loads))
            members.append(next(int(member) for member in order if member not in members))
        meetings[np.ix_(members, members)] += 1
        loads[members] += 1
        crew[members] = True
    if size > LARGEST_PLAIN:
        crews = even_meetings(crews, np.zeros_like(crews), shared + meetings, rng)
    chosen.update(tuple(np.flatnonzero(crew).tolist()) for crew in crews)
    return chosen


def shard_order(annotator: Ints, hs: Ints, seed: int, by: Literal["random", "hs"], within: Ints | None = None) -> Ints:
    """The place of each assignment in its annotator's shard, counted from 1; `annotator` and `hs`, `(n_assignments,)`.

    `random` shuffles each shard; `hs` shows one HS after the other, in a random order that differs between annotators,
    with the CNs of an HS shuffled, or in the order of what `within`, `(n_assignments,)`, has for them.
    """
    rng = np.random.default_rng(seed)
    people, person = np.unique(annotator, return_inverse=True)
    drawn = rng.random(len(hs))
    keys = [drawn if within is None else within, person]
    if by == "hs":
        texts, text = np.unique(hs, return_inverse=True)
        keys.insert(1, rng.permuted(np.tile(np.arange(len(texts)), (len(people), 1)), axis=1)[person, text])
    order = np.lexsort(keys)
    place = np.empty(len(order), np.int64)
    place[order] = 1 + n_earlier_equal(person[order])
    return place
