"""Drawing by seed, of items, of sources and of cells of a grid: even, nothing twice, whatever order they came in."""

from __future__ import annotations

from collections import Counter
from functools import partial
from itertools import combinations
from random import Random

import numpy as np
import pytest
from conftest import one_short
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from fcpair.arrays import Ints
from fcpair.errors import InputError
from fcpair.stages.corpus.retrieve import draw_rows, have_many_slurs, labelled_by_majority
from fcpair.stages.corpus.sample import draw_cells, draw_positions, draw_stratified, own_order


@given(st.lists(st.tuples(st.text(), st.integers(0, 2))), st.randoms(use_true_random=False))
def test_an_own_order_is_the_same_whatever_order_items_come_in(items: list[tuple[str, int]], random: Random) -> None:
    shuffled = random.sample(items, len(items))
    found = [
        [given[at] for at in own_order(*zip(*given, strict=True)).tolist()] for given in (items, shuffled) if given
    ]
    assert found[:1] == found[1:] == [sorted(items)] * bool(items)


@given(st.sets(st.text(), min_size=1), st.data(), st.integers(0, 2**32))
def test_a_draw_rests_on_the_items_and_not_on_their_order(items: set[str], data: st.DataObject, seed: int) -> None:
    n, strata = data.draw(st.integers(1, len(items))), {item: item[:1] for item in items}
    drawn = []
    for order in (sorted(items), data.draw(st.permutations(sorted(items)))):
        groups = np.array([strata[item] for item in order], object)
        places = draw_positions(own_order(order), n, seed), draw_stratified(groups, own_order(order), n, seed)
        drawn.append([{order[at] for at in one.tolist()} for one in places])
    assert drawn[0] == drawn[1]


def test_every_item_is_drawn_equally_often_by_seed_and_no_more_than_there_are() -> None:
    """2,000 draws of 3 of 10: each item 600 times, with standard deviation sqrt(2000 x 0.3 x 0.7) = 20.5."""
    often = Counter(item for seed in range(2000) for item in draw_positions(np.arange(10), 3, seed).tolist())
    assert max(abs(often[item] - 600) for item in range(10)) < 5 * 20.5
    strata = np.array(list("ab" * 50), object)
    for draw in (draw_positions, partial(draw_stratified, strata)):
        drawn, again, other = (draw(np.arange(100), 10, seed).tolist() for seed in (3, 3, 4))
        assert drawn == again != other
    for n in (-1, 0, 4):
        too_many = f"{n} HS cannot be drawn; there are 3"
        with pytest.raises(InputError, match=too_many):
            draw_positions(np.arange(3), n, 0, "HS")
        with pytest.raises(InputError, match=too_many):
            draw_stratified(np.array(["a", "b", "b"], object), np.arange(3), n, 0, "HS")


@pytest.mark.parametrize(
    ("sizes", "n", "expected"),
    [
        ({"a": 5, "b": 3, "c": 2}, 10, {"a": 5, "b": 3, "c": 2}),
        ({"a": 3, "b": 5, "c": 2}, 5, {"a": 1, "b": 3, "c": 1}),  # 1.5, 2.5, 1.0: equal remainders, the larger wins
        ({"b": 3, "a": 3}, 3, {"a": 2, "b": 1}),  # 1.5 each, equally large: the first name wins
        ({"a": 6, "b": 3, "c": 1}, 4, {"a": 3, "b": 1}),  # 2.4, 1.2, 0.4: of two with 0.4 the larger
        ({"a": 1, "b": 1, "c": 1}, 1, {"a": 1}),
    ],
)
def test_shares_are_rounded_by_largest_remainder(sizes: dict[str, int], n: int, expected: dict[str, int]) -> None:
    strata = np.array([name for name, size in sizes.items() for _ in range(size)], object)
    assert Counter(strata[draw_stratified(strata, np.arange(len(strata)), n, 0)].tolist()) == expected


