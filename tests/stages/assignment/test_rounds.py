"""Dealing a round, and more labels: what must hold for every grid, state of the work and bar, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.stages.assignment.assign import even_meetings
from fcpair.stages.assignment.rounds import add_labels, assign_cells, assign_rows, hand_over_slots, n_labels_missing
from stages.assignment.test_assign import SEEDS, full_grid, per_text, table


@st.composite
def rounds(draw: st.DrawFn, *, once: bool) -> tuple[Ints, Ints, int, int]:
    """A grid with holes, how many answers each cell gets, and people enough for it."""
    row, column = full_grid(draw(st.integers(1, 8)), draw(st.integers(1, 4)))
    kept = np.random.default_rng(draw(SEEDS)).random(len(row)) >= draw(st.sampled_from([0.0, 0.3]))
    kept[0] = True
    row, column = row[kept], column[kept]
    answers = draw(st.integers(1, 3))
    least = answers * int(np.bincount(row).max()) if once else answers
    return row, column, answers, least + draw(st.integers(0, 5))


@given(rounds(once=True), SEEDS)
def test_nobody_has_a_row_twice_and_all_else_is_even(given_round: tuple[Ints, Ints, int, int], seed: int) -> None:
    row, column, answers, n_people = given_round
    dealt = assign_cells(row, column, bars(len(row), n_people), answers, once_per_row=True, seed=seed)
    times = table(dealt, len(row), n_people)
    assert times.sum(axis=1).tolist() == [answers] * len(row)
    assert per_text(row, times).max() <= 1
    assert np.ptp(times.sum(axis=0)) <= 1
    of_column = per_text(column, times)
    assert (np.ptp(of_column, axis=1) <= answers).all()


@given(rounds(once=False), SEEDS)
def test_each_cell_is_answered_by_different_people_with_even_loads(
    given_round: tuple[Ints, Ints, int, int], seed: int
) -> None:
    row, column, answers, n_people = given_round
    times = table(assign_cells(row, column, bars(len(row), n_people), answers, seed=seed), len(row), n_people)
    assert times.max() == 1
    assert times.sum(axis=1).tolist() == [answers] * len(row)
    assert np.ptp(times.sum(axis=0)) <= 1


@given(rounds(once=False), SEEDS)
def test_everybody_gets_every_cell_that_is_not_barred(given_round: tuple[Ints, Ints, int, int], seed: int) -> None:
    row, column, _, n_people = given_round
    barred = np.random.default_rng(seed).random((len(row), n_people)) < 0.3
    barred[:, 0] = False
    times = table(assign_cells(row, column, barred, 0, seed=seed), len(row), n_people)
    assert np.array_equal(times, ~barred)


@given(rounds(once=True), st.booleans(), st.sampled_from([0.1, 0.3, 0.6]), SEEDS)
def test_what_is_barred_goes_to_others_as_evenly_as_chains_allow(
    given_round: tuple[Ints, Ints, int, int], once: bool, share: float, seed: int
) -> None:
    row, column, answers, n_people = given_round
    barred = np.random.default_rng(seed).random((len(row), n_people)) < share
    try:
        dealt = assign_cells(row, column, barred, answers, once_per_row=once, seed=seed)
    except InputError:
        with pytest.raises(nx.NetworkXUnfeasible):
            least_squares(row, barred, answers, once=once)
        return
    times = table(dealt, len(row), n_people)
    assert times.max() == 1
    assert not times[barred].any()
    assert times.sum(axis=1).tolist() == [answers] * len(row)
    if once:
        assert per_text(row, times).max() <= 1
    assert int((times.sum(axis=0) ** 2).sum()) == least_squares(row, barred, answers, once=once)


def least_squares(row: Ints, barred: Bools, answers: int, *, once: bool) -> int:
    """The least sum of squared loads, by networkx: a flow in which each further cell of a person costs more.

    Raises NetworkXUnfeasible where the cells cannot be dealt.
    """
    graph = nx.MultiDiGraph()
    n_cells, n_people = barred.shape
    graph.add_node("start", demand=-n_cells * answers)
    graph.add_node("end", demand=n_cells * answers)
    for cell in range(n_cells):
        graph.add_edge("start", ("cell", cell), capacity=answers, weight=0)
        for one in np.flatnonzero(~barred[cell]).tolist():
            seat = ("row", int(row[cell]) if once else n_cells + cell, one)
            graph.add_edge(("cell", cell), seat, capacity=1, weight=0)
            if not graph.has_edge(seat, ("person", one)):
                graph.add_edge(seat, ("person", one), capacity=1, weight=0)
    for one, nth in product(range(n_people), range(n_cells)):
        graph.add_edge(("person", one), "end", capacity=1, weight=2 * nth + 1)
    return int(nx.network_simplex(graph)[0])


def test_a_seed_deals_alike_and_everybody_meets_every_column_alike() -> None:
    """60 HS x 6 types among 12 writers: 30 cells each, 5 of each type."""
    row, column = full_grid(60, 6)
    dealt, again, other = (
        assign_cells(row, column, bars(360, 12), 1, once_per_row=True, seed=seed) for seed in (5, 5, 6)
    )
    assert (per_text(column, table(dealt, 360, 12)) == 5).all()
    assert np.array_equal(dealt.annotator, again.annotator)
    assert np.array_equal(dealt.pair, again.pair)
    assert not np.array_equal(dealt.pair, other.pair)


@given(n_rows=st.integers(1, 30), n_columns=st.integers(1, 5), n_people=st.integers(2, 7), seed=st.integers(0, 999))
def test_whole_rows_are_dealt_evenly(n_rows: int, n_columns: int, n_people: int, seed: int) -> None:
    row = np.repeat(np.arange(n_rows), n_columns)
    times = table(assign_rows(row, bars(len(row), n_people), 2, seed=seed), len(row), n_people)
    assert (times.sum(axis=1) == 2).all()
    by_row = times.reshape(n_rows, n_columns, n_people)
    assert (by_row == by_row[:, :1]).all()
    assert np.ptp(by_row[:, 0].sum(axis=0)) <= 1
    dealt = assign_rows(SOURCES, bars(6, 3, (1, 0)), 2, seed=seed)  # who may not have a cell has none of its row
    assert not (dealt.pair[dealt.annotator == 0] < 3).any()
    assert np.bincount(dealt.pair).tolist() == [2] * 6


def bars(n_cells: int, n_people: int, *places: tuple[int, int]) -> Bools:
    """Who may not have which cell: nobody but the people at these places."""
    barred = np.zeros((n_cells, n_people), np.bool_)
    for cell, person in places:
        barred[cell, person] = True
    return barred


TWELVE, FOUR, NO_CELLS = full_grid(4, 3), full_grid(2, 2), (np.zeros(0, np.int64),) * 2
SOURCES = np.repeat([5, 9], 3)
ONLY_FIRST = bars(12, 2, (0, 1), (1, 1), (2, 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: assign_cells(*TWELVE, bars(12, 0), 1), "there is nobody to assign to"),
        (
            lambda: assign_cells(*TWELVE, bars(12, 2), 3),
            "answered by 3 people, but there are 2; add people or lower `answers`",
        ),
        (
            lambda: assign_cells(*TWELVE, bars(12, 5), 2, once_per_row=True),
            "a row of 3 cells, each to be answered by 2, needs 6 people, but there are 5",
        ),
        (lambda: assign_cells(*TWELVE, ONLY_FIRST, 2), "3 of 12 cells cannot be answered by 2"),
        (lambda: assign_cells(*TWELVE, ONLY_FIRST | [True, False], 0), "3 of 12 cells cannot be answered by 1"),
        # of three people, only the first may have the two cells of the first row
        (
            lambda: assign_cells(*FOUR, bars(4, 3, (0, 1), (0, 2), (1, 1), (1, 2)), 1, once_per_row=True),
            "1 answers in 1 rows cannot be assigned so that nobody has a row twice",
        ),
        (lambda: assign_cells(*NO_CELLS, bars(0, 3), 1), "there are no cells to assign"),
        (
            lambda: assign_rows(SOURCES, bars(6, 3, (1, 0), (1, 1)), 2, unit="sources"),
            "1 of 2 sources cannot be answered by 2, because too many of the 3 people",
        ),
    ],
)
def test_what_cannot_be_dealt_says_why(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def shared_by(crew: Bools) -> Ints:
    """How many pairs each two people share, loads on the diagonal."""
    return crew.astype(np.int64).T @ crew


def between(shared: Ints) -> Ints:
    return shared[np.triu_indices(len(shared), 1)]


@st.composite
def crews(draw: st.DrawFn) -> tuple[Bools, Bools]:
    """Who has which pair, and who may not get which: those and others."""
    n_pairs, n_people = draw(st.integers(1, 60)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(SEEDS))
    crew = rng.random((n_pairs, n_people)) < draw(st.sampled_from([0.0, 0.2, 0.6]))
    return crew, crew | (rng.random(crew.shape) < draw(st.sampled_from([0.0, 0.1, 0.5])))


FREE = np.zeros(100, np.bool_)
TENS = full_grid(10, 10)


@pytest.mark.parametrize(
    ("n_first", "n_asked", "settled", "overlap", "expected"),
    [
        # of 100 pairs with one label, the first that have `n_asked`, and how many these and the others get
        (13, 2, FREE, {2: 0.3}, (0, 17)),  # 30 are to have two
        (20, 2, FREE, {2: 0.2, 3: 0.1}, (10, 10)),  # ten of the 20 get a third, ten others a second
        (100, 2, FREE, {2: 0.3}, (0, 0)),  # labels above what is asked stay
        (40, 1, np.arange(100) < 40, {2: 0.5}, (0, 50)),  # decided ones get none, others are raised instead
    ],
)
def test_an_overlap_is_raised_to_its_share_and_no_further(
    n_first: int, n_asked: int, settled: Bools, overlap: dict[int, float], expected: tuple[int, int]
) -> None:
    is_first = np.arange(100) < n_first
    more = n_labels_missing(*TENS, np.where(is_first, n_asked, 1), settled, overlap, 0)
    assert (more[is_first].sum(), more[~is_first].sum()) == expected


def test_without_an_overlap_only_open_pairs_without_a_label_get_one_and_with_one_both_ends_share_it() -> None:
    """30 of 100 pairs of a 10 x 10 grid: three of every HS and of every CN."""
    settled = np.array([False, False, False, True])
    assert n_labels_missing(*full_grid(2, 2), np.array([0, 1, 2, 0]), settled, None, 0).tolist() == [1, 0, 0, 0]
    more = n_labels_missing(*TENS, np.ones(100, np.int64), FREE, {2: 0.3}, 5)
    assert set(np.bincount(TENS[0], more).tolist()) == set(np.bincount(TENS[1], more).tolist()) == {3}
    with pytest.raises(InputError, match="4 with 2 labels and 4 with 3 labels, of 4 in all"):
        n_labels_missing(*full_grid(2, 2), np.ones(4, np.int64), np.zeros(4, np.bool_), {2: 0.9, 3: 0.9}, 0)


@given(shares=st.lists(st.integers(0, 30), min_size=1, max_size=3), seed=SEEDS)
def test_asking_for_the_same_overlap_again_adds_nothing(shares: list[int], seed: int) -> None:
    hs, cn = full_grid(6, 7)
    overlap = {n_labels: share / 100 for n_labels, share in enumerate(shares, 2)}
    asked = np.random.default_rng(seed).integers(0, 4, 42)
    settled = np.random.default_rng(seed + 1).random(42) < 0.2
    once = asked + n_labels_missing(hs, cn, asked, settled, overlap, seed)
    assert n_labels_missing(hs, cn, once, settled, overlap, seed + 1).sum() == 0


@given(crew_and_bars=crews(), most=st.integers(1, 4), seed=SEEDS)
def test_nobody_gets_what_they_may_not_and_nothing_that_could_be_given_is_left(
    crew_and_bars: tuple[Bools, Bools], most: int, seed: int
) -> None:
    crew, barred = crew_and_bars
    n_more = np.random.default_rng(seed).integers(0, most + 1, len(crew))
    new = add_labels(n_more, crew, barred, shared_by(crew), crew.sum(axis=0), seed)
    assert not (new & barred).any()
    assert new.sum(axis=1).tolist() == np.minimum(n_more, (~barred).sum(axis=1)).tolist()


@given(n_people=st.integers(3, 9), n_more=st.integers(1, 27), seed=SEEDS)
def test_second_labels_keep_loads_within_one(n_people: int, n_more: int, seed: int) -> None:
    """Everybody has ten single labels; second ones go to as many pairs of everybody, within one."""
    crew = np.tile(np.eye(n_people, dtype=np.bool_), (10, 1))
    more = (np.arange(len(crew)) < n_more).astype(np.int64)
    new = add_labels(more, crew, crew, shared_by(crew), crew.sum(axis=0), seed)
    assert np.ptp((crew | new).sum(axis=0)) <= 1


def test_second_labels_of_the_model_study_let_every_two_people_share_equally_many_pairs() -> None:
    """5,805 single labels by nine people, 1,740 second ones: 1740 / 36 = 48.3 for every two, 645 + 193.3 each."""
    crew = np.zeros((5805, 9), np.bool_)
    crew[np.arange(5805), np.arange(5805) % 9] = True
    more = (np.arange(5805) < 1740).astype(np.int64)
    new = add_labels(more, crew, crew, shared_by(crew), crew.sum(axis=0), 2)
    assert set((crew | new).sum(axis=0).tolist()) == {838, 839}
    assert set(between(shared_by(crew | new)).tolist()) <= {47, 48, 49}


def test_who_is_behind_gets_the_further_labels_first_and_the_seed_decides_the_rest() -> None:
    crew = np.zeros((20, 3), np.bool_)
    crew[:10, 0] = crew[10:, 1] = True
    loads = np.array([10, 10, 4])
    new = add_labels(np.full(20, 1), crew, crew, shared_by(crew), loads, 0)
    assert sorted((loads + new.sum(axis=0)).tolist()) == [14, 15, 15]
    crew = np.repeat(np.eye(4, dtype=np.bool_), 10, axis=0)
    dealt, again, other = (
        add_labels(np.ones(40, np.int64), crew, crew, shared_by(crew), crew.sum(axis=0), seed) for seed in (1, 1, 2)
    )
    assert (dealt == again).all()
    assert (dealt != other).any()


@given(crew_and_bars=crews(), seed=SEEDS)
def test_trades_keep_loads_sizes_and_what_is_locked_and_never_make_meetings_less_even(
    crew_and_bars: tuple[Bools, Bools], seed: int
) -> None:
    crew, locked = crew_and_bars
    locked &= np.random.default_rng(seed).random(crew.shape) < 0.5
    evened = even_meetings(crew, locked, shared_by(crew), np.random.default_rng(seed))
    assert (evened[locked] == crew[locked]).all()
    assert (evened.sum(axis=0) == crew.sum(axis=0)).all()
    assert (evened.sum(axis=1) == crew.sum(axis=1)).all()
    assert (between(shared_by(evened)) ** 2).sum() <= (between(shared_by(crew)) ** 2).sum()


def test_a_late_joiner_takes_over_an_even_share_from_the_ends_of_the_shards_and_nobody_else_does() -> None:
    """Three people with eight open pairs each, and one who joined: six each, the last two of every shard go."""
    holder, position = np.repeat([0, 1, 2], 8), np.tile(np.arange(1, 9), 3)
    loads, anything = np.array([8, 8, 8, 0]), np.ones((24, 4), np.bool_)
    taker = hand_over_slots(np.arange(24), holder, position, anything, loads, np.array([3]))
    assert position[taker == 3].tolist() == [7, 8] * 3
    nobody = np.array([], np.int64)
    assert (hand_over_slots(np.arange(24), holder, position, anything, loads, nobody) == -1).all()


@given(crew_and_bars=crews(), n_late=st.integers(0, 3), seed=SEEDS)
def test_late_joiners_get_only_what_they_may_and_end_level(
    crew_and_bars: tuple[Bools, Bools], n_late: int, seed: int
) -> None:
    _, barred = crew_and_bars
    n_slots, n_people = barred.shape
    late = np.arange(max(n_people - n_late, 0), n_people)
    rng = np.random.default_rng(seed)
    holder: Ints = rng.permutation(np.arange(n_slots) % max(n_people - n_late, 1))
    loads = np.bincount(holder, minlength=n_people)
    pair = rng.permutation(np.arange(n_slots) // 2)
    taker = hand_over_slots(pair, holder, np.arange(n_slots), ~barred, loads, late)
    moved = np.flatnonzero(taker >= 0)
    got = set(zip(pair[moved].tolist(), taker[moved].tolist(), strict=True))
    assert len(got) == len(moved)
    assert np.isin(taker[moved], late).all()
    assert not barred[moved, taker[moved]].any()
    after = np.bincount(np.where(taker >= 0, taker, holder), minlength=n_people)
    for slot in np.flatnonzero(taker < 0).tolist():
        if holder[slot] not in late:
            free = [one for one in late.tolist() if not barred[slot, one] and (int(pair[slot]), one) not in got]
            assert all(after[holder[slot]] - after[one] < 2 for one in free)
