"""Places of control pairs in a shard: how many there are, and where each comes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def n_controls(n_pairs: int, rate: float) -> int:
    """Number of control pairs beside `n_pairs` others, so that they are a share `rate` of all that is shown."""
    return round(n_pairs * rate / (1 - rate))


def merge_controls(
    rows: Sequence[int], control_rows: Sequence[int], rng: np.random.Generator, *, by_row: bool
) -> list[int]:
    """The order of a shard with its control pairs: indices of `rows`, and behind these of `control_rows`.

    The pairs of the shard keep their order, and each place is as likely for a control pair, first and last included.
    Where one row is shown after the other (`by_row`), a control pair comes among those of its row, or between two rows
    where the shard has none of it.
    """
    order, placed = list(range(len(rows))), list(rows)
    for index, row in enumerate(control_rows, len(rows)):
        gaps = range(len(placed) + 1)
        if by_row:
            beside = [gap for gap in gaps if row in placed[max(gap - 1, 0) : gap + 1]]
            gaps_between_rows = [gap for gap in gaps if gap in (0, len(placed)) or placed[gap - 1] != placed[gap]]
            gap = int(rng.choice(beside or gaps_between_rows))
        else:
            gap = int(rng.integers(len(gaps)))
        order.insert(gap, index)
        placed.insert(gap, row)
    return order