@given(st.lists(st.sampled_from("abcd"), min_size=1, max_size=60), st.data(), st.integers(0, 2**32))
def test_each_stratum_has_its_share(strata: list[str], data: st.DataObject, seed: int) -> None:
    """The largest-remainder rule: a quota rounded down or up, and no one rounded up who has less left than one not."""
    n = data.draw(st.integers(1, len(strata)))
    drawn = draw_stratified(np.array(strata, object), np.arange(len(strata)), n, seed).tolist()
    for positions in (drawn, draw_positions(np.arange(len(strata)), n, seed).tolist()):
        assert positions == sorted(set(positions))
        assert len(positions) == n
        assert set(positions) <= set(range(len(strata)))
    size, got = Counter(strata), Counter(strata[i] for i in drawn)
    floor = {name: n * size[name] // len(strata) for name in size}
    left = {name: n * size[name] % len(strata) for name in size}
    assert all(got[name] - floor[name] in {0, 1} for name in size)
    up = [left[name] for name in size if got[name] > floor[name]]
    down = [left[name] for name in size if got[name] == floor[name]]
    assert min(up, default=len(strata)) >= max(down, default=0) > -1
    assert 0 not in up


def test_what_most_people_found_normal_or_is_little_but_a_slur_is_left_out() -> None:
    labels = ["normal; normal; hate", "normal, hate, hate", "Normal;hate", "", "normal"]  # a tie stays
    assert labelled_by_majority(labels, ["normal"]).tolist() == [True, False, False, False, True]
    texts = ["Those tea-bags again", "tea-bags " + "word " * 9, "tea-bags " + "word " * 10, "short", "TEA-BAGS!"]
    assert have_many_slurs(texts, ["tea-bags"], 10).tolist() == [True, True, False, False, True]


@given(st.lists(st.sampled_from("abc"), min_size=3, max_size=40), st.integers(1, 3), st.integers(0, 5))
def test_of_every_group_as_many_as_asked_and_the_same_by_the_same_seed(groups: list[str], n: int, seed: int) -> None:
    n = min(n, *Counter(groups).values())
    drawn = draw_rows(groups, np.arange(len(groups)), {}, n, None, seed)
    found = Counter(group for group, is_in in zip(groups, drawn.tolist(), strict=True) if is_in)
    assert found == dict.fromkeys(set(groups), n)
    assert (draw_rows(groups, np.arange(len(groups)), {}, n, None, seed) == drawn).all()


def test_a_sample_is_drawn_of_what_the_quotas_leave_and_no_more_than_there_are() -> None:
    drawn = draw_rows(["a"] * 10 + ["b"] * 10, np.arange(20), {"a": 4}, None, 3, 1)
    assert drawn[:10].sum() == 3
    assert not drawn[10:].any()
    with pytest.raises(InputError, match=r"cats \(1 of 2\); the groups have cats 1, tea 3$"):
        draw_rows(["tea", "tea", "tea", "cats"], np.arange(4), {"tea": 2, "cats": 2}, None, None, 0)
    with pytest.raises(InputError, match=r"cats \(1 of 2\)"):
        draw_rows(["tea", "tea", "tea", "cats"], np.arange(4), {}, 2, None, 0)
    with pytest.raises(InputError, match="5 texts cannot be drawn; there are 4"):
        draw_rows(["tea"] * 4, np.arange(4), {}, None, 5, 0)


NOTHING = np.zeros(0, np.int64)


def per_side(places: Ints, n_rows: int, n_columns: int) -> tuple[Ints, Ints]:
    row, column = np.divmod(places, n_columns)
    return np.bincount(row, minlength=n_rows), np.bincount(column, minlength=n_columns)


def squares(places: Ints, n_rows: int, n_columns: int) -> tuple[int, ...]:
    return tuple(int((one**2).sum()) for one in per_side(places, n_rows, n_columns))


@st.composite
def grids(draw: st.DrawFn, most: int, sparse: bool = False) -> tuple[int, int, int, Ints]:
    n_rows, n_columns = draw(st.integers(1, most)), draw(st.integers(1, most))
    size = n_rows * n_columns
    known = draw(st.sets(st.integers(0, size - 1), max_size=0 if sparse else size - 1))
    return n_rows, n_columns, draw(st.integers(1, size - len(known))), np.array(sorted(known), np.int64)


@given(grids(25, sparse=True), st.integers(0, 99))
def test_rows_and_columns_differ_by_at_most_one(grid: tuple[int, int, int, Ints], seed: int) -> None:
    n_rows, n_columns, n, known = grid
    by_row, by_column = per_side(
        draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=seed), n_rows, n_columns
    )
    assert np.ptp(by_row) <= 1
    assert np.ptp(by_column) <= 1


