"""The design that is drawn from a large grid: even over rows and columns, nothing twice, nothing known, by seed."""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.stages.corpus.sample import draw_cells

NOTHING = np.zeros(0, np.int64)


def _counts(places: Ints, n_rows: int, n_columns: int) -> tuple[Ints, Ints]:
    row, column = np.divmod(places, n_columns)
    return np.bincount(row, minlength=n_rows), np.bincount(column, minlength=n_columns)


def _squares(places: Ints, n_rows: int, n_columns: int) -> tuple[int, ...]:
    return tuple(int((one**2).sum()) for one in _counts(places, n_rows, n_columns))


@st.composite
def _grids(draw: st.DrawFn, most: int, sparse: bool = False) -> tuple[int, int, int, Ints]:
    n_rows, n_columns = draw(st.integers(1, most)), draw(st.integers(1, most))
    size = n_rows * n_columns
    known = draw(st.sets(st.integers(0, size - 1), max_size=0 if sparse else size - 1))
    return n_rows, n_columns, draw(st.integers(1, size - len(known))), np.array(sorted(known), np.int64)


@given(_grids(25, sparse=True), st.integers(0, 99))
def test_rows_and_columns_differ_by_at_most_one(grid: tuple[int, int, int, Ints], seed: int) -> None:
    n_rows, n_columns, n, known = grid
    by_row, by_column = _counts(
        draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=seed), n_rows, n_columns
    )
    assert np.ptp(by_row) <= 1
    assert np.ptp(by_column) <= 1


@given(_grids(12), st.integers(0, 99))
def test_as_many_cells_as_asked_for_none_twice_and_none_known(grid: tuple[int, int, int, Ints], seed: int) -> None:
    n_rows, n_columns, n, known = grid
    places = draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=seed)
    assert len(places) == n
    assert (np.diff(places) > 0).all()
    assert 0 <= places.min() <= places.max() < n_rows * n_columns
    assert not np.isin(places, known).any()
    assert np.array_equal(places, draw_cells(np.arange(n_rows), np.arange(n_columns), n, known[::-1], seed=seed))


@given(_grids(3))
def test_with_known_cells_no_other_choice_is_more_even(grid: tuple[int, int, int, Ints]) -> None:
    """Rows first, then columns: by the sums of their squares, against every choice that there is."""
    n_rows, n_columns, n, known = grid
    free = np.setdiff1d(np.arange(n_rows * n_columns), known)
    found = _squares(draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=0), n_rows, n_columns)
    assert found == min(_squares(np.array(one), n_rows, n_columns) for one in combinations(free, n))


@given(_grids(12))
def test_all_cells_are_the_whole_grid(grid: tuple[int, int, int, Ints]) -> None:
    n_rows, n_columns, _, known = grid
    free = np.setdiff1d(np.arange(n_rows * n_columns), known)
    assert np.array_equal(draw_cells(np.arange(n_rows), np.arange(n_columns), len(free), known, seed=0), free)


def test_another_seed_draws_other_cells() -> None:
    drawn = [draw_cells(np.arange(50), np.arange(80), 400, NOTHING, seed=seed).tolist() for seed in range(2)]
    assert drawn[0] != drawn[1]


def test_columns_are_even_where_only_a_chain_of_moves_makes_them_so() -> None:
    """Row 0 can only have columns 0 and 1, row 1 only 1 and 2, and so on: one column is left for each."""
    n = 30
    free = {(row, column) for row in range(n) for column in (row, row + 1)}
    known = np.array([r * (n + 1) + c for r in range(n) for c in range(n + 1) if (r, c) not in free])
    by_row, by_column = _counts(draw_cells(np.arange(n), np.arange(n + 1), n, known, seed=1), n, n + 1)
    assert by_row.tolist() == [1] * n
    assert by_column.max() == 1


@pytest.mark.parametrize("n", [0, -1, 10])
def test_more_cells_than_there_are_cannot_be_drawn(n: int) -> None:
    with pytest.raises(InputError, match="cells cannot be drawn; there are 9"):
        draw_cells(np.arange(2), np.arange(5), n, np.array([3]), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize(("shape", "n", "known"), [((4, 4), 8, []), ((3, 4), 6, []), ((3, 3), 3, [0, 4, 8])])
def test_no_design_is_favoured(shape: tuple[int, int], n: int, known: list[int]) -> None:
    """90 designs of 4 x 4 with two in every row and column, 90 of 3 x 4 with two and one or two, and 2 derangements."""
    rows, columns = np.arange(shape[0]), np.arange(shape[1])
    drawn = Counter(draw_cells(rows, columns, n, np.array(known, np.int64), seed=seed).tobytes() for seed in range(900))
    assert len(drawn) == (2 if known else 90)
    assert chisquare(list(drawn.values())).pvalue > 0.001


def test_rows_share_columns_as_chance_has_it() -> None:
    """The mean is the least that there can be, since columns are even; the spread is that of two independent draws."""
    n, n_each = 300, 30
    has = np.zeros((n, n))
    has.flat[draw_cells(np.arange(n), np.arange(n), n * n_each, NOTHING, seed=1)] = 1
    shared = (has @ has.T)[np.triu_indices(n, 1)]
    assert shared.mean() == pytest.approx(n * n_each * (n_each - 1) / (n * (n - 1)))
    share = n_each / n
    assert shared.std() == pytest.approx(np.sqrt(n_each * share * (1 - share) * (n - n_each) / (n - 1)), rel=0.05)


def test_ten_billion_cells_are_never_held() -> None:
    n_rows, n_columns, n = 10_000, 1_000_000, 20_000
    known = np.arange(0, n_rows * n_columns, 500_009)
    places = draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=1)
    by_row, by_column = _counts(places, n_rows, n_columns)
    assert (by_row == 2).all()
    assert by_column.max() == 1
    assert not np.isin(places, known).any()
