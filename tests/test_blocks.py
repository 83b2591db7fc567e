"""How the cells of a grid that was extended are numbered."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from fcpair.blocks import Blocks


def test_a_grid_that_was_never_extended_is_numbered_row_by_row() -> None:
    numbers, block = Blocks(((2, 3),)).find(np.arange(6))
    assert numbers.tolist() == [1, 2, 3, 4, 5, 6]
    assert set(block.tolist()) == {1}


def test_new_columns_of_old_rows_come_before_new_rows() -> None:
    """2 x 2 grows to 3 x 3: the numbers of the first four stay; then the third column, then the third row."""
    numbers, block = Blocks(((2, 2), (3, 3)), (0, 4)).find(np.arange(9))
    assert numbers.reshape(3, 3).tolist() == [[1, 2, 5], [3, 4, 6], [7, 8, 9]]
    assert block.reshape(3, 3).tolist() == [[1, 1, 2], [1, 1, 2], [2, 2, 2]]


def test_what_is_no_place_has_no_number() -> None:
    numbers, block = Blocks(((2, 2),)).find(np.array([-1, 0]))
    assert (numbers.tolist(), block.tolist()) == ([0, 1], [0, 1])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=5))
def test_numbers_are_those_of_the_product_each_once_and_blocks_keep_them(steps: list[tuple[int, int]]) -> None:
    shapes, shape = [], (1, 1)
    for rows, columns in steps:
        shape = shape[0] + rows, shape[1] + columns
        shapes.append(shape)
    before = (0, *(rows * columns for rows, columns in shapes[:-1]))
    blocks = Blocks(tuple(shapes), before)
    n = shape[0] * shape[1]
    numbers, block = blocks.find(np.arange(n))
    assert sorted(numbers.tolist()) == list(range(1, n + 1))
    for at, (rows, columns) in enumerate(shapes, 1):
        old = np.divmod(np.arange(n), shape[1])
        inside = (old[0] < rows) & (old[1] < columns)
        assert ((block <= at) == inside).all()
        as_it_was = Blocks(tuple(shapes[:at]), before[:at]).find(old[0][inside] * columns + old[1][inside])[0]
        assert (as_it_was == numbers[inside]).all()
