"""Dealing more: what must hold for every state of the work, whoever has what."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.arrays import Bools, Ints
from fcpair.errors import InputError
from fcpair.stages.assignment.rounds import add_labels, hand_over_slots, n_labels_missing
from fcpair.stages.corpus.split import even_meetings

SEEDS = st.integers(0, 2**32 - 1)


def full_grid(n_hs: int, n_cn: int) -> tuple[Ints, Ints]:
    hs, cn = np.divmod(np.arange(n_hs * n_cn), n_cn)
    return hs, cn


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


# -- how many labels are missing


def test_without_an_overlap_only_pairs_without_a_label_get_one() -> None:
    asked = np.array([0, 1, 2, 0])
    more = n_labels_missing(*full_grid(2, 2), asked, np.array([False, False, False, True]), None, 0)
    assert more.tolist() == [1, 0, 0, 0]


def test_an_overlap_is_raised_to_its_share_and_no_further() -> None:
    """100 pairs, 13 with two labels: 30 are to have two, so 17 others get a second."""
    asked = 1 + (np.arange(100) < 13)
    more = n_labels_missing(*full_grid(10, 10), asked, np.zeros(100, np.bool_), {2: 0.3}, 0)
    assert np.bincount(asked + more).tolist() == [0, 70, 30]
    assert more[:13].sum() == 0
    assert more.sum() == 17


def test_pairs_with_most_labels_are_taken_for_those_that_are_to_have_most() -> None:
    """20 with two labels; 10 are to have three, 20 two: ten of the 20 get a third, ten others a second."""
    asked = 1 + (np.arange(100) < 20)
    more = n_labels_missing(*full_grid(10, 10), asked, np.zeros(100, np.bool_), {2: 0.2, 3: 0.1}, 0)
    assert (more[:20].sum(), more[20:].sum()) == (10, 10)


def test_labels_above_what_is_asked_stay() -> None:
    asked = np.full(100, 2)
    assert n_labels_missing(*full_grid(10, 10), asked, np.zeros(100, np.bool_), {2: 0.3}, 0).sum() == 0


def test_pairs_that_are_decided_get_no_further_label_and_others_are_raised_in_their_place() -> None:
    settled = np.arange(100) < 40
    more = n_labels_missing(*full_grid(10, 10), np.ones(100, np.int64), settled, {2: 0.5}, 0)
    assert (more[settled].sum(), more[~settled].sum()) == (0, 50)


def test_which_pairs_are_raised_is_spread_over_both_ends() -> None:
    """30 of 100 pairs of a 10 x 10 grid: three of every HS and of every CN."""
    hs, cn = full_grid(10, 10)
    more = n_labels_missing(hs, cn, np.ones(100, np.int64), np.zeros(100, np.bool_), {2: 0.3}, 5)
    assert set(np.bincount(hs, more).tolist()) == set(np.bincount(cn, more).tolist()) == {3}


@given(shares=st.lists(st.integers(0, 30), min_size=1, max_size=3), seed=SEEDS)
def test_asking_for_the_same_overlap_again_adds_nothing(shares: list[int], seed: int) -> None:
    hs, cn = full_grid(6, 7)
    overlap = {n_labels: share / 100 for n_labels, share in enumerate(shares, 2)}
    asked = np.random.default_rng(seed).integers(0, 4, 42)
    settled = np.random.default_rng(seed + 1).random(42) < 0.2
    once = asked + n_labels_missing(hs, cn, asked, settled, overlap, seed)
    assert n_labels_missing(hs, cn, once, settled, overlap, seed + 1).sum() == 0


# -- who gives them


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


def test_who_is_behind_gets_the_further_labels_first() -> None:
    crew = np.zeros((20, 3), np.bool_)
    crew[:10, 0] = crew[10:, 1] = True
    loads = np.array([10, 10, 4])
    new = add_labels(np.full(20, 1), crew, crew, shared_by(crew), loads, 0)
    assert sorted((loads + new.sum(axis=0)).tolist()) == [14, 15, 15]


def test_the_seed_decides_who_gives_further_labels() -> None:
    crew = np.repeat(np.eye(4, dtype=np.bool_), 10, axis=0)
    one, again, other = (
        add_labels(np.ones(40, np.int64), crew, crew, shared_by(crew), crew.sum(axis=0), seed) for seed in (1, 1, 2)
    )
    assert (one == again).all()
    assert (one != other).any()


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


# -- late joiners


def test_a_late_joiner_takes_over_an_even_share_from_the_ends_of_the_shards() -> None:
    """Three people with eight open pairs each, and one who joined: six each, the last two of every shard go."""
    holder, position = np.repeat([0, 1, 2], 8), np.tile(np.arange(1, 9), 3)
    taker = hand_over_slots(
        np.arange(24), holder, position, np.ones((24, 4), np.bool_), np.array([8, 8, 8, 0]), np.array([3])
    )
    assert position[taker == 3].tolist() == [7, 8] * 3


def test_nothing_moves_between_those_who_were_there() -> None:
    nobody, anything = np.array([], np.int64), np.ones((9, 2), np.bool_)
    taker = hand_over_slots(np.arange(9), np.zeros(9, np.int64), np.arange(9), anything, np.array([9, 0]), nobody)
    assert (taker == -1).all()


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


def test_an_overlap_that_cannot_be_is_refused() -> None:
    with pytest.raises(InputError, match="4 with 2 labels and 4 with 3 labels, of 4 in all"):
        n_labels_missing(*full_grid(2, 2), np.ones(4, np.int64), np.zeros(4, np.bool_), {2: 0.9, 3: 0.9}, 0)
