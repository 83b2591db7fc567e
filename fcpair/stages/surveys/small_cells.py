"""Counts of people in cells that are large enough to be published."""

from __future__ import annotations

from collections.abc import Mapping

LEAST_PEOPLE = 5
MERGED = "(answers of fewer than five people, together)"


def merge_small_cells(counts: Mapping[str, int]) -> dict[str, int]:
    """The counts in cells of five people or more, whose sum stays.

    Smaller cells are taken together, with the next smallest one where they are still too few; nothing remains of fewer
    than five people in all. So no count can be had from the others.
    """
    kept = {answer: n for answer, n in counts.items() if n}
    n_merged = 0
    for answer, n in sorted(kept.items(), key=lambda item: (item[1], item[0])):
        if n >= LEAST_PEOPLE and (not n_merged or n_merged >= LEAST_PEOPLE):
            break
        n_merged += kept.pop(answer)
    return kept | {MERGED: n_merged} if n_merged >= LEAST_PEOPLE else kept
