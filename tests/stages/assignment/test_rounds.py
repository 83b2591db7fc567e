"""Dealing a round: what must hold for every grid, number of people and bar, and what is refused."""

from __future__ import annotations

from itertools import product

import networkx as nx  # type: ignore[import-untyped]
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.stages.assignment.assign import AssignedPairs
from fcpair.stages.assignment.rounds import assign_cells, assign_rows

SEEDS = st.integers(0, 2**32 - 1)


def full(n_rows: int, n_columns: int) -> tuple[Ints, Ints]:
    row, column = np.divmod(np.arange(n_rows * n_columns), n_columns)
    return row, column


def crew(dealing: AssignedPairs, n_cells: int, n_people: int) -> Ints:
    """How often each cell went to each person, `(n_cells, n_people)`."""
    times = np.zeros((n_cells, n_people), np.int64)
    np.add.at(times, (dealing.pair, dealing.annotator), 1)
    return times


def per_text(text: Ints, times: Ints) -> Ints:
    """How many cells of each text each person has."""
    counts = np.zeros((int(text.max()) + 1, times.shape[1]), np.int64)
    np.add.at(counts, text, times)
    return counts


def nothing(n_cells: int, n_people: int) -> Bools:
    return np.zeros((n_cells, n_people), np.bool_)


@st.composite
def rounds(draw: st.DrawFn, *, once: bool) -> tuple[Ints, Ints, int, int]:
    """A grid with holes, how many answers each cell gets, and people enough for it."""
    row, column = full(draw(st.integers(1, 8)), draw(st.integers(1, 4)))
    kept = np.random.default_rng(draw(SEEDS)).random(len(row)) >= draw(st.sampled_from([0.0, 0.3]))
    kept[0] = True
    row, column = row[kept], column[kept]
    answers = draw(st.integers(1, 3))
    least = answers * int(np.bincount(row).max()) if once else answers
    return row, column, answers, least + draw(st.integers(0, 5))


@given(rounds(once=True), SEEDS)
def test_nobody_has_a_row_twice_and_all_else_is_even(given_round: tuple[Ints, Ints, int, int], seed: int) -> None:
    row, column, answers, n_people = given_round
    dealt = assign_cells(row, column, nothing(len(row), n_people), answers, once_per_row=True, seed=seed)
    times = crew(dealt, len(row), n_people)
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
    times = crew(assign_cells(row, column, nothing(len(row), n_people), answers, seed=seed), len(row), n_people)
    assert times.max() == 1
    assert times.sum(axis=1).tolist() == [answers] * len(row)
    assert np.ptp(times.sum(axis=0)) <= 1


@given(rounds(once=False), SEEDS)
def test_everybody_gets_every_cell_that_is_not_barred(given_round: tuple[Ints, Ints, int, int], seed: int) -> None:
    row, column, _, n_people = given_round
    barred = np.random.default_rng(seed).random((len(row), n_people)) < 0.3
    barred[:, 0] = False
    times = crew(assign_cells(row, column, barred, 0, seed=seed), len(row), n_people)
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
    times = crew(dealt, len(row), n_people)
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


# ---- a few by hand


def test_a_seed_deals_alike_and_another_one_otherwise() -> None:
    row, column = full(20, 3)
    barred = nothing(60, 9)
    one, again, other = (assign_cells(row, column, barred, 1, once_per_row=True, seed=seed) for seed in (5, 5, 6))
    assert np.array_equal(one.annotator, again.annotator)
    assert np.array_equal(one.pair, again.pair)
    assert not np.array_equal(one.pair, other.pair)


def test_everybody_meets_every_column_alike() -> None:
    """60 HS x 6 types among 12 writers: 30 cells each, 5 of each type."""
    row, column = full(60, 6)
    times = crew(assign_cells(row, column, nothing(360, 12), 1, once_per_row=True), 360, 12)
    assert (per_text(column, times) == 5).all()


def test_nobody_rates_the_row_that_they_wrote() -> None:
    """12 texts by 4 writers, 3 criteria, two raters each: 72 answers, 18 for each of the four."""
    row, column = full(12, 3)
    barred = (row[:, None] % 4) == np.arange(4)
    times = crew(assign_cells(row, column, barred, 2, seed=1), 36, 4)
    assert not times[barred].any()
    assert times.sum(axis=0).tolist() == [18] * 4


@pytest.mark.parametrize(
    ("n_people", "answers", "once", "said"),
    [
        (0, 1, False, "there is nobody to assign to"),
        (2, 3, False, "answered by 3 people, but there are 2; add people or lower `answers`"),
        (5, 2, True, "a row of 3 cells, each to be answered by 2, needs 6 people, but there are 5"),
    ],
)
def test_too_few_people(n_people: int, answers: int, once: bool, said: str) -> None:
    row, column = full(4, 3)
    with pytest.raises(InputError, match=said):
        assign_cells(row, column, nothing(12, n_people), answers, once_per_row=once)


def test_cells_that_too_few_may_have() -> None:
    row, column = full(4, 3)
    barred = nothing(12, 2)
    barred[:3] = [True, False]
    with pytest.raises(InputError, match="3 of 12 cells cannot be answered by 2"):
        assign_cells(row, column, barred, 2)
    with pytest.raises(InputError, match="3 of 12 cells cannot be answered by 1"):
        assign_cells(row, column, barred | [False, True], 0)


def test_a_row_for_which_nobody_is_left() -> None:
    """Of three people, only the first may have the two cells of the first row."""
    row, column = full(2, 2)
    barred = nothing(4, 3)
    barred[0, 1:] = barred[1, 1:] = True
    with pytest.raises(InputError, match="1 answers in 1 rows cannot be assigned so that nobody has a row twice"):
        assign_cells(row, column, barred, 1, once_per_row=True)


def test_no_cells() -> None:
    empty = np.zeros(0, np.int64)
    with pytest.raises(InputError, match="there are no cells to assign"):
        assign_cells(empty, empty, nothing(0, 3), 1)


@given(n_rows=st.integers(1, 30), n_columns=st.integers(1, 5), n_people=st.integers(2, 7), seed=st.integers(0, 999))
def test_whole_rows_are_dealt_evenly(n_rows: int, n_columns: int, n_people: int, seed: int) -> None:
    row = np.repeat(np.arange(n_rows), n_columns)
    dealt = assign_rows(row, np.zeros((len(row), n_people), np.bool_), 2, seed=seed)
    crew = np.zeros((len(row), n_people), np.bool_)
    crew[dealt.pair, dealt.annotator] = True
    assert (crew.sum(axis=1) == 2).all()
    by_row = crew.reshape(n_rows, n_columns, n_people)
    assert (by_row == by_row[:, :1]).all()
    loads = by_row[:, 0].sum(axis=0)
    assert loads.max() - loads.min() <= 1


def test_too_few_for_what_is_dealt_together_are_told_by_what_that_is() -> None:
    barred = np.zeros((6, 3), np.bool_)
    barred[1, :2] = True
    with pytest.raises(InputError, match="1 of 2 sources cannot be answered by 2, because too many of the 3 people"):
        assign_rows(np.repeat([5, 9], 3), barred, 2, unit="sources")


def test_who_may_not_have_a_cell_has_none_of_its_row() -> None:
    barred = np.zeros((6, 3), np.bool_)
    barred[1, 0] = True
    dealt = assign_rows(np.repeat([5, 9], 3), barred, 2, seed=1)
    assert not (dealt.pair[dealt.annotator == 0] < 3).any()
    assert np.bincount(dealt.pair).tolist() == [2] * 6
