"""Whether a column of answers was sorted apart from its rows, as a spreadsheet program does when it is asked to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby, pairwise
from math import exp, lgamma, log

from fcpair.values import with_point

RARE = 0.001  # how seldom chance would sort the cells so, for them to be called sorted


def is_ascending(places: Sequence[int]) -> bool:
    """Whether rows stand in the order of their places, so that they were not sorted by anything else."""
    return all(one < other for one, other in pairwise(places))


def is_sorted(cells: Sequence[str]) -> bool:
    """Whether the cells of a column, row by row, are sorted, and fewer than 0.1 % of all their orders would be.

    They are sorted where equal ones stand together, in whatever order of the words, or where all ascend or descend, as
    numbers if they are numbers. Empty cells are left out: a program moves them to one end. Cells that are all the same
    have one order only, so they are not sorted.
    """
    filled = [cell.strip().casefold() for cell in cells if cell.strip()]
    n_each = Counter(filled)
    log_alike = sum(lgamma(n + 1) for n in n_each.values()) - lgamma(len(filled) + 1)
    together = len(n_each) == sum(1 for _ in groupby(filled)) and _is_rare(log_alike + lgamma(len(n_each) + 1))
    if together or not _is_rare(log_alike + log(2)):
        return together
    try:
        ranks = [float(with_point(cell)) for cell in filled]
    except ValueError:  # texts that come before numbers in one program come after them in another
        places = {cell: float(rank) for rank, cell in enumerate(sorted(set(filled)))}
        ranks = [places[cell] for cell in filled]
    return sorted(ranks) in (ranks, ranks[::-1])


def _is_rare(log_share: float) -> bool:
    return exp(log_share) < RARE
