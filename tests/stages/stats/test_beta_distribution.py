"""Our incomplete beta function and the quantiles from it agree with scipy's."""

from __future__ import annotations

from math import inf, isnan, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import betainc, fdtrc, stdtrit

from fcpair.stages.stats.intervals import f_tail, incomplete_beta, t_quantile

SIZE = st.floats(0.5, 1e5)


@given(SIZE, SIZE, st.floats(0, 1))
def test_the_incomplete_beta_function_is_scipys(a: float, b: float, x: float) -> None:
    assert incomplete_beta(a, b, x, 1 - x) == pytest.approx(betainc(a, b, x), rel=1e-8, abs=1e-12)


@given(st.floats(0.1, 1e7), st.floats(0.6, 0.9999))
def test_students_quantile_is_scipys(df: float, p: float) -> None:
    assert t_quantile(df, p) == pytest.approx(stdtrit(df, p), rel=1e-9)


@pytest.mark.parametrize("df", [1, 2, 3, 8, 44, 128, 399, 999, 999.9, 1000, 1001, 18_000, 1e12])
def test_students_quantile_at_95_percent_is_scipys(df: float) -> None:
    assert t_quantile(df, 0.975) == pytest.approx(stdtrit(df, 0.975), rel=2e-12)


@pytest.mark.parametrize("df", [0, -1, nan])
def test_without_degrees_of_freedom_there_is_no_quantile(df: float) -> None:
    assert isnan(t_quantile(df, 0.975))


def test_with_endless_degrees_of_freedom_it_is_the_normal_quantile() -> None:
    assert t_quantile(inf, 0.975) == pytest.approx(1.959963984540054, rel=1e-15)


@given(st.integers(1, 500), st.integers(1, 200_000), st.floats(0, 50))
def test_the_tail_of_f_is_scipys(df1: int, df2: int, value: float) -> None:
    assert f_tail(df1, df2, value) == pytest.approx(fdtrc(df1, df2, value), rel=1e-7, abs=1e-12)
