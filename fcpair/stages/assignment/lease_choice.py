"""Which of the slots that are free somebody is given who asks for some."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence


def choose_slots(
    slots: Sequence[tuple[int, int]], rows: Mapping[int, int], columns: Mapping[int, int], n: int
) -> list[int]:
    """Which of some slots to give, so that whoever asks meets each row, and then each column, as evenly as they allow.

    Args:
        slots: row and column of each slot, by any integers, in the order in which they are to be given out.
        rows: how often the person has met each row; one that is missing, never.
        columns: the same of each column.
        n: how many to give; fewer are given where there are no more.

    Returns:
        Places in `slots`, in the order in which they are given: each time the slot whose row was met least, among those
        the one whose column was, and of these the first.
    """
    met_rows, met_columns, remaining = Counter(rows), Counter(columns), dict(enumerate(slots))
    chosen: list[int] = []
    while remaining and len(chosen) < n:
        at = min(remaining, key=lambda place: (met_rows[remaining[place][0]], met_columns[remaining[place][1]], place))
        row, column = remaining.pop(at)
        met_rows[row] += 1
        met_columns[column] += 1
        chosen.append(at)
    return chosen


def refill_threshold(n: int) -> int:
    """Below how many slots in hand somebody who wants `n` is given more: not one at each answer, but some at once."""
    return (n + 1) // 2
