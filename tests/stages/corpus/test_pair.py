from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.corpus.retrieve import even_shares


def test_fc_conans_grid_divides_evenly_among_nine() -> None:
    assert even_shares(5805) == (3, 5, 9, 15, 27)


def test_an_empty_grid_divides_among_nobody() -> None:
    assert even_shares(0) == ()


@given(st.integers(1, 10_000), st.integers(2, 40))
def test_exactly_the_divisors_are_named(n_pairs: int, at_most: int) -> None:
    assert set(even_shares(n_pairs, at_most)) == {n for n in range(2, at_most + 1) if n_pairs % n == 0}
