"""Dealing: what must hold for every grid, number of annotators, overlap and seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import combinations, pairwise, product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.params import ShardOrder
from fcpair.stages.assignment.assign import (
    AssignedPairs,
    Pairs,
    assign_pairs,
    even_out,
    overlap_counts,
    shard_order,
    split_pairs,
)
from fcpair.stages.assignment.slots import fill_slots, share_out

ORDERS = get_args(ShardOrder)
FC_CONAN_OVERLAP = {2: 0.126, 3: 0.05}
SEEDS = st.integers(0, 2**32 - 1)


def full_grid(n_hs: int, n_cn: int) -> tuple[Ints, Ints]:
    hs, cn = np.divmod(np.arange(n_hs * n_cn), n_cn)
    return hs, cn


@st.composite
def grids(draw: st.DrawFn) -> tuple[Ints, Ints]:
    """Up to 12 x 12 with any share of holes, and at least one pair."""
    hs, cn = full_grid(draw(st.integers(1, 12)), draw(st.integers(1, 12)))
    holes = draw(st.sampled_from([0.0, 0.2, 0.6, 0.9]))
    kept = np.random.default_rng(draw(SEEDS)).random(len(hs)) >= holes
    kept[0] = True
    return hs[kept], cn[kept]


overlaps = st.sampled_from(
    [FC_CONAN_OVERLAP, {2: 0.3}, {3: 0.3}, {2: 1.0}, {3: 1.0}, {2: 0.5, 3: 0.4}, {2: 0.4, 3: 0.3}]
)


def table(dealing: AssignedPairs, n_pairs: int, n_annotators: int) -> Ints:
    """How often each pair went to each annotator, `(n_pairs, n_annotators)`."""
    times = np.zeros((n_pairs, n_annotators), np.int64)
    np.add.at(times, (dealing.pair, dealing.annotator), 1)
    return times


def per_text(texts: Ints, times: Ints) -> Ints:
    """How many labels each annotator gives on each text, `(n_texts, n_annotators)`."""
    counts = np.zeros((int(texts.max()) + 1, times.shape[1]), np.int64)
    np.add.at(counts, texts, times)
    return counts


def shared_pairs(times: Ints) -> Ints:
    """How many pairs each two annotators share."""
    n_annotators = times.shape[1]
    return (times.T @ times)[np.triu_indices(n_annotators, 1)]


def is_rounded(counts: Ints, shares: np.typing.NDArray[np.float64]) -> bool:
    """Each count is its share, rounded down or up."""
    return bool((np.abs(counts - shares) < 1 - 1e-9).all())


def test_overlap_counts_of_the_model_study_and_without_overlap() -> None:
    """0.126 x 5,805 = 731.43 and 0.05 x 5,805 = 290.25."""
    assert overlap_counts(5805, FC_CONAN_OVERLAP) == {1: 4784, 2: 731, 3: 290}
    assert overlap_counts(12, {}) == {1: 12}


def test_two_annotators_on_two_by_two_get_a_diagonal_each() -> None:
    """The only equitable colourings of a 2 x 2 grid are its two diagonals."""
    dealt = {tuple(assign_pairs(*full_grid(2, 2), 2, seed=seed).pair.tolist()) for seed in range(20)}
    assert dealt == {(0, 3, 1, 2), (1, 2, 0, 3)}


@given(grid=grids(), n_annotators=st.integers(1, 12), seed=SEEDS)
def test_without_overlap_every_text_and_load_is_shared_evenly(
    grid: tuple[Ints, Ints], n_annotators: int, seed: int
) -> None:
    hs, cn = grid
    times = table(assign_pairs(hs, cn, n_annotators, seed=seed), len(hs), n_annotators)
    assert (times.sum(axis=1) == 1).all()
    assert np.ptp(times.sum(axis=0)) <= 1
    for texts in (hs, cn):
        counts = per_text(texts, times)
        assert is_rounded(counts, counts.sum(axis=1, keepdims=True) / n_annotators)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_model_study_with_and_without_overlap(seed: int) -> None:
    """4,784 + 2 x 731 + 3 x 290 = 7,116 labels: 790 or 791 each; 731 / 36 duos: 20 or 21; 870 / 9: 96 or 97.

    Without, 5,805 / 9 = 645 pairs each; of 129 CNs of an HS 14 or 15 each; of 45 HS of a CN exactly 5 each.
    """
    hs, cn = full_grid(45, 129)
    times = table(assign_pairs(hs, cn, 9, FC_CONAN_OVERLAP, seed=seed), 5805, 9)
    n_labels = times.sum(axis=1)
    assert np.bincount(n_labels).tolist() == [0, 4784, 731, 290]
    assert set(times.sum(axis=0).tolist()) == {790, 791}
    assert set(shared_pairs(times[n_labels == 2]).tolist()) == {20, 21}
    assert set(times[n_labels == 3].sum(axis=0).tolist()) == {96, 97}
    assert np.ptp(shared_pairs(times[n_labels == 3])) <= 3
    for texts in (hs, cn):
        counts = per_text(texts, times)
        assert is_rounded(counts, counts.sum(axis=1, keepdims=True) / 9)
    times = table(assign_pairs(hs, cn, 9, seed=seed), 5805, 9)
    assert times.sum(axis=0).tolist() == [645] * 9
    assert set(per_text(hs, times).ravel().tolist()) == {14, 15}
    assert set(per_text(cn, times).ravel().tolist()) == {5}


@given(grid=grids(), n_annotators=st.integers(3, 12), overlap=overlaps, seed=SEEDS)
def test_overlap_is_exact_level_and_spread_over_the_texts(
    grid: tuple[Ints, Ints], n_annotators: int, overlap: Mapping[int, float], seed: int
) -> None:
    """Of a text, rounded down or up with two numbers of labels; with three, halving in two steps can add one more."""
    times = table(assign_pairs(*grid, n_annotators, overlap, seed=seed), len(grid[0]), n_annotators)
    n_labels = times.sum(axis=1)
    assert times.max() == 1
    counts = overlap_counts(len(n_labels), overlap)
    assert {k: int((n_labels == k).sum()) for k in counts} == counts
    assert np.ptp(times.sum(axis=0)) <= 1
    assert np.ptp(shared_pairs(times[n_labels == 2])) <= 1
    assert np.ptp(times[n_labels == 3].sum(axis=0)) <= 1
    assert np.ptp(shared_pairs(times[n_labels == 3])) <= 4
    bound = 1 if 0 in counts.values() or len(counts) < 3 else 2
    for texts, size in product(grid, (1, 2, 3)):
        degree = np.bincount(texts)
        of_size = np.bincount(texts[n_labels == size], minlength=len(degree))
        assert (np.abs(of_size - degree * counts.get(size, 0) / len(n_labels)) < bound).all()


@given(grid=grids(), n_annotators=st.integers(4, 9), share=st.sampled_from([0.3, 1.0]), data=st.data(), seed=SEEDS)
def test_pairs_can_have_any_number_of_labels_up_to_one_of_everybody(
    grid: tuple[Ints, Ints], n_annotators: int, share: float, data: st.DataObject, seed: int
) -> None:
    """Loads differ by at most one, and what two annotators share by little more than the loads allow."""
    size = data.draw(st.integers(4, n_annotators))
    times = table(assign_pairs(*grid, n_annotators, {size: share}, seed=seed), len(grid[0]), n_annotators)
    n_labels = times.sum(axis=1)
    counts = overlap_counts(len(grid[0]), {size: share})
    assert times.max() == 1
    assert {k: int((n_labels == k).sum()) for k in counts} == counts
    assert np.ptp(times.sum(axis=0)) <= 1
    assert np.ptp(times[n_labels == size].sum(axis=0)) <= 1
    assert np.ptp(shared_pairs(times[n_labels == size])) <= 3


@pytest.mark.parametrize(
    ("n_annotators", "overlap", "loads", "shared"),
    [
        (9, {5: 1.0}, {3225}, {1612, 1613}),  # 5805 x 5 / 9; 5805 x 20 / 72 = 1612.5
        (9, {8: 0.031}, {785}, {140}),  # 180 x 8 + 5625; 180 pairs, each left out by one of nine: 180 - 20 - 20
        (6, {4: 1.0}, {3870}, {2322}),  # 5805 x 4 / 6; 5805 x 12 / 30
        (9, {2: 0.2, 3: 0.1, 4: 0.1}, {1096, 1097}, None),  # 580 x 4 + 580 x 3 + 1,161 x 2 + 3,484 = 9,866 labels
    ],
)
def test_larger_groups_share_as_evenly_as_numbers_allow(
    n_annotators: int, overlap: Mapping[int, float], loads: set[int], shared: set[int] | None
) -> None:
    times = table(assign_pairs(*full_grid(45, 129), n_annotators, overlap), 5805, n_annotators)
    assert set(times.sum(axis=0).tolist()) == loads
    assert shared is None or set(shared_pairs(times).tolist()) == shared
    if shared is None:
        assert np.bincount(times.sum(axis=1)).tolist() == [0, 3484, 1161, 580, 580]


@pytest.mark.parametrize("overlap", [{2: 1.0}, {3: 1.0}, {2: 0.5, 3: 0.5}])
@pytest.mark.parametrize("shape", [(20, 36), (8, 200)])
def test_without_single_labels_swaps_alone_keep_texts_near_even(
    shape: tuple[int, int], overlap: Mapping[int, float]
) -> None:
    """No single label can make up for what groups leave uneven, and still no count is off by 2."""
    hs, cn = full_grid(*shape)
    times = table(assign_pairs(hs, cn, 6, overlap), len(hs), 6)
    for texts in (hs, cn):
        counts = per_text(texts, times)
        assert np.abs(counts - counts.sum(axis=1, keepdims=True) / 6).max() < 2


def test_the_seed_decides_and_not_the_names_of_texts() -> None:
    hs, cn = full_grid(8, 9)
    for overlap in ({}, {2: 0.5}, {2: 0.3, 3: 0.2}):
        dealt, again, other = (assign_pairs(hs, cn, 5, overlap, seed=seed) for seed in (1, 1, 2))
        rows = list(zip(dealt.annotator.tolist(), dealt.pair.tolist(), strict=True))
        assert rows == sorted(rows) == list(zip(again.annotator.tolist(), again.pair.tolist(), strict=True))
        assert dealt.pair.tolist() == assign_pairs(hs * 1000 + 17, cn * 50 - 3, 5, overlap, seed=1).pair.tolist()
        assert (table(dealt, 72, 5) != table(other, 72, 5)).any()


def test_nobody_and_no_text_is_favoured() -> None:
    """Over many seeds, one pair for four annotators goes to each of them, and one double among four pairs is each."""
    assert {int(assign_pairs(*full_grid(1, 1), 4, seed=seed).annotator[0]) for seed in range(80)} == {0, 1, 2, 3}
    dealings = [assign_pairs(*full_grid(4, 1), 2, {2: 0.25}, seed=seed) for seed in range(80)]
    assert {int(np.bincount(dealing.pair).argmax()) for dealing in dealings} == {0, 1, 2, 3}
    dealing = assign_pairs(*full_grid(1, 3), 12)
    assert (sorted(dealing.pair.tolist()), len(set(dealing.annotator.tolist()))) == ([0, 1, 2], 3)


def test_pairs_are_not_dealt_in_blocks() -> None:
    """Which CNs an annotator has with one HS says little about which with another; in blocks it would say all."""
    times = table(assign_pairs(*full_grid(20, 20), 2), 400, 2)
    between_hs = np.asarray(np.corrcoef(times[:, 0].reshape(20, 20)))
    assert np.abs(between_hs[np.triu_indices(20, 1)]).mean() < 0.35


def test_named_groups_share_the_overlap_evenly_and_single_labels_level_their_loads() -> None:
    """10 x 10 pairs: 50 with two labels, 25 for each duo; 20 with three labels for the only trio.

    60 pairs for one duo leave 40 for the two others: 60, 60, 20 and 20.
    """
    groups = ((0, 1), (4, 2), (1, 2, 3))
    times = table(assign_pairs(*full_grid(10, 10), 5, {2: 0.5, 3: 0.2}, groups), 100, 5)
    crews = Counter(tuple(np.flatnonzero(row).tolist()) for row in times)
    assert {crew: n for crew, n in crews.items() if len(crew) > 1} == {(0, 1): 25, (2, 4): 25, (1, 2, 3): 20}
    times = table(assign_pairs(*full_grid(10, 10), 4, {2: 0.6}, ((0, 1),)), 100, 4)
    assert times.sum(axis=0).tolist() == [60, 60, 20, 20]


@given(grid=grids(), seed=SEEDS)
def test_named_groups_keep_each_text_near_the_share_of_each_load(grid: tuple[Ints, Ints], seed: int) -> None:
    hs, cn = grid
    times = table(assign_pairs(hs, cn, 6, {2: 0.2}, ((0, 1), (2, 3)), seed=seed), len(hs), 6)
    assert np.ptp(times[times.sum(axis=1) == 2][:, [0, 2]].sum(axis=0)) <= 1
    for texts in (hs, cn):
        counts = per_text(texts, times)
        shares = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
        assert np.abs(counts - shares).max() < 3


GRID, NOTHING = full_grid(4, 5), np.array([], np.int64)
REFUSED: dict[str, Callable[[], object]] = {
    "0 labels": lambda: overlap_counts(100, {0: 0.1}),
    "1 labels": lambda: overlap_counts(100, {1: 0.1}),
    "2 labels is 1.1": lambda: overlap_counts(100, {2: 1.1}),
    "3 labels is -0.1": lambda: overlap_counts(100, {3: -0.1}),
    "2 labels is nan": lambda: overlap_counts(100, {2: float("nan")}),
    "70 with 2 labels and 50 with 3 labels, of 100 in all": lambda: overlap_counts(100, {2: 0.7, 3: 0.5}),
    "no group of 2": lambda: assign_pairs(*GRID, 5, {2: 0.5}, ((0, 1, 2),)),
    "no group of 3": lambda: assign_pairs(*GRID, 5, {2: 0.2, 3: 0.2}, ((0, 1),)),
    "no group of 4": lambda: assign_pairs(*GRID, 5, {4: 0.5}, ((0, 1, 2),)),
    r"group \(0,\) does not have 2 or more different annotators": lambda: assign_pairs(*GRID, 5, {2: 0.5}, ((0,),)),
    r"group \(1, 1\) does not have 2 or more different annotators": lambda: assign_pairs(*GRID, 5, {2: 0.5}, ((1, 1),)),
    r"unknown annotators \[5\]": lambda: assign_pairs(*GRID, 5, {2: 0.5}, ((0, 5),)),
    r"unknown annotators \[-1\]": lambda: assign_pairs(*GRID, 5, {2: 0.5}, ((0, -1),)),
    "given twice": lambda: assign_pairs(*GRID, 5, {2: 0.5}, ((0, 1), (1, 0))),
    "0 annotators": lambda: assign_pairs(*GRID, 0, {}),
    "2 labels on 10 pairs, but there are 1": lambda: assign_pairs(*GRID, 1, {2: 0.5}),
    "3 labels on 10 pairs, but there are 2": lambda: assign_pairs(*GRID, 2, {3: 0.5}),
    "no pairs": lambda: assign_pairs(NOTHING, NOTHING, 2),
    "1 of 3 pairs are duplicated": lambda: assign_pairs(np.array([0, 1, 0]), np.array([2, 2, 2]), 2),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_cannot_be_dealt_is_refused(message: str) -> None:
    with pytest.raises(InputError, match=message):
        REFUSED[message]()


@given(grid=grids(), cuts=st.lists(st.floats(0, 1), min_size=1, max_size=5), seed=SEEDS)
def test_split_gives_each_colour_exactly_its_weight(grid: tuple[Ints, Ints], cuts: list[float], seed: int) -> None:
    hs, cn = grid
    n_hs, n_cn = int(hs.max()) + 1, int(cn.max()) + 1
    bounds = np.sort(np.round(np.array(cuts) * len(hs)).astype(np.int64))
    weights = np.diff(bounds, prepend=0, append=len(hs))
    colour = split_pairs(Pairs(hs, cn + n_hs, n_hs, n_hs + n_cn), weights, np.random.default_rng(seed))
    assert np.bincount(colour, minlength=len(weights)).tolist() == weights.tolist()


def test_split_makes_up_for_what_there_is_already_and_keeps_sizes_where_it_cannot() -> None:
    """One HS, four CNs. Colour 0 has the first two CNs already: colour 1 gets these, and one of the others.

    Then the HS calls for all pairs to go to colour 1, the CNs for half of them, as they had nothing so far.
    """
    pairs = Pairs(np.zeros(4, np.int64), np.arange(1, 5), 1, 5)
    already = np.array([[2, 1, 1, 0, 0], [0, 0, 0, 0, 0]])
    colour = split_pairs(pairs, np.array([1, 1]), np.random.default_rng(0), already)
    assert (colour[:2].tolist(), sorted(colour[2:].tolist())) == ([1, 1], [0, 1])
    already = np.array([[4, 0, 0, 0, 0], [0, 2, 2, 0, 0]])
    assert np.bincount(split_pairs(pairs, np.array([1, 1]), np.random.default_rng(0), already)).tolist() == [2, 2]


@given(grid=grids(), seed=SEEDS)
def test_evening_out_lowers_the_squares_and_keeps_the_groups(grid: tuple[Ints, Ints], seed: int) -> None:
    hs, cn = grid
    n_hs, n_cn = int(hs.max()) + 1, int(cn.max()) + 1
    members: Bools = np.zeros((6, 4), np.bool_)
    members[np.arange(6)[:, None], list(combinations(range(4), 2))] = True
    rng = np.random.default_rng(seed)
    before = rng.integers(0, 6, len(hs))
    after = even_out(Pairs(hs, cn + n_hs, n_hs, n_hs + n_cn), before, members, rng)
    assert np.bincount(before, minlength=6).tolist() == np.bincount(after, minlength=6).tolist()

    def squares(colour: Ints) -> float:
        total = 0.0
        for texts in (hs, cn):
            counts = per_text(texts, members[colour].astype(np.int64))
            total += float(((counts - np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()) ** 2).sum())
        return total

    assert squares(after) <= squares(before) + 1e-6
    assert (squares(after) < squares(before)) == bool((before != after).any())


def test_evening_out_finds_the_level_dealing() -> None:
    """Two duos, the first in the upper half of 12 x 12 pairs: level is 6 in each row and each column."""
    hs, cn = full_grid(12, 12)
    members = np.array([[True, True, False, False], [False, False, True, True]])
    halves = (hs >= 6).astype(np.int64)
    colour = even_out(Pairs(hs, cn + 12, 12, 24), halves, members, np.random.default_rng(0))
    for texts in (hs, cn):
        assert np.bincount(texts[colour == 0], minlength=12).tolist() == [6] * 12


@given(grid=grids(), n_annotators=st.integers(1, 5), by=st.sampled_from(ORDERS), seed=SEEDS)
def test_places_count_from_one_in_each_shard(
    grid: tuple[Ints, Ints], n_annotators: int, by: ShardOrder, seed: int
) -> None:
    dealing = assign_pairs(*grid, n_annotators)
    place = shard_order(dealing.annotator, grid[0][dealing.pair], seed, by)
    for person in range(n_annotators):
        mine = place[dealing.annotator == person]
        assert sorted(mine.tolist()) == list(range(1, len(mine) + 1))


def test_by_hs_shows_one_hs_at_a_time_in_an_order_of_each_annotators_own_and_random_mixes_them() -> None:
    annotator, hs = np.repeat([7, 3], 80), np.tile(np.repeat(np.arange(8), 10), 2)

    def orders(by: ShardOrder, seed: int = 0) -> list[list[int]]:
        """The HS as each of the two sees them."""
        place = shard_order(annotator, hs, seed, by)
        return [hs[annotator == person][np.argsort(place[annotator == person])].tolist() for person in (7, 3)]

    def n_changes(order: list[int]) -> int:
        return sum(hs != following for hs, following in pairwise(order))

    first, second = orders("hs")
    assert (n_changes(first), n_changes(second)) == (7, 7)
    assert second != first != sorted(first)
    assert all(n_changes(order) > 40 for order in orders("random"))
    of_one_hs = shard_order(np.zeros(20, np.int64), np.zeros(20, np.int64), 0, "hs")
    assert of_one_hs.tolist() != list(range(1, 21))
    for by in ORDERS:
        places, again, other = (shard_order(annotator, hs, seed, by).tolist() for seed in (1, 1, 2))
        assert places == again != other


def new_work(person: Ints, n_people: int) -> list[int]:
    counts: list[int] = np.bincount(person[person >= 0], minlength=n_people).tolist()
    return counts


A_OR_B, A_OR_C, ONLY_C, NOT_A = [1, 1, 0, 0], [1, 0, 1, 0], [0, 0, 1, 0], [0, 1, 1, 1]


@pytest.mark.parametrize(
    ("may", "loads", "counts"),
    [
        ([[1, 1, 1]] * 7, [5, 1, 0], [0, 3, 4]),  # the first stays at 5, the others rise to 4
        # along a chain of people: 30 each is level
        ([A_OR_B] * 30 + [A_OR_C] * 30 + [ONLY_C] * 30 + [NOT_A] * 30, [0] * 4, [30] * 4),
        # levelled one after the other, they could give A 3 and B 1
        ([A_OR_B[:3]] * 3 + [A_OR_C[:3]] * 3, [0] * 3, [2] * 3),
        ([[0, 0, 0]] * 2, [0] * 3, [0] * 3),
        ([[]] * 2, [], []),
        (np.zeros((0, 3)), [0] * 3, [0] * 3),
    ],
)
def test_those_with_little_work_get_more(may: list[list[int]], loads: list[int], counts: list[int]) -> None:
    for seed in range(20):
        person = share_out(~np.array(may, np.bool_), np.array(loads, np.int64), seed)
        assert len(person) == len(may)
        assert new_work(person, len(loads)) == counts


@st.composite
def small_work(draw: st.DrawFn) -> tuple[Bools, Ints]:
    n_people = draw(st.integers(1, 3))
    row = st.lists(st.booleans(), min_size=n_people, max_size=n_people)
    barred = draw(st.lists(row, min_size=1, max_size=6))
    loads = draw(st.lists(st.integers(0, 5), min_size=n_people, max_size=n_people))
    return np.array(barred, np.bool_), np.array(loads, np.int64)


@given(work=small_work(), seed=SEEDS)
def test_no_other_way_of_sharing_is_more_level(work: tuple[Bools, Ints], seed: int) -> None:
    """Checked against every way there is."""
    barred, loads = work
    person = share_out(barred, loads, seed)
    assert ((person == -1) == barred.all(axis=1)).all()
    taken = np.flatnonzero(person >= 0)
    assert not barred[taken, person[taken]].any()
    ways = product(*(np.flatnonzero(~row).tolist() for row in barred if not row.all()))
    least = min(int(((loads + np.bincount(np.array(way, np.int64), minlength=len(loads))) ** 2).sum()) for way in ways)
    assert int(((loads + new_work(person, len(loads))) ** 2).sum()) == least


@given(work=small_work(), pairs=st.lists(st.integers(0, 2), min_size=6, max_size=6), seed=SEEDS)
def test_nobody_gets_two_slots_of_a_pair(work: tuple[Bools, Ints], pairs: list[int], seed: int) -> None:
    barred, loads = work
    pair = np.array(pairs[: len(barred)])
    barred = barred[[pairs.index(number) % len(barred) for number in pair]]  # who is barred has no slot of it
    person = fill_slots(pair, barred, loads, seed)
    for number in set(pair.tolist()):
        at = np.flatnonzero(pair == number)
        taken = person[at][person[at] >= 0]
        assert len(set(taken.tolist())) == len(taken) == min(len(at), int((~barred[at[0]]).sum()))
        assert not barred[at[0], taken].any()


@given(work=small_work(), seed=SEEDS)
def test_slots_of_different_pairs_are_shared_out_at_once(work: tuple[Bools, Ints], seed: int) -> None:
    person = fill_slots(np.arange(len(work[0])), *work, seed)
    assert person.tolist() == share_out(*work, seed).tolist()
    assert fill_slots(np.zeros(0, np.int64), np.zeros((0, 2), np.bool_), np.zeros(2, np.int64), seed).tolist() == []


@given(n_slots=st.integers(0, 200), n_people=st.integers(1, 9), seed=SEEDS)
def test_without_bars_shares_are_within_one(n_slots: int, n_people: int, seed: int) -> None:
    person = share_out(np.zeros((n_slots, n_people), np.bool_), np.zeros(n_people, np.int64), seed)
    assert np.ptp(new_work(person, n_people)) <= 1
    assert (person >= 0).all()


def test_the_seed_decides_who_gets_which_slot() -> None:
    barred = np.random.default_rng(0).random((60, 4)) < 0.3
    slots, again, other = (share_out(barred, np.zeros(4, np.int64), seed).tolist() for seed in (1, 1, 2))
    assert slots == again != other


def test_progress_is_told_of_all_pairs_and_never_falls() -> None:
    hs, cn = np.divmod(np.arange(200), 20)
    told: list[tuple[int, int]] = []
    assign_pairs(hs, cn, 5, {2: 0.4, 3: 0.2}, progress=lambda done, total: told.append((done, total)))
    assert told == sorted(told)
    assert (told[-1], len(told) > 8) == ((200, 200), True)
