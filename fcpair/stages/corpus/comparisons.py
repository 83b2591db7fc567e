"""Comparisons of a few texts of one row: which texts each shows, and in which order, as evenly as the numbers allow."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from fcpair.arrays import Ints
from fcpair.lazy import scipy

EXCHANGES = 3_000  # of two texts between two comparisons, tried to make meetings more even
LETTERS = "ABCDEF"


def n_comparisons(n_texts: int, size: int, times: int) -> int:
    """How many comparisons of `size` texts show each of `n_texts` at least so many times, and connect all of them."""
    return max(-(-n_texts * times // size), least_comparisons(n_texts, size))


def least_comparisons(n_texts: int, size: int) -> int:
    """How few comparisons connect all texts: any two meet, or each meets one that meets another, and so on."""
    return -(-(n_texts - 1) // (size - 1))


def draw_comparisons(n_texts: int, size: int, n: int, seed: int, row: int = 0) -> Ints:
    """Draw `n` comparisons of the texts 0 to `n_texts` - 1 of one row, shape `(n, size)`, in the order shown.

    Each text is in as many comparisons as any other, and in each place as often as in any other, but for one; any two
    meet about as often as any other two; and the comparisons connect all texts. So `n` is at least `least_comparisons`,
    and `size` at most `n_texts`. Rows of the same numbers share a design, in which each `row` has its own texts in
    another order.
    """
    rng = np.random.default_rng([seed, row, 1])
    return rng.permutation(rng.permutation(n_texts)[_design(n_texts, size, n, seed)])


def draw_some(n_texts: int, most: int, seed: int, row: int) -> Ints:
    """Draw which of the texts of a row are compared, ascending."""
    return np.sort(np.random.default_rng([seed, row, 2]).choice(n_texts, most, replace=False))


@lru_cache
def _design(n_texts: int, size: int, n: int, seed: int) -> Ints:
    rng = np.random.default_rng([seed, n_texts, size, n])
    # Groups of texts, shape `(n, size)`: first a chain that connects all, then those that have been shown least.
    counts, order, groups = np.zeros(n_texts, np.int64), rng.permutation(n_texts), np.empty((n, size), np.int64)
    for at in range(n):
        first = at * (size - 1)
        link = order[first : first + size] if first < n_texts - 1 else order[:0]
        free = np.setdiff1d(order, link)
        least = free[np.lexsort((rng.random(len(free)), counts[free]))]
        groups[at] = [*link, *least[: size - len(link)]]
        counts[groups[at]] += 1
    # Then exchanges of two texts between two groups that make meetings no less even, if these still connect all texts.
    has = np.zeros((len(groups), n_texts), np.int64)
    np.put_along_axis(has, groups, 1, axis=1)
    met = has.T @ has
    for ours, theirs in rng.integers(len(groups), size=(EXCHANGES, 2)).tolist():
        loses = has[ours] - has[theirs]  # 1 of what only ours has, -1 of what only theirs has
        if not loses.any():
            continue
        one, other = rng.choice(np.flatnonzero(loses == 1)), rng.choice(np.flatnonzero(loses == -1))
        loses[[one, other]] = 0
        if (loses * (met[other] - met[one]) + abs(loses)).sum() > 0:
            continue
        for moved, change in ((one, -loses), (other, loses)):
            met[moved] += change
            met[:, moved] += change
        has[ours, [one, other]], has[theirs, [one, other]] = (0, 1), (1, 0)
    is_connected = scipy.sparse.csgraph.connected_components(met, directed=False)[0] == 1
    return _place(np.nonzero(has)[1].reshape(groups.shape) if is_connected else groups, n_texts)


def _place(groups: Ints, n_texts: int) -> Ints:
    """The same groups with their texts in such places that each has every place as often as any other, but for one.

    Such places are an edge colouring of a bipartite graph of groups and texts, in which texts that are shown more often
    than there are places count as several (Kőnig): place by place a matching of all groups, and of all such texts as
    are in as many groups that are left as there are places left.
    """
    n, size = groups.shape
    flat = groups.ravel()
    order = np.argsort(flat, kind="stable")
    starts = np.searchsorted(flat[order], np.arange(n_texts))
    nth = np.empty(len(flat), np.int64)  # how often the text has been shown before
    nth[order] = np.arange(len(flat)) - starts[flat[order]]
    part = np.unique(flat * len(flat) + nth // size, return_inverse=True)[1]
    is_free, placed = np.zeros((n, part.max() + 1), np.bool_), np.empty_like(groups)
    is_free[np.arange(len(flat)) // size, part] = True
    text = np.empty(part.max() + 1, np.int64)
    text[part] = flat
    for place in range(size):
        is_critical = is_free.sum(axis=0) == size - place
        cost = np.where(is_free, np.where(is_critical, 0, 1), n * size + 1)
        matched = scipy.optimize.linear_sum_assignment(cost)[1]
        placed[:, place] = text[matched]
        is_free[np.arange(n), matched] = False
    return placed
