"""The incomplete beta function, and what Student's t and the F distribution take from it.

scipy has these, but its special functions cost 18 MB and 0.1 s to load, which the process of the lead's pages would
need for one quantile. A test compares the two.
"""

from __future__ import annotations

from math import exp, inf, lgamma, log, nan, pi
from statistics import NormalDist

TINY, PRECISION = 1e-300, 1e-16
N_TERMS = 10_000  # far more than are needed: some sqrt(a) or sqrt(b)
N_STEPS = 100
MANY = 1_000  # degrees of freedom from which four terms of the asymptotic series are exact to 1e-13


def incomplete_beta(a: float, b: float, x: float, rest: float) -> float:
    """The regularized incomplete beta function I_x(a, b) for `a`, `b` > 0 and `x` in [0, 1], of which `rest` is 1 - x.

    By the continued fraction of DLMF 8.17.22, https://dlmf.nist.gov/8.17, evaluated by Lentz's method.
    """
    if x <= 0 or rest <= 0:
        return float(x > 0)
    if x > (a + 1) / (a + b + 2):
        return 1 - incomplete_beta(b, a, rest, x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(rest))
    return front * _continued_fraction(a, b, x) / a


def _continued_fraction(a: float, b: float, x: float) -> float:
    upper = 1.0
    lower = 1 / (1 - (a + b) * x / (a + 1) or TINY)
    value = lower
    for m in range(1, N_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        for term in (even, odd):
            lower = 1 / (1 + term * lower or TINY)
            upper = 1 + term / upper or TINY
            value *= lower * upper
        if abs(lower * upper - 1) < PRECISION:
            break
    return value


def f_tail(df1: float, df2: float, value: float) -> float:
    """The chance that a value of the F distribution is above `value`, which is at least 0."""
    total = df2 + df1 * value
    return incomplete_beta(df2 / 2, df1 / 2, df2 / total, df1 * value / total)


def t_quantile(df: float, p: float) -> float:
    """The quantile of Student's t at `p` in (0.5, 1); NaN unless `df`, the degrees of freedom, is above 0.

    From `MANY` on by Abramowitz and Stegun 26.7.5; below by Newton's method, from the normal quantile: as the tail is
    convex, no step goes beyond the quantile.
    """
    if not df > 0:
        return nan
    z = NormalDist().inv_cdf(p)
    if df >= MANY:
        return z if df == inf else _t_of_many(df, z)
    t, log_constant = z, lgamma((df + 1) / 2) - lgamma(df / 2) - log(df * pi) / 2
    for _ in range(N_STEPS):
        total = df + t * t
        too_much = incomplete_beta(df / 2, 0.5, df / total, t * t / total) / 2 - (1 - p)
        step = too_much / exp(log_constant - (df + 1) / 2 * log(total / df))
        t += step
        if abs(step) <= 1e-14 * t:
            break
    return t


def _t_of_many(df: float, z: float) -> float:
    terms = (
        (z**3 + z) / 4,
        (5 * z**5 + 16 * z**3 + 3 * z) / 96,
        (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384,
        (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / 92_160,
    )
    return z + sum(term / df**power for power, term in enumerate(terms, 1))
