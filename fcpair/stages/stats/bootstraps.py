"""Intervals by drawing: of means over a few HS, by a Bayesian bootstrap, and percentiles of any figure drawn again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from fcpair.arrays import Floats
from fcpair.records import Figure
from fcpair.stages.stats.intervals import LEVEL, block_sizes, check_resamples, with_note
from fcpair.stages.stats.paired_tests import SAME

MAX_UNDEFINED_SHARE = (
    0.05  # the share of draws that may leave a figure undefined; those are left out, and the note says so
)
NO_WIDTH = 1e-12
FEW = 10  # of what is drawn: percentiles over fewer are too narrow more often than not


def resample_sums(sums: Floats, draws: int, seed: int) -> Iterator[Floats]:
    """The total of as many clusters as there are, drawn with replacement: blocks of shape (n_draws, n_sums).

    `sums` (n_clusters, n_sums) is what each cluster adds. Clusters that add the same are drawn together, which changes
    no probability, so that the order of the clusters changes nothing either.
    """
    rng = np.random.default_rng(seed)
    kinds, times = np.unique(sums, axis=0, return_counts=True)
    for n in block_sizes(draws, len(kinds)):
        yield rng.multinomial(len(sums), times / len(sums), n) @ kinds


def with_percentiles(figure: Figure, values: Floats, basis: str) -> Figure:
    """The figure with the central 95 % of what was drawn, shape (n_draws,), or the reason for none in its note.

    Draws in which the figure is undefined (NaN) are left out if they are at most one in twenty. `basis` says what was
    drawn. Source: Efron (1979), DOI 10.1214/aos/1176344552.
    """
    if figure.value is None:
        return figure
    defined = values[~np.isnan(values)]
    n_undefined = len(values) - len(defined)
    if n_undefined > MAX_UNDEFINED_SHARE * len(values):
        return with_note(figure, f"no interval: undefined in {n_undefined:,} of {len(values):,} draws of {basis}")
    low, high = np.quantile(defined, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    if high - low < NO_WIDTH:
        return with_note(figure, f"no interval: every draw of {basis} gives the same, so the error cannot be estimated")
    left_out = f", {plural(n_undefined, 'undefined draw')} left out" if n_undefined else ""
    return replace(with_note(figure, f"interval from {basis}{left_out}"), low=float(low), high=float(high))


def plural(n: int, word: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{n:,} {word}{'s' * (n != 1)}"


def describe_sample(n: int, word: str) -> str:
    """Describe what an interval rests on, and say that it is likely too narrow where that is little."""
    return plural(n, word) + ", so few that it is likely too narrow" * (n < FEW)


METHOD = "Bayesian bootstrap over HS"
LEAST_HS = 5  # with three an interval spans 0.58 of the scale on average, and covers 0.84 at worst
END = 0.5  # of an HS, at each end of the scale
TAIL = (1 - LEVEL) / 2


def mean_intervals(values: Floats, reach: Floats, draws: int, seed: int) -> tuple[Floats, Floats]:
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


def _draw_means(scaled: Floats, draws: int, seed: int) -> Floats:
    """The weighted means of each draw, shape `(draws, n_figures)`."""
    rng, shape = np.random.default_rng(seed), np.array([1.0] * len(scaled) + [END, END])
    means = []
    for size in block_sizes(draws, len(shape)):
        weights = rng.standard_gamma(shape, (size, len(shape)))
        weights /= weights.sum(axis=1, keepdims=True)
        means.append(weights[:, : len(scaled)] @ scaled + weights[:, -1:])
    return np.concatenate(means)


def _bound_at_ends(scaled: Floats, low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """The bounds of figures whose HS, all or all but one, stand at one end of the scale."""
    n_above, n_below = (scaled > SAME).sum(axis=0), (scaled < 1 - SAME).sum(axis=0)
    unseen = TAIL ** (1 / len(scaled))
    low, high = np.where(n_below == 0, unseen, low), np.where(n_above == 0, 1 - unseen, high)
    return np.where(n_above <= 1, 0.0, low), np.where(n_below <= 1, 1.0, high)
