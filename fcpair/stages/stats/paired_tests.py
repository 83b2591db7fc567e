"""Comparisons of systems and tiers over a few HS: paired tests, their correction, and rank correlation."""

from __future__ import annotations

from math import floor, log2

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.stats.intervals import block_sizes

SAME = 1e-12  # what two means may differ by and still be the same, floating point being what it is


def randomisation(differences: NDArray[np.float64], resamples: int, seed: int) -> NDArray[np.float64]:
    """Two-sided p-values of paired randomisation tests: how often random signs give as great a mean difference.

    Args:
        differences: of two systems for each HS, one column per pair of systems, shape `(n_hs, n_tests)`.
        resamples: how often the signs are drawn; all tests share the draws, and the order of the HS changes nothing.
        seed: of the draws.

    Returns:
        (1 + as great or greater) / (1 + resamples), so never 0, shape `(n_tests,)`. Smucker, Allan and Carterette 2007,
        https://doi.org/10.1145/1321440.1321528.
    """
    n_hs = len(differences)
    observed = np.abs(differences.sum(axis=0)) - SAME * n_hs
    sizes = np.sort(np.abs(differences), axis=0)  # whose signs are random anyway
    rng, as_great = np.random.default_rng(seed), np.zeros(differences.shape[1], np.int64)
    for size in block_sizes(resamples, n_hs):
        signs = 2.0 * rng.integers(0, 2, (size, n_hs)) - 1
        as_great += (np.abs(signs @ sizes) >= observed).sum(axis=0)
    return np.asarray((1 + as_great) / (1 + resamples))


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """The p-values of one family of tests, corrected for their number, shape as given.

    The smallest is multiplied by the number of tests, the next by one less, and so on; none is below the one before,
    none above 1. Holm 1979, Scandinavian Journal of Statistics 6(2), https://www.jstor.org/stable/4615733.
    """
    order = np.argsort(p)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1)
    return corrected


def needed_resamples(n_tests: int, alpha: float) -> int:
    """Number of resamples needed for the least p of `n_tests` tests, n_tests / (1 + resamples), to be below `alpha`."""
    return floor(round(n_tests / alpha, 6))


def needed_hs(n_tests: int, alpha: float) -> int:
    """Number of HS needed: n HS have 2^n ways of signs, and at least two of these give as great a mean difference."""
    return floor(log2(n_tests / alpha)) + 2


def kendall(means: NDArray[np.float64], other_means: NDArray[np.float64]) -> tuple[float | None, str | None]:
    """Kendall's tau-b between two rankings of the same systems, and why it is undefined where it is.

    Args:
        means: the means of the systems on one tier, shape `(n_systems,)`.
        other_means: the means of the same systems on another tier.

    Kendall 1938, https://doi.org/10.1093/biomet/30.1-2.81; ties as in tau-b (scipy).
    """
    from scipy.stats import kendalltau

    if len(means) < 2:
        return None, "there is one system"
    rounded = [np.round(values, 12) for values in (means, other_means)]
    if any(len(np.unique(values)) == 1 for values in rounded):
        return None, "all systems score the same on a tier"
    return float(kendalltau(*rounded).statistic), None
