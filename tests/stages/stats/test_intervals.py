"""The intervals that several figures share."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fcpair.stages.stats.intervals import interval_within


def test_the_interval_of_a_correlation_is_that_of_fishers_z() -> None:
    """r = 0.5 of 28 pairs: z = 0.5493, its error 1 / 5, so tanh(0.5493 -+ 1.96 / 5), as in Fisher (1921)."""
    reach_z = 1.959963984540054 / 5
    assert interval_within(0.5, reach_z * (1 - 0.5**2), -1.0, 1.0)[:2] == pytest.approx((0.1560, 0.7358), abs=5e-5)


@given(st.floats(-0.999, 0.999), st.floats(1e-6, 10.0))
def test_an_interval_holds_its_value_and_stays_between_the_bounds(value: float, reach: float) -> None:
    low, high, _ = interval_within(value, reach, -1.0, 1.0)
    assert low is not None
    assert high is not None
    assert -1.0 <= low < value < high <= 1.0


def test_without_bounds_it_reaches_as_far_to_each_side() -> None:
    assert interval_within(3.0, 0.5, -inf, inf)[:2] == (2.5, 3.5)


def test_a_value_at_its_bound_has_none() -> None:
    assert interval_within(1.0, 0.1, 0.0, 1.0) == (None, None, "no interval, as it is at its bound")
