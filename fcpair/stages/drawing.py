"""Drawing by seed, over an order of the items' own: the same items give the same draw, in whatever order they came."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.sentences import Id, say


def own_order(*keys: npt.ArrayLike) -> Ints:
    """Positions of items in an order that does not depend on the one they came in.

    Every draw over rows of a file, texts or people goes over this order. Items that are equal in all keys must be
    interchangeable.

    Args:
        keys: what distinguishes the items, `(n_items,)` each: digests, names or numbers; the first one counts most.
    """
    codes = []
    for key in keys:
        values = np.asarray(key)
        if values.dtype.kind == "U":
            values = np.asarray(key, dtype=object)  # numpy's own strings lose NULs at their end
        codes.append(np.unique(values, return_inverse=True)[1].ravel())
    return np.lexsort(codes[::-1])


def draw_positions(order: Ints, n: int, seed: int, what: str = say("texts")) -> Ints:
    """Draw `n` items by seed, without replacement.

    Args:
        order: of the items, from `own_order`.
        n: how many to draw.
        seed: of the draw.
        what: the items' name in messages.

    Returns:
        The drawn positions, ascending, shape `(n,)`.

    Raises:
        InputError: fewer than one asked for, or more than there are.
    """
    if not 1 <= n <= len(order):
        raise InputError(
            say("%(number)s %(what)s cannot be drawn; there are %(most)s", number=Id(n), what=what, most=Id(len(order)))
        )
    return np.sort(np.random.default_rng(seed).permutation(order)[:n])


def draw_stratified(strata: npt.NDArray[np.object_], order: Ints, n: int, seed: int, what: str = "texts") -> Ints:
    """Draw `n` items by seed so that each stratum has its share of them; the rest as in `draw_positions`.

    Shares are rounded by largest remainder; between equal remainders the larger stratum, then the first name, wins.
    `strata` is the stratum of each item, shape `(n_items,)`.
    """
    draw_positions(order, n, seed, what)
    order = np.random.default_rng(seed).permutation(order)
    _, codes, sizes = np.unique(strata.astype(str), return_inverse=True, return_counts=True)
    quotas = n * sizes // len(strata)
    remainders = n * sizes % len(strata)
    extra = np.lexsort((-sizes, -remainders))[: n - quotas.sum()]
    quotas[extra] += 1
    drawn = [order[codes[order] == stratum][:quota] for stratum, quota in enumerate(quotas)]
    return np.sort(np.concatenate(drawn))
