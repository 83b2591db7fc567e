"""Intervals of means over a few HS: a Bayesian bootstrap that knows where the scale ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from fcpair.stages.stats.intervals import LEVEL, block_sizes, check_resamples
from fcpair.stages.stats.paired_tests import SAME

METHOD = "Bayesian bootstrap over HS"
LEAST_HS = 5  # with three an interval spans 0.58 of the scale on average, and covers 0.84 at worst
END = 0.5  # of an HS, at each end of the scale
TAIL = (1 - LEVEL) / 2


def mean_intervals(
    values: NDArray[np.float64], reach: NDArray[np.float64], draws: int, seed: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Intervals at 95 % of the means over the population that the HS are drawn from.

    The HS get random weights, Dirichlet(1, ..., 1), together with half an HS at each end of the scale: Rubin 1981, The
    Bayesian bootstrap, https://doi.org/10.1214/aos/1176345338, with what makes it the interval of Jeffreys where every
    score is 0 or 1. As Brown, Cai and DasGupta 2001, https://doi.org/10.1214/ss/1009213286, mend that one at its ends:
    where all HS stand at one end, the other bound is that of Clopper and Pearson 1934,
    https://doi.org/10.1093/biomet/26.4.404, and where all but one do, the interval reaches that end. So there is
    always some width. How it covers is measured by `benchmarks/score_coverage.py`.

    Args:
        values: one row per HS, one column per figure, shape `(n_hs, n_figures)`.
        reach: the least and the greatest value that each figure can have, shape `(2, n_figures)`.
        draws: how often the weights are drawn; all figures share the draws, and the order of the HS changes nothing.
        seed: of the draws.

    Returns:
        The lower and the upper bound of each figure, each of shape `(n_figures,)`; NaN with fewer than five HS.

    Raises:
        InputError: fewer than 100 draws, or more than a million.
    """
    check_resamples(draws)
    n_hs, n_figures = values.shape
    if n_hs < LEAST_HS:
        return np.full(n_figures, np.nan), np.full(n_figures, np.nan)
    least, span = reach[0], reach[1] - reach[0]
    scaled = np.sort((values - least) / span, axis=0)
    low, high = np.quantile(_draw_means(scaled, draws, seed), [TAIL, 1 - TAIL], axis=0)
    low, high = _bound_at_ends(scaled, low, high)
    mean = scaled.mean(axis=0)  # which a constant very near an end could otherwise leave outside
    return least + span * np.minimum(low, mean), least + span * np.maximum(high, mean)


def _draw_means(scaled: NDArray[np.float64], draws: int, seed: int) -> NDArray[np.float64]:
    """The weighted means of each draw, shape `(draws, n_figures)`."""
    rng, shape = np.random.default_rng(seed), np.array([1.0] * len(scaled) + [END, END])
    means = []
    for size in block_sizes(draws, len(shape)):
        weights = rng.standard_gamma(shape, (size, len(shape)))
        weights /= weights.sum(axis=1, keepdims=True)
        means.append(weights[:, : len(scaled)] @ scaled + weights[:, -1:])
    return np.concatenate(means)


def _bound_at_ends(
    scaled: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The bounds of figures whose HS, all or all but one, stand at one end of the scale."""
    n_above, n_below = (scaled > SAME).sum(axis=0), (scaled < 1 - SAME).sum(axis=0)
    unseen = TAIL ** (1 / len(scaled))
    low, high = np.where(n_below == 0, unseen, low), np.where(n_above == 0, 1 - unseen, high)
    return np.where(n_above <= 1, 0.0, low), np.where(n_below <= 1, 1.0, high)