@given(grids(12), st.integers(0, 99))
def test_as_many_cells_as_asked_for_none_twice_and_none_known(grid: tuple[int, int, int, Ints], seed: int) -> None:
    n_rows, n_columns, n, known = grid
    places = draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=seed)
    assert len(places) == n
    assert (np.diff(places) > 0).all()
    assert 0 <= places.min() <= places.max() < n_rows * n_columns
    assert not np.isin(places, known).any()
    assert np.array_equal(places, draw_cells(np.arange(n_rows), np.arange(n_columns), n, known[::-1], seed=seed))
    free = np.setdiff1d(np.arange(n_rows * n_columns), known)
    assert np.array_equal(draw_cells(np.arange(n_rows), np.arange(n_columns), len(free), known, seed=0), free)


@given(grids(3))
def test_with_known_cells_no_other_choice_is_more_even(grid: tuple[int, int, int, Ints]) -> None:
    """Rows first, then columns: by the sums of their squares, against every choice that there is."""
    n_rows, n_columns, n, known = grid
    free = np.setdiff1d(np.arange(n_rows * n_columns), known)
    found = squares(draw_cells(np.arange(n_rows), np.arange(n_columns), n, known, seed=0), n_rows, n_columns)
    assert found == min(squares(np.array(one), n_rows, n_columns) for one in combinations(free, n))


def test_columns_are_even_where_only_a_chain_of_moves_makes_them_so() -> None:
    """Row 0 can only have columns 0 and 1, row 1 only 1 and 2, and so on: one column is left for each."""
    n = 30
    free = {(row, column) for row in range(n) for column in (row, row + 1)}
    known = np.array([r * (n + 1) + c for r in range(n) for c in range(n + 1) if (r, c) not in free])
    by_row, by_column = per_side(draw_cells(np.arange(n), np.arange(n + 1), n, known, seed=1), n, n + 1)
    assert by_row.tolist() == [1] * n
    assert by_column.max() == 1


def test_another_seed_draws_other_cells_and_no_more_than_there_are() -> None:
    drawn = [draw_cells(np.arange(50), np.arange(80), 400, NOTHING, seed=seed).tolist() for seed in range(2)]
    assert drawn[0] != drawn[1]
    for n in (0, -1, 10):
        with pytest.raises(InputError, match="cells cannot be drawn; there are 9"):
            draw_cells(np.arange(2), np.arange(5), n, np.array([3]), seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("design", one_short(((4, 4), 8, []), ((3, 4), 6, []), ((3, 3), 3, [0, 4, 8])), ids=str)
def test_no_design_is_favoured(design: tuple[tuple[int, int], int, list[int]]) -> None:
    """90 designs of 4 x 4 with two in every row and column, 90 of 3 x 4 with two and one or two, and 2 derangements."""
    shape, n, known = design
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
    by_row, by_column = per_side(places, n_rows, n_columns)
    assert (by_row == 2).all()
    assert by_column.max() == 1
    assert not np.isin(places, known).any()
