"""Small cells: no published count is of fewer than five people, and none can be had from the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.surveys.small_cells import LEAST_PEOPLE, MERGED, merge_small_cells


@pytest.mark.parametrize(
    ("counts", "merged"),
    [
        ({"yes": 20, "no": 7}, {"yes": 20, "no": 7}),
        ({"yes": 20, "no": 3, "decline": 2}, {"yes": 20, MERGED: 5}),
        ({"yes": 20, "no": 7, "decline": 3}, {"yes": 20, MERGED: 10}),
        ({"yes": 20, "no": 5, "decline": 1}, {"yes": 20, MERGED: 6}),
        ({"yes": 6, "no": 1}, {MERGED: 7}),
        ({"yes": 2, "no": 2}, {}),
        ({"yes": 5, "no": 0}, {"yes": 5}),
        ({}, {}),
    ],
)
def test_small_cells_are_taken_together(counts: dict[str, int], merged: dict[str, int]) -> None:
    assert merge_small_cells(counts) == merged


@given(st.dictionaries(st.text("abc", min_size=1, max_size=2), st.integers(0, 12)))
def test_every_cell_is_large_enough_and_the_sum_stays(counts: dict[str, int]) -> None:
    merged = merge_small_cells(counts)
    assert all(n >= LEAST_PEOPLE for n in merged.values())
    assert sum(merged.values()) == (sum(counts.values()) if sum(counts.values()) >= LEAST_PEOPLE else 0)
    kept = {answer: n for answer, n in merged.items() if answer != MERGED}
    assert kept.items() <= counts.items()
