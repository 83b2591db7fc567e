"""The texts whose pairs are disputed most: counted by hand."""

from __future__ import annotations

import numpy as np

from fcpair.stages.stats.people_agreement import TextDispute, most_disputed

# cell, row, column, code. Row 1: pairs 1 (disputed), 2 (alike), 3 (one label); row 2: 4, 5 (disputed); row 3: 6 alike.
ROWS = np.array(
    [
        (1, 1, 7, 0),
        (1, 1, 7, 2),
        (2, 1, 8, 2),
        (2, 1, 8, 2),
        (3, 1, 9, 0),
        (4, 2, 7, 0),
        (4, 2, 7, 0),
        (4, 2, 7, 1),
        (5, 2, 8, 2),
        (5, 2, 8, 0),
        (6, 3, 9, 1),
        (6, 3, 9, 1),
    ]
)
LABELS = dict(zip(("cell_id", "hs_id", "cn_id", "code"), ROWS.T, strict=True))


def test_rows_and_columns_are_ordered_by_their_disputed_pairs() -> None:
    rows, n_rows = most_disputed(LABELS, "row", 10)
    assert rows == [TextDispute(2, 2, (4, 5)), TextDispute(1, 2, (1,))]
    assert n_rows == 2
    columns, _ = most_disputed(LABELS, "column", 10)
    assert columns == [TextDispute(7, 2, (1, 4)), TextDispute(8, 2, (5,))]


def test_of_more_texts_only_so_many_are_listed_and_all_counted() -> None:
    assert most_disputed(LABELS, "row", 1) == ([TextDispute(2, 2, (4, 5))], 2)


def test_without_labels_nothing_is_disputed() -> None:
    assert most_disputed({name: column[:0] for name, column in LABELS.items()}, "row", 10) == ([], 0)
