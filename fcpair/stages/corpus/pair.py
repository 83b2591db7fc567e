"""The grid: among how many people it divides evenly."""

from __future__ import annotations


def even_shares(n_pairs: int, at_most: int = 30) -> tuple[int, ...]:
    """The numbers of annotators, from 2 to `at_most`, who would each get equally many of `n_pairs`."""
    return tuple(n for n in range(2, at_most + 1) if n_pairs and n_pairs % n == 0)
