"""Drawing by seed: what is drawn, and that the order in which items came changes nothing."""

from __future__ import annotations

from collections import Counter
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.errors import InputError
from fcpair.stages.corpus.sample import draw_positions, draw_stratified, own_order


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


@given(st.integers(1, 60), st.data(), st.integers(0, 2**32))
def test_a_draw_is_of_distinct_positions_ascending(n_items: int, data: st.DataObject, seed: int) -> None:
    n = data.draw(st.integers(1, n_items))
    drawn = draw_positions(np.arange(n_items), n, seed).tolist()
    assert drawn == sorted(set(drawn))
    assert len(drawn) == n
    assert set(drawn) <= set(range(n_items))


def test_a_draw_rests_on_its_seed_alone() -> None:
    assert (
        draw_positions(np.arange(100), 10, 3).tolist()
        == draw_positions(np.arange(100), 10, 3).tolist()
        != draw_positions(np.arange(100), 10, 4).tolist()
    )


def test_every_item_is_drawn_equally_often() -> None:
    """2,000 draws of 3 of 10: each item 600 times, with standard deviation sqrt(2000 x 0.3 x 0.7) = 20.5."""
    often = Counter(item for seed in range(2000) for item in draw_positions(np.arange(10), 3, seed).tolist())
    assert max(abs(often[item] - 600) for item in range(10)) < 5 * 20.5


@pytest.mark.parametrize("n", [-1, 0, 4])
def test_as_many_as_there_are_not_cannot_be_drawn(n: int) -> None:
    with pytest.raises(InputError, match=f"{n} HS cannot be drawn; there are 3"):
        draw_positions(np.arange(3), n, 0, "HS")
    with pytest.raises(InputError, match=f"{n} HS cannot be drawn; there are 3"):
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
    assert drawn == sorted(set(drawn))
    assert len(drawn) == n
    size, got = Counter(strata), Counter(strata[i] for i in drawn)
    floor = {name: n * size[name] // len(strata) for name in size}
    left = {name: n * size[name] % len(strata) for name in size}
    assert all(got[name] - floor[name] in {0, 1} for name in size)
    up = [left[name] for name in size if got[name] > floor[name]]
    down = [left[name] for name in size if got[name] == floor[name]]
    assert min(up, default=len(strata)) >= max(down, default=0) > -1
    assert 0 not in up


def test_a_stratified_draw_rests_on_its_seed_alone() -> None:
    strata = np.array(list("ab" * 50), object)
    assert (
        draw_stratified(strata, np.arange(len(strata)), 10, 3).tolist()
        == draw_stratified(strata, np.arange(len(strata)), 10, 3).tolist()
    )
    assert (
        draw_stratified(strata, np.arange(len(strata)), 10, 3).tolist()
        != draw_stratified(strata, np.arange(len(strata)), 10, 4).tolist()
    )
