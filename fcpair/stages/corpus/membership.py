"""Which places are among others, and which come twice, of millions: by hashing; sorting takes ten times as long."""

from __future__ import annotations

import numpy as np

from fcpair.stages.corpus.split import Bools, Ints

SPARE = 3  # bits beyond those that would do: one slot of eight is taken at most, so that few places need a second look
GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: Knuth's multiplicative hashing


def _slots(values: Ints, n: int) -> Ints:
    """The slot of each value in a table for `n`; the same for the same."""
    bits = n.bit_length() + SPARE
    return np.asarray((values.astype(np.uint64) * GOLDEN >> np.uint64(64 - bits)).astype(np.int64))


def _table(n: int) -> Bools:
    return np.zeros(1 << n.bit_length() + SPARE, np.bool_)


def among(values: Ints, others: Ints) -> Bools:
    """Which of the values are among the others, neither in any order; all are 0 or more."""
    n = len(values) + len(others)
    own, theirs = _slots(values, n), _slots(others, n)
    seen, asked = _table(n), _table(n)
    seen[theirs] = True
    found = seen[own]
    asked[own[found]] = True
    found[found] = np.isin(values[found], others[asked[theirs]])
    return found


def twice(values: Ints) -> Bools:
    """Which of the values come more than once; all are 0 or more."""
    slots, at = _slots(values, len(values)), np.arange(len(values))
    last, shared = np.zeros(1 << len(values).bit_length() + SPARE, np.int64), _table(len(values))
    last[slots] = at
    shared[slots[last[slots] != at]] = True
    found = shared[slots]
    _, which, n_each = np.unique(values[found], return_inverse=True, return_counts=True)
    found[found] = n_each[which] > 1
    return found
